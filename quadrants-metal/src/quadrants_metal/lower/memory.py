"""Arrays: their parts, the place of an element, views; and arrays of a block or of a thread."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quadrants.ir.core import Op, Value
from quadrants.types import I64, PYINT, ArrayType, FormatHole, FormatType, LiteralType, Scalar, TupleType
from quadrants_metal.lower import errors
from quadrants_metal.lower.emit import Emitter, FunctionEmitter, Parts, array_type
from quadrants_metal.lower.names import as_pointer, integer, pointer, space, stored

INDEX_ERROR = "builtins:IndexError"


def dims(parts: Parts, type: ArrayType) -> Parts:
    return parts[1 : 1 + type.ndim]


def strides(parts: Parts, type: ArrayType) -> Parts:
    """The strides in bytes."""
    if not type.contiguous:
        return parts[1 + type.ndim :]
    steps = [""] * type.ndim
    step = integer(I64, type.dtype.itemsize)
    sizes = dims(parts, type)
    for axis in _from_inner(type):
        steps[axis] = step
        step = f"({step} * {sizes[axis]})"
    return tuple(steps)


def _from_inner(type: ArrayType) -> Sequence[int]:
    """The axes, that with the smallest stride first."""
    return range(type.ndim) if type.layout == "F" else range(type.ndim - 1, -1, -1)


def _dim(e: FunctionEmitter, op: Op) -> None:
    e.same(op, dims(e.get(op.operands[0]), array_type(op.operands[0]))[int(op.attr("axis"))])


def _stride(e: FunctionEmitter, op: Op) -> None:
    e.set(op, strides(e.get(op.operands[0]), array_type(op.operands[0]))[int(op.attr("axis"))])


# Indices


def _message(axis: int, of_tuple: bool) -> TupleType:
    """The arguments of the IndexError: leaves are the index and the size, or none."""
    if of_tuple:
        return TupleType((LiteralType("tuple index out of range"),))
    middle = f" is out of bounds for axis {axis} with size "
    return TupleType((FormatType(("index ", FormatHole(PYINT), middle, FormatHole(PYINT))),))


def checked(e: FunctionEmitter, op: Op, indices: Sequence[Value], sizes: Sequence[str]) -> list[str]:
    """The positions of the indices of a load, a store or an `index`, checked and wrapped as its attributes say."""
    places = []
    first = int(op.attr("axis")) if op.name == "index" else 0
    of_tuple = op.name == "index" and bool(op.attr("tuple"))
    for axis, (value, size) in enumerate(zip(indices, sizes), first):
        index = place = e.one(value)
        known = e.constants.get(value)
        if op.attr("wrap") and not (isinstance(known, int) and known >= 0):
            place = e.let("long", f"{index} < 0 ? {index} + {size} : {index}")
        if op.attr("checked"):
            payload: list[tuple[Scalar, str]] = [] if of_tuple else [(I64, index), (I64, size)]
            fits = f"ulong({place}) < ulong({size})"
            errors.check(e, op, fits, INDEX_ERROR, _message(axis, of_tuple), payload)
        places.append(place)
    return places


def _index(e: FunctionEmitter, op: Op) -> None:
    index, size = op.operands
    (place,) = checked(e, op, [index], [e.one(size)])
    e.same(op, place)


# Elements


def moved(type: ArrayType, base: str, offset: str) -> str:
    """The pointer so many bytes behind a base."""
    start = as_pointer(f"{space(type)} uchar*", base)
    return as_pointer(pointer(type), f"{start} + {offset}")


def place_of(e: FunctionEmitter, array: Value, places: Sequence[str]) -> str:
    """A pointer to an element, as an expression."""
    type, parts = array_type(array), e.get(array)
    if not type.ndim:
        return parts[0]
    if not type.contiguous:
        offset = " + ".join(f"{place} * {step}" for place, step in zip(places, strides(parts, type)))
        return moved(type, parts[0], f"({offset})")
    order = list(_from_inner(type))[::-1]
    position = places[order[0]]
    for axis in order[1:]:
        position = f"({position} * {dims(parts, type)[axis]} + {places[axis]})"
    items = f"2 * {position}" if type.dtype.is_complex else position
    return f"({parts[0]} + {items})"


def element(e: FunctionEmitter, op: Op, first: int) -> tuple[str, ArrayType]:
    """A pointer to the element that an op names, and its array's type: the array is operand `first`, the indices follow."""
    array = op.operands[first]
    type = array_type(array)
    places = checked(e, op, op.operands[first + 1 :], dims(e.get(array), type))
    return place_of(e, array, places), type


def _load(e: FunctionEmitter, op: Op) -> None:
    at, type = element(e, op, 0)
    if type.dtype.is_complex:
        at = e.let(pointer(type), at)
        e.set(op, f"{at}[0]", f"{at}[1]")
    else:
        e.set(op, f"*{at} != 0" if type.dtype.is_bool else f"*{at}")


