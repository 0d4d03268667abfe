"""NumPy's reductions: `sum`, `mean`, `var`, `std`, `prod`, `min`, `max`, `ptp`, `argmin`, `argmax`, `any`, `all`, ...

Each takes an array, tuple or scalar, `axis` (None, an integer or a tuple of integers), `keepdims`, and where NumPy has
them `dtype`, `ddof` and `out`. The rank of the result depends on `axis` and `keepdims`, so these must be known at compile time.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import kernels, raw
from quadrants.library.support import (
    as_array,
    axes_last,
    axis_last,
    checked_axes,
    checked_axis,
    deliver,
    drop,
    flat,
    kept_shape,
    mean_dtype,
    ones_tuple,
    product,
    real_dtype,
    sum_dtype,
    wide_dtype,
)


def reduce(row, a, axis, keepdims, dtype, *extra):
    """`row(line, dtype, *extra)` of every line along the axis, or of all elements in any order."""
    if not raw.known(axis):
        return reduce_at(row, a, checked_axis(axis, a.ndim), 0, keepdims, dtype, *extra)
    if axis is None:
        return whole(row(flat(a), dtype, *extra), a.ndim, keepdims)
    if isinstance(axis, tuple):
        axes = checked_axes(axis, a.ndim)
        lines = axes_last(a, axes)
    else:
        axes = (checked_axis(axis, a.ndim),)
        lines = axis_last(a, axes[0])
    return shaped(each_line(row, lines, dtype, *extra), a.shape, axes, keepdims)


def reduce_at(row, a, axis, k, keepdims, dtype, *extra):
    """As `reduce`, along an axis from k on that is only known when it runs: one branch for each."""
    if k == a.ndim - 1 or axis == k:
        return reduce(row, a, k, keepdims, dtype, *extra)
    return reduce_at(row, a, axis, k + 1, keepdims, dtype, *extra)


def whole(value, ndim, keepdims):
    """The result for all elements: a scalar, or an array with every length 1."""
    if keepdims and ndim > 0:
        return np.full(ones_tuple(ndim), value)
    return value


def shaped(result, shape, axes, keepdims):
    """The results for an array's lines: a scalar when no axis is left."""
    if keepdims:
        return result.reshape(kept_shape(shape, axes))
    if result.ndim == 0:
        return result[()]
    return result


def each_line(row, lines, dtype, *extra):
    out = np.empty(lines.shape[:-1], dtype)
    for index in np.ndindex(lines.shape[:-1]):
        out[index] = row(lines[index], dtype, *extra)
    return out


def across(pick, a, axis, dtype, start):
    """Elements combined along an axis that is not the last of a C-contiguous array: whole rows at a time."""
    kind = dtype.type
    outer = product(a.shape[:axis])
    n = a.shape[axis]
    inner = product(a.shape[axis + 1 :])
    out = np.empty(drop(a.shape, axis), dtype)
    if n == 0:
        if start is not None:
            out[...] = start
        elif out.size > 0:
            no_identity(pick)
        return out
    lines = a.reshape((outer, n, inner))
    sums = out.reshape((outer, inner))
    for j in range(outer):
        for i in range(inner):
            raw.store(kind(raw.load(lines, j, 0, i)), sums, j, i)
        for k in range(1, n):
            for i in range(inner):
                raw.store(pick(raw.load(sums, j, i), kind(raw.load(lines, j, k, i))), sums, j, i)
    return out


def no_identity(pick):
    name = "minimum" if pick is kernels.lower else "maximum"
    raise ValueError(f"zero-size array to reduction operation {name} which has no identity")


def line_by_line(row, pick, a, dtype, start):
    """All elements of an array that is not contiguous combined, without a copy of it."""
    if a.size == 0:
        if start is None:
            no_identity(pick)
        return dtype.type(start)
    # A minimum starts from an element, which may be combined twice.
    total = dtype.type(start) if start is not None else a[(0,) * a.ndim]
    for index in np.ndindex(a.shape[:-1]):
        total = pick(total, row(a[index], dtype))
    return total


def by_rows(row, pick, a, axis, keepdims, dtype, inner_dtype, start):
    """As `reduce`, by whole rows (`across`) where that is the order in memory; `start` is the result for no elements."""
    if not raw.known(axis):
        return by_rows_at(row, pick, a, checked_axis(axis, a.ndim), 0, keepdims, dtype, inner_dtype, start)
    if axis is None and a.ndim > 1 and not a.flags.c_contiguous and not a.flags.f_contiguous:
        return whole(dtype.type(line_by_line(row, pick, a, inner_dtype, start)), a.ndim, keepdims)
    if axis is not None and not isinstance(axis, tuple) and a.ndim > 1 and a.flags.c_contiguous:
        front = checked_axis(axis, a.ndim)
        if front < a.ndim - 1:
            result = converted(across(pick, a, front, inner_dtype, start), dtype)
            return shaped(result, a.shape, (front,), keepdims)
    return reduce(row, a, axis, keepdims, dtype)


