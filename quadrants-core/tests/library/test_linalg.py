"""Linear algebra: against NumPy where the answer is unique, else by what defines it."""

from __future__ import annotations

import numpy as np
import pytest
from library.modes import check, compiled, sample

from quadrants.library import registry

DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))


def square(dtype, n, seed=0):
    return sample(dtype, (n, n), seed) + 3 * np.eye(n, dtype=dtype)


def positive(dtype, n):
    a = sample(dtype, (n, n))
    return (a @ a.conj().T + n * np.eye(n, dtype=dtype)).astype(dtype)


def tolerance(dtype):
    return 2e-4 if dtype.itemsize in (4,) or dtype == np.complex64 else 1e-10


def call(mode, original, *args, **kwargs):
    if mode == "python":
        return registry.lookup(registry.key_of(original))(*args, **kwargs)
    return compiled(original, args, kwargs)(*args)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lu(mode, dtype):
    for n in (1, 2, 5) if mode == "python" else (4,):
        a = square(dtype, n)
        r = tolerance(dtype)
        check(mode, np.linalg.det, a, rtol=r)
        check(mode, np.linalg.slogdet, a, rtol=r, kinds=False)
        check(mode, np.linalg.inv, a, rtol=r, atol=r)
        check(mode, np.linalg.solve, a, sample(dtype, (n,)), rtol=r, atol=r)
        check(mode, np.linalg.solve, a, sample(dtype, (n, 3)), rtol=r, atol=r)
        check(mode, np.linalg.cholesky, positive(dtype, n), rtol=r, atol=r)


def test_stacks(mode):
    a = np.stack([square(np.dtype(float), 3, s) for s in range(4)]).reshape(2, 2, 3, 3)
    check(mode, np.linalg.det, a, rtol=1e-10)
    check(mode, np.linalg.inv, a, rtol=1e-10, atol=1e-12)
    check(mode, np.linalg.solve, a, np.ones((3, 2)), rtol=1e-10, atol=1e-12)
    check(mode, np.linalg.cholesky, np.matmul(a, a.transpose(0, 1, 3, 2)), rtol=1e-9, atol=1e-12)
    check(mode, np.linalg.det, np.ones((0, 0)))
    check(mode, np.linalg.inv, np.arange(1, 5).reshape(2, 2))


def test_errors(mode):
    check(mode, np.linalg.inv, np.zeros((2, 2)))
    check(mode, np.linalg.solve, np.ones((2, 2)), np.ones(2))
    check(mode, np.linalg.solve, np.eye(2), np.ones((3, 1)))
    check(mode, np.linalg.det, np.ones((2, 3)))
    check(mode, np.linalg.cholesky, np.array([[1.0, 2.0], [2.0, 1.0]]))
    check(mode, np.linalg.matrix_power, np.ones((2, 3)), 2)
    check(mode, np.linalg.det, np.zeros((2, 2)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", ((3, 3), (5, 3), (3, 5), (1, 4)), ids=str)
def test_qr(mode, dtype, shape):
    a = sample(dtype, shape)
    check(mode, np.linalg.qr, a, rtol=tolerance(dtype), atol=tolerance(dtype), kinds=False)
    if mode == "python":
        check(mode, np.linalg.qr, a, mode="complete", rtol=tolerance(dtype), atol=tolerance(dtype), kinds=False)
        check(mode, np.linalg.qr, a, mode="r", rtol=tolerance(dtype), atol=tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_eigh(mode, dtype):
    a = positive(dtype, 5)
    r = tolerance(dtype)
    values, vectors = call(mode, np.linalg.eigh, a)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), rtol=r)
    np.testing.assert_allclose(a @ vectors, vectors * values, atol=r * 100)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(5), atol=r)
    check(mode, np.linalg.eigvalsh, a, rtol=r)
    check(mode, np.linalg.eigvalsh, a, UPLO="U", rtol=r)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", ((3, 3), (5, 3), (3, 5)), ids=str)
def test_svd(mode, dtype, shape):
    a = sample(dtype, shape)
    r = tolerance(dtype)
    for full in (True, False):
        u, s, vh = call(mode, np.linalg.svd, a, full_matrices=full)
        np.testing.assert_allclose(s, np.linalg.svd(a)[1], rtol=r)
        k = s.shape[0]
        assert u.shape == (shape[0], shape[0] if full else k) and vh.shape == (shape[1] if full else k, shape[1])
        np.testing.assert_allclose(u[:, :k] * s @ vh[:k], a, atol=r * 10)
        np.testing.assert_allclose(u.conj().T @ u, np.eye(u.shape[1]), atol=r)
        np.testing.assert_allclose(vh @ vh.conj().T, np.eye(vh.shape[0]), atol=r)
    check(mode, np.linalg.svd, a, compute_uv=False, rtol=r)


def test_deficient_matrices(mode):
    a = np.outer(np.arange(1.0, 5.0), np.array([1.0, 2.0, 3.0]))
    u, s, vh = call(mode, np.linalg.svd, a)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(u[:, :3] * s @ vh, a, atol=1e-12)
    assert call(mode, np.linalg.matrix_rank, a) == 1
    check(mode, np.linalg.pinv, a, rtol=1e-10, atol=1e-12)


def test_norms(mode):
    for dtype in DTYPES[1::2]:
        a = sample(dtype, (3, 4))
        for order in (None, "fro", 1, -1, np.inf, -np.inf, 2, -2, "nuc"):
            check(mode, np.linalg.norm, a, ord=order, rtol=1e-12)
        for order in (None, 0, 1, 2, 3, np.inf, -np.inf, 0.5):
            check(mode, np.linalg.norm, a[0], ord=order, rtol=1e-12)
            check(mode, np.linalg.norm, a, ord=order, axis=1, rtol=1e-12)
        check(mode, np.linalg.norm, a, axis=0, keepdims=True, rtol=1e-12)
        check(mode, np.linalg.norm, a, axis=(0, 1), rtol=1e-12)
        check(mode, np.linalg.norm, a, keepdims=True, rtol=1e-12)
    check(mode, np.linalg.norm, np.arange(4))
    check(mode, np.linalg.norm, np.ones((2, 3, 4)), ord=2, axis=(1, 2), rtol=1e-12)


def test_rest(mode):
    a = square(np.dtype(float), 4)
    for n in (-2, 0, 1, 5):
        check(mode, np.linalg.matrix_power, a, n, rtol=1e-9, atol=1e-9)
    check(mode, np.linalg.cond, a, rtol=1e-9)
    check(mode, np.linalg.cond, a, p=1, rtol=1e-9)
    check(mode, np.linalg.pinv, sample(np.dtype(float), (3, 5)), rtol=1e-9, atol=1e-9)
    b = sample(np.dtype(float), (6, 3))
    for right in (sample(np.dtype(float), (6,)), sample(np.dtype(float), (6, 2))):
        check(mode, np.linalg.lstsq, b, right, rtol=1e-9, kinds=False)
