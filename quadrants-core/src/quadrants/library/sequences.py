"""Python's `sum`, `min`, `max`, `any`, `all` and `in` over arrays and ranges; methods of tuples and numbers."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.reshaping import flat_place, unraveled


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
    if a.ndim != 1:
        return least_row(a)
    if a.shape[0] == 0:
        if raw.VERSION < (3, 12):
            raise ValueError("min() arg is an empty sequence")
        raise ValueError("min() iterable argument is empty")
    best = raw.load(a, 0)
    for i in range(1, a.shape[0]):
        x = raw.load(a, i)
        best = x if x < best else best
    return best


def max_of_array(a):
    if a.ndim != 1:
        return greatest_row(a)
    if a.shape[0] == 0:
        if raw.VERSION < (3, 12):
            raise ValueError("max() arg is an empty sequence")
        raise ValueError("max() iterable argument is empty")
    best = raw.load(a, 0)
    for i in range(1, a.shape[0]):
        x = raw.load(a, i)
        best = x if x > best else best
    return best


def min_of_array_or(a, default):
    """`min(a, default=default)`."""
    return default if a.shape[0] == 0 else min_of_array(a)


def max_of_array_or(a, default):
    """`max(a, default=default)`."""
    return default if a.shape[0] == 0 else max_of_array(a)


def first_of(found):
    """`next(iterator)` of the next item in a tuple, or None."""
    if found is None:
        raise StopIteration
    return found[0]


def first_or(found, default):
    """`next(iterator, default)`."""
    return default if found is None else found[0]


def filtered(function, items):
    """`filter(function, items)`."""
    return (item for item in items if (item if function is None else function(item)))


def any_of_items(items):
    for item in items:
        if item:
            return True
    return False


def all_of_items(items):
    for item in items:
        if not item:
            return False
    return True


def in_items(item, items):
    """`item in items` of an iterator: what is behind it is left."""
    for other in items:
        if other == item:
            return True
    return False


def reduced(function, items, start):
    """`functools.reduce(function, items, start)`."""
    for item in items:
        start = function(start, item)
    return start


def reduced_list(function, items):
    """`functools.reduce(function, items)`."""
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for i in range(1, len(items)):
        total = function(total, items[i])
    return total


def check_rows(a, name):
    if a.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if a.shape[0] == 0:
        if raw.VERSION < (3, 12):
            raise ValueError(f"{name}() arg is an empty sequence")
        raise ValueError(f"{name}() iterable argument is empty")


def least_row(a):
    """Python's min() of rows: what a comparison of two of them says must be one truth."""
    check_rows(a, "min")
    best = a[0]
    for i in range(1, a.shape[0]):
        if a[i] < best:
            best = a[i]
    return best


def greatest_row(a):
    check_rows(a, "max")
    best = a[0]
    for i in range(1, a.shape[0]):
        if a[i] > best:
            best = a[i]
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


def contains(a, item):
    """`item in a`."""
    for index in np.ndindex(a.shape):
        if a[index] == item:
            return True
    return False


def in_range(item, start, stop, step):
    """`item in range(start, stop, step)` of an integer or a float with a whole value."""
    if step > 0:
        return start <= item and item < stop and (item - start) % step == 0
    return stop < item and item <= start and (start - item) % -step == 0


def flat_copy(a):
    """`a.flat`: the elements in C order, as a view where that can be."""
    return a.reshape(-1)


def set_flat(a, index, value):
    """`a.flat[index] = value`: several values are used again from the start when they run out."""
    if not a.flags.writeable:
        raise ValueError("underlying array is read-only")
    if isinstance(index, (int, np.integer)):
        raw.put(value, a, flat_place(index, a.shape))
    else:
        places = np.arange(a.size)[index]
        values = np.array(value).ravel()
        if values.size > 0:
            for k in range(places.shape[0]):
                a[unraveled(places[k], a.shape)] = values[k % values.size]


def tolist(a):
    """`a.tolist()` of an array with at most one axis, as Python numbers."""
    if a.ndim == 0:
        return a.item()
    if a.ndim > 1:
        raise TypeError("tolist() of an array with several axes would give lists of lists, which are not compiled")
    return [x.item() for x in a]


def count_in(items, value):
    """`items.count(value)` of a tuple."""
    count = 0
    for item in items:
        if item == value:
            count += 1
    return count


def index_in(items, value, start=0, stop=9223372036854775807):
    """`items.index(value)` of a tuple, or of a list that is only read."""
    if start < 0:
        start += len(items)
    if stop < 0:
        stop += len(items)
    place = 0
    for item in items:
        if start <= place < stop and item == value:
            return place
        place += 1
    if isinstance(items, list):
        raise ValueError(f"{value!r} is not in list")
    raise ValueError("tuple.index(x): x not in tuple")


def bit_length(n):
    """`n.bit_length()`: the bits of the absolute value."""
    return 64 - raw.clz(abs(n))


def bit_count(n):
    """`n.bit_count()`: the ones in the absolute value."""
    left = abs(n)
    count = 0
    while left != 0:
        left &= left - 1
        count += 1
    return count


def is_integer(x):
    """`x.is_integer()`."""
    if isinstance(x, int):
        return True
    return bool(x - x == 0.0 and raw.floor(x) == x)
