"""Indexing by Boolean and integer arrays, reading and writing; the bounds of slices with a step."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.support import as_array, iota, lengths


def slice_bounds(start, stop, step, n):
    """(first, count) of the slice start:stop:step of n items; `start` and `stop` may be None."""
    if step > 0:
        first = 0 if start is None else clamped(start, n, 0, n)
        last = n if stop is None else clamped(stop, n, 0, n)
        if last <= first:
            return first, 0
        return first, (last - first - 1) // step + 1
    first = n - 1 if start is None else clamped(start, n, -1, n - 1)
    last = -1 if stop is None else clamped(stop, n, -1, n - 1)
    if first <= last:
        # No element; the place is only an offset, which has to stay inside the array.
        return max(first, 0), 0
    return first, (last - first + 1) // step + 1


def clamped(bound, n, low, high):
    place = bound + n if bound < 0 else bound
    return min(max(place, low), high)


def check_mask(a, mask):
    for axis in range(mask.ndim):
        # NumPy lets a mask without elements pass.
        if a.shape[axis] != mask.shape[axis] and mask.shape[axis] != 0:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is {a.shape[axis]} "
                f"but size of corresponding boolean axis is {mask.shape[axis]}"
            )


def count_true(mask):
    count = 0
    for index in np.ndindex(mask.shape):
        count += int(mask[index])
    return count


def get_masked(a, mask):
    """`a[mask]`: the elements (or subarrays) where the mask is true, in C order."""
    check_mask(a, mask)
    out = np.empty((count_true(mask),) + a.shape[mask.ndim :], a.dtype)
    k = 0
    for index in np.ndindex(mask.shape):
        if mask[index]:
            out[k] = a[index]
            k += 1
    return out


def set_masked(a, mask, value):
    """`a[mask] = value`."""
    check_mask(a, mask)
    if isinstance(value, np.ndarray) and value.ndim > 0:
        set_masked_array(a, mask, value)
    else:
        scalar = value[()] if isinstance(value, np.ndarray) else value
        for index in np.ndindex(mask.shape):
            if mask[index]:
                a[index] = scalar


def set_masked_array(a, mask, value):
    count = count_true(mask)
    rest = a.ndim - mask.ndim
    if value.ndim == rest + 1 and value.shape[0] != count and value.shape[0] != 1:
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {value.shape[0]} input values "
            f"to the {count} output values where the mask is true"
        )
    # A copy, because the value may be a view of the target.
    source = np.broadcast_to(value.copy(), (count,) + a.shape[mask.ndim :])
    k = 0
    for index in np.ndindex(mask.shape):
        if mask[index]:
            a[index] = source[k]
            k += 1


def is_advanced(item):
    return isinstance(item, (np.ndarray, list, tuple))


def get_fancy(a, index):
    """`a[index]`, where the index is an integer array or a tuple with at least one."""
    if isinstance(index, tuple):
        return get_mixed(a, index)
    places = as_array(index)
    out = np.empty(places.shape + a.shape[1:], a.dtype)
    if places.ndim == 1 and a.ndim == 1:
        for i in range(places.shape[0]):
            raw.store(a[raw.load(places, i)], out, i)
    else:
        for at in np.ndindex(places.shape):
            out[at] = a[places[at]]
    return out


def check_places(places, n, axis):
    """Raise for the first place that is none of n, before anything is written."""
    low = 0
    high = -1
    for at in np.ndindex(places.shape):
        place = int(places[at])
        low = min(low, place)
        high = max(high, place)
    if low < -n or high >= n:
        for at in np.ndindex(places.shape):
            place = int(places[at])
            if place < -n or place >= n:
                raise IndexError(f"index {place} is out of bounds for axis {axis} with size {n}")


def apart(places, a):
    """The places in memory of their own, where writing to the array could change them."""
    if places.dtype == a.dtype:
        return places.copy()
    return places


def fitted(value, shape):
    """A copy of the value, which may be a view of the target, broadcast to the shape of what is assigned."""
    try:
        return np.broadcast_to(value.copy(), shape)
    except ValueError:
        raise ValueError(
            f"shape mismatch: value array of shape ({lengths(value.shape)}) could not be broadcast to indexing result of shape "
            f"({lengths(shape)})"
        ) from None


def set_fancy(a, index, value):
    """`a[index] = value`."""
    if isinstance(index, tuple):
        set_mixed(a, index, value)
    else:
        places = apart(as_array(index), a)
        check_places(places, a.shape[0], 0)
        if isinstance(value, np.ndarray):
            source = fitted(value, places.shape + a.shape[1:])
            for at in np.ndindex(places.shape):
                a[places[at]] = source[at]
        else:
            for at in np.ndindex(places.shape):
                a[places[at]] = value


def basic_part(index):
    """The index with a full slice for each integer and array: what selects a view."""
    if len(index) == 0:
        return ()
    item = index[0]
    if item is None or isinstance(item, slice) or item is Ellipsis:
        return (item,) + basic_part(index[1:])
    return (slice(None),) + basic_part(index[1:])


def places_of(index):
    """The integers and integer arrays of the index."""
    if len(index) == 0:
        return ()
    item = index[0]
    if item is None or isinstance(item, slice) or item is Ellipsis:
        return places_of(index[1:])
    if is_advanced(item):
        return (as_array(item),) + places_of(index[1:])
    return (item,) + places_of(index[1:])


def axes_of(index, axis, ndim):
    """The axes, of the view that `basic_part` selects, that integers and arrays index; `ndim` is the view's rank."""
    if len(index) == 0:
        return ()
    item = index[0]
    if item is Ellipsis:
        return axes_of(index[1:], ndim - (len(index) - 1), ndim)
    if item is None or isinstance(item, slice):
        return axes_of(index[1:], axis + 1, ndim)
    return (axis,) + axes_of(index[1:], axis + 1, ndim)


