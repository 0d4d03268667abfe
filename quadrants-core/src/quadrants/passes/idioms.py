"""Recognises loops that compute what one operation does: `while x: x &= x - 1; count += 1` counts the bits of x.

Takes and gives QIR. Legal where the loop does nothing else: its carried values are x, which loses its lowest bit in every turn
until it is 0, and integers that a constant is added to in every turn. LLVM recognises such loops too, but only where it sees
them as they were written: those in lanes would hide it.
"""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.dwindling import guard_of, is_one_less
from quadrants.passes.structure import integer_constants
from quadrants.types import Scalar


@frozen(eq=False)
class _BitCount:
    """A loop that counts bits.

    Args:
        position: of x among the carried values.
        steps: by position, what is added to a carried value in every turn.
        leaves: the `break` behind the last turn.
    """

    position: int
    steps: dict[int, Value]
    leaves: Op


def run(function: Function, context: PassContext) -> None:
    """Replace the loops of one function."""
    if any(op.name == "loop" for op in function.body.walk()):
        constants = integer_constants(function)
        if _region(function.body, function.body, constants):
            context.changed.add(function.name)


def _region(region: Region, whole: Region, constants: dict[Value, int]) -> bool:
    changed = False
    for place, op in enumerate(region.ops):
        for nested in op.regions:
            changed |= _region(nested, whole, constants)
        found = _bit_count(op, constants) if op.name == "loop" else None
        if found is not None:
            _replace(region, place, found, whole)
            return True  # what came behind is gone, or is the same as before
    return changed


def _bit_count(loop: Op, constants: dict[Value, int]) -> _BitCount | None:
    region, end = loop.regions[0], loop.regions[0].terminator
    if end is None or end.name != "continue" or end.attrs["label"] != loop.attrs["label"] or len(region.ops) != 3:
        return None
    for position, value in enumerate(region.args):
        guard = guard_of(region, value, constants)
        test = region.ops[0]
        if guard is region.ops[1] and test.name == "cmp" and test.attrs["pred"] == "ne":
            steps = _steps(region, guard, end, position, constants)
            leaves = guard.regions[1].terminator
            if steps is not None and leaves is not None:
                return _BitCount(position, steps, leaves)
    return None


def _steps(region: Region, guard: Op, end: Op, position: int, constants: dict[Value, int]) -> dict[int, Value] | None:
    """What is added to the carried values, if that and the loss of a bit is all that a turn does."""
    inside = guard.regions[0]
    makers = {result: op for op in inside.ops for result in op.results}
    yielded = inside.ops[-1]
    if yielded.name != "yield":
        return None
    steps: dict[int, Value] = {}
    used: set[Op] = {yielded}
    for k, following in enumerate(end.operands):
        arg = region.args[k]
        made = makers.get(yielded.operands[guard.results.index(following)]) if following in guard.results else None
        if following is arg:
            continue
        if made is None or arg not in made.operands:
            return None
        used.add(made)
        other = made.operands[1 - made.operands.index(arg)]
        if k == position:
            less = makers.get(other)
            if made.name != "and" or less is None or not is_one_less(less, arg, constants):
                return None
            used.add(less)
        elif made.name == "add" and other in constants and isinstance(arg.type, Scalar) and arg.type.is_integer:
            steps[k] = other
        else:
            return None
    return steps if used == set(inside.ops) else None


def _replace(region: Region, place: int, found: _BitCount, whole: Region) -> None:
    """The count in the place of the loop, and the way out of it."""
    loop, rest = region.ops[place], region.ops[place + 1 :]
    del region.ops[place:]
    b = Builder(region)
    b.loc = loop.loc
    x = loop.operands[found.position]
    assert isinstance(x.type, Scalar)
    count = b.value("popcount", x)
    last = dict(zip(loop.regions[0].args, loop.operands))
    last[loop.regions[0].args[found.position]] = b.const(0, x.type)
    for k, step in found.steps.items():
        arg = loop.regions[0].args[k]
        turns = count if count.type == arg.type else b.value("cast", count, type=arg.type)
        last[arg] = b.value("add", loop.operands[k], b.value("mul", turns, step))
    results = [last.get(operand, operand) for operand in found.leaves.operands]
    if found.leaves.attrs["label"] == loop.attrs["label"]:
        region.ops += rest
        replace_uses(whole, dict(zip(loop.results, results)))
    else:
        b.op("break", *results, label=found.leaves.attrs["label"])
