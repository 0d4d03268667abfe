"""Lets Ctrl-C interrupt what runs long: puts `poll` at the back edges of loops, about every 2^16 turns.

Takes QIR after all loop transformations; gives the same with polls. A counter runs through every loop that is a `loop`,
holds other loops, or calls functions with loops; an innermost `for` inside adds its number of turns, an innermost `while`
that counts through a range known before it (`counting`) what that has, up to a limit. An innermost `for`
that stands alone is cut into strips instead, with a poll between two strips, so that its own body stays as it was and
can be vectorised. A cold one is not worth that: it looks at its index; and in a nest of cold loops only the innermost that
count poll, for the sake of small code. Loops that are short by their constants are left alone: they are unrolled; so are
those that end soon by what they do. Always legal: a poll only raises KeyboardInterrupt. Functions that are called as
`nothrow` get none, but long ones, with loops in loops, lose that promise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.passes.context import PassContext
from quadrants.passes.counting import Range, range_of
from quadrants.passes.dwindling import dwindles
from quadrants.passes.structure import (
    CALLS,
    LOOPS,
    SHORT,
    breaks_of,
    constant_turns,
    definitions,
    falls_through,
    integer_constants,
    new_label,
)
from quadrants.types import I64, U64

STRIP = 1 << 16
_SHORT = SHORT
#: A call of a function with loops counts as so many turns.
_CALL = 64
#: As how many turns an inner `while` that counts is taken at most.
_SEARCH = 1 << 10
_MAX_STEP = 1 << 32


def run(function: Function, context: PassContext) -> None:
    """Insert the polls of one function."""
    if not context.options.polls or function.attrs.get("level") == "device":
        return
    if not any(op.name in LOOPS for op in function.body.walk()):
        return
    if context.polling is None:
        context.polling = _look_at(context.module)
    silent, looping = context.polling
    if function.name in silent:
        return
    poller = _Poller(function, looping, integer_constants(function), definitions(function))
    poller.measure(function.body, 0)
    poller.start()


def _look_at(module: Module) -> tuple[set[str], set[str]]:
    """The functions that must not raise, and those that loop. Calls of long functions are let raise."""
    calls = {
        name: [op for op in function.body.walk() if op.name in CALLS] for name, function in module.functions.items()
    }
    callers: dict[str, set[str]] = {}
    for name, ops in calls.items():
        for op in ops:
            callers.setdefault(str(op.attrs["callee"]), set()).add(name)
    looping = _with_callers(callers, (name for name, function in module.functions.items() if _loops(function)))
    long = _with_callers(
        callers, (name for name, function in module.functions.items() if _nests(function.body, looping))
    )
    for op in (op for ops in calls.values() for op in ops):
        if op.attrs.get("nothrow") and op.attrs["callee"] in long:
            del op.attrs["nothrow"]
    return _silent(calls), looping


def _with_callers(callers: dict[str, set[str]], names: Iterable[str]) -> set[str]:
    """Functions and all that call them."""
    found = set(names)
    work = list(found)
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in found:
                found.add(caller)
                work.append(caller)
    return found


def _loops(function: Function) -> bool:
    """Whether a function may run long by itself: it has loops, or calls itself."""
    return bool(function.attrs.get("recursive")) or any(op.name in LOOPS for op in function.body.walk())


def _nests(region: Region, looping: set[str], inside: bool = False) -> bool:
    """Whether a loop holds another, or a call of a function with loops."""
    for op in region.ops:
        loop = op.name in LOOPS
        if inside and (loop or (op.name in CALLS and op.attrs["callee"] in looping)):
            return True
        if any(_nests(nested, looping, inside or loop) for nested in op.regions):
            return True
    return False


def _silent(calls: dict[str, list[Op]]) -> set[str]:
    """The functions that must not raise: called as `nothrow`, and what those call."""
    found: set[str] = set()
    work = [str(op.attrs["callee"]) for ops in calls.values() for op in ops if op.attrs.get("nothrow")]
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += [str(op.attrs["callee"]) for op in calls[name]]
    return found


@record
class _Poller:
    function: Function
    looping: set[str]
    constants: dict[Value, int]
    makers: dict[Value, Op]
    builder: Builder = field(default_factory=lambda: Builder(Region()))
    real: set[Op] = field(default_factory=set)  # loops that are not short
    counted: set[Op] = field(default_factory=set)  # ops that the counter runs through
    ranges: dict[Op, Range] = field(default_factory=dict)  # of `while` loops that are weighed like a `for`
    labels: dict[object, bool] = field(default_factory=dict)
    label: int = 0

    def measure(self, region: Region, depth: int) -> bool:
        """Find the loops, and the ops around them. Gives whether there is anything that takes long in the region."""
        long = False
        for op in region.ops:
            inside = False
            for nested in op.regions:
                inside |= self.measure(nested, depth + (op.name in LOOPS))
            if op.name in CALLS and op.attrs["callee"] in self.looping:
                inside = True
            if op.name in LOOPS and (inside or self.may_be_long(op)):
                self.real.add(op)
                if inside or (op.name == "loop" and not (depth > 0 and self.counts(op))):
                    self.counted.add(op)
                inside = True
            elif inside and op.regions:
                self.counted.add(op)
            long = long or inside
        return long

    def may_be_long(self, op: Op) -> bool:
        """Whether a loop by itself may take many turns."""
        if op.name == "loop":
            return not dwindles(op, self.constants)
        return self.turns(op) > _SHORT

    def counts(self, op: Op) -> bool:
        """Whether an innermost `while` counts through a range that is known in front of it."""
        found = range_of(op, self.makers)
        if found is not None:
            self.ranges[op] = found
        return found is not None

    def turns(self, op: Op) -> int:
        """How many turns a `for` takes, if its bounds are constants; else very many."""
        turns = constant_turns(op, self.constants)
        return 1 << 62 if turns is None else turns

    def start(self) -> None:
        self.label = new_label(self.function)
        self.region(self.function.body, None, 0)

    def region(self, region: Region, counter: Value | None, depth: int, threaded: bool = False) -> None:
        """Rewrite a region. `depth`: how many loops are around it; `threaded`: whether its `yield` hands the counter
        on."""
        out = Region(region.args)
        with self.builder.into(out):
            if counter is None and any(op in self.counted for op in region.ops):
                counter = self.builder.i64(0)
            for op in region.ops:
                self.builder.loc = op.loc
                if op.defn.terminator:
                    takes = threaded if op.name == "yield" else self.labels.get(op.attrs.get("label"), False)
                    if takes and counter is not None and op.name in ("yield", "break", "continue"):
                        op.operands.append(counter)
                    out.ops.append(op)
                elif op in self.counted and counter is not None:
                    counter = self.through(op, counter, depth)
                elif op in self.real and depth == 0:
                    self.inside(op, counter, depth)  # it may leave for an outer op that takes the counter
                    self.strip(op)
                else:
                    if counter is not None and op in self.ranges:  # it may be left for an op further out
                        counter = self.weigh_while(self.ranges[op], counter)
                    self.inside(op, counter, depth)
                    out.ops.append(op)
                    if counter is not None and depth > 0:
                        counter = self.weigh(op, counter)
        region.ops[:] = out.ops

    def inside(self, op: Op, counter: Value | None, depth: int) -> None:
        """The regions of an op that the counter does not run through: jumps out of it may still take it along."""
        label = op.attrs.get("label")
        before = self.labels.get(label, False)
        if op.regions and label is not None:
            self.labels[label] = False
        for nested in op.regions:
            self.region(nested, counter, depth + (op in self.real))
        if op.regions and label is not None:
            self.labels[label] = before

    def weigh(self, op: Op, counter: Value) -> Value:
        """Add what an op inside a loop counts for."""
        b = self.builder
        if op.name in CALLS and op.attrs["callee"] in self.looping:
            return b.value("add", counter, b.i64(_CALL))
        if op not in self.real or op.name == "loop":
            return counter
        start, stop, step = op.operands[:3]
        by = self.constants.get(step)
        first, last = (stop, start) if by is not None and by < 0 else (start, stop)
        length = last if self.constants.get(first) == 0 else b.value("sub", last, first)
        turns = b.value("min", b.value("max", length, b.i64(0)), b.i64(STRIP))
        return b.value("add", counter, turns)

    def weigh_while(self, found: Range, counter: Value) -> Value:
        """Add what a `while` that counts may take. It is often left early: so it counts for a small part of a strip at most."""
        b = self.builder
        ends = (found.stop, found.start) if found.up else (found.start, found.stop)
        length = ends[0] if self.constants.get(ends[1]) == 0 else b.value("sub", *ends)
        turns = b.value("min", b.value("max", length, b.i64(0)), b.i64(_SEARCH))
        return b.value("add", counter, turns)

    def through(self, op: Op, counter: Value, depth: int) -> Value:
        """Let the counter run through an op of control flow; loops count and poll. Gives the counter behind it."""
        label = op.attrs.get("label")
        before = self.labels.get(label, False)
        if label is not None:
            self.labels[label] = True
        is_loop = op.name in LOOPS
        if is_loop:
            op.operands.append(counter)
        for nested in op.regions:
            start = counter
            if is_loop:
                nested.args.append(Value(I64, "turns"))
                start = nested.args[-1]
                if not (op.attrs.get("cold") and any(inner in self.counted for inner in nested.walk())):
                    start = self.tick(nested, start, op)
            self.region(nested, start, depth + is_loop, not is_loop)
        if label is not None:
            self.labels[label] = before
        self.builder.region.ops.append(op)
        if op.name not in LOOPS and not falls_through(op, breaks_of(op) if op.name == "block" else ()):
            return counter
        result = Value(I64, "turns")
        op.results.append(result)
        if op.name == "loop":
            types = op.attrs["result_types"]
            assert isinstance(types, tuple)
            op.attrs["result_types"] = (*types, I64)
        return result

    def tick(self, region: Region, counter: Value, loop: Op) -> Value:
        """At the top of a loop's body: count, and poll when it is time."""
        made = Region()
        b = self.builder
        regions = (Region(), Region())
        with b.into(made):
            b.loc = loop.loc
            due = b.value("cmp", counter, b.i64(STRIP), pred="ge")
            with b.into(regions[0]):
                b.op("poll")
                b.op("yield", b.i64(0))
            with b.into(regions[1]):
                b.op("yield", counter)
            left = b.op("if", due, regions=regions).result
            following = b.value("add", left, b.i64(1), nowrap=True)
        region.ops[:0] = made.ops
        return following

    def strip(self, op: Op) -> None:
        """Cut a loop that stands alone into strips, with a poll between two of them; a cold one polls by its index."""
        start, stop, step = op.operands[:3]
        by = self.constants.get(step)
        b = self.builder
        if self.function.scope.internal or by is None or abs(by) > _MAX_STEP or self.turns(op) <= STRIP:
            b.region.ops.append(op)
            return
        if op.attrs.get("cold") and abs(by) == 1:
            self.by_index(op.regions[0], op)
            b.region.ops.append(op)
            return
        results, inits = op.results, op.operands[3:]
        strips = self.strips(op, by)
        regions = (Region(), Region())
        with b.into(regions[0]):
            types = tuple(value.type for value in results)
            b.op(
                "yield", *b.op("loop", start, *inits, regions=[strips[0]], label=strips[1], result_types=types).results
            )
        with b.into(regions[1]):
            b.op("yield", *inits)
        some = b.value("cmp", start, stop, pred="lt" if by > 0 else "gt")
        b.op("if", some, regions=regions).results = results

    def strips(self, op: Op, by: int) -> tuple[Region, object]:
        """The body of the loop over strips, around the loop itself, and its label."""
        stop, step = op.operands[1:3]
        b = self.builder
        outer_label, label = op.attrs["label"], self.label
        self.label += 1
        for inner in op.regions[0].walk():
            if inner.name == "continue" and inner.attrs["label"] == outer_label:
                inner.attrs["label"] = label
        body = region_with_args(value.type for value in op.regions[0].args)
        with b.into(body):
            first, *carried = body.args
            left = b.value("cast", b.value("sub", *((stop, first) if by > 0 else (first, stop))), type=U64)
            length = b.value("cast", b.value("min", left, b.const(abs(by) * STRIP, U64)), type=I64)
            end = b.value("add" if by > 0 else "sub", first, length)
            op.attrs["label"] = label
            op.operands[:] = [first, end, step, *carried]
            op.results = [Value(result.type, result.hint) for result in op.results]
            b.region.ops.append(op)
            ways = (Region(), Region())
            with b.into(ways[0]):
                b.op("poll")
                b.op("yield")
            with b.into(ways[1]):
                b.op("break", *op.results, label=outer_label)
            b.op("if", b.value("cmp", end, stop, pred="lt" if by > 0 else "gt"), regions=ways)
            b.op("continue", end, *op.results, label=outer_label)
        return body, outer_label

    def by_index(self, region: Region, loop: Op) -> None:
        """At the top of a body: poll when the index, which goes by ones, has come to a multiple."""
        made, ways = Region(), (Region(), Region())
        b = self.builder
        with b.into(made):
            b.loc = loop.loc
            due = b.value("cmp", b.value("and", region.args[0], b.i64(STRIP - 1)), b.i64(STRIP - 1), pred="eq")
            with b.into(ways[0]):
                b.op("poll")
                b.op("yield")
            with b.into(ways[1]):
                b.op("yield")
            b.op("if", due, regions=ways)
        region.ops[:0] = made.ops
