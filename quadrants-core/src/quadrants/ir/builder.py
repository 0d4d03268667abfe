"""Builds regions op by op, with the result types from the op's own rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from quadrants.ir.core import Loc, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.ops.rules import MODE
from quadrants.types import BOOL, F64, I64, Scalar, Type


class Builder:
    """Appends ops to the current region.

    Args:
        region: where to begin.

    `mode` is the floating-point mode of what is appended, where it is not that of the function.
    """

    __slots__ = ("loc", "mode", "region")

    def __init__(self, region: Region) -> None:
        self.region = region
        self.loc: Loc | None = None
        self.mode = ""

    def op(self, name: str, *operands: Value, regions: Iterable[Region] = (), **attrs: Any) -> Op:
        """Append the op and return it. Raises TypeError when the operands do not fit the op's type rule."""
        defn = OPS[name]
        region_list = list(regions)
        try:
            types = defn.type_rule([operand.type for operand in operands], attrs, region_list)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        if self.mode and MODE in defn.attrs and getattr(operands[0].type, "is_float", False):
            attrs["fp"] = self.mode
        op = Op(defn, list(operands), [Value(type) for type in types], attrs, region_list, self.loc)
        self.region.ops.append(op)
        return op

    def value(self, name: str, *operands: Value, **attrs: Any) -> Value:
        """Append an op with one result and return that."""
        return self.op(name, *operands, **attrs).result

    def const(self, value: bool | int | float | complex, type: Scalar) -> Value:
        """A constant of the machine type."""
        return self.op("const", value=value, type=type).result

    def i64(self, value: int) -> Value:
        return self.const(value, I64)

    def f64(self, value: float) -> Value:
        return self.const(value, F64)

    def bool(self, value: bool) -> Value:
        return self.const(value, BOOL)

    @contextmanager
    def into(self, region: Region) -> Iterator[Region]:
        """Append to another region for the length of a `with`."""
        outer, self.region = self.region, region
        try:
            yield region
        finally:
            self.region = outer


def region_with_args(types: Iterable[Type]) -> Region:
    """An empty region with an argument a type."""
    return Region([Value(type) for type in types])
