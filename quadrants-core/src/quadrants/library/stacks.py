"""The decompositions of `spectral` and `linalg` for stacks of matrices, with NumPy's named results."""

from __future__ import annotations

import numpy as np
from numpy.linalg._linalg import EighResult, QRResult, SlogdetResult, SVDResult

from quadrants.library import linalg, spectral
from quadrants.library.products import matmul
from quadrants.library.support import as_array, real_dtype


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    x = as_array(a)
    if x.ndim > 2:
        work = linalg.float_matrix(x)
        return stacked_svd(work, full_matrices) if compute_uv else stacked_values(work)
    result = spectral.svd(x, full_matrices, compute_uv)
    if compute_uv:
        return SVDResult(result[0], result[1], result[2])
    return result


def stacked_svd(x, full_matrices):
    outer = x.shape[:-2]
    m = x.shape[-2]
    n = x.shape[-1]
    least = min(m, n)
    u = np.empty(outer + (m, m if full_matrices else least), x.dtype)
    s = np.empty(outer + (least,), real_dtype(x.dtype))
    v = np.empty(outer + (n if full_matrices else least, n), x.dtype)
    for index in np.ndindex(outer):
        left, values, right = spectral.svd(x[index], full_matrices)
        u[index] = left
        s[index] = values
        v[index] = right
    return SVDResult(u, s, v)


def stacked_values(x):
    s = np.empty(x.shape[:-2] + (min(x.shape[-2], x.shape[-1]),), real_dtype(x.dtype))
    for index in np.ndindex(x.shape[:-2]):
        s[index] = spectral.svd(x[index], True, False)
    return s


def svdvals(x, /):
    return svd(x, True, False)


def qr(a, mode="reduced"):
    x = as_array(a)
    if mode == "r":
        return stacked_r(linalg.float_matrix(x)) if x.ndim > 2 else linalg.qr(x, mode)
    if x.ndim > 2:
        return stacked_qr(linalg.float_matrix(x), mode)
    q, r = linalg.qr(x, mode)
    return QRResult(q, r)


def stacked_qr(x, mode):
    outer = x.shape[:-2]
    m = x.shape[-2]
    inner = m if mode == "complete" else min(m, x.shape[-1])
    qs = np.empty(outer + (m, inner), x.dtype)
    rs = np.empty(outer + (inner, x.shape[-1]), x.dtype)
    for index in np.ndindex(outer):
        q, r = linalg.qr(x[index], mode)
        qs[index] = q
        rs[index] = r
    return QRResult(qs, rs)


def stacked_r(x):
    rs = np.empty(x.shape[:-2] + (min(x.shape[-2], x.shape[-1]), x.shape[-1]), x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        rs[index] = linalg.qr(x[index], "r")
    return rs


def eigh(a, UPLO="L"):
    x = as_array(a)
    if x.ndim > 2:
        return stacked_eigh(linalg.float_matrix(x), UPLO)
    values, vectors = spectral.eigh(x, UPLO)
    return EighResult(values, vectors)


def stacked_eigh(x, uplo):
    values = np.empty(x.shape[:-1], real_dtype(x.dtype))
    vectors = np.empty(x.shape, x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        each, columns = spectral.eigh(x[index], uplo)
        values[index] = each
        vectors[index] = columns
    return EighResult(values, vectors)


def eigvalsh(a, UPLO="L"):
    return eigh(a, UPLO)[0]


def slogdet(a):
    sign, log = linalg.slogdet(a)
    return SlogdetResult(sign, log)


def pinv(a, rcond=None, hermitian=False):
    x = as_array(a)
    if x.ndim <= 2:
        return spectral.pinv(x, rcond)
    work = linalg.float_matrix(x)
    out = np.empty(x.shape[:-2] + (x.shape[-1], x.shape[-2]), work.dtype)
    for index in np.ndindex(x.shape[:-2]):
        out[index] = spectral.pinv(work[index], rcond)
    return out


def cond(x, p=None):
    a = as_array(x)
    if a.ndim <= 2:
        return spectral.cond(a, p)
    work = linalg.float_matrix(a)
    out = np.empty(a.shape[:-2], real_dtype(work.dtype))
    for index in np.ndindex(a.shape[:-2]):
        out[index] = spectral.cond(work[index], p)
    return out


def matrix_rank(A, tol=None, hermitian=False):
    a = as_array(A)
    if a.ndim <= 2:
        return spectral.matrix_rank(a, tol)
    work = linalg.float_matrix(a)
    out = np.empty(a.shape[:-2], np.int64)
    for index in np.ndindex(a.shape[:-2]):
        out[index] = spectral.matrix_rank(work[index], tol)
    return out


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    a = as_array(x)
    if axis is None and a.ndim != 1:
        value = spectral.norm(a.reshape(-1), ord)
        return np.full((1,) * a.ndim, value) if keepdims else value
    return spectral.norm(a, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return spectral.norm(x, ord, (-2, -1), keepdims)


def trace(x, /, *, offset=0, dtype=None):
    return np.trace(x, offset, -2, -1, dtype)


def diagonal(x, /, *, offset=0):
    return np.diagonal(x, offset, -2, -1)


def cross(x1, x2, /, *, axis=-1):
    return np.cross(x1, x2, axis=axis)


def outer(x1, x2, /):
    a = as_array(x1)
    b = as_array(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={a.ndim} and x2.ndim={b.ndim}.")
    return a[:, None] * b


def multi_dot(arrays, *, out=None):
    """The product of several matrices, from left to right (NumPy looks for the cheapest order)."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    return product_of(as_array(arrays[0]), arrays[1:])


def product_of(left, rest):
    if len(rest) == 0:
        return left
    return product_of(matmul(left, as_array(rest[0])), rest[1:])
