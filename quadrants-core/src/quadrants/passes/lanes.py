"""Lets the minima and maxima of floats in a loop vectorise: several are kept side by side, and combined at the end.

Takes QIR without checks in its loops; gives, in front of a loop whose carried values are all minima or maxima, the same
loop over groups of `LANES` turns with a buffer of results in the frame, and leaves the rest of the turns to the loop
itself. Legal because `x if x < m else m` ignores a NaN x, and keeps a NaN m: each lane does the same, and so does their
combination; only which of two equal zeros comes out may differ, so that strict functions and blocks are left
alone. (LLVM does it only where NaNs are excluded.)
"""

from __future__ import annotations

from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_op
from quadrants.passes.context import PassContext
from quadrants.passes.modes import mode_of, modes_of
from quadrants.passes.structure import integer_constants, is_pure, new_label, use_counts
from quadrants.types import I64, ArrayType, Scalar

PASS = "lanes"
LANES = 16
#: The fewest turns for which it pays.
_FEWEST = 64
_MOST_CARRIED = 4
_MOST_OPS = 24


def run(function: Function, context: PassContext) -> None:
    """Split the minima and maxima of one function into lanes."""
    if any(op.name in ("min", "max") for op in function.body.walk()):
        uses = use_counts(function)
        _region(function.body, function, context, integer_constants(function), uses)


def _region(
    region: Region, function: Function, context: PassContext, constants: dict[Value, int], uses: dict[Value, int]
) -> None:
    out: list[Op] = []
    for op in region.ops:
        for nested in op.regions:
            _region(nested, function, context, constants, uses)
        folds = find(op, constants, uses) if op.name == "for" else None
        if folds is not None and modes_of(folds, mode_of(function)) == {"default"}:
            out += split(op, folds, new_label(function))
            text = f"{LANES} minima or maxima are kept side by side"
            context.note(PASS, DecisionKind.APPLIED, function, op, "lanes", text)
        out.append(op)
    region.ops[:] = out


def find(loop: Op, constants: dict[Value, int], uses: dict[Value, int]) -> list[Op] | None:
    """The `min` or `max` of each carried value, if that is all that the loop does."""
    body = loop.regions[0]
    carried = body.args[1:]
    end = body.ops[-1]
    if loop.attrs.get("cold") or constants.get(loop.operands[2]) != 1 or end.name != "continue":
        return None
    if not 1 <= len(carried) <= _MOST_CARRIED or len(body.ops) > _MOST_OPS or not all(map(_reads, body.ops[:-1])):
        return None
    makers = {op.result: op for op in body.ops[:-1]}
    folds = []
    for arg, following in zip(carried, end.operands):
        op = makers.get(following)
        if op is None or op.name not in ("min", "max") or op.operands[1] is not arg:
            return None
        if uses.get(arg) != 1 or uses.get(following) != 1:
            return None
        folds.append(op)
    return folds if any(isinstance(arg.type, Scalar) and arg.type.is_float for arg in carried) else None


def _reads(op: Op) -> bool:
    """Whether the op only computes a scalar, or reads one without a check."""
    if op.regions or not all(isinstance(result.type, Scalar) for result in op.results):
        return False
    return is_pure(op) or (op.name == "load" and not (op.attr("checked") or op.attr("wrap")))


def split(loop: Op, folds: list[Op], label: int) -> list[Op]:
    """The ops in front of the loop, which then begins where they end."""
    b = Builder(Region())
    b.loc = loop.loc
    start, stop = loop.operands[:2]
    inits = loop.operands[3:]
    count = b.value("sub", stop, start)
    many = b.value("cmp", count, b.i64(_FEWEST), pred="ge")
    many = b.value("and", many, b.value("cmp", start, b.i64(0), pred="ge"))  # then the difference did not wrap
    regions = (Region(), Region())
    with b.into(regions[0]):
        middle = b.value("sub", stop, b.value("mod", count, b.i64(LANES)))
        b.op("yield", middle, *_lanes(b, loop, folds, middle, label))
    with b.into(regions[1]):
        b.op("yield", start, *inits)
    begun = b.op("if", many, regions=regions)
    loop.operands[0] = begun.results[0]
    loop.operands[3:] = begun.results[1:]
    return b.region.ops


def _lanes(b: Builder, loop: Op, folds: list[Op], middle: Value, label: int) -> list[Value]:
    """The groups of turns, and what their lanes come to."""
    start, inits, body = loop.operands[0], loop.operands[3:], loop.regions[0]
    zero, one, width = b.i64(0), b.i64(1), b.i64(LANES)
    buffers = []
    for init in inits:
        assert isinstance(init.type, Scalar)
        buffers.append(b.value("alloc", width, type=ArrayType(init.type, 1), stack=True))
    fill = region_with_args([I64])
    with b.into(fill):
        for init, buffer in zip(inits, buffers):
            b.op("store", init, buffer, fill.args[0], checked=False, wrap=False)
        b.op("continue", label=label)
    b.op("for", zero, width, one, regions=[fill], label=label)
    group, turn = region_with_args([I64]), region_with_args([I64])
    with b.into(turn):
        lane = turn.args[0]
        values = {body.args[0]: b.value("add", group.args[0], lane)}
        for arg, buffer in zip(body.args[1:], buffers):
            values[arg] = b.value("load", buffer, lane, checked=False, wrap=False)
        turn.ops += [clone_op(op, values) for op in body.ops[:-1]]
        for following, buffer in zip(body.ops[-1].operands, buffers):
            b.op("store", values[following], buffer, lane, checked=False, wrap=False)
        b.op("continue", label=label + 1)
    with b.into(group):
        b.op("for", zero, width, one, regions=[turn], label=label + 1)
        b.op("continue", label=label)
    b.op("for", start, middle, width, regions=[group], label=label)
    together = region_with_args([I64, *(init.type for init in inits)])
    with b.into(together):
        lanes = [b.value("load", buffer, together.args[0], checked=False, wrap=False) for buffer in buffers]
        b.op(
            "continue",
            *(b.value(op.name, value, arg) for op, value, arg in zip(folds, lanes, together.args[1:])),
            label=label,
        )
    return b.op("for", zero, width, one, *inits, regions=[together], label=label).results
