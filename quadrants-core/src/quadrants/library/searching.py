"""Finding: `nonzero` and its kin, `searchsorted`, `take`, membership, counting into bins."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.sorting import less, sort_line
from quadrants.library.support import along, as_array, checked_axis, deliver, drop, flat


def count_true(a):
    count = 0
    for index in np.ndindex(a.shape):
        count += int(a[index] != 0)
    return count


def nonzero(a):
    """The indices of the elements that are not zero, as one array an axis."""
    a = as_array(a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    table = argwhere(a)
    return columns(table, 0, a.ndim)


def columns(table, axis, ndim):
    if axis == ndim:
        return ()
    return (table[:, axis].copy(),) + columns(table, axis + 1, ndim)


def argwhere(a):
    """The indices of the elements that are not zero, one a row."""
    a = as_array(a)
    out = np.empty((count_true(a), a.ndim), np.int64)
    row = 0
    for index in np.ndindex(a.shape):
        if a[index] != 0:
            axis = 0
            for place in index:
                out[row, axis] = place
                axis += 1
            row += 1
    return out


def flatnonzero(a):
    line = as_array(a).reshape(-1)
    out = np.empty(count_true(line), np.int64)
    k = 0
    for i in range(line.shape[0]):
        if raw.load(line, i) != 0:
            raw.store(i, out, k)
            k += 1
    return out


def lower_bound(a, x):
    """The first place whose element is not less than x."""
    low = 0
    high = a.shape[0]
    while low < high:
        mid = (low + high) // 2
        if less(raw.load(a, mid), x):
            low = mid + 1
        else:
            high = mid
    return low


def upper_bound(a, x):
    """The first place whose element is greater than x."""
    low = 0
    high = a.shape[0]
    while low < high:
        mid = (low + high) // 2
        if less(x, raw.load(a, mid)):
            high = mid
        else:
            low = mid + 1
    return low


def searchsorted(a, v, side="left", sorter=None):
    a = as_array(a)
    if side != "left" and side != "right":
        raise ValueError("search side must be one of 'left' or 'right'")
    if sorter is not None:
        a = a[sorter]
    x = as_array(v)
    dtype = np.result_type(a.dtype, x.dtype)
    line = a if a.dtype == dtype else a.astype(dtype)
    if not isinstance(v, (np.ndarray, tuple, list)) or x.ndim == 0:
        value = dtype.type(x[()])
        return np.int64(lower_bound(line, value) if side == "left" else upper_bound(line, value))
    out = np.empty(x.shape, np.int64)
    for index in np.ndindex(x.shape):
        value = dtype.type(x[index])
        out[index] = lower_bound(line, value) if side == "left" else upper_bound(line, value)
    return out


def digitize(x, bins, right=False):
    """The bin of each value: increasing or decreasing edges."""
    values = as_array(x)
    edges = as_array(bins)
    n = edges.shape[0]
    down = n > 1 and edges[n - 1] < edges[0]
    for i in range(1, n):
        if (edges[i] > edges[i - 1] and down) or (edges[i] < edges[i - 1] and not down):
            raise ValueError("bins must be monotonically increasing or decreasing")
    if down:
        reversed_edges = edges[::-1]
        return n - searchsorted(reversed_edges, values, "left" if right else "right")
    return searchsorted(edges, values, "left" if right else "right")


def bincount(x, weights=None, minlength=0):
    values = as_array(x)
    if values.ndim != 1:
        raise ValueError("object too deep for desired array")
    if values.dtype.kind == "f" or values.dtype.kind == "c":
        raise TypeError(
            f"Cannot cast array data from dtype('{values.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    size = minlength
    for i in range(values.shape[0]):
        value = int(raw.load(values, i))
        if value < 0:
            raise ValueError("'list' argument must have no negative elements")
        size = max(size, value + 1)
    if weights is None:
        counts = np.zeros(size, np.int64)
        for i in range(values.shape[0]):
            counts[int(raw.load(values, i))] += 1
        return counts
    shares = as_array(weights)
    if shares.shape[0] != values.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(size, np.float64)
    for i in range(values.shape[0]):
        sums[int(raw.load(values, i))] += np.float64(raw.load(shares, i))
    return sums


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts and edges: equal bins over the range of the data, or between given edges (the last bin is closed)."""
    values = flat(as_array(a))
    edges = bin_edges(values, bins, range)
    uniform = not isinstance(bins, (np.ndarray, tuple, list))
    n = edges.shape[0] - 1
    if weights is None:
        counts = np.zeros(n, np.int64)
        count_into(counts, values, edges, uniform, None)
    else:
        shares = flat(as_array(weights))
        counts = np.zeros(n, shares.dtype)
        count_into(counts, values, edges, uniform, shares)
    if density:
        widths = edges[1:] - edges[:-1]
        return counts / widths / counts.sum(), edges
    return counts, edges


def bin_edges(values, bins, limits):
    if isinstance(bins, (np.ndarray, tuple, list)):
        edges = as_array(bins)
        for i in range(1, edges.shape[0]):
            if edges[i - 1] > edges[i]:
                raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if limits is not None:
        if limits[0] > limits[1]:
            raise ValueError("max must be larger than min in range parameter.")
        dtype = edge_dtype(np.result_type(limits[0], limits[1], values.dtype))
        return equal_bins(limits[0], limits[1], bins, dtype)
    dtype = edge_dtype(values.dtype)
    if values.shape[0] == 0:
        return equal_bins(dtype.type(0), dtype.type(1), bins, dtype)
    return equal_bins(dtype.type(values.min()), dtype.type(values.max()), bins, dtype)


