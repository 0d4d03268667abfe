"""Python's builtins over arrays, ranges and tuples: `sum`, `min`, `max`, `any`, `all`, `in`, methods of numbers and tuples."""

from __future__ import annotations

import numpy as np


def sum_of_array(a, start):
    """`sum(a, start)`: one addition after the other, in order."""
    if a.ndim == 1:
        total = start
        for x in a:
            total = total + x
        return total
    total = a[0] + start
    for k in range(1, a.shape[0]):
        total = total + a[k]
    return total


def sum_of_range(start, stop, step, first):
    total = first
    for k in range(start, stop, step):
        total += k
    return total


def min_of_array(a):
    if a.shape[0] == 0:
        raise ValueError("min() iterable argument is empty")
    best = a[0]
    for k in range(1, a.shape[0]):
        if a[k] < best:
            best = a[k]
    return best


def max_of_array(a):
    if a.shape[0] == 0:
        raise ValueError("max() iterable argument is empty")
    best = a[0]
    for k in range(1, a.shape[0]):
        if a[k] > best:
            best = a[k]
    return best


def any_of_array(a):
    for x in a:
        if x:
            return True
    return False


def all_of_array(a):
    for x in a:
        if not x:
            return False
    return True


def contains(a, item):
    """`item in a`."""
    for x in a.reshape(-1):
        if x == item:
            return True
    return False


def in_range(item, start, stop, step):
    """`item in range(start, stop, step)`."""
    if item != int(item):
        return False
    if step > 0:
        return start <= item and item < stop and (item - start) % step == 0
    return stop < item and item <= start and (start - item) % -step == 0


def flat_copy(a):
    """The elements in C order, to walk."""
    return a.reshape(-1)


def count_in(items, wanted):
    n = 0
    for item in items:
        if item == wanted:
            n += 1
    return n


def index_in(items, wanted):
    k = 0
    for item in items:
        if item == wanted:
            return k
        k += 1
    raise ValueError("tuple.index(x): x not in tuple")


def bit_length(n):
    """`int.bit_length` of 64-bit integers."""
    size = 0
    n = abs(n)
    while n != 0:
        n >>= 1
        size += 1
    return size


def bit_count(n):
    return int(np.bitwise_count(abs(n)))


def is_integer(x):
    return x == np.floor(x) and np.isfinite(x)