def by_rows_at(row, pick, a, axis, k, keepdims, dtype, inner_dtype, start):
    """As `by_rows`, along an axis from k on that is only known when it runs."""
    if k == a.ndim - 1 or axis == k:
        return by_rows(row, pick, a, k, keepdims, dtype, inner_dtype, start)
    return by_rows_at(row, pick, a, axis, k + 1, keepdims, dtype, inner_dtype, start)


def add(x, y):
    return x + y


def multiply(x, y):
    return x * y


def chosen(a, where, value):
    """The array with `value` where the mask, if there is one, does not hold."""
    if where is None or where is True:
        return a
    return np.where(where, a, a.dtype.type(value))


def begun(pick, result, initial):
    """The result with an initial value, if there is one."""
    if initial is None:
        return result
    return pick(result, result.dtype.type(initial))


def sum_(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    a = chosen(as_array(a), where, 0)
    result_dtype = sum_dtype(a, dtype)
    result = by_rows(kernels.sum_row, add, a, axis, keepdims, result_dtype, wide_dtype(result_dtype), 0)
    return deliver(begun(add, result, initial), out)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    a = chosen(as_array(a), where, 1)
    result_dtype = sum_dtype(a, dtype)
    result = by_rows(kernels.prod_row, multiply, a, axis, keepdims, result_dtype, wide_dtype(result_dtype), 1)
    return deliver(begun(multiply, result, initial), out)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    a = as_array(a)
    result_dtype = mean_dtype(a, dtype)
    if where is not None and where is not True:
        count = chosen_count(a, axis, keepdims, where)
        return deliver(converted(sum_(a, axis, result_dtype, None, keepdims, None, where) / count, result_dtype), out)
    wide = wide_dtype(result_dtype)
    total = by_rows(kernels.sum_row, add, a, axis, keepdims, wide, wide, 0)
    share = total / wide.type(reduced_size(a, axis))
    return deliver(converted(share, result_dtype), out)


def converted(x, dtype):
    """The array or scalar in the dtype."""
    if isinstance(x, np.ndarray):
        return x if x.dtype == dtype else x.astype(dtype)
    return dtype.type(x)


def reduced_size(a, axis):
    """How many elements one result is made of."""
    if axis is None:
        return a.size
    if isinstance(axis, tuple):
        n = 1
        for k in axis:
            n *= a.shape[k]
        return n
    return a.shape[axis]


def chosen_count(a, axis, keepdims, where):
    """How many elements the mask leaves of each line, as floats."""
    return sum_(np.broadcast_to(as_array(where), a.shape), axis, np.dtype(np.float64), None, keepdims)


def chosen_var(a, axis, dtype, ddof, keepdims, where):
    """The variance of the elements that the mask leaves."""
    real = real_dtype(dtype)
    centre = sum_(a, axis, dtype, None, True, None, where) / chosen_count(a, axis, True, where)
    distance = a - converted(centre, dtype)
    square = distance.real**2 + distance.imag**2 if dtype.kind == "c" else distance**2
    free = np.maximum(chosen_count(a, axis, keepdims, where) - ddof, 0)
    return converted(sum_(square, axis, None, None, keepdims, None, where) / free, real)


def free_degrees(ddof, correction):
    """`ddof` under either of its names."""
    if correction is None:
        return ddof
    return correction


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None):
    a = as_array(a)
    kind = mean_dtype(a, dtype)
    less = free_degrees(ddof, correction)
    if where is not None and where is not True:
        return deliver(chosen_var(a, axis, kind, less, keepdims, where), out)
    return deliver(reduce(kernels.var_row, a, axis, keepdims, real_dtype(kind), less), out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None):
    a = as_array(a)
    kind = mean_dtype(a, dtype)
    less = free_degrees(ddof, correction)
    if where is not None and where is not True:
        return deliver(np.sqrt(chosen_var(a, axis, kind, less, keepdims, where)), out)
    return deliver(reduce(kernels.std_row, a, axis, keepdims, real_dtype(kind), less), out)


