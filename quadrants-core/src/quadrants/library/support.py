"""What the other library modules share: axes, shapes, accumulator types, views of rows.

Axes are counted from the end when negative. Types and ranks are known at compile time, so every branch on them is free.
"""

from __future__ import annotations

import numpy as np
from numpy.exceptions import AxisError

from quadrants.library import raw


def as_array(x):
    """The argument as an array: itself, the array of a (nested) tuple, or a 0-d array of a scalar."""
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, (tuple, list)):
        return array_of_tuple(x, tuple_dtype(x))
    return np.full((), x)


def tuple_shape(x):
    if isinstance(x, (tuple, list)):
        if len(x) == 0:
            return (0,)
        return (len(x),) + tuple_shape(x[0])
    if isinstance(x, np.ndarray):
        return x.shape
    return ()


def tuple_dtype(x):
    """The dtype that holds every item of a (nested) tuple."""
    if isinstance(x, (tuple, list)):
        if len(x) == 0:
            return np.dtype(np.float64)
        if len(x) == 1:
            return tuple_dtype(x[0])
        return np.result_type(tuple_dtype(x[0]), tuple_dtype(x[1:]))
    return np.result_type(x)


def array_of_tuple(x, dtype):
    out = np.empty(tuple_shape(x), dtype)
    fill_from_tuple(out, x)
    return out


def fill_from_tuple(out, x):
    if len(x) != out.shape[0]:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape.")
    i = 0
    for item in x:
        if isinstance(item, (tuple, list)):
            fill_from_tuple(out[i], item)
        else:
            if isinstance(item, np.ndarray) and item.shape != out.shape[1:]:
                raise ValueError(
                    "setting an array element with a sequence. The requested array has an inhomogeneous shape."
                )
            raw.put(item, out, i)
        i += 1


def checked_axis(axis, ndim):
    """The axis counted from the front."""
    if isinstance(axis, tuple) and not raw.known(axis):
        raw.needs_constant("the axes of a tuple")
    if isinstance(axis, (tuple, list, float, np.floating, complex, str)):
        raise TypeError(f"'{type(axis).__name__}' object cannot be interpreted as an integer")
    if np.ndim(axis) > 0:
        raise TypeError("an axis has to be an integer")
    if axis < -ndim or axis >= ndim:
        raise AxisError(axis, ndim)
    return axis + ndim if axis < 0 else axis


def checked_axes(axes, ndim):
    """A tuple of different axes, counted from the front."""
    if len(axes) == 0:
        return ()
    first = checked_axis(axes[0], ndim)
    rest = checked_axes(axes[1:], ndim)
    if first in rest:
        raise ValueError("duplicate value in 'axis'")
    return (first,) + rest


def iota(n):
    """(0, 1, ..., n - 1)."""
    if n == 0:
        return ()
    return iota(n - 1) + (n - 1,)


def without(axes, removed):
    """The items of the tuple `axes` that the tuple `removed` does not have."""
    if len(axes) == 0:
        return ()
    if axes[0] in removed:
        return without(axes[1:], removed)
    return (axes[0],) + without(axes[1:], removed)


def along(function, axis, ndim, k, x, *rest):
    """`function(x, axis, *rest)` for an axis from k on that is only known when it runs: one branch for each."""
    if k >= ndim - 1 or axis == k:
        return function(x, k, *rest)
    return along(function, axis, ndim, k + 1, x, *rest)


def drop(shape, axis):
    """The shape without the axis."""
    return shape[:axis] + shape[axis + 1 :]


def axis_last(a, axis):
    """A view with the axis moved to the end."""
    if axis == a.ndim - 1:
        return a
    if a.ndim == 2:
        return a.T
    return a.transpose(drop(iota(a.ndim), axis) + (axis,))


def axes_last(a, axes):
    """The array with the axes moved to the end and flattened to one (a copy where no view can be)."""
    kept = without(iota(a.ndim), axes)
    moved = a.transpose(kept + axes)
    outer = moved.shape[: a.ndim - len(axes)]
    n = 1
    for k in axes:
        n *= a.shape[k]
    return moved.reshape(outer + (n,))


def kept_shape(shape, axes):
    """The shape with length 1 on the axes."""
    return kept_from(shape, axes, 0)


def kept_from(shape, axes, i):
    if i == len(shape):
        return ()
    if i in axes:
        return (1,) + kept_from(shape, axes, i + 1)
    return (shape[i],) + kept_from(shape, axes, i + 1)


def ones_tuple(n):
    if n == 0:
        return ()
    return (1,) + ones_tuple(n - 1)


def product(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def flat(a):
    """All elements in one dimension: a view in memory order if the array is contiguous, else a copy in C order."""
    if a.ndim == 1:
        return a
    if a.flags.c_contiguous:
        return a.reshape(-1)
    if a.flags.f_contiguous:
        return a.T.reshape(-1)
    return a.reshape(-1)


def sum_dtype(a, dtype):
    """The type in which sums and products of the array are given."""
    if dtype is not None:
        return np.dtype(dtype)
    if a.dtype.kind == "b" or a.dtype.kind == "i":
        return np.dtype(np.int64)
    if a.dtype.kind == "u":
        return np.dtype(np.uint64)
    return a.dtype


def mean_dtype(a, dtype):
    """The type of means and variances: float64 of integers and booleans."""
    if dtype is not None:
        return np.dtype(dtype)
    if a.dtype.kind in "biu":
        return np.dtype(np.float64)
    return a.dtype


def real_dtype(dtype):
    """The type of the absolute value."""
    if dtype.kind == "c":
        return np.dtype(np.float32) if dtype.itemsize == 8 else np.dtype(np.float64)
    return dtype


def wide_dtype(dtype):
    """The type in which a sum of this type is accumulated: float32 for float16."""
    if dtype.kind == "f" and dtype.itemsize == 2:
        return np.dtype(np.float32)
    return dtype


def deliver(result, out):
    """The result, or `out` with the result written to it."""
    if out is None:
        return result
    if not out.flags.writeable:
        raise ValueError("output array is read-only")
    if np.shape(result) != out.shape:
        raise ValueError(f"output parameter has the shape {out.shape}, the result has the shape {np.shape(result)}")
    out[...] = result
    return out


def unpacked(x):
    """The element of a 0-d array; anything else as it is."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x[()]
    return x


def lengths(shape):
    """The lengths as NumPy's messages write them: (2,3), (4,)."""
    if len(shape) == 0:
        return ""
    if len(shape) == 1:
        return f"{shape[0]},"
    if len(shape) == 2:
        return f"{shape[0]},{shape[1]}"
    return f"{shape[0]},{lengths(shape[1:])}"
