"""What the tests of vector functions share: levels of the instruction set, samples, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

import quadrants as qd
from quadrants.host.target import X86_LEVELS, architecture, cpu_flags

mpmath.mp.prec = 160

Real = Callable[..., mpmath.mpf]


class Case(NamedTuple):
    """A function: NumPy's or SciPy's, the exact one, and the ranges to try, of float64 and of float32; what kernels call."""

    ufunc: Callable[..., np.ndarray]
    exact: Real
    bound: float
    ranges: dict[int, tuple[tuple[float, float], ...]]
    called: Callable[..., object] | None = None

    @property
    def function(self) -> Callable[..., object]:
        return self.called or self.ufunc


_LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")


def _runs_here(level: str) -> bool:
    names = list(X86_LEVELS)
    needed = frozenset().union(*(X86_LEVELS[name] for name in names[: names.index(level) + 1]))
    return architecture() == "x86_64" and needed <= cpu_flags()


LEVELS = [level for level in _LEVELS if _runs_here(level)] or [""]


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An instruction set to compile for."""
    monkeypatch.setenv("QUADRANTS_ISA", request.param)
    return str(request.param)


def compute(kernel: Callable[..., None], *x: np.ndarray) -> np.ndarray:
    """What the loop makes of the values."""
    out = np.empty_like(x[0])
    kernel(*x, out)
    return out


def samples(low: float, high: float, count: int, bits: int, seed: int = 0) -> np.ndarray:
    """Numbers of the range: dense, and random; over many orders of magnitude evenly in their exponents."""
    at = np.concatenate((np.linspace(0, 1, count), np.random.default_rng(seed).random(count)))
    wide = low > 0 and high / low > 10
    # log first: the ratio of the ends may overflow
    values = np.exp(math.log(low) + at * (math.log(high) - math.log(low))) if wide else low + at * (high - low)
    return values.astype(f"f{bits // 8}")


def errors(case: Case, y: np.ndarray, *x: np.ndarray) -> np.ndarray:
    """The errors in units in the last place of the exact results, float32 against NumPy's float64."""
    if y.dtype == np.float32:
        near = case.ufunc(*(v.astype(np.float64) for v in x))
        return np.abs(y.astype(np.float64) - near) / np.spacing(np.abs(near).astype(np.float32)).astype(np.float64)
    exact = [case.exact(*(mpmath.mpf(float(v)) for v in given)) for given in zip(*x)]
    units = np.spacing(np.abs(np.array([float(v) for v in exact])))
    return np.array([float(abs(mpmath.mpf(float(a)) - b) / float(u)) for a, b, u in zip(y, exact, units)])


SPECIAL = (0.0, 1.0, math.inf, 5e-324, 1e-310, 1e-45, 1e-40, 1e-30, 1e-9, 20.0, 104.0, 746.0, 1e10, 1e30, 1e38, 1e300)


def special_values(bits: int) -> np.ndarray:
    """Both signs of each, nan, and enough of them to fill vectors of any width, in several orders."""
    with np.errstate(over="ignore"):
        once = np.array([*SPECIAL, *(-v for v in SPECIAL), math.nan, 0.5], dtype=f"f{bits // 8}")
    return np.concatenate([np.roll(once, shift) for shift in range(32)])


def agree(ours: np.ndarray, numpys: np.ndarray, units: float) -> np.ndarray:
    """Where two results are the same special value, or near each other and of one sign."""
    both_nan = np.isnan(ours) & np.isnan(numpys)
    with np.errstate(invalid="ignore"):
        near = (ours == numpys) | (np.abs(ours - numpys) <= units * np.spacing(np.abs(numpys)))
    return both_nan | (near & (np.signbit(ours) == np.signbit(numpys)))


def mapped(function: Callable[..., object], **options: object) -> qd.Dispatcher:
    """A compiled loop that applies a function to every element."""

    def kernel(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            out[i] = function(x[i])

    return qd.njit(cache=False, **options)(kernel)


def of_pairs(function: Callable[..., object], **options: object) -> qd.Dispatcher:
    """A compiled loop that applies a function to every pair of elements."""

    def kernel(x, y, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            out[i] = function(x[i], y[i])

    return qd.njit(cache=False, **options)(kernel)
