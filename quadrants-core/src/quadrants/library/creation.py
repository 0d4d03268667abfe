"""Making arrays: `arange`, `linspace`, `eye`, `array`, `asarray`, `copy`, ... (`empty`, `zeros`, ... are primitives)."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.reshaping import in_c_order
from quadrants.library.support import array_of_tuple, as_array, tuple_dtype


def arange(start, stop=None, step=None, dtype=None):
    if stop is None:
        return counted(0, start, 1, arange_dtype(0, start, 1) if dtype is None else np.dtype(dtype))
    if step is None:
        return counted(start, stop, 1, arange_dtype(start, stop, 1) if dtype is None else np.dtype(dtype))
    return counted(start, stop, step, arange_dtype(start, stop, step) if dtype is None else np.dtype(dtype))


def arange_dtype(start, stop, step):
    """The promotion of the arguments' dtypes, Python's numbers being int64 and float64, and at least int64."""
    return np.result_type(np.int64, np.result_type(start), np.result_type(stop), np.result_type(step))


def counted(start, stop, step, dtype):
    n = steps(start, stop, step)
    out = np.empty(n, dtype)
    kind = dtype.type
    # As NumPy does: the second element is rounded in full, and the others are multiples of their difference.
    first = kind(start)
    delta = kind(start + step) - first
    for i in range(n):
        raw.store(first + kind(i) * delta, out, i)
    return out


def steps(start, stop, step):
    """How many multiples of `step` lie in [start, stop)."""
    if step == 0:
        raise ZeroDivisionError("division by zero" if isinstance(step, int) else "float division by zero")
    if is_integer(start) and is_integer(stop) and is_integer(step):
        return len(range(int(start), int(stop), int(step)))
    length = raw.ceil((float(stop) - float(start)) / float(step))
    if length != length:
        raise ValueError("arange: cannot compute length")
    if length > 9.2e18:
        raise ValueError("Maximum allowed size exceeded")
    return int(length) if length > 0.0 else 0


def is_integer(x):
    return isinstance(x, (int, np.integer))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if np.ndim(start) > 0 or np.ndim(stop) > 0:
        return spaced_arrays(as_array(start), as_array(stop), num, endpoint, retstep, dtype, axis)
    common = np.result_type(start, stop)
    work = common if common.kind in "fc" else np.dtype(np.float64)
    given = work if dtype is None else np.dtype(dtype)
    out = np.empty(num, given)
    step = fill_linspace(out, work.type(start), work.type(stop), num - 1 if endpoint else num, work, given)
    if endpoint and num > 1:
        out[num - 1] = floored(work.type(stop), given)
    if retstep:
        return out, step
    return out


def spaced_arrays(start, stop, num, endpoint, retstep, dtype, axis):
    """`linspace` between arrays, along a new axis."""
    common = np.result_type(start, stop)
    work = common if common.kind in "fc" else np.dtype(np.float64)
    low, high = np.broadcast_arrays(start.astype(work), stop.astype(work))
    parts = num - 1 if endpoint else num
    step = (high - low) / work.type(parts) if parts > 0 else (high - low) * work.type(np.nan)
    out = np.empty((num,) + low.shape, work if dtype is None else np.dtype(dtype))
    for i in range(num):
        out[i] = floored(low + work.type(i) * step, out.dtype) if parts > 0 else floored(low, out.dtype)
    if endpoint and num > 1:
        out[num - 1] = floored(high, out.dtype)
    if retstep:
        return np.moveaxis(out, 0, axis), step
    return np.moveaxis(out, 0, axis)


def fill_linspace(out, start, stop, parts, work, given):
    delta = stop - start
    if parts <= 0:
        for i in range(out.shape[0]):
            raw.store(given.type(floored(start, given)), out, i)
        return work.type(np.nan)
    step = delta / work.type(parts)
    for i in range(out.shape[0]):
        # A step that underflows to zero is spread by dividing first.
        x = work.type(i) * step if step != 0 else work.type(i) / work.type(parts) * delta
        raw.store(given.type(floored(x + start, given)), out, i)
    return step


def floored(x, dtype):
    """The value before it is converted to the dtype: rounded down for integers."""
    return np.floor(x) if dtype.kind in "iu" else x


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    y = np.power(base, linspace(start, stop, num, endpoint, False, None, axis))
    if dtype is None:
        return y
    return y.astype(dtype)


def eye(N, M=None, k=0, dtype=float, order="C"):
    columns = N if M is None else M
    out = np.zeros((N, columns), dtype, order)
    for i in range(max(0, -k), min(N, columns - k)):
        out[i, i + k] = 1
    return out


def identity(n, dtype=None):
    if dtype is None:
        return eye(n, None, 0, np.float64)
    return eye(n, None, 0, dtype)


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    if isinstance(object, np.ndarray):
        out = fresh(object, dtype, order) if copy else ordered(as_dtype(object, dtype), order)
    elif isinstance(object, (tuple, list)):
        out = ordered(array_of_tuple(object, tuple_dtype(object) if dtype is None else np.dtype(dtype)), order)
    else:
        out = np.full((), object, np.result_type(object) if dtype is None else np.dtype(dtype))
    if ndmin > out.ndim:
        return out.reshape((1,) * (ndmin - out.ndim) + out.shape)
    return out


def fresh(a, dtype, order):
    """A copy in an order; "K" and "A" keep the one in memory."""
    fortran = a.flags.f_contiguous and not a.flags.c_contiguous
    if order == "F" or (fortran and order != "C"):
        return as_dtype(a.T, dtype).copy().T
    return a.copy() if dtype is None else a.astype(dtype)


def ordered(a, order):
    """The array itself if it is in the order, else a copy."""
    if order == "F" and not a.flags.f_contiguous:
        return a.T.copy().T
    if order == "C" and not a.flags.c_contiguous:
        return a.copy()
    return a


def as_dtype(a, dtype):
    if dtype is None:
        return a
    if a.dtype == dtype:
        return a
    return a.astype(dtype)


def asarray(a, dtype=None, order=None):
    return ordered(as_dtype(as_array(a), dtype), order)


def ascontiguousarray(a, dtype=None):
    x = as_dtype(as_array(a), dtype)
    if x.ndim == 0:
        return x.reshape((1,))
    if x.flags.c_contiguous:
        return x
    if in_c_order(x):
        return raw.linear(x).reshape(x.shape)
    return x.copy()


def asfortranarray(a, dtype=None):
    x = as_dtype(as_array(a), dtype)
    if x.ndim == 0:
        return x.reshape((1,))
    if x.flags.f_contiguous:
        return x
    return ascontiguousarray(x.T).T


def copy(a, order="K", subok=False):
    return fresh(as_array(a), None, order)


def full(shape, fill_value, dtype=None):
    return np.full(shape, fill_value, dtype)


def zeros_like(a):
    return np.zeros(a.shape, a.dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers spaced evenly on a logarithmic scale, between real ends of one sign."""
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    low = np.float64(start)
    high = np.float64(stop)
    sign = np.float64(-1.0) if low < 0 and high < 0 else np.float64(1.0)
    out = sign * np.power(10.0, linspace(np.log10(low * sign), np.log10(high * sign), num, endpoint))
    if num > 0:
        out[0] = low
        if num > 1 and endpoint:
            out[num - 1] = high
    if dtype is None:
        return out
    return out.astype(dtype)


def indices(dimensions, dtype=int):
    """A grid of indices: for each dimension an array of that shape."""
    out = np.empty((len(dimensions),) + dimensions, dtype)
    for index in np.ndindex(dimensions):
        axis = 0
        for place in index:
            out[(axis,) + index] = place
            axis += 1
    return out
