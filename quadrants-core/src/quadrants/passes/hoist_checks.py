"""Moves checks that do not depend on a loop in front of it.

Takes QIR whose checks are `index` and `check` ops; gives the same with some of them, and the pure ops that they need,
before the loop. Legal for a `for` that certainly runs at least once, for what its first turn checks before it does
anything that can be seen: so the same error is raised from the same state. Loops are visited from the inside out, so
that a check leaves a whole nest.
"""

from __future__ import annotations

from quadrants.ir import Effect, Function, Op, Region, Value
from quadrants.passes.context import PassContext
from quadrants.passes.structure import constant_turns, integer_constants, is_pure

_CHECKS = frozenset({"index", "check"})


def run(function: Function, context: PassContext) -> None:
    """Hoist the checks of one function."""
    if _region(function.body, integer_constants(function)):
        context.changed.add(function.name)


def _region(region: Region, constants: dict[Value, int]) -> bool:
    """Hoist the checks inside a region. Gives whether there were any."""
    out: list[Op] = []
    changed = False
    for op in region.ops:
        for nested in op.regions:
            changed |= _region(nested, constants)
        if op.name == "for" and (constant_turns(op, constants) or 0) > 0:
            moved = hoistable(op)
            changed |= bool(moved)
            out += moved
        out.append(op)
    region.ops[:] = out
    return changed


def hoistable(loop: Op) -> list[Op]:
    """Take the checks out of a loop's body that can go in front of it."""
    body = loop.regions[0]
    inside = set(body.args)
    moved: list[Op] = []
    kept: list[Op] = []
    checks = False
    watched = False
    for op in body.ops:
        free = not watched and not any(operand in inside for operand in op.operands)
        if free and (is_pure(op) or op.name in _CHECKS):
            moved.append(op)
            checks |= op.name in _CHECKS
            continue
        kept.append(op)
        inside.update(op.results)
        watched |= _is_seen(op)
    if not checks:
        return []
    body.ops[:] = kept
    return moved


def _is_seen(op: Op) -> bool:
    """Whether running the op may have been noticed before a later check fails."""
    if op.can_raise or op.defn.terminator or op.defn.effects & ~(Effect.READS | Effect.RAISES | Effect.CONTROL):
        return True
    return op.name == "loop" or any(
        _is_seen(inner) for region in op.regions for inner in region.ops if inner.name != "yield"
    )
