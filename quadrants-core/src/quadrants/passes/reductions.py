"""Lets the sums, products and other folds of a loop be computed in another order, so that they vectorise.

Takes and gives QIR: marks the ops of a reduction with `fast="reassoc"`. A reduction is a float that a `for` carries,
that every turn only adds to, subtracts from or multiplies (one kind of op, once or several times), and that nothing
else in the loop reads. Changing the order changes the rounding, within the bound of any order; strict
functions and blocks are left alone, and a float that a loop observes on its way (a running sum that is stored) is none.
"""

from __future__ import annotations

from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Value
from quadrants.passes.context import PassContext
from quadrants.passes.modes import mode_of, modes_of
from quadrants.passes.structure import definitions, exits_of, use_counts
from quadrants.types import Scalar

PASS = "reductions"
FLAGS = "reassoc"
_KINDS = {"add": "sum", "sub": "sum", "mul": "product"}
_WORDS = {"sum": "the sum", "product": "the product"}
_MAX_CHAIN = 32
#: What is all "fast" needs no marks.
_REORDERED = ({"default"}, {"default", "fast"})


def run(function: Function, context: PassContext) -> None:
    """Mark the reductions of one function."""
    mode = mode_of(function)
    exits = exits_of(function)
    makers, uses = definitions(function), use_counts(function)
    for op in function.body.walk():
        if op.name != "for" or op.attrs.get("cold"):
            continue
        for index, arg in enumerate(op.regions[0].args[1:]):
            if not (isinstance(arg.type, Scalar) and arg.type.is_float):
                continue
            ends = [jump.operands[index] for jump in exits[op].continues]
            chain = find(arg, ends[0], makers, uses) if len(ends) == 1 and not exits[op].breaks else None
            if chain and modes_of(chain, mode) in _REORDERED:
                for step in chain:
                    step.attrs["fast"] = FLAGS
                kind = _KINDS[chain[0].name]
                text = f"{_WORDS[kind]} {arg.hint or 'in this loop'} may be computed in any order"
                context.note(PASS, DecisionKind.APPLIED, function, chain[0], kind, text)


def find(arg: Value, end: Value, makers: dict[Value, Op], uses: dict[Value, int]) -> list[Op] | None:
    """The ops from the carried value to its next one; None if it is no reduction."""
    if uses.get(arg) != 1:
        return None
    chain: list[Op] = []
    value = end
    while value is not arg:
        op = makers.get(value)
        if op is None or op.name not in _KINDS or uses.get(value) != 1 or len(chain) == _MAX_CHAIN:
            return None
        if chain and _KINDS[op.name] != _KINDS[chain[0].name]:
            return None
        chain.append(op)
        sides = op.operands[:1] if op.name == "sub" else op.operands
        sides = [side for side in sides if _leads_to(arg, side, makers, _MAX_CHAIN)]
        if len(sides) != 1:
            return None
        value = sides[0]
    return chain


def _leads_to(arg: Value, value: Value, makers: dict[Value, Op], depth: int) -> bool:
    """Whether a value is made from the carried value by ops of a reduction."""
    if value is arg:
        return True
    op = makers.get(value)
    if op is None or op.name not in _KINDS or depth == 0:
        return False
    return any(_leads_to(arg, operand, makers, depth - 1) for operand in op.operands)
