"""The place of a thread, memory of a block and of a thread, barriers and fences.

Arrays of every space have a pointer of LLVM's address space 0 as their base; LLVM finds out which space it came from.
"""

from __future__ import annotations

import math

from quadrants.ir.core import Op
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.types import ArrayType
from quadrants_cuda.lower import context
from quadrants_cuda.lower.runtime import SREG

DYNAMIC = "qd_dynamic"
_ALIGN = 16
_AXES = "xyz"


def special(e: FunctionEmitter, name: str) -> Text:
    """A special register."""
    return e.let(f"call i32 @{SREG}.{name}()")


def of_launch(e: FunctionEmitter, offset: int) -> Text:
    """A word of the context."""
    at = e.let(f"getelementptr i8, ptr %ctx, i64 {offset}")
    return e.let(f"load i32, ptr {at}, align 4")


def _axis(op: Op) -> int:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    return axis


def _register(name: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, special(e, f"{name}.{_AXES[_axis(op)]}"))

    return emit


def block_index(e: FunctionEmitter, axis: int) -> Text:
    """A device has at most 65,535 blocks along y and z: larger grids are several launches."""
    index = special(e, f"ctaid.{_AXES[axis]}")
    return index if not axis else e.let(f"add i32 {index}, {of_launch(e, context.FIRST + 4 * (axis - 1))}")


def _block_index(e: FunctionEmitter, op: Op) -> None:
    e.set(op, block_index(e, _axis(op)))


def _grid_size(e: FunctionEmitter, op: Op) -> None:
    axis = _axis(op)
    e.set(op, special(e, "nctaid.x") if not axis else of_launch(e, context.GRID + 4 * (axis - 1)))


# Memory


def _type_of(op: Op) -> ArrayType:
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    return type


def array_bytes(op: Op) -> int:
    """The size of an array of a block or of a thread."""
    shape = op.attrs["shape"]
    assert isinstance(shape, tuple)
    return _type_of(op).dtype.itemsize * math.prod(int(size) for size in shape if isinstance(size, int))


def _define(e: FunctionEmitter, op: Op, base: Text) -> None:
    """An array of constant sizes."""
    shape = op.attrs["shape"]
    assert isinstance(shape, tuple)
    steps, step = [], _type_of(op).dtype.itemsize
    for size in reversed(shape):
        assert isinstance(size, int)
        steps.append(str(step))
        step *= size
    e.parts[op.results[0]] = (base, "null", *map(str, shape), *reversed(steps))


def _shared_array(e: FunctionEmitter, op: Op) -> None:
    name = f"qd_shared{sum(key.startswith('qd_shared') for key in e.module.helpers)}"
    e.module.helpers[name] = f"@{name} = internal addrspace(3) global [{array_bytes(op)} x i8] undef, align {_ALIGN}"
    _define(e, op, f"addrspacecast (ptr addrspace(3) @{name} to ptr)")


def _shared_dynamic(e: FunctionEmitter, op: Op) -> None:
    e.module.helpers[DYNAMIC] = f"@{DYNAMIC} = external addrspace(3) global [0 x i8], align {_ALIGN}"
    size = e.let(f"zext i32 {special(e, 'dynamic_smem_size')} to i64")
    item = _type_of(op).dtype.itemsize
    count = e.let(f"udiv i64 {size}, {item}")
    base = f"addrspacecast (ptr addrspace(3) @{DYNAMIC} to ptr)"
    e.parts[op.results[0]] = (base, "null", count, str(item))


def _local_array(e: FunctionEmitter, op: Op) -> None:
    slot = e.temp()
    e.entry.append(f"  {slot} = alloca [{array_bytes(op)} x i8], align {_ALIGN}")
    _define(e, op, slot)


# Barriers


def _barrier(e: FunctionEmitter, op: Op) -> None:
    e.line("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")


def _voting(name: str, result: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(
            op, e.let(f"call {result} @llvm.nvvm.barrier.cta.red.{name}.aligned.all(i32 0, i1 {e.one(op.operands[0])})")
        )

    return emit


_SCOPES = {"block": ' syncscope("block")', "device": ' syncscope("device")', "system": ""}


def _fence(e: FunctionEmitter, op: Op) -> None:
    e.line(f"fence{_SCOPES[str(op.attrs['scope'])]} seq_cst")


EMITTERS: dict[str, Emitter] = {
    "thread.index": _register("tid"),
    "block.size": _register("ntid"),
    "block.index": _block_index,
    "grid.size": _grid_size,
    "shared.array": _shared_array,
    "shared.dynamic": _shared_dynamic,
    "local.array": _local_array,
    "barrier": _barrier,
    "barrier.count": _voting("popc", "i32"),
    "barrier.all": _voting("and", "i1"),
    "barrier.any": _voting("or", "i1"),
    "fence": _fence,
}