def extreme(row, pick, a, axis, keepdims, initial, where):
    """The least or greatest element; with a mask there has to be an initial value."""
    if where is not None and where is not True and initial is None:
        name = "minimum" if pick is kernels.lower else "maximum"
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    if initial is None:
        return by_rows(row, pick, a, axis, keepdims, a.dtype, a.dtype, None)
    if reduced_size(a, axis) == 0:
        # Every result is the initial value: sums of the nothing have the shape that is wanted.
        return converted(sum_(a, axis, None, None, keepdims), a.dtype) + a.dtype.type(initial)
    result = by_rows(row, pick, chosen(a, where, initial), axis, keepdims, a.dtype, a.dtype, None)
    return begun(np.minimum if pick is kernels.lower else np.maximum, result, initial)


def min_(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return deliver(extreme(kernels.min_row, kernels.lower, as_array(a), axis, keepdims, initial, where), out)


def max_(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return deliver(extreme(kernels.max_row, kernels.higher, as_array(a), axis, keepdims, initial, where), out)


def ptp(a, axis=None, out=None, keepdims=False):
    a = as_array(a)
    return deliver(reduce(kernels.ptp_row, a, axis, keepdims, a.dtype), out)


def argmin(a, axis=None, out=None, *, keepdims=False):
    a = as_array(a)
    return deliver(arg_reduce(kernels.argmin_row, a, axis, keepdims), out)


def argmax(a, axis=None, out=None, *, keepdims=False):
    a = as_array(a)
    return deliver(arg_reduce(kernels.argmax_row, a, axis, keepdims), out)


def arg_reduce(row, a, axis, keepdims):
    """As `reduce`, with positions counted in C order."""
    if axis is None:
        return whole(row(a if a.ndim == 1 else a.reshape(-1), np.dtype(np.int64)), a.ndim, keepdims)
    if isinstance(axis, tuple):
        raise TypeError("'tuple' object cannot be interpreted as an integer")
    return reduce(row, a, axis, keepdims, np.dtype(np.int64))


def any_(a, axis=None, out=None, keepdims=False, *, where=None):
    return deliver(reduce(kernels.any_row, chosen(as_array(a), where, 0), axis, keepdims, np.dtype(np.bool_)), out)


def all_(a, axis=None, out=None, keepdims=False, *, where=None):
    return deliver(reduce(kernels.all_row, chosen(as_array(a), where, 1), axis, keepdims, np.dtype(np.bool_)), out)


def count_nonzero(a, axis=None, *, keepdims=False):
    a = as_array(a)
    return reduce(kernels.count_row, a, axis, keepdims, np.dtype(np.int64))


def cumsum(a, axis=None, dtype=None, out=None):
    a = as_array(a)
    return deliver(accumulate(add, a, axis, sum_dtype(a, dtype)), out)


def cumprod(a, axis=None, dtype=None, out=None):
    a = as_array(a)
    return deliver(accumulate(multiply, a, axis, sum_dtype(a, dtype)), out)


def cumulative(pick, start, x, axis, dtype, out, include_initial):
    a = as_array(x)
    if axis is None:
        if a.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        front = 0
    else:
        front = checked_axis(axis, a.ndim)
    result = accumulate(pick, a, front, sum_dtype(a, dtype))
    if include_initial:
        first = np.full(a.shape[:front] + (1,) + a.shape[front + 1 :], result.dtype.type(start))
        return deliver(np.concatenate((first, result), front), out)
    return deliver(result, out)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return cumulative(add, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return cumulative(multiply, 1, x, axis, dtype, out, include_initial)


def accumulate(pick, a, axis, dtype):
    """Running results of `pick` along the axis, or over all elements in C order."""
    if not raw.known(axis):
        return accumulate_at(pick, a, checked_axis(axis, a.ndim), 0, dtype)
    if axis is None:
        source = a if a.ndim == 1 else a.reshape(-1)
        out = np.empty(source.shape, dtype)
        scan(pick, source, out, dtype)
        return out
    front = checked_axis(axis, a.ndim)
    out = np.empty(a.shape, dtype)
    lines = axis_last(a, front)
    targets = axis_last(out, front)
    for index in np.ndindex(lines.shape[:-1]):
        scan(pick, lines[index], targets[index], dtype)
    return out


def accumulate_at(pick, a, axis, k, dtype):
    """As `accumulate`, along an axis from k on that is only known when it runs."""
    if k == a.ndim - 1 or axis == k:
        return accumulate(pick, a, k, dtype)
    return accumulate_at(pick, a, axis, k + 1, dtype)


def scan(pick, a, out, dtype):
    n = a.shape[0]
    if n > 0:
        total = dtype.type(raw.load(a, 0))
        raw.store(total, out, 0)
        for i in range(1, n):
            total = pick(total, dtype.type(raw.load(a, i)))
            raw.store(total, out, i)
