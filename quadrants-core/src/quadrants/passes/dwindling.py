"""Loops that end within a few hundred turns whatever their values are: `while x: x >>= 1`, `x &= x - 1`, `x //= 10`, Euclid's.

Takes a `loop` in the form that `while` gets (a test of one carried value against zero, all else behind it); changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.ir import Op, Region, Value
from quadrants.types import Scalar


def dwindles(loop: Op, constants: Mapping[Value, int]) -> bool:
    """Whether a carried value of the loop goes to zero in as many turns as it has bits, or about twice that, and zero ends it."""
    region = loop.regions[0]
    end = region.terminator
    if end is None or end.name != "continue" or end.attrs["label"] != loop.attrs["label"]:
        return False
    continues = [op for op in region.walk() if op.name == "continue" and op.attrs["label"] == loop.attrs["label"]]
    if len(continues) != 1:
        return False
    for position, value in enumerate(region.args):
        guard = guard_of(region, value, constants)
        if guard is not None and _shrinks(region, end, position, guard, constants):
            return True
    return False


def guard_of(region: Region, value: Value, constants: Mapping[Value, int]) -> Op | None:
    """The `if` that leaves the loop where the value is zero."""
    for op in region.ops:
        if op.name == "if" and (test := _definition(region, op.operands[0])) is not None and test.name == "cmp":
            x, y = test.operands
            zero = constants.get(y) == 0 and x is value and test.attrs["pred"] in _nonzero(value)
            leaves = op.regions[1].terminator
            if zero and len(op.regions[1].ops) == 1 and leaves is not None and leaves.name == "break":
                return op
    return None


def _nonzero(value: Value) -> tuple[str, ...]:
    """The comparisons with zero that say that a value is not zero; for a signed one also that it is positive."""
    return ("ne", "gt") if isinstance(value.type, Scalar) and not value.type.is_float else ()


def _definition(region: Region, value: Value) -> Op | None:
    return next((op for op in region.ops if value in op.results), None)


def _shrinks(region: Region, end: Op, position: int, guard: Op, constants: Mapping[Value, int]) -> bool:
    """Whether the value's next one is nearer to zero, by a rule that needs few turns."""
    following = end.operands[position]
    inside = guard.regions[0]
    leaves = inside.terminator
    if following not in guard.results or leaves is None or leaves.name != "yield":
        return False
    value = region.args[position]
    made = _definition(inside, leaves.operands[guard.results.index(following)])
    if made is None:
        return False
    test = _definition(region, guard.operands[0])
    assert test is not None and isinstance(value.type, Scalar)
    positive = not value.type.is_signed or test.attrs["pred"] == "gt"
    if made.name in ("shr", "floordiv", "div") and positive and made.operands[0] is value:
        return constants.get(made.operands[1], 0) >= (1 if made.name == "shr" else 2)
    if made.name == "and" and value in made.operands:
        (other,) = (x for x in made.operands if x is not value) if made.operands[0] is not made.operands[1] else (None,)
        less = None if other is None else _definition(inside, other)
        return less is not None and is_one_less(less, value, constants)
    if made.name == "mod" and made.operands[1] is value and made.operands[0] in region.args:
        other_next = end.operands[region.args.index(made.operands[0])]
        return other_next is value or (
            other_next in guard.results and leaves.operands[guard.results.index(other_next)] is value
        )
    return False


def is_one_less(op: Op, value: Value, constants: Mapping[Value, int]) -> bool:
    """Whether an op is `value - 1`."""
    if op.operands[0] is not value or not isinstance(value.type, Scalar):
        return False
    step = constants.get(op.operands[1])
    return step is not None and (
        (op.name == "sub" and step == 1) or (op.name == "add" and (step + 1) % (1 << value.type.bits) == 0)
    )
