"""Joining, repeating and rearranging arrays. Views where NumPy gives views."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.support import along, as_array, checked_axis, deliver, drop, iota, ones_tuple


def joint_dtype(arrays):
    """The promotion of the dtypes of a tuple of arrays."""
    if len(arrays) == 1:
        return as_array(arrays[0]).dtype
    return np.result_type(as_array(arrays[0]).dtype, joint_dtype(arrays[1:]))


def concatenate(arrays, /, axis=0, out=None, *, dtype=None):
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if isinstance(axis, np.ndarray) and np.ndim(axis) > 0:
        raise TypeError("an axis has to be an integer: pass the arrays as one tuple, np.concatenate((a, b))")
    if axis is None:
        return deliver(joined(flattened(items_of(arrays)), 0, dtype), out)
    if not raw.known(axis):
        ndim = as_array(arrays[0]).ndim
        return deliver(along(joined, checked_axis(axis, ndim), ndim, 0, arrays, dtype), out)
    return deliver(joined(arrays, axis, dtype), out)


def items_of(arrays):
    """What is to be joined: a tuple stays, an array is one item without its first axis."""
    if isinstance(arrays, np.ndarray):
        return (arrays.reshape((arrays.shape[0] * arrays.shape[1],) + arrays.shape[2:]),)
    return arrays


def flattened(arrays):
    if len(arrays) == 0:
        return ()
    return (as_array(arrays[0]).reshape(-1),) + flattened(arrays[1:])


def joined(arrays, axis, dtype):
    if isinstance(arrays, np.ndarray):
        return joined_layers(arrays, axis, dtype)
    first = as_array(arrays[0])
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    front = checked_axis(axis, first.ndim)
    length = 0
    number = 0
    for item in arrays:
        a = as_array(item)
        check_joinable(first, a, front, number)
        length += a.shape[front]
        number += 1
    kind = joint_dtype(arrays) if dtype is None else np.dtype(dtype)
    out = np.empty(first.shape[:front] + (length,) + first.shape[front + 1 :], kind)
    target = out.transpose(leading(front, out.ndim))
    start = 0
    for item in arrays:
        a = as_array(item)
        stop = start + a.shape[front]
        target[start:stop] = a.transpose(leading(front, out.ndim))
        start = stop
    return out


def joined_layers(a, axis, dtype):
    """The layers of an array along its first axis, joined along another of their axes."""
    if a.ndim < 2:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    front = checked_axis(axis, a.ndim - 1)
    order = iota(a.ndim)
    turned = a.transpose(order[1 : front + 1] + (0,) + order[front + 1 :])
    shape = turned.shape[:front] + (turned.shape[front] * turned.shape[front + 1],) + turned.shape[front + 2 :]
    return turned.astype(a.dtype if dtype is None else dtype).reshape(shape)


def leading(axis, ndim):
    """The transposition that brings an axis to the front."""
    return (axis,) + drop(iota(ndim), axis)


def check_joinable(first, a, axis, number):
    if a.ndim != first.ndim:
        raise ValueError(
            f"all the input arrays must have same number of dimensions, but the array at index 0 has {first.ndim} "
            f"dimension(s) and the array at index {number} has {a.ndim} dimension(s)"
        )
    for k in range(a.ndim):
        if k != axis and a.shape[k] != first.shape[k]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
                f"{k}, the array at index 0 has size {first.shape[k]} and the array at index {number} has size {a.shape[k]}"
            )


def stack(arrays, axis=0, out=None, *, dtype=None):
    if isinstance(arrays, np.ndarray):
        moved = np.moveaxis(arrays, 0, checked_axis(axis, arrays.ndim))
        return deliver(moved.astype(arrays.dtype if dtype is None else dtype), out)
    if not raw.known(axis):
        ndim = as_array(arrays[0]).ndim + 1
        return deliver(along(stacked, checked_axis(axis, ndim), ndim, 0, arrays, dtype), out)
    return deliver(stacked(arrays, axis, dtype), out)


def stacked(arrays, axis, dtype):
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    first = as_array(arrays[0])
    for item in arrays:
        if as_array(item).shape != first.shape:
            raise ValueError("all input arrays must have the same shape")
    front = checked_axis(axis, first.ndim + 1)
    kind = joint_dtype(arrays) if dtype is None else np.dtype(dtype)
    result = np.empty(first.shape[:front] + (len(arrays),) + first.shape[front:], kind)
    target = result.transpose(leading(front, result.ndim))
    i = 0
    for item in arrays:
        target[i] = as_array(item)
        i += 1
    return result


def all_at_least(arrays, ndim):
    if isinstance(arrays, np.ndarray):
        return layers_at_least(arrays, ndim)
    if len(arrays) == 0:
        return ()
    return (at_least(as_array(arrays[0]), ndim),) + all_at_least(arrays[1:], ndim)


def layers_at_least(a, ndim):
    """The layers of an array along its first axis with at least `ndim` dimensions."""
    if a.ndim > ndim:
        return a
    if ndim == 1:
        return a.reshape((a.shape[0], 1))
    if ndim == 2:
        return a.reshape((a.shape[0], 1, a.shape[1])) if a.ndim == 2 else a.reshape((a.shape[0], 1, 1))
    if a.ndim == 3:
        return a[:, :, :, None]
    return a[:, None, :, None] if a.ndim == 2 else a.reshape((a.shape[0], 1, 1, 1))


def at_least(a, ndim):
    """The array with at least 1 or 2 dimensions, new ones in front; with at least 3, as NumPy's atleast_3d."""
    if a.ndim >= ndim:
        return a
    if ndim == 1:
        return a.reshape((1,))
    if ndim == 2:
        return a.reshape((1,) * (2 - a.ndim) + a.shape)
    if a.ndim == 2:
        return a[:, :, None]
    if a.ndim == 1:
        return a[None, :, None]
    return a.reshape((1, 1, 1))


