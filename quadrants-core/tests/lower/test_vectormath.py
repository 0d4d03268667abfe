"""Elementary functions in loops: right to a few units in the last place, on every level of the instruction set."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import mpmath
import numpy as np
import pytest

import quadrants as qd
from quadrants.host.target import X86_LEVELS, architecture, cpu_flags, target_for
from quadrants.lower import vectormath

mpmath.mp.prec = 160

Real = Callable[[mpmath.mpf], mpmath.mpf]


class Case(NamedTuple):
    """A function: NumPy's, the exact one, and the ranges to try, of float64 and of float32."""

    ufunc: Callable[..., np.ndarray]
    exact: Real
    bound: float
    ranges: dict[int, tuple[tuple[float, float], ...]]


_ANGLES = ((-1e-3, 1e-3), (-4.0, 4.0), (-100.0, 100.0), (-1e6, 1e6), (-1e9, 1e9))
_POWERS = ((0.5, 2.0), (0.9, 1.1), (1e-3, 1e3))

CASES: dict[str, Case] = {
    "sin": Case(np.sin, mpmath.sin, 2.5, {64: _ANGLES, 32: _ANGLES}),
    "cos": Case(np.cos, mpmath.cos, 2.5, {64: _ANGLES, 32: _ANGLES}),
    "exp": Case(
        np.exp,
        mpmath.exp,
        1.5,
        {64: ((-1.0, 1.0), (-708.0, 709.7), (-745.0, -708.0)), 32: ((-1.0, 1.0), (-87.0, 88.7), (-103.0, -87.0))},
    ),
    "exp2": Case(
        np.exp2,
        lambda x: mpmath.mpf(2) ** x,
        1.5,
        {
            64: ((-1.0, 1.0), (-1022.0, 1023.9), (-1074.0, -1022.0)),
            32: ((-1.0, 1.0), (-126.0, 127.9), (-149.0, -126.0)),
        },
    ),
    "expm1": Case(
        np.expm1,
        mpmath.expm1,
        2.0,
        {64: ((-1e-3, 1e-3), (-2.0, 2.0), (-50.0, 709.7)), 32: ((-1e-3, 1e-3), (-2.0, 2.0), (-30.0, 88.7))},
    ),
    "tanh": Case(
        np.tanh, mpmath.tanh, 3.0, dict.fromkeys((64, 32), ((-1e-3, 1e-3), (-0.1, 0.1), (-1.0, 1.0), (-25.0, 25.0)))
    ),
    "log": Case(np.log, mpmath.log, 1.5, {64: (*_POWERS, (1e-310, 1e300)), 32: (*_POWERS, (1e-44, 1e38))}),
}

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


