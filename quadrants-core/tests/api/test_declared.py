"""Signatures that are given: compiled ahead, chosen among, converted to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.diagnostics import Code, QuadrantsError


def shown(function: Any) -> list[str]:
    return [", ".join(map(repr, types)) for types in function.signatures]


def test_declared_signatures_compile_ahead() -> None:
    @qd.njit("float64(float64[:], int64)")
    def at(a, i):  # type: ignore[no-untyped-def]
        return a[i]

    assert len(at.signatures) == 1
    a = np.arange(6.0)
    assert at(a, 2) == 2 and at(a, np.int64(2)) == 2 and at(a[::2], 1) == 2
    assert at(a, np.int32(3)) == 3 and at(a, True) == 1
    with pytest.raises(TypeError, match=r"no signature of at\(\) takes \(float32\[::1\], int\)") as caught:
        at(np.zeros(3, np.float32), 0)
    assert "declared: at(float64[:], int64)" in str(caught.value)
    for bad in ((a, 1.5), (a.reshape(2, 3), 0), (1.0, 0)):
        with pytest.raises(TypeError, match="no signature"):
            at(*bad)


def test_declared_scalars_take_python_numbers() -> None:
    @qd.njit("float64(float64, float64)")
    def mean(a, b):  # type: ignore[no-untyped-def]
        return (a + b) / 2

    assert type(mean(1.0, 2.0)) is float and mean(1, 2) == 1.5 and type(mean(1, 2)) is float
    assert mean(np.float32(1), np.float64(2)) == 1.5
    with pytest.raises(TypeError):
        mean(1j, 2)
    assert len(mean.signatures) == 2  # Python's floats, and the NumPy ones together


def test_the_best_of_several_signatures() -> None:
    @qd.njit(["int64(int64)", qd.float64(qd.float64), (qd.complex128,)])
    def same(x):  # type: ignore[no-untyped-def]
        return x

    assert len(same.signatures) == 3
    assert [type(same(x)) for x in (1, 1.0, 1j, True)] == [int, float, complex, int]
    assert same(np.uint8(7)) == 7


def test_small_declared_integers_are_checked() -> None:
    @qd.njit("uint8(uint8)")
    def same(x):  # type: ignore[no-untyped-def]
        return x

    assert same(255) == 255 and type(same(255)) is np.uint8
    for value in (256, -1):
        with pytest.raises(OverflowError):
            same(value)


def test_declared_results_convert() -> None:
    @qd.njit("float64(int64)")
    def to_float(n):  # type: ignore[no-untyped-def]
        return n * 2

    @qd.njit("complex128(float32)")
    def to_complex(x):  # type: ignore[no-untyped-def]
        return x

    assert to_float(3) == 6 and type(to_float(3)) is float
    assert to_complex(1.5) == 1.5 + 0j and type(to_complex(1.5)) is np.complex128
    with pytest.raises(QuadrantsError) as caught:
        qd.njit("int64(float64)")(lambda x: x)
    assert caught.value.code is Code.BAD_RETURN
    assert qd.njit("void(float64[:])")(lambda a: None)(np.zeros(3)) is None


def test_declared_layouts() -> None:
    @qd.njit("float64(float64[:, ::1])")
    def corner(a):  # type: ignore[no-untyped-def]
        return a[0, 0]

    assert corner(np.ones((2, 2))) == 1
    with pytest.raises(TypeError, match="no signature"):
        corner(np.ones((2, 2)).T[:, ::-1])


def test_signatures_of_the_wrong_length() -> None:
    for text in ("float64(float64)", "float64(float64, float64, float64)"):
        with pytest.raises(QuadrantsError, match="parameters") as caught:
            qd.njit(text)(lambda a, b: a)
        assert caught.value.code is Code.BAD_SIGNATURE


def test_compile_by_hand() -> None:
    f = qd.njit(lambda a, b: a + b)
    f.compile("float64(float64, float64)")
    f.compile((qd.int64, int))
    assert shown(f) == ["float, float", "int, int"]
    assert f(1.0, 2.0) == 3 and f(1, 2) == 3
    assert len(f.signatures) == 2
