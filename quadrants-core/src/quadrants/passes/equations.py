"""From the indices of accesses to systems of equations: two turns of a loop, and the elements that they touch.

Takes the accesses of a loop (see `subscripts`); writes forms for `integers`. Each index of a loop has a name in each of the two
turns, each value that does not change in the loop one name in both. Notes how small values must be so that nothing wraps
(`limits`).
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Value
from quadrants.passes.forms import Form, constant, symbol
from quadrants.passes.integers import Answer, System
from quadrants.passes.polynomials import LIMITS, Monomial, Poly, plus
from quadrants.passes.subscripts import Access, Subscripts
from quadrants.types import I64


@record
class Turn:
    """The names of the indices, and of products with them, in one of the two turns."""

    indices: dict[Value, Value] = field(default_factory=dict)
    products: dict[Monomial, Value] = field(default_factory=dict)


@record
class Equations:
    """Writes the systems of one loop.

    Args:
        subscripts: the loop and its accesses.
        limits: how large values may be: `abs(value) < limit`.
        opaque: products of values that do not change, with their names.
        limited: indices whose loops have limited bounds, and values.
    """

    subscripts: Subscripts
    limits: dict[Value, int]
    opaque: dict[Monomial, Value] = field(default_factory=dict)
    limited: dict[Value, int] = field(default_factory=dict)

    def bounds(self, system: System, access: Access, turn: Turn) -> None:
        """The names of the indices around an access, and what is known of them."""
        for loop in (self.subscripts.loop, *access.loops):
            index = loop.regions[0].args[0]
            name = turn.indices.setdefault(index, Value(I64, index.hint))
            start, stop, step = loop.operands[:3]
            by = constant_of(self.subscripts, step)
            if by is None:
                continue
            first = self.sides(start, "max" if by > 0 else "min")
            last = self.sides(stop, "min" if by > 0 else "max")
            sign = 1 if by > 0 else -1
            for poly in first:
                system.inequalities.append(symbol(name).minus(self.form(poly, turn)).scale(sign))
            for poly in last:
                system.inequalities.append(self.form(poly, turn).minus(symbol(name)).scale(sign).shift(-1))
            if abs(by) > 1 and len(first) == 1:
                turns = Value(I64, "turns")
                system.equations.append(symbol(name).minus(self.form(first[0], turn)).plus(symbol(turns), -by))
                system.inequalities.append(symbol(turns))

    def limit(self, poly: Poly) -> None:
        """Demand that the polynomial does not wrap."""
        bound = LIMITS[max(map(len, poly), default=0)][0]
        for monomial in poly:
            for value in monomial:
                self.limit_value(value, bound)

    def limit_value(self, value: Value, bound: int) -> None:
        """Demand that a value, or what bounds the index of a loop, is small."""
        loop = self.subscripts.nest.loops.get(value)
        if bound >= self.limited.get(value, 1 << 63):
            return
        self.limited[value] = bound
        if loop is None:
            self.limits[value] = bound
            return
        for side in loop[1].operands[:2]:
            for poly in self.all_sides(side):
                size = sum(map(abs, poly.values())) if len(poly) > 1 else 1
                for inner in {v for monomial in poly for v in monomial}:
                    self.limit_value(inner, max(bound // max(size, 1), 2))

    def all_sides(self, value: Value) -> list[Poly]:
        return [*self.sides(value, "min"), *self.sides(value, "max")]

    def bounded(self, poly: Poly) -> bool:
        """Whether the polynomial cannot wrap under the limits: an index whose loop has bounds that are not known may
        only stand alone, where the bounds of the array bound it."""
        return all(
            monomial == (value,) and abs(coefficient) == 1
            for monomial, coefficient in poly.items()
            for value in monomial
            if value in self.subscripts.nest.loops
            and not all(self.all_sides(side) for side in self.subscripts.nest.loops[value][1].operands[:2])
        )

    def sides(self, value: Value, split: str) -> list[Poly]:
        """A bound of a loop; both sides of a `min` that bounds it from above, or of a `max` from below."""
        op = self.subscripts.makers.get(value)
        if op is not None and op.name == split:
            return [poly for operand in op.operands for poly in self.sides(operand, split)]
        poly = self.subscripts.poly(value)
        return [] if poly is None else [poly]

    def form(self, poly: Poly, turn: Turn) -> Form:
        """The polynomial as a sum of names; a product is a name of its own."""
        self.limit(poly)
        total = constant(0)
        for monomial, coefficient in poly.items():
            total = total.plus(self.name(monomial, turn), coefficient)
        return total

    def name(self, monomial: Monomial, turn: Turn) -> Form:
        if not monomial:
            return constant(1)
        changing = any(value in self.subscripts.nest.loops for value in monomial)
        if len(monomial) == 1:
            (value,) = monomial
            return symbol(turn.indices.setdefault(value, Value(I64, value.hint)) if changing else value)
        table = turn.products if changing else self.opaque
        return symbol(table.setdefault(monomial, Value(I64, "product")))

    def equal(self, system: System, left: Poly | None, right: Poly | None, earlier: Turn, later: Turn) -> bool:
        """Demand that two indices are equal. Gives whether that says all: a product with an index says less."""
        if left is None or right is None or not (self.bounded(left) and self.bounded(right)):
            return False
        factor = self.common_factor(left, right)
        if factor is None:
            system.equations.append(self.form(left, earlier).minus(self.form(right, later)))
            return not any(len(m) > 1 and self.changes(m) for poly in (left, right) for m in poly)
        (high1, low1), (high2, low2) = _divide(left, factor), _divide(right, factor)
        if self.below(low1, factor, earlier, system) and self.below(low2, factor, later, system):
            both = [self.equal(system, *pair, earlier, later) for pair in ((high1, high2), (low1, low2))]
            return all(both)
        return False

    def changes(self, monomial: Monomial) -> bool:
        return any(value in self.subscripts.nest.loops for value in monomial)

    def common_factor(self, left: Poly, right: Poly) -> Value | None:
        """A symbol that multiplies an index in both."""
        found: list[set[Value]] = []
        for poly in (left, right):
            products = [monomial for monomial in poly if len(monomial) > 1 and self.changes(monomial)]
            found.append({v for monomial in products for v in monomial if not self.changes((v,))})
        both = found[0] & found[1]
        return min(both, key=lambda value: (value.hint, id(value)), default=None)

    def below(self, low: Poly, factor: Value, turn: Turn, system: System) -> bool:
        """Whether the rest of a division is one: not negative, and less than what was divided by."""
        form = self.form(low, turn)
        return all(
            System(system.equations, [*system.inequalities, outside]).solvable() is Answer.NO
            for outside in (form.scale(-1).shift(-1), form.minus(symbol(factor)))
        )


def _divide(poly: Poly, factor: Value) -> tuple[Poly, Poly]:
    """The polynomial as `factor * high + low`."""
    high: Poly = {}
    low: Poly = {}
    for monomial, coefficient in poly.items():
        if factor in monomial:
            rest = list(monomial)
            rest.remove(factor)
            high = plus(high, {tuple(rest): coefficient})
        else:
            low[monomial] = coefficient
    return high, low


def constant_of(subscripts: Subscripts, value: Value) -> int | None:
    """The number that a value is, if it is a constant other than 0."""
    op = subscripts.makers.get(value)
    number = op.attrs.get("value") if op is not None and op.name == "const" else None
    return number if isinstance(number, int) and number != 0 else None
