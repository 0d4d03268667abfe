"""Powers in loops: right to a unit in the last place, on every level of the instruction set."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lower.vectors import Case, agree, compute, errors, level, samples, special_values

import quadrants as qd

__all__ = ["level"]

POW = Case(np.power, lambda x, y: x**y, 1.0, {})

#: Bases, and exponents; None for all whose powers are finite.
RANGES: dict[int, tuple[tuple[tuple[float, float], float | None], ...]] = {
    64: (((0.9, 1.1), None), ((0.5, 2.0), 10.0), ((1e-3, 1e3), 5.0), ((1e-300, 1e300), None), ((1e-310, 1e-300), 0.9)),
    32: (((0.9, 1.1), None), ((0.5, 2.0), 10.0), ((1e-3, 1e3), 5.0), ((1e-37, 1e37), None), ((1e-44, 1e-37), 0.8)),
}


def powers(**options: object) -> qd.Dispatcher:
    """A compiled loop of powers."""

    def kernel(x, y, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            out[i] = x[i] ** y[i]

    return qd.njit(cache=False, **options)(kernel)


def operands(low: float, high: float, largest: float | None, count: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Bases and exponents."""
    x = samples(low, high, count, bits)
    at = np.random.default_rng(1).random(len(x))
    if largest is not None:
        return x, (largest * (2 * at - 1)).astype(x.dtype)
    least, most = {64: (-1074, 1023), 32: (-149, 126)}[bits]
    sizes = np.log2(x.astype(np.float64))
    sizes[np.abs(sizes) < 1e-6] = 1.0
    return x, ((least + at * (most - least)) / sizes).astype(x.dtype)


def largest_error(kernel: qd.Dispatcher, bits: int, count: int) -> float:
    """The largest error over the ranges."""
    found = []
    for (low, high), largest in RANGES[bits]:
        x, y = operands(low, high, largest, count, bits)
        found.append(errors(POW, compute(kernel, x, y), x, y))
    return float(np.concatenate(found).max())  # nan, were one nan


@pytest.mark.parametrize("bits", [64, 32])
def test_powers_are_near_the_exact_ones(bits: int, level: str) -> None:
    assert largest_error(powers(), bits, 300) <= POW.bound


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 32])
def test_many_powers_are_near_the_exact_ones(bits: int, level: str) -> None:
    assert largest_error(powers(), bits, 20_000) <= POW.bound


@pytest.mark.parametrize("bits", [64, 32])
def test_special_bases_and_exponents(bits: int, level: str) -> None:
    """Every pair of them, mixed in one vector and one kind a vector."""
    kernel = powers()
    with np.errstate(over="ignore"):
        more = np.array([2.0, -2.0, 3.0, -3.0, 1 + 2.0**-52, 1 - 2.0**-24, 0.3], dtype=f"f{bits // 8}")
    values = np.concatenate((special_values(bits)[: 2 * 17], more))
    pairs = np.array(np.meshgrid(values, values)).reshape(2, -1)
    for x, y in (pairs, np.repeat(pairs, 16, axis=1)):
        with np.errstate(all="ignore"):
            expected = np.power(x, y)
        wrong = ~agree(compute(kernel, x.copy(), y.copy()), expected, 2.0)
        assert not wrong.any(), [*zip(x[wrong][:5], y[wrong], expected[wrong])]


def test_a_constant_exponent(level: str) -> None:
    def kernel(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            out[i] = x[i] ** 1.7

    x = samples(0.0, 10.0, 500, 64)
    y = compute(qd.njit(cache=False)(kernel), x)
    assert agree(y, x**1.7, 2.0).all()


def test_strict_powers_are_the_interpreters() -> None:
    x, y = operands(0.5, 2.0, 10.0, 200, 64)
    assert [*compute(powers(fp="strict"), x, y)] == [math.pow(a, b) for a, b in zip(x, y)]
