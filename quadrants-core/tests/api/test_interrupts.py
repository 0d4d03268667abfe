"""A signal interrupts compiled code of every shape. The programs end by themselves after a while, should no poll see it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import quadrants as qd

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")


class Rung(Exception):
    """Raised by the signal handler."""


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def ring(_number: int, _frame: object) -> None:
        raise Rung

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def spin(n: int) -> int:
    state = 1
    while n > 0:
        state = state * 5 + n & 0xFFFF
        n -= 1
    return state


def single(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += 1.0 / (1.0 + i)
    return total


def nested(n: int) -> int:
    found = 0
    for i in range(n):
        for j in range(8):
            if (i ^ j) % 3 == 0:
                found += 1
    return found


def recursive(n: int) -> int:
    return n if n < 2 else recursive(n - 1) + recursive(n - 2)


def handled(n: int) -> int:
    count = 0
    try:
        for i in range(n):
            if i * i == -1:
                raise ValueError(i)
            count += i % 7
    except ValueError:
        return -1
    finally:
        count += 1
    return count


def product(n: int) -> Any:
    a = np.ones((n, n))
    return a @ a


def column_sums(n: int) -> Any:
    return np.sum(np.broadcast_to(np.float64(1.0), (n, 8)), axis=0)


PROGRAMS: list[tuple[Callable[[int], Any], int, int]] = [
    (spin, 10, 1 << 36),
    (single, 10, 1 << 36),
    (nested, 10, 1 << 33),
    (recursive, 10, 52),
    (handled, 10, 1 << 35),
    (product, 2, 10_000),
    (column_sums, 2, 1 << 33),
]


@pytest.mark.parametrize("nogil", [False, True], ids=["gil", "nogil"])
@pytest.mark.parametrize(("program", "few", "many"), PROGRAMS, ids=[program.__name__ for program, _, _ in PROGRAMS])
def test_a_signal_interrupts(program: Callable[[int], Any], few: int, many: int, nogil: bool) -> None:
    compiled = qd.njit(nogil=nogil)(program)
    expected = program(few)
    assert np.array_equal(compiled(few), expected)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(Rung):
        compiled(many)
    assert np.array_equal(compiled(few), expected)


def test_recursion_that_polls_still_ends_at_the_limit() -> None:
    @qd.njit
    def deep(n: int) -> int:
        return n + deep(n + 1) if n >= 0 else 0

    for _ in range(3):
        with pytest.raises(RecursionError):
            deep(0)


#: What computes large products is compiled when a program comes to the first: the signal arrives meanwhile.
PRODUCT = """
import signal
import sys

import numpy as np

import quadrants as qd


class Rung(Exception):
    pass


def ring(number, frame):
    raise Rung


@qd.njit(nogil=sys.argv[1] == "nogil")
def product(a):
    return a @ a


product(np.ones((2, 2)))
signal.signal(signal.SIGALRM, ring)
large = np.ones((2000, 2000))
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
try:
    product(large)
except Rung:
    print("rung", np.all(product(large[:300, :300]) == 300.0))
"""


@pytest.mark.parametrize("delay", ["0.0005", "0.01", "0.04"])
@pytest.mark.parametrize("mode", ["gil", "nogil"])
def test_a_signal_while_the_kernel_of_products_is_made(mode: str, delay: str) -> None:
    settings = {**os.environ, "QUADRANTS_CACHE": "0"}
    command = [sys.executable, "-c", PRODUCT, mode, delay]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=settings)
    assert done.stdout == "rung True\n", done.stderr
    assert "ignored" not in done.stderr