def at_least_each(arrays, ndim):
    if len(arrays) == 1:
        return at_least(as_array(arrays[0]), ndim)
    return all_at_least(arrays, ndim)


def atleast_1d(*arys):
    return at_least_each(arys, 1)


def atleast_2d(*arys):
    return at_least_each(arys, 2)


def atleast_3d(*arys):
    return at_least_each(arys, 3)


def hstack(tup, *, dtype=None):
    arrays = all_at_least(tup, 1)
    return joined(arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


def vstack(tup, *, dtype=None):
    return joined(all_at_least(tup, 2), 0, dtype)


def dstack(tup):
    return joined(all_at_least(tup, 3), 2, None)


def columns_of(arrays):
    if len(arrays) == 0:
        return ()
    a = as_array(arrays[0])
    column = a if a.ndim >= 2 else at_least(a, 2).T
    return (column,) + columns_of(arrays[1:])


def column_stack(tup):
    if isinstance(tup, np.ndarray):
        return joined(tup.reshape(tup.shape + (1,)) if tup.ndim == 2 else tup, 1, None)
    return joined(columns_of(tup), 1, None)


def append(arr, values, axis=None):
    if axis is None:
        return joined((as_array(arr).reshape(-1), as_array(values).reshape(-1)), 0, None)
    return concatenate((as_array(arr), as_array(values)), axis)


def repeat(a, repeats, axis=None):
    a = as_array(a)
    if axis is None:
        return repeated(a.reshape(-1), repeats, 0)
    if not raw.known(axis):
        return along(repeat_along, checked_axis(axis, a.ndim), a.ndim, 0, a, repeats)
    return repeated(a, repeats, checked_axis(axis, a.ndim))


def repeat_along(a, axis, repeats):
    return repeated(a, repeats, axis)


def repeated_row(a, count):
    """Each element of a row `count` times."""
    if count < 0:
        raise ValueError("negative dimensions are not allowed")
    out = np.empty(a.shape[0] * count, a.dtype)
    for i in range(a.shape[0]):
        x = raw.load(a, i)
        for k in range(i * count, (i + 1) * count):
            raw.store(x, out, k)
    return out


def repeated(a, repeats, axis):
    if a.ndim == 1 and not isinstance(repeats, (np.ndarray, tuple, list)):
        return repeated_row(a, int(repeats))
    source = a.transpose(leading(axis, a.ndim))
    n = a.shape[axis]
    if isinstance(repeats, (np.ndarray, tuple, list)):
        counts = as_array(repeats)
        if counts.dtype.kind not in "iub":
            raise TypeError(
                f"Cannot cast array data from dtype('{counts.dtype.name}') to dtype('int64') according to the rule 'safe'"
            )
        if counts.shape[0] != n and counts.shape[0] != 1:
            raise ValueError(f"operands could not be broadcast together with shape ({n},) ({counts.shape[0]},)")
        each = np.broadcast_to(counts, (n,))
    else:
        if repeats < 0:
            raise ValueError("negative dimensions are not allowed")
        each = np.full(n, repeats)
    total = 0
    for i in range(n):
        if each[i] < 0:
            raise ValueError("repeats may not contain negative values.")
        total += int(each[i])
    out = np.empty(a.shape[:axis] + (total,) + a.shape[axis + 1 :], a.dtype)
    target = out.transpose(leading(axis, a.ndim))
    k = 0
    for i in range(n):
        for _ in range(int(each[i])):
            target[k] = source[i]
            k += 1
    return out


def tile(A, reps):
    a = as_array(A)
    counts = reps if isinstance(reps, tuple) else (reps,)
    ndim = max(a.ndim, len(counts))
    counts = ones_tuple(ndim - len(counts)) + counts
    source = a.reshape(ones_tuple(ndim - a.ndim) + a.shape)
    out = np.empty(paired_products(source.shape, counts), a.dtype)
    blocks = out.reshape(interleaved(counts, source.shape))
    blocks[...] = source.reshape(interleaved(ones_tuple(ndim), source.shape))
    return out


def paired_products(p, q):
    if len(p) == 0:
        return ()
    return (p[0] * q[0],) + paired_products(p[1:], q[1:])


def interleaved(p, q):
    if len(p) == 0:
        return ()
    return (p[0], q[0]) + interleaved(p[1:], q[1:])


def roll(a, shift, axis=None):
    a = as_array(a)
    if axis is None:
        return rolled(a.reshape(-1), shift, 0).reshape(a.shape)
    if isinstance(axis, tuple):
        return rolled_along(a, shift, axis)
    if not raw.known(axis):
        return along(roll_along, checked_axis(axis, a.ndim), a.ndim, 0, a, shift)
    return rolled(a, shift, checked_axis(axis, a.ndim))


def roll_along(a, axis, shift):
    return rolled(a, shift, checked_axis(axis, a.ndim))


def rolled_along(a, shift, axes):
    if len(axes) == 0:
        return a
    first = shift[0] if isinstance(shift, tuple) else shift
    rest = shift[1:] if isinstance(shift, tuple) else shift
    return rolled_along(rolled(a, first, checked_axis(axes[0], a.ndim)), rest, axes[1:])


def rolled(a, shift, axis):
    out = np.empty(a.shape, a.dtype)
    n = a.shape[axis]
    if n > 0:
        source = a.transpose(leading(axis, a.ndim))
        target = out.transpose(leading(axis, a.ndim))
        k = shift % n
        target[k:] = source[: n - k]
        target[:k] = source[n - k :]
    return out


def flip(m, axis=None):
    a = as_array(m)
    if axis is None:
        return a[reversed_slices(a.ndim)]
    if isinstance(axis, tuple):
        return flipped_along(a, axis)
    if not raw.known(axis):
        return along(flipped, checked_axis(axis, a.ndim), a.ndim, 0, a)
    return flipped(a, checked_axis(axis, a.ndim))


def reversed_slices(n):
    if n == 0:
        return ()
    return (slice(None, None, -1),) + reversed_slices(n - 1)


def full_slices(n):
    if n == 0:
        return ()
    return (slice(None),) + full_slices(n - 1)


def flipped(a, axis):
    return a[full_slices(axis) + (slice(None, None, -1),)]


def flipped_along(a, axes):
    if len(axes) == 0:
        return a
    return flipped_along(flipped(a, checked_axis(axes[0], a.ndim)), axes[1:])


def fliplr(m):
    a = as_array(m)
    if a.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return a[:, ::-1]


def flipud(m):
    a = as_array(m)
    if a.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return a[::-1]


def rot90(m, k=1, axes=(0, 1)):
    """The array turned by k quarter turns in the plane of two axes (k is a compile-time constant)."""
    a = as_array(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == a.ndim:
        raise ValueError("Axes must be different.")
    if max(axes) >= a.ndim or min(axes) < -a.ndim:
        raise ValueError(f"Axes={axes} out of range for array of ndim={a.ndim}.")
    p = axes[0] % a.ndim
    q = axes[1] % a.ndim
    turns = k % 4
    if turns == 0:
        return a[...]
    if turns == 2:
        return flipped(flipped(a, p), q)
    if turns == 1:
        return swapaxes(flipped(a, q), p, q)
    return flipped(swapaxes(a, p, q), q)


def expand_dims(a, axis):
    a = as_array(a)
    if isinstance(axis, tuple):
        ndim = a.ndim + len(axis)
        return a[new_axes(positions(axis, ndim), ndim, 0)]
    if not raw.known(axis):
        return along(expand_dims, checked_axis(axis, a.ndim + 1), a.ndim + 1, 0, a)
    return a[new_axes((checked_axis(axis, a.ndim + 1),), a.ndim + 1, 0)]


def positions(axes, ndim):
    if len(axes) == 0:
        return ()
    return (checked_axis(axes[0], ndim),) + positions(axes[1:], ndim)


def new_axes(axes, ndim, i):
    if i == ndim:
        return ()
    if i in axes:
        return (None,) + new_axes(axes, ndim, i + 1)
    return (slice(None),) + new_axes(axes, ndim, i + 1)


def squeeze(a, axis=None):
    """The array without the axis, or axes, of length 1. The axis has to be given: the rank cannot depend on lengths."""
    a = as_array(a)
    if axis is None:
        raise TypeError("squeeze() needs an axis in compiled code, where the rank cannot depend on lengths")
    axes = positions(axis, a.ndim) if isinstance(axis, tuple) else (checked_axis(axis, a.ndim),)
    for k in axes:
        if a.shape[k] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a[zeros_at(axes, a.ndim, 0)]


def zeros_at(axes, ndim, i):
    if i == ndim:
        return (Ellipsis,)
    if i in axes:
        return (0,) + zeros_at(axes, ndim, i + 1)
    return (slice(None),) + zeros_at(axes, ndim, i + 1)


def swapaxes(a, axis1, axis2):
    a = as_array(a)
    p = checked_axis(axis1, a.ndim)
    q = checked_axis(axis2, a.ndim)
    return a.transpose(swapped(p, q, a.ndim, 0))


def swapped(p, q, ndim, i):
    if i == ndim:
        return ()
    if i == p:
        return (q,) + swapped(p, q, ndim, i + 1)
    if i == q:
        return (p,) + swapped(p, q, ndim, i + 1)
    return (i,) + swapped(p, q, ndim, i + 1)


def moveaxis(a, source, destination):
    a = as_array(a)
    p = positions(source, a.ndim) if isinstance(source, tuple) else (checked_axis(source, a.ndim),)
    q = positions(destination, a.ndim) if isinstance(destination, tuple) else (checked_axis(destination, a.ndim),)
    if len(p) != len(q):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    return a.transpose(move_order(p, q, kept_axes(p, a.ndim, 0), a.ndim, 0))


def kept_axes(moved, ndim, i):
    if i == ndim:
        return ()
    if i in moved:
        return kept_axes(moved, ndim, i + 1)
    return (i,) + kept_axes(moved, ndim, i + 1)


def move_order(p, q, kept, ndim, i):
    """The axis that stands at place i, and those after it."""
    if i == ndim:
        return ()
    if i in q:
        return (partner(p, q, i),) + move_order(p, q, kept, ndim, i + 1)
    return (kept[0],) + move_order(p, q, kept[1:], ndim, i + 1)


def partner(p, q, i):
    """The item of p where q has i."""
    if q[0] == i:
        return p[0]
    return partner(p[1:], q[1:], i)


def broadcast_arrays(*args):
    return broadcast_each(args, joint_shape(args))


def joint_shape(args):
    if len(args) == 0:
        return ()
    return np.broadcast_shapes(as_array(args[0]).shape, joint_shape(args[1:]))


def broadcast_each(args, shape):
    if len(args) == 0:
        return ()
    return (np.broadcast_to(as_array(args[0]), shape),) + broadcast_each(args[1:], shape)


def broadcast_shapes(*shapes):
    if len(shapes) == 0:
        return ()
    if len(shapes) == 1:
        return shapes[0]
    return broadcast_shapes(two_shapes(shapes[0], shapes[1]), *shapes[2:])


def two_shapes(p, q):
    if len(p) < len(q):
        return two_shapes(q, p)
    if len(q) == 0:
        return p
    m = p[len(p) - 1]
    n = q[len(q) - 1]
    if m != n and m != 1 and n != 1:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape.")
    return two_shapes(p[: len(p) - 1], q[: len(q) - 1]) + (n if m == 1 else m,)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    n = len(xi)
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    swap = indexing == "xy" and n > 1
    return grids(xi, mesh_shape(xi, swap), swap, 0, copy, sparse)


def mesh_shape(xi, swap):
    lengths = sizes(xi)
    if swap:
        return (lengths[1], lengths[0]) + lengths[2:]
    return lengths


def sizes(arrays):
    if len(arrays) == 0:
        return ()
    return (as_array(arrays[0]).size,) + sizes(arrays[1:])


def grids(xi, shape, swap, k, copy, sparse):
    if k == len(xi):
        return ()
    line = as_array(xi[k]).reshape(-1)
    axis = 1 - k if swap and k < 2 else k
    wide = line.reshape(ones_tuple(axis) + (line.shape[0],) + ones_tuple(len(shape) - 1 - axis))
    grid = wide if sparse else np.broadcast_to(wide, shape)
    return (grid.copy() if copy else grid,) + grids(xi, shape, swap, k + 1, copy, sparse)


def resize(a, new_shape):
    """An array of another size, filled with the elements again and again."""
    source = as_array(a).reshape(-1)
    shape = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    out = np.zeros(shape, source.dtype)
    target = out.reshape(-1)
    if source.shape[0] > 0:
        for i in range(target.shape[0]):
            target[i] = source[i % source.shape[0]]
    return out


def block(arrays):
    """An array put together from rows of arrays."""
    if isinstance(arrays, (tuple, list)):
        return block_of(arrays, depth_of(arrays))
    return as_array(arrays)


def depth_of(arrays):
    if isinstance(arrays, (tuple, list)):
        return 1 + depth_of(arrays[0])
    return 0


def block_of(arrays, depth):
    if isinstance(arrays, (tuple, list)):
        return joined(all_at_least(blocks_of(arrays, depth - 1), depth), -depth, None)
    return as_array(arrays)


def blocks_of(arrays, depth):
    if len(arrays) == 0:
        return ()
    return (block_of(arrays[0], depth),) + blocks_of(arrays[1:], depth)
