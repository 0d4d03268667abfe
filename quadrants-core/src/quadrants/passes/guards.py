"""The guard in front of a loop nest: computes and compares what a `Plan` demands, without wrapping.

Takes a plan (polynomials over values that do not change in the nest); gives ops and the value of the whole condition.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.passes.polynomials import Conditions, Nest, Poly, as_const
from quadrants.passes.structure import every_turn

#: Attributes that promise something which holds inside the nest, perhaps, but not in front of it.
_PROMISES = ("nowrap", "nonzero")


@record
class Range:
    """An index that a guard covers, whether it may still be negative, and whether it takes the extremes the guard speaks of."""

    op: Op
    wraps: bool
    exact: bool = True


@record
class Plan:
    """What the guard of one nest covers, and what it must show: `demands` are polynomials that must not be negative."""

    nest: Nest
    lasts: dict[Value, tuple[Value, Value, int]]
    conditions: Conditions = field(default_factory=Conditions)
    ranges: list[Range] = field(default_factory=list)
    checks: list[Op] = field(default_factory=list)
    demands: list[Poly] = field(default_factory=list)

    def fails(self) -> bool:
        """Whether a loop that does not pass the guard raises: what the guard covers is checked in every turn, no index may be
        negative, and each takes its extremes (the bounds of the loops inside do not depend on one another)."""
        certain = every_turn(self.nest.loop, self.nest.invariant)
        return certain.issuperset(self.checks) and all(
            found.exact and found.op in certain and found.op.attr("checked") and not found.op.attr("wrap")
            for found in self.ranges
        )


@record
class Guard:
    """Emits one guard."""

    nest: Nest
    lasts: dict[Value, tuple[Value, Value, int]]
    builder: Builder = field(default_factory=lambda: Builder(Region()))
    ready: dict[Value, Value] = field(default_factory=dict)
    condition: Value = field(init=False)

    @property
    def ops(self) -> list[Op]:
        return self.builder.region.ops

    def emit(self, plan: Plan) -> Guard:
        """Emit the ops for a plan."""
        self.builder.loc = self.nest.loop.loc
        parts: list[Value] = []
        for check in plan.checks:
            parts.append(self.value(check.operands[0]))
        for demand in _strongest([*plan.demands, *plan.conditions.signs]):
            if not self.holds(demand):
                parts.append(self.compare("ge", self.poly(demand), 0))
        for value, limit in plan.conditions.limits.items():
            parts.append(self.compare("lt", self.value(value), limit))
            if not self.positive(value):
                parts.append(self.compare("gt", self.value(value), -limit))
        parts = list(dict.fromkeys(parts))
        self.condition = parts[0] if parts else self.builder.bool(True)
        for part in parts[1:]:
            self.condition = self.builder.value("and", self.condition, part)
        return self

    def compare(self, pred: str, value: Value, number: int) -> Value:
        return self.builder.value("cmp", value, self.builder.i64(number), pred=pred)

    def positive(self, value: Value) -> bool:
        """Whether a value is never negative by its definition."""
        op = self.nest.makers.get(value)
        if op is None:
            return False
        number = op.attrs.get("value")
        return op.name == "dim" or (op.name == "const" and isinstance(number, int) and number >= 0)

    def holds(self, poly: Poly) -> bool:
        """Whether a polynomial is never negative, by its form."""
        return (
            all(coefficient >= 0 and all(map(self.positive, monomial)) for monomial, coefficient in poly.items())
            or (as_const(poly) or 0) > 0
        )

    def value(self, value: Value) -> Value:
        """A value that does not change in the nest, computed in front of it."""
        if value in self.ready:
            return self.ready[value]
        if value in self.lasts:
            self.ready[value] = made = self.last(*self.lasts[value])
        elif value in self.nest.inside:
            op = self.nest.makers[value]
            attrs = {name: attr for name, attr in op.attrs.items() if name not in _PROMISES}
            self.ready[value] = made = self.builder.value(op.name, *map(self.value, op.operands), **attrs)
        else:
            made = value
        return made

    def last(self, start: Value, stop: Value, step: int) -> Value:
        """The last index of range(start, stop, step), if there is any."""
        b = self.builder
        first, end = self.value(start), self.value(stop)
        length = b.value("sub", b.value("sub", end, first), b.i64(1 if step > 0 else -1))
        turns = b.value("floordiv", length, b.i64(step))
        return b.value("add", first, b.value("mul", turns, b.i64(step)))

    def poly(self, poly: Poly) -> Value:
        """The value of a polynomial."""
        b = self.builder
        total: Value | None = None
        for monomial, coefficient in sorted(poly.items(), key=lambda item: (item[1] < 0, -len(item[0]))):
            term: Value | None = None
            for value in monomial:
                factor = self.value(value)
                term = factor if term is None else b.value("mul", term, factor)
            subtract = total is not None and coefficient < 0
            size = -coefficient if subtract else coefficient
            if term is None:
                term = b.i64(size)
            elif size != 1:
                term = b.value("mul", term, b.i64(size))
            total = term if total is None else b.value("sub" if subtract else "add", total, term)
        return b.i64(0) if total is None else total


def _strongest(polys: list[Poly]) -> list[Poly]:
    """Of polynomials that differ in their constants alone, the least."""
    least: dict[frozenset[object], Poly] = {}
    for poly in polys:
        key = frozenset(item for item in poly.items() if item[0])
        if key not in least or poly.get((), 0) < least[key].get((), 0):
            least[key] = poly
    return list(least.values())
