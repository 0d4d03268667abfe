"""What `dependence` leaves to be tested in front of a loop, as ops.

Takes a verdict and a guard, whose builder stands in front of the loop; gives the conditions. Where one fails the loop must run
as it was: a condition is sufficient, so it may fail where nothing would go wrong.
"""

from __future__ import annotations

from quadrants.ir import Value
from quadrants.ir.builder import Builder
from quadrants.passes.dependence import Verdict
from quadrants.passes.guards import Guard
from quadrants.types import ArrayType


def conditions(guard: Guard, verdict: Verdict) -> list[Value]:
    """Arrays do not overlap, no array overlaps itself, and values are so small that no index wraps."""
    b = guard.builder
    parts = [b.value("not", b.value("overlap", one, other)) for one, other in verdict.disjoint]
    parts += [_distinct(b, array) for array in verdict.distinct]
    for value, limit in verdict.limits.items():
        parts.append(guard.compare("lt", guard.value(value), limit))
        if not guard.positive(value):
            parts.append(guard.compare("gt", guard.value(value), -limit))
    return parts


def _distinct(b: Builder, array: Value) -> Value:
    """Whether no two elements of an array overlap: from one axis to the next, in one of both directions, strides grow beyond
    what the axes before cover."""
    assert isinstance(array.type, ArrayType)
    ndim, itemsize = array.type.ndim, array.type.dtype.itemsize
    dims = [b.value("dim", array, axis=axis) for axis in range(ndim)]
    sizes = [b.value("abs", b.value("stride", array, axis=axis)) for axis in range(ndim)]
    found: Value | None = None
    for order in dict.fromkeys((tuple(range(ndim)), tuple(reversed(range(ndim))))):
        holds: Value | None = None
        reach = b.i64(itemsize)
        for axis in order:
            single = b.value("cmp", dims[axis], b.i64(1), pred="le")
            clear = b.value("or", single, b.value("cmp", sizes[axis], reach, pred="ge"))
            holds = clear if holds is None else b.value("and", holds, clear)
            rest = b.value("max", b.value("sub", dims[axis], b.i64(1)), b.i64(0))
            reach = b.value("add", reach, b.value("mul", sizes[axis], rest))
        assert holds is not None
        found = holds if found is None else b.value("or", found, holds)
    assert found is not None
    return found
