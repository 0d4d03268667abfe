"""Of two products in a sum, the one that the loop waits for is fused with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrants as qd


def smoothed(x: Any, a: float, y: Any) -> None:
    s = 0.0
    for i in range(len(x)):
        s = a * x[i] + (1 - a) * s
        y[i] = s


def mixed(x: Any, a: float, y: Any) -> None:
    s = 0.5
    for i in range(len(x)):
        s = (1 - a) * s - a * (x[i] + 1)
        y[i] = s


def mixed_back(x: Any, a: float, y: Any) -> None:
    s = 0.5
    for i in range(len(x)):
        s = a * (x[i] + 1) - (1 - a) * s
        y[i] = s


def relaxed(x: Any, a: float, y: Any) -> None:
    for i in range(1, len(x) - 1):
        y[i] = (1 - a) * y[i] + a * ((y[i - 1] + y[i + 1] - x[i]) * 0.25)


@pytest.mark.parametrize("fp", ["default", "strict", "fast"])
@pytest.mark.parametrize("type", [np.float64, np.float32])
@pytest.mark.parametrize("function", [smoothed, mixed, mixed_back, relaxed])
def test_values(function: Any, type: Any, fp: str) -> None:
    x = np.random.default_rng(3).random(200).astype(type)
    want, got = np.zeros(200), np.zeros(200)
    function(x, 0.3, want)
    qd.njit(fp=fp)(function)(x, 0.3, got)
    if fp == "strict":
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(
            got, want, rtol=1e-5 if type is np.float32 else 1e-12, atol=1e-6 if type is np.float32 else 0
        )


@pytest.mark.parametrize(("function", "fused"), [(smoothed, 1), (mixed, 1), (mixed_back, 1), (relaxed, 1)])
def test_the_chain_is_fused(function: Any, fused: int) -> None:
    compiled = qd.njit(function)
    compiled(np.zeros(9), 0.3, np.zeros(9))
    assert _llvm(compiled).count("llvm.fmuladd") >= fused


def test_strict_functions_fuse_nothing() -> None:
    compiled = qd.njit(fp="strict")(smoothed)
    compiled(np.zeros(9), 0.3, np.zeros(9))
    assert "fmuladd" not in _llvm(compiled)


def _llvm(compiled: Any) -> str:
    found = compiled.inspect_llvm()
    return "\n".join(found.values()) if isinstance(found, dict) else str(found)
