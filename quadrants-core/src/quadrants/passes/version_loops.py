"""Puts one guard in front of a loop nest, and in it a version without the checks that the guard covers.

Takes QIR whose checks are `index` and `check` ops (`bounds`); gives `if guard { nest without checks } else { nest as it
was }`. The guard compares the least and the greatest value that each index can take with the size of its axis; it is
sufficient, so it may fail where no index would: then the checked version runs, which is right in any case. Legal
because the guard is computed from values that do not change in the nest, in arithmetic that its own limits keep from
wrapping. A nest is versioned where its outermost loop has something to gain, if it is not too large; what is left
inside is tried again for the inner loops. An innermost loop is versioned once more for indices that depend on data, where all
that they can be is small, as a byte's values are: the table may well have a place for each.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_op, replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.guards import Guard, Plan, Range
from quadrants.passes.intervals import Interval, range_of_type, transfer
from quadrants.passes.polynomials import Conditions, Nest, Poly, as_const, const, fits, plus
from quadrants.passes.structure import LOOPS, SHORT, constant_turns, definitions, integer_constants, mark_cold, size_of
from quadrants.types import I64

PASS = "version_loops"
#: A nest of more ops is not doubled, and a function does not grow by more.
_MAX_NEST = 600
_MAX_GROWTH = 2400
#: An innermost loop of more ops gains too little by its last checks; an index is small if the least table that holds all that it
#: can be is one that programs have; and how many ops back that is looked for.
_MAX_INNERMOST = 200
_MAX_SMALL = (1 << 16) - 1
_MAX_DEPTH = 6


def run(function: Function, context: PassContext) -> None:
    """Version the loop nests of one function."""
    if context.options.version_loops and context.options.bounds_checks:
        _Versioner(function, context, definitions(function), integer_constants(function)).region(function.body)


@record
class _Versioner:
    function: Function
    context: PassContext
    makers: dict[Value, Op]
    constants: dict[Value, int]
    growth: int = 0

    def region(self, region: Region) -> None:
        """Version the nests of a region."""
        out: list[Op] = []
        for op in region.ops:
            if op.name == "for":
                out += self.version(op)
                continue
            out.append(op)
            for nested in op.regions:
                self.region(nested)
        region.ops[:] = out

    def version(self, loop: Op) -> list[Op]:
        """What stands for a loop: itself, or the guard and both versions."""
        plan = _Planner(loop, self.makers).plan() if self.affords(loop) else None
        if plan is not None:
            return self.guarded(loop, plan, self.inner)
        return self.inner(loop)

    def affords(self, loop: Op) -> bool:
        """Whether the loop may be doubled."""
        short = (constant_turns(loop, self.constants) or SHORT + 1) <= SHORT
        size = size_of(loop.regions[0])
        return not short and size <= _MAX_NEST and self.growth + size <= _MAX_GROWTH

    def inner(self, loop: Op) -> list[Op]:
        """Version the loops inside a loop; where there are none, the loop itself, by what its other indices can be at all."""
        self.region(loop.regions[0])
        if size_of(loop.regions[0]) > _MAX_INNERMOST or not self.affords(loop):
            return [loop]
        plan = _Planner(loop, self.makers).by_range()
        return [loop] if plan is None else self.guarded(loop, plan, lambda fast: [fast])

    def guarded(self, loop: Op, plan: Plan, inner: Callable[[Op], list[Op]]) -> list[Op]:
        """The guard and both versions. `inner` gives what stands for the loop without checks."""
        self.growth += size_of(loop.regions[0])
        slow = clone_op(loop, {})
        mark_cold(slow)
        if plan.fails():
            slow.attrs["fails"] = True
        guarded = Guard(plan.nest, plan.lasts).emit(plan)
        dropped = set(plan.checks)
        positions: dict[Value, Value] = {}
        for found in plan.ranges:
            found.op.attrs.update(checked=False, wrap=found.wraps)
            if not found.wraps:  # the index is its operand
                positions[found.op.result] = found.op.operands[0]
                dropped.add(found.op)
        _drop(loop.regions[0], dropped)
        replace_uses(loop.regions[0], positions)
        results = loop.results
        loop.results = [Value(result.type, result.hint) for result in results]
        self.note(loop, plan)
        fast_region, slow_region = Region([], inner(loop)), Region([], [slow])
        builder = Builder(Region())
        builder.loc = loop.loc
        for region in (fast_region, slow_region):
            with builder.into(region):
                builder.op("yield", *region.ops[-1].results)
        branch = builder.op("if", guarded.condition, regions=(fast_region, slow_region))
        branch.results = results
        return [*guarded.ops, branch]

    def note(self, loop: Op, plan: Plan) -> None:
        count = len(plan.ranges) + len(plan.checks)
        text = f"{count} check{'s' if count != 1 else ''} inside replaced by one guard in front of the loop"
        self.context.note(PASS, DecisionKind.APPLIED, self.function, loop, "guarded", text)


def _is_negative(low: Poly) -> bool:
    """Whether the lowest index is negative by its form, sizes and other values being mostly positive."""
    start = as_const(low)
    if start is not None:
        return start < 0
    return all(coefficient < 0 for monomial, coefficient in low.items() if monomial)


def _drop(region: Region, dropped: set[Op]) -> None:
    region.ops[:] = [op for op in region.ops if op not in dropped]
    for op in region.ops:
        for nested in op.regions:
            _drop(nested, dropped)


class _Planner:
    """Finds out what one guard can cover."""

    def __init__(self, loop: Op, makers: dict[Value, Op]) -> None:
        self.makers = makers
        self.lasts: dict[Value, tuple[Value, Value, int]] = {}
        self.nest = Nest(loop, makers, self.last)
        self.found = Plan(self.nest, self.lasts)

    def last(self, start: Value, stop: Value, step: int) -> Value:
        """A value for the last index of a loop, which the guard computes if it needs it."""
        for value, bounds in self.lasts.items():
            if bounds == (start, stop, step):
                return value
        value = Value(I64, "last")
        self.lasts[value] = (start, stop, step)
        return value

    def plan(self) -> Plan | None:
        """The plan, or None if there is nothing to gain."""
        for op in self.nest.loop.regions[0].walk():
            if op.name == "index" and (op.attr("checked") or op.attr("wrap")):
                self.index(op)
            elif op.name == "check" and self.nest.invariant(op.operands[0]):
                self.found.checks.append(op)
        return self.found if self.found.ranges or self.found.checks else None

    def by_range(self) -> Plan | None:
        """The plan for an innermost loop's indices that are known to be small whatever they are: bytes, and what is masked."""
        ops = list(self.nest.loop.regions[0].walk())
        if any(op.name in LOOPS for op in ops):
            return None
        for op in ops:
            if op.name == "index" and op.attr("checked"):
                self.small(op)
        return self.found if self.found.ranges else None

    def small(self, op: Op) -> None:
        """Cover an index by the interval of what it is computed from."""
        span, size = self.span(op.operands[0], _MAX_DEPTH), self.nest.poly(op.operands[1])
        if (
            span is None
            or size is None
            or span.lo < 0
            or span.hi > _MAX_SMALL
            or not self.nest.invariant(op.operands[1])
        ):
            return
        demand = plus(size, const(-1 - span.hi))
        if not fits(demand) or ((number := as_const(demand)) is not None and number < 0):
            return
        self.found.conditions.limit(demand)
        self.found.demands.append(demand)
        self.found.ranges.append(Range(op, wraps=False, exact=False))

    def span(self, value: Value, depth: int) -> Interval | None:
        """What a value can be, by the ops that it comes from."""
        op = self.makers.get(value)
        if op is None or op.regions or depth == 0 or len(op.results) != 1:
            return range_of_type(value.type)
        if op.name == "const":
            number = op.attrs["value"]
            return Interval(number, number) if isinstance(number, int) else None
        return transfer(op, [self.span(operand, depth - 1) for operand in op.operands])

    def index(self, op: Op) -> None:
        """Cover an index, if its bounds can be computed in front of the nest."""
        position, size = (self.nest.poly(operand) for operand in op.operands)
        if position is None or size is None or any(value in self.nest.loops for term in size for value in term):
            return
        conditions = Conditions()
        bounds = self.nest.extremes(position, conditions)
        if bounds is None:
            return
        low, high = bounds
        demands = []
        negative = _is_negative(low)
        if negative and not (op.attr("wrap") and op.attr("checked")):
            return
        demands.append(plus(low, size) if negative else low)
        if op.attr("checked"):
            demands.append(plus(plus(size, const(-1)), high, -1))
        if any((number := as_const(demand)) is not None and number < 0 for demand in demands):
            return
        if not all(map(fits, demands)):
            return
        for demand in demands:
            conditions.limit(demand)
        self.found.conditions.update(conditions)
        self.found.demands += demands
        self.found.ranges.append(Range(op, negative))
