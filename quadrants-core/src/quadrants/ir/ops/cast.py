"""Conversions between scalars."""

from __future__ import annotations

from quadrants.ir.opdef import Attr, AttrKind, OpDef
from quadrants.ir.ops import rules
from quadrants.types import Type

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


DEFS = (
    OpDef(
        "cast",
        _cast,
        attrs=_TYPE,
        doc="Convert. Int to int wraps or extends; bool gives 0 or 1; to bool is x != 0; to float rounds to nearest even; "
        "float to int truncates, and NaN or a value outside int64 (uint64 for u64) gives INT64_MIN, then wraps to the width.",
        derivative="cast(da) between floats, else none",
    ),
    OpDef(
        "bitcast",
        _bitcast,
        attrs=_TYPE,
        doc="The same bits as another type: between an integer and a float of one width.",
        derivative="none: bits",
    ),
)
