"""`while` loops that count: a carried integer goes up (down) by constants every turn, and the loop is left where it is not below
(above) a value from outside. Such a loop takes no more turns than a `for` over the same range.

Takes a `loop`; changes nothing. As with a `for`, how many turns that is at most is known in front of the loop, and other ways out
may end it earlier.
"""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.ir import Op, Region, Value
from quadrants.passes.deltas import Deltas
from quadrants.types import I64

#: What leaves a loop from one of the ops in its body.
_LEAVES = frozenset({"break", "return", "raise"})
_UP = frozenset({"lt", "le"})
_DOWN = frozenset({"gt", "ge"})
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


@frozen
class Range:
    """From where to where a loop counts; both are values in front of it."""

    start: Value
    stop: Value
    up: bool


def range_of(loop: Op, makers: dict[Value, Op]) -> Range | None:
    """The range that a `loop` counts through, if it does."""
    region = loop.regions[0]
    if loop.name != "loop" or not any(value.type == I64 for value in region.args):
        return None
    inside = set(region.args) | {result for op in region.walk() for result in op.results}
    inside |= {arg for op in region.walk() for nested in op.regions for arg in nested.args}
    deltas = Deltas(makers)
    for op in region.ops:  # what is in the body itself runs every turn, unless the loop is left before
        test = _test(op, region, makers)
        if test is None:
            continue
        pred, value, limit = test
        if value not in region.args or limit in inside or value.type != I64:
            continue
        position = region.args.index(value)
        step = deltas.per_turn(loop, position)
        if step is not None and ((step.lo >= 1 and pred in _UP) or (step.hi <= -1 and pred in _DOWN)):
            return Range(loop.operands[position], limit, pred in _UP)
    return None


def _test(op: Op, region: Region, makers: dict[Value, Op]) -> tuple[str, Value, Value] | None:
    """The comparison that must hold for the loop to go on behind an `if`: predicate, carried value, limit."""
    cmp = makers.get(op.operands[0]) if op.name == "if" else None
    if cmp is None or cmp.name != "cmp" or cmp.attrs["pred"] not in _MIRRORED:
        return None
    leaves = [nested.terminator is not None and nested.terminator.name in _LEAVES for nested in op.regions]
    if leaves.count(True) != 1:
        return None
    pred = str(cmp.attrs["pred"])
    if leaves[0]:
        pred = _OPPOSITE[pred]
    first, second = cmp.operands
    return (pred, first, second) if first in region.args else (_MIRRORED[pred], second, first)
