"""Splitting, padding, sets, polynomials, ufunc methods and other element-wise functions, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from library.modes import check, compiled, outcome, sample

from quadrants.library import registry

A = sample(np.dtype(float), (4, 6))
T = sample(np.dtype(float), (2, 3, 4))
V = sample(np.dtype(float), (7,))
I = np.array([4, 2, 2, 9, 0, 4])
J = np.array([2, 3, 9])


def test_split(mode):
    for original in (np.split, np.array_split):
        check(mode, original, A, indices_or_sections=2)
        check(mode, original, A, indices_or_sections=3, axis=1)
        check(mode, original, A, indices_or_sections=(1, 3), axis=1)
        check(mode, original, A, indices_or_sections=(1, 9))
        check(mode, original, V, indices_or_sections=3)
    check(mode, np.hsplit, A, indices_or_sections=2)
    check(mode, np.hsplit, V[:6], indices_or_sections=2)
    check(mode, np.vsplit, A, indices_or_sections=2)
    check(mode, np.dsplit, T, indices_or_sections=2)
    check(mode, np.vsplit, V, indices_or_sections=2)


def test_delete_and_insert(mode):
    for place in (0, 2, -1, 9):
        check(mode, np.delete, V, place)
        check(mode, np.insert, V, place, 5.0)
    check(mode, np.delete, V, np.array([0, 3, -1]))
    check(mode, np.delete, A, 1, axis=0)
    check(mode, np.delete, A, np.array([1, 2]), axis=1)
    check(mode, np.delete, A, 3)
    check(mode, np.insert, V, 1, np.array([5.0, 6.0]))
    check(mode, np.insert, A, 1, 5.0, axis=0)
    check(mode, np.insert, A, 1, np.arange(4.0), axis=1)
    check(mode, np.insert, A, 1, np.arange(6.0), axis=0)
    check(mode, np.insert, A, 2, 7)


def test_choices(mode):
    check(mode, np.compress, np.array([True, False, True]), A, axis=0)
    check(mode, np.compress, A.reshape(-1) > 1, A)
    check(mode, np.extract, A > 1, A)
    check(mode, np.select, (A > 2, A > 0), (A, -A), default=9.0)
    check(mode, np.select, (A > 2,), (A,))
    check(mode, np.trim_zeros, np.array([0, 0, 1, 0, 2, 0]))
    check(mode, np.trim_zeros, np.array([0, 0, 1, 0, 2, 0]), trim="f")
    check(mode, np.unravel_index, 13, (4, 6))
    check(mode, np.unravel_index, np.array([0, 13, 23]), (4, 6))
    check(mode, np.unravel_index, 99, (4, 6))
    check(mode, np.ravel_multi_index, (2, 1), (4, 6))
    check(mode, np.ravel_multi_index, (np.array([2, 3]), np.array([1, 5])), (4, 6))
    check(mode, np.diag_indices, 3)
    check(mode, np.diag_indices, 3, ndim=3)


def changes(original, *args):
    """Asserts that the library changes its first argument as the original does."""
    want = args[0].copy()
    got = args[0].copy()
    wrong = outcome(original, (want, *args[1:]), {})
    result = outcome(registry.lookup(registry.key_of(original)), (got, *args[1:]), {})
    assert type(wrong) is type(result), (wrong, result)
    assert np.allclose(got, want), (original, got, want)


def test_writers():
    changes(np.put, A, np.array([0, 5, -1]), np.array([9.0, 8.0]))
    changes(np.put, A, np.array([0, 99]), 1.0)
    changes(np.copyto, A, np.arange(6.0))
    changes(np.copyto, A, 3.0)
    changes(np.putmask, A, A > 1, np.array([1.0, 2.0]))
    changes(np.place, A, A > 1, np.array([1.0, 2.0]))
    mask = A > 1
    got, want = A.copy(), A.copy()
    registry.lookup("numpy:copyto")(got, -A, where=mask)
    np.copyto(want, -A, where=mask)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("kind", ("constant", "edge", "wrap", "reflect", "symmetric"))
def test_pad(mode, kind):
    for width in (2, (1, 3), ((1, 2), (0, 3))):
        check(mode, np.pad, A, pad_width=width, mode=kind)
    check(mode, np.pad, V, pad_width=3, mode=kind)
    check(mode, np.pad, V, pad_width=(0, 20), mode=kind)
    if kind == "constant":
        check(mode, np.pad, V, pad_width=2, constant_values=7.5)


def test_sets(mode):
    for original in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d):
        check(mode, original, I, J)
        check(mode, original, V, V[:3])
        check(mode, original, I.reshape(2, 3), J)
        check(mode, original, I[:0], J)
    check(mode, np.lexsort, (I, I[::-1]))
    check(mode, np.lexsort, (V,))
    check(mode, np.array_equiv, A, A[:1])
    check(mode, np.array_equiv, A, A.copy())


def test_partition():
    for k in (0, 3, 6):
        got = registry.lookup("numpy:partition")(V, k)
        assert got[k] == np.sort(V)[k] and (got[:k] <= got[k]).all() and (got[k:] >= got[k]).all()
        assert V[registry.lookup("numpy:argpartition")(V, k)[k]] == np.sort(V)[k]


def test_elementwise(mode):
    check(mode, np.gcd, I, 6)
    check(mode, np.gcd, -I, J[:, None])
    check(mode, np.lcm, I, 6)
    check(mode, np.ldexp, A, 3)
    check(mode, np.ldexp, np.array([1.0, 0.5]), np.array([1023, -1074]))
    check(mode, np.divmod, A, 1.5)
    check(mode, np.divmod, I, 4)
    check(mode, np.logaddexp2, A, A[::-1])
    check(mode, np.sinc, A)
    check(mode, np.sinc, 0.5)
    check(mode, np.isposinf, np.array([np.inf, -np.inf, np.nan, 1.0]))
    check(mode, np.isneginf, np.array([np.inf, -np.inf, np.nan, 1.0]))
    check(mode, np.iscomplex, np.array([1 + 1j, 2]))
    check(mode, np.isreal, np.array([1 + 1j, 2]))
    check(mode, np.iscomplexobj, A)
    check(mode, np.isrealobj, A)
    check(mode, np.modf, np.array([1.5, -2.25, -0.0, np.inf, -np.inf, np.nan]))
    check(mode, np.modf, 2.75)
    check(mode, np.unwrap, np.array([0.0, 3.0, 6.0, 9.0, 1.0, -3.1, 3.1]))
    check(mode, np.unwrap, A * 4, axis=0)
    check(mode, np.unwrap, np.array([0.0, 90.0, 270.0, 10.0]), period=360)


def test_apply_along_axis():
    implementation = registry.lookup("numpy:apply_along_axis")
    for axis in (0, 1, -1):
        assert np.allclose(implementation(np.sum, axis, A), np.apply_along_axis(np.sum, axis, A))
        assert np.allclose(implementation(np.cumsum, axis, A), np.apply_along_axis(np.cumsum, axis, A))


@pytest.mark.parametrize("name", ("add", "multiply", "maximum", "minimum"))
def test_ufunc_methods(mode, name):
    ufunc = getattr(np, name)
    check(mode, ufunc.reduce, A)
    check(mode, ufunc.reduce, A, axis=None)
    check(mode, ufunc.reduce, A, axis=1)
    check(mode, ufunc.accumulate, A)
    check(mode, ufunc.accumulate, A, axis=1)
    check(mode, ufunc.accumulate, I)
    check(mode, ufunc.outer, V, A)
    changes(ufunc.at, np.ones(10), I, np.arange(6.0) + 1)
    changes(ufunc.at, np.ones((3, 10)), (np.array([0, 1, 0]), J), 2.0)
    changes(ufunc.at, np.ones(10, np.int32), I, 3)


def test_logical_reduce(mode):
    for ufunc in (np.logical_and, np.logical_or):
        check(mode, ufunc.reduce, A > 0)
        check(mode, ufunc.reduce, A > 0, axis=1)
    check(mode, np.subtract.outer, V, V)
    check(mode, np.divide.outer, V, V)


def test_polynomials(mode):
    check(mode, np.polyadd, V, J)
    check(mode, np.polysub, V, J)
    check(mode, np.polymul, V, J)
    check(mode, np.polyder, V)
    check(mode, np.polyder, V, m=2)
    check(mode, np.polyder, J)
    x = np.linspace(-1, 2, 12)
    check(mode, np.polyfit, x, np.sin(x), 3, rtol=1e-9)
    check(mode, np.polyfit, x, x**2, 1, rtol=1e-9)
    for original in (np.hamming, np.hanning, np.blackman, np.bartlett):
        for n in (0, 1, 2, 7):
            check(mode, original, n, atol=1e-15)


@pytest.mark.slow
def test_writers_compiled():
    for original, args in (
        (np.put, (np.array([0, 5, -1]), np.array([9.0, 8.0]))),
        (np.copyto, (np.arange(6.0),)),
        (np.add.at, ((np.array([0, 1, 0]), np.array([2, 3, 2])), 2.0)),
    ):
        got, want = A.copy(), A.copy()
        compiled(original, (got, *args), {})(got, *args)
        original(want, *args)
        assert np.allclose(got, want)
