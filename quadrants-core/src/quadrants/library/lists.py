"""Lists: what their methods and operators do, on the operations of `raw` (which do not check)."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw


def pop(xs, index=-1):
    n = raw.list_size(xs)
    if n == 0:
        raise IndexError("pop from empty list")
    if index < 0:
        index += n
    if index < 0 or index >= n:
        raise IndexError("pop index out of range")
    value = raw.list_get(xs, index)
    delete(xs, index)
    return value


def delete(xs, index):
    n = raw.list_size(xs)
    for i in range(index, n - 1):
        raw.list_put(xs, i, raw.list_get(xs, i + 1))
    raw.list_resize(xs, n - 1)


def delete_slice(xs, start, stop, step):
    """`del xs[start:stop:step]`."""
    n = raw.list_size(xs)
    first, last, stride = bounds(n, start, stop, step)
    gone = len(range(first, last, stride))
    if stride < 0:
        first, stride = first + (gone - 1) * stride, -stride
    to = first
    for i in range(first, n) if gone > 0 else range(0):
        if (i - first) % stride != 0 or (i - first) // stride >= gone:
            raw.list_put(xs, to, raw.list_get(xs, i))
            to += 1
    raw.list_resize(xs, n - gone)


def assign_slice(xs, start, stop, step, items):
    """`xs[start:stop:step] = items`; the items are a list of their own."""
    n = raw.list_size(xs)
    given = raw.list_size(items)
    first, last, stride = bounds(n, start, stop, step)
    size = len(range(first, last, stride))
    if stride != 1 and size != given:
        raise ValueError(f"attempt to assign sequence of size {given} to extended slice of size {size}")
    if given > size:
        raw.list_resize(xs, n + given - size)
        for i in range(n - 1, first + size - 1, -1):
            raw.list_put(xs, i + given - size, raw.list_get(xs, i))
    if given < size:
        for i in range(first + size, n):
            raw.list_put(xs, i + given - size, raw.list_get(xs, i))
        raw.list_resize(xs, n + given - size)
    for k in range(given):
        raw.list_put(xs, first + k * stride, raw.list_get(items, k))


def insert(xs, index, value):
    n = raw.list_size(xs)
    if index < 0:
        index = max(index + n, 0)
    index = min(index, n)
    raw.list_resize(xs, n + 1)
    for i in range(n, index, -1):
        raw.list_put(xs, i, raw.list_get(xs, i - 1))
    raw.list_put(xs, index, value)


def remove(xs, value):
    for i in range(raw.list_size(xs)):
        if raw.list_get(xs, i) == value:
            delete(xs, i)
            return
    raise ValueError("list.remove(x): x not in list")


def extend(xs, items):
    if isinstance(items, list):
        for i in range(len(items)):
            xs.append(items[i])
    else:
        for item in items:
            xs.append(item)


def extended(xs, items):
    extend(xs, items)
    return xs


def clear(xs):
    raw.list_resize(xs, 0)


def reverse(xs):
    n = raw.list_size(xs)
    for i in range(n // 2):
        value = raw.list_get(xs, i)
        raw.list_put(xs, i, raw.list_get(xs, n - 1 - i))
        raw.list_put(xs, n - 1 - i, value)


def copy(xs):
    return part(xs, None, None, None)


def count(xs, value):
    total = 0
    for i in range(raw.list_size(xs)):
        if raw.list_get(xs, i) == value:
            total += 1
    return total


def contains(xs, value):
    for i in range(raw.list_size(xs)):
        if raw.list_get(xs, i) == value:
            return True
    return False


def index(xs, value, start=0, stop=9223372036854775807):
    n = raw.list_size(xs)
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    for i in range(start, min(stop, n)):
        if raw.list_get(xs, i) == value:
            return i
    raise ValueError(f"{value!r} is not in list")


def part(xs, start, stop, step):
    result = raw.list_like(xs)
    n = raw.list_size(xs)
    size = 0
    first, _, stride = bounds(n, start, stop, step)
    length = len(range(*bounds(n, start, stop, step)))
    raw.list_resize(result, length)
    for i in range(length):
        raw.list_put(result, i, raw.list_get(xs, first + i * stride))
        size += 1
    return result


def bounds(n, start, stop, step):
    """What `slice(start, stop, step).indices(n)` gives."""
    stride = 1 if step is None else int(step)
    if stride == 0:
        raise ValueError("slice step cannot be zero")
    low = 0 if stride > 0 else -1
    high = n if stride > 0 else n - 1
    first = low if stride > 0 else high
    if start is not None:
        first = int(start)
        first = max(first + n, low) if first < 0 else min(first, high)
    last = high if stride > 0 else low
    if stop is not None:
        last = int(stop)
        last = max(last + n, low) if last < 0 else min(last, high)
    return first, last, stride


def concatenated(xs, ys):
    result = copy(xs)
    extend(result, ys)
    return result


def repeated(xs, times):
    result = raw.list_like(xs)
    n = raw.list_size(xs)
    total = n * max(int(times), 0)
    raw.list_resize(result, total)
    for i in range(total):
        raw.list_put(result, i, raw.list_get(xs, i % n))
    return result


def equal(xs, ys):
    n = raw.list_size(xs)
    if n != raw.list_size(ys):
        return False
    for i in range(n):
        if raw.list_get(xs, i) != raw.list_get(ys, i):
            return False
    return True


def less(xs, ys):
    n = raw.list_size(xs)
    m = raw.list_size(ys)
    for i in range(min(n, m)):
        x, y = raw.list_get(xs, i), raw.list_get(ys, i)
        if x != y:
            return x < y
    return n < m


def sort(xs, key=None, reverse=False):
    """Merge sort, as stable as Python's; with `reverse`, equal items keep their order too."""
    n = raw.list_size(xs)
    other = raw.list_like(xs)
    raw.list_resize(other, n)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            merge(xs, other, low, min(low + width, n), min(low + 2 * width, n), key, reverse)
        for i in range(n):
            raw.list_put(xs, i, raw.list_get(other, i))
        width *= 2


