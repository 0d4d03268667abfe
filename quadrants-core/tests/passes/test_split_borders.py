"""Loops that are split at their borders compute what the interpreter does, for ranges of every length; others stay whole."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd


def ring(a, out):
    n = len(a)
    for i in range(n):
        out[i] = a[(i - 1) % n] - 2 * a[i] + a[(i + 2) % n]


def torus(a, out):
    n = len(a)
    for i in range(n):
        total = 0.0
        for k in range(-2, 3):
            if k != 0:
                total += a[(i + k) % n]
        out[i] = total


def halo(a, out):
    n = len(a)
    for i in range(n):
        left = a[i - 1] if i > 0 else 0.0
        right = a[i + 1] if i < n - 1 else 0.0
        out[i] = left + right


def edges(a, out):
    n = a.shape[0]
    for i in range(n):
        if i == 0 or i == n - 1:
            out[i] = 1.0
        elif n - 2 <= i:
            out[i] = -1.0
        else:
            out[i] = a[i + 1] - a[i - 1]


def wraps(a, out):
    for i in range(len(a)):
        out[i] = a[i - 1] + a[i]


def carried(a, out):
    n = len(a)
    total, last = 0.0, 0
    for i in range(n):
        total += a[(i + 1) % n]
        last = i
        if i == 1:
            continue
        out[i] = total
    out[0] = total + last


def below_zero(a, out):
    n = len(a)
    for i in range(-3, n + 2):
        if 0 <= i < n:
            out[i] = a[(i + 1) % n]


def left_early(a, out):
    n = len(a)
    for i in range(n):
        if a[(i + 1) % n] > 0.9:
            break
        out[i] = 1.0
    out[0] = 2.0


SPLIT = (ring, torus, halo, edges, wraps, carried, left_early)


def outcome(function: Callable[..., Any], n: int) -> Any:
    a, out = np.random.default_rng(n).random(n), np.zeros(n)
    try:
        function(a, out)
    except (IndexError, ZeroDivisionError) as error:
        return type(error), out
    return out


@pytest.mark.parametrize("function", [*SPLIT, below_zero], ids=lambda f: f.__name__)
def test_every_length(function: Callable[..., Any]) -> None:
    compiled = qd.njit(cache=False, fp="strict")(function)
    for n in (*range(8), 67, 200):
        ours, theirs = outcome(compiled, n), outcome(function, n)
        assert str(ours) == str(theirs), n
    if function in SPLIT:
        assert "split at its borders" in str(compiled.explain())


def unrelated(a, out):
    for i in range(len(a)):
        out[i] = a[i % 3]


def far(a, out):
    n = len(a)
    for i in range(n):
        out[i] = a[(i + 1000) % n]


def triangular(a, out):
    n = len(a)
    for i in range(n):
        for j in range(n):
            if j < i:
                out[i] += a[j]


@pytest.mark.parametrize("function", [unrelated, far, triangular], ids=lambda f: f.__name__)
def test_what_is_not_split(function: Callable[..., Any]) -> None:
    compiled = qd.njit(cache=False, fp="strict")(function)
    for n in (*range(3, 8), 67):
        assert str(outcome(compiled, n)) == str(outcome(function, n)), n
    assert "split at its borders" not in str(compiled.explain())


def test_a_periodic_grid() -> None:
    def blur(a, out):
        n, m = a.shape
        for i in range(n):
            for j in range(m):
                total = 0.0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        total += a[(i + di) % n, (j + dj) % m]
                out[i, j] = total

    compiled = qd.njit(cache=False, fp="strict")(blur)
    for shape in ((0, 3), (1, 1), (1, 5), (2, 3), (3, 2), (9, 17), (20, 66)):
        a = np.random.default_rng(0).random(shape)
        ours, theirs = np.zeros(shape), np.zeros(shape)
        compiled(a, ours)
        blur(a, theirs)
        assert np.array_equal(ours, theirs), shape
    assert str(compiled.explain()).count("split at its borders") == 2


@pytest.mark.parametrize("n", [0, 1, 5, -1, -(2**63), 2**63 - 1, 2**62 + 5])
def test_extreme_divisors_and_ends(n: int) -> None:
    def count(n, stop):
        total = 0
        for i in range(min(n, stop)):
            if i < n - 1:
                total += (i + 1) % n
        return total

    def shifted(n):
        total = 0
        for i in range(3):
            for j in range(n, n + 1 if n < 2**62 else n):
                total += i + (j == n)
        return total

    for function, arguments in ((count, (n, 100)), (shifted, (n,))):
        assert qd.njit(cache=False)(function)(*arguments) == function(*arguments)


_TESTS = (
    "(i + {c}) % n",
    "(i - {c}) % n",
    "(i + k) % n",
    "(i - k + {c}) % (n + {d})",
    "(1 if i < n - {c} else 2)",
    "(1 if i <= n else 2)",
    "(1 if {c} <= i else 2)",
    "(1 if i == {c} else 2)",
    "(1 if n - {c} == i + {d} else 2)",
    "(1 if i - {d} > n - {c} else 2)",
    "(1 if i + k != n - 1 else 2)",
    "(1 if i - k >= {c} else 2)",
)


def program(seed: int) -> str:
    """The source of a function of n with random tests of its index."""
    draw = random.Random(seed)
    tests = [draw.choice(_TESTS).format(c=draw.randint(0, 4), d=draw.randint(0, 3)) for _ in range(draw.randint(1, 4))]
    inner = any("k" in test for test in tests)
    start, stop = draw.choice(("0", "1", "-2", "3", "n - 4")), draw.choice(("n", "n - 1", "n + 2", "n - 5"))
    pad = "    " * inner
    lines = ["def f(n):", "    total = 0", f"    for i in range({start}, {stop}):"]
    lines += [f"        for k in range({draw.randint(-2, 0)}, {draw.randint(1, 3)}):"] * inner
    lines += [f"        {pad}total = (total * 7 + {' + '.join(tests)}) % 1000003", "    return total", ""]
    return "\n".join(lines)


def check(seed: int) -> None:
    source = program(seed)
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    compiled = qd.njit(cache=False)(namespace["f"])
    for n in (-3, -1, *range(1, 10), 90):
        try:
            expected = namespace["f"](n)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                compiled(n)
            continue
        assert compiled(n) == expected, (n, source)


@pytest.mark.parametrize("seed", range(40))
def test_random_tests(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 600))
def test_many_random_tests(seed: int) -> None:
    check(seed)
