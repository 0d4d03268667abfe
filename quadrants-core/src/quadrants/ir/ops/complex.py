"""Complex numbers as pairs: arithmetic on them is written on the parts."""

from __future__ import annotations

from quadrants.ir.opdef import OpDef
from quadrants.ir.ops import rules
from quadrants.types import F32, F64, Kind, Scalar, Type


def _complex(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    if types[0] not in (F32, F64) or types[0] != types[1]:
        raise TypeError(f"takes two f32 or two f64, not {types[0]} and {types[1]}")
    assert isinstance(types[0], Scalar)
    return (Scalar(Kind.COMPLEX, types[0].bits * 2),)


def _part(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    if not rules.is_complex(types[0]):
        raise TypeError(f"takes a complex number, not {types[0]}")
    assert isinstance(types[0], Scalar)
    return (types[0].part,)


DEFS = (
    OpDef("complex", _complex, doc="The complex number with the given parts.", derivative="complex(da, db)"),
    OpDef("real", _part, doc="The real part.", derivative="real(da)"),
    OpDef("imag", _part, doc="The imaginary part.", derivative="imag(da)"),
)
