"""Medians, quantiles, averages and covariance against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library.modes import DTYPES, check, layouts, sample

from quadrants.library.statistics import select


@pytest.mark.parametrize("shape", ((1,), (2,), (9,), (40,), (3, 4), (2, 3, 5)), ids=str)
def test_median(mode, shape):
    for dtype in DTYPES[:-2] if mode == "python" else DTYPES[3:-2:4]:
        for a in layouts(sample(dtype, shape), mode):
            check(mode, np.median, a)
            check(mode, np.median, a, axis=0)
            check(mode, np.median, a, axis=-1, keepdims=True)


def test_median_special(mode):
    for values in (
        [np.nan, 1.0],
        [1.0, np.inf],
        [np.inf, -np.inf],
        [],
        [5.0] * 50,
        list(range(100)),
        list(range(99, 0, -1)),
    ):
        check(mode, np.median, np.array(values))
    check(mode, np.median, np.ones((2, 3, 4)), axis=(0, 2))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=200), st.data())
def test_select(values, data):
    w = np.array(values)
    k = data.draw(st.integers(0, len(values) - 1))
    want = np.sort(w)
    assert select(w, k) == want[k] == w[k]
    assert (w[:k] <= w[k]).all() and (w[k:] >= w[k]).all() and np.array_equal(np.sort(w), want)


def test_select_stays_fast_on_hard_orders():
    """An organ pipe and a saw tooth, which defeat simple pivots, end in time."""
    n = 20_000
    for w in (np.r_[np.arange(n), np.arange(n)[::-1]], np.arange(2 * n) % 7, np.arange(2 * n)[::-1].copy()):
        w = w.astype(np.float64)
        want = np.sort(w)[n]
        assert select(w, n) == want


@pytest.mark.parametrize("shape", ((1,), (7,), (3, 4)), ids=str)
def test_quantiles(mode, shape):
    for dtype in ("int32", "uint8", "float32", "float64"):
        for a in layouts(sample(np.dtype(dtype), shape), mode):
            for q in (0, 10, 33.3, 50, 99.9, 100):
                check(mode, np.percentile, a, q)
            for q in (0.0, 0.25, 1, np.float64(0.7)):
                check(mode, np.quantile, a, q)
                check(mode, np.quantile, a, q, axis=0)
                check(mode, np.quantile, a, q, axis=-1, keepdims=True)


def test_many_quantiles(mode):
    a = sample(np.dtype(float), (4, 5))
    q = np.array([0.1, 0.5, 0.9])
    check(mode, np.quantile, a, q)
    check(mode, np.quantile, a, q, axis=0)
    check(mode, np.quantile, a, q, axis=1, keepdims=True)
    check(mode, np.percentile, a, (25, 75))
    check(mode, np.percentile, a, np.array([[10.0, 20.0], [30.0, 40.0]]), axis=1)


def test_quantile_errors(mode):
    a = np.ones(3)
    check(mode, np.percentile, a, 101)
    check(mode, np.quantile, a, -0.1)
    check(mode, np.quantile, a, np.array([0.5, 2.0]))
    check(mode, np.quantile, np.empty(0), 0.5)
    check(mode, np.quantile, np.array([1.0, np.nan]), 0.5)
    check(mode, np.quantile, np.ones(3, complex), 0.5)


def test_average(mode):
    a = sample(np.dtype(float), (3, 4))
    check(mode, np.average, a)
    check(mode, np.average, a, axis=0)
    check(mode, np.average, a, axis=1, weights=np.array([1.0, 2.0, 3.0, 4.0]))
    check(mode, np.average, a, weights=abs(a))
    check(mode, np.average, a, axis=0, weights=abs(a), keepdims=True)
    check(mode, np.average, np.arange(4), weights=np.array([1, 2, 0, 1]))
    check(mode, np.average, a, weights=np.zeros((3, 4)))
    check(mode, np.average, a, weights=np.ones(4))
    check(mode, np.average, a, axis=0, weights=np.ones(4))
    check(mode, np.average, np.arange(5.0), weights=np.ones(5), returned=True)


def test_cov_and_corrcoef(mode):
    a = sample(np.dtype(float), (3, 7))
    b = sample(np.dtype(float), (3, 7), seed=1)
    for original in (np.cov, np.corrcoef):
        check(mode, original, a, rtol=1e-12)
        check(mode, original, a, b, rtol=1e-12)
        check(mode, original, a, rowvar=False, rtol=1e-9)
        check(mode, original, a[0], kinds=False)
        check(mode, original, a[0], b[0], rtol=1e-12)
    check(mode, np.cov, a, bias=True)
    check(mode, np.cov, a, ddof=2)
    check(mode, np.cov, a + 1j * b)
