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

    @compiler.kernel
    def heat_slices(u, c, steps):
        for _ in range(steps):
            u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
        return u

    @compiler.kernel
    def distances_broadcast(x):
        d = x[:, None, :] - x[None, :, :]
        return np.sqrt((d**2).sum(axis=-1))

    @compiler.kernel
    def option_prices(S, K, T, rate, sigma):
        spread = sigma * np.sqrt(T)
        d1 = (np.log(S / K) + (rate + 0.5 * sigma**2) * T) / spread
        d2 = d1 - spread
        n1 = 1.0 / (1.0 + np.exp(-1.702 * d1))
        n2 = 1.0 / (1.0 + np.exp(-1.702 * d2))
        discounted = K * np.exp(-rate * T)
        call = S * n1 - discounted * n2
        put = discounted * (1.0 - n2) - S * (1.0 - n1)
        return call, put

    @compiler.kernel
    def residual_norms(a, b):
        d = a - b
        return np.sqrt((d**2).sum()), np.max(np.abs(d)), np.abs(d).sum()


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


def mk(scale):
    n = size(scale, 400, 12)
    return [rng(13).random((n, n)), 0.2, size(scale, 20, 3)]


def ref(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return [u]


add("heat_slices", make=mk, outs=lambda ret, a: [ret], ref=ref, par=False, inplace=True, numpy_natural=True)


def mk(scale):
    return [rng(14).random((size(scale, 600, 10), 3))]


add(
    "distances_broadcast",
    make=mk,
    outs=lambda ret, a: [ret],
    ref=lambda x: [np.sqrt(((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=-1))],
    numpy_natural=True,
)


def mk(scale):
    n = size(scale, 200_000, 100)
    r = rng(15)
    return [0.5 + r.random(n), 0.5 + r.random(n), 0.1 + r.random(n), 0.02, 0.3]


def ref(S, K, T, rate, sigma):
    d1 = (np.log(S / K) + (rate + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    n1, n2 = 1.0 / (1.0 + np.exp(-1.702 * d1)), 1.0 / (1.0 + np.exp(-1.702 * (d1 - sigma * np.sqrt(T))))
    discounted = K * np.exp(-rate * T)
    return [S * n1 - discounted * n2, discounted * (1.0 - n2) - S * (1.0 - n1)]


add("option_prices", make=mk, outs=lambda ret, a: list(ret), ref=ref, rtol=1e-8, numpy_natural=True)


def mk(scale):
    n = size(scale, 200_000, 100)
    return [rng(16).random(n), rng(17).random(n)]


add(
    "residual_norms",
    make=mk,
    outs=lambda ret, a: list(ret),
    ref=lambda a, b: [np.sqrt(((a - b) ** 2).sum()), np.max(np.abs(a - b)), np.abs(a - b).sum()],
    numpy_natural=True,
)
