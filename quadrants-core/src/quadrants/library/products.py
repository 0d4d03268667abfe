"""Products of vectors and matrices: `dot`, `matmul`, `vdot`, `inner`, `outer`, `cross`, `kron`, `trace`, `tensordot`.

Matrix products of numbers of 32 and 64 bits are three loops that the compiler recognises (`passes.contractions`); others run
over blocks that fit the cache, with the innermost loop along the columns of the result. Operands of different dtypes
are promoted first.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.support import (
    as_array,
    axis_last,
    checked_axis,
    deliver,
    lengths,
    product,
    sum_dtype,
    wide_dtype,
)

WIDTH = 128
DEPTH = 16


def dot_rows(x, y, dtype):
    """The sum of products of two rows of the same length."""
    n = x.shape[0]
    if dtype.kind == "b":
        for i in range(n):
            if raw.load(x, i) and raw.load(y, i):
                return np.bool_(True)
        return np.bool_(False)
    kind = wide_dtype(dtype).type
    total = kind(0)
    for i in range(n):
        total += kind(raw.load(x, i)) * kind(raw.load(y, i))
    return dtype.type(total)


def matrix_product(x, y, out, dtype):
    """`out = x @ y` of matrices that fit together; `out` has the dtype."""
    if dtype.kind == "b":
        for i in range(x.shape[0]):
            for j in range(y.shape[1]):
                out[i, j] = dot_rows(x[i], y[:, j], dtype)
    elif dtype.kind in "fiu" and dtype.itemsize >= 4:
        plain_product(x, y, out, dtype.type)
    else:
        for i in range(x.shape[0]):
            for j in range(y.shape[1]):
                raw.store(dtype.type(0), out, i, j)
        blocked_product(x, y, out, dtype)


def plain_product(x, y, out, kind):
    for i in range(x.shape[0]):
        for j in range(y.shape[1]):
            total = kind(0)
            for k in range(x.shape[1]):
                total += kind(raw.load(x, i, k)) * kind(raw.load(y, k, j))
            raw.store(total, out, i, j)


def blocked_product(x, y, out, dtype):
    """Adds x @ y to `out`. Blocks of DEPTH by WIDTH elements of y, copied together, stay in the first-level cache while all
    rows of x pass over them."""
    n = x.shape[1]
    columns = y.shape[1]
    block = np.empty((min(DEPTH, n), min(WIDTH, columns)), dtype)
    for left in range(0, columns, WIDTH):
        width = min(WIDTH, columns - left)
        for first in range(0, n, DEPTH):
            depth = min(DEPTH, n - first)
            for k in range(depth):
                for j in range(width):
                    raw.store(dtype.type(raw.load(y, first + k, left + j)), block, k, j)
            for i in range(x.shape[0]):
                for k in range(0, depth - 3, 4):
                    add_four_rows(x, block, out, i, first, k, left, width, dtype.type)
                for k in range(depth // 4 * 4, depth):
                    add_row(x, block, out, i, first, k, left, width, dtype.type)


def add_four_rows(x, block, out, i, first, k, left, width, kind):
    """Adds four rows of the block, each times its factor from x, to part of a row of `out`."""
    a = kind(raw.load(x, i, first + k))
    b = kind(raw.load(x, i, first + k + 1))
    c = kind(raw.load(x, i, first + k + 2))
    d = kind(raw.load(x, i, first + k + 3))
    for j in range(width):
        total = raw.load(out, i, left + j) + a * raw.load(block, k, j)
        total += b * raw.load(block, k + 1, j)
        total += c * raw.load(block, k + 2, j)
        total += d * raw.load(block, k + 3, j)
        raw.store(total, out, i, left + j)


def add_row(x, block, out, i, first, k, left, width, kind):
    a = kind(raw.load(x, i, first + k))
    for j in range(width):
        raw.store(raw.load(out, i, left + j) + a * raw.load(block, k, j), out, i, left + j)


def product_2d(x, y, dtype):
    wide = wide_dtype(dtype)
    out = np.empty((x.shape[0], y.shape[1]), wide)
    matrix_product(x, y, out, wide)
    return out if wide == dtype else out.astype(dtype)


def product_2d_1d(x, y, dtype):
    """Matrix times vector: row by row, or column by column where the columns are contiguous."""
    if x.flags.f_contiguous and not x.flags.c_contiguous and dtype.kind != "b":
        return column_by_column(x, y, dtype)
    out = np.empty(x.shape[0], dtype)
    for i in range(x.shape[0]):
        out[i] = dot_rows(x[i], y, dtype)
    return out


def column_by_column(x, y, dtype):
    wide = wide_dtype(dtype)
    kind = wide.type
    out = np.zeros(x.shape[0], wide)
    for k in range(x.shape[1]):
        factor = kind(raw.load(y, k))
        for i in range(x.shape[0]):
            raw.store(raw.load(out, i) + kind(raw.load(x, i, k)) * factor, out, i)
    return out if wide == dtype else out.astype(dtype)


def product_1d_2d(x, y, dtype):
    """Vector times matrix."""
    return product_2d(x.reshape((1, x.shape[0])), y, dtype).reshape(-1)


def check_aligned(x, y, i, j):
    if x.shape[i] != y.shape[j]:
        raise ValueError(
            f"shapes ({lengths(x.shape)}) and ({lengths(y.shape)}) not aligned: "
            f"{x.shape[i]} (dim {i}) != {y.shape[j]} (dim {j})"
        )


def dot(a, b, out=None):
    x = as_array(a)
    y = as_array(b)
    if x.ndim == 0 or y.ndim == 0:
        result = x * y
    else:
        last = max(y.ndim - 2, 0)
        check_aligned(x, y, x.ndim - 1, last)
        result = aligned_dot(x, y)
    if out is None:
        return result
    if out.dtype != result.dtype or out.shape != np.shape(result) or not out.flags.c_contiguous:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    out[...] = result
    return out


def aligned_dot(x, y):
    dtype = np.result_type(x.dtype, y.dtype)
    if x.ndim == 1 and y.ndim == 1:
        return dot_rows(x, y, dtype)
    if x.ndim == 2 and y.ndim == 2:
        return product_2d(x, y, dtype)
    if x.ndim == 2 and y.ndim == 1:
        return product_2d_1d(x, y, dtype)
    if x.ndim == 1 and y.ndim == 2:
        return product_1d_2d(x, y, dtype)
    left = x.reshape((product(x.shape[:-1]), x.shape[-1]))
    if y.ndim == 1:
        return product_2d_1d(left, y, dtype).reshape(x.shape[:-1])
    if y.ndim == 2:
        return product_2d(left, y, dtype).reshape(x.shape[:-1] + y.shape[1:])
    return dot_nd(x, y, dtype)


def dot_nd(x, y, dtype):
    """`dot` of a right operand of three or more dimensions: the last axis of x by the last but one of y."""
    out = np.empty(x.shape[:-1] + y.shape[:-2] + y.shape[-1:], dtype)
    for i in np.ndindex(x.shape[:-1]):
        for j in np.ndindex(y.shape[:-2]):
            block = y[j]
            for k in range(y.shape[-1]):
                out[i + j + (k,)] = dot_rows(x[i], block[:, k], dtype)
    return out


def matmul_into(x1, x2, /, out=None, *, dtype=None):
    """`np.matmul`."""
    if dtype is None:
        result = matmul(x1, x2)
    else:
        result = matmul(as_array(x1).astype(dtype), as_array(x2).astype(dtype))
    if out is not None and not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc 'matmul' output from dtype('{result.dtype}') to dtype('{out.dtype}') "
            "with casting rule 'same_kind'"
        )
    return deliver(result, out)


def matmul(x1, x2):
    """The operator `@`."""
    x = as_array(x1)
    y = as_array(x2)
    if x.ndim == 0:
        raise ValueError(
            "matmul: Input operand 0 does not have enough dimensions "
            "(has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    if y.ndim == 0:
        raise ValueError(
            "matmul: Input operand 1 does not have enough dimensions "
            "(has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    inner = y.shape[max(y.ndim - 2, 0)]
    if x.shape[-1] != inner:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {inner} is different from {x.shape[-1]})"
        )
    if x.ndim <= 2 and y.ndim <= 2:
        return aligned_dot(x, y)
    if x.ndim == 1:
        return stacked(x.reshape((1, x.shape[0])), y)[..., 0, :]
    if y.ndim == 1:
        return stacked(x, y.reshape((y.shape[0], 1)))[..., 0]
    return stacked(x, y)


def stacked(x, y):
    """Products of stacks of matrices, their leading axes broadcast."""
    outer = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    dtype = np.result_type(x.dtype, y.dtype)
    wide = wide_dtype(dtype)
    left = np.broadcast_to(x, outer + x.shape[-2:])
    right = np.broadcast_to(y, outer + y.shape[-2:])
    out = np.empty(outer + (x.shape[-2], y.shape[-1]), wide)
    for index in np.ndindex(outer):
        matrix_product(left[index], right[index], out[index], wide)
    return out if wide == dtype else out.astype(dtype)


def vdot(a, b):
    x = as_array(a).reshape(-1)
    y = as_array(b).reshape(-1)
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"cannot reshape array of size {y.shape[0]} into shape ({x.shape[0]},)")
    dtype = np.result_type(x.dtype, y.dtype)
    if x.dtype.kind == "c":
        return dot_rows(np.conj(x), y, dtype)
    return dot_rows(x, y, dtype)


def inner(a, b):
    x = as_array(a)
    y = as_array(b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    if x.ndim == 1 and y.ndim == 1:
        return dot(x, y)
    if y.ndim == 1:
        return dot(x, y)
    if y.ndim == 2:
        return dot(x, y.T)
    dtype = np.result_type(x.dtype, y.dtype)
    check_aligned(x, y, x.ndim - 1, y.ndim - 1)
    out = np.empty(x.shape[:-1] + y.shape[:-1], dtype)
    for i in np.ndindex(x.shape[:-1]):
        for j in np.ndindex(y.shape[:-1]):
            out[i + j] = dot_rows(x[i], y[j], dtype)
    return out


def outer(a, b, out=None):
    x = as_array(a).reshape(-1)
    y = as_array(b).reshape(-1)
    result = x.reshape((x.shape[0], 1)) * y
    if out is None:
        return result
    out[...] = result
    return out


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product along an axis, which has length 3 in both."""
    if axis is not None:
        return crossed(a, b, axis, axis, axis)
    return crossed(a, b, axisa, axisb, axisc)


