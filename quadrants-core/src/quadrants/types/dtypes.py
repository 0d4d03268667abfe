"""Between NumPy dtypes and scalar types."""

from __future__ import annotations

import numpy as np

from quadrants.types.scalar import BOOL, Kind, Scalar

_KIND = {"i": Kind.INT, "u": Kind.UINT, "f": Kind.FLOAT, "c": Kind.COMPLEX}
_CHAR = {kind: char for char, kind in _KIND.items()}


def scalar_of(dtype: np.dtype) -> Scalar | None:
    """The scalar type of a native-endian numeric or Boolean dtype; None for every other dtype."""
    if dtype.kind == "b":
        return BOOL
    kind = _KIND.get(dtype.kind)
    if kind is None or not dtype.isnative or dtype.itemsize > (16 if kind is Kind.COMPLEX else 8):
        return None
    return Scalar(kind, dtype.itemsize * 8)


def dtype_of(scalar: Scalar) -> np.dtype:
    """The NumPy dtype that stores the scalar (weak types: int64, float64, complex128, bool)."""
    return np.dtype(np.bool_) if scalar.is_bool else np.dtype(f"{_CHAR[scalar.kind]}{scalar.itemsize}")


def layout_of(array: np.ndarray) -> str:
    """The layout letter of an array: "C" where it is C-contiguous, else "F" or "A"."""
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else "A"
