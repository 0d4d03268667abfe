"""Sets as sorted arrays of different values."""

from __future__ import annotations

import numpy as np

from quadrants.library.searching import isin, unique
from quadrants.library.support import as_array, checked_axis


def both(x, y):
    """The elements of two arrays in one row."""
    p = as_array(x).reshape(-1)
    q = as_array(y).reshape(-1)
    return np.concatenate((p, q))


def union1d(ar1, ar2):
    return unique(both(ar1, ar2))


def intersect1d(ar1, ar2, assume_unique=False):
    x = unique(ar1)
    line = np.sort(np.concatenate((x, unique(ar2))))
    return line[:-1][line[1:] == line[:-1]]


def setdiff1d(ar1, ar2, assume_unique=False):
    x = as_array(ar1).reshape(-1) if assume_unique else unique(ar1)
    return x[isin(x, ar2, False, True)]


def setxor1d(ar1, ar2, assume_unique=False):
    line = np.sort(np.concatenate((unique(ar1), unique(ar2))))
    n = line.shape[0]
    single = np.ones(n, np.bool_)
    for i in range(1, n):
        if line[i] == line[i - 1]:
            single[i] = False
            single[i - 1] = False
    return line[single]


def lexsort(keys, axis=-1):
    """The order by the last key, then by the one before it, ..."""
    if isinstance(keys, (tuple, list)):
        for key in keys:
            if as_array(key).shape != as_array(keys[0]).shape:
                raise ValueError("all keys need to be the same shape")
        return lexsorted(keys, np.arange(as_array(keys[0]).shape[0]))
    order = np.arange(keys.shape[1])
    for k in range(keys.shape[0]):
        order = order[np.argsort(keys[k][order], kind="stable")]
    return order


def lexsorted(keys, order):
    if len(keys) == 0:
        return order
    return lexsorted(keys[1:], order[np.argsort(as_array(keys[0])[order], kind="stable")])


def check_kth(a, kth, axis):
    n = a.size if axis is None else a.shape[checked_axis(axis, a.ndim)]
    places = as_array(kth)
    for at in np.ndindex(places.shape):
        place = int(places[at])
        if place < -n or place >= n:
            raise ValueError(f"kth(={place if place >= 0 else place + n}) out of bounds ({n})")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """NumPy leaves the order on both sides of the kth element open; here it is sorted."""
    check_kth(as_array(a), kth, axis)
    return np.sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    check_kth(as_array(a), kth, axis)
    return np.argsort(a, axis, kind="stable")


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    if not a.flags.writeable:
        raise ValueError("partition array is read-only")
    check_kth(a, kth, axis)
    a.sort(axis)
