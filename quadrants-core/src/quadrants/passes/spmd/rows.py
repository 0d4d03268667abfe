"""Items of a few elements, one a lane, such as the points `x[i, 0]`, `x[i, 1]`, `x[i, 2]`, read and written as a whole.

The items of neighbouring lanes follow each other in memory. So the elements that straight code takes of them are read
together by as many accesses to neighbours as an item has elements, and picked apart; where all elements are stored, they are
mixed and stored alike. That is done if all lanes are on, else each lane reaches its own elements. Legal because the whole item
lies in the array, and no op between the accesses of a group reaches the same memory; loads of what the group stores are given that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Region, Value
from quadrants.passes.spmd.lanes import Lanes
from quadrants.passes.structure import is_pure
from quadrants.types import ArrayType

if TYPE_CHECKING:
    from quadrants.passes.spmd.emit import Emitter

#: Elements of an item; of larger ones than `_SMALL`, half must be asked for.
MOST = 8
_SMALL = 4


@frozen(eq=False)
class Item:
    """An element of the items of the lanes.

    Args:
        indices: those of the items, the last one grows by 1 from lane to lane.
        place: the number of the element in its item.
        size: how many elements an item has.
    """

    array: Value
    indices: tuple[Value, ...]
    place: int
    size: int

    def beside(self, other: Item | None) -> bool:
        """Whether another element is of the same items."""
        return other is not None and other.array is self.array and other.indices == self.indices


@record(eq=False)
class Group:
    """Stores of all elements of items.

    Args:
        first: the first store's element.
        last: the last store.
        values: what is stored so far, by place.
    """

    first: Item
    last: Op
    values: dict[int, Value] = field(default_factory=dict)


def item_of(lanes: Lanes, op: Op) -> Item | None:
    """The element that a load or a store reaches, if it is one of items."""
    array, *indices = op.operands[op.name == "store" :]
    type = array.type
    if array in lanes.facts.private or not isinstance(type, ArrayType) or type.layout != "C":
        return None
    moving = [axis for axis, index in enumerate(indices) if lanes.varying(index)]
    if len(moving) != 1 or lanes.step(indices[moving[0]]) != 1:
        return None
    axis, place, size = moving[0], 0, 1
    for inner in range(axis + 1, type.ndim):
        length, at = lanes.sizes.get((array, inner)), lanes.constants.get(indices[inner])
        if length is None or at is None or not 0 <= at < length:
            return None
        place, size = place * length + at, size * length
    return Item(array, tuple(indices[: axis + 1]), place, size) if 2 <= size <= MOST else None


def _aliases(lanes: Lanes, one: Op, other: Op) -> bool:
    """Whether two accesses may reach the same memory in one turn, as far as their arrays tell."""
    arrays = [op.operands[op.name == "store"] for op in (one, other)]
    if any(array in lanes.facts.private for array in arrays):
        return arrays[0] is arrays[1]
    roots = [lanes.roots.get(op) for op in (one, other)]
    return None in roots or roots[0] is roots[1]


def _stops(op: Op) -> bool:
    """Whether no access is moved over an op."""
    return bool(op.regions) or not (is_pure(op) or op.name in ("load", "store", "check", "index"))


# Loads


def load(e: Emitter, op: Op, mask: Value) -> bool:
    """Emit the loads of a group at its first one. Whether it was one of a group."""
    lanes = e.lanes
    if op in e.handed_on:
        group, place = e.handed_on.pop(op)
        lanes.values[op.result] = group.values[place]
        return True
    if op in e.loaded:
        e.loaded.discard(op)
        return True
    item = item_of(lanes, op)
    if item is None:
        return False
    members = _loads(e, op, item)
    places = sorted({place for _, place in members})
    if item.size > _SMALL and 2 * len(places) < item.size:
        return False
    yes, no = Region(), Region()
    with lanes.into(yes):
        found = _together(lanes, item, places)
        lanes.b.op("yield", *found)
    with lanes.into(no):
        lanes.b.op("yield", *(_one(lanes, item, place, mask) for place in places))
    values = lanes.b.op("if", lanes.b.value("lanes.all", mask), regions=(yes, no)).results
    for other, place in members:
        lanes.values[other.result] = values[places.index(place)]
    e.loaded.update(other for other, _ in members if other is not op)
    return True


def _loads(e: Emitter, op: Op, item: Item) -> list[tuple[Op, int]]:
    """The loads of the same items that may be done with the first one, and their places."""
    ops, index = e.rest
    found = [(op, item.place)]
    for other in ops[index + 1 :]:
        if _stops(other) or (other.name == "store" and _aliases(e.lanes, op, other)):
            break
        beside = item_of(e.lanes, other) if other.name == "load" and other not in e.handed_on else None
        if beside is not None and item.beside(beside):
            found.append((other, beside.place))
    return found


def _together(lanes: Lanes, item: Item, places: Sequence[int]) -> list[Value]:
    """Elements of the items of all lanes."""
    flat, begin = _flat(lanes, item)
    everywhere = lanes.splat(lanes.b.bool(True))
    parts = [
        lanes.b.value("lanes.load", everywhere, flat, _behind(lanes, begin, number), axis=0, step=1)
        for number in range(item.size)
    ]
    lane = range(lanes.count)
    return [lanes.b.value("lanes.pick", *parts, places=tuple(place + item.size * k for k in lane)) for place in places]


def _one(lanes: Lanes, item: Item, place: int, mask: Value) -> Value:
    """An element, lane by lane."""
    at = _indices(lanes, item, place)
    return lanes.b.value("lanes.load", mask, lanes.get(item.array), *at, axis=len(item.indices) - 1, step=1)


def _indices(lanes: Lanes, item: Item, place: int) -> list[Value]:
    """The indices of an element of the first lane."""
    type = item.array.type
    assert isinstance(type, ArrayType)
    inner: list[int] = []
    for axis in reversed(range(len(item.indices), type.ndim)):
        length = lanes.sizes[item.array, axis]
        inner.insert(0, place % length)
        place //= length
    return [*map(lanes.first, item.indices), *map(lanes.b.i64, inner)]


def _flat(lanes: Lanes, item: Item) -> tuple[Value, Value]:
    """The array as one axis, and where the item of the first lane begins."""
    b, array = lanes.b, lanes.get(item.array)
    type = array.type
    assert isinstance(type, ArrayType)
    total = begin = b.i64(item.size)
    position: Value | None = None
    for axis, index in enumerate(item.indices):
        size = b.value("dim", array, axis=axis)
        total = b.value("mul", total, size)
        first = lanes.first(index)
        position = first if position is None else b.value("add", b.value("mul", position, size), first)
    assert position is not None
    begin = b.value("mul", position, begin)
    flat = ArrayType(type.dtype, 1, "C", type.readonly, type.space)
    return b.value("view", array, b.i64(0), total, b.i64(type.dtype.itemsize), type=flat), begin


def _behind(lanes: Lanes, begin: Value, number: int) -> Value:
    return begin if number == 0 else lanes.b.value("add", begin, lanes.b.i64(number * lanes.count))


# Stores


def store(e: Emitter, op: Op, mask: Value) -> bool:
    """Keep a store of a group until the last one. Whether it is one of a group."""
    if op not in e.stored:
        item = item_of(e.lanes, op)
        if item is None or not _plan(e, op, item):
            return False
    group = e.stored.pop(op)
    item = item_of(e.lanes, op)
    assert item is not None
    group.values[item.place] = e.lanes.lanes(op.operands[0])
    if op is group.last:
        _store(e.lanes, group, mask)
    return True


def _plan(e: Emitter, op: Op, item: Item) -> bool:
    """Find the stores of all elements of the items; the loads between that read what they store."""
    ops, index = e.rest
    found = {item.place: op}
    reads: list[tuple[Op, int]] = []
    for other in ops[index + 1 :]:
        if _stops(other):
            return False
        beside = item_of(e.lanes, other) if other.name in ("load", "store") else None
        if beside is not None and item.beside(beside):
            if other.name == "load":
                reads += [(other, beside.place)] if beside.place in found else []
                continue
            if beside.place in found:
                return False
            found[beside.place] = other
            if len(found) == item.size:
                group = Group(item, other)
                e.stored.update(dict.fromkeys(found.values(), group))
                e.handed_on.update((read, (group, place)) for read, place in reads)
                return True
        elif other.name in ("load", "store") and _aliases(e.lanes, op, other):
            return False
    return False


def _store(lanes: Lanes, group: Group, mask: Value) -> None:
    b, item = lanes.b, group.first
    count, size = lanes.count, item.size
    values = [group.values[place] for place in range(size)]
    yes, no = Region(), Region()
    with lanes.into(yes):
        flat, begin = _flat(lanes, item)
        everywhere = lanes.splat(b.bool(True))
        for number in range(size):
            elements = range(number * count, (number + 1) * count)
            mixed = b.value("lanes.pick", *values, places=tuple(k % size * count + k // size for k in elements))
            b.op("lanes.store", mixed, everywhere, flat, _behind(lanes, begin, number), axis=0, step=1)
        b.op("yield")
    with lanes.into(no):
        for place, value in enumerate(values):
            at, axis = _indices(lanes, item, place), len(item.indices) - 1
            b.op("lanes.store", value, mask, lanes.get(item.array), *at, axis=axis, step=1)
        b.op("yield")
    b.op("if", b.value("lanes.all", mask), regions=(yes, no))
