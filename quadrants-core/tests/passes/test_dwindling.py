"""Loops that end soon by what they do have no poll, and so are simple enough for LLVM; others have one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd


def bits_of_u64(n: int) -> int:
    x, count = np.uint64(n), 0
    while x:
        x &= x - np.uint64(1)
        count += 1
    return count


def lowest_bits(n: int) -> int:
    x, count = n, 0
    while x:
        x = x & (x - 1)
        count += 1
    return count


def length(n: int) -> int:
    count = 0
    while n > 0:
        n >>= 1
        count += 1
    return count


def digits(n: int) -> int:
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total


def euclid(n: int) -> int:
    a, b = n, 360
    while b:
        a, b = b, a % b
    return a


def halved(n: int) -> int:
    x, count = np.uint32(n), 0
    while x != 0:
        x = x // np.uint32(2)
        count += 1
    return count


def down(n: int) -> int:
    count = 0
    while n > 0:
        n -= 1
        count += 1
    return count


def endless_for_negatives(n: int) -> int:
    count = 0
    while n:
        n >>= 1
        count += 1
    return count


def grows(n: int) -> int:
    count = 0
    while n > 0:
        n = (n >> 1) | (n & 1) << 2
        count += 1
        if count > 40:
            break
    return count


def skips(n: int) -> int:
    count = 0
    while n > 0:
        count += 1
        if count < 5:
            continue
        n >>= 1
    return count


@pytest.mark.parametrize(
    ("function", "polls"),
    [
        *((f, False) for f in (bits_of_u64, lowest_bits, length, digits, euclid, halved)),
        *((f, True) for f in (down, endless_for_negatives, grows, skips)),
    ],
)
def test_polls(function: Callable[[int], Any], polls: bool) -> None:
    compiled = qd.njit(function)
    for n in (0, 1, 7, 12, 255, 1000):
        assert compiled(n) == function(n)
    (text,) = compiled.inspect_ir().values()
    assert any(line.split()[:1] == ["poll"] for line in text.splitlines()) is polls
