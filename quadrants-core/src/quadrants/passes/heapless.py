"""Has code for a device without a heap raise where it would copy an array that overlaps what is written.

Takes code of the device level after `expand_maps`, which copies such an input behind a test; gives it with a
MemoryError in place of the copy. Legal because the copy cannot be made: without it the code would not compile, though
arrays hardly ever overlap.
"""

from __future__ import annotations

from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.types import LiteralType, TupleType

_TEXT = "an array is written that overlaps one that is read: a device has no memory for the copy that this needs"
_LOGIC = frozenset({"and", "or", "not"})


def run(function: Function, context: object = None) -> None:
    """Rewrite one function."""
    tests: set[Value] = set()
    for op in function.body.walk():
        if op.name == "overlap" or op.name in _LOGIC and tests & {*op.operands}:
            tests.add(op.result)
        elif op.name == "if" and op.operands[0] in tests and _allocates(op.regions[0]):
            op.regions[0].ops[:] = _raising(op)


def _allocates(region: Region) -> bool:
    return any(op.name == "alloc" and not op.attr("stack") for op in region.ops)


def _raising(op: Op) -> list[Op]:
    builder = Builder(Region())
    builder.loc = op.loc
    builder.op("raise", exc="builtins:MemoryError", args=TupleType((LiteralType(_TEXT),)))
    return builder.region.ops
