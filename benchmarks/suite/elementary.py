"""Elementary functions, element by element.

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
    def sinexp(x, y, out):
        for i in prange(x.shape[0]):
            out[i] = np.sin(x[i]) * np.exp(-y[i])

    @compiler.kernel
    def powmap(x, out):
        for i in prange(x.shape[0]):
            out[i] = x[i] ** 1.7

    @compiler.kernel
    def mandelbrot(maxit, out):
        h = out.shape[0]
        w = out.shape[1]
        for i in prange(h):
            for j in range(w):
                cr = -2.0 + 3.0 * j / w
                ci = -1.5 + 3.0 * i / h
                zr = 0.0
                zi = 0.0
                it = 0
                while it < maxit and zr * zr + zi * zi < 4.0:
                    t = zr * zr - zi * zi + cr
                    zi = 2.0 * zr * zi + ci
                    zr = t
                    it += 1
                out[i, j] = it


for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = size(scale, 1_000_000, 4_000)
        r = rng(38)
        return [r.uniform(-10, 10, n).astype(dt), r.uniform(0, 5, n).astype(dt), np.zeros(n, dt)]

    add(
        "sinexp_" + tag,
        "sinexp",
        make=mk,
        outs=lambda ret, a: [a[2]],
        ref=lambda x, y, o: [np.sin(x.astype(f64)) * np.exp(-y.astype(f64))],
        rtol=2e-3 if dt is f32 else 1e-9,
        numpy_natural=True,
    )

    def mk(scale, dt=dt):
        n = size(scale, 1_000_000, 4_000)
        return [rng(39).uniform(0.01, 10, n).astype(dt), np.zeros(n, dt)]

    add(
        "pow_" + tag,
        "powmap",
        make=mk,
        outs=lambda ret, a: [a[1]],
        ref=lambda x, o: [x.astype(f64) ** 1.7],
        rtol=2e-4 if dt is f32 else 1e-9,
        numpy_natural=True,
    )


def mk(scale):
    n = size(scale, 384, 32)
    return [100, np.zeros((n, n), i32)]


def ref(maxit, out):
    h, w = out.shape
    j = np.arange(w)
    i = np.arange(h)[:, None]
    cr = -2.0 + 3.0 * j / w + 0 * i
    ci = -1.5 + 3.0 * i / h + 0 * j
    zr = np.zeros((h, w))
    zi = np.zeros((h, w))
    it = np.zeros((h, w), i32)
    for _ in range(maxit):
        k = zr * zr + zi * zi < 4.0
        t = zr * zr - zi * zi + cr
        zi = np.where(k, 2 * zr * zi + ci, zi)
        zr = np.where(k, t, zr)
        it += k
    return [it]


def mandel_check(g, w):
    d = float(np.mean(g[0] != w[0]))
    return d < 5e-3, d


add("mandelbrot", make=mk, outs=lambda ret, a: [a[1]], ref=ref, custom_check=mandel_check)
