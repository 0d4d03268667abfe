"""A module of QIR to MSL with one kernel, and what a launch has to know of it.

Takes a module whose entry is a device function that gives nothing, after `legalise`; gives the text and its `Facts`. The argument
block of `quadrants.backend.arguments` is a struct of the kernel: a member takes a word of 8 bytes, an address is a pointer.
"""

from __future__ import annotations

import json
from dataclasses import fields

from quadrants import diagnostics
from quadrants._frozen import frozen
from quadrants.diagnostics import CompileError
from quadrants.host.reports import Site
from quadrants.ir import Function, Module
from quadrants.types import I64, ArrayType, Scalar, Type
from quadrants_metal.lower.emit import FunctionEmitter
from quadrants_metal.lower.module import ModuleEmitter, location_of
from quadrants_metal.lower.names import integer, pointer, register
from quadrants_metal.lower.prelude import PRELUDE
from quadrants_metal.target import Limits

#: The name of every kernel.
ENTRY = "entry"
_HEAD = f"""kernel void {ENTRY}(
    constant Arguments& args [[buffer(0)]],
    constant Launch& launch [[buffer(1)]],
    threadgroup uchar* shared [[threadgroup(0)]],
    uint3 thread_index [[thread_position_in_threadgroup]],
    uint3 block [[threadgroup_position_in_grid]],
    uint3 block_size [[threads_per_threadgroup]],
    uint3 grid [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]])"""
_PLACE = [
    "  Here here;",
    *(
        f"  here.{name} = {name};"
        for name in ("thread_index", "block", "block_size", "grid", "lane", "lanes", "shared")
    ),
    *(f"  here.{name} = launch.{name};" for name in ("dynamic_bytes", "report")),
]


@frozen
class Facts:
    """What a launch has to know of a kernel.

    Args:
        shared_bytes: of static shared memory.
        sites: the places that may raise or print, by their number in a report.
        kernel: the qualified name of the Python function.
    """

    shared_bytes: int = 0
    sites: tuple[Site, ...] = ()
    kernel: str = ""

    @property
    def prints(self) -> bool:
        return any(not site.exc for site in self.sites)

    def to_json(self) -> str:
        sites = [[getattr(site, field.name) for field in fields(Site)] for site in self.sites]
        return json.dumps([self.shared_bytes, sites, self.kernel])

    @classmethod
    def from_json(cls, text: str) -> Facts:
        nbytes, sites, kernel = json.loads(text)
        return cls(nbytes, tuple(Site(*members) for members in sites), kernel)


def compile_module(module: Module, limits: Limits) -> tuple[str, Facts]:
    """The text, and what a launch has to know."""
    function = module.functions[module.entry]
    _check(function)
    m = ModuleEmitter(module, limits.shared_bytes)
    m.building.append(function.name)
    e = FunctionEmitter(m, function)
    e.lines += _PLACE
    members: list[str] = []
    for position, value in enumerate(function.params):
        more, parts = _parameter(value.type, f"p{position}")
        members += more
        e.parts[value] = tuple(e.let(type, part, value.hint) for type, part in parts)
    e.region(function.body)
    m.add(_HEAD, e)
    arguments = "\n".join(["struct Arguments {", *(f"  {member};" for member in members or ["ulong none"]), "};\n"])
    static = f"constant uint STATIC_BYTES = {m.shared_bytes}u;\n"
    text = "\n".join([PRELUDE + static, arguments, *m.texts])
    return text, Facts(m.shared_bytes, tuple(m.sites), function.scope.qualname)


def _check(function: Function) -> None:
    """Refuse what is no kernel."""
    if function.result_types:
        raise CompileError(
            diagnostics.Code.UNSUPPORTED_CAPABILITY,
            "a kernel gives nothing back",
            location_of(function, None),
            hint="write the result into an array",
        )
    for value in function.params:
        number = isinstance(value.type, Scalar) and not value.type.is_complex
        if not number and not (isinstance(value.type, ArrayType) and value.type.space == "global"):
            raise CompileError(
                diagnostics.Code.UNSUPPORTED_CAPABILITY,
                f"a kernel takes numbers and arrays of global memory, not {value.type}",
                location_of(function, None),
            )


def _parameter(type: Type, name: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The members of a parameter in the struct, and the types and expressions of its parts."""
    if isinstance(type, ArrayType):
        members = [f"{pointer(type)} {name}"]
        parts = [(pointer(type), f"args.{name}")]
        size = integer(I64, type.dtype.itemsize)
        for kind in ("dim", "stride"):  # strides come in elements
            for axis in range(type.ndim):
                members.append(f"long {name}_{kind}{axis}")
                if kind == "dim" or not type.contiguous:
                    scale = "" if kind == "dim" else f" * {size}"
                    parts.append(("long", f"args.{name}_{kind}{axis}{scale}"))
        return members, parts
    assert isinstance(type, Scalar)
    if type.is_float and type.bits < 64:
        whole = {16: f"half {name}; ushort {name}_rest[3]", 32: f"float {name}; uint {name}_rest"}
        return [whole[type.bits]], [(register(type), f"args.{name}")]
    wide = "long" if type.is_signed and type.is_integer else "ulong"
    value = f"args.{name} != 0ul" if type.is_bool else f"{register(type)}(args.{name})"
    return [f"{wide} {name}"], [(register(type), value)]
