"""What the finished code still pays for, and which loops could be vectorised: the facts behind `explain()`.

Takes a module after all passes; changes nothing. Cold loops, which run only where a guard failed, are not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import MappingProxyType

from quadrants._frozen import frozen
from quadrants.diagnostics import Decision, DecisionKind, SourceLocation
from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.passes.context import location_of
from quadrants.passes.modes import STRICT, mode_of, modes_of
from quadrants.types import LanesType
from quadrants.types.names import type_text

PASS = "survey"


@frozen
class Loop:
    """An innermost counted loop of the user's.

    Args:
        place: as lowering names it: "function:line:column".
        location: where it is.
        obstacle: what stands in the way of SIMD as far as the IR shows (reason code, sentence, where); None if nothing does.
    """

    place: str
    location: SourceLocation
    obstacle: tuple[str, str, SourceLocation] | None


def hot_ops(region: Region) -> Iterator[Op]:
    """The ops of a region, nested ones included, without cold loops."""
    for op in region.ops:
        if op.attrs.get("cold"):
            continue
        yield op
        for inner in op.regions:
            yield from hot_ops(inner)


#: Elementary functions that lowering has in vectors: name and width in bits.
Vectors = Collection[tuple[str, int]]


def survey(module: Module, vectors: Vectors) -> tuple[list[Decision], list[Loop]]:
    """The checks and allocations that remain, and the innermost loops."""
    decisions: list[Decision] = []
    loops: list[Loop] = []
    for function in module.functions.values():
        if function.scope.internal:
            continue
        decisions += _remaining(function)
        loops += [loop_of(function, op, vectors) for op in hot_ops(function.body) if is_innermost(op)]
    return decisions, loops


def is_innermost(op: Op) -> bool:
    """Whether a loop is left to LLVM: it has none inside, and does not run in lanes already."""
    return op.name == "for" and not any(
        inner.name in ("for", "loop") or any(isinstance(value.type, LanesType) for value in inner.operands)
        for inner in op.regions[0].walk()
    )


def _remaining(function: Function) -> list[Decision]:
    """One decision a check or allocation and place; those outside of loops cost nothing worth telling, but allocations
    do."""
    found: dict[tuple[str, SourceLocation], Decision] = {}
    inside = {
        id(op) for loop in hot_ops(function.body) if loop.name in ("for", "loop") for op in hot_ops(loop.regions[0])
    }
    for op in hot_ops(function.body):
        told = _cost(op)
        if told is None or (told[0] != "allocation" and id(op) not in inside):
            continue
        location = location_of(function, op)
        code, text = told
        found.setdefault((code, location), Decision(PASS, DecisionKind.REMAINS, location, code, text))
    return list(found.values())


def _cost(op: Op) -> tuple[str, str] | None:
    if op.name in ("load", "store", "index") and op.attr("checked"):
        return "bounds-check", "an index is checked in every turn of the loop: its range is not known before"
    if op.name == "check":
        return "check", f"{str(op.attrs['exc']).rpartition(':')[2]} is checked in every turn of the loop"
    if op.name == "alloc" and not op.attr("stack"):
        return "allocation", f"allocates an array, {type_text(op.result.type)}"
    return None


def loop_of(function: Function, op: Op, vectors: Vectors) -> Loop:
    """The loop of an op, and what stands in its way."""
    assert op.loc is not None or function.scope is not None
    place = f"{function.name}:{op.loc.line}:{op.loc.col}" if op.loc is not None else ""
    return Loop(place, location_of(function, op), _obstacle(function, op, vectors))


def _obstacle(function: Function, loop: Op, vectors: Vectors) -> tuple[str, str, SourceLocation] | None:
    """The first thing in a loop that SIMD cannot have."""
    body = loop.regions[0]
    for op in body.walk():
        told = _op_obstacle(op, vectors, strict=STRICT in modes_of([op], mode_of(function)))
        if told is not None:
            return *told, location_of(function, op)
    for arg, step in zip(body.args[1:], _next_values(loop)):
        if step is not arg and not _is_reduction(body, arg):
            name = arg.hint or "a value"
            told = ("carried-dependence", f"every turn needs '{name}' from the turn before")
            if _is_reduction(body, arg, ordered=False) and STRICT in modes_of(_users(body, arg), mode_of(function)):
                told = ("strict-order", f"fp='strict' keeps the order in which '{name}' is computed")
            return (*told, location_of(function, loop))
    return None


#: Ops that raise and have no name in the program.
_MAY_RAISE = MappingProxyType(
    {"raise": "it may raise an exception in any turn", "pycall": "it calls Python, which may raise"}
)


def _op_obstacle(op: Op, vectors: Vectors, strict: bool) -> tuple[str, str] | None:
    if op.can_raise and op.name not in ("poll", "fork"):
        if op.name in ("load", "store", "index"):
            return "check-inside", "an index has to be checked in every turn"
        if op.name == "check":
            return "check-inside", f"it may raise {str(op.attrs['exc']).rpartition(':')[2]} in any turn"
        return "may-raise", _MAY_RAISE.get(op.name) or f"{_callee(op)} may raise"
    if op.name == "call":
        return "call", f"{_callee(op)} is called for every element"
    if op.name in ("break", "return", "raise"):
        return "early-exit", f"a {op.name} can leave the loop before its end"
    if (op.name.startswith("math.") or op.name == "rem") and not _is_vector_math(op, () if strict else vectors):
        why = ", as fp='strict' asks for" if strict and _is_vector_math(op, vectors) else ""
        return "scalar-function", f"{_function(op)}() is computed one element at a time by the C library{why}"
    return None


_VECTOR_MATH = frozenset(
    {"math.sqrt", "math.floor", "math.ceil", "math.trunc", "math.rint", "math.copysign", "math.fma"}
)


def _is_vector_math(op: Op, vectors: Vectors) -> bool:
    """Whether there are instructions for it, or functions of our own, which strict code does not use."""
    if op.name in _VECTOR_MATH:
        return True
    bits = max(32, getattr(op.operands[0].type, "bits", 0))  # halves are computed as float32
    return (_function(op), bits) in vectors


def _function(op: Op) -> str:
    """The elementary function that an op calls."""
    return "fmod" if op.name == "rem" else op.name.removeprefix("math.")


def _callee(op: Op) -> str:
    name = str(op.attrs.get("callee", op.name)).rpartition(".")[0] or op.name
    return f"{name}()"


def _next_values(loop: Op) -> list[Value]:
    end = loop.regions[0].terminator
    return end.operands if end is not None and end.name == "continue" else []


def _users(body: Region, arg: Value) -> list[Op]:
    return [op for op in body.walk() if arg in op.operands and not op.defn.terminator]


def _is_reduction(body: Region, arg: Value, ordered: bool = True) -> bool:
    """Whether the carried value is only folded: integers by one kind of op, floats where reordering is allowed (or, not `ordered`,
    could be)."""
    users = _users(body, arg)
    kinds = {op.name for op in users}
    if len(users) != 1 or not kinds <= {"add", "sub", "mul", "min", "max", "and", "or", "xor"}:
        return False
    return not ordered or bool(users[0].attrs.get("fast")) or not getattr(arg.type, "is_float", False)
