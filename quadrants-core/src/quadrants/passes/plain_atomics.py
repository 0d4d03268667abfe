"""Atomic updates that no other thread can meet, as plain reads and stores.

Takes loops that the portable language declares parallel, before they are given to threads; gives them with `atomic` replaced by a
load, the operation and a store, so that they can run in SIMD lanes. Legal where each turn of the loop writes elements of its own
only: every store and every atomic operation in it has the loop's own index, which is not negative, as its index along some axis,
the same axis wherever the same array is written, and no call in it may write. Minima and maxima of floats stay (they skip NaN).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.regions import writes_of
from quadrants.passes.structure import CALLS
from quadrants.passes.written import TARGETS
from quadrants.types import ArrayType, Scalar

_PLAIN = frozenset({"add", "sub", "mul", "and", "or", "xor", "min", "max", "exchange"})


def run(function: Function, context: PassContext) -> None:
    """Look at the parallel loops of one function."""
    if not function.attrs.get("portable"):
        return
    makers = {result: op for op in function.body.walk() for result in op.results}
    replaced: dict[Value, Value] = {}
    for loop in list(function.body.walk()):
        if loop.name == "for" and loop.attrs.get("parallel") and _writes_its_own(loop, makers, context):
            for region in _regions(loop):
                region.ops[:] = _rewritten(region.ops, replaced)
    replace_uses(function.body, replaced)


def _regions(op: Op) -> Iterable[Region]:
    for region in op.regions:
        yield region
        for inner in region.ops:
            yield from _regions(inner)


def _writes_its_own(loop: Op, makers: Mapping[Value, Op], context: PassContext) -> bool:
    """Whether each turn writes to elements that no other turn writes to."""
    start = makers.get(loop.operands[0])
    first = start.attrs.get("value") if start is not None and start.name == "const" else None
    if not isinstance(first, int) or first < 0:
        return False
    index, writes = loop.regions[0].args[0], writes_of(context.module)
    axes: dict[Value, set[int]] = {}
    for op in loop.regions[0].walk():
        if op.name in CALLS and any(
            isinstance(operand.type, ArrayType) and writes(str(op.attrs["callee"]), k)
            for k, operand in enumerate(op.operands)
        ):
            return False
        target = TARGETS.get(op.name)
        if target is None:
            continue
        array, indices = op.operands[target], op.operands[target + 1 :]
        own = {axis for axis, at in enumerate(indices) if _is_index(at, index, makers)}
        axes[array] = axes.get(array, own) & own
    return bool(axes) and all(axes.values())


def _is_index(value: Value, index: Value, makers: Mapping[Value, Op]) -> bool:
    """Whether a position is the loop's index, checked or not."""
    maker = makers.get(value)
    return value is index or (maker is not None and maker.name == "index" and maker.operands[0] is index)


def _rewritten(ops: Iterable[Op], replaced: dict[Value, Value]) -> list[Op]:
    out: list[Op] = []
    for op in ops:
        what = str(op.attrs.get("op"))
        scalar = op.operands[0].type if op.name == "atomic" else None
        if not isinstance(scalar, Scalar) or what not in _PLAIN or (scalar.is_float and what in ("min", "max")):
            out.append(op)
            continue
        b = Builder(Region())
        b.loc = op.loc
        value, array, *indices = op.operands
        checked, wrap = bool(op.attr("checked")), bool(op.attr("wrap"))
        before = b.value("load", array, *indices, checked=checked, wrap=wrap)
        after = value if what == "exchange" else b.value(what, before, value)
        b.op("store", after, array, *indices, checked=checked, wrap=wrap)
        replaced[op.result] = before
        out += b.region.ops
    return out
