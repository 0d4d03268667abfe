"""Differences, convolution, interpolation, integration, polynomials."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.shaping import concatenate, full_slices
from quadrants.library.sorting import argsort
from quadrants.library.support import along, as_array, checked_axes, checked_axis, drop, iota


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours, n times over."""
    a = as_array(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    front = checked_axis(axis, a.ndim)
    if not raw.known(axis):
        return along(diff_along, front, a.ndim, 0, a, n, prepend, append)
    if prepend is not None:
        a = concatenate((edge(a, prepend, front), a), front)
    if append is not None:
        a = concatenate((a, edge(a, append, front)), front)
    if n == 0:
        return a
    result = difference(a, front)
    for _ in range(n - 1):
        result = difference(result, front)
    return result


def diff_along(a, axis, n, prepend, append):
    return diff(a, n, axis, prepend, append)


def edge(a, value, axis):
    """What to put before or after the array: a scalar becomes one layer."""
    v = as_array(value)
    if v.ndim == 0:
        return np.broadcast_to(v, a.shape[:axis] + (1,) + a.shape[axis + 1 :])
    return v


def difference(a, axis):
    head = full_slices(axis)
    after = a[head + (slice(1, None),)]
    before = a[head + (slice(None, -1),)]
    if a.dtype.kind == "b":
        return after != before
    return after - before


def ediff1d(ary, to_end=None, to_begin=None):
    line = as_array(ary).reshape(-1)
    middle = difference(line, 0)
    if to_begin is None and to_end is None:
        return middle
    first = np.empty(0, line.dtype) if to_begin is None else as_array(to_begin).reshape(-1)
    last = np.empty(0, line.dtype) if to_end is None else as_array(to_end).reshape(-1)
    return concatenate((first, middle, last)).astype(line.dtype)


def convolve(a, v, mode="full"):
    x = as_array(a).reshape(-1)
    y = as_array(v).reshape(-1)
    if x.shape[0] == 0:
        raise ValueError("a cannot be empty")
    if y.shape[0] == 0:
        raise ValueError("v cannot be empty")
    if y.shape[0] > x.shape[0]:
        return slid(y, x, mode)
    return slid(x, y, mode)


def slid(x, y, mode):
    """The convolution of a row with one that is not longer."""
    full = full_convolution(x, y)
    n = x.shape[0]
    m = y.shape[0]
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start : start + n].copy()
    if mode == "valid":
        return full[m - 1 : n].copy()
    raise ValueError("mode must be one of 'full', 'same', or 'valid'")


def full_convolution(x, y):
    dtype = np.result_type(x.dtype, y.dtype)
    kind = dtype.type
    out = np.zeros(x.shape[0] + y.shape[0] - 1, dtype)
    for j in range(y.shape[0]):
        factor = kind(raw.load(y, j))
        for i in range(x.shape[0]):
            raw.store(raw.load(out, i + j) + kind(raw.load(x, i)) * factor, out, i + j)
    return out


def correlate(a, v, mode="valid"):
    x = as_array(a)
    y = np.conj(as_array(v))[::-1]
    if x.shape[0] == 0:
        raise ValueError("first array argument cannot be empty")
    if y.shape[0] == 0:
        raise ValueError("second array argument cannot be empty")
    if y.shape[0] > x.shape[0]:
        if mode == "same":
            # NumPy centres on the shorter operand reversed: the window starts one later for even lengths.
            full = full_convolution(y, x)
            start = x.shape[0] // 2
            return full[start : start + y.shape[0]].copy()
        return slid(y, x, mode)
    return slid(x, y, mode)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Piecewise linear interpolation through the points (xp, fp), xp increasing."""
    at = as_array(x)
    places = as_array(xp)
    values = as_array(fp)
    if places.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if places.shape[0] != values.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if places.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    kind = np.dtype(np.complex128) if values.dtype.kind == "c" else np.dtype(np.float64)
    if period is not None:
        return periodic(at, places.astype(np.float64), values.astype(kind), period)
    return interpolated(at, places.astype(np.float64), values.astype(kind), left, right)


def periodic(at, places, values, period):
    if period == 0:
        raise ValueError("period must be a non-zero value")
    size = abs(period)
    wrapped = places % size
    order = argsort(wrapped)
    sorted_places = wrapped[order]
    sorted_values = values[order]
    n = places.shape[0]
    x = concatenate((sorted_places[n - 1 :] - size, sorted_places, sorted_places[:1] + size))
    y = concatenate((sorted_values[n - 1 :], sorted_values, sorted_values[:1]))
    return interpolated(at % size, x, y, None, None)


def interpolated(at, places, values, left, right):
    kind = values.dtype.type
    n = places.shape[0]
    low = raw.load(values, 0) if left is None else kind(left)
    high = raw.load(values, n - 1) if right is None else kind(right)
    out = np.empty(at.shape, values.dtype)
    for index in np.ndindex(at.shape):
        out[index] = interpolate_one(np.float64(at[index]), places, values, low, high)
    if at.ndim == 0:
        return out[()]
    return out


def interpolate_one(x, places, values, low, high):
    n = places.shape[0]
    if x != x:
        return values.dtype.type(x)
    if x < raw.load(places, 0):
        return low
    if x > raw.load(places, n - 1):
        return high
    first = 0
    last = n
    while first < last:
        mid = (first + last) // 2
        if x < raw.load(places, mid):
            last = mid
        else:
            first = mid + 1
    k = first - 1
    if k == n - 1 or x == raw.load(places, k):
        return raw.load(values, k)
    slope = (raw.load(values, k + 1) - raw.load(values, k)) / (raw.load(places, k + 1) - raw.load(places, k))
    y = slope * (x - raw.load(places, k)) + raw.load(values, k)
    if y != y:
        # Infinite slopes: try from the other side, as NumPy does.
        y = slope * (x - raw.load(places, k + 1)) + raw.load(values, k + 1)
        if y != y and raw.load(values, k) == raw.load(values, k + 1):
            y = raw.load(values, k)
    return y


def trapezoid_along(y, axis, x, dx):
    return trapezoid(y, x, dx, axis)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by the trapezoidal rule."""
    values = as_array(y)
    front = checked_axis(axis, values.ndim)
    if not raw.known(axis):
        return along(trapezoid_along, front, values.ndim, 0, values, x, dx)
    head = full_slices(front)
    pairs = values[head + (slice(1, None),)] + values[head + (slice(None, -1),)]
    if x is None:
        return (dx * pairs / 2.0).sum(axis=front)
    places = as_array(x)
    if places.ndim == 1:
        widths = difference(places, 0).reshape((places.shape[0] - 1,) + (1,) * (values.ndim - 1 - front))
        return (widths * pairs / 2.0).sum(axis=front)
    return (difference(places, front) * pairs / 2.0).sum(axis=front)


