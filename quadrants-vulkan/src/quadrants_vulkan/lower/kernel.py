"""A module of QIR to a SPIR-V module with one entry point, and what a launch has to know of it.

Takes a module whose entry is a device function that gives nothing, after the passes of `legalise`; gives the binary
and its `Facts`. The shape of the block and the length of the dynamic buffer are chosen when a pipeline is made
(specialisation constants 0 to 3).
"""

from __future__ import annotations

import json
from dataclasses import fields

from quadrants import diagnostics
from quadrants._frozen import frozen
from quadrants.diagnostics import CompileError
from quadrants.host.reports import Site
from quadrants.ir import Module
from quadrants.types import F64, ArrayType, Scalar
from quadrants_vulkan.lower import launch
from quadrants_vulkan.lower.emit import FunctionEmitter
from quadrants_vulkan.lower.module import ModuleEmitter, location_of
from quadrants_vulkan.spirv.assembler import instruction
from quadrants_vulkan.spirv.grammar import BuiltIn, Capability, Decoration, ExecutionMode
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.target import Feature, Profile

#: The name of every entry point.
ENTRY = "main"


@frozen
class Facts:
    """What a launch has to know of a kernel.

    Args:
        dynamic_item: bytes of an element of the dynamic shared buffer; 0: there is none.
        shared_bytes: of static shared memory.
        sites: the places that may raise or print, by their number in a report.
        kernel: the qualified name of the Python function.
    """

    dynamic_item: int = 0
    shared_bytes: int = 0
    sites: tuple[Site, ...] = ()
    kernel: str = ""

    @property
    def prints(self) -> bool:
        return any(not site.exc for site in self.sites)

    def to_json(self) -> str:
        sites = [[getattr(site, field.name) for field in fields(Site)] for site in self.sites]
        return json.dumps([self.dynamic_item, self.shared_bytes, sites, self.kernel])

    @classmethod
    def from_json(cls, text: str) -> Facts:
        item, nbytes, sites, kernel = json.loads(text)
        return cls(item, nbytes, tuple(Site(*members) for members in sites), kernel)


#: Feature -> capability and mode that ask for it, for floats of a width.
_FLOAT_MODES: dict[Feature, tuple[Capability, ExecutionMode, int]] = {
    Feature.NAN32: (Capability.SIGNED_ZERO_INF_NAN_PRESERVE, ExecutionMode.SIGNED_ZERO_INF_NAN_PRESERVE, 32),
    Feature.NAN64: (Capability.SIGNED_ZERO_INF_NAN_PRESERVE, ExecutionMode.SIGNED_ZERO_INF_NAN_PRESERVE, 64),
    Feature.EVEN32: (Capability.ROUNDING_MODE_RTE, ExecutionMode.ROUNDING_MODE_RTE, 32),
    Feature.EVEN64: (Capability.ROUNDING_MODE_RTE, ExecutionMode.ROUNDING_MODE_RTE, 64),
    Feature.DENORM32: (Capability.DENORM_PRESERVE, ExecutionMode.DENORM_PRESERVE, 32),
    Feature.DENORM64: (Capability.DENORM_PRESERVE, ExecutionMode.DENORM_PRESERVE, 64),
}


def compile_module(module: Module, profile: Profile) -> tuple[bytes, Facts]:
    """The binary, and what a launch has to know."""
    function = module.functions[module.entry]
    if function.result_types:
        raise CompileError(
            diagnostics.Code.UNSUPPORTED_CAPABILITY,
            "a kernel gives nothing back",
            location_of(function, None),
            hint="write the result into an array",
        )
    for value in function.params:
        if not isinstance(value.type, (Scalar, ArrayType)) or getattr(value.type, "space", "global") != "global":
            raise CompileError(
                diagnostics.Code.UNSUPPORTED_CAPABILITY,
                f"a kernel takes numbers and arrays of global memory, not {value.type}",
                location_of(function, None),
            )
    m = ModuleEmitter(module, profile)
    m.building.append(function.name)
    e = FunctionEmitter(m, function, m.members_of(function))
    if not profile.has(Feature.FLOAT64):
        e.double_bits.update(value for value in function.params if value.type == F64)
    launch.unpack(e, function)
    e.region(function.body)
    asm = m.asm
    body = asm.id()
    asm.name(body, function.name)
    m.add(e, [instruction(Code.FUNCTION, e.result, body, 0, asm.function_type(e.result, ()))])
    entry = _entry(m, e.result, body)
    for feature, (capability, mode, bits) in _FLOAT_MODES.items():
        if profile.has(feature):
            asm.capability(capability)
            asm.mode(entry, mode, bits)
    _block_shape(m, entry)
    if m.vulkan_memory:
        asm.capability(Capability.VULKAN_MEMORY_MODEL)
    asm.capability(Capability.PHYSICAL_STORAGE_BUFFER_ADDRESSES)
    code = asm.finish([(ENTRY, entry)], m.vulkan_memory)
    return code, Facts(m.shared.dynamic_item, m.shared.nbytes, tuple(m.sites), function.scope.qualname)


def _entry(m: ModuleEmitter, result: int, body: int) -> int:
    """The entry point: a function that takes and gives nothing, and calls the kernel."""
    asm = m.asm
    entry = asm.id()
    void = asm.void()
    asm.function(
        [
            instruction(Code.FUNCTION, void, entry, 0, asm.function_type(void, ())),
            instruction(Code.LABEL, asm.id()),
            instruction(Code.FUNCTION_CALL, result, asm.id(), body),
            instruction(Code.RETURN),
            instruction(Code.FUNCTION_END),
        ]
    )
    return entry


def _block_shape(m: ModuleEmitter, entry: int) -> None:
    """The number of threads of a block, along each axis."""
    asm = m.asm
    asm.mode(entry, ExecutionMode.LOCAL_SIZE, 1, 1, 1)
    axes = [asm.specialised(axis, 1) for axis in range(3)]
    size = asm.declare(Code.SPEC_CONSTANT_COMPOSITE, *axes, type=asm.vector(asm.int_type(32), 3))
    asm.decorate(size, Decoration.BUILT_IN, BuiltIn.WORKGROUP_SIZE)
