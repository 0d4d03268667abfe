"""Making arrays, against NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from library.modes import DTYPES, check, sample


def test_arange(mode):
    for args in (
        (5,),
        (0,),
        (-3,),
        (2, 7),
        (7, 2),
        (1, 10, 3),
        (10, 1, -3),
        (0, 1, 0.1),
        (5.5,),
        (0.5, 3),
        (1, 1.0, 0.25),
    ):
        check(mode, np.arange, *args)
    check(mode, np.arange, np.int32(4))
    check(mode, np.arange, 4, dtype=np.float32)
    check(mode, np.arange, 1, 4, 0.5, dtype=np.float32)
    check(mode, np.arange, 0, 5, 1, dtype=np.uint8)


def test_arange_errors(mode):
    check(mode, np.arange, 0, 1, 0)
    check(mode, np.arange, 0.0, 1.0, 0.0)
    check(mode, np.arange, 0.0, np.nan)
    check(mode, np.arange, 0.0, np.inf)


@settings(max_examples=200, deadline=None)
@given(st.floats(-100, 100), st.floats(-100, 100), st.floats(0.1, 10))
def test_arange_property(start, stop, step):
    check("python", np.arange, start, stop, step, rtol=0.0)


def test_linspace(mode):
    for args in ((0.0, 1.0), (0, 10, 11), (1, 1, 3), (2.5, -1, 4), (0, 1, 1), (0, 1, 0), (0, 1, -1)):
        check(mode, np.linspace, *args)
        check(mode, np.linspace, *args, endpoint=False)
    check(mode, np.linspace, 0, 10, 4, dtype=np.int64)
    check(mode, np.linspace, -3, 3, 5, dtype=np.float32)
    check(mode, np.linspace, 0, 1, 5, retstep=True)
    check(mode, np.linspace, 0, 1 + 1j, 5)
    check(mode, np.linspace, 0.0, 5e-324, 10)
    check(mode, np.linspace, np.float32(0), 1.0, 5)
    check(mode, np.linspace, np.int8(0), np.float32(1), 5)
    check(mode, np.logspace, 0, 3, 4)
    check(mode, np.logspace, 0, 3, 4, base=2.0)


def test_eye(mode):
    for k in (-2, 0, 1, 5):
        check(mode, np.eye, 3, k=k)
        check(mode, np.eye, 3, 4, k)
    check(mode, np.eye, 2, dtype=np.int32)
    check(mode, np.identity, 3)
    check(mode, np.identity, 2, dtype=np.complex64)
    check(mode, np.eye, -1)
    check(mode, np.identity, -1)


def test_array(mode):
    check(mode, np.array, (1, 2, 3))
    check(mode, np.array, (1, 2.5, True))
    check(mode, np.array, ((1, 2), (3, 4)))
    check(mode, np.array, ((1, 2), (3, 4)), dtype=np.float32)
    check(mode, np.array, ())
    check(mode, np.array, 3.5)
    check(mode, np.array, 3, dtype=np.int8)
    check(mode, np.array, (1j, 2))
    check(mode, np.asarray, (1, 2), dtype=np.float64)
    check(mode, np.array, (1, 2), ndmin=2)


def test_copies(mode):
    for dtype in DTYPES[::4]:
        a = sample(dtype, (3, 4))
        for x in (a, np.asfortranarray(a), a[:, ::2]):
            for original in (np.array, np.copy, np.asarray, np.ascontiguousarray, np.asfortranarray):
                check(mode, original, x)
            check(mode, np.asarray, x, dtype=np.complex128)
            check(mode, np.array, x, dtype=np.complex128)


def test_orders_are_kept():
    from quadrants.library import creation

    f = np.asfortranarray(np.ones((3, 4)))
    assert creation.copy(f).flags.f_contiguous and creation.array(f).flags.f_contiguous
    assert creation.ascontiguousarray(f).flags.c_contiguous
    assert creation.asfortranarray(np.ones((3, 4))).flags.f_contiguous
    assert creation.asarray(f) is f and creation.asfortranarray(f) is f
    assert not np.shares_memory(creation.copy(f), f)
