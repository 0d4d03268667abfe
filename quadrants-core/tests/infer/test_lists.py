"""Lists in the reference interpreter, before and after the passes, without machine code."""

from __future__ import annotations

import numpy as np
from inferring import outcomes


def primes(n):
    found = []
    for k in range(2, n):
        for p in found:
            if k % p == 0:
                break
        else:
            found.append(k)
    found.insert(0, 1)
    return found, found.pop(), sum(found)


def pairs(n):
    xs = [(i, i * 0.5) for i in range(n)]
    xs.reverse()
    ys = xs
    ys.append((7, 1.0))
    return xs, len(ys), np.array([b for _, b in xs])


def popped(n):
    xs = [n]
    xs.pop()
    return xs.pop()


def test_lists_in_the_reference_interpreter() -> None:
    for found, _ in outcomes(primes, (20,)):
        assert found == primes(20)
    for found, _ in outcomes(pairs, (3,)):
        expected = pairs(3)
        assert found[:2] == expected[:2]
        assert np.array_equal(found[2], expected[2])
    for found, _ in outcomes(popped, (3,)):
        assert found == "IndexError"
