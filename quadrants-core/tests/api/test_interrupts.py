"""A signal interrupts compiled code of every shape. The programs end by themselves after a while, should no poll see it."""

from __future__ import annotations

import signal
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
