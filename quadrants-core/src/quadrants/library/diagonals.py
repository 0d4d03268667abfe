"""Diagonals and triangles of matrices."""

from __future__ import annotations

import numpy as np

from quadrants.library.products import diagonal
from quadrants.library.support import as_array


def diag(v, k=0):
    """The matrix with `v` on a diagonal, or the diagonal of a matrix."""
    a = as_array(v)
    if a.ndim == 1:
        return diag_matrix(a, k)
    if a.ndim == 2:
        return diagonal(a, k)
    raise ValueError("Input must be 1- or 2-d.")


def diag_matrix(line, k):
    n = line.shape[0] + abs(k)
    out = np.zeros((n, n), line.dtype)
    for i in range(line.shape[0]):
        out[i + max(-k, 0), i + max(k, 0)] = line[i]
    return out


def diagflat(v, k=0):
    return diag_matrix(as_array(v).reshape(-1), k)


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if not a.flags.writeable:
        raise ValueError("underlying array is read-only")
    n = a.shape[0]
    for size in a.shape:
        if a.ndim > 2 and size != n:
            raise ValueError("All dimensions of input must be of equal length")
        n = min(n, size)
    line = as_array(val).reshape(-1)
    for i in range(n):
        a[(i,) * a.ndim] = line[i % line.shape[0]]
    if wrap and a.ndim == 2:
        fill_wrapped(a, line, n)


def fill_wrapped(a, line, n):
    """Goes on with the diagonal below a tall matrix's square top, one row left out each time."""
    columns = a.shape[1]
    k = n
    for row in range(n + 1, a.shape[0]):
        column = (row - n - 1) % (columns + 1)
        if column < columns:
            a[row, column] = line[k % line.shape[0]]
            k += 1


def tri(N, M=None, k=0, dtype=float):
    columns = N if M is None else M
    out = np.zeros((max(N, 0), max(columns, 0)), dtype)
    for i in range(N):
        for j in range(max(min(i + k + 1, columns), 0)):
            out[i, j] = 1
    return out


def tril(m, k=0):
    return triangle(as_array(m), k, True)


def triu(m, k=0):
    return triangle(as_array(m), k, False)


def triangle(m, k, lower):
    """The matrices with zeros above (below) the diagonal k."""
    a = m if m.ndim > 1 else np.broadcast_to(m, (m.shape[0], m.shape[0]))
    out = np.zeros(a.shape, a.dtype)
    rows = a.shape[-2]
    columns = a.shape[-1]
    for index in np.ndindex(a.shape[:-2]):
        source = a[index]
        target = out[index]
        for i in range(rows):
            first = 0 if lower else max(i + k, 0)
            last = min(i + k + 1, columns) if lower else columns
            for j in range(first, last):
                target[i, j] = source[i, j]
    return out


def tril_indices(n, k=0, m=None):
    columns = n if m is None else m
    count = 0
    for i in range(n):
        count += max(min(i + k + 1, columns), 0)
    rows = np.empty(count, np.int64)
    cols = np.empty(count, np.int64)
    at = 0
    for i in range(n):
        for j in range(max(min(i + k + 1, columns), 0)):
            rows[at] = i
            cols[at] = j
            at += 1
    return rows, cols


def triu_indices(n, k=0, m=None):
    columns = n if m is None else m
    count = 0
    for i in range(n):
        count += max(columns - max(i + k, 0), 0)
    rows = np.empty(count, np.int64)
    cols = np.empty(count, np.int64)
    at = 0
    for i in range(n):
        for j in range(max(i + k, 0), columns):
            rows[at] = i
            cols[at] = j
            at += 1
    return rows, cols


def vander(x, N=None, increasing=False):
    line = as_array(x)
    if line.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = line.shape[0] if N is None else N
    out = np.empty((line.shape[0], columns), np.result_type(line.dtype, np.int64))
    for i in range(line.shape[0]):
        power = out.dtype.type(1)
        for j in range(columns):
            out[i, j if increasing else columns - 1 - j] = power
            power = power * line[i]
    return out


def tril_indices_from(arr, k=0):
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    return triu_indices(arr.shape[0], k, arr.shape[1])


def diag_indices_from(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for n in arr.shape:
        if n != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return (np.arange(arr.shape[0]),) * arr.ndim
