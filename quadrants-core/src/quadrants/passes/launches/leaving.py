"""Lets loops that run in one thread be left by their ends alone: the host then launches the whole loop, and not each of its turns.

Takes the entry after `inline`; changes loops that the host would walk because a `return`, or a jump out of what is around them,
is in them. Such a jump becomes one out of a block around the loop, with a number that says which it was; behind the block the jump
follows. Legal for jumps whose values, and loops whose results, are numbers; others are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import replace_uses
from quadrants.passes.structure import LOOPS, new_label
from quadrants.types import I32, Scalar, Type

_JUMPS = frozenset({"return", "break", "continue"})
Jump = tuple[Op, Region]


def run(function: Function) -> None:
    """Rewrite one function."""
    replaced: dict[Value, Value] = {}
    _region(function, function.body, replaced)
    replace_uses(function.body, replaced)


def _region(function: Function, region: Region, replaced: dict[Value, Value]) -> None:
    out: list[Op] = []
    for op in region.ops:
        if op.name in LOOPS:
            jumps = _jumps(op)
            out += _apart(function, op, jumps, replaced) if jumps and _numbers(op, jumps) else [op]
            continue
        for nested in op.regions:
            _region(function, nested, replaced)
        out.append(op)
    region.ops[:] = out


def _jumps(loop: Op) -> list[Jump]:
    """The jumps in a loop to what is around it, each with the region that it ends."""
    inside = {
        op.attrs["label"] for region in loop.regions for op in region.walk() if op.regions and "label" in op.attrs
    }
    inside.add(loop.attrs["label"])
    return [
        (region.ops[-1], region)
        for region in _regions(loop)
        if region.ops[-1].name in _JUMPS and region.ops[-1].attrs.get("label") not in inside
    ]


def _regions(op: Op) -> list[Region]:
    found = list(op.regions)
    for region in op.regions:
        for inner in region.ops:
            found += _regions(inner)
    return found


def _numbers(loop: Op, jumps: list[Jump]) -> bool:
    values = [*loop.results, *(value for jump, _ in jumps for value in jump.operands)]
    return all(isinstance(value.type, Scalar) and not value.type.is_complex for value in values)


def _apart(function: Function, loop: Op, jumps: list[Jump], replaced: dict[Value, Value]) -> list[Op]:
    """The loop in a block, and the jumps behind it. The block gives the number of the jump, the values of each kind of
    them, and the results of the loop."""
    kinds: dict[tuple[str, object], list[Jump]] = {}
    for jump, region in jumps:
        kinds.setdefault((jump.name, jump.attrs.get("label")), []).append((jump, region))
    label = new_label(function)
    types = [value.type for group in kinds.values() for value in group[0][0].operands]
    results = [value.type for value in loop.results]
    body, b = Region([], [loop]), Builder(Region())
    b.loc = loop.loc
    first = 0
    for number, group in enumerate(kinds.values(), 1):
        count = len(group[0][0].operands)
        for jump, region in group:
            region.ops.pop()
            with b.into(region):
                given = [*_zeros(b, types[:first]), *jump.operands, *_zeros(b, types[first + count :])]
                b.op("break", b.const(number, I32), *given, *_zeros(b, results), label=label)
        first += count
    with b.into(body):
        b.op("yield", b.const(0, I32), *_zeros(b, types), *loop.results)
    made = [Value(I32), *map(Value, types), *(Value(value.type, value.hint) for value in loop.results)]
    b.region.ops.append(Op(OPS["block"], [], made, {"label": label}, [body], loop.loc))
    replaced.update(zip(loop.results, made[1 + len(types) :]))
    body.ops[-1].operands[1 + len(types) :] = [Value(value.type, value.hint) for value in loop.results]
    loop.results = body.ops[-1].operands[1 + len(types) :]
    first = 1
    for number, ((name, target), group) in enumerate(kinds.items(), 1):
        count = len(group[0][0].operands)
        then, other = Region(), Region()
        with b.into(then):
            attrs: dict[str, Any] = {} if target is None else {"label": target}
            b.op(name, *made[first : first + count], **attrs)
        with b.into(other):
            b.op("yield")
        b.op("if", b.value("cmp", made[0], b.const(number, I32), pred="eq"), regions=(then, other))
        first += count
    return b.region.ops


def _zeros(b: Builder, types: Sequence[Type]) -> list[Value]:
    """Numbers that nobody looks at."""
    return [
        b.const(0.0 if type.is_float else False if type.is_bool else 0, type)
        for type in types
        if isinstance(type, Scalar)
    ]
