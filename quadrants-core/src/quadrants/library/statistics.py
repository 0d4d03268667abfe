"""Medians, percentiles, averages, covariance.

As in NumPy, medians and quantiles are nan where a line holds a nan; quantiles have all of NumPy's methods.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.products import matmul
from quadrants.library.reductions import mean, reduce, reduced_size, shaped, sum_
from quadrants.library.sorting import sort_line
from quadrants.library.support import (
    as_array,
    axes_last,
    axis_last,
    checked_axes,
    checked_axis,
    deliver,
    flat,
    mean_dtype,
    wide_dtype,
)


def select(w, k):
    """Rearranges the row so that `w[k]` is what it would be if sorted, with no larger element before it and no smaller
    one after it. Gives that element. The row holds no nan."""
    lo = 0
    hi = w.shape[0] - 1
    rounds = 0
    seed = 1
    while lo < hi:
        mid = lo + (hi - lo) // 2
        rounds += 1
        if rounds > 24:
            # An order made to defeat the middle element: random ones make a quadratic time improbable.
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            mid = lo + seed % (hi - lo + 1)
        pivot = middle(raw.load(w, lo), raw.load(w, mid), raw.load(w, hi))
        i = lo
        j = hi
        while i <= j:
            x = raw.load(w, i)
            while x < pivot:
                i += 1
                x = raw.load(w, i)
            y = raw.load(w, j)
            while pivot < y:
                j -= 1
                y = raw.load(w, j)
            if i <= j:
                raw.store(y, w, i)
                raw.store(x, w, j)
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            return pivot
    return raw.load(w, k)


def middle(x, y, z):
    """The median of three."""
    if x < y:
        if y < z:
            return y
        return z if x < z else x
    if x < z:
        return x
    return z if y < z else y


def has_nan(w):
    if w.dtype.kind == "f":
        for i in range(w.shape[0]):
            x = raw.load(w, i)
            if x != x:
                return True
    return False


def working_copy(a):
    """A copy of the row to rearrange (booleans become numbers)."""
    if a.dtype.kind == "b":
        return a.astype(np.uint8)
    return a.copy()


def median_row(a, dtype):
    n = a.shape[0]
    w = working_copy(a)
    if n == 0 or has_nan(w):
        return dtype.type(np.nan)
    kind = wide_dtype(dtype).type
    half = n // 2
    high = kind(select(w, half))
    if n % 2 == 1:
        return dtype.type(high)
    low = raw.load(w, 0)
    for i in range(1, half):
        low = max(low, raw.load(w, i))
    return dtype.type((kind(low) + high) / kind(2))


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    a = as_array(a)
    return deliver(reduce(median_row, a, axis, keepdims, mean_dtype(a, None)), out)


def between(low, high, part, dtype):
    """`low` and `high` mixed: `part` of 0 is `low`, 1 is `high`."""
    kind = dtype.type
    # As in NumPy the distance of floats is rounded to their own type.
    step = kind(high - low) if high.dtype.kind == "f" else kind(high) - kind(low)
    if part >= 0.5:
        return kind(high) - step * kind(1.0 - part)
    return kind(low) + step * kind(part)


#: For the methods that interpolate: (a, b) of the position n * q + a + q * (1 - a - b), counted from 1.
CONTINUOUS = (
    ("linear", 1.0, 1.0),
    ("interpolated_inverted_cdf", 0.0, 1.0),
    ("hazen", 0.5, 0.5),
    ("weibull", 0.0, 0.0),
    ("median_unbiased", 1.0 / 3.0, 1.0 / 3.0),
    ("normal_unbiased", 3.0 / 8.0, 3.0 / 8.0),
)
#: The methods that take an element as it is.
DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def position_of(n, q, method):
    """(place, part): the quantile lies between the sorted elements `place` and the next, `part` of the way."""
    for name, a, b in CONTINUOUS:
        if name == method:
            return split_position(n, (n - 1) * q if name == "linear" else n * q + (a + q * (1.0 - a - b)) - 1.0)
    # Rounded by itself: a product that is fused with the subtraction misses whole numbers.
    share = raw.fma(float(n), q, 0.0)
    if method in ("lower", "higher", "nearest", "midpoint"):
        place, part = split_position(n, raw.fma(float(n - 1), q, 0.0))
        if method == "midpoint":
            return place, 0.5 if part > 0.0 else 0.0
        if method == "higher":
            return place, 1.0 if part > 0.0 else 0.0
        if method == "nearest" and (part > 0.5 or (part == 0.5 and place % 2 == 1)):
            return place, 1.0
        return place, 0.0
    if method == "inverted_cdf":
        return clipped(n, int(raw.ceil(share - 1.0))), 0.0
    if method == "averaged_inverted_cdf":
        place, part = split_position(n, share - 1.0)
        if share < 1.0:
            return 0, 0.0
        return place, 1.0 if part > 0.0 else 0.5
    if method == "closest_observation":
        position = share - 1.5
        below = raw.floor(position)
        return clipped(n, int(below) if position == below and int(below) % 2 == 1 else int(below) + 1), 0.0
    raise ValueError(f"{method!r} is not a valid method of quantiles")


def split_position(n, position):
    if position <= 0.0:
        return 0, 0.0
    if position >= n - 1:
        return n - 1, 0.0
    below = int(position)
    return below, position - below


def clipped(n, place):
    return min(max(place, 0), n - 1)


def quantile_dtype(a, q, method):
    """The dtype of a quantile: elements that are taken as they are keep theirs."""
    if method in DISCRETE:
        return a.dtype
    return np.result_type(mean_dtype(a, None), q)


def quantile_row(a, dtype, q, method):
    """The quantile of one line, found without sorting all of it."""
    n = a.shape[0]
    w = working_copy(a)
    if has_nan(w):
        return dtype.type(np.nan)
    below, part = position_of(n, float(q), method)
    low = select(w, below)
    if below + 1 >= n or part == 0.0:
        return dtype.type(low)
    high = raw.load(w, below + 1)
    for i in range(below + 2, n):
        high = min(high, raw.load(w, i))
    if method in DISCRETE:
        return dtype.type(high)
    return between(low, high, part, dtype)


def quantiles_of_sorted(w, dtype, qs, out, index, method):
    n = w.shape[0]
    bad = has_nan(w)
    for i in range(qs.shape[0]):
        if bad:
            out[(i,) + index] = dtype.type(np.nan)
        else:
            below, part = position_of(n, qs[i], method)
            if method in DISCRETE:
                out[(i,) + index] = w[below + 1] if part > 0.0 else w[below]
            else:
                out[(i,) + index] = between(w[below], w[min(below + 1, n - 1)], part, dtype)


def quantiles(a, qs, axis, keepdims, dtype, method):
    """All the quantiles of a 1-D array `qs` of every line, as the first axis of the result."""
    if axis is None:
        axes = ()
        lines = flat(a)
    elif isinstance(axis, tuple):
        axes = checked_axes(axis, a.ndim)
        lines = axes_last(a, axes)
    else:
        axes = (checked_axis(axis, a.ndim),)
        lines = axis_last(a, axes[0])
    out = np.empty((qs.size,) + lines.shape[:-1], dtype)
    for index in np.ndindex(lines.shape[:-1]):
        w = working_copy(lines[index])
        sort_line(w)
        quantiles_of_sorted(w, dtype, qs, out, index, method)
    if keepdims:
        if axis is None:
            return out.reshape((qs.size,) + (1,) * a.ndim)
        return shaped(out, (qs.size,) + a.shape, tuple_plus_one(axes), True)
    return out


def tuple_plus_one(axes):
    if len(axes) == 0:
        return ()
    return (axes[0] + 1,) + tuple_plus_one(axes[1:])


def any_quantile(a, q, axis, out, keepdims, message, method):
    """The quantile or quantiles `q`, in [0, 1], of an array."""
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if isinstance(q, (np.ndarray, tuple, list)):
        array = as_array(q)
        qs = flat(array).astype(np.float64)
        for i in range(qs.shape[0]):
            check_quantile(qs[i], message)
        check_lines(a, axis)
        result = quantiles(a, qs, axis, keepdims, quantile_dtype(a, np.float64, method), method)
        if array.ndim != 1:
            result = result.reshape(array.shape + result.shape[1:])
        return deliver(result, out)
    check_quantile(q, message)
    check_lines(a, axis)
    return deliver(reduce(quantile_row, a, axis, keepdims, quantile_dtype(a, q, method), q, method), out)


def check_quantile(q, message):
    if not (0.0 <= q and q <= 1.0):
        raise ValueError(message)


def check_lines(a, axis):
    if reduced_size(a, axis) == 0:
        # NumPy looks at the last element for nan where there can be one, else at the first.
        place = -1 if a.dtype.kind == "f" else 0
        raise IndexError(f"index {place} is out of bounds for axis 0 with size 0")


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    a = as_array(a)
    if isinstance(q, int) and a.dtype.kind in "iu":
        # NumPy quirk: an integer q, which can only be 0 or 1, takes an element as it is.
        check_quantile(q, "Quantiles must be in the range [0, 1]")
        check_lines(a, axis)
        return deliver(reduce(quantile_row, a, axis, keepdims, a.dtype, q, method), out)
    return any_quantile(a, q, axis, out, keepdims, "Quantiles must be in the range [0, 1]", method)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    share = as_array(q) / 100 if isinstance(q, (np.ndarray, tuple, list)) else q / 100
    return any_quantile(as_array(a), share, axis, out, keepdims, "Percentiles must be in the range [0, 100]", method)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    a = as_array(a)
    if weights is None:
        result = mean(a, axis, None, None, keepdims)
        if returned:
            return result, result * 0 + reduced_size(a, axis)
        return result
    w = as_array(weights)
    dtype = np.result_type(mean_dtype(a, None), w.dtype)
    if w.shape != a.shape:
        w = spread_weights(a, w, axis)
    total = sum_(w.astype(dtype), axis, None, None, keepdims)
    if np.any(total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = sum_(a.astype(dtype) * w, axis, dtype, None, keepdims) / total
    if returned:
        return result, total
    return result


def spread_weights(a, w, axis):
    """Weights of one axis, repeated over the others."""
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if w.ndim != 1:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    front = checked_axis(axis, a.ndim)
    if w.shape[0] != a.shape[front]:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    column = w.reshape((w.shape[0],) + (1,) * (a.ndim - 1 - front))
    return np.broadcast_to(column, a.shape)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    """The covariance matrix of variables in rows (or columns, if not `rowvar`); of one 1-D variable a 0-d array.

    A 2-D array with one variable gives a 1 by 1 matrix (ranks do not depend on lengths here).
    """
    x = observations(m, rowvar)
    if y is not None:
        other = observations(y, rowvar)
        both = np.empty((x.shape[0] + other.shape[0], x.shape[1]), np.result_type(x.dtype, other.dtype))
        both[: x.shape[0]] = x
        both[x.shape[0] :] = other
        return covariance(both, bias, ddof)
    if as_array(m).ndim < 2:
        return covariance(x, bias, ddof).reshape(())
    return covariance(x, bias, ddof)


def covariance(x, bias, ddof):
    less = ddof if ddof is not None else (0 if bias else 1)
    n = x.shape[1]
    centred = x - mean(x, 1, None, None, True)
    free = max(n - less, 0)
    return matmul(centred, np.conj(centred.T)) / x.dtype.type(free)


def observations(m, rowvar):
    """Variables in rows, as floats."""
    a = as_array(m)
    dtype = np.result_type(a.dtype, np.float64)
    if a.ndim == 1:
        return a.astype(dtype).reshape((1, a.shape[0]))
    if a.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    return a.astype(dtype) if rowvar else a.T.astype(dtype)


def corrcoef(x, y=None, rowvar=True):
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        value = c[()]
        return value / value
    n = c.shape[0]
    scale = np.empty(n, c.real.dtype)
    for i in range(n):
        scale[i] = np.sqrt(c[i, i].real)
    for i in range(n):
        for j in range(n):
            c[i, j] = c[i, j] / scale[i] / scale[j]
    return c
