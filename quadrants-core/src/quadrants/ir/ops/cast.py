"""Conversions between scalars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Attr, AttrKind, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.ops.semantics import operand_scalar
from quadrants.ir.rounding import round_to
from quadrants.ir.values import canonical, wrap
from quadrants.types import Scalar, Type
from quadrants.types.dtypes import dtype_of

if TYPE_CHECKING:
    from quadrants.ir.core import Op

_TYPE = (Attr("type", AttrKind.TYPE),)


def _cast(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    target = rules.attr_scalar(attrs, "type")
    if not rules.is_scalar(types[0]):
        raise TypeError(f"converts a scalar, not {types[0]}")
    if rules.is_complex(types[0]) != target.is_complex:
        raise TypeError(f"does not convert between real and complex ({types[0]} to {target})")
    return (target,)


def _bitcast(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    target = rules.attr_scalar(attrs, "type")
    source = types[0]
    if not rules.is_number(source) or not rules.is_number(target):
        raise TypeError(f"reinterprets integers and floats, not {source} as {target}")
    if rules.is_int(source) == rules.is_int(target) or getattr(source, "bits", 0) != target.bits:
        raise TypeError(f"is between an integer and a float of one width, not {source} and {target}")
    return (target,)


def float_to_int(value: float, target: Scalar) -> int:
    """Truncated; INT64_MIN where 64 bits (unsigned for u64) cannot hold it; then wrapped to the width."""
    low, high = (0, 1 << 64) if target.bits == 64 and not target.is_signed else (-(1 << 63), 1 << 63)
    whole = math.trunc(value) if math.isfinite(value) else high
    return wrap(whole if low <= whole < high else -(1 << 63), target)


def _convert(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    source, (value,) = operand_scalar(op), values
    target = op.attrs["type"]
    assert isinstance(target, Scalar)
    if source.is_float and target.is_integer:
        return (float_to_int(float(value), target),)
    if source.is_integer and target.is_float:
        return (canonical(target, round_to(int(value), target.bits)),)
    return (canonical(target, value != 0 if target.is_bool else value),)


def _reinterpret(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    target = op.attrs["type"]
    assert isinstance(target, Scalar)
    return (canonical(target, dtype_of(operand_scalar(op)).type(values[0]).view(dtype_of(target))),)


DEFS = (
    OpDef(
        "cast",
        _cast,
        reference=_convert,
        attrs=_TYPE,
        doc="Convert. Int to int wraps or extends; bool gives 0 or 1; to bool is x != 0; to float rounds to nearest even; "
        "float to int truncates, and NaN or a value outside int64 (uint64 for u64) gives INT64_MIN, then wraps to the width.",
        derivative="cast(da) between floats, else none",
    ),
    OpDef(
        "bitcast",
        _bitcast,
        reference=_reinterpret,
        attrs=_TYPE,
        doc="The same bits as another type: between an integer and a float of one width.",
        derivative="none: bits",
    ),
)
