"""Subscripts beyond views: Boolean masks and integer arrays, reading and writing; the bounds of general slices."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw


def slice_bounds(start, stop, step, n):
    """(first index, number of items) of `slice(start, stop, step)` over n items; as `slice.indices`."""
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low = 0 if step > 0 else -1
    high = n if step > 0 else n - 1
    first = bound(start, low, high, n, low if step > 0 else high)
    last = bound(stop, low, high, n, high if step > 0 else low)
    distance = last - first if step > 0 else first - last
    if distance <= 0:
        return first, 0
    return first, (distance - 1) // abs(step) + 1


def bound(value, low, high, n, default):
    if value is None:
        return default
    if value < 0:
        return max(value + n, low)
    return min(value, high)


def mask_checked(a, mask):
    """Check the mask axis by axis (the axes are a compile-time sequence)."""
    check_axes(a.shape, mask.shape, 0)


def check_axes(shape, mask_shape, axis):
    if axis == len(mask_shape):
        return
    if shape[axis] != mask_shape[axis]:
        raise IndexError(
            f"boolean index did not match indexed array along axis {axis}; size of axis is {shape[axis]} "
            f"but size of corresponding boolean axis is {mask_shape[axis]}"
        )
    check_axes(shape, mask_shape, axis + 1)


def count_true(mask):
    n = 0
    for x in mask.reshape(-1):
        n += int(x)
    return n


def get_masked(a, mask):
    """`a[mask]`."""
    mask_checked(a, mask)
    n = count_true(mask)
    if mask.ndim == a.ndim:
        out = np.empty(n, a.dtype)
        k = 0
        for index in np.ndindex(mask.shape):
            if mask[index]:
                raw.store(a[index], out, k)
                k += 1
        return out
    rows = np.empty((n,) + a.shape[mask.ndim :], a.dtype)
    k = 0
    for index in np.ndindex(mask.shape):
        if mask[index]:
            rows[k] = a[index]
            k += 1
    return rows


def set_masked(a, mask, value):
    """`a[mask] = value`: a scalar, one value per element, or one per row."""
    mask_checked(a, mask)
    if isinstance(value, np.ndarray) and value.ndim == a.ndim - mask.ndim + 1:
        n = count_true(mask)
        if value.shape[0] != n and value.shape[0] != 1:
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {value.shape[0]} input values to the "
                f"{n} output values where the mask is true"
            )
        step = 0 if value.shape[0] == 1 else 1
        k = 0
        for index in np.ndindex(mask.shape):
            if mask[index]:
                a[index] = value[k]
                k += step
    else:
        for index in np.ndindex(mask.shape):
            if mask[index]:
                a[index] = value


def as_index(index):
    if isinstance(index, np.ndarray):
        return index
    return np.array(index)


def get_fancy(a, index):
    """`a[index]` where integer arrays take part: one array for the first axis, or one a leading axis (broadcast)."""
    if isinstance(index, tuple):
        return take_points(a, index)
    positions = as_index(index)
    out = np.empty(positions.shape + a.shape[1:], a.dtype)
    for where in np.ndindex(positions.shape):
        out[where] = a[positions[where]]
    return out


def take_points(a, index):
    grid = broadcast_all(index)
    out = np.empty(grid[0].shape + a.shape[len(index) :], a.dtype)
    for where in np.ndindex(grid[0].shape):
        out[where] = a[at(grid, where)]
    return out


def broadcast_all(index):
    shape = common_shape(index)
    return spread(index, shape)


def common_shape(index):
    total = np.zeros((), np.int64)
    for item in index:
        if isinstance(item, np.ndarray) and item.ndim > 0:
            return broadcast_shape(index)
    return total.shape


def broadcast_shape(index):
    if len(index) == 1:
        return (as_index(index[0]) + 0).shape
    return (as_index(index[0]) + np.zeros(broadcast_shape(index[1:]), np.int64)).shape


def spread(index, shape):
    if len(index) == 0:
        return ()
    return (np.broadcast_to(as_index(index[0]), shape),) + spread(index[1:], shape)


def at(grid, where):
    if len(grid) == 0:
        return ()
    return (grid[0][where],) + at(grid[1:], where)


def set_fancy(a, index, value):
    """`a[index] = value` where integer arrays take part; later positions win."""
    if isinstance(index, tuple):
        grid = broadcast_all(index)
        values = np.broadcast_to(value, grid[0].shape + a.shape[len(index) :])
        for where in np.ndindex(grid[0].shape):
            a[at(grid, where)] = values[where]
    else:
        positions = as_index(index)
        values = np.broadcast_to(value, positions.shape + a.shape[1:])
        for where in np.ndindex(positions.shape):
            a[positions[where]] = values[where]
