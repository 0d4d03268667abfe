"""Puts a parallel region in the place of a loop: the conditions in front of it, the cut, the loop as it was beside it.

Takes a `Plan` that `parallelise` made; gives the ops that stand for the loop, and tells what was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_op
from quadrants.passes.arrayfolds import COPIES, ArrayFold, pays
from quadrants.passes.conditions import conditions
from quadrants.passes.context import PassContext
from quadrants.passes.cost import Cost, Coster
from quadrants.passes.dependence import Verdict
from quadrants.passes.folds import SAME, WORDS, Flow, Fold
from quadrants.passes.guards import Guard
from quadrants.passes.outline import CHUNKS, Outliner, Shape
from quadrants.passes.polynomials import Nest
from quadrants.passes.structure import constant_turns, mark_cold

PASS = "parallelise"
#: The smallest chunk is this part of the work that a loop must have.
_CHUNKS_OF_LEAST = 4


@frozen(eq=False)
class Plan:
    """A loop that can be parallel: its folds, and what must hold."""

    loop: Op
    folds: list[Fold]
    arrays: list[ArrayFold]
    verdict: Verdict
    step: int


@record
class Replacement:
    """Replaces one loop.

    Args:
        function, context: where it is.
        flow, constants: what is known of the function.
        replaced: takes the results of the loop, with what stands for them.
        plan: the loop, and why it may be parallel.
        depth: how many loops are around it.
        declared: whether the program says that it is parallel.
    """

    function: Function
    context: PassContext
    flow: Flow
    constants: Mapping[Value, int]
    replaced: dict[Value, Value]
    plan: Plan
    depth: int
    declared: bool
    builder: Builder = field(default_factory=lambda: Builder(Region()))

    @property
    def loop(self) -> Op:
        return self.plan.loop

    @property
    def small(self) -> int:
        """Picoseconds of work below which a loop stays in its thread."""
        return 1000 * self.context.options.parallel_work

    def emit(self) -> list[Op] | None:
        """The ops that stand for the loop; None if it is known to have too little to do."""
        loop, b = self.loop, self.builder
        b.loc = loop.loc
        nest = Nest(loop, dict(self.flow.makers), lambda start, stop, step: stop)
        coster = Coster(nest, self.context.module.functions, self.constants, b)
        cost = coster.turn()
        known = constant_turns(loop, self.constants)
        if not self.declared and known is not None and not cost.parts and known * cost.known < self.small:
            return None
        shape, small = self.shape(coster, cost)
        condition, count = self.condition(nest, known, shape.turns)
        self.note(cost, count)
        keeps = condition is not None or self.depth > 0
        serial = clone_op(loop, {}) if keeps else None
        for inner in loop.regions[0].walk():
            inner.attrs.pop("parallel", None)
        fork_region = Region()
        with b.into(fork_region):
            plan = self.plan
            outliner = Outliner(self.function, loop, plan.folds, self.flow.makers, plan.step, self.name(), plan.arrays)
            results, chunk = outliner.region(b, shape)
        self.context.outlined.add(chunk.name)
        self.context.module.functions[chunk.name] = chunk
        if serial is None:
            self.replaced.update(zip(loop.results, results))
            return [*b.region.ops, *fork_region.ops]
        return self.either(serial, fork_region, results, condition, small)

    def either(
        self, serial: Op, fork_region: Region, results: list[Value], condition: Value | None, small: Value
    ) -> list[Op]:
        """The region where it is allowed and pays, else the loop as it was."""
        b = self.builder
        serial.attrs.pop("parallel", None)
        if self.depth == 0 and not self.plan.arrays:
            mark_cold(serial)
            chosen = condition
        else:
            large = b.value("not", small)
            chosen = large if condition is None else b.value("and", condition, large)
        assert chosen is not None
        serial_region = Region([], [serial])
        for region, values in ((fork_region, results), (serial_region, serial.results)):
            with b.into(region):
                b.op("yield", *values)
        b.op("if", chosen, regions=(fork_region, serial_region)).results = self.loop.results
        return b.region.ops

    def name(self) -> str:
        functions = self.context.module.functions
        number = 1
        while f"{self.function.name}.loop{number}" in functions:
            number += 1
        return f"{self.function.name}.loop{number}"

    def note(self, cost: Cost, conditions: int) -> None:
        """Tell what was done."""
        told = ["its turns run on several threads"]
        folded = [
            f"{WORDS[fold.kind]} {fold.arg.hint or 'of a value'}" for fold in self.plan.folds if fold.kind != SAME
        ]
        folded += [f"{WORDS[fold.kind]} {fold.array.hint or 'of an array'}[...]" for fold in self.plan.arrays]
        if folded:
            told.append(f"{', '.join(folded)} computed in pieces")
        if conditions:
            told.append("if its arrays do not overlap and its indices are small, which is tested in front of it")
        if cost.known and not cost.parts:
            turns = max(1, self.small // _CHUNKS_OF_LEAST // max(cost.known, 1))
            told.append(f"at least {turns} turn{'s' if turns > 1 else ''} at a time")
        self.context.note(PASS, DecisionKind.APPLIED, self.function, self.loop, "parallel", "; ".join(told))

    def condition(self, nest: Nest, known: int | None, turns: Value) -> tuple[Value | None, int]:
        """What must hold, as one value, and how many conditions those are."""
        b, verdict = self.builder, self.plan.verdict
        guard = Guard(nest, {}, b)
        parts: list[Value] = []
        if not self.declared:
            parts += conditions(guard, verdict)
        else:  # what is folded into must be memory of its own, whatever is declared
            folded = {fold.array for fold in self.plan.arrays}
            pairs = [pair for pair in verdict.disjoint if folded.intersection(pair)]
            parts += conditions(guard, Verdict(disjoint=pairs))
        start, stop = self.loop.operands[:2]
        first = self.constants.get(start)
        if known is None and not (first is not None and 0 <= first < 1 << 62 and self.plan.step > 0):
            for side in (start, stop):  # so that the number of turns can be computed
                if side not in self.constants:
                    parts.append(guard.compare("lt", side, 1 << 61))
                    if not guard.positive(side):
                        parts.append(guard.compare("gt", side, -(1 << 61)))
        fits = pays(b, self.plan.arrays, turns)
        parts += [] if fits is None else [fits]
        if not parts:
            return None, 0
        parts = list(dict.fromkeys(parts))
        whole = parts[0]
        for part in parts[1:]:
            whole = b.value("and", whole, part)
        return whole, len(parts)

    def shape(self, coster: Coster, cost: Cost) -> tuple[Shape, Value]:
        """The number of turns, the turns of a chunk, and the work; and whether there is too little of it."""
        b = self.builder
        start, stop = self.loop.operands[:2]
        step = self.plan.step
        first = self.constants.get(start)
        forward = (stop, start) if step > 0 else (start, stop)
        length = stop if first == 0 and step == 1 else b.value("sub", *forward)
        if abs(step) > 1:
            length = b.value("floordiv", b.value("add", length, b.i64(abs(step) - 1)), b.i64(abs(step)))
        turns = b.value("max", length, b.i64(0))
        each = b.value("max", coster.total(cost), b.i64(1))
        small_work = self.small
        chunk = small_work // _CHUNKS_OF_LEAST
        if cost.parts:
            least = b.value("add", b.value("floordiv", b.i64(chunk), each), b.i64(1))
            few = b.value("floordiv", b.i64(small_work), each)
        else:
            least, few = b.i64(chunk // max(cost.known, 1) + 1), b.i64(small_work // max(cost.known, 1))
        small = b.value("cmp", turns, few, pred="le")
        chunks = COPIES if self.plan.arrays else CHUNKS
        even = b.value("shr", b.value("add", turns, b.i64(chunks - 1)), b.i64(chunks.bit_length() - 1))
        cut = b.value("max", least, even)
        grain = b.value("select", small, b.value("max", turns, b.i64(1)), cut)
        if cost.guessed and self.declared:
            return Shape(turns, grain, b.i64(0)), small
        work = b.value("mul", b.value("min", turns, b.i64(1 << 26)), each)
        return Shape(turns, grain, b.value("shr", work, b.i64(10))), small
