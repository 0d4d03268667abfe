"""Runs a module of QIR as machine code, for tests: lowers it, compiles it, loads it, calls its entry.

`run` takes leaf values like the reference interpreter's `run`, and gives leaf values or raises `Raised` like it; beyond that it
checks that no block of array memory is left over.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadrants.host import codegen, loader, symbols
from quadrants.host.target import Target
from quadrants.ir import Module
from quadrants.ir.boxing import box, unbox
from quadrants.ir.values import Raised, canonical
from quadrants.lower import abi
from quadrants.lower.module import LowerOptions, lower_module
from quadrants.types import ArrayType, ExcType, Scalar, StrType, TupleType, Type
from quadrants.types.dtypes import dtype_of

Host = Callable[[str, "tuple[Any, ...]"], Any]

_HOSTCALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
_ENTRY = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Leak(AssertionError):
    """Blocks that are still alive after a run."""


@dataclass
class Trace:
    """What the context says after an exception: lines of the calls that it passed, innermost first, and the site's line."""

    calls: list[int] = field(default_factory=list)
    site: int = 0


def driver(module: Module, entry: str) -> str:
    """An exported function (ctx, arguments, results) that reads and writes the components in words of 8 bytes."""
    function = module.functions[module.entry]
    lines, given = [], ["ptr %ctx"]
    for index, text in enumerate(abi.all_components([param.type for param in function.params])):
        lines.append(f"  %at{index} = getelementptr i64, ptr %args, i64 {index}")
        memory = "i8" if text == "i1" else text
        lines.append(f"  %in{index} = load {memory}, ptr %at{index}")
        if text == "i1":
            lines.append(f"  %bool{index} = trunc i8 %in{index} to i1")
        given.append(f"{text} {'%bool' if text == 'i1' else '%in'}{index}")
    for index, _ in enumerate(abi.all_components(function.result_types)):
        lines.append(f"  %out{index} = getelementptr i64, ptr %outs, i64 {index}")
        given.append(f"ptr %out{index}")
    body = "\n".join(lines)
    return f"""
define i32 @drive(ptr %ctx, ptr %args, ptr %outs) {{
{body}
  %status = call i32 {abi.symbol(entry)}({", ".join(given)})
  ret i32 %status
}}
"""


@dataclass
class Program:
    """A loaded module."""

    module: Module
    lowered: abi.Lowered
    entry: Any

    @classmethod
    def load(cls, module: Module, options: LowerOptions | None = None, target: Target | None = None) -> Program:
        lowered = lower_module(module, options)
        text = lowered.full_text(driver(module, lowered.entry_symbol))
        compiled = codegen.compile_ir(text, target=target)
        address = loader.load(compiled.object_bytes, symbols.resolve)["drive"]
        return cls(module, lowered, _ENTRY(address))

    def __call__(
        self,
        args: Sequence[Any],
        *,
        host: Host | int | None = None,
        stack_bytes: int = 0,
        trace: Trace | None = None,
    ) -> tuple[Any, ...]:
        """Run the entry. `host` answers pycalls: a function, or the address of machine code. `stack_bytes` limits how deep
        recursion goes below this frame."""
        function = self.module.functions[self.module.entry]
        before = symbols.live_blocks()
        keep: list[Any] = []
        words = [word for param, arg in zip(function.params, args) for word in to_words(param.type, arg, keep)]
        given = (ctypes.c_uint64 * max(len(words), 1))(*words)
        width = len(abi.all_components(function.result_types))
        outs = (ctypes.c_uint64 * max(width, 1))()
        context = (ctypes.c_uint8 * abi.CTX_BYTES)()
        callback = _HOSTCALL(self._hostcall(host)) if callable(host) else None
        address = ctypes.cast(callback, ctypes.c_void_p).value if callback else host or 0
        _poke(context, abi.CTX_HOSTCALL, "<Q", address)
        if stack_bytes:
            lowest = _stack_pointer() - stack_bytes
            _poke(context, abi.CTX_STACK_LIMIT, "<Q", lowest)
            _poke(context, abi.CTX_STACK_LOWEST, "<Q", lowest)
        status = self.entry(context, given, outs)
        if status:
            self._raise(status, bytes(context), trace, before)
        results = tuple(from_words(function.result_types, iter(outs)))
        _check_blocks(before)
        return results

    def _hostcall(self, host: Host) -> Callable[..., int]:
        def call(ctx: int, number: int, buffer: int) -> int:
            site = self.lowered.sites[number]
            assert isinstance(site.args, TupleType) and site.result is not None
            width = len(abi.all_components([site.args]))
            words = iter((ctypes.c_uint64 * max(width, 1)).from_address(buffer))
            try:
                value = host(site.target, box(site.args, payload(site.args, words)))
                kept: list[Any] = []
                leaves = zip(site.result.leaves(), unbox(site.result, value))
                for index, word in enumerate(w for type, leaf in leaves for w in extended(type, leaf, kept)):
                    ctypes.c_uint64.from_address(buffer + 8 * index).value = word
            except Exception as error:  # noqa: BLE001 - whatever the host raises is an exception of the program
                _pending.append(error)
                return abi.PYTHON_ERROR
            return 0

        return call

    def _raise(self, status: int, context: bytes, trace: Trace | None, before: int) -> None:
        offset = abi.record_offset(abi.record_number(status))
        number, count = struct.unpack_from("<ii", context, offset)
        site = self.lowered.sites[number]
        if trace is not None:
            (length,) = struct.unpack_from("<i", context, abi.CTX_TB_LEN)
            calls = struct.unpack_from(f"<{length}i", context, abi.CTX_TB_SITES)
            trace.calls = [self.lowered.sites[call].loc.line for call in calls]
            trace.site = site.loc.line if site.loc else 0
        _check_blocks(before)
        if abi.class_number(status) == abi.PYTHON_ERROR:
            raise _take_error()
        assert site.kind is abi.SiteKind.RAISE and abi.class_number(status) == site.exc
        words = iter(struct.unpack_from(f"<{count}Q", context, offset + abi.RECORD_PAYLOAD))
        if site.chain:
            next(words)  # the exception that was being handled
        assert isinstance(site.args, TupleType)
        values = box(site.args, payload(site.args, words))
        raise Raised(self.lowered.classes[site.exc - 1], values, site.loc)


