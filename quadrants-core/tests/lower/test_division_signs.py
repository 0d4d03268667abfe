"""Division and remainder of 64-bit integers by what is known at run time only, for every pair of signs and both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

import quadrants as qd

_ENDS = [-(2**63), -(2**63) + 1, -(2**32), -7, -2, -1, 0, 1, 2, 3, 7, 2**31, 2**32 + 1, 2**62, 2**63 - 1]


def divided(a: Any, b: Any, quotients: Any, remainders: Any) -> None:
    for i in range(len(a)):
        for j in range(len(b)):
            if b[j] != 0:
                quotients[i, j] = a[i] // b[j]
                remainders[i, j] = a[i] % b[j]


def places(n: int, width: int) -> int:
    total = 0
    for p in range(n):
        total += (p // width) * 1000 + p % width
    return total


def gcd_of(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def test_all_signs() -> None:
    ends = np.array(_ENDS)
    shape = (len(ends), len(ends))
    quotients, remainders = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    qd.njit(divided)(ends, ends, quotients, remainders)
    for i, a in enumerate(_ENDS):
        for j, b in enumerate(_ENDS):
            if b:
                wrapped = (a // b + 2**63) % 2**64 - 2**63
                assert (quotients[i, j], remainders[i, j]) == (wrapped, a % b), (a, b)


def test_loops() -> None:
    assert qd.njit(places)(1000, 7) == places(1000, 7)
    assert qd.njit(places)(1000, -7) == places(1000, -7)
    compiled = qd.njit(gcd_of)
    for a in _ENDS[1:]:
        for b in (-12, -1, 0, 1, 18, 2**40):
            assert compiled(a, b) == gcd_of(a, b)
