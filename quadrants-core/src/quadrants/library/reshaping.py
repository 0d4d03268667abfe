"""Shapes and strides at run time: reshapes without a copy where the strides allow it, windows, views with given strides."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.support import checked_axes, iota


def contiguous_strides(shape, itemsize):
    """The strides, in bytes, of an array in C order."""
    if len(shape) == 0:
        return ()
    inner = itemsize
    for n in shape[1:]:
        inner *= n
    return (inner,) + contiguous_strides(shape[1:], itemsize)


def viewable(shape, strides, new):
    """Whether a not empty array with the shape and strides can be seen in the shape `new`: wherever two axes are not
    adjacent in memory, an axis of the new shape has to end, too.
    """
    fits = True
    first = True
    below = 0
    inner = 1
    for n, step in zip(shape[::-1], strides[::-1]):
        if n != 1:
            if not first and step != below and not ends_at(inner, new):
                fits = False
            first = False
            below = n * step
            inner *= n
    return fits


def ends_at(inner, shape):
    """Whether some last axes of the shape hold `inner` elements together."""
    found = False
    product = 1
    for n in shape[::-1]:
        product *= n
        if product == inner:
            found = True
    return found


def offset_of(place, shape, strides):
    """The distance, in bytes, of an element, counted in C order, from the first."""
    total = 0
    inner = 1
    for n, step in zip(shape[::-1], strides[::-1]):
        total += place // inner % n * step
        inner *= n
    return total


def strides_in(new, shape, strides):
    """The strides of the view with the shape `new`."""
    if len(new) == 0:
        return ()
    inner = 1
    for n in new[1:]:
        inner *= n
    size = inner * new[0]
    step = offset_of(inner, shape, strides) if inner < size else inner
    return (step,) + strides_in(new[1:], shape, strides)


def reshaped(a, shape):
    """`a.reshape(shape)` of an array that is not known to be contiguous; the sizes agree."""
    if a.size > 0 and viewable(a.shape, a.strides, shape):
        return raw.strided(a, shape, strides_in(shape, a.shape, a.strides))
    fresh = a.copy()
    return raw.strided(fresh, shape, contiguous_strides(shape, a.itemsize))


def in_c_order(a):
    """Whether the elements lie next to each other in C order; steps along axes with one element say nothing."""
    fits = True
    step = a.itemsize
    for n, stride in zip(a.shape[::-1], a.strides[::-1]):
        if n != 1 and stride != step:
            fits = False
        step *= n
    return fits or a.size == 0


def raveled(a):
    """`a.ravel()` of an array that is not known to be contiguous: a view if it is."""
    if in_c_order(a):
        return raw.linear(a)
    return raw.linear(a.copy())


def checked_place(place, size):
    if place < -size or place >= size:
        raise IndexError(f"index {place} is out of bounds for size {size}")
    return place + size if place < 0 else place


def flat_place(place, shape):
    """The index of an element that is counted in C order; negative from the end."""
    size = 1
    for n in shape:
        size *= n
    return unraveled(checked_place(place, size), shape)


def unraveled(place, shape):
    if len(shape) == 0:
        return ()
    inner = 1
    for n in shape[1:]:
        inner *= n
    return (place // inner,) + unraveled(place % inner, shape[1:])


def extent(shape, strides, itemsize):
    """(first, end): the bytes that the elements take, counted from the first element."""
    low = 0
    high = itemsize
    empty = False
    for n, step in zip(shape, strides):
        if n == 0:
            empty = True
        if step < 0:
            low += (n - 1) * step
        else:
            high += (n - 1) * step
    if empty:
        return 0, 0
    return low, high


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view with any shape and strides. Unlike NumPy's, it may not reach outside of the memory that `x` spans."""
    dims = x.shape if shape is None else as_dims(shape)
    steps = x.strides if strides is None else as_dims(strides)
    low, high = extent(x.shape, x.strides, x.itemsize)
    least, most = extent(dims, steps, x.itemsize)
    if least < low or most > high:
        raise ValueError("as_strided: the view would reach outside of the array's memory")
    view = raw.strided(x, dims, steps)
    if writeable:
        return view
    return np.broadcast_to(view, dims)


def as_dims(shape):
    if isinstance(shape, (tuple, list)):
        return tuple(shape)
    return (shape,)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Windows that slide along axes, as new axes at the end."""
    sizes = as_dims(window_shape)
    if axis is None:
        if len(sizes) != x.ndim:
            raise ValueError(
                "Since axis is None, must provide window_shape for all dimensions of `x`; got "
                f"{len(sizes)} window_shape elements and `x.ndim` is {x.ndim}."
            )
        axes = iota(x.ndim)
    else:
        axes = checked_axes(as_dims(axis), x.ndim)
        if len(sizes) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(sizes)} window_shape elements and "
                f"{len(axes)} axes elements."
            )
    for size in sizes:
        if size < 0:
            raise ValueError("negative values are not allowed in `window_shape`")
    shape = trimmed(x.shape, axes, sizes) + sizes
    view = raw.strided(x, shape, x.strides + picked(x.strides, axes))
    if writeable:
        return view
    return np.broadcast_to(view, shape)


def picked(items, places):
    if len(places) == 0:
        return ()
    return (items[places[0]],) + picked(items, places[1:])


def trimmed(shape, axes, sizes):
    """The shape, less the window on each axis."""
    if len(axes) == 0:
        return shape
    axis = axes[0]
    left = shape[axis] - sizes[0] + 1
    if left < 1 and shape[axis] < sizes[0]:
        raise ValueError("window shape cannot be larger than input array shape")
    return trimmed(shape[:axis] + (left,) + shape[axis + 1 :], axes[1:], sizes[1:])
