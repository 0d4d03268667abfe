"""Integer polynomials over the values of a loop nest: what an index is made of, and its bounds over all iterations.

A `Poly` maps products of values (sorted tuples) to integer coefficients; it equals the value that it describes modulo
2^64. `Nest` reads them off the ops. `Nest.extremes` replaces the indices of loops by their bounds, from the innermost
loop outwards, so that triangular nests keep their shape; what is left speaks only of values that do not change in the
nest. It notes under which conditions this holds: `limits` (how large a value may be, so that nothing wraps) and `signs`
(factors that must not be negative).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Value
from quadrants.passes.structure import is_pure
from quadrants.types import I64

Monomial = tuple[Value, ...]
Poly = dict[Monomial, int]

_MAX_DEGREE = 3
_MAX_TERMS = 10
#: degree of a product -> how large its factors may be, and how large the sum of the coefficients of such products.
LIMITS = {0: (0, 1 << 50), 1: (1 << 40, 1 << 16), 2: (1 << 29, 1 << 3), 3: (1 << 19, 1 << 3)}


def const(number: int) -> Poly:
    return {(): number} if number else {}


def plus(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """`a + factor * b`."""
    total = dict(a)
    for monomial, coefficient in b.items():
        value = total.get(monomial, 0) + factor * coefficient
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def times(a: Poly, b: Poly) -> Poly:
    total: Poly = {}
    for left, x in a.items():
        for right, y in b.items():
            total = plus(total, {tuple(sorted(left + right, key=id)): x * y})
    return total


def as_const(poly: Poly) -> int | None:
    """The number that the polynomial is, if it is one."""
    return poly.get((), 0) if set(poly) <= {()} else None


def fits(poly: Poly) -> bool:
    """Whether the polynomial is small enough to work with: within `LIMITS` it stays below 2^62."""
    sums: dict[int, int] = {}
    for monomial, coefficient in poly.items():
        sums[len(monomial)] = sums.get(len(monomial), 0) + abs(coefficient)
    return len(poly) <= _MAX_TERMS and all(
        degree <= _MAX_DEGREE and total <= LIMITS[degree][1] for degree, total in sums.items()
    )


def split(poly: Poly, value: Value) -> tuple[Poly, Poly] | None:
    """The polynomial as `factor * value + rest`; None if the value occurs in a square."""
    factor: Poly = {}
    rest: Poly = {}
    for monomial, coefficient in poly.items():
        count = monomial.count(value)
        if count > 1:
            return None
        if count:
            others = list(monomial)
            others.remove(value)
            factor[tuple(others)] = coefficient
        else:
            rest[monomial] = coefficient
    return factor, rest


@record
class Conditions:
    """What must hold for bounds to be right: |value| < limit, and factors that are not negative."""

    limits: dict[Value, int] = field(default_factory=dict)
    signs: list[Poly] = field(default_factory=list)

    def limit(self, poly: Poly) -> None:
        for monomial in poly:
            bound = LIMITS[len(monomial)][0]
            for value in monomial:
                self.limits[value] = min(bound, self.limits.get(value, bound))

    def update(self, other: Conditions) -> None:
        for value, bound in other.limits.items():
            self.limits[value] = min(bound, self.limits.get(value, bound))
        self.signs += [sign for sign in other.signs if sign not in self.signs]


@record
class Nest:
    """A loop and everything inside it.

    Args:
        loop: the outermost loop.
        makers: the definitions of the function's values.
        last: gives the last index of a loop (start, stop, step) whose step is not 1 and whose bounds do not change in the nest.
    """

    loop: Op
    makers: dict[Value, Op]
    last: Callable[[Value, Value, int], Value]
    inside: set[Value] = field(default_factory=set)
    loops: dict[Value, tuple[int, Op]] = field(default_factory=dict)
    invariance: dict[Value, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.enter(self.loop, 0)

    def enter(self, loop: Op, depth: int) -> None:
        """Record what is defined inside."""
        self.inside.update(loop.results)
        if loop.name == "for":
            self.loops[loop.regions[0].args[0]] = (depth, loop)
        for region in loop.regions:
            self.inside.update(region.args)
            for op in region.ops:
                self.inside.update(op.results)
                if op.regions:
                    self.enter(op, depth + 1)

    def invariant(self, value: Value) -> bool:
        """Whether the value is the same all through the nest, and can be computed in front of it."""
        known = self.invariance.get(value)
        if known is None:
            op = self.makers.get(value)
            known = value not in self.inside or (
                op is not None and is_pure(op) and op.name != "view" and all(map(self.invariant, op.operands))
            )
            self.invariance[value] = known
        return known

    def poly(self, value: Value) -> Poly | None:
        """What the value is made of; None if it depends on something that changes and is no index of a loop."""
        op = self.makers.get(value)
        found: Poly | None = None
        if op is not None and op.name == "const":
            number = op.attrs["value"]
            return const(number) if isinstance(number, int) and abs(number) < LIMITS[0][1] else None
        if op is not None and op.name in ("add", "sub", "mul", "neg") and value.type == I64:
            found = self._arithmetic(op)
        elif op is not None and op.name == "index" and not op.attr("wrap"):
            found = self.poly(op.operands[0])  # behind its check it is its operand
        if found is not None and fits(found):
            return found
        if value in self.loops or (value.type == I64 and self.invariant(value)):
            return {(value,): 1}
        return None

    def _arithmetic(self, op: Op) -> Poly | None:
        parts = [self.poly(operand) for operand in op.operands]
        first = parts[0]
        second = parts[-1]
        if first is None or second is None:
            return None
        if op.name == "neg":
            return plus({}, first, -1)
        if op.name == "mul":
            return times(first, second)
        return plus(first, second, 1 if op.name == "add" else -1)

    def extremes(self, poly: Poly, conditions: Conditions) -> tuple[Poly, Poly] | None:
        """Bounds of the polynomial over all iterations, in values that do not change; None if there are none to find."""
        low = self._extreme(poly, False, conditions)
        high = self._extreme(poly, True, conditions)
        return None if low is None or high is None else (low, high)

    def _extreme(self, poly: Poly, highest: bool, conditions: Conditions) -> Poly | None:
        while (value := self._innermost(poly)) is not None:
            parts = split(poly, value)
            if parts is None:
                return None
            factor, rest = parts
            number = as_const(factor)
            if number is None:
                if any(symbol in self.loops for monomial in factor for symbol in monomial):
                    return None
                falls = all(coefficient < 0 for coefficient in factor.values())
                conditions.signs.append(plus({}, factor, -1) if falls else factor)
                conditions.limit(factor)
            else:
                falls = number < 0
            up = highest != falls
            bound = self._bound(value, up, conditions)
            if bound is None:
                return None
            poly = plus(rest, times(factor, bound))
            if not fits(poly):
                return None
        conditions.limit(poly)
        return poly

    def _innermost(self, poly: Poly) -> Value | None:
        """The index of the innermost loop in the polynomial."""
        indices = [value for monomial in poly for value in monomial if value in self.loops]
        return max(indices, key=lambda value: self.loops[value][0], default=None)

    def _bound(self, index: Value, up: bool, conditions: Conditions) -> Poly | None:
        """The least (greatest) index of a loop, in terms of what is around the loop."""
        loop = self.loops[index][1]
        start, stop, step = loop.operands[:3]
        by = self._step(step, conditions)
        if not by:
            return None
        if up == (by < 0):
            return self._side(start, up, conditions)
        if abs(by) > 1 and self.invariant(start) and self.invariant(stop):
            conditions.limit({(start,): 1, (stop,): 1})
            return {(self.last(start, stop, by),): 1}
        side = self._side(stop, up, conditions)
        return None if side is None else plus(side, const(-1 if by > 0 else 1))

    def _step(self, step: Value, conditions: Conditions) -> int:
        """The step of a loop; 1 for one that does not change and has to be positive: as far as 1 would go it does not go beyond.
        0 if nothing is known of it."""
        by = self.makers[step].attrs.get("value") if step in self.makers else None
        if isinstance(by, int):
            return by
        forward = plus({(step,): 1}, const(-1))
        if not self.invariant(step):
            return 0
        if forward not in conditions.signs:
            conditions.signs.append(forward)
            conditions.limit(forward)
        return 1

    def _side(self, value: Value, up: bool, conditions: Conditions) -> Poly | None:
        """A bound of a loop as a polynomial: one side of a `min` (`max`) will do where the upper (lower) bound is asked
        for."""
        op = self.makers.get(value)
        if op is not None and op.name == ("min" if up else "max") and not self.invariant(value):
            for operand in op.operands:
                side = self._side(operand, up, conditions)
                if side is not None:
                    return side
            return None
        poly = self.poly(value)
        if poly is None:
            return None
        # The loop compares the value, which must equal the polynomial as a plain integer: so it must not wrap either way.
        if any(symbol in self.loops for monomial in poly for symbol in monomial):
            if self.extremes(poly, conditions) is None:
                return None
        else:
            conditions.limit(poly)
        return poly
