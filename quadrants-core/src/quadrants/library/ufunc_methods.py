"""Methods of NumPy's binary functions: `np.add.reduce`, `np.maximum.accumulate`, `np.multiply.outer`, `np.add.at`."""

from __future__ import annotations

import numpy as np

from quadrants.library import kernels
from quadrants.library.indexing import check_all, check_places
from quadrants.library.reductions import accumulate, add, all_, any_, max_, min_, multiply, prod, sum_
from quadrants.library.support import as_array, deliver, iota, ones_tuple, sum_dtype


def in_dtype(array, dtype):
    """The array, converted if a dtype is given."""
    a = as_array(array)
    if dtype is None:
        return a
    return a.astype(dtype)


def add_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    return sum_(array, axis, dtype, out, keepdims, initial, where)


def multiply_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    return prod(array, axis, dtype, out, keepdims, initial, where)


def maximum_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    return max_(in_dtype(array, dtype), axis, out, keepdims, initial, where)


def minimum_reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
    return min_(in_dtype(array, dtype), axis, out, keepdims, initial, where)


def logical_and_reduce(array, axis=0, dtype=None, out=None, keepdims=False):
    return all_(in_dtype(array, dtype), axis, out, keepdims)


def logical_or_reduce(array, axis=0, dtype=None, out=None, keepdims=False):
    return any_(in_dtype(array, dtype), axis, out, keepdims)


def add_accumulate(array, axis=0, dtype=None, out=None):
    a = as_array(array)
    return deliver(accumulate(add, a, axis, sum_dtype(a, dtype)), out)


def multiply_accumulate(array, axis=0, dtype=None, out=None):
    a = as_array(array)
    return deliver(accumulate(multiply, a, axis, sum_dtype(a, dtype)), out)


def maximum_accumulate(array, axis=0, dtype=None, out=None):
    a = in_dtype(array, dtype)
    return deliver(accumulate(kernels.higher, a, axis, a.dtype), out)


def minimum_accumulate(array, axis=0, dtype=None, out=None):
    a = in_dtype(array, dtype)
    return deliver(accumulate(kernels.lower, a, axis, a.dtype), out)


def outer_operand(a, b):
    """The first operand of an outer operation, with an axis of length 1 for each axis of the second."""
    x = as_array(a)
    return x.reshape(x.shape + ones_tuple(as_array(b).ndim))


def add_outer(a, b):
    return outer_operand(a, b) + as_array(b)


def subtract_outer(a, b):
    return outer_operand(a, b) - as_array(b)


def multiply_outer(a, b):
    return outer_operand(a, b) * as_array(b)


def divide_outer(a, b):
    return outer_operand(a, b) / as_array(b)


def power_outer(a, b):
    return outer_operand(a, b) ** as_array(b)


def maximum_outer(a, b):
    return np.maximum(outer_operand(a, b), as_array(b))


def minimum_outer(a, b):
    return np.minimum(outer_operand(a, b), as_array(b))


def subtract(x, y):
    return x - y


def divide(x, y):
    return x / y


def update_at(pick, a, indices, b):
    """`a[i] = pick(a[i], b[i])` for each index in turn, the same place perhaps several times."""
    kind = a.dtype.type
    if isinstance(indices, tuple):
        update_at_pairs(pick, a, indices, b)
    else:
        places = as_array(indices)
        check_places(places, a.shape[0], 0)
        values = np.broadcast_to(as_array(b), places.shape)
        for at in np.ndindex(places.shape):
            a[places[at]] = pick(a[places[at]], kind(values[at]))


def update_at_pairs(pick, a, indices, b):
    kind = a.dtype.type
    shape = joint_shape(indices)
    places = spread(indices, shape)
    check_all(places, a.shape, iota(a.ndim))
    values = np.broadcast_to(as_array(b), shape)
    for at in np.ndindex(shape):
        index = index_at(places, at)
        a[index] = pick(a[index], kind(values[at]))


def joint_shape(indices):
    if len(indices) == 0:
        return ()
    return np.broadcast_shapes(as_array(indices[0]).shape, joint_shape(indices[1:]))


def spread(indices, shape):
    if len(indices) == 0:
        return ()
    return (np.broadcast_to(as_array(indices[0]), shape),) + spread(indices[1:], shape)


def index_at(places, at):
    if len(places) == 0:
        return ()
    return (int(places[0][at]),) + index_at(places[1:], at)


def add_at(a, indices, b):
    update_at(add, a, indices, b)


def subtract_at(a, indices, b):
    update_at(subtract, a, indices, b)


def multiply_at(a, indices, b):
    update_at(multiply, a, indices, b)


def divide_at(a, indices, b):
    update_at(divide, a, indices, b)


def maximum_at(a, indices, b):
    update_at(kernels.higher, a, indices, b)


def minimum_at(a, indices, b):
    update_at(kernels.lower, a, indices, b)
