"""Arrays that cannot be, and numbers that cannot be Python's ints in 64 bits: the classes of errors are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import quadrants as qd


def zeros(n):
    return np.zeros(n)


def square(n):
    return np.empty((n, n), np.int16)


def rows(n):
    return np.empty((n, 4), np.int8)


def counted(n):
    return np.arange(n)


def empty_axis(n):
    return np.full((n, 0, n), 1.0)


@pytest.mark.parametrize("make", [zeros, square, rows, counted, empty_axis])
@pytest.mark.parametrize("n", [2**63 - 1, 2**62, 2**61, 2**60, 2**32, 2**31])
def test_huge_arrays_raise_what_numpys_raise(make, n):
    if make in (zeros, rows, counted) and n < 2**60:
        return  # some machines have the memory
    if make is counted and n == 2**63 - 1:
        return  # NumPy counts in floats, and gives an array of no elements
    try:
        make(n)
    except (ValueError, MemoryError) as error:
        with pytest.raises((ValueError, MemoryError)) as ours:
            qd.njit(make)(n)
        assert ours.type is (ValueError if isinstance(error, ValueError) else MemoryError)
        if ours.type is ValueError and "too big" in str(error):
            assert str(ours.value) == str(error)
    else:
        assert qd.njit(make)(n).shape == make(n).shape


def test_an_item_past_64_bits_is_told():
    @qd.njit
    def item(a):
        return a.item(), a[0].item()

    assert item(np.array([2**63 - 1], np.uint64)) == (2**63 - 1, 2**63 - 1)
    with pytest.raises(OverflowError, match="too large"):
        item(np.array([2**63 + 5], np.uint64))


def test_arrays_that_were_not_put_into_a_tuple():
    @qd.njit
    def joined(a):
        return np.concatenate(a, a)

    with pytest.raises(TypeError, match=r"pass the arrays as one tuple, np.concatenate\(\(a, b\)\)"):
        joined(np.ones(3))
