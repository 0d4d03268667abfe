"""Dense linear algebra for small and middle-sized matrices: LU, Cholesky, QR, and what follows from them.

Takes real or complex matrices (integers count as float64); stacks of matrices where NumPy takes them, for `det`,
`slogdet`, `inv`, `solve` and `cholesky`. Errors are numpy.linalg.LinAlgError.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from quadrants.library import kernels, raw
from quadrants.library.products import matmul
from quadrants.library.support import (
    as_array,
    real_dtype,
)

#: Columns that are decomposed before the rest of the matrix is brought up to date.
PANEL = 32


def float_matrix(a):
    """A fresh C-ordered copy in floating point."""
    x = as_array(a)
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return x.astype(float_dtype(x.dtype))


def float_dtype(dtype):
    if dtype.kind in "fc":
        return dtype
    return np.dtype(np.float64)


def check_square(a):
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def lu_in_place(a, pivots):
    """The LU decomposition with partial pivoting, in place. Gives the sign of the permutation, 0 if a pivot is zero."""
    n = a.shape[0]
    sign = 1
    for first in range(0, n, PANEL):
        last = min(first + PANEL, n)
        sign *= lu_of_panel(a, pivots, first, last)
        if sign == 0:
            return 0
        if last < n:
            for k in range(first, last):
                for i in range(k + 1, last):
                    subtract_row(a, i, k, raw.load(a, i, k), last, n)
            subtract_product(a, first, last)
    return sign


def lu_of_panel(a, pivots, first, last):
    """The decomposition of some columns; rows are swapped as a whole."""
    n = a.shape[0]
    sign = 1
    for k in range(first, last):
        p = k
        largest = abs(raw.load(a, k, k))
        for i in range(k + 1, n):
            size = abs(raw.load(a, i, k))
            if size > largest:
                largest = size
                p = i
        raw.store(p, pivots, k)
        if largest == 0:
            return 0
        if p != k:
            sign = -sign
            swap_rows(a, k, p)
        pivot = raw.load(a, k, k)
        for i in range(k + 1, n):
            factor = raw.load(a, i, k) / pivot
            raw.store(factor, a, i, k)
            subtract_row(a, i, k, factor, k + 1, last)
    return sign


def subtract_product(a, first, last):
    """What the columns of a panel do to what is below and to the right of it: a product of matrices (`passes.contractions`)."""
    n = a.shape[0]
    if a.dtype.kind == "c":
        for i in range(last, n):
            for k in range(first, last):
                subtract_row(a, i, k, raw.load(a, i, k), last, n)
    else:
        for i in range(last, n):
            for j in range(last, n):
                for k in range(first, last):
                    raw.store(raw.load(a, i, j) - raw.load(a, i, k) * raw.load(a, k, j), a, i, j)


def subtract_from_rows(b, a, first, last, low, high):
    """Subtracts from the rows of b from `low` to the one before `high` those from `first` to the one before `last`, each times an
    element of a."""
    if a.dtype.kind == "c":
        for i in range(low, high):
            for k in range(first, last):
                subtract_row(b, i, k, raw.load(a, i, k), 0, b.shape[1])
    else:
        for i in range(low, high):
            for j in range(b.shape[1]):
                for k in range(first, last):
                    raw.store(raw.load(b, i, j) - raw.load(a, i, k) * raw.load(b, k, j), b, i, j)


def swap_rows(a, p, q):
    for j in range(a.shape[1]):
        x = raw.load(a, p, j)
        raw.store(raw.load(a, q, j), a, p, j)
        raw.store(x, a, q, j)


def subtract_row(a, i, k, factor, first, last):
    """Subtracts `factor` times row k from row i, from the column `first` to the one before `last`."""
    for j in range(first, last):
        raw.store(raw.load(a, i, j) - factor * raw.load(a, k, j), a, i, j)


def det_of(a):
    pivots = np.empty(a.shape[0], np.int64)
    sign = lu_in_place(a, pivots)
    result = a.dtype.type(sign)
    if sign != 0:
        for k in range(a.shape[0]):
            result *= a[k, k]
    return result


def det(a):
    work = float_matrix(a)
    check_square(work)
    out = np.empty(work.shape[:-2], work.dtype)
    for index in np.ndindex(out.shape):
        out[index] = det_of(work[index])
    if out.ndim == 0:
        return out[()]
    return out


def slogdet(a):
    """The sign and the logarithm of the absolute value of the determinant."""
    work = float_matrix(a)
    check_square(work)
    signs = np.empty(work.shape[:-2], work.dtype)
    logs = np.empty(work.shape[:-2], real_dtype(work.dtype))
    for index in np.ndindex(signs.shape):
        matrix = work[index]
        pivots = np.empty(matrix.shape[0], np.int64)
        sign = work.dtype.type(lu_in_place(matrix, pivots))
        log = logs.dtype.type(-np.inf if sign == 0 else 0.0)
        if sign != 0:
            for k in range(matrix.shape[0]):
                size = abs(matrix[k, k])
                sign *= matrix[k, k] / size
                log += np.log(size)
        signs[index] = sign
        logs[index] = log
    if signs.ndim == 0:
        return signs[()], logs[()]
    return signs, logs


def solve_in_place(a, b):
    """Solves a @ x = b, writing x over b; `a` is destroyed."""
    n = a.shape[0]
    pivots = np.empty(n, np.int64)
    if lu_in_place(a, pivots) == 0:
        raise LinAlgError("Singular matrix")
    columns = b.shape[1]
    for k in range(n):
        if raw.load(pivots, k) != k:
            swap_rows(b, k, raw.load(pivots, k))
    for first in range(0, n, PANEL):
        last = min(first + PANEL, n)
        for k in range(first, last):
            for i in range(k + 1, last):
                subtract_row(b, i, k, raw.load(a, i, k), 0, columns)
        subtract_from_rows(b, a, first, last, last, n)
    for block in range((n + PANEL - 1) // PANEL - 1, -1, -1):
        first = block * PANEL
        last = min(first + PANEL, n)
        for k in range(last - 1, first - 1, -1):
            pivot = raw.load(a, k, k)
            for j in range(columns):
                raw.store(raw.load(b, k, j) / pivot, b, k, j)
            for i in range(first, k):
                subtract_row(b, i, k, raw.load(a, i, k), 0, columns)
        subtract_from_rows(b, a, first, last, 0, first)


def solve(a, b):
    work = float_matrix(a)
    check_square(work)
    right = as_array(b)
    dtype = np.result_type(work.dtype, float_dtype(right.dtype))
    if right.ndim == 1:
        column = right.reshape((right.shape[0], 1))
        return solved(work.astype(dtype), column, dtype)[..., 0]
    return solved(work.astype(dtype), right, dtype)


def solved(work, right, dtype):
    if right.shape[-2] != work.shape[-1]:
        raise ValueError(
            "solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (m,m),(m,n)->(m,n) "
            f"(size {right.shape[-2]} is different from {work.shape[-1]})"
        )
    outer = np.broadcast_shapes(work.shape[:-2], right.shape[:-2])
    matrices = np.broadcast_to(work, outer + work.shape[-2:])
    out = np.empty(outer + right.shape[-2:], dtype)
    out[...] = right
    for index in np.ndindex(outer):
        solve_in_place(matrices[index].copy(), out[index])
    return out


def inv(a):
    work = float_matrix(a)
    check_square(work)
    out = np.zeros(work.shape, work.dtype)
    for index in np.ndindex(work.shape[:-2]):
        target = out[index]
        for i in range(target.shape[0]):
            target[i, i] = 1
        solve_in_place(work[index], target)
    return out


def cholesky(a, /, *, upper=False):
    work = float_matrix(a)
    check_square(work)
    out = np.zeros(work.shape, work.dtype)
    for index in np.ndindex(work.shape[:-2]):
        cholesky_of(work[index], out[index], upper)
    return out


def cholesky_of(a, out, upper):
    """The lower factor L with a = L @ L.conj().T (or its conjugate transpose), from the lower (upper) half of a."""
    n = a.shape[0]
    for j in range(n):
        pivot = a[j, j].real
        for k in range(j):
            pivot -= kernels.square_size(out[k, j] if upper else out[j, k])
        if not pivot > 0:
            raise LinAlgError("Matrix is not positive definite")
        root = np.sqrt(pivot)
        out[j, j] = root
        for i in range(j + 1, n):
            total = np.conj(a[j, i]) if upper else a[i, j]
            for k in range(j):
                if upper:
                    total -= np.conj(out[k, i]) * out[k, j]
                else:
                    total -= out[i, k] * np.conj(out[j, k])
            if upper:
                out[j, i] = np.conj(total / root)
            else:
                out[i, j] = total / root


def householder(r, q, k):
    """One step of QR: makes column k of r zero below the diagonal, and multiplies the reflection into q."""
    m = r.shape[0]
    tail = r.dtype.type(0).real
    for i in range(k + 1, m):
        tail += kernels.square_size(r[i, k])
    head = r[k, k]
    if tail == 0 and head.imag == 0:
        return
    size = np.sqrt(tail + kernels.square_size(head))
    beta = -size if head.real >= 0 else size
    v = np.empty(m - k, r.dtype)
    v[0] = head - beta
    for i in range(k + 1, m):
        v[i - k] = r[i, k]
    square = tail + kernels.square_size(v[0])
    # With (beta - head) / beta as the factor the new diagonal element is real, as in LAPACK.
    tau = (beta - head) / beta
    scale = kernels.square_size(v[0])
    reflect_rows(r, v, k, np.conj(tau) / scale)
    reflect_columns(q, v, k, tau / scale)
    r[k, k] = beta
    for i in range(k + 1, m):
        r[i, k] = 0 * square


def reflect_rows(r, v, k, factor):
    """r = (1 - factor * v v*) r."""
    for j in range(k, r.shape[1]):
        total = r.dtype.type(0)
        for i in range(v.shape[0]):
            total += np.conj(v[i]) * r[k + i, j]
        total *= factor
        for i in range(v.shape[0]):
            r[k + i, j] -= total * v[i]


def reflect_columns(q, v, k, factor):
    """q = q (1 - factor * v v*)."""
    for i in range(q.shape[0]):
        total = q.dtype.type(0)
        for j in range(v.shape[0]):
            total += q[i, k + j] * v[j]
        total *= factor
        for j in range(v.shape[0]):
            q[i, k + j] -= total * np.conj(v[j])


def qr(a, mode="reduced"):
    """Q and R by Householder reflections ("reduced", "complete" or only R, "r")."""
    r = float_matrix(a)
    m = r.shape[0]
    n = r.shape[1]
    q = np.zeros((m, m), r.dtype)
    for i in range(m):
        q[i, i] = 1
    for k in range(min(m - 1, n) if r.dtype.kind != "c" else min(m, n)):
        householder(r, q, k)
    least = min(m, n)
    if mode == "complete":
        return q, r
    if mode == "r":
        return r[:least].copy()
    if mode == "reduced":
        return q[:, :least].copy(), r[:least].copy()
    raise ValueError(f"Unrecognized mode '{mode}'")


def matrix_power(a, n):
    x = as_array(a)
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    check_square(x)
    if n < 0:
        return power_of(inv(x), -n)
    return power_of(x, n)


def power_of(x, n):
    result = np.zeros(x.shape, x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        for i in range(x.shape[-1]):
            result[index + (i, i)] = 1
    factor = x.copy()
    left = n
    while left > 0:
        if left & 1:
            result = matmul(result, factor)
        left >>= 1
        if left > 0:
            factor = matmul(factor, factor)
    return result
