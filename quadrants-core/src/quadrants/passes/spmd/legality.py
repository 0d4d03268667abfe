"""Whether the turns of a loop may run side by side.

Takes a counted loop without calls, and what is known of it; gives a `Plan`, or the `Refusal` that names what stands in the way.
Turns are independent if no two of them that run side by side depend on each other through memory (`dependence`) or through what
they carry, folds apart (`folds`). What may raise makes the turns run again one by one: then either nothing is stored before
the last such op, or nothing is read that is stored, and the state need not be exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Scope, Value
from quadrants.passes.dependence import Conflict, Kind, Verdict, analyse
from quadrants.passes.folds import LAST, SAME, SKIPPED, Carried, Flow, Fold, folds
from quadrants.passes.polynomials import Nest
from quadrants.passes.refusals import Refusal
from quadrants.passes.spmd import private
from quadrants.passes.spmd.uniformity import Facts
from quadrants.passes.structure import LABELLED, is_pure
from quadrants.passes.subscripts import Subscripts
from quadrants.types import ArrayType, Scalar

#: More conditions than this are not tested in front of a loop.
_MOST_CONDITIONS = 32
_CONTROL = frozenset({"if", "block", "loop", "for", "yield", "break", "continue", "unreachable"})
_RAISING = frozenset({"check", "index", "raise"})
_MEMORY = frozenset({"load", "store", "alloc"})
_WORDS = {
    "call": "a call that cannot be inlined",
    "pycall": "a call into Python",
    "try": "an exception is handled in it",
    "reraise": "an exception is handled in it",
    "alloc": "an array is allocated in every turn",
    "var": "a variable that inner functions or handlers share",
    "retain": "arrays are passed around in it",
}


@record
class Plan:
    """How the turns of a loop run side by side.

    Args:
        facts: see `uniformity`.
        carried: what each carried value is.
        verdict: what must be tested in front of the loop.
        bails: whether the turns may have to run again one by one.
        buffers: the allocations that are made once, in front of the loop.
    """

    facts: Facts
    carried: list[Fold]
    verdict: Verdict
    bails: bool = False
    buffers: list[Op] = field(default_factory=list)


@record
class Question:
    """A loop, and what it is asked by.

    Args:
        loop: a counted loop.
        facts: what is known of it.
        lanes: how many turns would run side by side.
        constants: values that are integer constants.
        makers: the definitions of values, those in the loop included.
        scope: the Python function of the loop.
        mode: the floating-point mode of the function.
        exact: whether nothing may be stored by turns behind one that raises.
        extremes: the places of carried values that `extremes` takes care of.
    """

    loop: Op
    facts: Facts
    lanes: int
    constants: Mapping[Value, int]
    makers: Mapping[Value, Op]
    scope: Scope
    mode: str
    exact: bool
    extremes: frozenset[int] = frozenset()


def check(asked: Question) -> Plan | Refusal:
    """The plan for a loop, or what stands in the way."""
    loop, facts = asked.loop, asked.facts
    labels = {op.attrs["label"] for op in loop.regions[0].walk() if op.name in LABELLED}
    nest = Nest(loop, dict(asked.makers), lambda start, stop, step: stop)
    for op in loop.regions[0].walk():
        if op.name == "return" or (op.name in ("break", "continue") and op.attrs["label"] not in labels):
            if op.name != "continue" or op.attrs["label"] != loop.attrs["label"]:
                return Refusal("early-exit", f"a {op.name} can leave the loop before its end", op)
        refusal = _op(op, facts, asked.constants, nest)
        if refusal is not None:
            return refusal
    alone = Function("loop", [], (), Region([], [loop]), asked.scope)
    carried = folds(loop, Flow.of(alone), mode=asked.mode, skip=asked.extremes)
    if isinstance(carried, Carried):
        return Refusal.of_carried(loop, carried, asked.mode)
    if any(not isinstance(fold.arg.type, Scalar) or _is_complex_fold(fold) for fold in carried):
        return Refusal("carried-dependence", "turns hand on what cannot be computed in lanes", loop)
    verdict = Verdict() if loop.attr("independent") else _verdict(asked)
    if isinstance(verdict, Refusal):
        return verdict
    if len(verdict.disjoint) + len(verdict.distinct) + len(verdict.limits) > _MOST_CONDITIONS:
        return Refusal("many-arrays", "too many arrays would have to be compared for overlaps", loop)
    bails = any(map(_may_bail, loop.regions[0].walk()))
    if bails and not _stored_last(loop, facts.private) and (asked.exact or _reads_written(loop, asked.makers)):
        return Refusal("raises-after-store", "it may raise after it has stored what it also reads", _first_bail(loop))
    return Plan(facts, carried, verdict, bails, private.buffers(loop.regions[0], asked.constants))


def _verdict(asked: Question) -> Verdict | Refusal:
    """What must be tested so that turns side by side do not depend on each other through memory."""
    loop = asked.loop
    met = next((op for op in loop.regions[0].walk() if op.name == "store" and _may_coincide(op, asked)), None)
    if met is not None:  # the exact test would find the same, but takes its time
        return Refusal("carried-dependence", "two turns may store to the same element", met)
    verdict = analyse(loop, asked.makers)
    order = _straight(loop)
    verdict.conflicts = [conflict for conflict in verdict.conflicts if _meets(conflict, asked.lanes, order)]
    return Refusal.of_memory(loop, verdict, declared=False) or verdict


def _may_coincide(store: Op, asked: Question) -> bool:
    """Whether no index of a store is made from the index of the loop by sums and products."""
    _, array, *indices = store.operands
    return array not in asked.facts.private and not any(_follows(index, asked) for index in indices)


def _follows(value: Value, asked: Question) -> bool:
    if value is asked.loop.regions[0].args[0]:
        return True
    op = asked.makers.get(value) if value in asked.facts.varying else None
    if op is None:  # the index of an inner loop may begin at that of the outer one
        return value in asked.facts.varying
    return op.name in ("add", "sub", "mul", "neg", "index") and any(_follows(operand, asked) for operand in op.operands)


def _is_complex_fold(fold: Fold) -> bool:
    return fold.kind not in (SAME, LAST, SKIPPED) and isinstance(fold.arg.type, Scalar) and fold.arg.type.is_complex


def _op(op: Op, facts: Facts, constants: Mapping[Value, int], nest: Nest) -> Refusal | None:
    """What is wrong with one op of the loop."""
    types = [value.type for value in (*op.operands, *op.results)]
    if any(isinstance(type, Scalar) and type.is_float and type.bits == 16 for type in types):
        return Refusal("half-floats", "half-precision floats are computed one by one", op)
    if op.name == "alloc":
        return private.refusal(op, constants, nest)
    if op.name == "view" and not facts.uniform(op.operands):
        return Refusal("view", "a part of an array is taken in every turn", op)
    if op.name in ("view", "dim", "stride", "same", "overlap"):
        if any(value in facts.private for value in op.operands) and op.name in ("same", "overlap"):
            return Refusal("view", "a local array is compared with another", op)
    elif not all(isinstance(type, (Scalar, ArrayType)) for type in types):
        return Refusal("values", "it has values that are neither numbers nor arrays", op)
    if op.name == "for" and not _counts(op, facts, constants):
        return Refusal("range-step", "an inner range differs from turn to turn, and its step is not 1 or -1", op)
    if op.name in ("load", "store") and (op.attr("checked") or op.attr("wrap")):
        return Refusal("check-inside", "an index has to be checked in every turn", op)
    if op.name in _CONTROL or op.name in _RAISING or op.name in _MEMORY or is_pure(op):
        return _array_results(op, facts)
    what = _WORDS.get(op.name, f"there is {op.name} in it")
    return Refusal("call" if op.name in ("call", "pycall") else "op", what, op)


def _array_results(op: Op, facts: Facts) -> Refusal | None:
    if op.name != "view" and any(isinstance(result.type, ArrayType) for result in op.results):
        return Refusal("view", "which array it works on is decided in every turn", op)
    return None


def _counts(op: Op, facts: Facts, constants: Mapping[Value, int]) -> bool:
    return facts.uniform(op.operands[:3]) or constants.get(op.operands[2]) in (1, -1)


def _may_bail(op: Op) -> bool:
    return op.name in ("check", "raise") or (op.name == "index" and bool(op.attr("checked")))


def _first_bail(loop: Op) -> Op:
    return next(op for op in loop.regions[0].walk() if _may_bail(op))


def _in_order(region: Region) -> Iterator[Op]:
    """The ops as they are emitted: of a branch the second side comes first."""
    for op in region.ops:
        yield op
        for nested in reversed(op.regions):
            yield from _in_order(nested)


def _stored_last(loop: Op, private: Collection[Value]) -> bool:
    """Whether no turn stores anything before the last op that may raise, but to arrays of its own."""

    def stores(op: Op) -> bool:
        return op.name == "store" and op.operands[1] not in private

    stored = False
    for op in _in_order(loop.regions[0]):
        if op.name in ("for", "loop"):
            inside = list(op.regions[0].walk())
            if any(map(stores, inside)) and any(map(_may_bail, inside)):
                return False
        stored |= stores(op)
        if stored and _may_bail(op):
            return False
    return True


def _meets(conflict: Conflict, lanes: int, order: Mapping[Op, int]) -> bool:
    """Whether two turns that run side by side may depend on each other by two accesses: not if they are further apart, and not
    if the earlier turn reads, in straight code, before the later one stores."""
    if conflict.distance >= lanes:
        return False
    first, second = conflict.first, conflict.second
    straight = first.op in order and second.op in order
    return not (conflict.kind is Kind.ANTI and straight and order[first.op] < order[second.op])


def _straight(loop: Op) -> dict[Op, int]:
    """The loads and stores that no inner loop is around, numbered as they are emitted."""
    ops = [op for op in _in_order(loop.regions[0]) if op.name in ("load", "store", "for", "loop")]
    looped = {inner for op in ops if op.regions for inner in op.regions[0].walk()}
    return {op: number for number, op in enumerate(ops) if op not in looped}


def _reads_written(loop: Op, makers: Mapping[Value, Op]) -> bool:
    """Whether the loop reads an array that it also writes."""
    accesses = Subscripts(loop, makers).accesses
    return not {a.root for a in accesses if a.writes}.isdisjoint(a.root for a in accesses if not a.writes)
