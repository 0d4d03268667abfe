"""Puts the chunks of turns in lanes in front of a loop, which keeps the turns that are left.

Takes a loop and its plan; gives the ops that stand for it. The chunk loop steps by as many turns as there are lanes; those of the
last chunk that lie behind the end are off. Where arrays overlap, or in a chunk a turn would raise, the loop itself takes over from
there, turn by turn; where neither can be, it is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.passes.conditions import conditions
from quadrants.passes.folds import LAST, SAME, SKIPPED, Fold
from quadrants.passes.guards import Guard
from quadrants.passes.polynomials import Nest
from quadrants.passes.spmd import private
from quadrants.passes.spmd.control import Target
from quadrants.passes.spmd.emit import Emitter
from quadrants.passes.spmd.extremes import Extreme, before, fold
from quadrants.passes.spmd.lanes import Lanes, Line
from quadrants.passes.spmd.legality import Plan
from quadrants.passes.structure import mark_cold
from quadrants.types import I64, Scalar


class Chunks:
    """Emits the chunks of a loop.

    Args:
        loop: the loop as it was.
        code: the same without calls: what runs in lanes.
        plan: how.
        count: how many lanes.
        constants: values that are integer constants.
        makers: the definitions of values.
        label: the first label that is free.
        extremes: the best values among what is carried; their turns are carried behind all others.
        sizes: the sizes of arrays along axes, as far as they are constants.
    """

    def __init__(
        self,
        loop: Op,
        code: Op,
        plan: Plan,
        count: int,
        constants: dict[Value, int],
        makers: Mapping[Value, Op],
        label: int,
        extremes: Sequence[Extreme] = (),
        sizes: Mapping[tuple[Value, int], int] | None = None,
    ) -> None:
        self.loop = loop
        self.code = code
        self.plan = plan
        self.count = count
        self.constants = constants
        self.makers = makers
        self.extremes = extremes
        self.step = constants[loop.operands[2]]
        self.label = label
        self.b = Builder(Region())
        self.b.loc = loop.loc
        roots = {} if loop.attr("independent") else {access.op: access.root for access in plan.verdict.accesses}
        self.lanes = Lanes(self.b, count, plan.facts, constants, sizes=sizes or {}, roots=roots)
        self.replaced: dict[Value, Value] = {}  # results of a loop that is gone -> what stands for them

    def emit(self) -> list[Op]:
        """The ops that stand for the loop."""
        b, loop = self.b, self.loop
        start, stop = loop.operands[:2]
        nest = Nest(self.code, dict(self.makers), lambda start, stop, step: stop)
        guard = Guard(nest, {}, b)
        sizes = private.fits(guard, self.plan.buffers, self.count)
        tested = list(dict.fromkeys([*conditions(guard, self.plan.verdict), *sizes]))
        if not tested:
            resume, results = self.all_chunks(start, stop)
            self.finish(resume, results, guarded=False)
            return b.region.ops
        condition = tested[0]
        for other in tested[1:]:
            condition = b.value("and", condition, other)
        chunks, nothing = Region(), Region()
        with self.lanes.into(chunks):
            private.make(guard, self.lanes, self.plan.buffers)
            resume, results = self.all_chunks(start, stop)
            b.op("yield", resume, *results)
        with self.lanes.into(nothing):
            b.op("yield", start, *loop.operands[3:])
        begun = b.op("if", condition, regions=(chunks, nothing))
        self.finish(begun.results[0], begun.results[1:], guarded=True)
        return b.region.ops

    def finish(self, resume: Value, results: list[Value], guarded: bool) -> None:
        """The turns that are left, by the loop itself."""
        if not guarded and not self.plan.bails:
            self.replaced = dict(zip(self.loop.results, results))
            return
        if not self.plan.buffers:  # with arrays too large for lanes it takes its time
            mark_cold(self.loop)
        self.loop.operands[0] = resume
        self.loop.operands[3:] = results
        self.b.region.ops.append(self.loop)

    # The chunk loop

    def all_chunks(self, start: Value, stop: Value) -> tuple[Value, list[Value]]:
        """Emit the chunk loop; the first turn that is left, and what was carried up to there."""
        b = self.b
        carried = self.plan.carried
        inits = [*self.loop.operands[3:], *(before(b) for _ in self.extremes)]
        first = [self.begin(role, init) for role, init in zip(carried, inits)]
        body = region_with_args([I64, I64, *(value.type for value in first)])
        base = body.args[0]
        label = self.label
        with self.lanes.into(body):
            self.chunk(base, stop, body.args[1:], label)
        chunks = b.op("for", start, stop, b.i64(self.count * self.step), stop, *first, regions=[body], label=label)
        resume, *finals = chunks.results
        results = [self.end(role, init, final, start, resume) for role, init, final in zip(carried, inits, finals)]
        for number, extreme in enumerate(self.extremes, len(inits) - len(self.extremes)):
            begun = [inits[place] for place in extreme.places]
            lanes = [finals[place] for place in (*extreme.places, number)]
            best = fold(b, extreme, begun, lanes, self.count, self.label)
            for place, value in zip(extreme.places, best):
                results[place] = value
            self.label += 1
        return resume, results[: len(self.loop.results)]

    def begin(self, role: Fold, init: Value) -> Value:
        """What the lanes of a carried value begin with."""
        assert isinstance(init.type, Scalar)
        zero = None if role.kind in (SAME, LAST, SKIPPED) else neutral(role.kind, init.type)
        return self.lanes.splat(init if zero is None else self.b.const(zero, init.type))

    def end(self, role: Fold, init: Value, final: Value, start: Value, resume: Value) -> Value:
        """The carried value behind the chunks."""
        b = self.b
        if role.kind in (SAME, SKIPPED):
            return init
        if role.kind == LAST:
            last = b.value("sub", self.turns(start, resume), b.i64(1))
            return b.value("lanes.extract", final, b.value("and", last, b.i64(self.count - 1)))
        folded = b.value("lanes.reduce", final, kind=role.kind)
        return b.value(role.kind, *((folded, init) if role.kind in ("min", "max") else (init, folded)))

    def turns(self, start: Value, end: Value) -> Value:
        """How many turns there are from one index up to another, which may be behind the last."""
        b = self.b
        distance = b.value("sub", end, start)
        if self.step == 1:
            return distance
        rounded = b.value("add", distance, b.i64(self.step - (1 if self.step > 0 else -1)))
        return b.value("floordiv", rounded, b.i64(self.step))

    def chunk(self, base: Value, stop: Value, args: list[Value], label: int) -> None:
        """The body of the chunk loop."""
        b, lanes = self.b, self.lanes
        resume, *accumulators = args
        numbers = b.value("lanes.index", count=self.count)
        ahead = numbers if self.step == 1 else b.value("mul", numbers, lanes.splat(b.i64(self.step)))
        left = lanes.splat(b.value("sub", stop, base))
        mask = b.value("cmp", ahead, left, pred="lt" if self.step > 0 else "gt")
        body = self.code.regions[0]
        index, *carried = body.args
        lanes.values[index] = b.value("add", lanes.splat(base), ahead)
        lanes.lines[index] = Line(base, self.step)
        lanes.values.update(zip(carried, accumulators))
        emitter = Emitter(lanes, lambda: b.op("break", base, *accumulators, label=label), label + 1)
        own = self.code.attrs["label"]
        emitter.args_of[own] = carried
        target = Target(carried=[b.value("var", value) for value in accumulators])
        emitter.targets[own] = target
        emitter.ops(body.ops, mask)
        self.label = emitter.next_label
        if not emitter.ended:
            b.op("continue", resume, *map(emitter.read, target.carried), label=label)


def neutral(kind: str, type: Scalar) -> bool | int | float | None:
    """The value that changes nothing; None where there is none: then lanes begin with the initial value."""
    if kind == "add":
        return -0.0 if type.is_float else 0
    if kind == "mul":
        return 1
    if kind in ("min", "max"):
        return None
    if type.is_bool:
        return kind == "and"
    if kind == "and":
        return -1 if type.is_signed else (1 << type.bits) - 1
    return 0
