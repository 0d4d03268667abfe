"""The promotion rules of NumPy 2 (NEP 50), and the join of types where control flow meets."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from quadrants.types.dtypes import dtype_of, scalar_of
from quadrants.types.scalar import (
    BOOL,
    C64,
    C128,
    F32,
    F64,
    I64,
    PYBOOL,
    PYCOMPLEX,
    PYFLOAT,
    PYINT,
    U64,
    Kind,
    Scalar,
)

_WEAK_BY_KIND = {Kind.BOOL: PYBOOL, Kind.INT: PYINT, Kind.FLOAT: PYFLOAT, Kind.COMPLEX: PYCOMPLEX}


#: Whether what is compiled at present follows the rules of kernels instead of NumPy's.
_KERNEL: ContextVar[bool] = ContextVar("kernel", default=False)


@contextmanager
def rules_of_kernels(apply: bool) -> Iterator[None]:
    """For the length of a `with`, `promote` and `join` follow the rules of kernels: an integer with a float is of the float's
    type, and what is a Python number on another path does not widen a variable."""
    token = _KERNEL.set(apply)
    try:
        yield
    finally:
        _KERNEL.reset(token)


def kernel_rules() -> bool:
    """Whether the rules of kernels hold."""
    return _KERNEL.get()


def quotient_of_integers() -> Scalar:
    """The type of a quotient of NumPy's integers."""
    return F32 if _KERNEL.get() else F64


def promote(a: Scalar, b: Scalar) -> Scalar:
    """The type of an arithmetic operation on the two. A weak operand takes the strong one's width where the kinds allow.

    >>> str(promote(Scalar(Kind.FLOAT, 32), PYFLOAT)), str(promote(PYINT, PYFLOAT))
    ('f32', 'pyfloat')
    """
    return (_promote_in_kernels if _KERNEL.get() else _promote)(a, b)


@functools.cache
def _promote_in_kernels(a: Scalar, b: Scalar) -> Scalar:
    """As NumPy, but integers do not widen floats, and unsigned 64-bit integers win over signed ones, as in C."""
    inexact = [scalar for scalar in (a, b) if scalar.is_float or scalar.is_complex]
    if len(inexact) == 1 and not (a.weak and b.weak):
        return F32 if inexact[0] == PYFLOAT else C64 if inexact[0] == PYCOMPLEX else inexact[0]
    if {a, b} == {U64, I64}:
        return U64
    if U64 in (a, b) and not (a.weak or b.weak):
        return U64
    return _promote(a, b)


@functools.cache
def _promote(a: Scalar, b: Scalar) -> Scalar:
    if a.weak and b.weak:
        return max(a, b, key=lambda scalar: scalar.kind.value)
    if a.weak or b.weak:
        strong, weak = (b, a) if a.weak else (a, b)
        return _promote_weak(strong, weak.kind)
    result = scalar_of(np.promote_types(dtype_of(a), dtype_of(b)))
    assert result is not None
    return result


def _promote_weak(strong: Scalar, weak: Kind) -> Scalar:
    if weak is Kind.BOOL or weak.value <= strong.kind.value:
        return strong
    if weak is Kind.INT:
        return I64 if strong.is_bool else strong
    if weak is Kind.FLOAT:
        return F64
    part = {16: 32, 32: 32, 64: 64}.get(strong.bits, 64) if strong.is_float else 64
    return Scalar(Kind.COMPLEX, 2 * part)


def weak_of(value: bool | int | float | complex) -> Scalar:
    """The weak type of a Python number."""
    if isinstance(value, bool):
        return PYBOOL
    if isinstance(value, int):
        return PYINT
    return PYFLOAT if isinstance(value, float) else PYCOMPLEX


def join(a: Scalar, b: Scalar) -> Scalar:
    """The type of a variable that holds `a` on one path and `b` on the other: never narrower than either, but that a Python
    number takes a sized type in kernels."""
    return promote(a, b) if _KERNEL.get() else _join(a, b)


@functools.cache
def _join(a: Scalar, b: Scalar) -> Scalar:
    if a == b:
        return a
    if a.weak and b.weak:
        return max(a, b, key=lambda scalar: scalar.kind.value)
    if a.weak or b.weak:
        strong, weak = (b, a) if a.weak else (a, b)
        sized = {Kind.BOOL: BOOL, Kind.INT: I64, Kind.FLOAT: F64, Kind.COMPLEX: C128}[weak.kind]
        return promote(strong, sized)
    return promote(a, b)


def weak_version(scalar: Scalar) -> Scalar:
    """The Python number type of the same kind."""
    return _WEAK_BY_KIND[Kind.INT if scalar.kind is Kind.UINT else scalar.kind]


def representable(value: bool | int | float | complex, scalar: Scalar) -> bool:
    """Whether the Python number is exactly a value of the (strong) type."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        if scalar.is_bool:
            return False
        if scalar.is_integer:
            low, high = integer_range(scalar)
            return low <= value <= high
        mantissa = {16: 11, 32: 24, 64: 53}[scalar.part.bits]
        return abs(value) <= 2**mantissa
    if isinstance(value, float):
        if not (scalar.is_float or scalar.is_complex):
            return False
        with np.errstate(all="ignore"):
            narrowed = float(dtype_of(scalar.part).type(value))
        return narrowed == value or value != value
    return scalar.is_complex and representable(value.real, scalar.part) and representable(value.imag, scalar.part)


def integer_range(scalar: Scalar) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if scalar.is_signed:
        return -(1 << (scalar.bits - 1)), (1 << (scalar.bits - 1)) - 1
    return 0, (1 << scalar.bits) - 1
