"""Lets the sums and products of floats that are read down a column keep several partial results, so that one turn does not
wait for the one before.

Takes QIR whose reductions are marked (`reductions`); gives, in the place of a loop that reads elements that are no neighbours
in memory, the same loop with `COUNT` partial results, which take turns: each turn adds to the first and puts it last. What
they come to is computed behind the loop. (LLVM unrolls it, and then nothing is moved.) Legal because the marked ops may be
computed in any order; strict functions and blocks have no marks. LLVM would do it, but takes up such a loop for the case that
the stride is that of neighbours, and leaves all others to one chain of additions. Whether a loop is split depends on the loop
alone, and so do its bits.
"""

from __future__ import annotations

from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_op, replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.neutral import neutral, together
from quadrants.passes.reductions import FLAGS
from quadrants.passes.structure import definitions, is_pure, new_label
from quadrants.types import I64, ArrayType, Scalar

PASS = "partials"
COUNT = 4
_MOST_CARRIED = 4
_MOST_OPS = 16
_KINDS = {"add": "add", "sub": "add", "mul": "mul"}
_LINEAR = frozenset({"add", "sub"})


def run(function: Function, context: PassContext) -> None:
    """Split the sums and products of one function."""
    if any(op.attrs.get("fast") == FLAGS for op in function.body.walk()):
        totals: dict[Value, Value] = {}
        _region(function.body, function, context, definitions(function), totals)
        replace_uses(function.body, totals)


def _region(
    region: Region, function: Function, context: PassContext, makers: dict[Value, Op], totals: dict[Value, Value]
) -> None:
    out: list[Op] = []
    for op in region.ops:
        for nested in op.regions:
            _region(nested, function, context, makers, totals)
        kinds = find(op, makers) if op.name == "for" else None
        axes = moving_axes(op, makers) if kinds else []
        if not kinds or not axes:
            out.append(op)
            continue
        ops, results = split(op, kinds, axes, new_label(function))
        out += ops
        totals.update(results)
        text = f"{COUNT} partial results are kept side by side: what it reads are no neighbours in memory"
        context.note(PASS, DecisionKind.APPLIED, function, op, "partials", text)
    region.ops[:] = out


def find(loop: Op, makers: dict[Value, Op]) -> list[str] | None:
    """How two partial results of each carried value are combined, if all are sums and products, and all that the loop does."""
    body = loop.regions[0]
    carried, end = body.args[1:], body.ops[-1]
    if loop.attrs.get("cold") or end.name != "continue" or not 1 <= len(carried) <= _MOST_CARRIED:
        return None
    if len(body.ops) > _MOST_OPS or not all(map(_reads, body.ops[:-1])):
        return None
    steps = [makers.get(following) for following in end.operands]
    if not all(step is not None and step.attrs.get("fast") == FLAGS and step.name in _KINDS for step in steps):
        return None
    return [_KINDS[step.name] for step in steps if step is not None]


def moving_axes(loop: Op, makers: dict[Value, Op]) -> list[tuple[Value, int]]:
    """The arrays, and their axes, that the loop goes along by one element a turn and whose elements there may be no neighbours."""
    body = loop.regions[0]
    inside = {*body.args, *(result for op in body.ops for result in op.results)}
    axes = [_moving_axis(op, body.args[0], inside, makers) for op in body.ops if op.name == "load"]
    return list(dict.fromkeys(axis for axis in axes if axis is not None))


def _reads(op: Op) -> bool:
    """Whether the op only computes a scalar, or reads one without a check."""
    if op.regions or not all(isinstance(result.type, Scalar) for result in op.results):
        return False
    return is_pure(op) or (op.name == "load" and not (op.attr("checked") or op.attr("wrap")))


def _moving_axis(load: Op, index: Value, inside: set[Value], makers: dict[Value, Op]) -> tuple[Value, int] | None:
    """The array and the axis that a load moves along by one element a turn, unless its elements are neighbours in memory."""
    array = load.operands[0]
    assert isinstance(array.type, ArrayType)
    moving = [axis for axis, at in enumerate(load.operands[1:]) if at in inside]
    if array in inside or len(moving) != 1 or not _follows(load.operands[1 + moving[0]], index, inside, makers):
        return None
    near = {"C": array.type.ndim - 1, "F": 0}.get(array.type.layout)
    return None if moving[0] == near else (array, moving[0])


def _follows(value: Value, index: Value, inside: set[Value], makers: dict[Value, Op]) -> bool:
    """Whether the value is the index of the loop, give or take one that does not change in it."""
    while value is not index:
        op = makers.get(value)
        if op is None or op.name not in _LINEAR:
            return False
        moving = [operand for operand in op.operands if operand in inside]
        if len(moving) != 1:
            return False
        value = moving[0]
    return True


def split(loop: Op, kinds: list[str], axes: list[tuple[Value, int]], label: int) -> tuple[list[Op], dict[Value, Value]]:
    """The ops that stand for the loop, and what stands for its results. Where only strides tell whether it reads neighbours, it
    is there as it was, too."""
    b = Builder(Region())
    b.loc = loop.loc
    results = list(loop.results)
    if any(array.type.layout in ("C", "F") for array, _ in axes if isinstance(array.type, ArrayType)):
        totals = _partials(b, loop, kinds, label)
    else:
        loop.results[:] = [Value(result.type, result.hint) for result in results]
        regions = (Region(), Region([], [loop]))
        with b.into(regions[0]):
            b.op("yield", *_partials(b, loop, kinds, label))
        with b.into(regions[1]):
            b.op("yield", *loop.results)
        totals = b.op("if", _apart(b, axes), regions=regions).results
    return b.region.ops, dict(zip(results, totals))


def _apart(b: Builder, axes: list[tuple[Value, int]]) -> Value:
    """Whether the elements of some array are no neighbours."""
    found: Value | None = None
    for array, axis in axes:
        assert isinstance(array.type, ArrayType)
        apart = b.value("cmp", b.value("stride", array, axis=axis), b.i64(array.type.dtype.itemsize), pred="ne")
        found = apart if found is None else b.value("or", found, apart)
    assert found is not None
    return found


def _partials(b: Builder, loop: Op, kinds: list[str], label: int) -> list[Value]:
    """The loop with several partial results, and what they come to."""
    bounds, inits, body = loop.operands[:3], loop.operands[3:], loop.regions[0]
    few = len(inits)
    others = [
        b.const(neutral(kind, init.type), init.type)
        for kind, init in zip(kinds, inits)
        if isinstance(init.type, Scalar)
    ]
    turn = region_with_args([I64, *(init.type for init in inits * COUNT)])
    values = dict(zip(body.args, turn.args))
    with b.into(turn):
        turn.ops += [clone_op(op, values) for op in body.ops[:-1]]
        added = [values[following] for following in body.ops[-1].operands]
        b.op("continue", *turn.args[1 + few :], *added, label=label)
    ends = b.op("for", *bounds, *inits, *others * (COUNT - 1), regions=[turn], label=label).results
    totals = list(ends[:few])
    for first in range(few, len(ends), few):
        totals = [together(b, *parts) for parts in zip(kinds, totals, ends[first : first + few])]
    return totals