def crossed(a, b, axisa, axisb, axisc):
    x = as_array(a)
    y = as_array(b)
    result = crossed_last(axis_last(x, checked_axis(axisa, x.ndim)), axis_last(y, checked_axis(axisb, y.ndim)))
    return np.moveaxis(result, -1, axisc)


def crossed_last(x, y):
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x.shape[-1]} and {y.shape[-1]} dimensional instead."
        )
    shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    left = np.broadcast_to(x, shape + (3,))
    right = np.broadcast_to(y, shape + (3,))
    out = np.empty(shape + (3,), np.result_type(x.dtype, y.dtype))
    for index in np.ndindex(shape):
        p = left[index]
        q = right[index]
        r = out[index]
        r[0] = p[1] * q[2] - p[2] * q[1]
        r[1] = p[2] * q[0] - p[0] * q[2]
        r[2] = p[0] * q[1] - p[1] * q[0]
    return out


def kron(a, b):
    x = as_array(a)
    y = as_array(b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    ndim = max(x.ndim, y.ndim)
    x = x.reshape((1,) * (ndim - x.ndim) + x.shape)
    y = y.reshape((1,) * (ndim - y.ndim) + y.shape)
    return (x.reshape(spaced(x.shape, True)) * y.reshape(spaced(y.shape, False))).reshape(times(x.shape, y.shape))


def spaced(shape, after):
    """The shape with a 1 after (or before) each length."""
    if len(shape) == 0:
        return ()
    if after:
        return (shape[0], 1) + spaced(shape[1:], after)
    return (1, shape[0]) + spaced(shape[1:], after)


def times(p, q):
    """The products of the lengths of two shapes."""
    if len(p) == 0:
        return ()
    return (p[0] * q[0],) + times(p[1:], q[1:])


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    a = as_array(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    lines = diagonal(a, offset, axis1, axis2)
    result_dtype = sum_dtype(a, dtype)
    sums = np.zeros(lines.shape[:-1], result_dtype)
    for index in np.ndindex(lines.shape[:-1]):
        line = lines[index]
        for i in range(line.shape[0]):
            sums[index] += result_dtype.type(line[i])
    result = sums[()] if sums.ndim == 0 else sums
    if out is None:
        return result
    out[...] = result
    return out


def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals as the last axis: a copy (NumPy gives a read-only view)."""
    a = as_array(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    p = checked_axis(axis1, a.ndim)
    q = checked_axis(axis2, a.ndim)
    if p == q:
        raise ValueError("axis1 and axis2 cannot be the same")
    moved = a.transpose(others(a.ndim, p, q, 0) + (p, q))
    rows = moved.shape[-2]
    columns = moved.shape[-1]
    down = max(-offset, 0)
    right = max(offset, 0)
    n = max(min(rows - down, columns - right), 0)
    out = np.empty(moved.shape[:-2] + (n,), a.dtype)
    for index in np.ndindex(out.shape[:-1]):
        matrix = moved[index]
        line = out[index]
        for i in range(n):
            line[i] = matrix[i + down, i + right]
    return out


def others(ndim, p, q, i):
    """The axes from i on that are neither p nor q."""
    if i == ndim:
        return ()
    if i == p or i == q:
        return others(ndim, p, q, i + 1)
    return (i,) + others(ndim, p, q, i + 1)


def tensordot(a, b, axes=2):
    """The sum of products over the last `axes` axes of a and the first ones of b, or over pairs of axes."""
    x = as_array(a)
    y = as_array(b)
    if isinstance(axes, int):
        return contracted(x, y, axes)
    p = axes[0] if isinstance(axes[0], tuple) else (axes[0],)
    q = axes[1] if isinstance(axes[1], tuple) else (axes[1],)
    return contracted(brought(x, p, True), brought(y, q, False), len(p))


def brought(a, axes, last):
    """The array with the axes moved to the end, or to the front."""
    moved = front_axes(axes, a.ndim)
    rest = rest_axes(moved, a.ndim, 0)
    return a.transpose(rest + moved if last else moved + rest)


def front_axes(axes, ndim):
    if len(axes) == 0:
        return ()
    return (checked_axis(axes[0], ndim),) + front_axes(axes[1:], ndim)


def rest_axes(moved, ndim, i):
    if i == ndim:
        return ()
    if i in moved:
        return rest_axes(moved, ndim, i + 1)
    return (i,) + rest_axes(moved, ndim, i + 1)


def contracted(x, y, n):
    left = x.shape[: x.ndim - n]
    right = y.shape[n:]
    if x.shape[x.ndim - n :] != y.shape[:n]:
        raise ValueError("shape-mismatch for sum")
    depth = product(y.shape[:n])
    out = product_2d(
        x.reshape((product(left), depth)),
        y.reshape((depth, product(right))),
        np.result_type(x.dtype, y.dtype),
    )
    return out.reshape(left + right)
