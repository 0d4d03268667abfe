"""Splits loops where tests of their index change: `(i + 1) % n`, `a[i - 1]` with its wraparound, `if i == 0` vanish inside.

Takes QIR; gives `for start..first { loop as it was }, for first..second { loop without the tests }, for second..stop { loop as it
was }`, the first and the last marked cold. Done for a remainder by a value that lies near the end of the loop, a wraparound
whose index starts below 0, and comparisons with a value near either end, where the other side is the index plus something
between constants (the index of a short inner loop). Always legal: the parts together are the range, in order, and between
the borders each replaced value is what it would be; a loop that is left by `break` is not split.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_op, replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.structure import (
    SHORT,
    breaks_of,
    constant_turns,
    definitions,
    integer_constants,
    mark_cold,
    size_of,
)
from quadrants.types import I64

PASS = "split_borders"
#: Borders are at most so wide, and offsets from the index as large.
_WIDEST = 64
#: A loop of more ops is not copied.
_MAX_SIZE = 400
#: Values beyond these are brought to them, since subtracting a border could wrap: then no turn is between the borders.
_LEAST, _MOST = -(1 << 62), 1 << 62
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
#: What a comparison is where its left side is above the right one, and where it is below.
_ABOVE = {"lt": False, "le": False, "gt": True, "ge": True, "eq": False, "ne": True}
_BELOW = {"lt": True, "le": True, "gt": False, "ge": False, "eq": False, "ne": True}


def run(function: Function, context: PassContext) -> None:
    """Split the loops of one function."""
    if any(op.name == "for" for op in function.body.walk()):
        _Splitter(function, context, definitions(function), integer_constants(function)).region(function.body)


@frozen
class _Extent:
    """A value as the index (`scale` 1) or not (0), plus something from `low` to `high`."""

    scale: int
    low: int
    high: int


@record
class _Borders:
    """Where a loop is split, and what its values are in between.

    Args:
        first: from which index on.
        last: values, and numbers to take off them: below which indices; and what the values are at least, for these to be right.
        known: comparisons and their results.
        same: remainders and wrapped indices, and what they are equal to.
    """

    first: int | None = None
    last: dict[tuple[Value, int], int] = field(default_factory=dict)
    known: dict[Op, bool] = field(default_factory=dict)
    same: dict[Op, Value] = field(default_factory=dict)

    def after(self, index: int) -> None:
        self.first = index if self.first is None else max(self.first, index)


@record
class _Splitter:
    function: Function
    context: PassContext
    makers: dict[Value, Op]
    constants: dict[Value, int]

    def region(self, region: Region) -> None:
        """Split the loops of a region."""
        out: list[Op] = []
        for op in region.ops:
            out += self.split(op) if op.name == "for" and not op.attrs.get("cold") else [op]
            if not op.attrs.get("cold"):
                for nested in op.regions:
                    self.region(nested)
        region.ops[:] = out

    def split(self, loop: Op) -> list[Op]:
        """What stands for a loop: itself, or its parts."""
        turns = constant_turns(loop, self.constants)
        if self.constants.get(loop.operands[2]) != 1 or (turns is not None and turns <= SHORT):
            return [loop]
        if size_of(loop.regions[0]) > _MAX_SIZE or breaks_of(loop):
            return [loop]
        borders = _Finder(loop, self.makers, self.constants).borders()
        if not borders.known and not borders.same:
            return [loop]
        self.context.changed.add(self.function.name)
        count = len(borders.known) + len(borders.same)
        vanish = "1 test of the index vanishes" if count == 1 else f"{count} tests of the index vanish"
        text = f"split at its borders: {vanish} inside"
        self.context.note(PASS, DecisionKind.APPLIED, self.function, loop, "split", text)
        return self.parts(loop, borders)

    def parts(self, loop: Op, borders: _Borders) -> list[Op]:
        builder = Builder(Region())
        builder.loc = loop.loc
        start, stop, step = loop.operands[:3]
        first, second = self.bounds(builder, start, stop, borders)
        before = clone_op(loop, {}) if first is not start else None
        after = clone_op(loop, {}) if second is not stop else None
        carried = loop.operands[3:]
        for part, low, high in ((before, start, first), (loop, first, second), (after, second, stop)):
            if part is None:
                continue
            part.operands[:] = [low, high, step, *carried]
            if part is not loop:
                mark_cold(part)
            carried = list(part.results)
            builder.region.ops.append(part)
        if after is not None:  # what comes behind uses the results of the last part
            loop.results, after.results = after.results, loop.results
            after.operands[3:] = loop.results
        self.settle(loop.regions[0], borders)
        return builder.region.ops

    def bounds(self, b: Builder, start: Value, stop: Value, borders: _Borders) -> tuple[Value, Value]:
        """The first index between the borders, and the one behind the last."""
        first = start
        if borders.first is not None:
            known = self.constants.get(start)
            if known is None or known < borders.first:
                at_least = b.value("max", start, b.i64(borders.first)) if known is None else b.i64(borders.first)
                first = b.value("min", at_least, stop)
                # An empty loop stays one.
                first = b.value("max", first, start)
        second = stop
        for value, less in borders.last:
            bound = b.value("min", b.value("max", value, b.i64(borders.last[value, less])), b.i64(_MOST))
            second = b.value("min", second, b.value("sub", bound, b.i64(less)) if less else bound)
        if borders.last:
            second = b.value("max", second, first)
        return first, second

    def settle(self, region: Region, borders: _Borders) -> None:
        """Put in what is known between the borders."""
        replaced: dict[Value, Value] = {}
        for op, value in borders.same.items():
            replaced[op.result] = value
        builder = Builder(region)
        ops, region.ops = region.ops, []
        for op, answer in borders.known.items():
            replaced[op.result] = builder.bool(answer)
        region.ops += ops
        _drop(region, {*borders.same, *borders.known})
        replace_uses(region, replaced)


def _drop(region: Region, dropped: set[Op]) -> None:
    region.ops[:] = [op for op in region.ops if op not in dropped]
    for op in region.ops:
        for nested in op.regions:
            _drop(nested, dropped)


@record
class _Finder:
    """Finds the tests of one loop."""

    loop: Op
    makers: dict[Value, Op]
    constants: dict[Value, int]
    inside: dict[Value, Op | None] = field(default_factory=dict)
    found: _Borders = field(default_factory=_Borders)

    def borders(self) -> _Borders:
        self.note(self.loop.regions[0])
        self.tests(self.loop.regions[0], innermost=not any(map(self.is_long, self.loop.regions[0].walk())))
        return self.found

    def tests(self, region: Region, innermost: bool) -> None:
        """Look at the tests of a region; at comparisons only in innermost loops: around other loops a branch costs little."""
        for op in region.ops:
            if op.name == "mod":
                self.remainder(op)
            elif op.name == "index" and op.attr("wrap") and not op.attr("checked"):
                self.wraparound(op)
            elif op.name == "cmp" and innermost:
                self.comparison(op)
            for nested in op.regions:
                self.tests(nested, innermost or self.is_long(op))

    def is_long(self, op: Op) -> bool:
        """Whether it is a loop of more than a few turns."""
        if op.name != "for":
            return op.name == "loop"
        turns = constant_turns(op, self.constants)
        return turns is None or turns > SHORT

    def note(self, region: Region) -> None:
        for arg in region.args:
            self.inside[arg] = None
        for op in region.ops:
            for result in op.results:
                self.inside[result] = op
            for nested in op.regions:
                self.note(nested)
                if op.name == "for":
                    self.inside[nested.args[0]] = op

    def remainder(self, op: Op) -> None:
        """`(i + c) % n` is `i + c` where that is from 0 to n - 1."""
        value, divisor = op.operands
        if value.type != I64:
            return
        extent = self.extent(value)
        if extent is None or not extent.scale or divisor in self.inside or self.beyond(divisor) is None:
            return
        self.found.after(-extent.low)
        self.found.last[divisor, extent.high] = 0  # by a negative number: never
        self.found.same[op] = value

    def wraparound(self, op: Op) -> None:
        """An index that is negative in the first turns only."""
        extent = self.extent(op.operands[0])
        start = self.constants.get(self.loop.operands[0])
        if extent is None or not extent.scale or start is None or not 0 < -extent.low - start <= _WIDEST:
            return
        self.found.after(-extent.low)
        self.found.same[op] = op.operands[0]

    def comparison(self, op: Op) -> None:
        """A comparison whose answer changes near the first or the last turn."""
        x, y = op.operands
        pred = str(op.attrs["pred"])
        if x.type != I64:
            return
        if (extent := self.extent(x)) is None or not extent.scale:
            x, y, pred = y, x, _FLIPPED[pred]
            extent = self.extent(x)
        if extent is None or not extent.scale or y in self.inside:
            return
        number, start = self.constants.get(y), self.constants.get(self.loop.operands[0])
        if start is None or start < _LEAST >> 1:
            return
        if number is not None and abs(number - start) <= _WIDEST:
            self.found.after(number - extent.low + 1)
            self.found.known[op] = _ABOVE[pred]
        elif self.beyond(y) is not None:
            self.found.last.setdefault((y, extent.high), _LEAST)
            self.found.known[op] = _BELOW[pred]

    def beyond(self, value: Value) -> int | None:
        """By how much a value is larger than the end of the loop, if that is a small number."""
        base, offset = self.base(value)
        end, end_offset = self.base(self.loop.operands[1])
        far = offset - end_offset
        return far if base == end and abs(far) <= _WIDEST else None

    def base(self, value: Value, offset: int = 0) -> tuple[object, int]:
        """A value, or the axis of an array, and a constant that is added to it."""
        if (number := self.constants.get(value)) is not None:
            return None, offset + number
        maker = self.makers.get(value)
        if maker is None or maker.name not in ("dim", "add", "sub"):
            return value, offset
        if maker.name == "dim":
            return (maker.operands[0], maker.attrs["axis"]), offset
        left, right = maker.operands
        if (number := self.constants.get(right)) is not None and abs(number) <= _WIDEST:
            return self.base(left, offset + (number if maker.name == "add" else -number))
        return value, offset

    def extent(self, value: Value) -> _Extent | None:
        """A value that is the index plus something between two constants."""
        if value is self.loop.regions[0].args[0]:
            return _Extent(1, 0, 0)
        if (number := self.constants.get(value)) is not None:
            return _Extent(0, number, number) if abs(number) <= _WIDEST else None
        op = self.inside.get(value)
        if op is None:
            return None
        if op.name == "for":
            return self.counter(op)
        if op.name not in ("add", "sub"):
            return None
        x, y = map(self.extent, op.operands)
        if x is None or y is None:
            return None
        if op.name == "sub":
            if y.scale:
                return None
            y = _Extent(0, -y.high, -y.low)
        total = _Extent(x.scale + y.scale, x.low + y.low, x.high + y.high)
        narrow = total.scale <= 1 and -_WIDEST <= total.low and total.high <= _WIDEST
        return total if narrow else None

    def counter(self, op: Op) -> _Extent | None:
        """The index of an inner loop between constants."""
        start, stop, step = (self.constants.get(operand) for operand in op.operands[:3])
        if start is None or stop is None or step is None or abs(step) != 1 or start == stop:
            return None
        low, high = (start, stop - 1) if step == 1 else (stop + 1, start)
        return _Extent(0, low, high) if -_WIDEST <= low <= high <= _WIDEST else None
