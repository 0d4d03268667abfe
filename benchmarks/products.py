"""Naive products of matrices against the BLAS that NumPy ships, on one thread: `python -m benchmarks.products`.

Each figure is the median of paired ratios: the time of `np.dot` by that of the loops, CPU time, one after the other.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import numpy as np

import quadrants as qd

_SIZES = (16, 32, 64, 128, 256, 500, 512, 1000)
_PAIRS = 15


def textbook(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def rows(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def columns(a: Any, b: Any, c: Any) -> None:
    for j in range(b.shape[1]):
        for k in range(a.shape[1]):
            for i in range(a.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


def operator(a: Any, b: Any, c: Any) -> None:
    c[:] = a @ b


def transposed(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[j, k]
            c[i, j] = total


_KERNELS: tuple[Callable[[Any, Any, Any], None], ...] = (textbook, rows, columns, transposed, operator)


def _clock(run: Callable[[], object], repeats: int) -> float:
    start = time.process_time()
    for _ in range(repeats):
        run()
    return time.process_time() - start


def figures(sizes: tuple[int, ...] = _SIZES) -> Iterator[tuple[str, str, int, float]]:
    """(function, dtype, size, np.dot's time by its own)."""
    for function in _KERNELS:
        kernel = qd.njit(function)
        for dtype in (np.float32, np.float64):
            for n in sizes:
                a, b = (np.random.default_rng(n + 1).random((2, n, n)) - 0.5).astype(dtype)
                c = np.zeros((n, n), dtype)
                kernel(a, b, c)
                repeats = max(1, 4_000_000 // n**3)
                other = b.T if function is transposed else b
                ratios = []
                for _ in range(_PAIRS):
                    theirs = _clock(partial(np.dot, a, other, out=c), repeats)
                    ratios.append(theirs / max(_clock(partial(kernel, a, b, c), repeats), 1e-9))
                yield function.__name__, np.dtype(dtype).name, n, statistics.median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(_SIZES))
    for name, dtype, n, ratio in figures(tuple(parser.parse_args().sizes)):
        print(f"{name:12} {dtype:8} {n:5}  {ratio:6.2f} of BLAS", flush=True)


if __name__ == "__main__":
    main()