def merge(xs, other, low, middle, high, key, reverse):
    i, j = low, middle
    for k in range(low, high):
        if i < middle and (j >= high or not before(raw.list_get(xs, j), raw.list_get(xs, i), key, reverse)):
            raw.list_put(other, k, raw.list_get(xs, i))
            i += 1
        else:
            raw.list_put(other, k, raw.list_get(xs, j))
            j += 1


def before(x, y, key, reverse):
    if key is not None:
        return key(y) < key(x) if reverse else key(x) < key(y)
    return y < x if reverse else x < y


def total(xs, start):
    for i in range(raw.list_size(xs)):
        start = start + raw.list_get(xs, i)
    return start


def smallest(xs, key=None):
    if raw.list_size(xs) == 0:
        if raw.VERSION < (3, 12):
            raise ValueError("min() arg is an empty sequence")
        raise ValueError("min() iterable argument is empty")
    best = raw.list_get(xs, 0)
    for i in range(1, raw.list_size(xs)):
        if before(raw.list_get(xs, i), best, key, False):
            best = raw.list_get(xs, i)
    return best


def largest(xs, key=None):
    if raw.list_size(xs) == 0:
        if raw.VERSION < (3, 12):
            raise ValueError("max() arg is an empty sequence")
        raise ValueError("max() iterable argument is empty")
    best = raw.list_get(xs, 0)
    for i in range(1, raw.list_size(xs)):
        if before(raw.list_get(xs, i), best, key, True):
            best = raw.list_get(xs, i)
    return best


def smallest_or(xs, default, key=None):
    """`min(xs, default=default)`."""
    return default if raw.list_size(xs) == 0 else smallest(xs, key)


def largest_or(xs, default, key=None):
    """`max(xs, default=default)`."""
    return default if raw.list_size(xs) == 0 else largest(xs, key)


def any_of(xs):
    for i in range(raw.list_size(xs)):
        if raw.list_get(xs, i):
            return True
    return False


def all_of(xs):
    for i in range(raw.list_size(xs)):
        if not raw.list_get(xs, i):
            return False
    return True


def nested_shape(xs):
    """The shape of the array that a list of lists becomes, by its first items."""
    n = raw.list_size(xs)
    depth = raw.list_depth(xs)
    if depth == 1:
        width = raw.list_width(xs)
        return (n, width) if width > 0 else (n,)
    inner = (0,) * (depth if raw.list_width(xs) > 0 else depth - 1)
    if n > 0:
        inner = nested_shape(raw.list_get(xs, 0))
    return (n, *inner)


def fill_nested(xs, out):
    """Put the numbers of a list of lists into an array of its shape."""
    if raw.list_depth(xs) == 1:
        out[:] = to_array(xs)
        return
    for i in range(raw.list_size(xs)):
        inner = raw.list_get(xs, i)
        if raw.list_size(inner) != out.shape[1]:
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape."
            )
        fill_nested(inner, out[i])


def to_array(xs):
    """The numbers of a list as an array; of a list of tuples or lists, each of them as a row."""
    if raw.list_depth(xs) > 1:
        result = np.empty(nested_shape(xs), raw.list_dtype(xs))
        fill_nested(xs, result)
        return result
    n = raw.list_size(xs)
    width = raw.list_width(xs)
    if width > 0:
        rows = np.empty((n, width), raw.list_dtype(xs))
        for i in range(n):
            for j, number in enumerate(raw.list_get(xs, i)):
                raw.store(number, rows, i, j)
        return rows
    result = np.empty(n, raw.list_dtype(xs))
    if width < 0:  # nothing is known of the items, for there are none
        return result
    for i in range(n):
        raw.store(raw.list_get(xs, i), result, i)
    return result
