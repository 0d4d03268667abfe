"""Complex numbers as pairs: arithmetic on them is written on the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.ir.opdef import OpDef
from quadrants.ir.ops import rules
from quadrants.ir.ops.semantics import plain
from quadrants.types import F32, F64, Kind, Scalar, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op

_COMPLEX = {np.float32: np.complex64, np.float64: np.complex128}


def _make(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    # Through memory: arithmetic such as re + 1j * im would turn infinities into NaN.
    parts = np.array(values)
    return (parts.view(_COMPLEX[parts.dtype.type])[0],)


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
    OpDef(
        "complex",
        _complex,
        reference=_make,
        doc="The complex number with the given parts.",
        derivative="complex(da, db)",
    ),
    OpDef("real", _part, reference=plain(lambda value: value.real), doc="The real part.", derivative="real(da)"),
    OpDef("imag", _part, reference=plain(lambda value: value.imag), doc="The imaginary part.", derivative="imag(da)"),
)