def _poke(buffer: Any, offset: int, format: str, value: object) -> None:
    struct.pack_into(format, buffer, offset, value)


def _stack_pointer() -> int:
    """Roughly where the stack is."""
    program = """
declare ptr @llvm.frameaddress.p0(i32)
define i64 @here() {
  %p = call ptr @llvm.frameaddress.p0(i32 0)
  %i = ptrtoint ptr %p to i64
  ret i64 %i
}
"""
    here = loader.load(codegen.compile_ir(program).object_bytes, symbols.resolve)["here"]
    return int(ctypes.CFUNCTYPE(ctypes.c_uint64)(here)())


def _check_blocks(before: int) -> None:
    if symbols.live_blocks() != before:
        raise Leak(f"{symbols.live_blocks() - before} blocks are left over")


#: What a Python host raised: ctypes would report an error that is set when its callback ends, so it is kept here.
_pending: list[Exception] = []


def _take_error() -> Exception:
    return _pending.pop()


# Values to words and back


def to_words(type: Type, value: Any, keep: list[Any]) -> Iterator[int]:
    """The components of an argument, as the driver reads them."""
    if isinstance(type, ArrayType):
        assert isinstance(value, np.ndarray) and value.dtype == dtype_of(type.dtype) and value.ndim == type.ndim
        keep.append(value)
        yield value.ctypes.data
        yield id(value) + 1
        yield from value.shape
        yield from (stride & (2**64 - 1) for stride in value.strides)
    elif isinstance(type, Scalar):
        machine = canonical(type, value)
        for part in (machine.real, machine.imag) if type.is_complex else (machine,):
            raw = dtype_of(type.part).type(part).tobytes()
            yield int.from_bytes(raw, "little")
    elif isinstance(type, StrType):
        keep.append(value)
        yield id(value)
    else:
        assert isinstance(type, ExcType)
        yield 0


def from_words(types: Sequence[Type], words: Iterator[int]) -> Iterator[Any]:
    """The results. An array owns its memory: it is copied, then let go."""
    for type in types:
        if isinstance(type, ArrayType):
            yield _take_array(type, [next(words) for _ in range(2 + 2 * type.ndim)])
        elif isinstance(type, Scalar):
            dtype = dtype_of(type.part)
            parts = [np.frombuffer(next(words).to_bytes(8, "little"), dtype, 1)[0] for _ in range(1 + type.is_complex)]
            yield canonical(type, complex(*parts) if type.is_complex else parts[0])
        else:
            yield next(words)


def _take_array(type: ArrayType, words: list[int]) -> np.ndarray:
    data, owner, *rest = words
    dims = tuple(rest[: type.ndim])
    strides = tuple(stride - 2**64 if stride >> 63 else stride for stride in rest[type.ndim :])
    result = np.empty(dims, dtype_of(type.dtype))
    if result.size:
        low = sum(min(0, (dim - 1) * stride) for dim, stride in zip(dims, strides))
        high = sum(max(0, (dim - 1) * stride) for dim, stride in zip(dims, strides)) + result.itemsize
        memory = (ctypes.c_uint8 * (high - low)).from_address(data + low)
        result[...] = np.ndarray(dims, result.dtype, np.ctypeslib.as_array(memory), -low, strides)
    release(owner)
    return result


def release(owner: int) -> None:
    """What the host does with an owner that it was given."""
    if owner == 0 or owner & abi.OWNER_PYTHON_TAG:
        return
    count = ctypes.c_int64.from_address(owner + abi.BLOCK_REFCOUNT)
    assert count.value >= 1
    count.value -= 1
    if count.value == 0:
        raw = ctypes.c_void_p.from_address(owner + abi.BLOCK_RAW)
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(symbols.resolve("free"))
        free(raw)
        ctypes.c_int64.from_address(symbols.resolve(abi.LIVE_BLOCKS)).value -= 1


def payload(type: Type, words: Iterator[int]) -> Iterator[Any]:
    """The leaf values of a payload: integers extended to words, floats as the bits of doubles."""
    for leaf in type.leaves():
        if isinstance(leaf, Scalar):
            if leaf.is_float or leaf.is_complex:
                parts = [struct.unpack("<d", struct.pack("<Q", next(words)))[0] for _ in range(1 + leaf.is_complex)]
                yield canonical(leaf, complex(*parts) if leaf.is_complex else parts[0])
            else:
                yield canonical(leaf, next(words))
        elif isinstance(leaf, StrType):
            yield ctypes.cast(next(words), ctypes.py_object).value
        else:
            yield next(words)


def extended(type: Type, value: Any, keep: list[Any]) -> Iterator[int]:
    """The words of a leaf in a payload."""
    if isinstance(type, Scalar) and (type.is_float or type.is_complex):
        for part in (value.real, value.imag) if type.is_complex else (value,):
            (word,) = struct.unpack("<Q", struct.pack("<d", float(part)))
            yield word
    elif isinstance(type, Scalar):
        yield int(value) & (2**64 - 1)
    else:
        yield from to_words(type, value, keep)


def run(module: Module, args: Sequence[Any], **options: Any) -> tuple[Any, ...]:
    """Compile the module and run it once."""
    return Program.load(module)(args, **options)
