"""Stencils on grids.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, f32, f64, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    prange = compiler.prange

    @compiler.kernel
    def jacobi2d(A, B, steps):
        n = A.shape[0]
        m = A.shape[1]
        for _ in range(steps):
            for i in prange(1, n - 1):
                for j in range(1, m - 1):
                    B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
            for i in prange(1, n - 1):
                for j in range(1, m - 1):
                    A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i - 1, j] + B[i + 1, j])

    @compiler.kernel
    def heat3d(A, B, steps):
        n = A.shape[0]
        for _ in range(steps):
            for i in prange(1, n - 1):
                for j in range(1, n - 1):
                    for k in range(1, n - 1):
                        B[i, j, k] = (
                            A[i, j, k]
                            + 0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                            + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                            + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        )
            for i in prange(1, n - 1):
                for j in range(1, n - 1):
                    for k in range(1, n - 1):
                        A[i, j, k] = (
                            B[i, j, k]
                            + 0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                            + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                            + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        )

    @compiler.kernel
    def life(A, B, steps):
        n = A.shape[0]
        m = A.shape[1]
        for _ in range(steps):
            for i in prange(n):
                for j in range(m):
                    c = 0
                    for di in range(-1, 2):
                        for dj in range(-1, 2):
                            if di != 0 or dj != 0:
                                c += A[(i + di) % n, (j + dj) % m]
                    if c == 3 or (c == 2 and A[i, j] == 1):
                        B[i, j] = 1
                    else:
                        B[i, j] = 0
            for i in prange(n):
                for j in range(m):
                    A[i, j] = B[i, j]


def mk(scale):
    n = size(scale, 1024, 32)
    A = rng(20).random((n, n))
    return [A, A.copy(), size(scale, 10, 2)]


def ref(A, B, steps):
    A = A.copy()
    B = B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[:-2, 1:-1] + A[2:, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[:-2, 1:-1] + B[2:, 1:-1])
    return [A]


add(
    "jacobi2d",
    make=mk,
    outs=lambda ret, a: [a[0]],
    ref=ref,
    rtol=1e-9,
    inplace=True,
    nbytes=lambda a: 2 * a[2] * 2 * a[0].nbytes,
    flops=lambda a: 2 * a[2] * 5 * a[0].size,
    numpy_natural=True,
)
for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = size(scale, 128, 12)
        A = rng(21).random((n, n, n)).astype(dt)
        return [A, A.copy(), size(scale, 4, 1)]

    def ref(A, B, steps):
        A = A.copy()
        B = B.copy()

        def lap(X):
            c = X[1:-1, 1:-1, 1:-1]
            return (
                c
                + 0.125 * (X[2:, 1:-1, 1:-1] - 2 * c + X[:-2, 1:-1, 1:-1])
                + 0.125 * (X[1:-1, 2:, 1:-1] - 2 * c + X[1:-1, :-2, 1:-1])
                + 0.125 * (X[1:-1, 1:-1, 2:] - 2 * c + X[1:-1, 1:-1, :-2])
            )

        for _ in range(steps):
            B[1:-1, 1:-1, 1:-1] = lap(A)
            A[1:-1, 1:-1, 1:-1] = lap(B)
        return [A]

    add(
        "heat3d_" + tag,
        "heat3d",
        make=mk,
        outs=lambda ret, a: [a[0]],
        ref=ref,
        rtol=1e-3 if dt is f32 else 1e-9,
        inplace=True,
        nbytes=lambda a: 2 * a[2] * 2 * a[0].nbytes,
        flops=lambda a: 2 * a[2] * 13 * a[0].size,
        numpy_natural=True,
    )


def mk(scale):
    n = size(scale, 512, 32)
    A = (rng(23).random((n, n)) < 0.3).astype(np.uint8)
    return [A, np.zeros_like(A), size(scale, 4, 2)]


def ref(A, B, steps):
    A = A.copy()
    for _ in range(steps):
        c = sum(np.roll(np.roll(A, di, 0), dj, 1) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)
        A = ((c == 3) | ((c == 2) & (A == 1))).astype(np.uint8)
    return [A]


add("life", make=mk, outs=lambda ret, a: [a[0]], ref=ref, inplace=True, numpy_natural=True)
