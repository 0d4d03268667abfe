"""Sums and products down a column keep several partial results; they come to the same, within the error of any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrants as qd


def dot(a: Any, b: Any) -> Any:
    s = a[0, 0] * 0
    for i in range(a.shape[0]):
        s += a[i, 1] * b[i, 2]
    return s


def less(a: Any, b: Any) -> Any:
    s = a[0, 0] * 3
    for i in range(a.shape[0] - 1, 0, -2):
        s -= a[i, 1] * b[i - 1, 0]
    return s


def product(a: Any, b: Any) -> Any:
    p = a[0, 0] * 0 + 1
    for i in range(1, a.shape[0]):
        p *= a[i - 1, 0] + b[i, 1]
    return p


def several(a: Any, b: Any) -> Any:
    s = a[0, 0] * 0
    p = s + 1
    for i in range(a.shape[0]):
        s += a[i, 0] + b[i, 1]
        p *= a[i, 2]
    return s * p


def nested(a: Any, b: Any) -> Any:
    t = a[0, 0] * 0
    for j in range(2):
        s = t * 0
        for i in range(a.shape[0]):
            s += a[i, j] * b[i, j + 1]
        for i in range(a.shape[0]):
            a[i, j + 1] -= s * b[i, j]
        t = t + s * a[0, j + 1]
    return t


def gram_schmidt(a: Any, b: Any) -> Any:
    for j in range(a.shape[1]):
        for k in range(j):
            s = 0.0
            for i in range(a.shape[0]):
                s += a[i, k] * a[i, j]
            for i in range(a.shape[0]):
                a[i, j] -= s * a[i, k]
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * a[i, j]
        s = s**0.5 + 1
        for i in range(a.shape[0]):
            a[i, j] /= s
    return a[0, 0]


def thinned(a: Any, b: Any) -> Any:
    s = a[0, 0] * 0
    for i in range(a[::3].shape[0]):
        s += a[::3][i, 1]
    return s


FUNCTIONS = [dot, less, product, several, nested, gram_schmidt, thinned]
LAYOUTS: dict[str, Any] = {
    "C": lambda a: a,
    "F": np.asfortranarray,
    "A": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "neighbours": lambda a: np.asfortranarray(np.vstack([a, a]))[: len(a)],
}


@pytest.mark.parametrize(
    ("type", "fp"), [(np.float64, "default"), (np.float32, "default"), (np.float64, "strict")], ids=str
)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function: Any, type: Any, fp: str) -> None:
    compiled = qd.njit(fp=fp)(function)
    tolerance = {np.float32: 2e-4, np.float64: 1e-11}[type] if fp == "default" else 0
    for laid_out in LAYOUTS.values():
        for turns in (1, 2, 3, 4, 5, 8, 23, 30):
            random = np.random.default_rng(turns)
            arrays = [random.uniform(0.6, 1.2, (turns, 3)).astype(type) for _ in range(2)]
            mine = [laid_out(a.copy()) for a in arrays]
            theirs = [laid_out(a.copy()) for a in arrays]
            np.testing.assert_allclose(compiled(*mine), function(*theirs), rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(mine[0], theirs[0], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("special", [np.nan, np.inf, -0.0])
def test_special_values(special: float) -> None:
    compiled = qd.njit(total)
    a = np.full((11, 2), -0.0 if special == 0 else 1.0)
    a[7, 1] = special
    got, want = compiled(a, -0.0), total(a, -0.0)
    np.testing.assert_array_equal(got, want)
    assert np.signbit(got) == np.signbit(want) or np.isnan(want)


def total(a: Any, s: float) -> float:
    for i in range(a.shape[0]):
        s += a[i, 1]
    return s


def row(a: Any, s: float) -> float:
    for i in range(a.shape[1]):
        s += a[1, i]
    return s


def running(a: Any, s: float) -> float:
    for i in range(a.shape[0]):
        s += a[i, 1]
        a[i, 0] = s
    return s


def _is_split(function: Any, a: Any, **options: Any) -> bool:
    compiled = qd.njit(**options)(function)
    compiled(a, 0.0)
    return "4 partial results are kept side by side" in str(compiled.explain())


def test_what_is_split() -> None:
    a = np.ones((9, 5))
    assert _is_split(total, a)
    assert _is_split(total, a.astype(np.float32))
    assert _is_split(total, a[::2, ::2])
    assert _is_split(row, np.asfortranarray(a))
    assert not _is_split(row, a)
    assert not _is_split(total, np.asfortranarray(a))
    assert not _is_split(running, a)
    assert not _is_split(total, a, fp="strict")


def test_the_reason_is_told_once() -> None:
    compiled = qd.njit(total)
    compiled(np.ones((9, 5)), 0.0)
    assert "not vectorised" not in str(compiled.explain())


def in_columns(a: Any, out: Any) -> None:
    for j in qd.prange(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * a[i, 0]
        out[j] = s


def test_threads_do_not_change_the_bits() -> None:
    a = np.random.default_rng(5).random((3000, 37))
    compiled = qd.njit(parallel=True)(in_columns)
    before, results = qd.get_num_threads(), []
    for threads in (1, 2, 3):
        qd.set_num_threads(threads)
        results.append(np.zeros(37))
        compiled(a, results[-1])
    qd.set_num_threads(before)
    np.testing.assert_allclose(results[0], a.T @ a[:, 0])
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
