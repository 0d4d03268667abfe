"""The loops of the test suite for vectorising compilers (`benchmarks.tsvc`) against the interpreter: no dependence is broken."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quadrants as qd

ROOT = Path(__file__).parents[3]


def _suite() -> Any:
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module("benchmarks.tsvc")
    finally:
        sys.path.remove(str(ROOT))


SUITE = _suite()
#: How far reordered sums may be off.
TOLERANCE = {"float64": 1e-12, "float32": 2e-4}
#: Lengths that leave a remainder for every vector width; and sides.
SIZES = ((130, 11), (201, 20))


def run(function: Any, name: str, dtype: str, size: tuple[int, int]) -> list[np.ndarray]:
    """The arrays afterwards, and the result."""
    arguments = SUITE.inputs(name, dtype, *size)
    with np.errstate(all="ignore"):
        result = function(*arguments)
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    return [*arrays, np.array(0.0 if result is None else result)]


def check(name: str, dtype: str) -> None:
    loop = SUITE.LOOPS[name]
    compiled, strict = qd.njit(cache=False)(loop), qd.njit(cache=False, fp="strict")(loop)
    for size in SIZES:
        expected = run(loop, name, dtype, size)
        bound = TOLERANCE[dtype]
        for ours, theirs in zip(run(compiled, name, dtype, size), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=bound, atol=bound)
        if name == "s451" and dtype == "float32":
            continue  # NumPy's sin of float32 is not the C library's
        for ours, theirs in zip(run(strict, name, dtype, size), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", SUITE.LOOPS)
def test_float64(name: str) -> None:
    check(name, "float64")


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITE.LOOPS)
def test_float32(name: str) -> None:
    check(name, "float32")


def test_scalar_builds_use_no_packed_arithmetic() -> None:
    loop = SUITE.LOOPS["vpvtv"]
    arguments = SUITE.inputs("vpvtv", "float64", 200, 4)
    packed = re.compile(r"\bv?mulpd|\bvfmadd\w*pd|\.2d")
    for simd in (True, False):
        compiled = qd.njit(cache=False, simd=simd)(loop)
        compiled(*arguments)
        assert any(map(packed.search, compiled.inspect_asm().values())) == simd
