"""Sorting of lines. nan sorts last, as in NumPy; every sort is stable.

`sort_line` sorts a 1-D array in place; `argsort_line` gives the order. Real numbers become int64 keys of the same order,
sorted by insertion if they are few, else by their digits (radix sort: no comparisons, time in proportion to n). Complex
numbers are merge sorted.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.kernels import before
from quadrants.library.support import along, as_array, axis_last, checked_axis

RUN = 8
FEW = 96
LOW_BITS = 0x7FFFFFFFFFFFFFFF
TOP_BIT = -0x8000000000000000


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


def key_of(x):
    """The int64 that sorts as the real number does; -0.0 comes before 0.0."""
    kind = x.dtype.kind
    if kind == "f":
        if x != x:
            return LOW_BITS
        bits = raw.bits(x)
        # Negative floats grow as their bits, read as an integer, fall.
        return bits ^ ((bits >> 63) & LOW_BITS)
    if kind == "u":
        return raw.wrap(int(x)) ^ TOP_BIT
    return int(x)


def value_of(key, dtype):
    """The number of the dtype that has this key."""
    if dtype.kind == "f":
        return dtype.type(raw.from_bits(key ^ ((key >> 63) & LOW_BITS)))
    if dtype.kind == "u":
        return np.int64(key ^ TOP_BIT).astype(dtype)
    return dtype.type(key)


def sort_line(a):
    """Sorts a row in place."""
    if a.dtype.kind == "c":
        merge_sort(a)
    else:
        n = a.shape[0]
        keys = np.empty(n, np.int64)
        for i in range(n):
            raw.store(key_of(raw.load(a, i)), keys, i)
        ordered = sort_keys(keys)
        for i in range(n):
            raw.store(value_of(raw.load(ordered, i), a.dtype), a, i)


def argsort_line(a, order):
    """Writes into `order` the indices that sort the row."""
    n = a.shape[0]
    for i in range(n):
        raw.store(i, order, i)
    if a.dtype.kind == "c":
        insertion_argsort(a, order)
    else:
        keys = np.empty(n, np.int64)
        zero = a.dtype.type(0)
        for i in range(n):
            # Adding zero turns -0.0 into 0.0: the two are equal, and keep their order.
            x = raw.load(a, i)
            raw.store(key_of(x + zero if a.dtype.kind == "f" else x), keys, i)
        ordered = argsort_keys(keys, order)
        for i in range(n):
            raw.store(raw.load(ordered, i), order, i)


def digit(key, place):
    """One of the eight digits of a key, in the order of signed numbers."""
    flip = 128 if place == 7 else 0
    return ((key >> (8 * place)) & 255) ^ flip


def digit_counts(keys):
    """How many keys have each digit at each place."""
    counts = np.zeros(2048, np.int64)
    for i in range(keys.shape[0]):
        key = raw.load(keys, i)
        for place in range(8):
            at = 256 * place + digit(key, place)
            raw.store(raw.load(counts, at) + 1, counts, at)
    return counts


def starts_of(counts, place):
    """Replaces the counts at a place by where each digit's keys go."""
    total = 0
    for at in range(256 * place, 256 * place + 256):
        count = raw.load(counts, at)
        raw.store(total, counts, at)
        total += count


def sort_keys(keys):
    """The keys in order: in the same array, or in another."""
    n = keys.shape[0]
    if n <= FEW:
        for i in range(1, n):
            x = raw.load(keys, i)
            j = i - 1
            while j >= 0 and x < raw.load(keys, j):
                raw.store(raw.load(keys, j), keys, j + 1)
                j -= 1
            raw.store(x, keys, j + 1)
        return keys
    counts = digit_counts(keys)
    spare = np.empty(n, np.int64)
    for place in range(8):
        if raw.load(counts, 256 * place + digit(raw.load(keys, 0), place)) < n:
            starts_of(counts, place)
            for i in range(n):
                key = raw.load(keys, i)
                at = 256 * place + digit(key, place)
                target = raw.load(counts, at)
                raw.store(target + 1, counts, at)
                raw.store(key, spare, target)
            keys, spare = spare, keys
    return keys


def argsort_keys(keys, order):
    """`order` rearranged as the keys sort: in the same array, or in another."""
    n = keys.shape[0]
    if n <= FEW:
        insertion_argsort_keys(keys, order)
        return order
    counts = digit_counts(keys)
    spare_keys = np.empty(n, np.int64)
    places = np.empty(n, np.int64)
    spare_places = np.empty(n, np.int64)
    places[:] = order
    for place in range(8):
        if raw.load(counts, 256 * place + digit(raw.load(keys, 0), place)) < n:
            starts_of(counts, place)
            for i in range(n):
                key = raw.load(keys, i)
                at = 256 * place + digit(key, place)
                target = raw.load(counts, at)
                raw.store(target + 1, counts, at)
                raw.store(key, spare_keys, target)
                raw.store(raw.load(places, i), spare_places, target)
            keys, spare_keys = spare_keys, keys
            places, spare_places = spare_places, places
    return places


def insertion_argsort_keys(keys, order):
    for i in range(1, keys.shape[0]):
        x = raw.load(keys, i)
        j = i - 1
        while j >= 0 and x < raw.load(keys, j):
            raw.store(raw.load(keys, j), keys, j + 1)
            raw.store(raw.load(order, j), order, j + 1)
            j -= 1
        raw.store(x, keys, j + 1)
        raw.store(i, order, j + 1)


def insertion_argsort(a, order):
    """The order of a row of complex numbers, by binary insertion."""
    for i in range(1, a.shape[0]):
        x = raw.load(a, i)
        low = 0
        high = i
        while low < high:
            middle = (low + high) // 2
            if less(x, raw.load(a, raw.load(order, middle))):
                high = middle
            else:
                low = middle + 1
        for j in range(i, low, -1):
            raw.store(raw.load(order, j - 1), order, j)
        raw.store(i, order, low)


def merge_sort(a):
    """Sorts a row of complex numbers."""
    n = a.shape[0]
    for start in range(0, n, RUN):
        insertion_sort(a, start, min(start + RUN, n))
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


def check_kind(kind):
    if kind is not None and kind not in ("quicksort", "heapsort", "mergesort", "stable", "quick", "heap", "merge"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')")


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    check_kind(kind)
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
    check_kind(kind)
    if not a.flags.writeable:
        raise ValueError("sort array is read-only")
    front = checked_axis(axis, a.ndim)
    if raw.known(axis):
        lines = axis_last(a, front)
        for index in np.ndindex(lines.shape[:-1]):
            sort_line(lines[index])
    else:
        along(sort_in_place, front, a.ndim, 0, a)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    check_kind(kind)
    a = as_array(a)
    if axis is None:
        line = a.reshape(-1)
        out = np.empty(line.shape[0], np.int64)
        argsort_line(line, out)
        return out
    front = checked_axis(axis, a.ndim)
    if not raw.known(axis):
        return along(argsort, front, a.ndim, 0, a)
    out = np.empty(a.shape, np.int64)
    lines = axis_last(a, front)
    targets = axis_last(out, front)
    for index in np.ndindex(lines.shape[:-1]):
        argsort_line(lines[index], targets[index])
    return out
