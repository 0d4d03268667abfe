"""Where a product is read and written, as matrices: views of arrays, by the indices of two loops.

Takes accesses whose places are known (see `subscripts`) and a guard, whose builder stands in front of the nest; emits the views,
and the test that no two elements of one overlap.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants._frozen import record
from quadrants.ir import Op, Value
from quadrants.ir.builder import Builder
from quadrants.passes.contractions.nest import Product, index_of
from quadrants.passes.guards import Guard
from quadrants.passes.polynomials import Poly, as_const, split
from quadrants.passes.subscripts import Access
from quadrants.types import ArrayType


@record
class Places:
    """Emits matrices.

    Args:
        guard: of the nest.
        constants: the values that are integer constants.
        sizes: how many turns each loop has.
    """

    guard: Guard
    constants: Mapping[Value, int]
    sizes: dict[Op, Value]

    @property
    def builder(self) -> Builder:
        return self.guard.builder

    def view(self, access: Access, one: Op, other: Op) -> Value:
        """The matrix of what an access reaches in the turns of two loops."""
        b = self.builder
        type = access.root.type
        assert isinstance(type, ArrayType)
        item = type.dtype.itemsize
        pairs: list[tuple[Poly, Value | None]] = []
        if access.axes is not None and None not in access.axes:
            pairs += [(poly, b.value("stride", access.root, axis=n)) for n, poly in enumerate(access.axes) if poly]
        else:
            assert access.linear is not None
            pairs.append((access.linear, None))
        total: Value | None = None
        steps: list[Value | None] = [None, None]
        for poly, stride in pairs:
            unit = stride if stride is not None else b.i64(item)
            rest = poly
            for n, loop in enumerate((one, other)):
                parts = split(rest, index_of(loop))
                assert parts is not None
                factor, rest = parts
                if factor:
                    step = unit if as_const(factor) == 1 else b.value("mul", self.guard.poly(factor), unit)
                    steps[n] = self.plus(steps[n], step)
                    if self.constants.get(loop.operands[0]) != 0:
                        total = self.plus(total, b.value("mul", step, self.guard.value(loop.operands[0])))
            if rest:
                total = self.plus(total, b.value("mul", self.guard.poly(rest), unit))
        sizes = (self.sizes[one], self.sizes[other])
        known = [b.i64(0) if value is None else value for value in (total, *steps)]
        matrix = ArrayType(type.dtype, 2, "A", type.readonly)
        return b.value("view", access.root, known[0], *sizes, *known[1:], type=matrix)

    def disjoint(self, target: Access, other: Access, otherwise: Value) -> Value:
        """Whether parts of one array do not meet: along some axis one ends before the other begins, or `otherwise`."""
        b = self.builder
        type = target.root.type
        assert isinstance(type, ArrayType)
        if target.axes is None or other.axes is None or not type.contiguous:
            return otherwise
        for mine, theirs in zip(target.axes, other.axes):
            spans = [None if poly is None else self.span(poly) for poly in (mine, theirs)]
            if spans[0] is None or spans[1] is None:
                continue
            for (_, last), (first, _) in (spans, spans[::-1]):  # type: ignore[misc]
                otherwise = b.value("or", otherwise, b.value("cmp", last, first, pred="lt"))
        return otherwise

    def span(self, poly: Poly) -> tuple[Value, Value] | None:
        """The least and the greatest value of an index in the nest; None if it is not evenly spaced by constants."""
        b = self.builder
        low: Value | None = None
        high: Value | None = None
        rest = poly
        for loop, size in self.sizes.items():
            parts = split(rest, index_of(loop))
            factor = as_const(parts[0]) if parts is not None else None
            if parts is None or factor is None:
                return None
            rest = parts[1]
            if factor == 0:
                continue
            first = self.guard.value(loop.operands[0])
            ends = [first, b.value("add", first, b.value("sub", size, b.i64(1)))]
            terms = [end if factor == 1 else b.value("mul", end, b.i64(factor)) for end in ends]
            least, most = terms if factor > 0 else terms[::-1]
            low, high = self.plus(low, least), self.plus(high, most)
        base = self.guard.poly(rest)
        return self.plus(low, base), self.plus(high, base)

    def plus(self, a: Value | None, b: Value) -> Value:
        return b if a is None else self.builder.value("add", a, b)

    def apart(self, target: Value) -> Value:
        """Whether no two elements of a matrix overlap: from one line to the next it is further than a line is long."""
        b = self.builder
        steps = [b.value("abs", b.value("stride", target, axis=axis)) for axis in range(2)]
        sizes = [b.value("dim", target, axis=axis) for axis in range(2)]
        item = b.i64(_item(target))
        ways = []
        for long, short in ((0, 1), (1, 0)):
            clear = b.value("cmp", steps[short], item, pred="ge")
            far = b.value("cmp", steps[long], b.value("mul", steps[short], sizes[short]), pred="ge")
            ways.append(b.value("and", clear, far))
        return b.value("or", *ways)


def is_injective(made: Product) -> bool:
    """Whether every row and column is an element of its own: they are along different axes of a contiguous array."""
    if not made.target_type.contiguous or made.target.axes is None or None in made.target.axes:
        return False
    found = []
    for loop in (made.row, made.column):
        index = index_of(loop)
        axes = [n for n, poly in enumerate(made.target.axes) if poly and any(index in term for term in poly)]
        if len(axes) != 1:
            return False
        parts = split(made.target.axes[axes[0]] or {}, index)
        if parts is None or not as_const(parts[0]):
            return False
        found.append(axes[0])
    return found[0] != found[1]


def _item(array: Value) -> int:
    assert isinstance(array.type, ArrayType)
    return array.type.dtype.itemsize
