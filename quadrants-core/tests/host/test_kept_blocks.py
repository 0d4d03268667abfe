"""Memory of arrays that are gone serves the next ones of the same size: contents, limits, threads."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np

import quadrants as qd
from quadrants.lower import kept_blocks


@qd.njit
def filled(n, x):
    return np.full(n, x)


@qd.njit
def zeroed(n):
    return np.zeros(n)


@qd.njit(nogil=True)
def churned(seed, turns):
    """Arrays of many sizes, several alive at once; the sum of what they hold."""
    total = 0.0
    a = np.ones(1)
    for k in range(turns):
        seed = (seed * 1103515245 + 12345) % 2147483648
        b = np.full(1 + seed % 70000, float(k))
        total += a[0] + a[-1] + b[0] + b[len(b) // 2] + b[-1]
        if seed % 3:
            a = b
    return total


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_the_next_array_of_the_size_has_the_memory() -> None:
    first = filled(100_000, 1.0)
    address = first.ctypes.data
    del first
    other = filled(50_000, 3.0)
    again = filled(100_000, 2.0)
    assert again.ctypes.data == address
    assert (again == 2.0).all() and (other == 3.0).all()


def test_zeros_are_zero() -> None:
    for n in (10, 5_000, 20_000, 40_000, 200_000):
        filled(n, 7.0)
        assert not zeroed(n).any(), n


def test_no_more_is_kept_than_the_limit() -> None:
    filled(10, 0.0)
    before = resident()
    for k in range(64):
        filled(1_000_000 + 10_000 * k, 1.0)
    held = [filled(600_000, 1.0) for _ in range(40)]
    del held
    assert resident() - before < kept_blocks.MOST_KEPT + (32 << 20)


def test_several_threads() -> None:
    expected = [churned.py_func(seed, 200) for seed in range(6)]
    got = [0.0] * len(expected)

    def work(seed: int) -> None:
        for _ in range(5):
            got[seed] = churned(seed, 200)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(len(expected))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == expected
