"""Turns sums down the columns of an array into sums along its rows.

Takes QIR without checks in its loops: `for j { s = for k (sum of what is read at [k, j]); store s }`, where neighbours
in j are neighbours in memory and those in k are not. Gives, for strips of j: a buffer of sums in the frame, `for k {
for j { buffer[j] += ... } }`, and a loop that stores. Every sum keeps its own order of additions, so results are the
same bit for bit. Legal because the loops only compute, read, and store at the end of a turn of j: what is stored is not
what later turns read, which `overlap` shows at run time (otherwise, and for few columns, the loop runs as it was).
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_op
from quadrants.passes.context import PassContext
from quadrants.passes.structure import definitions, integer_constants, is_pure, mark_cold, new_label
from quadrants.types import I64, ArrayType, Scalar

PASS = "interchange"
#: Columns of a strip, and the fewest that are worth it.
STRIP = 256
_FEWEST = 8
_MOST_SUMS = 4
#: So many rows are added at a time, if a term is small.
_ROWS = 4
_SMALL_TERM = 12


def run(function: Function, context: PassContext) -> None:
    """Interchange the loops of one function where it pays."""
    if sum(op.name == "for" for op in function.body.walk()) < 2:
        return
    _Interchanger(function, context, definitions(function), integer_constants(function)).region(function.body)


@record
class Columns:
    """A loop over columns, taken apart: what comes before the sums, the loop of the sums, what comes behind."""

    loop: Op
    before: list[Op]
    sums: Op
    behind: list[Op]

    @property
    def column(self) -> Value:
        return self.loop.regions[0].args[0]

    @property
    def term(self) -> list[Op]:
        return self.sums.regions[0].ops[:-1]


def take_apart(loop: Op, constants: dict[Value, int]) -> Columns | None:
    """The loop in its parts, if it has that shape."""
    if loop.attrs.get("cold") or len(loop.operands) != 3 or constants.get(loop.operands[2]) != 1:
        return None
    ops = loop.regions[0].ops
    inner = [index for index, op in enumerate(ops) if op.regions]
    if len(inner) != 1 or ops[inner[0]].name != "for" or ops[-1].name != "continue":
        return None
    parts = Columns(loop, ops[: inner[0]], ops[inner[0]], ops[inner[0] + 1 : -1])
    carried = parts.sums.regions[0].args[1:]
    end = parts.sums.regions[0].ops[-1]
    if not 1 <= len(carried) <= _MOST_SUMS or not all(isinstance(arg.type, Scalar) for arg in carried):
        return None
    if end.name != "continue" or not all(map(_reads, parts.before)) or not all(map(_reads, parts.term)):
        return None
    stores = [op for op in parts.behind if op.name == "store"]
    others = [op for op in parts.behind if op.name != "store"]
    return parts if stores and all(map(_plain, stores)) and all(map(_reads, others)) else None


def _plain(op: Op) -> bool:
    return not (op.attr("checked") or op.attr("wrap"))


def _reads(op: Op) -> bool:
    """Whether the op only computes a scalar, or reads one."""
    scalar = all(isinstance(result.type, Scalar) for result in op.results)
    return scalar and (is_pure(op) or (op.name == "load" and _plain(op)))


@record
class _Interchanger:
    function: Function
    context: PassContext
    makers: dict[Value, Op]
    constants: dict[Value, int]

    def region(self, region: Region) -> None:
        out: list[Op] = []
        for op in region.ops:
            parts = take_apart(op, self.constants) if op.name == "for" else None
            if parts is not None and (plan := self.plan(parts)) is not None:
                out += plan
                continue
            for nested in op.regions:
                self.region(nested)
            out.append(op)
        region.ops[:] = out

    def plan(self, parts: Columns) -> list[Op] | None:
        """The ops that stand for the loop; None if it must, or should, stay as it is."""
        inside = {parts.column, *(result for op in parts.before for result in op.results)}
        hoisted = self.hoist(parts, inside)
        left = [*hoisted, parts.loop] if hoisted else None
        if any(bound in inside for bound in parts.sums.operands[:3]):
            return left
        accesses = [op for op in (*parts.before, *parts.term, *parts.behind) if op.name in ("load", "store")]
        inside |= {result for op in (*parts.term, *parts.behind) for result in op.results}
        if any(_array(op) in inside for op in accesses) or not self.pays(parts) or not independent(parts):
            return left
        text = "the sums run along the rows: neighbours in memory are read together"
        self.context.note(PASS, DecisionKind.APPLIED, self.function, parts.loop, "interchanged", text)
        rows = _ROWS if len(parts.term) <= _SMALL_TERM and self.constants.get(parts.sums.operands[2]) == 1 else 1
        return [*hoisted, *_Emitter(parts, new_label(self.function), rows).emit()]

    def hoist(self, parts: Columns, inside: set[Value]) -> list[Op]:
        """Take what does not depend on the column in front of the loop."""
        free = []
        for op in parts.before:
            if is_pure(op) and not any(operand in inside for operand in op.operands):
                free.append(op)
                inside.difference_update(op.results)
        for op in free:
            op.attrs.pop("nowrap", None)  # it may now run where it would not have
            op.attrs.pop("nonzero", None)
            parts.before.remove(op)
            parts.loop.regions[0].ops.remove(op)
        return free

    def pays(self, parts: Columns) -> bool:
        """Whether every read of a term is contiguous in the columns or the same for all, and one jumps from row to row."""
        row = parts.sums.regions[0].args[0]
        jumps = False
        for op in parts.term:
            if op.name != "load":
                continue
            type = _array(op).type
            assert isinstance(type, ArrayType)
            steps = [(self.step(at, parts.column), self.step(at, row)) for at in op.operands[1:]]
            if any(column is None or down is None for column, down in steps):
                return False
            if all(column == 0 for column, _ in steps):
                continue
            fast = {"C": type.ndim - 1, "F": 0}.get(type.layout)
            if fast is None or steps[fast] != (1, 0) or sum(column != 0 for column, _ in steps) != 1:
                return False
            jumps |= any(down != 0 for _, down in steps)
        return jumps

    def step(self, value: Value, index: Value) -> int | None:
        """By how much the value grows with an index of a loop; None if it is no multiple of it."""
        if value is index:
            return 1
        op = self.makers.get(value)
        if op is None or not op.operands:
            return 0
        steps = [self.step(operand, index) for operand in op.operands]
        if all(step == 0 for step in steps):
            return 0
        if op.name in ("add", "sub") and None not in steps:
            first, second = steps
            assert first is not None and second is not None
            return first + second if op.name == "add" else first - second
        return None


def _array(op: Op) -> Value:
    return op.operands[0 if op.name == "load" else 1]


def independent(parts: Columns) -> bool:
    """Whether no turn reads, before its end, what another stores in the same array."""
    for store in (op for op in parts.behind if op.name == "store"):
        place = store.operands[2:]
        if parts.column not in place:
            return False
        for op in (*parts.before, *parts.term):
            if op.name == "load" and _array(op) is _array(store) and (op in parts.term or op.operands[1:] != place):
                return False
    return True


@record
class _Emitter:
    """Emits the interchanged loops, and the choice between them and the loop as it was."""

    parts: Columns
    label: int
    rows: int

    def emit(self) -> list[Op]:
        parts = self.parts
        b = Builder(Region())
        b.loc = parts.loop.loc
        start, stop = parts.loop.operands[:2]
        good = b.value("cmp", b.value("sub", stop, start), b.i64(_FEWEST), pred="ge")
        for first in (start, parts.sums.operands[0]):  # so that no difference of bounds wraps
            good = b.value("and", good, b.value("cmp", first, b.i64(0), pred="ge"))
        for store in dict.fromkeys(_array(op) for op in parts.behind if op.name == "store"):
            loads = (op for op in (*parts.before, *parts.term) if op.name == "load")
            for read in dict.fromkeys(_array(op) for op in loads if _array(op) is not store):
                good = b.value("and", good, b.value("not", b.value("overlap", store, read)))
        regions = (Region(), Region([], [parts.loop]))
        with b.into(regions[0]):
            self.strips(b, start, stop)
            b.op("yield")
        mark_cold(parts.loop)
        with b.into(regions[1]):
            b.op("yield")
        b.op("if", good, regions=regions)
        return b.region.ops

    def strips(self, b: Builder, start: Value, stop: Value) -> None:
        """Loops over strips of columns, each with its sums in buffers."""
        parts = self.parts
        sums = parts.sums
        strip = region_with_args([I64])
        with b.into(strip):
            first = strip.args[0]
            end = b.value("add", first, b.value("min", b.value("sub", stop, first), b.i64(STRIP)))
            width = b.i64(STRIP)
            types = [arg.type for arg in sums.regions[0].args[1:]]
            buffers = [b.value("alloc", width, type=ArrayType(_scalar(type), 1), stack=True) for type in types]
            self.columns(b, first, end, lambda column, at: self.begin(b, column, at, buffers), 1)
            self.terms(b, first, end, buffers)
            self.columns(b, first, end, lambda column, at: self.finish(b, column, at, buffers), 1)
            b.op("continue", label=self.label)
        b.op("for", start, stop, b.i64(STRIP), regions=[strip], label=self.label)

    def terms(self, b: Builder, first: Value, end: Value, buffers: list[Value]) -> None:
        """The loop over rows: several at a time, then the rest."""
        start, stop, step = self.parts.sums.operands[:3]
        if self.rows > 1:
            count = b.value("max", b.value("sub", stop, start), b.i64(0))
            whole = b.value("sub", count, b.value("mod", count, b.i64(self.rows)))
            middle = b.value("add", start, whole)
            self.some_rows(b, (start, middle, b.i64(self.rows)), self.rows, first, end, buffers)
            start = middle
        self.some_rows(b, (start, stop, step), 1, first, end, buffers)

    def some_rows(
        self, b: Builder, bounds: tuple[Value, Value, Value], count: int, first: Value, end: Value, buffers: list[Value]
    ) -> None:
        """Add the terms of `count` rows a turn."""
        region = region_with_args([I64])
        with b.into(region):
            rows = [region.args[0]]
            while len(rows) < count:
                rows.append(b.value("add", region.args[0], b.i64(len(rows))))
            self.columns(b, first, end, lambda column, at: self.add(b, rows, column, at, buffers), 2)
            b.op("continue", label=self.label + 1)
        b.op("for", *bounds, regions=[region], label=self.label + 1)

    def columns(self, b: Builder, first: Value, end: Value, body: Callable[[Value, Value], None], level: int) -> None:
        """A loop over the columns of a strip."""
        region = region_with_args([I64])
        with b.into(region):
            column = region.args[0]
            body(column, b.value("sub", column, first))
            b.op("continue", label=self.label + level)
        b.op("for", first, end, b.i64(1), regions=[region], label=self.label + level, wide=True)

    def begin(self, b: Builder, column: Value, at: Value, buffers: list[Value]) -> None:
        """What the sums begin with."""
        values = {self.parts.column: column}
        inits = self.parts.sums.operands[3:]
        self.copy(b, self.parts.before, inits, values)
        for init, buffer in zip(inits, buffers):
            b.op("store", values.get(init, init), buffer, at, checked=False, wrap=False)

    def add(self, b: Builder, rows: list[Value], column: Value, at: Value, buffers: list[Value]) -> None:
        """The terms of some rows, one after the other."""
        body = self.parts.sums.regions[0]
        sums = [b.value("load", buffer, at, checked=False, wrap=False) for buffer in buffers]
        following = body.ops[-1].operands
        for row in rows:
            values = {self.parts.column: column, body.args[0]: row, **dict(zip(body.args[1:], sums))}
            self.copy(b, [*self.parts.before, *self.parts.term], following, values)
            sums = [values.get(value, value) for value in following]
        for value, buffer in zip(sums, buffers):
            b.op("store", value, buffer, at, checked=False, wrap=False)

    def finish(self, b: Builder, column: Value, at: Value, buffers: list[Value]) -> None:
        """What is done with the sums."""
        values = {self.parts.column: column}
        for result, buffer in zip(self.parts.sums.results, buffers):
            values[result] = b.value("load", buffer, at, checked=False, wrap=False)
        stores = [operand for op in self.parts.behind if op.name == "store" for operand in op.operands]
        self.copy(b, [*self.parts.before, *self.parts.behind], stores, values)

    @staticmethod
    def copy(b: Builder, ops: list[Op], wanted: list[Value], values: dict[Value, Value]) -> None:
        """Copy those of the ops that the wanted values need, and all stores, in order."""
        needed = set(wanted)
        chosen = []
        for op in reversed(ops):
            if op.name == "store" or any(result in needed for result in op.results):
                needed.update(op.operands)
                chosen.append(op)
        for op in reversed(chosen):
            b.region.ops.append(clone_op(op, values))


def _scalar(type: object) -> Scalar:
    assert isinstance(type, Scalar)
    return type
