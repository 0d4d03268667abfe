"""Chooses which product of a sum of two is fused with it, so that the chain that a loop waits for gets shorter.

Takes and gives QIR: marks `add` and `sub` of floats whose operands are both products. Of `a*b + c*d` a processor does one
product and the sum in one step, and the other product before; so the one that is fused should be the one whose factors come
last: those that a loop carries, or else those with the longer computation behind them. Legal because either may be fused where
products are at all (not in strict functions), within the same error.
"""

from __future__ import annotations

from quadrants.ir import Function, Op, Value
from quadrants.passes.context import PassContext
from quadrants.passes.structure import LOOPS, use_counts
from quadrants.types import Scalar

#: How long a computation counts that begins with a value that a loop carries.
_CARRIED = 100
#: What a chain runs through; a computation that begins with anything else begins there.
_STEPS = frozenset({"add", "sub", "mul", "div", "neg", "sqrt", "min", "max", "select", "cast"})


def run(function: Function, context: PassContext) -> None:
    """Mark the sums of products of one function."""
    lengths: dict[Value, int] = {}
    products: set[Value] = set()
    sums: list[Op] = []
    for op in function.body.walk():
        if op.name in LOOPS:
            lengths.update(dict.fromkeys(op.regions[0].args, _CARRIED))
        if op.name not in _STEPS:
            continue
        lengths[op.result] = 1 + max(lengths.get(operand, 0) for operand in op.operands)
        if op.name == "mul":
            products.add(op.result)
        elif op.name in ("add", "sub") and _is_float(op.result) and products.issuperset(op.operands):
            sums.append(op)
    uses = use_counts(function) if sums else {}
    for op in sums:
        first, second = (lengths[operand] for operand in op.operands)
        if first != second and not op.attr("fast") and all(uses[operand] == 1 for operand in op.operands):
            op.attrs["fused"] = 1 if first > second else 2


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_float and value.type.bits > 16
