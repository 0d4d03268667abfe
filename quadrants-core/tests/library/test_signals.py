"""Differences, convolution, interpolation, comparisons and reductions without nan, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library.modes import check, layouts, sample

A = sample(np.dtype(float), (3, 4))
C = sample(np.dtype(np.complex128), (3, 4))
V = sample(np.dtype(float), (6,))
N = np.where(A > 2.0, np.nan, A)


def test_diff(mode):
    for n in (0, 1, 2, 6):
        check(mode, np.diff, V, n=n)
    check(mode, np.diff, A, axis=0)
    check(mode, np.diff, A > 0, axis=1)
    check(mode, np.diff, V, prepend=0.0, append=V[:2])
    check(mode, np.diff, A, prepend=A[:, :1])
    check(mode, np.diff, V, n=-1)
    check(mode, np.diff, np.arange(4, dtype=np.uint8)[::-1])
    check(mode, np.ediff1d, A)
    check(mode, np.ediff1d, V, to_begin=1.0, to_end=np.array([2.0, 3.0]))


def test_convolve(mode):
    for original in (np.convolve, np.correlate):
        for kind in ("full", "same", "valid"):
            for n in (1, 2, 3, 6):
                check(mode, original, V, V[:n], mode=kind)
                check(mode, original, V[:n], V, mode=kind)
        check(mode, original, np.arange(4), np.arange(3), mode="full")
        check(mode, original, C[0], C[1], mode="full")
    check(mode, np.convolve, V[:0], V)
    check(mode, np.convolve, V, V[:0])


def test_interp(mode):
    places = np.array([0.0, 1.0, 2.0, 4.0])
    values = np.array([1.0, -1.0, 3.0, 0.5])
    for x in (-1.0, 0.0, 0.5, 2, 4.0, 5.0, np.nan, A, np.array([])):
        check(mode, np.interp, x, places, values)
        check(mode, np.interp, x, places, values, left=-7.0, right=9.0)
    check(mode, np.interp, A, places, values, period=3.0)
    check(mode, np.interp, A, places, values + 1j)
    check(mode, np.interp, A, np.arange(4), np.arange(4) * 2)
    check(mode, np.interp, A, places, values[:3])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=9, unique=True), st.floats(-11, 11))
def test_interp_property(places, x):
    xs = np.sort(np.array(places))
    check("python", np.interp, x, xs, np.cos(xs), rtol=1e-9, atol=1e-9)


def test_integrals_and_polynomials(mode):
    check(mode, np.trapezoid, V)
    check(mode, np.trapezoid, A, axis=0)
    check(mode, np.trapezoid, A, np.array([0.0, 1.0, 3.0, 4.5]))
    check(mode, np.trapezoid, A, dx=0.5)
    check(mode, np.polyval, V, 1.5)
    check(mode, np.polyval, V, A)
    check(mode, np.polyval, np.arange(3), np.arange(4))
    check(mode, np.gradient, V)
    check(mode, np.gradient, V, 0.5)


def test_closeness(mode):
    near = A * (1 + 1e-7)
    for original in (np.isclose, np.allclose):
        check(mode, original, A, near, kinds=original is np.isclose)
        check(mode, original, A, A + 1e-3, kinds=original is np.isclose)
        check(mode, original, A, A + 1e-3, atol=1e-2, kinds=original is np.isclose)
        check(mode, original, N, N, kinds=original is np.isclose)
        check(mode, original, N, N, equal_nan=True, kinds=original is np.isclose)
        check(
            mode,
            original,
            np.array([np.inf, -np.inf, 1.0]),
            np.array([np.inf, np.inf, np.inf]),
            kinds=original is np.isclose,
        )
        check(mode, original, C, C + 1e-9j, kinds=original is np.isclose)
    check(mode, np.isclose, 1.0, 1.0 + 1e-9)
    for x, y in ((A, A.copy()), (A, A + 1), (A, A[:2]), (A, V), (np.arange(3), np.arange(3.0)), (N, N)):
        check(mode, np.array_equal, x, y)
    check(mode, np.array_equal, N, N, equal_nan=True)


def test_nan_to_num(mode):
    x = np.array([np.nan, np.inf, -np.inf, 1.5])
    check(mode, np.nan_to_num, x)
    check(mode, np.nan_to_num, x.astype(np.float32))
    check(mode, np.nan_to_num, x, nan=1.0, posinf=2.0, neginf=-3.0)
    check(mode, np.nan_to_num, x + 1j)
    check(mode, np.nan_to_num, np.arange(3))
    check(mode, np.angle, C)
    check(mode, np.angle, C, deg=True)


NAN_REDUCTIONS = (
    np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmin, np.nanmax, np.nanmedian, np.nanargmin, np.nanargmax,
)  # fmt: skip


@pytest.mark.parametrize("original", NAN_REDUCTIONS, ids=lambda f: f.__name__)
def test_nan_reductions(mode, original):
    for a in (N, A, N.astype(np.float32), np.arange(6).reshape(2, 3)):
        for x in layouts(a, mode):
            check(mode, original, x)
            check(mode, original, x, axis=0)
            check(mode, original, x, axis=1, keepdims=True)
    check(mode, original, np.array([np.nan, np.nan]))
    if original in (np.nanvar, np.nanstd):
        check(mode, original, N, ddof=1)
        check(mode, original, N, axis=0, ddof=4)


def test_nan_infinities(mode):
    for values in ([np.nan, np.inf], [np.nan, -np.inf, np.inf], [np.nan, np.inf, np.nan]):
        for original in (np.nanargmin, np.nanargmax, np.nanmin, np.nanmax, np.nansum):
            check(mode, original, np.array(values))


def test_nan_quantiles(mode):
    check(mode, np.nanpercentile, N, 30)
    check(mode, np.nanpercentile, N, 30.0, axis=0)
    check(mode, np.nanquantile, N, 0.25, axis=1, keepdims=True)
    check(mode, np.nanquantile, N, 2.0)
    check(mode, np.nancumsum, N)
    check(mode, np.nancumsum, N, axis=0)
