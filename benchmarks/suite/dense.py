"""Dense and sparse linear algebra.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, f32, f64, i32, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    prange = compiler.prange

    @compiler.kernel
    def matmul(A, B, C):
        for i in prange(A.shape[0]):
            for j in range(B.shape[1]):
                acc = 0.0
                for k in range(A.shape[1]):
                    acc += A[i, k] * B[k, j]
                C[i, j] = acc

    @compiler.kernel
    def transpose(A, B):
        for i in prange(A.shape[0]):
            for j in range(A.shape[1]):
                B[j, i] = A[i, j]

    @compiler.kernel
    def chol_solve(A, b, x):
        n = b.shape[1]
        for s in prange(b.shape[0]):
            L = np.zeros((n, n))
            y = np.zeros(n)
            for j in range(n):
                d = A[s, j, j]
                for k in range(j):
                    d -= L[j, k] * L[j, k]
                L[j, j] = np.sqrt(d)
                for i in range(j + 1, n):
                    t = A[s, i, j]
                    for k in range(j):
                        t -= L[i, k] * L[j, k]
                    L[i, j] = t / L[j, j]
            for i in range(n):
                t = b[s, i]
                for k in range(i):
                    t -= L[i, k] * y[k]
                y[i] = t / L[i, i]
            for i in range(n - 1, -1, -1):
                t = y[i]
                for k in range(i + 1, n):
                    t -= L[k, i] * x[s, k]
                x[s, i] = t / L[i, i]

    @compiler.kernel
    def eig3(M, W):
        for s in prange(M.shape[0]):
            A = M[s].copy()
            for _ in range(5):
                for p in range(2):
                    for q in range(p + 1, 3):
                        if abs(A[p, q]) > 1e-14:
                            th = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                            t = 1.0 / (abs(th) + np.sqrt(th * th + 1.0))
                            if th < 0.0:
                                t = -t
                            c = 1.0 / np.sqrt(t * t + 1.0)
                            sn = t * c
                            for k in range(3):
                                akp = A[k, p]
                                akq = A[k, q]
                                A[k, p] = c * akp - sn * akq
                                A[k, q] = sn * akp + c * akq
                            for k in range(3):
                                apk = A[p, k]
                                aqk = A[q, k]
                                A[p, k] = c * apk - sn * aqk
                                A[q, k] = sn * apk + c * aqk
            w0 = A[0, 0]
            w1 = A[1, 1]
            w2 = A[2, 2]
            if w0 > w1:
                w0, w1 = w1, w0
            if w1 > w2:
                w1, w2 = w2, w1
            if w0 > w1:
                w0, w1 = w1, w0
            W[s, 0] = w0
            W[s, 1] = w1
            W[s, 2] = w2

    @compiler.kernel
    def thomas(a, b, c, d, x):
        n = b.shape[1]
        for s in prange(b.shape[0]):
            cp = np.empty(n)
            dp = np.empty(n)
            cp[0] = c[s, 0] / b[s, 0]
            dp[0] = d[s, 0] / b[s, 0]
            for i in range(1, n):
                m = b[s, i] - a[s, i] * cp[i - 1]
                cp[i] = c[s, i] / m
                dp[i] = (d[s, i] - a[s, i] * dp[i - 1]) / m
            x[s, n - 1] = dp[n - 1]
            for i in range(n - 2, -1, -1):
                x[s, i] = dp[i] - cp[i] * x[s, i + 1]

    @compiler.kernel
    def cg_csr(indptr, indices, data, b, x, iters):
        n = b.shape[0]
        r = b.copy()
        p = b.copy()
        Ap = np.zeros(n)
        x[:] = 0.0
        rs = 0.0
        for i in prange(n):
            rs += r[i] * r[i]
        for _ in range(iters):
            for i in prange(n):
                acc = 0.0
                for k in range(indptr[i], indptr[i + 1]):
                    acc += data[k] * p[indices[k]]
                Ap[i] = acc
            pAp = 0.0
            for i in prange(n):
                pAp += p[i] * Ap[i]
            alpha = rs / pAp
            for i in prange(n):
                x[i] += alpha * p[i]
                r[i] -= alpha * Ap[i]
            rs2 = 0.0
            for i in prange(n):
                rs2 += r[i] * r[i]
            beta = rs2 / rs
            rs = rs2
            for i in prange(n):
                p[i] = r[i] + beta * p[i]
        return rs


for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = size(scale, 512, 48)
        r = rng(13)
        return [r.random((n, n)).astype(dt), r.random((n, n)).astype(dt), np.zeros((n, n), dt)]

    add(
        "matmul_" + tag,
        "matmul",
        make=mk,
        outs=lambda ret, a: [a[2]],
        ref=lambda A, B, C: [A @ B],
        rtol=1e-4 if dt is f32 else 1e-10,
        flops=lambda a: 2 * a[0].shape[0] ** 3,
        numpy_natural=True,
    )


def mk(scale):
    n = size(scale, 2048, 64)
    return [rng(14).random((n, n)), np.zeros((n, n))]


add(
    "transpose",
    make=mk,
    outs=lambda ret, a: [a[1]],
    ref=lambda A, B: [A.T.copy()],
    nbytes=lambda a: 2 * a[0].nbytes,
    numpy_natural=True,
)

for n, batch in ((6, 20000), (30, 800)):

    def mk(scale, n=n, batch=batch):
        b = size(scale, batch, 20)
        r = rng(15)
        M = r.standard_normal((b, n, n))
        A = M @ M.transpose(0, 2, 1) + n * np.eye(n)
        return [A, r.standard_normal((b, n)), np.zeros((b, n))]

    add(
        "chol_solve_%d" % n,
        "chol_solve",
        make=mk,
        outs=lambda ret, a: [a[2]],
        ref=lambda A, b, x: [np.linalg.solve(A, b[:, :, None])[:, :, 0]],
        rtol=1e-7,
        flops=lambda a: a[0].shape[0] * (a[0].shape[1] ** 3 / 3 + 2 * a[0].shape[1] ** 2),
        numpy_natural=True,
    )


def mk(scale):
    b = size(scale, 20000, 50)
    M = rng(17).standard_normal((b, 3, 3))
    return [M + M.transpose(0, 2, 1), np.zeros((b, 3))]


add(
    "eig3",
    make=mk,
    outs=lambda ret, a: [a[1]],
    ref=lambda M, Wv: [np.linalg.eigvalsh(M)],
    rtol=1e-6,
    numpy_natural=True,
)


def mk(scale):
    b = size(scale, 2000, 20)
    n = 256
    r = rng(18)
    return [r.random((b, n)), 3.0 + r.random((b, n)), r.random((b, n)), r.random((b, n)), np.zeros((b, n))]


def ref(a, b, c, d, x):
    n = b.shape[1]
    cp = np.empty_like(b)
    dp = np.empty_like(b)
    x = np.empty_like(b)
    cp[:, 0] = c[:, 0] / b[:, 0]
    dp[:, 0] = d[:, 0] / b[:, 0]
    for i in range(1, n):
        m = b[:, i] - a[:, i] * cp[:, i - 1]
        cp[:, i] = c[:, i] / m
        dp[:, i] = (d[:, i] - a[:, i] * dp[:, i - 1]) / m
    x[:, -1] = dp[:, -1]
    for i in range(n - 2, -1, -1):
        x[:, i] = dp[:, i] - cp[:, i] * x[:, i + 1]
    return [x]


add(
    "thomas",
    make=mk,
    outs=lambda ret, a: [a[4]],
    ref=ref,
    rtol=1e-8,
    nbytes=lambda a: 5 * a[0].nbytes,
    numpy_natural=True,
)


def mk(scale):
    g = size(scale, 128, 16)
    n = g * g
    idx = np.arange(n).reshape(g, g)
    rows = [[] for _ in range(n)]
    for y in range(g):
        for x in range(g):
            i = y * g + x
            lst = []
            if y > 0:
                lst.append((i - g, -1.0))
            if x > 0:
                lst.append((i - 1, -1.0))
            lst.append((i, 4.0))
            if x < g - 1:
                lst.append((i + 1, -1.0))
            if y < g - 1:
                lst.append((i + g, -1.0))
            rows[i] = lst
    indptr = np.zeros(n + 1, i32)
    ind = []
    dat = []
    for i, lst in enumerate(rows):
        indptr[i + 1] = indptr[i] + len(lst)
        for j, v in lst:
            ind.append(j)
            dat.append(v)
    return [indptr, np.array(ind, i32), np.array(dat), rng(19).random(n), np.zeros(n), 50]


def ref(indptr, ind, dat, b, x, iters):
    x = np.zeros_like(b)
    r = b.copy()
    p = b.copy()
    rs = r @ r
    for _ in range(iters):
        Ap = np.add.reduceat(dat * p[ind], indptr[:-1])
        al = rs / (p @ Ap)
        x = x + al * p
        r = r - al * Ap
        rs2 = r @ r
        p = r + rs2 / rs * p
        rs = rs2
    return [x]


add("cg_csr", make=mk, outs=lambda ret, a: [a[4]], ref=ref, rtol=1e-6, numpy_natural=True)
