"""Angles of points, lengths and remainders in loops: near the exact ones, on every level of the instruction set."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from lower.vectors import Case, agree, compute, errors, level, of_pairs, samples, special_values

import quadrants as qd

__all__ = ["level"]

CASES = {
    "atan2": Case(np.arctan2, mpmath.atan2, 2.5, {}),
    "hypot": Case(np.hypot, mpmath.hypot, 1.5, {}),
    "fmod": Case(np.fmod, lambda x, y: mpmath.mpf(math.fmod(float(x), float(y))), 0.0, {}),  # exact in the C library
}
#: The sizes of both operands.
RANGES = {
    64: ((1e-3, 1.0), (0.9, 1.1), (1e-300, 1e300), (1e-310, 1e-290), (1e290, 1e307)),
    32: ((1e-3, 1.0), (0.9, 1.1), (1e-37, 1e37), (1e-44, 1e-37)),
}
PARAMS = [(name, bits) for name in CASES for bits in (64, 32)]


def operands(low: float, high: float, count: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of both signs."""
    random = np.random.default_rng(2)
    x, y = samples(low, high, count, bits), samples(low, high, count, bits, seed=1)
    random.shuffle(y)
    return x * random.choice((-1, 1), len(x)).astype(x.dtype), y * random.choice((-1, 1), len(x)).astype(x.dtype)


def largest_error(name: str, bits: int, count: int) -> float:
    case, found = CASES[name], []
    kernel = of_pairs(case.function)
    for low, high in RANGES[bits]:
        x, y = operands(low, high, count, bits)
        found.append(errors(case, compute(kernel, x, y), x, y))
    return float(np.concatenate(found).max())  # nan, were one nan


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_results_are_near_the_exact_ones(name: str, bits: int, level: str) -> None:
    assert largest_error(name, bits, 300) <= CASES[name].bound


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_many_results_are_near_the_exact_ones(name: str, bits: int, level: str) -> None:
    assert largest_error(name, bits, 20_000) <= CASES[name].bound


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_special_values(name: str, bits: int, level: str) -> None:
    """Every pair of them, mixed in one vector and one kind a vector."""
    case = CASES[name]
    kernel, values = of_pairs(case.function), special_values(bits)[: 2 * 17]
    pairs = np.array(np.meshgrid(values, values)).reshape(2, -1)
    for x, y in (pairs, np.repeat(pairs, 16, axis=1)):
        with np.errstate(all="ignore"):
            expected = case.ufunc(x, y)
        wrong = ~agree(compute(kernel, x.copy(), y.copy()), expected, case.bound + 1)
        assert not wrong.any(), [*zip(x[wrong][:5], y[wrong], expected[wrong])]


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_loops_vectorise(name: str, bits: int, level: str) -> None:
    kernel = of_pairs(CASES[name].function)
    ones = np.ones(64, dtype=f"f{bits // 8}")
    compute(kernel, ones, ones)
    text = str(kernel.explain())
    fused = (
        name != "fmod" or level != "x86-64"
    )  # where multiplications and additions do not fuse, the C library computes it
    assert ("vectorised: " in text and "one element at a time" not in text) == fused


@pytest.mark.parametrize("bits", [64, 32])
def test_remainders_of_exact_multiples(bits: int, level: str) -> None:
    """Where the quotient rounds to the next whole number, and where it is one."""
    random = np.random.default_rng(3)
    y = samples(1e-3, 1e3, 2000, bits)
    whole = y * random.integers(0, 1 << 20, len(y)).astype(y.dtype)
    kernel = of_pairs(np.fmod)
    for x in (whole, np.nextafter(whole, np.inf), np.nextafter(whole, -np.inf), -whole):
        result = compute(kernel, x, y)
        assert np.array_equal(result, np.fmod(x, y)) and np.array_equal(np.signbit(result), np.signbit(x))


def test_pythons_modulo_vectorises(level: str) -> None:
    def kernel(x, length, out):  # type: ignore[no-untyped-def]
        for i in range(len(x)):
            out[i] = float(x[i]) % length

    compiled = qd.njit(cache=False)(kernel)
    x = samples(-100.0, 100.0, 500, 64)
    out = np.empty_like(x)
    for length in (2.5, -0.1, 1e300):
        compiled(x, length, out)
        assert out.tolist() == [v % length for v in x.tolist()]
    assert level == "x86-64" or "one element at a time" not in str(compiled.explain())
