"""Sorting of lines: a stable merge sort on insertion-sorted runs. nan sorts last, as in NumPy.

`sort_line` sorts a 1-D array in place; `argsort_line` gives the order. Both are stable and take n log n steps always.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.kernels import before
from quadrants.library.support import as_array, axis_last, checked_axis

RUN = 16


def less(x, y):
    """NumPy's sorting order of two scalars of one type: nan after everything else."""
    kind = x.dtype.kind
    if kind == "b":
        return y and not x
    if kind == "f":
        return x < y or (y != y and x == x)
    if kind == "c":
        return complex_less(x, y)
    return x < y


def complex_less(x, y):
    """By the real part, then by the imaginary one; values with nan parts last."""
    x_bad = x != x
    y_bad = y != y
    if not x_bad and not y_bad:
        return before(x, y)
    x_rank = 2 * int(x.real != x.real) + int(x.imag != x.imag)
    y_rank = 2 * int(y.real != y.real) + int(y.imag != y.imag)
    if x_rank != y_rank:
        return x_rank < y_rank
    if x_rank == 1:
        return x.real < y.real
    if x_rank == 2:
        return x.imag < y.imag
    return False


def sort_line(a):
    n = a.shape[0]
    for start in range(0, n, RUN):
        insertion_sort(a, start, min(start + RUN, n))
    if n > RUN:
        spare = np.empty(n, a.dtype)
        width = RUN
        while width < n:
            for start in range(0, n - width, 2 * width):
                merge(a, spare, start, start + width, min(start + 2 * width, n))
            width *= 2


def insertion_sort(a, start, stop):
    for i in range(start + 1, stop):
        x = raw.load(a, i)
        j = i - 1
        while j >= start and less(x, raw.load(a, j)):
            raw.store(raw.load(a, j), a, j + 1)
            j -= 1
        raw.store(x, a, j + 1)


def merge(a, spare, start, middle, stop):
    """Merges two sorted neighbours; the left one waits in `spare`."""
    if not less(raw.load(a, middle), raw.load(a, middle - 1)):
        return
    for i in range(start, middle):
        raw.store(raw.load(a, i), spare, i)
    i = start
    j = middle
    k = start
    while i < middle and j < stop:
        x = raw.load(spare, i)
        y = raw.load(a, j)
        if less(y, x):
            raw.store(y, a, k)
            j += 1
        else:
            raw.store(x, a, k)
            i += 1
        k += 1
    while i < middle:
        raw.store(raw.load(spare, i), a, k)
        i += 1
        k += 1


def argsort_line(a, order):
    """Writes into `order` the indices that sort the row."""
    n = a.shape[0]
    for i in range(n):
        raw.store(i, order, i)
    for start in range(0, n, RUN):
        insertion_argsort(a, order, start, min(start + RUN, n))
    if n > RUN:
        spare = np.empty(n, np.int64)
        width = RUN
        while width < n:
            for start in range(0, n - width, 2 * width):
                argmerge(a, order, spare, start, start + width, min(start + 2 * width, n))
            width *= 2


def insertion_argsort(a, order, start, stop):
    for i in range(start + 1, stop):
        at = raw.load(order, i)
        x = raw.load(a, at)
        j = i - 1
        while j >= start and less(x, raw.load(a, raw.load(order, j))):
            raw.store(raw.load(order, j), order, j + 1)
            j -= 1
        raw.store(at, order, j + 1)


def argmerge(a, order, spare, start, middle, stop):
    for i in range(start, middle):
        raw.store(raw.load(order, i), spare, i)
    i = start
    j = middle
    k = start
    while i < middle and j < stop:
        left = raw.load(spare, i)
        right = raw.load(order, j)
        if less(raw.load(a, right), raw.load(a, left)):
            raw.store(right, order, k)
            j += 1
        else:
            raw.store(left, order, k)
            i += 1
        k += 1
    while i < middle:
        raw.store(raw.load(spare, i), order, k)
        i += 1
        k += 1


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    a = as_array(a)
    if axis is None:
        out = a.reshape(-1).copy()
        sort_line(out)
        return out
    out = a.copy()
    sort_in_place(out, axis)
    return out


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    """The method `ndarray.sort`."""
    lines = axis_last(a, checked_axis(axis, a.ndim))
    for index in np.ndindex(lines.shape[:-1]):
        sort_line(lines[index])


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    a = as_array(a)
    if axis is None:
        line = a.reshape(-1)
        out = np.empty(line.shape[0], np.int64)
        argsort_line(line, out)
        return out
    front = checked_axis(axis, a.ndim)
    out = np.empty(a.shape, np.int64)
    lines = axis_last(a, front)
    targets = axis_last(out, front)
    for index in np.ndindex(lines.shape[:-1]):
        argsort_line(lines[index], targets[index])
    return out
