"""NumPy's objects that are indexed by slices: `np.mgrid`, `np.ogrid`, `np.r_`, `np.c_`; open meshes."""

from __future__ import annotations

import numpy as np

from quadrants.library.shaping import column_stack, concatenate
from quadrants.library.support import as_array


def points(item):
    """The numbers of a slice: a complex step is how many, with the end included."""
    start = 0 if item.start is None else item.start
    if item.step is None:
        return np.arange(start, item.stop)
    if isinstance(item.step, complex):
        return np.linspace(start, item.stop, int(abs(item.step)))
    return np.arange(start, item.stop, item.step)


def points_of(items):
    if len(items) == 0:
        return ()
    return (points(items[0]),) + points_of(items[1:])


def lengths_of(rows):
    if len(rows) == 0:
        return ()
    return (rows[0].shape[0],) + lengths_of(rows[1:])


def joint(rows):
    if len(rows) == 1:
        return rows[0].dtype
    return np.result_type(rows[0].dtype, joint(rows[1:]))


def mgrid(index):
    """A dense grid: for each slice an array of all their lengths."""
    if isinstance(index, slice):
        return points(index)
    rows = points_of(index)
    out = np.empty((len(rows),) + lengths_of(rows), joint(rows))
    k = 0
    for row in rows:
        out[k] = row.reshape((row.shape[0],) + (1,) * (len(rows) - 1 - k))
        k += 1
    return out


def ogrid(index):
    """An open grid: for each slice an array with that axis alone."""
    if isinstance(index, slice):
        return points(index)
    rows = points_of(index)
    return opened(rows, 0, len(rows), joint(rows))


def opened(rows, k, count, dtype):
    if k == count:
        return ()
    shape = (1,) * k + (rows[k].shape[0],) + (1,) * (count - 1 - k)
    return (rows[k].astype(dtype).reshape(shape),) + opened(rows, k + 1, count, dtype)


def pieces(items):
    if len(items) == 0:
        return ()
    item = items[0]
    if isinstance(item, slice):
        return (points(item),) + pieces(items[1:])
    return (np.atleast_1d(item),) + pieces(items[1:])


def r_(index):
    """Slices, arrays and numbers, one after the other."""
    if isinstance(index, tuple):
        return concatenate(pieces(index))
    return concatenate(pieces((index,)))


def c_(index):
    """Slices and arrays as columns."""
    if isinstance(index, tuple):
        return column_stack(pieces(index))
    return column_stack(pieces((index,)))


def itself(index):
    """What `np.s_` gives."""
    return index


def ix_(*args):
    """Index arrays that select a grid."""
    return crossed(args, 0, len(args))


def crossed(rows, k, count):
    if k == count:
        return ()
    row = as_array(rows[k])
    if row.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    places = np.nonzero(row)[0] if row.dtype.kind == "b" else row
    return (places.reshape((1,) * k + (places.shape[0],) + (1,) * (count - 1 - k)),) + crossed(rows, k + 1, count)