def edge_dtype(dtype):
    if dtype.kind == "f":
        return dtype
    return np.dtype(np.float64)


def equal_bins(low, high, bins, dtype):
    if low - low != 0 or high - high != 0:
        raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    if low == high:
        return np.linspace(low - 0.5, high + 0.5, bins + 1, dtype=dtype)
    return np.linspace(low, high, bins + 1, dtype=dtype)


def count_into(counts, values, edges, uniform, shares):
    n = counts.shape[0]
    low = float(edges[0])
    high = float(edges[n])
    scale = n / (high - low) if uniform else 0.0
    for i in range(values.shape[0]):
        x = float(raw.load(values, i))
        if low <= x and x <= high:
            if uniform:
                # The computed bin may be off by one where the division rounds: the edges decide.
                k = min(int((x - low) * scale), n - 1)
                if x < edges[k]:
                    k -= 1
                elif k < n - 1 and x >= edges[k + 1]:
                    k += 1
            else:
                k = min(upper_bound(edges, edges.dtype.type(x)) - 1, n - 1)
            if shares is None:
                counts[k] += 1
            else:
                counts[k] += raw.load(shares, i)


def take(a, indices, axis=None, out=None, mode="raise"):
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    a = as_array(a)
    if axis is None:
        return deliver(taken_line(a.reshape(-1), indices, mode), out)
    front = checked_axis(axis, a.ndim)
    if not raw.known(axis):
        return deliver(along(take_along, front, a.ndim, 0, a, indices, mode), out)
    places = as_array(indices)
    n = a.shape[front]
    head = a.shape[:front]
    tail = a.shape[front + 1 :]
    result = np.empty(head + places.shape + tail, a.dtype)
    for at in np.ndindex(head):
        source = a[at]
        for index in np.ndindex(places.shape):
            result[at + index] = source[place(int(places[index]), n, front, mode)]
    if isinstance(indices, (np.ndarray, tuple, list)) or result.ndim > 0:
        return deliver(result, out)
    return deliver(result[()], out)


def take_along(a, axis, indices, mode):
    return take(a, indices, axis, None, mode)


def taken_line(line, indices, mode):
    n = line.shape[0]
    if isinstance(indices, (np.ndarray, tuple, list)):
        places = as_array(indices)
        out = np.empty(places.shape, line.dtype)
        for index in np.ndindex(places.shape):
            out[index] = line[place(int(places[index]), n, 0, mode)]
        return out
    return line[place(int(indices), n, 0, mode)]


def place(i, n, axis, mode):
    """The index under `mode`: checked, wrapped around or clipped."""
    if mode == "wrap":
        return i % n
    if mode == "clip":
        return min(max(i, 0), n - 1)
    if i < -n or i >= n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    return i


def taken_along(a, axis, indices):
    return take_along_axis(a, indices, axis)


def take_along_axis(arr, indices, axis=-1):
    """Elements of each line at the places of the same line of `indices`."""
    a = as_array(arr)
    if axis is None:
        return a.reshape(-1)[indices]
    front = checked_axis(axis, a.ndim)
    if a.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if not raw.known(axis):
        return along(taken_along, front, a.ndim, 0, a, indices)
    shape = np.broadcast_shapes(drop(a.shape, front), drop(indices.shape, front))
    places = np.broadcast_to(indices, shape[:front] + (indices.shape[front],) + shape[front:])
    values = np.broadcast_to(a, shape[:front] + (a.shape[front],) + shape[front:])
    out = np.empty(places.shape, a.dtype)
    for index in np.ndindex(places.shape):
        out[index] = values[index[:front] + (int(places[index]),) + index[front + 1 :]]
    return out


def unique(ar, return_index=False, return_inverse=False, return_counts=False):
    """The different values in order; with flags also where, which and how many."""
    a = as_array(ar)
    if return_index or return_inverse:
        return unique_places(a, return_index, return_inverse, return_counts)
    line = a.reshape(-1).copy()
    sort_line(line)
    n = line.shape[0]
    starts = np.empty(n + 1, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or differ(line[i - 1], line[i]):
            line[count] = line[i]
            starts[count] = i
            count += 1
    starts[count] = n
    if return_counts:
        return line[:count].copy(), starts[1 : count + 1] - starts[:count]
    return line[:count].copy()


def differ(x, y):
    """Whether two neighbours in sorted order are different values; nan counts as one value."""
    return x != y and (x == x or y == y)


def unique_places(a, return_index, return_inverse, return_counts):
    line = a.reshape(-1)
    order = line.argsort(kind="stable")
    n = line.shape[0]
    inverse = np.empty(n, np.int64)
    starts = np.empty(n + 1, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or differ(line[order[i - 1]], line[order[i]]):
            starts[count] = i
            count += 1
        inverse[order[i]] = count - 1
    starts[count] = n
    firsts = order[starts[:count]]
    parts = (line[firsts],)
    if return_index:
        parts = parts + (firsts,)
    if return_inverse:
        parts = parts + (inverse.reshape(a.shape),)
    if return_counts:
        parts = parts + (starts[1 : count + 1] - starts[:count],)
    return parts


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    values = as_array(element)
    line = as_array(test_elements).reshape(-1)
    dtype = np.result_type(values.dtype, line.dtype)
    known = line.astype(dtype)
    sort_line(known)
    out = np.empty(values.shape, np.bool_)
    for index in np.ndindex(values.shape):
        x = dtype.type(values[index])
        at = lower_bound(known, x)
        found = at < known.shape[0] and known[at] == x
        out[index] = found != invert
    return out
