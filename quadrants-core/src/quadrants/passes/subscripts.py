"""Where a loop nest reads and writes memory: each access as a tuple of polynomials over the indices of the loops.

Takes a loop and the definitions of the function's values; gives an `Access` for each load, each store and each array
that goes to a call. Views are traced to the array that they are a part of, their indices expressed by those of that
array. Values that do not change in the nest and are computed alike are one symbol. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Effect, Op, Region, Value
from quadrants.passes.polynomials import Nest, Poly, fits, plus, times
from quadrants.passes.structure import is_pure
from quadrants.types import I64, ArrayType, CellsType

#: The root of an array that was made inside a turn: no other turn can see it.
PRIVATE = None
_SILENT = frozenset({"dim", "stride", "same", "overlap", "view"})
_LOOPS = ("for", "loop")
#: (name of a function, number of a parameter) -> whether the function may write to the array.
Writes = Callable[[str, int], bool]


def _any(callee: str, index: int) -> bool:
    return True


@frozen(eq=False)
class Access:
    """What an op does to an array.

    Args:
        op: a load, a store, or a call.
        root: the array: a parameter, or one that was allocated in front of the loop.
        axes: the index along each axis of the root, None for one that is not known; None if nothing is known.
        writes: whether it writes.
        loops: the `for`s between the loop and the op, from the outside in.
        always: whether every turn comes here (or every turn of the loops in between).
        linear: the position in the memory of a contiguous root, in elements; None if it is not known.
    """

    op: Op
    root: Value
    axes: tuple[Poly | None, ...] | None
    writes: bool
    loops: tuple[Op, ...]
    always: bool
    linear: Poly | None = None


@record
class Place:
    """An array as a part of another: where it begins in the memory of `root`, and its strides, as polynomials in bytes.
    `offset`: None if the part is not known.
    """

    root: Value
    offset: Poly | None
    strides: tuple[Poly, ...] = ()


@record
class Subscripts:
    """The accesses of a loop.

    Args:
        loop: a `for`.
        makers: the definitions of the function's values.
        writes: which array arguments a call may write to.
    """

    loop: Op
    makers: Mapping[Value, Op]
    writes: Writes = _any
    nest: Nest = field(init=False)
    accesses: list[Access] = field(default_factory=list)
    opaque: list[Op] = field(default_factory=list)  # ops that may do anything to memory, or leave the loop
    numbers: dict[object, Value] = field(default_factory=dict)
    symbols: dict[Value, Value] = field(default_factory=dict)
    axes_of: dict[Value, tuple[Value, int]] = field(default_factory=dict)  # a stride's symbol -> its array and axis

    def __post_init__(self) -> None:
        self.nest = Nest(self.loop, dict(self.makers), lambda start, stop, step: Value(I64))
        self._region(self.loop.regions[0], (), True)

    # Symbols

    def symbol(self, value: Value) -> Value:
        """The value that stands for all that are computed alike; `value` does not change in the nest."""
        known = self.symbols.get(value)
        if known is None:
            op = self.makers.get(value)
            known = value
            if op is not None and is_pure(op) and len(op.results) == 1:
                key = (op.name, tuple(map(self.symbol, op.operands)), _attributes(op))
                known = self.numbers.setdefault(key, value)
                if op.name == "stride":
                    axis = op.attrs["axis"]
                    assert isinstance(axis, int)
                    self.axes_of[known] = (self.symbol(op.operands[0]), axis)
            self.symbols[value] = known
        return known

    def poly(self, value: Value) -> Poly | None:
        """What an integer is made of; None if it depends on something that changes and is no index of a loop."""
        found = self.nest.poly(value)
        if found is None:
            return None
        total: Poly = {}
        for monomial, coefficient in found.items():
            names = (v if v in self.nest.loops else self.symbol(v) for v in monomial)
            total = plus(total, {tuple(sorted(names, key=id)): coefficient})
        return total

    def stride(self, array: Value, axis: int) -> Value:
        """The symbol of a stride of an array that does not change."""
        key = ("stride", (self.symbol(array),), (("axis", axis),))
        known = self.numbers.setdefault(key, Value(I64, "stride"))
        self.axes_of[known] = (self.symbol(array), axis)
        return known

    # Arrays

    def places(self, array: Value) -> list[Place | None] | None:
        """The arrays that a value may be, or be a part of; `PRIVATE` for one of this turn alone; None: not known."""
        op = self.makers.get(array)
        if array not in self.nest.inside:
            if op is not None and op.name == "view" and op.operands[0] not in self.nest.inside:
                found = self._view(op)
                if found is not None:
                    return found
            return [self._whole(array)]
        if op is None:
            return None  # carried by a loop, or the argument of a region
        if op.name == "alloc":
            return [PRIVATE]
        if op.name == "view":
            return self._view(op)
        if op.name == "if":
            return self._either(op, op.results.index(array))
        if op.name == "call":
            return self._returned(op)
        return None

    def _whole(self, array: Value) -> Place:
        root = self.symbol(array)
        assert isinstance(array.type, ArrayType)
        strides: tuple[Poly, ...] = tuple({(self.stride(root, axis),): 1} for axis in range(array.type.ndim))
        return Place(root, {}, strides)

    def _view(self, op: Op) -> list[Place | None] | None:
        sources = self.places(op.operands[0])
        if sources is None:
            return None
        type = op.result.type
        assert isinstance(type, ArrayType)
        polys = [self.poly(value) for value in (op.operands[1], *op.operands[2 + type.ndim :])]
        found: list[Place | None] = []
        for source in sources:
            if source is None:
                found.append(PRIVATE)
                continue
            offset, strides = polys[0], polys[1:]
            known = tuple(self._through(stride) for stride in strides if stride is not None)
            if offset is None or len(known) < len(strides) or source.offset is None:
                found.append(Place(source.root, None))
            else:
                found.append(Place(source.root, plus(source.offset, self._through(offset)), known))
        return found

    def _through(self, poly: Poly) -> Poly:
        """The polynomial with the strides of views, which are operands of these, replaced by what they are."""
        total: Poly = {}
        for monomial, coefficient in poly.items():
            term: Poly = {(): coefficient}
            for value in monomial:
                known = self.axes_of.get(value)
                maker = self.makers.get(known[0]) if known is not None else None
                factor: Poly | None = None
                if known is not None and maker is not None and maker.name == "view":
                    factor = self.poly(maker.operands[len(maker.operands) - _ndim(known[0]) + known[1]])
                term = times(term, {(value,): 1} if factor is None else self._through(factor))
            total = plus(total, term)
        return total

    def _either(self, op: Op, index: int) -> list[Place | None] | None:
        """What the branches give, where it is not known which of them runs."""
        found: list[Place | None] = []
        for region in op.regions:
            end = region.terminator
            if end is None or end.name != "yield":
                continue
            places = self.places(end.operands[index])
            if places is None:
                return None
            found += places
        return found

    def _returned(self, op: Op) -> list[Place | None] | None:
        """An array that a function gives is new, or a part of an argument."""
        found: list[Place | None] = [PRIVATE]
        for operand in op.operands:
            if isinstance(operand.type, ArrayType):
                places = self.places(operand)
                if places is None:
                    return None
                found += [None if place is None else Place(place.root, None) for place in places]
        return found

    # Accesses

    def _region(self, region: Region, loops: tuple[Op, ...], always: bool) -> None:
        for op in region.ops:
            if op.name in ("load", "store"):
                first = 0 if op.name == "load" else 1
                self._access(op, op.operands[first], op.operands[first + 1 :], op.name == "store", loops, always)
            elif op.name == "call":
                if any(isinstance(operand.type, CellsType) for operand in op.operands):
                    self.opaque.append(op)
                for index, operand in enumerate(op.operands):
                    if isinstance(operand.type, ArrayType):
                        self._access(op, operand, None, self.writes(str(op.attrs["callee"]), index), loops, always)
            elif self._is_opaque(op):
                self.opaque.append(op)
            straight = always and op.name in ("for", "block")
            inner = (*loops, op) if op.name == "for" else loops
            for nested in op.regions:
                self._region(nested, inner, straight)

    def _is_opaque(self, op: Op) -> bool:
        if op.name in _SILENT or op.defn.terminator:
            return False
        if op.name.startswith("var"):
            return op.name != "var" and op.operands[0] not in self.nest.inside
        return bool(op.defn.effects & (Effect.HOST | Effect.WRITES | Effect.READS))

    def _access(
        self, op: Op, array: Value, indices: list[Value] | None, writes: bool, loops: tuple[Op, ...], always: bool
    ) -> None:
        places = self.places(array)
        if places is None:
            self.opaque.append(op)
            return
        single = len(places) == 1
        for place in places:
            if place is None:
                continue
            axes = linear = None
            if indices is not None and single:
                axes = self._axes(place, op, indices)
                linear = self._linear(place, op, indices)
            self.accesses.append(Access(op, place.root, axes, writes, loops, always and single, linear))

    def _axes(self, place: Place, op: Op, indices: list[Value]) -> tuple[Poly | None, ...] | None:
        """The indices along the axes of the root."""
        wraps = bool(op.attr("wrap"))
        polys = [None if wraps else self.poly(index) for index in indices]
        ndim = _ndim(place.root)
        if place.offset is None:
            return None
        if not place.offset and place.strides == tuple({(self.stride(place.root, k),): 1} for k in range(ndim)):
            return tuple(polys)
        position = place.offset
        for poly, stride in zip(polys, place.strides):
            if poly is None:
                return None
            position = plus(position, times(poly, stride))
        return self._along_axes(place.root, position)

    def _linear(self, place: Place, op: Op, indices: list[Value]) -> Poly | None:
        """The position in the memory of the root, in elements."""
        if place.offset is None or op.attr("wrap") or not _contiguous(place.root):
            return None
        position = place.offset
        for index, stride in zip(indices, place.strides):
            poly = self.poly(index)
            if poly is None:
                return None
            position = plus(position, times(poly, stride))
        assert isinstance(place.root.type, ArrayType)
        itemsize = place.root.type.dtype.itemsize
        if any(coefficient % itemsize for coefficient in position.values()):
            return None
        elements = {monomial: coefficient // itemsize for monomial, coefficient in position.items()}
        return elements if fits(elements) else None

    def _along_axes(self, root: Value, position: Poly) -> tuple[Poly | None, ...] | None:
        """A position in bytes as an index along each axis: the factors of the strides."""
        symbols = [self.stride(root, axis) for axis in range(_ndim(root))]
        axes: list[Poly] = [{} for _ in symbols]
        itemsize = root.type.dtype.itemsize if isinstance(root.type, ArrayType) else 0
        for monomial, coefficient in position.items():
            found = [axis for axis, symbol in enumerate(symbols) if symbol in monomial]
            if not found and len(symbols) == 1 and itemsize and coefficient % itemsize == 0 and _contiguous(root):
                axes[0] = plus(axes[0], {monomial: coefficient // itemsize})
                continue
            if len(found) != 1 or monomial.count(symbols[found[0]]) != 1:
                return None
            rest = tuple(value for value in monomial if value is not symbols[found[0]])
            axes[found[0]] = plus(axes[found[0]], {rest: coefficient})
        return tuple(axes) if all(map(fits, axes)) else None


def _ndim(array: Value) -> int:
    assert isinstance(array.type, ArrayType)
    return array.type.ndim


def _contiguous(array: Value) -> bool:
    return isinstance(array.type, ArrayType) and array.type.contiguous


def _attributes(op: Op) -> tuple[tuple[str, object], ...]:
    return tuple(sorted((name, value) for name, value in op.attrs.items() if name not in ("nowrap", "nonzero")))
