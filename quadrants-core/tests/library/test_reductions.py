"""Reductions against NumPy: every dtype, axis, keepdims and layout."""

from __future__ import annotations

import numpy as np
import pytest
from library.modes import DTYPES, check, layouts, sample

REDUCTIONS = (np.sum, np.prod, np.mean, np.var, np.std, np.min, np.max, np.ptp, np.any, np.all, np.count_nonzero)
SHAPES = ((), (1,), (7,), (3, 4), (0, 3), (2, 3, 4))


def axes(ndim, tuples):
    yield {}
    for axis in range(-ndim, ndim):
        yield {"axis": axis}
    if ndim > 1 and tuples:
        yield {"axis": (0, -1)}
        yield {"axis": (1, 0), "keepdims": True}
    if ndim > 0:
        yield {"axis": 0, "keepdims": True}
    yield {"keepdims": True}


@pytest.mark.parametrize("original", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reduction(original, shape):
    for dtype in DTYPES:
        if dtype.kind == "b" and original is np.ptp:
            continue  # NumPy has no subtraction of booleans
        for a in layouts(sample(dtype, shape)):
            for kwargs in axes(a.ndim, True):
                check("python", original, a, **kwargs)


@pytest.mark.parametrize("original", (np.argmin, np.argmax), ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_arg_reduction(original, shape):
    for dtype in DTYPES:
        for a in layouts(sample(dtype, shape)):
            for kwargs in axes(a.ndim, False):
                check("python", original, a, **kwargs)


@pytest.mark.parametrize("original", (np.cumsum, np.cumprod), ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_running(original, shape):
    for dtype in DTYPES:
        for a in layouts(sample(dtype, shape)):
            check("python", original, a)
            for axis in range(-a.ndim, a.ndim):
                check("python", original, a, axis=axis)


@pytest.mark.slow
@pytest.mark.parametrize("original", (*REDUCTIONS, np.argmin, np.argmax, np.cumsum), ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ("bool", "uint8", "int32", "float16", "float32", "complex128"))
def test_compiled(original, dtype):
    if dtype == "bool" and original is np.ptp:
        return
    a = sample(np.dtype(dtype), (3, 4))
    for kwargs in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
        if original is np.cumsum:
            kwargs.pop("keepdims", None)
        check("compiled", original, a, **kwargs)
        check("compiled", original, a[:0], **kwargs)
        check("compiled", original, np.repeat(a, 2, axis=1)[:, ::2], **kwargs)
    check("compiled", original, a[0])
    check("compiled", original, sample(np.dtype(dtype), (300,)))


@pytest.mark.parametrize("original", (*REDUCTIONS, np.argmin, np.argmax), ids=lambda f: f.__name__)
def test_special_values(mode, original):
    for values in (
        [1.0, np.nan, 2.0],
        [np.nan],
        [np.inf, 1.0],
        [np.inf, -np.inf],
        [-0.0, -0.0],
        [0.0, -0.0],
        [1.0] * 9 + [np.nan] + [0.5] * 9,
        [-np.inf] * 200,
    ):
        for dtype in (np.float64, np.float32):
            check(mode, original, np.array(values, dtype))


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.complex128, np.int32), ids=lambda t: t.__name__)
def test_dtype_argument(mode, dtype):
    a = sample(np.dtype(np.float32), (3, 5))
    for original in (np.sum, np.prod, np.cumsum, np.cumprod):
        check(mode, original, a, dtype=dtype)
        check(mode, original, a, axis=0, dtype=dtype)
    if dtype is not np.int32:
        check(mode, np.mean, a, dtype=dtype)
        check(mode, np.mean, a, axis=1, dtype=dtype)


def test_ddof(mode):
    a = sample(np.dtype(np.float64), (4, 5))
    for original in (np.var, np.std):
        for ddof in (0, 1, 2, 5, 30, 1.5):
            check(mode, original, a, ddof=ddof)
            check(mode, original, a, axis=1, ddof=ddof)


@pytest.mark.parametrize("original", (np.sum, np.mean, np.min, np.argmax, np.cumsum), ids=lambda f: f.__name__)
def test_axis_errors(mode, original):
    a = np.ones((2, 3))
    check(mode, original, a, axis=2)
    check(mode, original, a, axis=-3)
    if original in (np.sum, np.min):
        check(mode, original, a, axis=(0, 0))
        check(mode, original, a, axis=(0, 5))


def test_out(mode):
    for original in (np.sum, np.max, np.mean):
        check(mode, original, sample(np.dtype(float), (3, 4)), axis=0, out=np.zeros(4))


def test_long_sums_are_accurate():
    """The error stays below a few rounding errors whatever the length."""
    from quadrants.library.reductions import sum_, var

    rng = np.random.default_rng(1)
    a = (rng.random(100_001) + 0.1).astype(np.float32)
    exact = a.astype(np.float64).sum()
    assert abs(float(sum_(a)) - exact) <= 4e-7 * exact
    assert abs(float(var(a)) - a.astype(np.float64).var()) <= 2e-6
    assert float(sum_(np.full(4097, 0.1))) == pytest.approx(409.7, rel=1e-15)


def test_tuples_and_scalars(mode):
    if mode == "python":
        check(mode, np.sum, (1, 2, 3))
        check(mode, np.sum, ((1, 2.5), (3, 4)), axis=0)
        check(mode, np.max, 3.0)
