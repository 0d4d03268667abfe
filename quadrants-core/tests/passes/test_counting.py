"""Inner `while` loops that count through a known range are weighed in front, like a `for`, and have no poll of their own; those
whose end nobody knows have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd


def insertion(x: Any, n: int) -> Any:
    for i in range(1, len(x)):
        v = x[i]
        j = i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v
    return x[0]


def search(x: Any, n: int) -> int:
    found = 0
    for i in range(len(x)):
        j = 0
        while j < n and x[j] != i:
            j += 1
        if j < n:
            found += 1
            x[j] += found  # the next turn reads it: no SIMD
    return found


def strides(x: Any, n: int) -> int:
    total = 0
    for i in range(1, len(x)):
        k = i
        while n > k:
            k += 2 if x[i] > 1 else 1
            total += 1
        x[i - 1] = total
    return total


def moving_end(x: Any, n: int) -> int:
    total = 0
    for i in range(len(x)):
        j, end = 0, n
        while j < end:  # the end comes nearer, too: by its rule alone it need not
            j += 1
            end -= x[i] & 1
            total += 1
        x[0] = total
    return total


def standing(x: Any, n: int) -> int:
    total = 0
    for i in range(len(x)):
        j = 0
        while j < n:
            j += x[i] & 1
            total += 1
            if total > 50:
                return total
    return total


def away(x: Any, n: int) -> int:
    total = 0
    for _ in range(len(x)):
        j = n
        while j > 0:
            j += 1
            total += 1
            if j > n + 3:
                break
        x[0] = total
    return total


def sentinel(x: Any, n: int) -> int:
    total = 0
    for _ in range(len(x)):
        j = 0
        while x[j] < n:
            j += 1
        total += j
        x[0] = n
    return total


@pytest.mark.parametrize(
    ("function", "polls"),
    [
        *((f, 1) for f in (insertion, search, strides)),
        *((f, 2) for f in (moving_end, standing, away, sentinel)),
    ],
)
def test_polls(function: Callable[..., Any], polls: int) -> None:
    compiled = qd.njit(function)
    rng = np.random.default_rng(0)
    for size, n in ((1, 1), (6, 3), (9, 9)):
        x = rng.permutation(size) + n - 1
        x[-1] = max(x[-1], n)
        expected = x.copy()
        assert compiled(x, n) == function(expected, n)
        np.testing.assert_array_equal(x, expected)
    (text,) = compiled.inspect_ir().values()
    hot = text.split("cold=true")[0]
    assert sum(line.split()[:1] == ["poll"] for line in hot.splitlines()) == polls
