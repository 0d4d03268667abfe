"""Accesses to parts of arrays, such as rows, as accesses to the arrays themselves.

Takes a region and the definitions of its function's values; rewrites loads and stores through a `view` that was made by indexing
and slicing: its offset is a sum of indices times strides of the source, its strides are strides of the source. Then an access
at [j] of the row x[i] is one at [i, j] of x, and the view is gone. Other views stay. Legal because every element of the part is an
element of the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.types import ArrayType


@dataclass(slots=True)
class _Part:
    """A view by the axes of its source: the index where it begins (None: 0), and the axis of the view that runs along it."""

    source: Value
    begins: list[Value | None]
    along: list[int | None]


def flatten(region: Region, makers: Mapping[Value, Op]) -> None:
    """Rewrite the accesses in a region."""
    inside = {result: op for op in region.walk() for result in op.results}
    flattener = _Flattener({**makers, **inside})
    flattener.region(region)
    if flattener.parts:
        used = {operand for op in region.walk() for operand in op.operands}
        _drop(region, {op for op in region.walk() if op.name == "view" and op.result not in used})


def _drop(region: Region, dead: set[Op]) -> None:
    region.ops[:] = [op for op in region.ops if op not in dead]
    for op in region.ops:
        for nested in op.regions:
            _drop(nested, dead)


@dataclass(slots=True)
class _Flattener:
    makers: Mapping[Value, Op]
    parts: dict[Value, _Part] = field(default_factory=dict)

    def region(self, region: Region) -> None:
        out: list[Op] = []
        b = Builder(Region([], out))
        for op in region.ops:
            b.loc = op.loc
            if op.name == "view" and (part := self.part(op)) is not None:
                self.parts[op.result] = part
            first = {"load": 0, "store": 1}.get(op.name)
            if first is not None and op.operands[first] in self.parts:
                self.access(op, first, b)
            for nested in op.regions:
                self.region(nested)
            out.append(op)
        region.ops[:] = out

    def part(self, op: Op) -> _Part | None:
        """The view by the axes of its source, if it is one that can be taken apart."""
        source, offset, *rest = op.operands
        type, old = op.result.type, source.type
        assert isinstance(type, ArrayType) and isinstance(old, ArrayType)
        begins: list[Value | None] = [None] * old.ndim
        along: list[int | None] = [None] * old.ndim
        if type.dtype != old.dtype or not self.offset(offset, source, begins):
            return None
        for axis, stride in enumerate(rest[type.ndim :]):
            found = self.stride(stride, source)
            if found is None or along[found] is not None:
                return None
            along[found] = axis
        return _Part(source, begins, along)

    def stride(self, value: Value, source: Value) -> int | None:
        """The axis of the source that a value is the stride of."""
        op = self.makers.get(value)
        if op is None or op.name != "stride" or op.operands[0] is not source:
            return None
        axis = op.attrs["axis"]
        return axis if isinstance(axis, int) else None

    def offset(self, value: Value, source: Value, begins: list[Value | None]) -> bool:
        """Take an offset apart: fills in where the part begins along each axis."""
        op = self.makers.get(value)
        if op is None:
            return False
        if op.name == "const":
            return op.attrs["value"] == 0
        if op.name == "add":
            return all(self.offset(operand, source, begins) for operand in op.operands)
        if op.name != "mul":
            return False
        for index, stride in (op.operands, op.operands[::-1]):
            axis = self.stride(stride, source)
            if axis is not None and begins[axis] is None:
                begins[axis] = index
                return True
        return False

    def access(self, op: Op, first: int, b: Builder) -> None:
        """Let an op reach the source of a view, and that of a view of a view."""
        while (part := self.parts.get(op.operands[first])) is not None:
            indices = op.operands[first + 1 :]
            op.operands[first:] = [
                part.source,
                *(self.index(b, part, axis, indices) for axis in range(len(part.begins))),
            ]

    @staticmethod
    def index(b: Builder, part: _Part, axis: int, indices: list[Value]) -> Value:
        begin, along = part.begins[axis], part.along[axis]
        if along is None:
            return b.i64(0) if begin is None else begin
        return indices[along] if begin is None else b.value("add", begin, indices[along])
