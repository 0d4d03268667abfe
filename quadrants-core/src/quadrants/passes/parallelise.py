"""Runs the turns of loops on several threads, in functions that ask for it: of loops that the program declares parallel, and of
those that are proven independent.

Takes QIR in which checks are proven away or guarded; gives loops whose bodies are functions of their own, called by `fork` (see
`outline`), and decisions about every loop. Legal for a `for` that nothing breaks out of, whose carried values are folds (see
`folds`), and whose turns do not depend on each other through memory (see `dependence`); for a loop that is declared parallel
(`qd.prange`), dependences that cannot be proven are the program's own business, and those that are proven are errors. Conditions
that only hold for some arguments are tested in front of the loop; where they fail it runs as it was. So does a loop with little
to do: the estimate (see `cost`) and the number of turns decide when the program runs. Inner loops are looked at where the outer
one cannot be parallel; functions of the library that a loop calls are left alone, being short mostly. What runs in parallel
raises the exception of the first turn that raises, in the order of the loop; later turns may have run by then, so that a loop
that may raise is left alone inside `try`, and in strict functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_op, replace_uses
from quadrants.passes import dependence
from quadrants.passes.arrayfolds import COPIES, ArrayFold, pays
from quadrants.passes.arrayfolds import find as find_arrays
from quadrants.passes.conditions import conditions
from quadrants.passes.context import PassContext
from quadrants.passes.cost import Cost, Coster
from quadrants.passes.dependence import Verdict
from quadrants.passes.folds import SAME, WORDS, Carried, Flow, Fold, folds
from quadrants.passes.guards import Guard
from quadrants.passes.outline import CHUNKS, Outliner, Shape, escapes
from quadrants.passes.polynomials import Nest
from quadrants.passes.refusals import Refusal, refuse_declared
from quadrants.passes.regions import called_in_loops, silent_functions, writes_of
from quadrants.passes.structure import (
    SHORT,
    constant_turns,
    integer_constants,
    mark_cold,
    size_of,
)
from quadrants.types import ArrayType

PASS = "parallelise"
#: The smallest chunk is this part of the work that a loop must have.
_CHUNKS_OF_LEAST = 4
#: A loop of more ops is not looked at.
_MOST_OPS = 3000
_LEAVING = frozenset({"break", "continue"})


def run(function: Function, context: PassContext) -> None:
    """Parallelise the loops of one function."""
    if function.attrs.get("level") == "device" or function.name in context.outlined:
        return
    if not context.options.parallel:
        for op in function.body.walk():
            if op.name == "for" and op.attrs.get("parallel") and not op.attrs.get("cold"):
                text = "it runs in order: the function is not compiled with parallel=True"
                context.note(PASS, DecisionKind.REFUSED, function, op, "not-asked-for", text)
        return
    if context.silent is None or context.looped is None:
        context.silent, context.looped = silent_functions(context.module), called_in_loops(context.module)
    looped = function.name in context.looped
    if function.name in context.silent or (looped and function.scope.internal):
        return
    paralleliser = _Paralleliser(function, context)
    paralleliser.region(function.body, int(looped), False)
    replace_uses(function.body, paralleliser.replaced)


@frozen(eq=False)
class _Plan:
    """A loop that can be parallel: its folds, and what must hold."""

    folds: list[Fold]
    arrays: list[ArrayFold]
    verdict: dependence.Verdict
    step: int


@record
class _Paralleliser:
    function: Function
    context: PassContext
    flow: Flow = field(init=False)
    constants: dict[Value, int] = field(init=False)
    replaced: dict[Value, Value] = field(default_factory=dict)  # results of loops, by what stands for them now

    def __post_init__(self) -> None:
        self.flow = Flow.of(self.function)
        self.constants = integer_constants(self.function)

    @property
    def makers(self) -> Mapping[Value, Op]:
        return self.flow.makers

    @property
    def small(self) -> int:
        """Picoseconds of work below which a loop stays in its thread."""
        return 1000 * self.context.options.parallel_work

    def region(self, region: Region, depth: int, guarded: bool) -> None:
        """The loops of a region. `depth`: how many loops are around it; `guarded`: whether a handler is."""
        out: list[Op] = []
        for op in region.ops:
            if op.name == "for" and not op.attrs.get("cold"):
                found = self.loop(op, depth, guarded)
                if found is not None:
                    out += found
                    continue
            inner = depth + (op.name in ("for", "loop"))
            for position, nested in enumerate(op.regions):
                if not op.attrs.get("cold"):
                    self.region(nested, inner, guarded or (op.name == "try" and position == 0))
            out.append(op)
        region.ops[:] = out

    def loop(self, op: Op, depth: int, guarded: bool) -> list[Op] | None:
        """What stands for a loop that becomes parallel; None for one that stays."""
        declared = bool(op.attrs.get("parallel"))
        turns = constant_turns(op, self.constants)
        if not declared and turns is not None and turns <= SHORT:
            return None
        found = self.plan(op, declared, guarded)
        if isinstance(found, Refusal):
            if declared:
                refuse_declared(self.function, op, found)
            place = found.op if found.op is not None and found.op.loc is not None else op
            self.context.note(PASS, DecisionKind.REFUSED, self.function, place, found.code, found.text)
            return None
        return _Emitter(self, op, found, depth, declared).emit()

    def plan(self, op: Op, declared: bool, guarded: bool) -> _Plan | Refusal:
        """Whether the turns of a loop may run in any order."""
        step = self.constants.get(op.operands[2])
        if not step:
            return Refusal("step", "its step is not known when it is compiled", op)
        if size_of(op.regions[0]) > _MOST_OPS:
            return Refusal("too-large", "it is too large to be looked at", op)
        leaving = _leaves(op)
        if leaving is not None:
            return Refusal("early-exit", f"a {leaving.name} can leave it before its end", leaving)
        strict = self.function.attrs.get("fp") == "strict"
        raising = next((inner for inner in op.regions[0].walk() if inner.can_raise), None)
        if raising is not None and not declared and (guarded or strict):
            where = "inside try" if guarded else "in a strict function"
            return Refusal(
                "may-raise", f"it may raise {where}, where nothing behind the exception may have run", raising
            )
        carried = folds(op, self.flow, strict=strict)
        if isinstance(carried, Carried):
            return Refusal.of_carried(op, carried, strict)
        if any(fold.kind != SAME and isinstance(fold.arg.type, ArrayType) for fold in carried):
            return Refusal("carried-array", "an array is handed from turn to turn", op)
        if escapes(op, self.makers) is not None:
            return Refusal("shared-variable", "it uses a variable of a handler around it", op)
        verdict = dependence.analyse(op, self.makers, writes_of(self.context.module))
        arrays = find_arrays(op, verdict, self.flow, strict=strict) if verdict.conflicts else []
        folded = {fold.array for fold in arrays}
        verdict.conflicts = [conflict for conflict in verdict.conflicts if conflict.first.root not in folded]
        refusal = Refusal.of_memory(op, verdict, declared)
        return refusal if refusal is not None else _Plan(carried, arrays, verdict, step)

    def note(self, op: Op, plan: _Plan, cost: Cost, conditions: int) -> None:
        """Tell what was done."""
        told = ["its turns run on several threads"]
        folded = [f"{WORDS[fold.kind]} {fold.arg.hint or 'of a value'}" for fold in plan.folds if fold.kind != SAME]
        folded += [f"{WORDS[fold.kind]} {fold.array.hint or 'of an array'}[...]" for fold in plan.arrays]
        if folded:
            told.append(f"{', '.join(folded)} computed in pieces")
        if conditions:
            told.append("if its arrays do not overlap and its indices are small, which is tested in front of it")
        if cost.known and not cost.parts:
            turns = max(1, self.small // _CHUNKS_OF_LEAST // max(cost.known, 1))
            told.append(f"at least {turns} turn{'s' if turns > 1 else ''} at a time")
        self.context.note(PASS, DecisionKind.APPLIED, self.function, op, "parallel", "; ".join(told))


def _leaves(loop: Op) -> Op | None:
    """A jump out of the loop."""
    inside = {op.attrs["label"] for op in loop.regions[0].walk() if op.regions and "label" in op.attrs}
    for op in loop.regions[0].walk():
        if op.name == "return" or (op.name == "break" and op.attrs["label"] == loop.attrs["label"]):
            return op
        if op.name in _LEAVING and op.attrs["label"] not in inside and op.attrs["label"] != loop.attrs["label"]:
            return op
    return None


@record
class _Emitter:
    """Replaces one loop."""

    owner: _Paralleliser
    loop: Op
    plan: _Plan
    depth: int
    declared: bool
    builder: Builder = field(default_factory=lambda: Builder(Region()))

    def emit(self) -> list[Op] | None:
        """The ops that stand for the loop; None if it is known to have too little to do."""
        owner, loop, b = self.owner, self.loop, self.builder
        b.loc = loop.loc
        nest = Nest(loop, dict(owner.makers), lambda start, stop, step: stop)
        coster = Coster(nest, owner.context.module.functions, owner.constants, b)
        cost = coster.turn()
        known = constant_turns(loop, owner.constants)
        if not self.declared and known is not None and not cost.parts and known * cost.known < owner.small:
            return None
        shape, small = self.shape(coster, cost)
        condition, count = self.condition(nest, known, shape.turns)
        owner.note(loop, self.plan, cost, count)
        keeps = condition is not None or self.depth > 0
        serial = clone_op(loop, {}) if keeps else None
        for inner in loop.regions[0].walk():
            inner.attrs.pop("parallel", None)
        fork_region = Region()
        with b.into(fork_region):
            plan = self.plan
            outliner = Outliner(owner.function, loop, plan.folds, owner.makers, plan.step, self.name(), plan.arrays)
            results, chunk = outliner.region(b, shape)
        owner.context.outlined.add(chunk.name)
        owner.context.module.functions[chunk.name] = chunk
        if serial is None:
            owner.replaced.update(zip(loop.results, results))
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
        functions = self.owner.context.module.functions
        number = 1
        while f"{self.owner.function.name}.loop{number}" in functions:
            number += 1
        return f"{self.owner.function.name}.loop{number}"

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
        first = self.owner.constants.get(start)
        if known is None and not (first is not None and 0 <= first < 1 << 62 and self.plan.step > 0):
            for side in (start, stop):  # so that the number of turns can be computed
                if side not in self.owner.constants:
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
        first = self.owner.constants.get(start)
        forward = (stop, start) if step > 0 else (start, stop)
        length = stop if first == 0 and step == 1 else b.value("sub", *forward)
        if abs(step) > 1:
            length = b.value("floordiv", b.value("add", length, b.i64(abs(step) - 1)), b.i64(abs(step)))
        turns = b.value("max", length, b.i64(0))
        each = b.value("max", coster.total(cost), b.i64(1))
        small_work = self.owner.small
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
