"""What NumPy calls the machine scalars: type numbers, and the symbols of the scalar types.

Two C types may have the same layout (long and long long); each scalar lists all of its own, the one that NumPy makes first.
"""

from __future__ import annotations

import functools

import numpy as np

from quadrants._frozen import frozen
from quadrants.types import Scalar
from quadrants.types.dtypes import dtype_of

_CODES = "bBhHiIlLqQefdFD?"


@frozen
class NumpyScalar:
    """Names of one scalar type.

    Args:
        numbers: NumPy's type numbers, preferred one first.
        symbols: the symbols of the Python types of its scalars, preferred one first.
    """

    numbers: tuple[int, ...]
    symbols: tuple[str, ...]


@functools.cache
def numpy_scalar(scalar: Scalar) -> NumpyScalar:
    """NumPy's names of a machine scalar (of a weak one: those of the type that stores it)."""
    preferred = dtype_of(scalar)
    codes = [c for c in _CODES if np.dtype(c).kind == preferred.kind and np.dtype(c).itemsize == preferred.itemsize]
    codes.sort(key=lambda code: code != preferred.char)
    return NumpyScalar(tuple(np.dtype(c).num for c in codes), tuple(_symbol(c) for c in codes))


_NAMES = {"e": "f16", "f": "f32", "d": "f64", "F": "c64", "D": "c128", "?": "bool"}


def _symbol(code: str) -> str:
    return f"qd_np_{_NAMES.get(code) or ('u_' if code.isupper() else 'i_') + code}"
