"""Takes several turns of short loops at once, for a device that ends loops too early (`Feature.FEW_TURNS`): it counts fewer.

Takes a function after `passes.exits`; gives it with each small innermost loop repeated in its own body: the
`continue` at the end of the body is followed by the next turn, so a copy of the body takes its place. Counted loops
by a constant step become plain ones before. Legal for every loop without ops that threads do together, which are
never copied, and without arrays of its own.
"""

from __future__ import annotations

from quadrants.ir import Effect, Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import clone_op, fresh_labels
from quadrants.passes.structure import LABELLED, LOOPS, integer_constants
from quadrants.types import BOOL, U64

#: Ops of a body -> how many turns are taken at once: that of the first size that is not exceeded.
_FACTORS = ((24, 8), (48, 4), (96, 2))
_KEPT = ("local.array", "shared.array", "alloc")


def run(function: Function) -> None:
    """Unroll the loops of one function."""
    _region(function, function.body, integer_constants(function))


def _region(function: Function, region: Region, constants: dict[Value, int]) -> None:
    ops: list[Op] = []
    for op in region.ops:
        factor = _factor(op)
        if factor > 1 and op.name == "for" and constants.get(op.operands[2]):
            ops += _plain(op, constants[op.operands[2]])
        else:
            ops.append(op)
        if factor > 1 and ops[-1].name == "loop":
            _repeat(function, ops[-1], factor)
        for inner in op.regions if factor == 1 else ():
            _region(function, inner, constants)
    region.ops[:] = ops


def _factor(op: Op) -> int:
    """How many turns of a loop to take at once; 1 for what is no loop, or has loops inside."""
    if op.name not in LOOPS:
        return 1
    body = list(op.regions[0].walk())
    if any(inner.name in LOOPS or inner.name in _KEPT or inner.defn.effects & Effect.COLLECTIVE for inner in body):
        return 1
    return next((factor for size, factor in _FACTORS if len(body) <= size), 1)


def _repeat(function: Function, loop: Op, factor: int) -> None:
    """Put copies of the body of a plain loop where it ends."""
    body, label = loop.regions[0], loop.attrs["label"]
    values: dict[Value, Value] = {arg: arg for arg in body.args}
    copied = [clone_op(op, values) for op in body.ops]
    for _ in range(factor - 1):
        end = body.ops[-1]
        if end.name != "continue" or end.attrs["label"] != label:
            return
        used = [op.attrs["label"] for op in function.body.walk() if op.name in LABELLED]
        labels = fresh_labels(Region([], copied), (value for value in used if isinstance(value, int)))
        values = dict(zip(body.args, end.operands))
        body.ops[-1:] = [clone_op(op, values, labels) for op in copied]


def _plain(op: Op, step: int) -> list[Op]:
    """A counted loop as a plain one: it carries whether there is another turn, and the index."""
    start, stop, stride, *carried = op.operands
    body, label = op.regions[0], op.attrs["label"]
    before, inner = Region(), Region([Value(BOOL), *body.args])
    b = Builder(before)
    b.loc = op.loc
    first = b.value("cmp", start, stop, pred="lt" if step > 0 else "gt")
    stay, leave = Region(), Region()
    with b.into(stay):
        b.op("yield")
    with b.into(leave):
        b.op("break", *body.args[1:], label=label)
    with b.into(inner):
        b.op("if", inner.args[0], regions=[stay, leave])
    inner.ops += body.ops
    for region in _regions(inner):
        end = region.ops[-1]
        if end.name == "continue" and end.attrs["label"] == label:
            region.ops[-1:] = _next(end, body.args[0], stop, stride, step)
    attrs = {**op.attrs, "result_types": tuple(result.type for result in op.results)}
    loop = Op(OPS["loop"], [first, start, *carried], op.results, attrs, [inner], op.loc)
    return [*before.ops, loop]


def _next(end: Op, index: Value, stop: Value, stride: Value, step: int) -> list[Op]:
    """What takes the place of a `continue`: there is another turn if the way to the end is longer than the step."""
    b = Builder(Region())
    b.loc = end.loc
    way = b.value("sub", stop, index) if step > 0 else b.value("sub", index, stop)
    more = b.value("cmp", b.value("cast", way, type=U64), b.const(abs(step), U64), pred="gt")
    b.op("continue", more, b.value("add", index, stride), *end.operands, label=end.attrs["label"])
    return b.region.ops


def _regions(region: Region) -> list[Region]:
    """A region and those inside it."""
    return [region, *(found for op in region.ops for inner in op.regions for found in _regions(inner))]
