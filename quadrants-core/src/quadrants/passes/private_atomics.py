"""Atomic updates of one element by all turns of a parallel loop: each chunk keeps a part of its own, and adds it at its end.

Takes the functions that `parallelise` made of loops; gives them with a variable in place of the element, and one atomic operation
behind the loop. Legal where the chunk uses the array for nothing else than updates of one kind on that element, whose values from
before nobody wants. The result of a sum of floats depends on the chunks then, as that of any parallel sum.
"""

from __future__ import annotations

from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.passes.context import PassContext
from quadrants.passes.outline import neutral
from quadrants.types import ArrayType, Scalar

_KINDS = frozenset({"add", "mul", "and", "or", "xor"})
_SHAPE = frozenset({"dim", "stride"})


def run(function: Function, context: PassContext) -> None:
    """Look at one chunk."""
    if function.name not in context.outlined:
        return
    for loop in [op for op in function.body.ops if op.name == "for"]:
        for array in [param for param in function.params if isinstance(param.type, ArrayType)]:
            atomics = _updates(function, loop, array)
            if atomics:
                _privatise(function, loop, atomics)


def _updates(function: Function, loop: Op, array: Value) -> list[Op]:
    """The updates of the one element of the array that the loop updates; none where it does something else with it."""
    inside = set(loop.regions[0].walk())
    users = [op for op in function.body.walk() if array in op.operands and op.name not in _SHAPE]
    used = {operand for op in function.body.walk() for operand in op.operands}
    users = [op for op in users if op.name != "load" or op.result in used]
    if not users or any(op.name != "atomic" or op not in inside or op.operands[1] is not array for op in users):
        return []
    first = users[0]
    if first.attrs["op"] not in _KINDS or any(op.attrs["op"] != first.attrs["op"] for op in users):
        return []
    changing = {value for op in inside for value in op.results} | set(loop.regions[0].args)
    for op in users:
        same = op.operands[2:] == first.operands[2:] and not changing.intersection(op.operands[2:])
        if not same or op.result in used or bool(op.attr("checked")):
            return []
    return users


def _privatise(function: Function, loop: Op, atomics: list[Op]) -> None:
    kind, scalar = str(atomics[0].attrs["op"]), atomics[0].operands[0].type
    assert isinstance(scalar, Scalar)
    before, after = Builder(Region()), Builder(Region())
    part = before.value("var", before.const(neutral(kind, scalar), scalar))
    _, array, *indices = atomics[0].operands
    after.loc = atomics[0].loc
    after.value("atomic", after.value("var.get", part), array, *indices, op=kind, checked=False, wrap=False)
    _replace(loop.regions[0], set(map(id, atomics)), part, kind)
    at = function.body.ops.index(loop)
    function.body.ops[at : at + 1] = [*before.region.ops, loop, *after.region.ops]


def _replace(region: Region, atomics: set[int], part: Value, kind: str) -> None:
    out: list[Op] = []
    for op in region.ops:
        for nested in op.regions:
            _replace(nested, atomics, part, kind)
        if id(op) not in atomics:
            out.append(op)
            continue
        b = Builder(Region())
        b.loc = op.loc
        b.op("var.set", part, b.value(kind, b.value("var.get", part), op.operands[0]))
        out += b.region.ops
    region.ops[:] = out
