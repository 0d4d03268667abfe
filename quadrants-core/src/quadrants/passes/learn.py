"""What an op tells about integers once it has run: an index that passed its check is inside, a remainder is below its
divisor.

`LEARN` maps the name of an op to a function of (op, facts) that adds to the facts. Sound in plain integers: where a
result might have wrapped, nothing is learnt.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir import Op, Value
from quadrants.passes.facts import Facts
from quadrants.passes.forms import Form, constant, symbol
from quadrants.passes.intervals import I64_MAX, I64_MIN, Interval
from quadrants.types import I64


def _learn_index(op: Op, facts: Facts) -> None:
    position, size = op.operands
    if op.attr("checked"):
        _in_range(facts, position, facts.exact(size), bool(op.attr("wrap")))
    if not op.attr("wrap") or facts.nonnegative(position):
        facts.forms[op.result] = facts.exact(position)
        facts.intervals[op.result] = facts.range(position).meet(Interval(0, I64_MAX))
    else:
        facts.intervals[op.result] = Interval(0, max(facts.range(size).hi - 1, 0))
        facts.bound(op.result, facts.exact(size).shift(-1), above=True)


def _in_range(facts: Facts, position: Value, size: Form, wrap: bool) -> None:
    """An index passed its check."""
    form = facts.exact(position)
    facts.assume_nonnegative(size.minus(form).shift(-1))
    facts.assume_nonnegative(form.plus(size) if wrap else form)


def _learn_access(op: Op, facts: Facts) -> None:
    if not op.attr("checked"):
        return
    first = 1 if op.name == "load" else 2
    array = op.operands[first - 1]
    for axis, position in enumerate(op.operands[first:]):
        _in_range(facts, position, facts.size(array, axis), bool(op.attr("wrap")))


def _learn_alloc(op: Op, facts: Facts) -> None:
    for size in op.operands:
        facts.assume_nonnegative(facts.exact(size))
        facts.narrow(size, Interval(0, I64_MAX))


def _learn_mod(op: Op, facts: Facts) -> None:
    if op.result.type != I64:
        return
    period = facts.exact(op.operands[1])
    if facts.prove(period.shift(-1)):
        form = facts.exact(op.operands[0])
        if facts.prove(form) and facts.prove(period.minus(form).shift(-1)):
            facts.forms[op.result] = form
        facts.bound(op.result, period.shift(-1), above=True)
        facts.bound(op.result, constant(0), above=False)


def _learn_min(op: Op, facts: Facts) -> None:
    if op.result.type == I64:
        for operand in op.operands:
            facts.bound(op.result, facts.exact(operand), above=op.name == "min")


def _learn_part(op: Op, facts: Facts) -> None:
    """x // n and x >> n are at most x, where x is not negative and n is positive (not negative); (a + b) // 2 is
    between a and b."""
    value, divisor = op.operands
    by = facts.range(divisor)
    if op.result.type != I64 or by.lo < (1 if op.name == "floordiv" else 0):
        return
    form = facts.exact(value)
    if facts.nonnegative(value):
        strictly = by.lo >= (2 if op.name == "floordiv" else 1) and facts.prove(form.shift(-1))
        facts.bound(op.result, form.shift(-1) if strictly else form, above=True)
    if by == Interval(2, 2) if op.name == "floordiv" else by == Interval(1, 1):
        if len(form.terms) == 2 and set(form.terms.values()) == {1}:
            first, second = (symbol(term) for term in form.terms)
            for low, high in ((first, second.shift(form.const)), (second, first.shift(form.const))):
                if facts.prove(high.minus(low)):
                    facts.bound(op.result, low, above=False)
                    apart = facts.prove(high.minus(low).shift(-1))
                    facts.bound(op.result, high.shift(-1) if apart else high, above=True)


def _learn_select(op: Op, facts: Facts) -> None:
    """A selection is within a bound if both its sides are, each where it is chosen."""
    if op.result.type != I64:
        return
    condition, *sides = op.operands
    forms = [facts.exact(side) for side in sides]
    span: Interval | None = None
    candidates = [(form, above) for form in (*forms, constant(0)) for above in (True, False)]
    for form, holds in zip(forms, (True, False)):
        mark = facts.mark()
        facts.assume(condition, holds)
        here = facts.span(form)
        candidates = [
            (bound, above)
            for bound, above in candidates
            if facts.prove(bound.minus(form) if above else form.minus(bound))
        ]
        span = here if span is None else span.hull(here)
        facts.undo(mark)
    if span is not None:
        facts.narrow(op.result, Interval(max(span.lo, I64_MIN), min(span.hi, I64_MAX)))
    for bound, above in candidates:
        facts.bound(op.result, bound, above=above)


#: op name -> what is known once the op has run.
LEARN: dict[str, Callable[[Op, Facts], None]] = {
    "check": lambda op, facts: facts.assume(op.operands[0], True),
    "index": _learn_index,
    "load": _learn_access,
    "store": _learn_access,
    "alloc": _learn_alloc,
    "mod": _learn_mod,
    "min": _learn_min,
    "max": _learn_min,
    "floordiv": _learn_part,
    "shr": _learn_part,
    "select": _learn_select,
}
