"""Python's `sum`, `min`, `max`, `any` and `all` over the items of an array or a range."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw


def sum_of_array(a, start):
    if a.ndim == 1:
        total = start + a.dtype.type(0)
        for i in range(a.shape[0]):
            total = total + raw.load(a, i)
        return total
    sums = np.zeros(a.shape[1:], a.dtype) + start
    for i in range(a.shape[0]):
        sums = sums + a[i]
    return sums


def sum_of_range(first, stop, step, start):
    n = len(range(first, stop, step))
    # n * (n - 1) is even, but may not fit where half of it does.
    pairs = n // 2 * (n - 1) if n % 2 == 0 else (n - 1) // 2 * n
    return start + n * first + pairs * step


def min_of_array(a):
    if a.shape[0] == 0:
        raise ValueError("min() iterable argument is empty")
    best = raw.load(a, 0)
    for i in range(1, a.shape[0]):
        x = raw.load(a, i)
        best = x if x < best else best
    return best


def max_of_array(a):
    if a.shape[0] == 0:
        raise ValueError("max() iterable argument is empty")
    best = raw.load(a, 0)
    for i in range(1, a.shape[0]):
        x = raw.load(a, i)
        best = x if x > best else best
    return best


def any_of_array(a):
    for i in range(a.shape[0]):
        if a[i]:
            return True
    return False


def all_of_array(a):
    for i in range(a.shape[0]):
        if not a[i]:
            return False
    return True
