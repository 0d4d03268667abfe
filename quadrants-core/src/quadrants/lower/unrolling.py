"""Which loops LLVM may unroll by a count that is known at run time only.

It does so behind its vectoriser, to every loop that is still scalar. For a loop that stayed scalar that is a gain: the counter
and the jump back are paid once for several elements. For the scalar copy of a loop that was vectorised it is a waste of compile
time. LLVM knows that of copies that only take the left-over turns, but not of those that also stand in where a test for overlap
fails: loops that write an array and touch another one. Changes nothing but speed.
"""

from __future__ import annotations

from collections.abc import Iterable

from quadrants.ir.core import Op, Region, Value

#: How many values can be folded into one, in any order.
_FOLDS = frozenset({"add", "sub", "mul", "min", "max", "and", "or", "xor", "select"})
_ACCESSES = {"load": 0, "store": 1}
_LEAVES = frozenset({"break", "return", "raise", "reraise"})
#: From what an index may be made so that neighbouring turns go to neighbouring elements.
_LINEAR = frozenset({"add", "sub", "mul", "neg", "const"})


def leaves_a_copy(loop: Op) -> bool:
    """Whether a `for` is likely to be vectorised behind a test for overlap."""
    body = loop.regions[0]
    ops = list(body.walk())
    if any(_stands_in_the_way(op) for op in ops):
        return False
    makers = {result: op for op in ops for result in op.results}
    accesses = [op for op in ops if op.name in _ACCESSES]
    stores = [op for op in accesses if op.name == "store"]
    arrays = {op.operands[_ACCESSES[op.name]] for op in accesses}
    if not stores or len(arrays) < 2:
        return False
    if not all(_is_linear(index, makers) for op in accesses for index in op.operands[_ACCESSES[op.name] + 1 :]):
        return False  # where an index depends on data there is no test for overlap
    written = {op.operands[1]: op.operands[2:] for op in stores}
    if any(op.name == "load" and written.get(op.operands[0], op.operands[1:]) != op.operands[1:] for op in ops):
        return False  # a turn may read what another one wrote
    return all(_is_folded(arg, following, makers) for arg, following in _carried(body))


def _stands_in_the_way(op: Op) -> bool:
    return op.can_raise or op.name == "call" or op.name in _LEAVES or op.name in ("for", "loop")


def _carried(body: Region) -> Iterable[tuple[Value, Value]]:
    return zip(body.args[1:], body.ops[-1].operands)


def _is_folded(arg: Value, following: Value, makers: dict[Value, Op]) -> bool:
    """Whether a carried value only takes up others."""
    maker = makers.get(following)
    return following is arg or (maker is not None and maker.name in _FOLDS and arg in maker.operands)


def _is_linear(value: Value, makers: dict[Value, Op]) -> bool:
    """Whether a position moves evenly with the loop's index, which has no maker; values from outside the loop do not move."""
    maker = makers.get(value)
    if maker is None:
        return True
    return maker.name in _LINEAR and all(_is_linear(operand, makers) for operand in maker.operands)