def rest_of(axes, ndim, axis):
    if axis == ndim:
        return ()
    if axis in axes:
        return rest_of(axes, ndim, axis + 1)
    return (axis,) + rest_of(axes, ndim, axis + 1)


def adjacent(axes):
    if len(axes) < 2:
        return True
    return axes[1] == axes[0] + 1 and adjacent(axes[1:])


def shape_of_places(places):
    """The shape that the index arrays have together."""
    if len(places) == 0:
        return ()
    item = places[0]
    if isinstance(item, np.ndarray):
        rest = shape_of_places(places[1:])
        try:
            return np.broadcast_shapes(item.shape, rest)
        except ValueError:
            raise IndexError(
                f"shape mismatch: indexing arrays could not be broadcast together with shapes {item.shape} {rest} "
            ) from None
    return shape_of_places(places[1:])


def spread(places, shape):
    """Each index array, broadcast; integers as they are."""
    if len(places) == 0:
        return ()
    item = places[0]
    if isinstance(item, np.ndarray):
        return (np.broadcast_to(item, shape),) + spread(places[1:], shape)
    return (item,) + spread(places[1:], shape)


def at_place(places, at):
    """The index of one element: each array's entry."""
    if len(places) == 0:
        return ()
    item = places[0]
    if isinstance(item, np.ndarray):
        return (item[at],) + at_place(places[1:], at)
    return (item,) + at_place(places[1:], at)


def indexed_axes(index, ndim):
    """As `axes_of`, an index shorter than the rank being completed at its end."""
    return axes_of(index, 0, ndim)


def placed_order(axes, ndim, width):
    """The transposition that moves the first `width` axes of the result to where the indices stood."""
    first = axes[0] if adjacent(axes) else 0
    return moved_order(iota(ndim), width, first)


def moved_order(order, width, first):
    return order[width : width + first] + order[:width] + order[width + first :]


def get_mixed(a, index):
    view = a[basic_part(index)]
    axes = indexed_axes(index, view.ndim)
    places = places_of(index)
    shape = shape_of_places(places)
    wide = spread(places, shape)
    front = view.transpose(axes + rest_of(axes, view.ndim, 0))
    out = np.empty(shape + front.shape[len(axes) :], a.dtype)
    for at in np.ndindex(shape):
        out[at] = front[at_place(wide, at)]
    return out.transpose(placed_order(axes, out.ndim, len(shape)))


def check_all(places, dims, axes):
    """As `check_places`, for the integers and arrays that index the first axes."""
    if len(places) > 0:
        item = places[0]
        if isinstance(item, np.ndarray):
            check_places(item, dims[0], axes[0])
        check_all(places[1:], dims[1:], axes[1:])


def all_apart(places, a):
    if len(places) == 0:
        return ()
    item = places[0]
    if isinstance(item, np.ndarray):
        return (apart(item, a),) + all_apart(places[1:], a)
    return (item,) + all_apart(places[1:], a)


def set_mixed(a, index, value):
    view = a[basic_part(index)]
    axes = indexed_axes(index, view.ndim)
    places = all_apart(places_of(index), a)
    shape = shape_of_places(places)
    wide = spread(places, shape)
    front = view.transpose(axes + rest_of(axes, view.ndim, 0))
    check_all(places, front.shape, axes)
    if isinstance(value, np.ndarray):
        rest = front.shape[len(axes) :]
        first = axes[0] if adjacent(axes) else 0
        target = rest[:first] + shape + rest[first:]
        order = iota(len(target))
        back = order[first : first + len(shape)] + order[:first] + order[first + len(shape) :]
        source = fitted(value, target).transpose(back)
        for at in np.ndindex(shape):
            front[at_place(wide, at)] = source[at]
    else:
        for at in np.ndindex(shape):
            front[at_place(wide, at)] = value