def polyval(p, x):
    """A polynomial's value by Horner's rule, highest power first."""
    coefficients = as_array(p)
    at = as_array(x)
    y = np.zeros(at.shape, np.result_type(coefficients.dtype, at.dtype))
    for index in np.ndindex(at.shape):
        total = y.dtype.type(0)
        for i in range(coefficients.shape[0]):
            total = total * at[index] + coefficients[i]
        y[index] = total
    if at.ndim == 0:
        return y[()]
    return y


def gradient(f, *varargs, axis=None, edge_order=1):
    """The gradient: central differences inside, one-sided ones of first or second order at the ends; a tuple for several axes.

    The distances are numbers, or the coordinates along an axis.
    """
    a = as_array(f)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if axis is None:
        axes = iota(a.ndim)
    elif isinstance(axis, tuple):
        axes = checked_axes(axis, a.ndim)
    elif not raw.known(axis):
        return along(gradient_on, checked_axis(axis, a.ndim), a.ndim, 0, a, varargs, edge_order)
    else:
        axes = (checked_axis(axis, a.ndim),)
    dtype = a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    parts = gradients(a.astype(dtype), spread_distances(varargs, len(axes)), axes, edge_order)
    if len(parts) == 1:
        return parts[0]
    return parts


def gradient_on(a, axis, distances, edge_order):
    return gradient(a, *distances, axis=axis, edge_order=edge_order)


def spread_distances(given, count):
    """One distance (or row of coordinates) for each axis."""
    if len(given) == 0:
        return (1.0,) * count
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return given * count
    if len(given) != count:
        raise TypeError("invalid number of arguments")
    return given


def gradients(a, distances, axes, edge_order):
    if len(axes) == 0:
        return ()
    return (gradient_along(a, distances[0], axes[0], edge_order),) + gradients(a, distances[1:], axes[1:], edge_order)


def gradient_along(a, distance, axis, edge_order):
    n = a.shape[axis]
    if n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
        )
    result = np.empty(a.shape, a.dtype)
    order = (axis,) + drop(iota(a.ndim), axis)
    v = a.transpose(order)
    out = result.transpose(order)
    if np.ndim(distance) == 0:
        even_gradient(v, out, distance, edge_order)
    else:
        steps = np.diff(as_array(distance))
        if steps.shape[0] != n - 1:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        uneven_gradient(v, out, steps, edge_order)
    return result


def even_gradient(v, out, h, edge_order):
    """Along the first axis, with one distance."""
    out[1:-1] = (v[2:] - v[:-2]) / (2.0 * h)
    if edge_order == 1:
        out[0] = (v[1] - v[0]) / h
        out[-1] = (v[-1] - v[-2]) / h
    else:
        out[0] = (-1.5 / h) * v[0] + (2.0 / h) * v[1] + (-0.5 / h) * v[2]
        out[-1] = (0.5 / h) * v[-3] + (-2.0 / h) * v[-2] + (1.5 / h) * v[-1]


def uneven_gradient(v, out, h, edge_order):
    """Along the first axis, with the distances `h` between neighbours."""
    for i in range(1, v.shape[0] - 1):
        p = h[i - 1]
        q = h[i]
        out[i] = -q / (p * (p + q)) * v[i - 1] + (q - p) / (p * q) * v[i] + p / (q * (p + q)) * v[i + 1]
    if edge_order == 1:
        out[0] = (v[1] - v[0]) / h[0]
        out[-1] = (v[-1] - v[-2]) / h[-1]
    else:
        p = h[0]
        q = h[1]
        out[0] = -(2.0 * p + q) / (p * (p + q)) * v[0] + (p + q) / (p * q) * v[1] - p / (q * (p + q)) * v[2]
        p = h[-2]
        q = h[-1]
        out[-1] = q / (p * (p + q)) * v[-3] - (q + p) / (p * q) * v[-2] + (2.0 * q + p) / (q * (p + q)) * v[-1]
