"""Which loops of the suite become packed arithmetic: `python -m benchmarks.tsvc [--dtype float32] [--only s111,s112] [--pairs 15]`.

A loop counts where its hot code has packed arithmetic, and it is at least 1.3 times as fast as our own scalar build of it (the same
function with `simd=False`), paired in one process.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import quadrants as qd
from benchmarks.tsvc import LOOPS, inputs

os.environ.setdefault("QUADRANTS_CACHE", "0")

_LENGTH, _SIDE = 32_000, 256
_ENOUGH = 1.3
#: Packed arithmetic of x86-64 (AVX and SSE) and of Arm64.
_PACKED = re.compile(
    r"^\s*(v?(add|sub|mul|div|min|max|sqrt)p[sd]|vfn?m(add|sub)\d*p[sd]|vp?(blend|max|min|add)\w*)\s|\.(2d|4s)\b", re.M
)


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    for _ in range(rounds):
        call()
    return (time.process_time() - start) / rounds


def ratio(name: str, dtype: str, pairs: int) -> tuple[float, bool]:
    """How much faster than the scalar build, and whether the code has packed arithmetic."""
    packed, scalar = (qd.njit(cache=False, **options)(LOOPS[name]) for options in ({}, {"simd": False}))
    arguments = inputs(name, dtype, _LENGTH, _SIDE)
    calls = [
        (lambda f=f: f(*[x.copy() if isinstance(x, np.ndarray) else x for x in arguments])) for f in (packed, scalar)
    ]
    for call in calls:
        call()
    rounds = max(1, int(2e-3 / max(seconds(calls[1], 3), 1e-6)))
    ratios = [1 / (seconds(calls[0], rounds) / seconds(calls[1], rounds)) for _ in range(pairs)]
    return statistics.median(ratios), any(map(_PACKED.search, packed.inspect_asm().values()))


def main() -> None:
    """Print a line a loop, and the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--only", default="")
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(LOOPS)
    count = 0
    for name in names:
        faster, packed = ratio(name, options.dtype, options.pairs)
        counts = packed and faster >= _ENOUGH
        count += counts
        print(f"{name:8s} {faster:6.2f}  {'packed' if packed else '      '}  {'yes' if counts else ''}", flush=True)
    print(f"{count} of {len(names)} loops are vectorised and at least {_ENOUGH} times as fast as scalar code")


if __name__ == "__main__":
    main()
