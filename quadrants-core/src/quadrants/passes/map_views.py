"""Where the elements of views are in the arrays that they were made from; for a map that has no array, where they are read.

Takes an array and what is made of it; changes nothing. A view is followed if each of its axes runs along one
axis of the array, as indexing, slices and transposition make them; or if it has the elements in C order, as `reshape` makes it.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Value
from quadrants.passes.array_roots import Roots
from quadrants.passes.structure import LOOPS
from quadrants.types import ArrayType


@frozen(eq=False)
class Place:
    """How the indices of a view lead to those of an array: index k is the sum of `starts[k]` and of the view's indices whose axis
    is k, each times its step.

    Args:
        source: the array: a map's result, or a view of that in C order.
        starts: for each axis of the source, what is added.
        axes: for each axis of the view, the axis of the source, and the step (None: 1).
    """

    source: Value
    starts: tuple[tuple[Value, ...], ...]
    axes: tuple[tuple[int | None, Value | None], ...]


@record(eq=False)
class Views:
    """The views of a function."""

    roots: Roots
    places: dict[Value, Place | None] = field(default_factory=dict)
    ordered: set[Value] = field(default_factory=set)  # the maps of which there are views in C order

    def loads(self, reader: Op, made: Op) -> list[Op] | None:
        """The loads through a reader of a map's result, if those are all that is done with it and each is of an element of its
        own; else None."""
        if reader.name == "load":
            return [reader] if self.once(reader, made) else None
        if reader.name != "view" or self.place(reader.result) is None:
            return None
        found: list[Op] = []
        for op in self.roots.readers.get(reader.result, ()):
            if op.name in ("dim", "stride"):
                continue
            more = self.loads(op, made)
            if more is None:
                return None
            found += more
        return found

    def place(self, array: Value) -> Place | None:
        """How an array is related to the one that it was made from."""
        if array not in self.places:
            maker = self.roots.makers.get(array)
            self.places[array] = None
            if maker is None or maker.name != "view":
                self.places[array] = _identity(array)
            else:
                parent = self.place(maker.operands[0])
                self.places[array] = None if parent is None else self.followed(maker, parent)
        return self.places[array]

    def followed(self, view: Op, parent: Place) -> Place | None:
        """The place of a view of an array whose place is known."""
        rank = len(view.operands) // 2 - 1
        dims, strides = view.operands[2 : 2 + rank], view.operands[2 + rank :]
        starts = self.offset(view.operands[1], parent)
        axes = [self.axis(dim, stride, parent) for dim, stride in zip(dims, strides)]
        known = [axis for axis in axes if axis is not None]
        used = [axis for axis, _ in known if axis is not None]
        if starts is not None and len(known) == len(axes) and len(set(used)) == len(used):
            both = [(*parent.starts[k], *starts[k]) for k in range(len(starts))]
            return Place(parent.source, tuple(both), tuple(known))
        return self.in_order(view, parent)

    def in_order(self, view: Op, parent: Place) -> Place | None:
        """The place of a view that has all elements in C order: its own."""
        type = view.result.type
        assert isinstance(type, ArrayType)
        if parent.source is not view.operands[0] or self.number(view.operands[1]) != 0 or type.layout != "C":
            return None
        if type.ndim == 0:
            return None
        self.ordered.add(self.roots.root(view.result))
        return _identity(view.result)

    def is_injective(self, array: Value) -> bool:
        """Whether different indices surely lead to different elements."""
        type = array.type
        assert isinstance(type, ArrayType)
        if type.layout != "A":
            return True
        place = self.place(array)
        if place is None or not isinstance(place.source.type, ArrayType) or place.source.type.layout == "A":
            return False
        view = self.roots.makers[array]
        strides = view.operands[2 + type.ndim :] if view.name == "view" else []
        return not any(self.number(stride) == 0 for stride in strides)

    def number(self, value: Value) -> object:
        maker = self.roots.makers.get(value)
        return maker.attrs["value"] if maker is not None and maker.name == "const" else None

    def stride(self, value: Value, parent: Place) -> tuple[int, Value | None] | None:
        """The axis of the source that a distance in bytes is one step along, and how many steps, if it is more than one."""
        maker = self.roots.makers.get(value)
        type = parent.source.type
        assert isinstance(type, ArrayType)
        if self.number(value) == type.dtype.itemsize and type.layout in ("C", "F") and type.ndim:
            return (type.ndim - 1 if type.layout == "C" else 0, None)
        if maker is None or maker.name != "stride":
            return None
        inner = self.place(maker.operands[0])
        number = maker.attrs["axis"]
        if inner is None or inner.source is not parent.source or not isinstance(number, int):
            return None
        axis, step = inner.axes[number]
        return None if axis is None else (axis, step)

    def axis(self, dim: Value, stride: Value, parent: Place) -> tuple[int | None, Value | None] | None:
        """The axis that an axis of a view runs along; (None, None) if it has one element."""
        if self.number(dim) == 1 or self.number(stride) == 0:
            return (None, None)
        found = self.stride(stride, parent)
        step: Value | None = None
        if found is None:
            maker = self.roots.makers.get(stride)
            if maker is None or maker.name != "mul":
                return None
            for one, other in (maker.operands, maker.operands[::-1]):
                if (found := self.stride(one, parent)) is not None:
                    step = other
                    break
        if found is None or found[1] is not None or not self.is_part(dim, found[0], parent, 8):
            return None
        return (found[0], step)

    def is_part(self, size: Value, axis: int, parent: Place, depth: int) -> bool:
        """Whether a size is at most that of an axis of the source, as the sizes of slices are."""
        maker = self.roots.makers.get(size)
        if maker is None or depth == 0:
            return False
        if maker.name == "dim":
            inner = self.place(maker.operands[0])
            number = maker.attrs["axis"]
            same = inner is not None and inner.source is parent.source and isinstance(number, int)
            return same and inner is not None and inner.axes[int(str(number))][0] == axis
        if maker.name == "min":
            return any(self.is_part(part, axis, parent, depth - 1) for part in maker.operands)
        if maker.name == "max":  # with 0
            known = [part for part in maker.operands if self.number(part) != 0]
            return len(known) == 1 and self.is_part(known[0], axis, parent, depth - 1)
        if maker.name == "sub":
            return self.is_part(maker.operands[0], axis, parent, depth - 1) and self.is_count(maker.operands[1], 8)
        return maker.name == "add" and self.is_rest(maker, axis, parent, depth)

    def is_rest(self, maker: Op, axis: int, parent: Place, depth: int) -> bool:
        """Whether a sum is n - c, or max(n, c) - c."""
        less = self.number(maker.operands[1])
        if not isinstance(less, int) or less > 0:
            return False
        inner = self.roots.makers.get(maker.operands[0])
        if inner is not None and inner.name == "max":
            known = [part for part in inner.operands if self.number(part) != -less]
            return len(known) == 1 and self.is_part(known[0], axis, parent, depth - 1)
        return self.is_part(maker.operands[0], axis, parent, depth - 1)

    def is_count(self, value: Value, depth: int) -> bool:
        """Whether a number is not negative by its definition."""
        number = self.number(value)
        if isinstance(number, int):
            return number >= 0
        maker = self.roots.makers.get(value)
        if maker is None or depth == 0:
            return False
        parts = [self.is_count(part, depth - 1) for part in maker.operands]
        if maker.name == "select":
            return self.is_clamped(maker) or all(parts[1:])
        return maker.name == "dim" or (maker.name == "min" and all(parts)) or (maker.name == "max" and any(parts))

    def is_clamped(self, select: Op) -> bool:
        """Whether it is `y if x < 0 else x`, y not being negative."""
        test = self.roots.makers.get(select.operands[0])
        if test is None or test.name != "cmp" or test.attrs["pred"] != "lt" or self.number(test.operands[1]) != 0:
            return False
        return test.operands[0] is select.operands[2] and self.is_count(select.operands[1], 4)

    def offset(self, value: Value, parent: Place) -> list[tuple[Value, ...]] | None:
        """An offset in bytes as indices along the source's axes."""
        starts: list[tuple[Value, ...]] = [() for _ in parent.starts]
        terms = [value]
        while terms:
            term = terms.pop()
            if self.number(term) == 0:
                continue
            maker = self.roots.makers.get(term)
            if maker is None:
                return None
            if maker.name == "add":
                terms += maker.operands
                continue
            found = None
            for one, other in (maker.operands, maker.operands[::-1]) if maker.name == "mul" else ():
                if (found := self.stride(one, parent)) is not None and found[1] is None:
                    starts[found[0]] = (*starts[found[0]], other)
                    break
            if found is None or found[1] is not None:
                return None
        return starts

    # Loads

    def once(self, load: Op, made: Op) -> bool:
        """Whether every turn of the loops between a map and a load reads an element of its own."""
        place = self.place(load.operands[0])
        if place is None:
            return False
        indices = [*load.operands[1:], *(value for start in place.starts for value in start)]
        reached = self.loops_of(indices)
        home = self.roots.parents.get(made)
        around = self.roots.parents.get(load)
        while around is not home:
            if around is None or around.name in ("map", "map_into") or (around.name in LOOPS and around not in reached):
                return False
            around = self.roots.parents.get(around)
        return True

    def loops_of(self, values: list[Value]) -> set[Op]:
        """The loops whose turns have to do with what the values are."""
        found: set[Op] = set()
        seen: set[Value] = set()
        work = list(values)
        while work:
            value = work.pop()
            if value in seen:
                continue
            seen.add(value)
            maker = self.roots.makers.get(value)
            if maker is not None:
                work += maker.operands
                work += [operand for region in maker.regions for operand in region.ops[-1].operands]
                continue
            loop = self.roots.loops.get(value)
            if loop is not None:
                found.add(loop)
                head = 3 if loop.name == "for" else 0
                number = loop.regions[0].args.index(value) if value in loop.regions[0].args else -1
                work += loop.operands[:3] if head and number == 0 else loop.operands[head + number - (head > 0) :][:1]
        return found


def _identity(array: Value) -> Place:
    assert isinstance(array.type, ArrayType)
    rank = array.type.ndim
    return Place(array, ((),) * rank, tuple((axis, None) for axis in range(rank)))
