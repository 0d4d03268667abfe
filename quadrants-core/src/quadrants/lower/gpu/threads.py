"""The place of a thread, memory of a block and of a thread, barriers and fences.

Arrays of every space have a pointer of LLVM's address space 0 as their base; LLVM finds out which space it came from.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.gpu import context
from quadrants.lower.gpu.primitives import Primitives
from quadrants.types import ArrayType

SHARED = "qd_shared"
DYNAMIC = "qd_dynamic"
_COUNTER = "qd_counter"
_ALIGN = 16


def of_launch(e: FunctionEmitter, offset: int) -> Text:
    """A word of the context."""
    at = e.let(f"getelementptr i8, ptr %ctx, i64 {offset}")
    return e.let(f"load i32, ptr {at}, align 4")


def block_index(p: Primitives, e: FunctionEmitter, axis: int) -> Text:
    """In the whole grid."""
    return e.let(f"add i32 {p.block_index(e, axis)}, {of_launch(e, context.FIRST + 4 * axis)}")


def _axis(read: Callable[[FunctionEmitter, int], Text]) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        axis = op.attrs["axis"]
        assert isinstance(axis, int)
        e.set(op, read(e, axis))

    return emit


# Memory


def _type_of(op: Op) -> ArrayType:
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    return type


def _shape(op: Op) -> tuple[int, ...]:
    shape = op.attrs["shape"]
    assert isinstance(shape, tuple)
    return tuple(size for size in shape if isinstance(size, int))


def array_bytes(op: Op) -> int:
    """The size of an array of a block or of a thread, with what lies between it and the next."""
    nbytes = _type_of(op).dtype.itemsize * math.prod(_shape(op))
    return -(-nbytes // _ALIGN) * _ALIGN


def _define(e: FunctionEmitter, op: Op, base: Text) -> None:
    """An array of constant sizes."""
    steps, step = [], _type_of(op).dtype.itemsize
    for size in reversed(_shape(op)):
        steps.append(str(step))
        step *= size
    e.parts[op.results[0]] = (base, "null", *map(str, _shape(op)), *reversed(steps))


def in_block(name: str) -> Text:
    """A variable of the block, as an operand."""
    return f"addrspacecast (ptr addrspace(3) @{name} to ptr)"


def _shared_array(e: FunctionEmitter, op: Op) -> None:
    name = f"{SHARED}{sum(key.startswith(SHARED) for key in e.module.helpers)}"
    e.module.helpers[name] = f"@{name} = internal addrspace(3) global [{array_bytes(op)} x i8] poison, align {_ALIGN}"
    _define(e, op, in_block(name))


def _shared_dynamic(e: FunctionEmitter, op: Op) -> None:
    e.module.helpers[DYNAMIC] = f"@{DYNAMIC} = external addrspace(3) global [0 x i8], align {_ALIGN}"
    size = e.let(f"zext i32 {of_launch(e, context.DYNAMIC)} to i64")
    item = _type_of(op).dtype.itemsize
    e.parts[op.results[0]] = (in_block(DYNAMIC), "null", e.let(f"udiv i64 {size}, {item}"), str(item))


def _local_array(e: FunctionEmitter, op: Op) -> None:
    slot = e.temp()
    e.entry.append(f"  {slot} = alloca [{array_bytes(op)} x i8], align {_ALIGN}")
    _define(e, op, slot)


# Barriers


def _count(p: Primitives, e: FunctionEmitter, condition: Text) -> Text:
    """Wait, and count the threads for which the condition holds, in a word of the block's memory."""
    e.module.helpers[_COUNTER] = f"@{_COUNTER} = internal addrspace(3) global i32 poison, align 4"
    counter = in_block(_COUNTER)
    places = [p.thread_index(e, axis) for axis in range(3)]
    first = e.let(f"icmp eq i32 {e.let(f'or i32 {places[0]}, {places[1]}')}, 0")
    first = e.let(f"and i1 {first}, {e.let(f'icmp eq i32 {places[2]}, 0')}")
    clear, cleared = e.label("clear"), e.label("cleared")
    e.line(f"br i1 {first}, label %{clear}, label %{cleared}")
    e.begin(clear)
    e.line(f"store i32 0, ptr {counter}, align 4")
    e.line(f"br label %{cleared}")
    e.begin(cleared)
    p.wait(e)
    one = e.let(f"zext i1 {condition} to i32")
    e.let(f"atomicrmw add ptr {counter}, i32 {one}{p.scopes['block']} monotonic, align 4")
    p.wait(e)
    total = e.let(f"load i32, ptr {counter}, align 4")
    p.wait(e)
    return total


def barriers(p: Primitives) -> dict[str, Emitter]:
    """Those of a block."""

    def wait(e: FunctionEmitter, op: Op) -> None:
        p.wait(e)

    def count(e: FunctionEmitter, op: Op) -> None:
        e.set(op, _count(p, e, e.one(op.operands[0])))

    def every(e: FunctionEmitter, op: Op) -> None:
        fails = e.let(f"xor i1 {e.one(op.operands[0])}, true")
        e.set(op, e.let(f"icmp eq i32 {_count(p, e, fails)}, 0"))

    def some(e: FunctionEmitter, op: Op) -> None:
        e.set(op, e.let(f"icmp ne i32 {_count(p, e, e.one(op.operands[0]))}, 0"))

    def fence(e: FunctionEmitter, op: Op) -> None:
        e.line(f"fence{p.scopes[str(op.attrs['scope'])]} seq_cst")

    return {"barrier": wait, "barrier.count": count, "barrier.all": every, "barrier.any": some, "fence": fence}


def emitters(p: Primitives) -> dict[str, Emitter]:
    """By op name."""
    return {
        "thread.index": _axis(p.thread_index),
        "block.index": _axis(lambda e, axis: block_index(p, e, axis)),
        "block.size": _axis(lambda e, axis: of_launch(e, context.BLOCK + 4 * axis)),
        "grid.size": _axis(lambda e, axis: of_launch(e, context.GRID + 4 * axis)),
        "shared.array": _shared_array,
        "shared.dynamic": _shared_dynamic,
        "local.array": _local_array,
        **barriers(p),
    }