def _store(e: FunctionEmitter, op: Op) -> None:
    at, type = element(e, op, 1)
    parts = e.get(op.operands[0])
    if type.dtype.is_complex:
        at = e.let(pointer(type), at)
        for index, part in enumerate(parts):
            e.do(f"{at}[{index}] = {part};")
    else:
        e.do(f"*{at} = {stored(type.dtype)}({parts[0]});")


# Views


def _view(e: FunctionEmitter, op: Op) -> None:
    source, target = op.operands[0], array_type(op.result)
    start = moved(target, e.get(source)[0], e.one(op.operands[1]))
    shape = e.all(op.operands[2 : 2 + target.ndim])
    steps = () if target.contiguous else e.all(op.operands[2 + target.ndim :])
    e.same(op, e.let(pointer(target), start, op.result.hint), *shape, *steps)


def _same(e: FunctionEmitter, op: Op) -> None:
    a, b = op.operands
    first, second = array_type(a), array_type(b)
    if (first.ndim, first.dtype, first.space) != (second.ndim, second.dtype, second.space):
        e.same(op, "false")
        return
    pairs = [(e.get(a)[0], e.get(b)[0]), *zip(dims(e.get(a), first), dims(e.get(b), second))]
    pairs += zip(strides(e.get(a), first), strides(e.get(b), second))
    e.set(op, " && ".join(f"{x} == {y}" for x, y in pairs))


def _overlap(e: FunctionEmitter, op: Op) -> None:
    a, b = op.operands
    if array_type(a).space != array_type(b).space:
        e.same(op, "false")
        return
    (low_a, high_a, some_a), (low_b, high_b, some_b) = (_extent(e, value) for value in (a, b))
    e.set(op, f"{low_a} < {high_b} && {low_b} < {high_a} && {some_a} && {some_b}")


def _extent(e: FunctionEmitter, array: Value) -> tuple[str, str, str]:
    """The first byte, the one behind the last, and whether there is any element."""
    type, parts = array_type(array), e.get(array)
    byte = f"{space(type)} uchar*"
    low = e.let(byte, as_pointer(byte, parts[0]))
    high = e.let(byte, f"{low} + {type.dtype.itemsize}")
    some = e.let("bool", "true")
    for size, step in zip(dims(parts, type), strides(parts, type)):
        reach = e.let("long", f"({size} - 1) * {step}")
        e.do(f"{low} += {reach} < 0 ? {reach} : 0l;")
        e.do(f"{high} += {reach} < 0 ? 0l : {reach};")
        e.do(f"{some} = {some} && {size} > 0;")
    return low, high, some


# Arrays of a block and of a thread


def _shape(e: FunctionEmitter, op: Op) -> tuple[int, ...]:
    """The constant sizes of an array of a block or of a thread."""
    if op.name == "alloc":
        return tuple(e.module.integers(e.function)[size] for size in op.operands)
    shape = op.attrs["shape"]
    assert isinstance(shape, tuple)
    return shape


def _made(e: FunctionEmitter, op: Op, base: str) -> None:
    e.same(op, base, *(integer(I64, size) for size in _shape(e, op)))


def _local_array(e: FunctionEmitter, op: Op) -> tuple[str, int]:
    """An array at the head of the function, which outlives the turn of the loop that makes it; its name and length."""
    type = array_type(op.result)
    length = math.prod(_shape(e, op)) * (2 if type.dtype.is_complex else 1)
    name = e.name(op.result.hint or "own")
    e.declared.append(f"  {stored(type.dtype)} {name}[{max(1, length)}];")
    _made(e, op, e.let(pointer(type), name))
    return name, length


def _local(e: FunctionEmitter, op: Op) -> None:
    _local_array(e, op)


def _alloc(e: FunctionEmitter, op: Op) -> None:
    """A small array of the thread; there is no heap for others."""
    if not op.attr("stack"):
        e.module.refuse(e.function, op, "alloc: a device has no heap", _HEAP)
    name, length = _local_array(e, op)
    if op.attr("zero"):
        e.do(f"for (int at = 0; at < {length}; at++) {name}[at] = 0;")


_HEAP = "make the array before the launch, give it a small constant size, or use local.array or shared.array"


def _shared_array(e: FunctionEmitter, op: Op) -> None:
    type = array_type(op.result)
    nbytes = math.prod(_shape(e, op)) * type.dtype.itemsize
    start = e.module.shared_bytes_at(e, op, nbytes)
    _made(e, op, e.let(pointer(type), as_pointer(pointer(type), f"here.shared + {start}"), op.result.hint))


def _shared_dynamic(e: FunctionEmitter, op: Op) -> None:
    type = array_type(op.result)
    base = e.let(pointer(type), as_pointer(pointer(type), "here.shared + STATIC_BYTES"), op.result.hint)
    e.same(op, base, e.let("long", f"long(here.dynamic_bytes / {type.dtype.itemsize}u)"))


EMITTERS: dict[str, Emitter] = {
    "dim": _dim,
    "stride": _stride,
    "index": _index,
    "load": _load,
    "store": _store,
    "view": _view,
    "same": _same,
    "overlap": _overlap,
    "alloc": _alloc,
    "local.array": _local,
    "shared.array": _shared_array,
    "shared.dynamic": _shared_dynamic,
}
