"""Why a loop cannot be parallel, in words: decisions for `explain()`, errors for loops that the program declares parallel.

Takes what `folds` and `dependence` found; names the accesses, or the op, that stand in the way, with line and column.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants._frozen import frozen
from quadrants.diagnostics import Code, QuadrantsError
from quadrants.diagnostics.errors import class_of
from quadrants.ir import Function, Op, Value
from quadrants.passes.context import location_of
from quadrants.passes.dependence import Conflict, Verdict
from quadrants.passes.folds import Carried
from quadrants.passes.modes import STRICT, modes_of
from quadrants.passes.structure import free_values
from quadrants.types import CellsType, Scalar

_FATAL = frozenset({"early-exit", "carried-dependence"})


@frozen(eq=False)
class Refusal:
    """A reason, and the op that it is about."""

    code: str
    text: str
    op: Op | None
    variable: bool = False  # whether it is about a variable, not about memory

    @property
    def fatal(self) -> bool:
        """Whether a loop that is declared parallel is wrong; else it only runs in order."""
        return self.code in _FATAL

    @staticmethod
    def of_carried(loop: Op, carried: Carried, mode: str) -> Refusal:
        """A carried value that is no fold. `mode`: the floating-point mode of the function."""
        name = f"'{carried.arg.hint}'" if carried.arg.hint else "a value"
        inexact = isinstance(carried.arg.type, Scalar) and (carried.arg.type.is_float or carried.arg.type.is_complex)
        if (
            inexact
            and carried.reader is not None
            and STRICT in modes_of([carried.reader], mode)
            and carried.reader.name in ("add", "sub", "mul", "min", "max")
        ):
            text = f'fp="strict" keeps the order in which {name} is computed'
            return Refusal("strict-order", text, carried.reader)
        if carried.reader is None:
            return Refusal("last-value", f"not every turn sets {name}, whose last value is used behind the loop", loop)
        set_at = _next(loop, carried.index)
        at = f" at {place(carried.reader)}" if carried.reader.loc is not None else ""
        made = f", set at {place(set_at)}" if set_at is not None and set_at.loc is not None else ""
        text = f"every turn reads {name}{at} as the turn before left it{made}"
        return Refusal("carried-dependence", text, carried.reader, variable=True)

    @staticmethod
    def of_memory(loop: Op, verdict: Verdict, declared: bool) -> Refusal | None:
        """An op that may do anything, or two accesses that meet. What is declared parallel is believed unless it is disproved."""
        outer = set(free_values(loop.regions[0]))
        private = _private_lists(loop, outer)
        for op in verdict.opaque:
            if any(isinstance(value.type, CellsType) and not private(value) for value in _changed(op)):
                return Refusal("shared-list", "it changes a list that all turns use", op)
            if op.name == "pycall":
                target = str(op.attrs["target"]).rpartition(":")[2]
                return Refusal("call", f"it calls {target}() in the interpreter", op)
            if not declared:
                return Refusal("unknown-effect", f"{_what(op)} may reach memory that other turns use", op)
        conflicts = sorted(verdict.conflicts, key=lambda conflict: not conflict.proven)
        if not conflicts or (declared and not conflicts[0].proven):
            return None
        return Refusal("carried-dependence", _meeting(conflicts[0]), conflicts[0].second.op)


def _private_lists(loop: Op, outer: set[Value]) -> Callable[[Value], bool]:
    """Which lists only one turn uses: those from inside, but for what may come out of a list of lists that all use."""
    if not any(isinstance(value.type, CellsType) and value.type.nested for value in outer):
        return lambda value: value not in outer
    made = {op.result for op in loop.regions[0].walk() if op.name == "list.new"}
    return lambda value: value in made


def _changed(op: Op) -> list[Value]:
    """What an op may change, as far as lists go."""
    return op.operands if op.name in ("list.resize", "list.store", "call") else []


def refuse_declared(function: Function, loop: Op, refusal: Refusal) -> None:
    """Raise the error of a loop that is declared parallel and cannot be."""
    portable = bool(function.attrs.get("portable"))
    if not refusal.fatal or (portable and (refusal.variable or refusal.code == "early-exit")):
        return  # every outermost loop is declared there: such a one runs in order
    code = Code.PARALLEL_EXIT if refusal.code == "early-exit" else Code.CARRIED_DEPENDENCE
    error: type[QuadrantsError] = class_of(code)
    at = refusal.op if refusal.op is not None and refusal.op.loc is not None else loop
    hint = "Write range() instead of qd.prange(): the loop then runs in order."
    what = "the loop over qd.prange()"
    if portable:
        hint = "Write qd.loop_config(serialize=True) in front of the loop: it then runs in order."
        what = "the outermost loop"
    raise error(
        code,
        f"{what}{line_of(loop)} cannot be parallel: {refusal.text}",
        location_of(function, at),
        hint=hint,
    )


def _next(loop: Op, index: int) -> Op | None:
    """The op that makes the next value of a carried one."""
    end = loop.regions[0].terminator
    if end is None or end.name != "continue":
        return None
    return next((op for op in loop.regions[0].ops if end.operands[index] in op.results), None)


def place(op: Op | None) -> str:
    """Where an op is, in words."""
    if op is None or op.loc is None:
        return "an unknown place"
    return f"line {op.loc.line}, column {op.loc.col + 1}"


def _what(op: Op) -> str:
    if op.name == "call":
        return f"{str(op.attrs['callee']).rpartition('.')[0]}()"
    return {"store": "a store", "load": "a read"}.get(op.name, "what it does")


def _meeting(conflict: Conflict) -> str:
    first, second = conflict.first, conflict.second
    name = f"'{first.root.hint}'" if first.root.hint else "an array"
    later = (
        f"{conflict.distance} turn{'s' if conflict.distance != 1 else ''} later"
        if conflict.distance
        else "in other turns"
    )
    may = "is" if conflict.proven else "may be"
    if first is second:
        return f"one element of {name} {may} {_done(first.op)} in several turns"
    return f"{name} is {_done(first.op)}, and the same element {may} {_done(second.op)}, {later}"


def _done(op: Op) -> str:
    """What an op does to an array, and where."""
    verb = {"store": "stored", "load": "read"}.get(op.name) or f"given to {_what(op)}"
    return f"{verb} at {place(op)}"


def line_of(loop: Op) -> str:
    """Where a loop is. Which of its columns the bytecode has depends on the version of Python."""
    return f" in line {loop.loc.line}" if loop.loc is not None and loop.loc.line is not None else ""
