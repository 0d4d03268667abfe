"""Questions about structured control flow that several passes ask.

Takes regions as they are; changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Value

#: Ops that a `break` or `continue` may name.
LABELLED = frozenset({"block", "loop", "for"})
LOOPS = frozenset({"loop", "for"})
#: Ops that run a function of the module.
CALLS = frozenset({"call", "fork"})
#: A `for` of so few turns is unrolled, or as good as that.
SHORT = 16


_JUMPS = ("break", "continue", "return")


@record
class Exits:
    """The jumps that name one op."""

    breaks: list[Op] = field(default_factory=list)
    continues: list[Op] = field(default_factory=list)


def exits_of(function: Function) -> dict[Op, Exits]:
    """The `break`s and `continue`s of every labelled op."""
    found: dict[Op, Exits] = {}
    _collect_exits(function.body, {}, found)
    return found


def _collect_exits(region: Region, targets: dict[object, Exits], found: dict[Op, Exits]) -> None:
    for op in region.ops:
        if op.name == "break":
            targets[op.attrs["label"]].breaks.append(op)
        elif op.name == "continue":
            targets[op.attrs["label"]].continues.append(op)
        elif op.regions:
            inner = targets
            if op.name in LABELLED:
                found[op] = Exits()
                inner = {**targets, op.attrs["label"]: found[op]}
            for nested in op.regions:
                _collect_exits(nested, inner, found)


def falls_through(op: Op, breaks: Iterable[Op] = ()) -> bool:
    """Whether control can come out behind an op of control flow. `breaks`: those that name it."""
    if op.name == "for":
        return True
    if any(True for _ in breaks):
        return True
    return any((end := region.terminator) is not None and end.name == "yield" for region in op.regions)


def breaks_of(op: Op) -> list[Op]:
    """The `break`s inside a labelled op that name it."""
    label = op.attrs["label"]
    return [
        inner
        for region in op.regions
        for inner in region.walk()
        if inner.name == "break" and inner.attrs["label"] == label
    ]


def definitions(function: Function) -> dict[Value, Op]:
    """The op that defines each value; parameters and arguments of regions are in none."""
    return {result: op for op in function.body.walk() for result in op.results}


def use_counts(function: Function) -> dict[Value, int]:
    """How many operands each value is."""
    return use_counts_in(function.body)


def use_counts_in(region: Region) -> dict[Value, int]:
    """How many operands in a region each value is."""
    counts: dict[Value, int] = {}
    for op in region.walk():
        for operand in op.operands:
            counts[operand] = counts.get(operand, 0) + 1
    return counts


def integer_constants(function: Function) -> dict[Value, int]:
    """The values that are integer constants."""
    return {
        op.result: value
        for op in function.body.walk()
        if op.name == "const" and isinstance(value := op.attrs["value"], int) and not isinstance(value, bool)
    }


def constant_turns(op: Op, constants: Mapping[Value, int]) -> int | None:
    """How many turns a `for` takes, if its bounds are constants; None for any other loop."""
    if op.name != "for":
        return None
    start, stop, step = (constants.get(value) for value in op.operands[:3])
    if start is None or stop is None or not step:
        return None
    return max(0, (stop - start + step - (1 if step > 0 else -1)) // step)


def writes_memory(op: Op) -> bool:
    """Whether an op, or one inside it, may write to arrays."""
    if op.defn.writes:
        return True
    return any(writes_memory(inner) for region in op.regions for inner in region.ops)


def is_pure(op: Op) -> bool:
    """Whether the results depend on the operands alone, and nothing else happens: it may be removed, shared or moved."""
    return not op.regions and not op.defn.terminator and not op.defn.effects


def size_of(region: Region) -> int:
    """The number of ops inside."""
    return sum(1 for _ in region.walk())


def mark_cold(op: Op) -> None:
    """Mark a loop, and those inside it, as rarely run."""
    if op.name in LOOPS:
        op.attrs["cold"] = True
    for region in op.regions:
        for inner in region.ops:
            mark_cold(inner)


def every_turn(loop: Op, fixed: Callable[[Value], bool]) -> set[Op]:
    """Ops of a nest of counted loops that run in every turn: of the loop, and of loops in it whose bounds are `fixed`. Those
    behind a place where a turn may end early are left out."""
    found: set[Op] = set()
    _every_turn(loop, fixed, found)
    return found


def _every_turn(loop: Op, fixed: Callable[[Value], bool], found: set[Op]) -> bool:
    """Gather them; whether the end of the turn is always reached."""
    for op in loop.regions[0].ops:
        found.add(op)
        if op.name == "for" and all(map(fixed, op.operands[:3])):
            if not _every_turn(op, fixed, found):
                return False
        elif any(inner.name in _JUMPS for region in op.regions for inner in region.walk()):
            return False
    return True


def new_label(function: Function) -> int:
    """A label that the function does not use yet."""
    labels = [op.attrs["label"] for op in function.body.walk() if op.name in LABELLED]
    return max((label for label in labels if isinstance(label, int)), default=-1) + 1


def free_values(region: Region) -> list[Value]:
    """What a region uses of the values around it, in order of use."""
    inside = set(region.args)
    for op in region.walk():
        inside.update(op.results)
        for nested in op.regions:
            inside.update(nested.args)
    return list(dict.fromkeys(value for op in region.walk() for value in op.operands if value not in inside))
