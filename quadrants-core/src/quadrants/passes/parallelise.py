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
that may raise is left alone inside `try`, and where strict code is in it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.rewrite import replace_uses
from quadrants.passes import dependence
from quadrants.passes.arrayfolds import find as find_arrays
from quadrants.passes.context import PassContext
from quadrants.passes.folds import SAME, Carried, Flow, folds
from quadrants.passes.forking import PASS, Plan, Replacement
from quadrants.passes.modes import any_strict, mode_of
from quadrants.passes.outline import escapes
from quadrants.passes.refusals import Refusal, refuse_declared
from quadrants.passes.regions import called_in_loops, silent_functions, writes_of
from quadrants.passes.structure import (
    SHORT,
    constant_turns,
    integer_constants,
    size_of,
)
from quadrants.types import ArrayType

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


def planned(function: Function, context: PassContext) -> list[tuple[Op, Plan | Refusal]]:
    """The loops of a function that are declared parallel, none inside of another, and how each can be run in pieces."""
    paralleliser = _Paralleliser(function, context)
    found: list[tuple[Op, Plan | Refusal]] = []
    for op in function.body.walk():
        if op.name == "for" and op.attrs.get("parallel"):
            plan = paralleliser.plan(op, True, False, sys.maxsize)
            if isinstance(plan, Refusal):
                refuse_declared(function, op, plan)
            found.append((op, plan))
    return found


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
        return Replacement(
            self.function, self.context, self.flow, self.constants, self.replaced, found, depth, declared
        ).emit()

    def plan(self, op: Op, declared: bool, guarded: bool, most: int = _MOST_OPS) -> Plan | Refusal:
        """Whether the turns of a loop of at most so many ops may run in any order."""
        step = self.constants.get(op.operands[2])
        if not step:
            return Refusal("step", "its step is not known when it is compiled", op)
        if size_of(op.regions[0]) > most:
            return Refusal("too-large", "it is too large to be looked at", op)
        leaving = _leaves(op)
        if leaving is not None:
            return Refusal("early-exit", f"a {leaving.name} can leave it before its end", leaving)
        mode = mode_of(self.function)
        strict = any_strict(op.regions[0].walk(), mode)
        raising = next((inner for inner in op.regions[0].walk() if inner.can_raise), None)
        if raising is not None and not declared and (guarded or strict):
            where = "inside try" if guarded else "in strict code"
            return Refusal(
                "may-raise", f"it may raise {where}, where nothing behind the exception may have run", raising
            )
        carried = folds(op, self.flow, mode=mode, places=True)
        if isinstance(carried, Carried):
            return Refusal.of_carried(op, carried, mode)
        if any(fold.kind != SAME and isinstance(fold.arg.type, ArrayType) for fold in carried):
            return Refusal("carried-array", "an array is handed from turn to turn", op)
        if escapes(op, self.makers) is not None:
            return Refusal("shared-variable", "it uses a variable of a handler around it", op)
        verdict = dependence.analyse(op, self.makers, writes_of(self.context.module))
        arrays = find_arrays(op, verdict, self.flow, strict=strict) if verdict.conflicts else []
        folded = {fold.array for fold in arrays}
        verdict.conflicts = [conflict for conflict in verdict.conflicts if conflict.first.root not in folded]
        refusal = Refusal.of_memory(op, verdict, declared)
        return refusal if refusal is not None else Plan(op, carried, arrays, verdict, step)


def _leaves(loop: Op) -> Op | None:
    """A jump out of the loop."""
    inside = {op.attrs["label"] for op in loop.regions[0].walk() if op.regions and "label" in op.attrs}
    for op in loop.regions[0].walk():
        if op.name == "return" or (op.name == "break" and op.attrs["label"] == loop.attrs["label"]):
            return op
        if op.name in _LEAVING and op.attrs["label"] not in inside and op.attrs["label"] != loop.attrs["label"]:
            return op
    return None
