"""Paired measurements: two things in turn, many times, and the ratio pair by pair, so that a busy machine does not decide."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Paired:
    """The result of a comparison.

    Args:
        ours: median of our seconds.
        theirs: median of theirs.
        ratio: median of theirs over ours, pair by pair: above 1 we are faster.
        low, high: the 95% interval of that median (bootstrap).
        pairs: how many.
    """

    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    pairs: int


def interval(ratios: list[float], rounds: int = 400) -> tuple[float, float]:
    """The 95% bootstrap interval of the median."""
    rng = random.Random(0)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(rounds))
    return medians[int(rounds * 0.025)], medians[int(rounds * 0.975)]


def paired(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    budget: float = 1.0,
    least: int = 7,
    most: int = 300,
    clock: Callable[[], float] = time.process_time,
) -> Paired:
    """Compare two calls, by CPU time unless another clock is given. `budget`: seconds to spend in all."""
    times: list[tuple[float, float]] = []
    gc.collect()
    gc.disable()
    try:
        end = time.perf_counter() + budget
        while len(times) < most and (time.perf_counter() < end or len(times) < least):
            first, second = (ours, theirs) if len(times) % 2 == 0 else (theirs, ours)
            start = clock()
            first()
            middle = clock()
            second()
            stop = clock()
            pair = (middle - start, stop - middle)
            times.append(pair if first is ours else pair[::-1])
    finally:
        gc.enable()
    ratios = [b / max(a, 1e-9) for a, b in times]
    low, high = interval(ratios)
    medians = [statistics.median(column) for column in zip(*times)]
    return Paired(medians[0], medians[1], statistics.median(ratios), low, high, len(times))
