"""Expressions of whole arrays, as NumPy users write them.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    prange = compiler.prange

    @compiler.kernel
    def array_expr(x, y, z):
        return np.sqrt(x * x + y * y + z * z) + (x - y) / (1.0 + z * z)

    @compiler.kernel
    def row_normalize(A):
        B = np.empty_like(A)
        for i in prange(A.shape[0]):
            r = A[i] - np.mean(A[i])
            B[i] = r / np.sqrt(np.sum(r * r))
        return B


def mk(scale):
    n = size(scale, 1_000_000, 4_000)
    r = rng(11)
    return [r.random(n), r.random(n), r.random(n)]


add(
    "array_expr",
    make=mk,
    outs=lambda ret, a: [ret],
    ref=lambda x, y, z: [np.sqrt(x * x + y * y + z * z) + (x - y) / (1.0 + z * z)],
    rtol=1e-9,
    nbytes=lambda a: 4 * a[0].nbytes,
    numpy_natural=True,
)


def mk(scale):
    n = size(scale, 20_000, 100)
    return [rng(12).random((n, 64))]


def ref(A):
    r = A - A.mean(1, keepdims=True)
    return [r / np.sqrt((r * r).sum(1, keepdims=True))]


add(
    "row_normalize",
    make=mk,
    outs=lambda ret, a: [ret],
    ref=ref,
    rtol=1e-8,
    nbytes=lambda a: 2 * a[0].nbytes,
    numpy_natural=True,
)
