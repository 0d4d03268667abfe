"""Walks a function with the facts that hold at every op: intervals, affine forms, bounds from loops, conditions and
checks.

Takes QIR, changes nothing: `walk(function, visit)` calls `visit(op, facts)` for every op, before the op adds facts of
its own, and returns what the visitor left in `edits`. A loop's carried values are guessed (they stay above or below
their initial value), the body is walked, and if a guess does not hold, its edits are dropped and the body is walked
again without the guess. So edits must be made later.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Function, Op, Region, Value
from quadrants.passes.deltas import Deltas
from quadrants.passes.facts import Facts
from quadrants.passes.forms import Form
from quadrants.passes.intervals import I64_MAX, I64_RANGE, Interval, range_of_type
from quadrants.passes.learn import LEARN
from quadrants.passes.structure import definitions, falls_through, size_of
from quadrants.types import I64

Edit = Callable[[], None]
#: Gives the changes to make, once all is known.
Visitor = Callable[[Op, Facts], Iterable[Edit]]


def walk(function: Function, visit: Visitor) -> list[Edit]:
    """Walk the function; gives the edits in order."""
    walker = _Walker(visit, Deltas(definitions(function)), 6 * size_of(function.body) + 1000)
    walker.region(function.body)
    return walker.edits


class _Kind(enum.Enum):
    """What is guessed of a carried value."""

    NONNEGATIVE = enum.auto()
    ABOVE = enum.auto()  # never below its initial value
    BELOW = enum.auto()  # never above its initial value
    INDEX = enum.auto()  # never above the last index of the `for`: the place of something that was seen


@frozen
class _Guess:
    """What is believed of a carried value on every turn."""

    index: int
    kind: _Kind


@record
class _Frame:
    """An op of control flow that is being walked: the hull of what arrives at its results and at its next turn."""

    op: Op
    results: list[Interval | None]
    arrives: list[bool]
    carried: list[Interval | None] = field(default_factory=list)
    inits: list[Form] = field(default_factory=list)
    last: Form | None = None  # no index of a `for` is above it
    given: dict[int, list[Form]] = field(default_factory=dict)  # what the branches of an `if` give, by result
    below: dict[tuple[int, int], bool] = field(default_factory=dict)  # (result, number in `lasts`) -> never above it
    guesses: set[_Guess] = field(default_factory=set)
    failed: set[_Guess] = field(default_factory=set)


@record
class _Walker:
    visit: Visitor
    deltas: Deltas
    budget: int
    facts: Facts = field(default_factory=Facts)
    edits: list[Edit] = field(default_factory=list)
    stack: list[_Frame] = field(default_factory=list)
    labels: dict[object, _Frame] = field(default_factory=dict)
    lasts: list[Form] = field(
        default_factory=list
    )  # the last indices of the loops around that something is guessed to be below

    def region(self, region: Region) -> None:
        for op in region.ops:
            self.budget -= 1
            if op.regions:
                self.control(op)
                continue
            self.edits.extend(self.visit(op, self.facts))
            self.facts.define(op)
            if (learn := LEARN.get(op.name)) is not None:
                learn(op, self.facts)
            elif op.defn.terminator:
                self.jump(op)

    def jump(self, op: Op) -> None:
        """Note what a jump brings to its target."""
        if op.name == "yield":
            self.arrive(self.stack[-1].results, op.operands)
            self.compare(self.stack[-1], op)
        elif op.name == "break":
            self.arrive(self.labels[op.attrs["label"]].results, op.operands)
        elif op.name == "continue":
            frame = self.labels[op.attrs["label"]]
            self.arrive(frame.carried, op.operands)
            self.test(frame, op)

    def arrive(self, hulls: list[Interval | None], values: list[Value]) -> None:
        for index, value in enumerate(values[: len(hulls)]):
            interval = self.facts.interval(value)
            before = hulls[index]
            hulls[index] = interval if before is None or interval is None else before.hull(interval)

    def compare(self, frame: _Frame, op: Op) -> None:
        """Note the values that a branch gives, and which are below the last indices of the loops around."""
        if frame.op.name != "if":
            return
        for place, value in enumerate(op.operands):
            if value.type == I64:
                frame.given.setdefault(place, []).append(self.facts.exact(value))
            for number, last in enumerate(self.lasts if value.type == I64 else ()):
                key = (place, number)
                frame.below[key] = frame.below.get(key, True) and self.below(value, last)

    def below(self, value: Value, last: Form) -> bool:
        """Whether a value, or both that it is selected from, is at most the form."""
        maker = self.facts.makers.get(value)
        if maker is not None and maker.name == "select":
            return all(self.below(side, last) for side in maker.operands[1:])
        return self.facts.prove(last.minus(self.facts.exact(value)))

    def test(self, frame: _Frame, op: Op) -> None:
        """Whether the guesses about carried values hold at a `continue`."""
        for guess in frame.guesses - frame.failed:
            value = op.operands[guess.index]
            if guess.kind is _Kind.NONNEGATIVE:
                holds = self.facts.nonnegative(value)
            elif guess.kind is _Kind.INDEX:
                holds = frame.last is not None and self.below(value, frame.last)
            elif guess.kind is _Kind.ABOVE:
                holds = self.facts.prove(self.facts.exact(value).minus(frame.inits[guess.index]))
            else:
                holds = self.facts.prove(frame.inits[guess.index].minus(self.facts.exact(value)))
            if not holds:
                frame.failed.add(guess)

    def control(self, op: Op) -> None:
        self.edits.extend(self.visit(op, self.facts))
        frame = _Frame(op, [None] * len(op.results), [])
        self.stack.append(frame)
        label = op.attrs.get("label")
        outer = self.labels.get(label)
        if label is not None:
            self.labels[label] = frame
        if op.name == "if":
            for region, holds in zip(op.regions, (True, False)):
                self.scoped(region, lambda holds=holds: self.facts.assume(op.operands[0], holds))  # type: ignore[misc]
        elif op.name in ("for", "loop"):
            self.loop(op, frame)
        else:
            for region in op.regions:
                self.scoped(region)
        self.stack.pop()
        if label is not None and outer is not None:
            self.labels[label] = outer
        self.leave(op, frame)

    def scoped(self, region: Region, enter: Callable[[], None] | None = None) -> None:
        """Walk a region whose facts end with it."""
        mark = self.facts.mark()
        if enter is not None:
            enter()
        self.region(region)
        self.facts.undo(mark)

    def leave(self, op: Op, frame: _Frame) -> None:
        """What is known behind an op of control flow."""
        for result, interval in zip(op.results, frame.results):
            self.facts.makers[result] = op
            whole = range_of_type(result.type)
            if whole is not None:
                self.facts.intervals[result] = whole if interval is None else interval.meet(whole)
        for place, forms in frame.given.items():
            if len(forms) == 1:  # the other branch leaves
                self.facts.forms[op.results[place]] = forms[0]
        for (place, number), holds in frame.below.items():
            if holds:
                self.facts.bound(op.results[place], self.lasts[number], above=True)
        if op.name == "if":
            ends = [region.terminator for region in op.regions]
            leaves = [end is None or end.name != "yield" for end in ends]
            if any(leaves) and falls_through(op):
                self.facts.assume(op.operands[0], leaves[1])

    # Loops

    def loop(self, op: Op, frame: _Frame) -> None:
        """Walk the body of a loop, twice if a guess about its carried values fails."""
        head = 3 if op.name == "for" else 0
        args = op.regions[0].args[1:] if head else op.regions[0].args
        inits = op.operands[head:]
        frame.inits = [self.facts.exact(init) for init in inits]
        frame.guesses = self.guesses(op, args, inits) if self.budget > 0 else set()
        kept = len(self.edits)
        while True:
            frame.carried = [None] * len(args)
            frame.results = [None] * len(op.results)
            if head:
                self.arrive(frame.results, inits)
            around = len(self.lasts)
            self.scoped(op.regions[0], lambda: self.enter(op, args, inits, frame))
            del self.lasts[around:]
            if not frame.failed:
                break
            del self.edits[kept:]
            frame.guesses -= frame.failed
            frame.failed = set()
        if head:
            for index, interval in enumerate(frame.carried):
                before = frame.results[index]
                if interval is not None and before is not None:
                    frame.results[index] = before.hull(interval)

    def guesses(self, op: Op, args: list[Value], inits: list[Value]) -> set[_Guess]:
        """What may hold of the carried integers on every turn."""
        found = set()
        for index, (arg, init) in enumerate(zip(args, inits)):
            whole = range_of_type(arg.type)
            if whole is None or whole.hi == 1:
                continue
            step = self.deltas.per_turn(op, index) if arg.type == I64 else None
            if step is not None and op.name == "for":  # `enter` counts the turns
                continue
            if whole.lo < 0 and self.facts.nonnegative(init):
                found.add(_Guess(index, _Kind.NONNEGATIVE))
            if arg.type == I64 and op.name == "for":
                found.add(_Guess(index, _Kind.INDEX))
            if arg.type == I64 and op.name == "loop" and (step is None or step.lo >= 0):
                found.add(_Guess(index, _Kind.ABOVE))
            if arg.type == I64 and op.name == "loop" and (step is None or step.hi <= 0):
                found.add(_Guess(index, _Kind.BELOW))
        return found

    def enter(self, op: Op, args: list[Value], inits: list[Value], frame: _Frame) -> None:
        """The facts at the top of a loop's body."""
        facts = self.facts
        turns = I64_MAX
        if op.name == "for":
            turns = self.induction(op, frame)
        for index, (arg, init) in enumerate(zip(args, inits)):
            whole = range_of_type(arg.type)
            if whole is None:
                continue
            facts.intervals[arg] = whole
            step = self.deltas.per_turn(op, index)
            if op.name == "for" and step is not None:
                start = facts.range(init)
                reach = Interval(start.lo + min(step.lo, 0) * turns, start.hi + max(step.hi, 0) * turns)
                if reach.within(whole):
                    facts.intervals[arg] = reach
                    if arg.type == I64 and step.lo >= 0:
                        facts.bound(arg, facts.exact(init), above=False)
                    if arg.type == I64 and step.hi <= 0:
                        facts.bound(arg, facts.exact(init), above=True)
        for guess in frame.guesses:
            arg = args[guess.index]
            if guess.kind is _Kind.NONNEGATIVE:
                facts.narrow(arg, Interval(0, facts.range(arg).hi))
            elif guess.kind is _Kind.INDEX:
                if frame.last is not None and facts.prove(frame.last.minus(frame.inits[guess.index])):
                    facts.bound(arg, frame.last, above=True)
                    if frame.last not in self.lasts:
                        self.lasts.append(frame.last)
                else:
                    frame.failed.add(guess)
            else:
                facts.bound(arg, frame.inits[guess.index], above=guess.kind is _Kind.BELOW)

    def induction(self, op: Op, frame: _Frame) -> int:
        """The facts about the index of a `for` inside its body. Gives the most turns that it can take."""
        facts = self.facts
        start, stop, step = op.operands[:3]
        index = op.regions[0].args[0]
        facts.intervals[index] = I64_RANGE
        by = facts.range(step)
        if by.lo > 0:
            facts.assume_at_most(start, stop, 1)
            low, high = facts.exact(start), facts.exact(stop).shift(-1)
        elif by.hi < 0:
            facts.assume_at_most(stop, start, 1)
            low, high = facts.exact(stop).shift(1), facts.exact(start)
        else:
            return I64_MAX
        facts.bound(index, low, above=False)
        facts.bound(index, high, above=True)
        frame.last = high
        length = facts.span(high.minus(low)).hi + 1
        return max(0, min(length, I64_MAX))
