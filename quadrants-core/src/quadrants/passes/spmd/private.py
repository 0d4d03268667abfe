"""Arrays that a turn allocates: each lane has its own.

Such an array gets one axis more, along which the lanes lie, so that an element of all lanes is a line in memory. A small one of
constant size stays in the function's frame, where LLVM keeps it in registers. Any other is a *buffer*: made once in front
of the chunks, used by every chunk again. Legal because nothing keeps an array of a turn beyond the turn (`legality`), and its
size is the same in all turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import region_with_args
from quadrants.passes.guards import Guard
from quadrants.passes.polynomials import Nest
from quadrants.passes.refusals import Refusal
from quadrants.passes.spmd.lanes import Lanes
from quadrants.types import I64, ArrayType, LanesType

#: An array in the frame may have so many elements.
_MOST_IN_FRAME = 128
#: Bytes of all buffers: they should stay in a cache near the core.
_MOST_BYTES = 1 << 21
#: No axis of a buffer is longer, so that its size does not wrap.
_LONGEST = 1 << 15
_MOST_AXES = 4


def in_frame(op: Op, constants: Mapping[Value, int]) -> bool:
    """Whether an allocation stays in the frame."""
    size = 1
    for operand in op.operands:
        size *= constants.get(operand, _MOST_IN_FRAME + 1)
    return bool(op.attr("stack")) and size <= _MOST_IN_FRAME


def refusal(op: Op, constants: Mapping[Value, int], nest: Nest) -> Refusal | None:
    """Why an allocation inside of the loop is in the way, if it is."""
    if in_frame(op, constants):
        return None
    if not all(map(nest.invariant, op.operands)):
        return Refusal("allocation", "an array is allocated in every turn, of a size that changes", op)
    if len(op.operands) > _MOST_AXES or any(constants.get(size, 0) > _LONGEST for size in op.operands):
        return Refusal("allocation", "a large array is allocated in every turn", op)
    return None


def buffers(region: Region, constants: Mapping[Value, int]) -> list[Op]:
    """The allocations that become buffers."""
    return [op for op in region.walk() if op.name == "alloc" and not in_frame(op, constants)]


def fits(guard: Guard, made: list[Op], count: int) -> list[Value]:
    """The conditions under which buffers for so many lanes are small, and sizes no errors."""
    b = guard.builder
    parts: list[Value] = []
    total: Value | None = None
    for op in made:
        nbytes = b.i64(_array(op).dtype.itemsize * count)
        for operand in op.operands:
            size = guard.value(operand)
            parts.append(guard.compare("lt", size, _LONGEST))
            if not guard.positive(operand):
                parts.append(guard.compare("ge", size, 0))
            nbytes = b.value("mul", nbytes, size)
        total = nbytes if total is None else b.value("add", total, nbytes)
    if total is not None:
        parts.append(guard.compare("le", total, _MOST_BYTES))
    return parts


def make(guard: Guard, lanes: Lanes, made: list[Op]) -> None:
    """Allocate the buffers, in front of the chunks."""
    b = lanes.b
    for op in made:
        attrs = {**op.attrs, "type": _wider(_array(op)), "zero": False, "stack": False}
        sizes = map(guard.value, op.operands)
        lanes.values[op.result] = b.value("alloc", *sizes, b.i64(lanes.count), **attrs)
        lanes.buffers.add(op.result)


def _array(op: Op) -> ArrayType:
    type = op.result.type
    assert isinstance(type, ArrayType)
    return type


def _wider(type: ArrayType) -> ArrayType:
    """The type with an axis for the lanes."""
    return replace(type, ndim=type.ndim + 1, layout="C" if type.layout == "C" else "A")


# In a turn


def alloc(lanes: Lanes, op: Op, mask: Value, label: int) -> bool:
    """Emit an allocation. Whether the label was used."""
    lanes.alive[op.result] = mask
    if op.result in lanes.buffers:
        if op.attr("zero"):
            _clear(lanes, lanes.get(op.result), label)
        return bool(op.attr("zero"))
    attrs: dict[str, Any] = {**op.attrs, "type": _wider(_array(op))}
    dims = [lanes.get(size) for size in op.operands]
    lanes.values[op.result] = lanes.b.value("alloc", *dims, lanes.b.i64(lanes.count), **attrs)
    return False


def _clear(lanes: Lanes, array: Value, label: int) -> None:
    """Zeros in a whole buffer: of lanes for which it is not alive, too."""
    b, count = lanes.b, lanes.b.i64(lanes.count)
    assert isinstance(array.type, ArrayType)
    item = array.type.dtype
    total = count
    for axis in range(array.type.ndim - 1):
        total = b.value("mul", total, b.value("dim", array, axis=axis))
    flat = b.value("view", array, b.i64(0), total, b.i64(item.itemsize), type=ArrayType(item, 1))
    body = region_with_args([I64])
    zero, everywhere = b.value("zero", type=LanesType(item, lanes.count)), _everywhere(lanes)
    with lanes.into(body):
        b.op("lanes.store", zero, everywhere, flat, body.args[0], axis=0, step=1)
        b.op("continue", label=label)
    b.op("for", b.i64(0), total, count, regions=[body], label=label)


def view(lanes: Lanes, op: Op) -> None:
    """Emit a part of a private array: each lane's part of its own."""
    source, offset, *rest = op.operands
    type = _array(op)
    b, count = lanes.b, lanes.b.i64(lanes.count)

    def wide(value: Value) -> Value:
        return b.value("mul", lanes.get(value), count)

    dims, strides = rest[: type.ndim], rest[type.ndim :]
    sizes = [*map(lanes.get, dims), count]
    steps = [*map(wide, strides), b.i64(type.dtype.itemsize)]
    attrs = {**op.attrs, "type": _wider(type)}
    lanes.values[op.result] = b.value("view", lanes.get(source), wide(offset), *sizes, *steps, **attrs)
    lanes.alive[op.result] = lanes.alive[source]
    if source in lanes.buffers:
        lanes.buffers.add(op.result)


