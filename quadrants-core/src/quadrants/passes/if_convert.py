"""Turns small `if`s into selections.

Takes and gives QIR. Legal where both branches only compute: pure ops that may run whatever the condition is (no promise
such as `nowrap` is kept), scalar results, no jumps. Done where the branches together cost less than a branch that is
guessed wrong. A sum or product that is only updated under a condition becomes an unconditional one of the amount or of the
neutral element, which is exact: `-0.0` for sums of floats. So no selection is in the chain from one turn of a loop to the next.
"""

from __future__ import annotations

from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.passes.context import PassContext
from quadrants.passes.structure import is_pure
from quadrants.types import Scalar

_MAX_COST = 6
#: Ops that are worth a branch around them. (A division of floats is not: LLVM would remove the branch again.)
_COSTLY = frozenset({"div", "rem", "floordiv", "mod"})
#: What changes nothing: the integer and the float.
_NEUTRAL = {"add": (0, -0.0), "sub": (0, 0.0), "mul": (1, 1.0), "div": (1, 1.0)}
_PROMISES = ("nowrap", "nonzero")


def run(function: Function, context: PassContext) -> None:
    """Convert the small branches of one function."""
    replaced: dict[Value, Value] = {}
    _region(function.body, replaced)
    if replaced:
        context.changed.add(function.name)


def _region(region: Region, replaced: dict[Value, Value]) -> None:
    out: list[Op] = []
    for op in region.ops:
        op.operands[:] = [_final(operand, replaced) for operand in op.operands]
        for nested in op.regions:
            _region(nested, replaced)
        if op.name == "if" and is_convertible(op):
            _convert(op, out, replaced)
        else:
            out.append(op)
    region.ops[:] = out


def _final(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value


def is_convertible(op: Op) -> bool:
    """Whether an `if` may become selections, and should."""
    cost = len(op.results)
    for region in op.regions:
        end = region.terminator
        if end is None or end.name != "yield":
            return False
        for inner in region.ops[:-1]:
            float_div = inner.name == "div" and isinstance(inner.result.type, Scalar) and inner.result.type.is_float
            if not is_pure(inner) or (inner.name in _COSTLY and not float_div):
                return False
            if inner.name.startswith("math.") or inner.name == "view":
                return False
            cost += (inner.name != "const") + float_div
    return cost <= _MAX_COST and all(isinstance(result.type, Scalar) for result in op.results)


def _convert(op: Op, out: list[Op], replaced: dict[Value, Value]) -> None:
    for region in op.regions:
        for inner in region.ops[:-1]:
            for promise in _PROMISES:
                inner.attrs.pop(promise, None)
            out.append(inner)
    makers = {inner.result: inner for region in op.regions for inner in region.ops[:-1]}
    first, second = (region.ops[-1].operands for region in op.regions)
    for index, result in enumerate(op.results):
        yes, no = first[index], second[index]
        if yes is no:
            replaced[result] = yes
            continue
        update = _update(op, yes, no, makers, out) or _update(op, no, yes, makers, out, inverted=True)
        if update is None:
            update = Op(OPS["select"], [op.operands[0], yes, no], [Value(result.type, result.hint)], {}, [], op.loc)
        out.append(update)
        replaced[result] = update.result


def _update(
    op: Op, new: Value, old: Value, makers: dict[Value, Op], out: list[Op], inverted: bool = False
) -> Op | None:
    """`old + amount if condition else old` as `old + (amount if condition else neutral)`; products likewise."""
    made = makers.get(new)
    if made is None or made.name not in _NEUTRAL or old not in made.operands or old in makers:
        return None
    if made.operands[0] is not old and made.name in ("sub", "div"):
        return None
    amount = made.operands[1] if made.operands[0] is old else made.operands[0]
    type = amount.type
    if amount is old or not isinstance(type, Scalar):
        return None
    whole, real = _NEUTRAL[made.name]
    if not (type.is_integer or type.is_float) or (made.name == "div" and not type.is_float):
        return None
    value: int | float = whole if type.is_integer else real
    neutral = Op(OPS["const"], [], [Value(type)], {"value": value, "type": type}, [], op.loc)
    sides = [neutral.result, amount] if inverted else [amount, neutral.result]
    chosen = Op(OPS["select"], [op.operands[0], *sides], [Value(type)], {}, [], op.loc)
    out += [neutral, chosen]
    return Op(OPS[made.name], [old, chosen.result], [Value(type, new.hint)], dict(made.attrs), [], made.loc)
