"""Loops that run only to raise are compiled apart: exceptions, their lines and what was done before are the interpreter's."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

from quadrants import njit


def scale(n, x, y):
    for i in range(n):
        y[i] += 2.0 * x[i]


def sums(n, x, y):
    total, count = 0.0, 0
    for i in range(n):
        total += x[i]
        y[i] = total
        count += 1
    return total, count


def product(n, x, y):
    a = np.zeros((n, n))
    b = x.reshape((1, len(x))) + np.ones((n, 1))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i, k] * b[k, j]
            y[j] = s + i
    return a


def small(n, x, y):
    weights = np.array([0.5, 0.25, 0.25])
    for i in range(n):
        y[i] = weights[0] * x[i] + weights[2]
    return weights[1]


def caught(n, x, y):
    found = 0
    for turn in range(3):
        kept = np.full(4, 1.0 * turn)
        try:
            for i in range(n):
                y[i] += x[i] + kept[turn]
                found += 1
        except IndexError:
            found += 1000
    return found


def in_handler(n, x, y):
    try:
        y[n + 100] = 1.0
    except IndexError as error:
        for i in range(n):
            y[i] = x[i]
        raise ValueError("after") from error
    return 0


def behind(n, x, y):
    made = np.arange(n)
    for i in range(n):
        y[i] = made[i]
    for i in range(n):
        y[i] += x[i] * made[i]
    return made


def outcome(function, sizes):
    n, nx, ny = sizes
    x, y = np.linspace(-1.0, 1.0, nx), np.zeros(ny)
    try:
        result = function(n, x, y)
    except (IndexError, ValueError) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]
        return type(error), lines[1:], y
    return result, [], y


@pytest.mark.parametrize("sizes", [(6, 6, 6), (6, 6, 4), (6, 3, 6), (6, 0, 0), (0, 0, 0), (70_000, 66_000, 70_000)])
@pytest.mark.parametrize("function", [scale, sums, small, caught, in_handler, behind])
def test_same_as_the_interpreter(function, sizes) -> None:
    compiled, expected = outcome(njit(function), sizes), outcome(function, sizes)
    np.testing.assert_equal(compiled[0], expected[0])
    assert compiled[1] == expected[1]
    np.testing.assert_array_equal(compiled[2], expected[2])


@pytest.mark.parametrize("sizes", [(6, 6, 6), (6, 6, 4), (9, 5, 9), (12, 12, 3)])
def test_nests(sizes) -> None:
    compiled, expected = outcome(njit(product), sizes), outcome(product, sizes)
    np.testing.assert_equal(compiled[0], expected[0])
    assert compiled[1] == expected[1]
    np.testing.assert_array_equal(compiled[2], expected[2])


def test_they_are_apart_and_leave_no_memory() -> None:
    function = njit(behind)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        function(5, np.ones(5), np.zeros(3))
    assert "optnone cold" in "".join(function.inspect_llvm().values())
