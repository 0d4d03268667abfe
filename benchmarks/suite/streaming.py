"""Streams over long vectors, and reductions.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, f32, f64, i64, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    prange = compiler.prange

    @compiler.kernel
    def saxpy(a, x, y, out):
        for i in prange(x.shape[0]):
            out[i] = a * x[i] + y[i]

    @compiler.kernel
    def sum1(x):
        s = 0.0
        for i in prange(x.shape[0]):
            s += x[i]
        return s

    @compiler.kernel
    def dot(x, y):
        s = 0.0
        for i in prange(x.shape[0]):
            s += x[i] * y[i]
        return s

    @compiler.kernel
    def dot_f32acc(x, y):
        s = np.float32(0.0)
        for i in prange(x.shape[0]):
            s += x[i] * y[i]
        return s

    @compiler.kernel
    def minmax(x):
        lo = x[0]
        hi = x[0]
        for i in range(x.shape[0]):
            if x[i] < lo:
                lo = x[i]
            if x[i] > hi:
                hi = x[i]
        return lo, hi

    @compiler.kernel
    def argmax(x):
        best = x[0]
        k = 0
        for i in range(1, x.shape[0]):
            if x[i] > best:
                best = x[i]
                k = i
        return k

    @compiler.kernel
    def prefix_sum(x, out):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
            out[i] = s

    @compiler.kernel
    def histogram(x, lo, hi, counts):
        nb_ = counts.shape[0]
        for i in range(nb_):
            counts[i] = 0
        for i in range(x.shape[0]):
            k = int((x[i] - lo) / (hi - lo) * nb_)
            if k >= 0 and k < nb_:
                counts[k] += 1

    @compiler.kernel
    def vec3_integrate(x, v, f, m, dt, xo, vo):
        for i in prange(x.shape[0]):
            for k in range(3):
                vo[i, k] = v[i, k] + dt * f[i, k] / m[i]
                xo[i, k] = x[i, k] + dt * vo[i, k]


for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = size(scale, 4_000_000, 4_000)
        r = rng(1)
        return [dt(1.5), r.standard_normal(n).astype(dt), r.standard_normal(n).astype(dt), np.zeros(n, dt)]

    add(
        "saxpy_" + tag,
        "saxpy",
        make=mk,
        outs=lambda ret, a: [a[3]],
        ref=lambda a, x, y, o: [a * x + y],
        rtol=1e-4 if dt is f32 else 1e-11,
        nbytes=lambda a: 3 * a[1].nbytes,
        flops=lambda a: 2 * a[1].size,
        numpy_natural=True,
    )

    def mk(scale, dt=dt):
        n = size(scale, 1_000_000, 4_000)
        return [rng(2).random(n).astype(dt)]

    add(
        "sum_" + tag,
        "sum1",
        make=mk,
        outs=lambda ret, a: [ret],
        ref=lambda x: [np.sum(x, dtype=f64)],
        rtol=1e-5 if dt is f32 else 1e-10,
        nbytes=lambda a: a[0].nbytes,
        flops=lambda a: a[0].size,
        numpy_natural=True,
    )


def mk(scale):
    n = size(scale, 1_000_000, 4_000)
    return [rng(2).random(n), rng(3).random(n)]


add(
    "dot_f64",
    "dot",
    make=mk,
    outs=lambda ret, a: [ret],
    ref=lambda x, y: [np.dot(x, y)],
    rtol=1e-10,
    nbytes=lambda a: 2 * a[0].nbytes,
    flops=lambda a: 2 * a[0].size,
    numpy_natural=True,
)


def mk(scale):
    n = size(scale, 1_000_000, 4_000)
    return [rng(2).random(n).astype(f32), rng(3).random(n).astype(f32)]


add(
    "dot_f32acc",
    make=mk,
    outs=lambda ret, a: [ret],
    ref=lambda x, y: [np.dot(x.astype(f64), y.astype(f64))],
    rtol=3e-3,
    nbytes=lambda a: 2 * a[0].nbytes,
    flops=lambda a: 2 * a[0].size,
    numpy_natural=True,
)


def mk(scale):
    return [rng(4).standard_normal(size(scale, 1_000_000, 4_000))]


add(
    "minmax_f64",
    "minmax",
    make=mk,
    outs=lambda ret, a: [ret[0], ret[1]],
    ref=lambda x: [x.min(), x.max()],
    par=False,
    nbytes=lambda a: a[0].nbytes,
    numpy_natural=True,
)


def mk(scale):
    x = rng(4).standard_normal(size(scale, 1_000_000, 4_000)).astype(f32)
    x[int(0.77 * x.size)] = 99.0
    return [x]


add(
    "argmax_f32",
    "argmax",
    make=mk,
    outs=lambda ret, a: [np.int64(ret)],
    ref=lambda x: [np.int64(np.argmax(x))],
    par=False,
    nbytes=lambda a: a[0].nbytes,
    numpy_natural=True,
)


def mk(scale):
    n = size(scale, 2_000_000, 4_000)
    return [rng(5).random(n), np.zeros(n)]


add(
    "prefix_sum",
    make=mk,
    outs=lambda ret, a: [a[1]],
    ref=lambda x, o: [np.cumsum(x)],
    par=False,
    rtol=1e-9,
    nbytes=lambda a: 2 * a[0].nbytes,
    numpy_natural=True,
)


def mk(scale):
    n = size(scale, 2_000_000, 4_000)
    return [rng(6).standard_normal(n), -4.0, 4.0, np.zeros(256, i64)]


def ref(x, lo, hi, c):
    k = (x - lo) / (hi - lo) * c.size
    k = np.trunc(k).astype(i64)
    k = k[(k >= 0) & (k < c.size)]
    return [np.bincount(k, minlength=c.size)]


def hist_check(got, want):
    d = int(np.abs(got[0].astype(i64) - want[0].astype(i64)).sum())
    return d <= 20, float(d)


add(
    "histogram",
    make=mk,
    outs=lambda ret, a: [a[3]],
    ref=ref,
    par=False,
    custom_check=hist_check,
    nbytes=lambda a: a[0].nbytes,
    numpy_natural=True,
)


for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = size(scale, 400_000, 1_000)
        r = rng(9)
        g = lambda: r.standard_normal((n, 3)).astype(dt)
        return [g(), g(), g(), (1 + r.random(n)).astype(dt), dt(0.01), np.zeros((n, 3), dt), np.zeros((n, 3), dt)]

    def ref(x, v, f, m, dt_, xo, vo):
        vo = v + dt_ * f / m[:, None]
        return [x + dt_ * vo, vo]

    add(
        "vec3_integrate_" + tag,
        "vec3_integrate",
        make=mk,
        outs=lambda ret, a: [a[5], a[6]],
        ref=ref,
        rtol=1e-4 if dt is f32 else 1e-10,
        nbytes=lambda a: 5 * a[0].nbytes + a[3].nbytes,
        numpy_natural=True,
    )
