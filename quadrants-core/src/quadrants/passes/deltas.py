"""By how much a loop's carried value changes a turn, read off the structure: `i += 2`, also under conditions.

Takes the definitions of a function's values. Sound in plain integers: whoever uses a delta makes sure that nothing
wraps.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Value
from quadrants.passes.intervals import Interval

_DEPTH = 12


@record
class Deltas:
    """Answers for one function; each carried value is looked at once."""

    makers: dict[Value, Op]
    known: dict[tuple[Op, int], Interval | None] = field(default_factory=dict)

    def per_turn(self, loop: Op, index: int) -> Interval | None:
        """The least and the most that is added to a carried value on the way to the next turn; None: it is not a sum."""
        key = (loop, index)
        if key not in self.known:
            self.known[key] = self._find(loop, index)
        return self.known[key]

    def _find(self, loop: Op, index: int) -> Interval | None:
        region = loop.regions[0]
        arg = region.args[index + 1 if loop.name == "for" else index]
        label = loop.attrs["label"]
        total: Interval | None = None
        for op in region.walk():
            if op.name == "continue" and op.attrs["label"] == label:
                change = self.change(op.operands[index], arg, _DEPTH)
                if change is None:
                    return None
                total = change if total is None else total.hull(change)
        return total

    def change(self, value: Value, origin: Value, depth: int) -> Interval | None:
        """`value - origin`, if value is made from origin by adding constants."""
        if value is origin:
            return Interval(0, 0)
        op = self.makers.get(value)
        if op is None or depth == 0:
            return None
        if op.name in ("add", "sub"):
            for base, amount in ((0, 1), (1, 0)) if op.name == "add" else ((0, 1),):
                step = self._amount(op.operands[amount])
                before = self.change(op.operands[base], origin, depth - 1) if step is not None else None
                if step is not None and before is not None:
                    step = step if op.name == "add" else Interval(-step.hi, -step.lo)
                    return Interval(before.lo + step.lo, before.hi + step.hi)
            return None
        sources: list[Value] = []
        if op.name == "select":
            sources = op.operands[1:]
        elif op.name == "if":
            place = op.results.index(value)
            ends = [region.terminator for region in op.regions]
            sources = [end.operands[place] for end in ends if end is not None and end.name == "yield"]
        changes = [self.change(source, origin, depth - 1) for source in sources]
        total: Interval | None = None
        for change in changes:
            if change is None:
                return None
            total = change if total is None else total.hull(change)
        return total

    def _amount(self, value: Value) -> Interval | None:
        """The interval of what is added, where it is a constant, one of two, or a condition as a number."""
        op = self.makers.get(value)
        if op is None:
            return None
        if op.name == "const":
            number = op.attrs["value"]
            return Interval(number, number) if isinstance(number, int) else None
        if op.name == "select":
            first, second = (self._amount(side) for side in op.operands[1:])
            return first.hull(second) if first is not None and second is not None else None
        if op.name == "cast" and str(op.operands[0].type) == "bool":
            return Interval(0, 1)
        return None
