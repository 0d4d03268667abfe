"""What follows from eigenvalues and singular values: norms, ranks, pseudo-inverses, least squares, `svd` and `eigh`.

Takes real or complex matrices (integers count as float64). Both decompositions rotate pairs of rows or columns until nothing
is left off the diagonal (Jacobi), which is slow for large matrices and as exact as can be. Errors are numpy.linalg.LinAlgError.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from quadrants.library import kernels
from quadrants.library.linalg import check_square, float_dtype, float_matrix, inv
from quadrants.library.products import matmul
from quadrants.library.reductions import reduce, shaped
from quadrants.library.support import (
    as_array,
    axes_last,
    checked_axes,
    checked_axis,
    flat,
    real_dtype,
)


def norm(x, ord=None, axis=None, keepdims=False):
    """Vector norms (any ord), and the matrix norms None, "fro", 1, -1, inf, -inf, 2, -2 and "nuc"."""
    a = as_array(x)
    a = a if a.dtype.kind in "fc" else a.astype(np.float64)
    if axis is None and ord is None:
        result = np.sqrt(kernels.squares_about(flat(a), a.dtype.type(0), a.dtype.type))
        if keepdims:
            return np.full((1,) * a.ndim, result)
        return result
    if axis is None:
        if a.ndim == 1:
            return vector_norm(a, ord, 0, keepdims)
        return matrix_norm(a, ord, (0, 1), keepdims)
    if isinstance(axis, tuple):
        if len(axis) == 1:
            return vector_norm(a, ord, axis[0], keepdims)
        return matrix_norm(a, ord, axis, keepdims)
    return vector_norm(a, ord, axis, keepdims)


def norm_row(a, dtype, ord):
    n = a.shape[0]
    if ord is None or ord == 2:
        return np.sqrt(kernels.squares_about(a, a.dtype.type(0), a.dtype.type))
    total = dtype.type(0)
    if ord == np.inf or ord == -np.inf:
        if n == 0:
            raise ValueError("zero-size array to reduction operation maximum which has no identity")
        total = abs(a[0])
        for i in range(1, n):
            total = np.maximum(total, abs(a[i])) if ord > 0 else np.minimum(total, abs(a[i]))
        return total
    for i in range(n):
        size = abs(a[i])
        if ord == 0:
            total += dtype.type(size != 0)
        elif ord == 1:
            total += size
        else:
            total += size**ord
    if ord == 0 or ord == 1:
        return total
    return dtype.type(total ** (1.0 / ord))


def vector_norm(a, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    return reduce(norm_row, a, checked_axis(axis, a.ndim), keepdims, real_dtype(a.dtype), ord)


def matrix_norm(a, ord, axes, keepdims):
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    both = checked_axes(axes, a.ndim)
    dtype = real_dtype(a.dtype)
    if ord is None or ord == "fro":
        lines = axes_last(a, both)
        out = np.empty(lines.shape[:-1], dtype)
        for index in np.ndindex(out.shape):
            out[index] = norm_row(lines[index], dtype, 2)
        return shaped(out, a.shape, both, keepdims)
    moved = np.moveaxis(a, both, (-2, -1))
    out = np.empty(moved.shape[:-2], dtype)
    for index in np.ndindex(out.shape):
        out[index] = one_matrix_norm(moved[index], ord, dtype)
    return shaped(out, a.shape, both, keepdims)


def one_matrix_norm(a, ord, dtype):
    if ord == 1:
        return abs(a).sum(axis=0).max()
    if ord == -1:
        return abs(a).sum(axis=0).min()
    if ord == np.inf:
        return abs(a).sum(axis=1).max()
    if ord == -np.inf:
        return abs(a).sum(axis=1).min()
    values = singular_values(a)
    if ord == 2:
        return values.max()
    if ord == -2:
        return values.min()
    if ord == "nuc":
        return values.sum()
    raise ValueError("Invalid norm order for matrices.")


def singular_values(a):
    """The singular values, descending, by one-sided Jacobi rotations."""
    return jacobi_svd(a)[1]


def jacobi_svd(a):
    """(U, s, V) with a = U * s @ V.conj().T and s descending, for a matrix with at least as many rows as columns; else of
    its conjugate transpose."""
    tall = a.shape[0] >= a.shape[1]
    u = (a if tall else np.conj(a.T)).astype(float_dtype(a.dtype))
    n = u.shape[1]
    v = np.zeros((n, n), u.dtype)
    for i in range(n):
        v[i, i] = 1
    sweep = 0
    while sweep < 60 and jacobi_sweep(u, v):
        sweep += 1
    sizes = np.empty(n, real_dtype(u.dtype))
    for j in range(n):
        sizes[j] = norm_row(u[:, j], sizes.dtype, 2)
    order = np.argsort(-sizes, kind="stable")
    return u[:, order], sizes[order], v[:, order]


def jacobi_sweep(u, v):
    """Rotates each pair of columns of u to be orthogonal; says whether any was not yet."""
    rotated = False
    n = u.shape[1]
    tolerance = np.finfo(u.dtype).eps
    for p in range(n):
        for q in range(p + 1, n):
            alpha = tolerance * 0
            beta = tolerance * 0
            gamma = u.dtype.type(0)
            for i in range(u.shape[0]):
                alpha += kernels.square_size(u[i, p])
                beta += kernels.square_size(u[i, q])
                gamma += np.conj(u[i, p]) * u[i, q]
            size = abs(gamma)
            if size > tolerance * np.sqrt(alpha * beta) and size > 0:
                rotated = True
                zeta = (beta - alpha) / (2 * size)
                t = 1 / (abs(zeta) + np.sqrt(1 + zeta * zeta))
                t = t if zeta >= 0 else -t
                c = 1 / np.sqrt(1 + t * t)
                rotate_columns(u, p, q, c, c * t, gamma / size)
                rotate_columns(v, p, q, c, c * t, gamma / size)
    return rotated


def rotate_columns(a, p, q, c, s, phase):
    for i in range(a.shape[0]):
        x = a[i, p]
        y = a[i, q] * np.conj(phase)
        a[i, p] = c * x - s * y
        a[i, q] = s * x + c * y


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """U, s and V^H of a matrix: `full_matrices` completes U (V) to a square matrix."""
    x = as_array(a)
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    u, s, v = jacobi_svd(x)
    if not compute_uv:
        return s
    rows = x.shape[0]
    columns = x.shape[1]
    left = orthonormal_columns(u, s, max(rows, columns) if full_matrices else s.shape[0])
    if rows >= columns:
        return left, s, np.conj(v.T)
    return v, s, np.conj(left.T)


def orthonormal_columns(u, s, count):
    """The columns of u divided by s, completed to `count` orthonormal ones where s is zero or there are too few."""
    m = u.shape[0]
    out = np.zeros((m, count), u.dtype)
    least = s.max() * m * np.finfo(s.dtype).eps if s.shape[0] > 0 else s.dtype.type(0)
    for j in range(count):
        if j < s.shape[0] and s[j] > least:
            for i in range(m):
                out[i, j] = u[i, j] / s[j]
        else:
            complete_column(out, j)
    return out


def complete_column(q, j):
    """Writes into column j a unit vector orthogonal to the columns before it: the best of the axes."""
    m = q.shape[0]
    best = -1
    least = q.dtype.type(0).real + 2
    for axis in range(m):
        weight = q.dtype.type(0).real
        for k in range(j):
            weight += kernels.square_size(q[axis, k])
        if weight < least:
            least = weight
            best = axis
    for i in range(m):
        q[i, j] = 1 if i == best else 0
    for _ in range(2):
        for k in range(j):
            part = q.dtype.type(0)
            for i in range(m):
                part += np.conj(q[i, k]) * q[i, j]
            for i in range(m):
                q[i, j] -= part * q[i, k]
        size = norm_row(q[:, j], real_dtype(q.dtype), 2)
        for i in range(m):
            q[i, j] /= size


def eigh(a, UPLO="L"):
    """Eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian matrix, by Jacobi rotations."""
    work = hermitian_copy(a, UPLO)
    n = work.shape[0]
    vectors = np.zeros((n, n), work.dtype)
    for i in range(n):
        vectors[i, i] = 1
    sweep = 0
    while sweep < 60 and hermitian_sweep(work, vectors):
        sweep += 1
    values = np.empty(n, real_dtype(work.dtype))
    for i in range(n):
        values[i] = work[i, i].real
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def eigvalsh(a, UPLO="L"):
    return eigh(a, UPLO)[0]


def hermitian_copy(a, uplo):
    """A copy with the chosen triangle mirrored to the other."""
    work = float_matrix(a)
    check_square(work)
    if uplo != "L" and uplo != "U":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    for i in range(work.shape[0]):
        for j in range(i):
            if uplo == "L":
                work[j, i] = np.conj(work[i, j])
            else:
                work[i, j] = np.conj(work[j, i])
    return work


def hermitian_sweep(a, vectors):
    """Rotates every off-diagonal element to zero once; says whether any mattered."""
    rotated = False
    n = a.shape[0]
    tolerance = np.finfo(a.dtype).eps
    total = tolerance * 0
    for i in range(n):
        for j in range(n):
            total += kernels.square_size(a[i, j])
    least = np.sqrt(total) * tolerance * tolerance
    for p in range(n):
        for q in range(p + 1, n):
            size = abs(a[p, q])
            bound = tolerance * np.sqrt(abs(a[p, p].real) * abs(a[q, q].real))
            if size > least and size > bound * (tolerance * 8 + 0.125):
                rotated = True
                theta = (a[q, q].real - a[p, p].real) / (2 * size)
                t = 1 / (abs(theta) + np.sqrt(1 + theta * theta))
                t = t if theta >= 0 else -t
                c = 1 / np.sqrt(1 + t * t)
                phase = a[p, q] / size
                rotate_columns(a, p, q, c, c * t, phase)
                rotate_rows(a, p, q, c, c * t, phase)
                rotate_columns(vectors, p, q, c, c * t, phase)
    return rotated


def rotate_rows(a, p, q, c, s, phase):
    for j in range(a.shape[1]):
        x = a[p, j]
        y = a[q, j] * phase
        a[p, j] = c * x - s * y
        a[q, j] = s * x + c * y


def matrix_rank(A, tol=None, hermitian=False):
    a = as_array(A)
    if a.ndim < 2:
        return int(np.any(a != 0))
    s = singular_values(a)
    least = s.max() * max(a.shape[0], a.shape[1]) * np.finfo(s.dtype).eps if tol is None else tol
    return np.count_nonzero(s > least)


def cond(x, p=None):
    a = as_array(x)
    if p is None or p == 2:
        s = singular_values(a)
        return s.max() / s.min()
    if a.shape[0] != a.shape[1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return norm(a, p) * norm(inv(a), p)


def pinv(a, rcond=None, hermitian=False):
    """The pseudo-inverse; singular values up to rcond (by default max(M, N) * eps) times the largest count as zero."""
    x = as_array(a)
    u, s, v = jacobi_svd(x)
    share = max(x.shape[0], x.shape[1]) * np.finfo(s.dtype).eps if rcond is None else rcond
    least = s.max() * share
    scaled = np.zeros((v.shape[0], s.shape[0]), v.dtype)
    for j in range(s.shape[0]):
        if s[j] > least:
            for i in range(v.shape[0]):
                scaled[i, j] = v[i, j] / s[j] / s[j]
    result = matmul(scaled, np.conj(u.T))
    if x.shape[0] >= x.shape[1]:
        return result
    return np.conj(result.T)


def lstsq(a, b, rcond=None):
    """The least-squares solution, residuals, rank and singular values."""
    x = as_array(a)
    right = as_array(b)
    if x.shape[0] != right.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    u, s, v = jacobi_svd(x)
    share = max(x.shape[0], x.shape[1]) * np.finfo(s.dtype).eps if rcond is None else rcond
    rank = 0
    for value in s:
        rank += int(value > s.max() * share)
    solution = matmul(pinv(x, share), right)
    gap = matmul(x, solution) - right
    squares = (abs(gap) ** 2).sum(axis=0)
    if right.ndim == 1:
        squares = np.full(1, squares)
    if rank < x.shape[1] or x.shape[0] <= x.shape[1]:
        squares = squares[:0]
    return solution, squares, np.int32(rank), s
