"""Decompositions that go panel by panel, at sizes on both sides of a panel's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.library.linalg import PANEL

_SIZES = (1, 2, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL, 3 * PANEL + 7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_systems_of_every_size(dtype: Any) -> None:
    solve = qd.njit(lambda a, b: np.linalg.solve(a, b))
    inverse = qd.njit(lambda a: np.linalg.inv(a))
    determinant = qd.njit(lambda a: np.linalg.det(a))
    choose = np.random.default_rng(2)
    tolerance = 2e-3 if dtype is np.float32 else 1e-9
    for n in _SIZES:
        a = choose.standard_normal((n, n))
        if np.dtype(dtype).kind == "c":
            a = a + 1j * choose.standard_normal((n, n))
        a = (a + n * np.eye(n)[::-1]).astype(dtype)  # rows have to be swapped
        b = choose.standard_normal((n, 3)).astype(dtype)
        assert np.allclose(solve(a, b), np.linalg.solve(a, b), tolerance, tolerance), n
        assert np.allclose(solve(a, b[:, 0]), np.linalg.solve(a, b[:, 0]), tolerance, tolerance), n
        assert np.allclose(inverse(a), np.linalg.inv(a), tolerance, tolerance), n
        a = (a / n).astype(dtype)  # a determinant that float32 holds
        assert np.allclose(determinant(a) / np.linalg.det(a), 1.0, tolerance), n


def test_singular_in_a_later_panel() -> None:
    solve = qd.njit(lambda a, b: np.linalg.solve(a, b))
    determinant = qd.njit(lambda a: np.linalg.det(a))
    a = np.eye(PANEL + 5)
    a[-1, -1] = 0.0
    assert determinant(a) == 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        solve(a, np.ones(PANEL + 5))
