"""Puts small arrays that do not outlive their scope into the function's frame, where LLVM keeps their elements in
registers.

Takes QIR without maps, before `ownership`; marks allocations with `stack`. Legal for an array of constant, small size
that only its own region, and those inside it, can reach: it and its views are read, written, measured and passed to
functions that return no array, but not returned, yielded, carried around a loop, kept in a variable, or shown to
Python.
"""

from __future__ import annotations

from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Value
from quadrants.passes.context import PassContext
from quadrants.passes.structure import CALLS, integer_constants
from quadrants.types import ArrayType

PASS = "stack_arrays"
#: Bytes of one array, and of all arrays of a function.
_MOST_BYTES = 512
_MOST_IN_ALL = 4096
_HARMLESS = frozenset({"load", "store", "dim", "stride", "same", "overlap"})


def run(function: Function, context: PassContext) -> None:
    """Mark the allocations of one function that can be in its frame."""
    allocations = [op for op in function.body.walk() if op.name == "alloc" and not op.attr("stack")]
    if not allocations:
        return
    constants = integer_constants(function)
    readers: dict[Value, list[Op]] = {}
    for op in function.body.walk():
        for operand in op.operands:
            readers.setdefault(operand, []).append(op)
    left = _MOST_IN_ALL
    for op in allocations:
        size = nbytes(op, constants)
        if size is not None and size <= min(left, _MOST_BYTES) and stays(op.result, readers):
            left -= size
            op.attrs["stack"] = True
            text = f"an array of {size} bytes is kept in the function's frame: nothing outside can reach it"
            context.note(PASS, DecisionKind.APPLIED, function, op, "stack", text)


def nbytes(op: Op, constants: dict[Value, int]) -> int | None:
    """The size of the array, if it is constant."""
    assert isinstance(op.result.type, ArrayType)
    total = op.result.type.dtype.itemsize
    for operand in op.operands:
        size = constants.get(operand)
        if size is None or size <= 0:
            return None
        total *= size
    return total


def stays(array: Value, readers: dict[Value, list[Op]]) -> bool:
    """Whether nothing can keep the array, or a view of it."""
    for op in readers.get(array, ()):
        if op.name == "view":
            if not stays(op.result, readers):
                return False
        elif op.name in CALLS:
            if any(result.type.heap for result in op.results):
                return False
        elif op.name not in _HARMLESS:
            return False
    return True