def stride(lanes: Lanes, op: Op) -> None:
    """Emit the distance of neighbours along an axis as it would be in an array of one lane."""
    b = lanes.b
    wide = b.value("stride", lanes.get(op.operands[0]), **op.attrs)
    lanes.values[op.result] = b.value("floordiv", wide, b.i64(lanes.count))


def _everywhere(lanes: Lanes) -> Value:
    return lanes.splat(lanes.b.bool(True))


def load(lanes: Lanes, array: Value, indices: list[Value], mask: Value) -> Value:
    """The elements of all lanes."""
    if lanes.facts.uniform(indices):
        place = [*map(lanes.get, indices), lanes.b.i64(0)]
        return lanes.b.value("lanes.load", _everywhere(lanes), lanes.get(array), *place, axis=len(indices), step=1)
    return lanes.b.value("lanes.gather", mask, lanes.get(array), *map(lanes.get, indices), _numbers(lanes))


def store(lanes: Lanes, value: Value, array: Value, indices: list[Value], mask: Value) -> None:
    """Not masked where it need not be: LLVM keeps in registers what is read and written as a whole."""
    if not lanes.facts.uniform(indices):
        lanes.b.op("lanes.scatter", value, mask, lanes.get(array), *map(lanes.get, indices), _numbers(lanes))
        return
    place = [*map(lanes.get, indices), lanes.b.i64(0)]
    where: dict[str, Any] = {"axis": len(indices), "step": 1}
    if mask is not lanes.alive[array]:  # else the lanes that are off have no such array
        if array in lanes.buffers:
            lanes.b.op("lanes.store", value, mask, lanes.get(array), *place, **where)
            return
        old = lanes.b.value("lanes.load", _everywhere(lanes), lanes.get(array), *place, **where)
        value = lanes.b.value("select", mask, value, old)
    lanes.b.op("lanes.store", value, _everywhere(lanes), lanes.get(array), *place, **where)


def _numbers(lanes: Lanes) -> Value:
    return lanes.b.value("lanes.index", count=lanes.count)
