"""Finding, counting, and indexing by arrays, against NumPy and Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library.modes import DTYPES, check, layouts, sample

from quadrants.library import indexing, sequences

A = sample(np.dtype(float), (3, 4))
T = sample(np.dtype(float), (2, 3, 4))
I = np.array([3, 1, 1, 0, 7, 3])


def test_nonzero(mode):
    for a in (A > 0, T > 1, np.array([0, 3, 0]), np.zeros((2, 0)), np.array([])):
        for x in layouts(a, mode):
            check(mode, np.nonzero, x)
            check(mode, np.argwhere, x)
            check(mode, np.flatnonzero, x)


def test_searchsorted(mode):
    edges = np.array([0.0, 1.0, 1.0, 2.5, 4.0])
    for side in ("left", "right"):
        for v in (-1.0, 1.0, 2.5, 9, A, np.array([np.nan, 1.0])):
            check(mode, np.searchsorted, edges, v, side=side)
    check(mode, np.searchsorted, np.arange(5), 2.5)
    check(mode, np.searchsorted, np.array([2.0, 0.0, 1.0]), 1.5, sorter=np.array([1, 2, 0]))


def test_digitize(mode):
    for bins in (np.array([0.0, 1.0, 2.5]), np.array([2.5, 1.0, 0.0]), np.array([1.0])):
        for right in (False, True):
            check(mode, np.digitize, A, bins, right=right)
            check(mode, np.digitize, bins, bins, right=right)
    check(mode, np.digitize, A, np.array([0.0, 2.0, 1.0]))


def test_bincount(mode):
    check(mode, np.bincount, I)
    check(mode, np.bincount, I, minlength=12)
    check(mode, np.bincount, I, weights=np.arange(6.0))
    check(mode, np.bincount, I[:0])
    check(mode, np.bincount, np.array([1, -1]))
    check(mode, np.bincount, I, weights=np.arange(5.0))


def test_histogram(mode):
    for bins in (3, 10, np.array([-2.0, 0.0, 1.0, 5.0])):
        check(mode, np.histogram, A, bins=bins)
        check(mode, np.histogram, A, bins=bins, density=True)
    check(mode, np.histogram, A, bins=4, range=(0.0, 2.0))
    check(mode, np.histogram, A, bins=4, weights=abs(A))
    check(mode, np.histogram, np.array([1.0, 1.0]), bins=2)
    check(mode, np.histogram, np.array([]), bins=2)
    check(mode, np.histogram, np.arange(10), bins=5)
    check(mode, np.histogram, A.astype(np.float32), bins=5)
    check(mode, np.histogram, A.astype(np.float32), bins=5, range=(-1.0, 3.0))
    check(mode, np.histogram, A, bins=0)
    check(mode, np.histogram, A, bins=np.array([2.0, 1.0]))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60), st.integers(1, 20))
def test_histogram_property(values, bins):
    check("python", np.histogram, np.array(values), bins)


def test_take(mode):
    check(mode, np.take, A, 5)
    check(mode, np.take, A, np.array([0, -1, 3]))
    check(mode, np.take, A, np.array([[0, 2], [1, 1]]), axis=1)
    check(mode, np.take, A, np.array([2, 0]), axis=0)
    check(mode, np.take, A, 1, axis=0)
    check(mode, np.take, A, 99)
    check(mode, np.take, A, np.array([9]), axis=1)
    check(mode, np.take, A, np.array([9, -9]), mode="wrap")
    check(mode, np.take, A, np.array([9, -9]), mode="clip")
    check(mode, np.take_along_axis, A, np.argsort(A, axis=1), axis=1)
    check(mode, np.take_along_axis, A, np.argmax(A, axis=0, keepdims=True), axis=0)


def test_unique(mode):
    for a in (
        I,
        I.reshape(2, 3),
        np.array([2.0, np.nan, 1.0, np.nan, 2.0]),
        np.array([], dtype=int),
        np.array([True, False, True]),
    ):
        check(mode, np.unique, a)
        check(mode, np.unique, a, return_counts=True)
        check(mode, np.unique, a, return_index=True)
        check(mode, np.unique, a, return_inverse=True)
        check(mode, np.unique, a, return_index=True, return_inverse=True, return_counts=True)


def test_isin(mode):
    check(mode, np.isin, I, np.array([1, 7]))
    check(mode, np.isin, A, np.array([1.0, A[0, 0]]))
    check(mode, np.isin, I, np.array([1, 7]), invert=True)


# Indexing by arrays.

INDICES = (
    np.array([2, 0, -1]),
    np.array([[0, 1], [1, 0]]),
    (np.array([0, 1]), np.array([2, 3])),
    (np.array([0, 1]), 2),
    (1, np.array([0, -1])),
    (slice(None), np.array([0, 2])),
    (slice(0, 2), np.array([[0, 2], [1, 1]])),
    (Ellipsis, np.array([0, 1])),
    (np.array([[0], [1]]), np.array([0, 2])),
    (None, np.array([0, 1])),
)
INDICES_3D = (
    (np.array([0, 1]), slice(None), np.array([1, 2])),
    (slice(None), np.array([0, 1]), np.array([1, 2])),
    (0, slice(None), np.array([1, 2])),
    (slice(None), np.array([0, 2])),
    (slice(None), np.array([0, 2]), slice(1, 3)),
    (Ellipsis, np.array([0, 1]), 1),
)


@pytest.mark.parametrize("case", [(A, i) for i in INDICES] + [(T, i) for i in INDICES_3D], ids=lambda c: str(c[1]))
def test_fancy(case):
    for a in layouts(case[0]):
        want = a[case[1]]
        got = indexing.get_fancy(a, case[1])
        assert np.array_equal(got, want) and got.shape == want.shape
        for value in (7.0, np.arange(want.size, dtype=float).reshape(want.shape), np.full(want.shape[-1:], 3.0)):
            x, y = a.copy(), a.copy()
            indexing.set_fancy(x, case[1], value)
            y[case[1]] = value
            assert np.array_equal(x, y)


def test_fancy_errors():
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        indexing.get_fancy(A, np.array([0, 3]))
    with pytest.raises(ValueError):
        indexing.set_fancy(A.copy(), np.array([0, 1]), np.ones(3))


@pytest.mark.parametrize("shape", ((), (3,), (3, 4)), ids=str)
def test_masks(shape):
    a = sample(np.dtype(float), shape + (4,) if shape != (3, 4) else shape)
    mask = sample(np.dtype(bool), a.shape[: max(len(shape), 1)])
    for x in layouts(a):
        assert np.array_equal(indexing.get_masked(x, mask), x[mask])
        count = x[mask].shape
        for value in (2.0, np.float32(3), np.array(4.0), np.arange(np.prod(count), dtype=float).reshape(count)):
            got, want = x.copy(), x.copy()
            indexing.set_masked(got, mask, value)
            want[mask] = value
            assert np.array_equal(got, want)


def test_mask_errors():
    for mask, value in ((np.ones(2, bool), None), (np.array([True, False, True]), np.ones(3))):
        a = np.zeros(3)
        with pytest.raises((IndexError, ValueError)) as want:
            if value is None:
                a[mask]
            else:
                a[mask] = value
        with pytest.raises(type(want.value)) as got:
            indexing.get_masked(a, mask) if value is None else indexing.set_masked(a, mask, value)
        assert str(got.value) == str(want.value)


@settings(max_examples=300, deadline=None)
@given(
    st.none() | st.integers(-12, 12),
    st.none() | st.integers(-12, 12),
    st.integers(-5, 5).filter(bool),
    st.integers(0, 8),
)
def test_slice_bounds(start, stop, step, n):
    want = range(n)[start:stop:step]
    first, count = indexing.slice_bounds(start, stop, step, n)
    assert count == len(want)
    assert first == want.start if count else 0 <= first <= n


# Python's own functions over arrays.


def test_sequences():
    for dtype in DTYPES:
        a = sample(dtype, (7,))
        with np.errstate(all="ignore"):
            assert sequences.sum_of_array(a, 0) == sum(a) and type(sequences.sum_of_array(a, 0)) is type(sum(a))
            assert np.allclose(sequences.sum_of_array(a, 2.5), sum(a, 2.5), rtol=1e-2)
        if dtype.kind != "c":
            assert sequences.min_of_array(a) == min(a) and sequences.max_of_array(a) == max(a)
        assert sequences.any_of_array(a) is any(a) and sequences.all_of_array(a) is all(a)
    assert np.array_equal(sequences.sum_of_array(A, 0), sum(A))
    with pytest.raises(ValueError, match=r"min\(\) (arg is an empty sequence|iterable argument is empty)"):
        sequences.min_of_array(A[0, :0])


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-7, 7).filter(bool), st.integers(-9, 9))
def test_sum_of_range_and_membership(start, stop, step, item):
    assert sequences.sum_of_range(start, stop, step, 5) == sum(range(start, stop, step), 5)
    assert sequences.in_range(item, start, stop, step) is (item in range(start, stop, step))
    assert sequences.in_range(item + 0.5, start, stop, step) is False


def test_contains():
    assert sequences.contains(A, A[1, 2]) and not sequences.contains(A, 99.0)
    assert not sequences.contains(np.array([np.nan]), np.nan)


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.floats())
def test_methods_of_numbers(n, x):
    assert sequences.bit_length(n) == n.bit_length() and sequences.bit_count(n) == n.bit_count()
    assert sequences.is_integer(x) is x.is_integer()


def test_methods_of_tuples():
    assert sequences.count_in((1, 2, 1.0), 1) == 2 and sequences.index_in((1, 2), 2) == 1
    with pytest.raises(ValueError, match="not in tuple"):
        sequences.index_in((1, 2), 3)