def mapped(function: Callable[..., np.ndarray], **options: object) -> qd.Dispatcher:
    """A compiled loop that applies a function to every element."""

    def kernel(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            out[i] = function(x[i])

    return qd.njit(cache=False, **options)(kernel)


def compute(kernel: Callable[..., None], x: np.ndarray) -> np.ndarray:
    """What the loop makes of the values."""
    out = np.empty_like(x)
    kernel(x, out)
    return out


def samples(low: float, high: float, count: int, bits: int, seed: int = 0) -> np.ndarray:
    """Numbers of the range: dense, and random; over many orders of magnitude evenly in their exponents."""
    at = np.concatenate((np.linspace(0, 1, count), np.random.default_rng(seed).random(count)))
    wide = low > 0 and high / low > 10
    # log first: the ratio of the ends may overflow
    values = np.exp(math.log(low) + at * (math.log(high) - math.log(low))) if wide else low + at * (high - low)
    return values.astype(f"f{bits // 8}")


def errors(case: Case, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The errors in units in the last place of the exact results, float32 against NumPy's float64."""
    if x.dtype == np.float32:
        near = case.ufunc(x.astype(np.float64))
        return np.abs(y.astype(np.float64) - near) / np.spacing(np.abs(near).astype(np.float32)).astype(np.float64)
    exact = [case.exact(mpmath.mpf(float(v))) for v in x]
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


PARAMS = [(name, bits) for name in CASES for bits in (64, 32)]


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_results_are_near_the_exact_ones(name: str, bits: int, level: str) -> None:
    case = CASES[name]
    kernel = mapped(case.ufunc)
    for low, high in case.ranges[bits]:
        x = samples(low, high, 512, bits)
        assert errors(case, x, compute(kernel, x)).max() <= case.bound, (low, high)


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_special_values(name: str, bits: int, level: str) -> None:
    case = CASES[name]
    x = special_values(bits)
    y = compute(mapped(case.ufunc), x)
    with np.errstate(all="ignore"):
        expected = case.ufunc(x)
    wrong = ~agree(y, expected, case.bound + 1)
    assert not wrong.any(), [*zip(x[wrong][:5], y[wrong], expected[wrong])]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_results_are_near_the_exact_ones(name: str, level: str) -> None:
    case = CASES[name]
    kernel = mapped(case.ufunc)
    for low, high in case.ranges[64]:
        x = samples(low, high, 20_000, 64, seed=1)
        assert errors(case, x, compute(kernel, x)).max() <= case.bound, (low, high)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_floats_of_every_exponent(name: str, level: str) -> None:
    """Every 61st of all float32 numbers; nan, infinities and zeros included."""
    case = CASES[name]
    kernel = mapped(case.ufunc)
    for start in range(0, 1 << 32, 1 << 28):
        x = np.arange(start, start + (1 << 28), 61, dtype=np.uint64).astype(np.uint32).view(np.float32)
        y = compute(kernel, x)
        with np.errstate(all="ignore"):
            exact = case.ufunc(x.astype(np.float64))
            expected = exact.astype(np.float32)
            near = np.abs(y.astype(np.float64) - exact) <= case.bound * np.spacing(np.abs(expected))
        wrong = ~(near | (y == expected) | (np.isnan(y) & np.isnan(expected)))
        assert not wrong.any(), [*zip(x[wrong][:5], y[wrong], expected[wrong])]


def test_every_enabled_function_is_tested() -> None:
    assert set(vectormath.ENABLED) == set(PARAMS)


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_loops_vectorise(name: str, bits: int, level: str) -> None:
    kernel = mapped(CASES[name].ufunc)
    compute(kernel, np.ones(64, dtype=f"f{bits // 8}"))
    text = str(kernel.explain())
    assert "vectorised: " in text and "one element at a time" not in text


@pytest.mark.parametrize("bits", [64, 32])
def test_conditional_calls_vectorise(bits: int, level: str) -> None:
    def kernel(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            if x[i] > 1:
                out[i] = np.log(x[i])
            else:
                out[i] = -1

    compiled = qd.njit(cache=False)(kernel)
    x = samples(-5.0, 5.0, 500, bits)
    y = compute(compiled, x)
    with np.errstate(all="ignore"):
        expected = np.where(x > 1, np.log(x), -1).astype(x.dtype)
    assert agree(y, expected, 2).all()


@pytest.mark.parametrize("name", CASES)
def test_strict_code_calls_the_c_library(name: str) -> None:
    case = CASES[name]
    kernel = mapped(case.ufunc, fp="strict")
    x = samples(*case.ranges[64][1], 100, 64)
    assert np.array_equal(compute(kernel, x), [getattr(math, name)(v) for v in x]) or name == "exp2"
    text = str(kernel.explain())
    assert "one element at a time by the C library, as fp='strict' asks for" in text


def test_code_without_loops_mentions_no_vector_function() -> None:
    compiled = qd.njit(cache=False)(lambda x: np.sin(x) + np.exp(x))
    compiled(1.0)
    assert "qd.vec" not in str(compiled.inspect_llvm())


def test_a_large_angle_among_small_ones_is_right(level: str) -> None:
    x = np.full(64, 0.5)
    x[13] = 1e22
    y = compute(mapped(np.sin), x)
    assert abs(y[13] - float(mpmath.sin(mpmath.mpf(10) ** 22))) < 1e-15
    assert np.allclose(np.delete(y, 13), math.sin(0.5), rtol=1e-15)


def test_definitions_exist_for_what_the_text_calls_only() -> None:
    text = "  %r = call <8 x double> @qd.vec.exp.64.8(<8 x double> %x)\n declare <4 x double> @qd.vec.exp.64.4(...)"
    assert vectormath.called(text) == ("qd.vec.exp.64.8",)
    defined = vectormath.definitions(vectormath.called(text))
    assert "@qd.vec.exp.64.8(" in defined and "qd.vec.exp.64.4" not in defined


def test_vectors_are_as_wide_as_the_registers() -> None:
    if architecture() == "x86_64":
        widths = {level: target_for(level).vector_bits for level in LEVELS}
        assert widths == {key: {"x86-64": 128, "x86-64-v3": 256, "x86-64-v4": 512}[key] for key in LEVELS}
    assert vectormath.lanes(64, 512) == (2, 4, 8) and vectormath.lanes(32, 128) == (4,)
