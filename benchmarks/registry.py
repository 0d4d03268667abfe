"""Inputs, NumPy references and checks of each workload: `W[name]` is a `Workload`."""

from __future__ import annotations

import numpy as np

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64


class Workload:
    def __init__(
        self,
        name,
        func,
        make,
        outs,
        ref,
        rtol=1e-9,
        atol=0.0,
        par=True,
        inplace=False,
        nbytes=None,
        flops=None,
        numpy_natural=False,
        custom_check=None,
    ):
        self.name, self.func, self.make, self.outs, self.ref = name, func, make, outs, ref
        self.rtol, self.atol, self.par, self.inplace = rtol, atol, par, inplace
        self.nbytes, self.flops, self.numpy_natural = nbytes, flops, numpy_natural
        self.custom_check = custom_check
        self._references = {}

    def reference(self, scale):
        """The outputs that NumPy gives, kept in memory."""
        if scale not in self._references:
            self._references[scale] = [np.asarray(v) for v in self.ref(*self.make(scale))]
        return self._references[scale]

    def check(self, ret, args, scale):
        return self.check_outs(self.outs(ret, args), scale)

    def check_outs(self, outs, scale):
        got = [np.asarray(v) for v in outs]
        want = self.reference(scale)
        if self.custom_check:
            return self.custom_check(got, want)
        err = 0.0
        ok = len(got) == len(want)
        for g, w in zip(got, want):
            if g.shape != w.shape:
                return False, float("nan")
            if w.dtype.kind in "iub" and g.dtype.kind in "iub":
                bad = int(np.count_nonzero(g != w))
                err = max(err, bad / max(1, w.size))
                ok = ok and bad == 0 if self.rtol < 1e-2 else ok
            else:
                g = g.astype(np.complex128) if g.dtype.kind == "c" else g.astype(f64)
                w = w.astype(np.complex128) if w.dtype.kind == "c" else w.astype(f64)
                sc = np.max(np.abs(w)) if w.size else 1.0
                e = np.abs(g - w) / (np.abs(w) + 1e-3 * sc + 1e-300)
                m = float(np.max(e)) if e.size else 0.0
                err = max(err, m)
                ok = ok and bool(m <= self.rtol + self.atol)
        return bool(ok), err


W = {}


def add(name, func=None, **kw):
    W[name] = Workload(name, func or name, **kw)


def R(seed=0):
    return np.random.default_rng(seed + 12345)


def S(scale, full, small):
    return full if scale == "full" else small


# ---------------------------------------------------------------- streaming
for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = S(scale, 4_000_000, 4_000)
        r = R(1)
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
        n = S(scale, 1_000_000, 4_000)
        return [R(2).random(n).astype(dt)]

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
    n = S(scale, 1_000_000, 4_000)
    return [R(2).random(n), R(3).random(n)]


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
    n = S(scale, 1_000_000, 4_000)
    return [R(2).random(n).astype(f32), R(3).random(n).astype(f32)]


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
    return [R(4).standard_normal(S(scale, 1_000_000, 4_000))]


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
    x = R(4).standard_normal(S(scale, 1_000_000, 4_000)).astype(f32)
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
    n = S(scale, 2_000_000, 4_000)
    return [R(5).random(n), np.zeros(n)]


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
    n = S(scale, 2_000_000, 4_000)
    return [R(6).standard_normal(n), -4.0, 4.0, np.zeros(256, i64)]


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
        n = S(scale, 400_000, 1_000)
        r = R(9)
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


# ---------------------------------------------------------------- numpy-expression
def mk(scale):
    n = S(scale, 1_000_000, 4_000)
    r = R(11)
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
    n = S(scale, 20_000, 100)
    return [R(12).random((n, 64))]


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

# ---------------------------------------------------------------- dense LA
for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = S(scale, 512, 48)
        r = R(13)
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
    n = S(scale, 2048, 64)
    return [R(14).random((n, n)), np.zeros((n, n))]


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
        b = S(scale, batch, 20)
        r = R(15)
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
    b = S(scale, 20000, 50)
    M = R(17).standard_normal((b, 3, 3))
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
    b = S(scale, 2000, 20)
    n = 256
    r = R(18)
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
    g = S(scale, 128, 16)
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
    return [indptr, np.array(ind, i32), np.array(dat), R(19).random(n), np.zeros(n), 50]


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


# ---------------------------------------------------------------- stencils
def mk(scale):
    n = S(scale, 1024, 32)
    A = R(20).random((n, n))
    return [A, A.copy(), S(scale, 10, 2)]


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
        n = S(scale, 128, 12)
        A = R(21).random((n, n, n)).astype(dt)
        return [A, A.copy(), S(scale, 4, 1)]

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
    n = S(scale, 512, 32)
    A = (R(23).random((n, n)) < 0.3).astype(np.uint8)
    return [A, np.zeros_like(A), S(scale, 4, 2)]


def ref(A, B, steps):
    A = A.copy()
    for _ in range(steps):
        c = sum(np.roll(np.roll(A, di, 0), dj, 1) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)
        A = ((c == 3) | ((c == 2) & (A == 1))).astype(np.uint8)
    return [A]


add("life", make=mk, outs=lambda ret, a: [a[0]], ref=ref, inplace=True, numpy_natural=True)

# ---------------------------------------------------------------- particles
for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = S(scale, 2048, 64)
        r = R(27)
        return [r.random((n, 3)).astype(dt), r.random(n).astype(dt), np.zeros((n, 3), dt), dt(1e-3)]

    def ref(pos, mass, acc, eps):
        p = pos.astype(f64)
        acc = np.zeros(p.shape)
        for s in range(0, p.shape[0], 128):
            d = p[None] - p[s : s + 128, None]
            r2 = (d * d).sum(2) + float(eps)
            acc[s : s + 128] = ((mass / (r2 * np.sqrt(r2)))[:, :, None] * d).sum(1)
        return [acc]

    add(
        "nbody_" + tag,
        "nbody",
        make=mk,
        outs=lambda ret, a: [a[2]],
        ref=ref,
        rtol=1e-2 if dt is f32 else 1e-8,
        flops=lambda a: 20 * a[1].size ** 2,
        numpy_natural=True,
    )


def mk(scale):
    n = S(scale, 512, 32)
    r = R(28)
    return [r.random((n, 3)), r.random(n), np.zeros((n, 3)), 1e-3]


add("nbody_vec", make=mk, outs=lambda ret, a: [a[2]], ref=ref, rtol=1e-8, flops=lambda a: 20 * a[1].size ** 2)


def mk(scale):
    n = S(scale, 20000, 400)
    r = R(30)
    h = S(scale, 1 / 64, 1 / 10)
    g = int(1 / h)
    return [r.random((n, 2)), h, 1.0 / n, np.zeros(g * g + 1, i64), np.zeros(n, i64), np.zeros(n)]


def ref(pos, h, mass, start, order, rho):
    out = np.empty(pos.shape[0])
    norm = mass * 4 / (np.pi * h**8)
    for s in range(0, pos.shape[0], 500):
        d = pos[s : s + 500, None] - pos[None]
        r2 = (d * d).sum(2)
        out[s : s + 500] = norm * np.where(r2 < h * h, (h * h - r2) ** 3, 0).sum(1)
    return [out]


add("sph_density", make=mk, outs=lambda ret, a: [a[5]], ref=ref, rtol=1e-7)


def mk(scale):
    g = S(scale, 64, 8)
    n = g * g
    idx = np.arange(n).reshape(g, g)
    e = np.concatenate(
        [
            np.stack([a.ravel(), b.ravel()], 1)
            for a, b in (
                (idx[:, :-1], idx[:, 1:]),
                (idx[:-1], idx[1:]),
                (idx[:-1, :-1], idx[1:, 1:]),
                (idx[1:, :-1], idx[:-1, 1:]),
            )
        ]
    ).astype(i32)
    y, x = np.mgrid[:g, :g]
    p = np.stack([x.ravel() / g, y.ravel() / g, np.zeros(n)], 1)
    rest = np.linalg.norm(p[e[:, 0]] - p[e[:, 1]], axis=1)
    fixed = np.zeros(n, np.uint8)
    fixed[:g] = 1
    return [p, np.zeros((n, 3)), e, rest, fixed, 2000.0, 0.999, 1e-3, S(scale, 20, 5)]


def ref(x, v, e, rest, fixed, k, damp, dt, steps):
    x = x.copy()
    v = v.copy()
    for _ in range(steps):
        f = np.zeros_like(x)
        f[:, 2] = -9.81
        d = x[e[:, 1]] - x[e[:, 0]]
        L = np.linalg.norm(d, axis=1)
        s = (k * (L - rest) / L)[:, None] * d
        np.add.at(f, e[:, 0], s)
        np.add.at(f, e[:, 1], -s)
        m = fixed == 0
        v[m] = damp * (v[m] + dt * f[m])
        x[m] += dt * v[m]
    return [x, v]


add("mass_spring", make=mk, outs=lambda ret, a: [a[0], a[1]], ref=ref, rtol=1e-6, par=False, inplace=True)


def mk(scale):
    n = S(scale, 8192, 256)
    ng = S(scale, 128, 32)
    r = R(31)
    x = r.random((n, 2)) * 0.4 + 0.2
    return [
        x,
        np.stack([np.zeros(n), -np.ones(n)], 1),
        np.zeros((n, 2, 2)),
        np.ones(n),
        np.zeros((ng, ng, 2)),
        np.zeros((ng, ng)),
        2e-4,
        S(scale, 5, 5),
    ]


def ref(x, v, C, J, gv, gm, dt, steps):
    x = x.copy()
    v = v.copy()
    C = C.copy()
    J = J.copy()
    ng = gm.shape[0]
    dx = 1 / ng
    pv = (dx * 0.5) ** 2
    pm = pv
    E = 400.0
    for _ in range(steps):
        gv = np.zeros((ng, ng, 2))
        gm = np.zeros((ng, ng))
        b = (x / dx - 0.5).astype(int)
        fx = x / dx - b
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        st = -dt * 4 * E * pv * (J - 1) / (dx * dx)
        A = pm * C + st[:, None, None] * np.eye(2)
        for i in range(3):
            for j in range(3):
                dp = (np.array([i, j]) - fx) * dx
                wt = w[i][:, 0] * w[j][:, 1]
                np.add.at(gv, (b[:, 0] + i, b[:, 1] + j), wt[:, None] * (pm * v + np.einsum("nij,nj->ni", A, dp)))
                np.add.at(gm, (b[:, 0] + i, b[:, 1] + j), wt * pm)
        k = gm > 0
        gv[k] /= gm[k][:, None]
        gv[k, 1] -= dt * 9.8
        gv[:3, :, 0] = np.maximum(gv[:3, :, 0], 0)
        gv[ng - 2 :, :, 0] = np.minimum(gv[ng - 2 :, :, 0], 0)
        gv[:, :3, 1] = np.maximum(gv[:, :3, 1], 0)
        gv[:, ng - 2 :, 1] = np.minimum(gv[:, ng - 2 :, 1], 0)
        nv = np.zeros_like(v)
        nC = np.zeros_like(C)
        for i in range(3):
            for j in range(3):
                dp = (np.array([i, j]) - fx) * dx
                wt = w[i][:, 0] * w[j][:, 1]
                g = gv[b[:, 0] + i, b[:, 1] + j]
                nv += wt[:, None] * g
                nC += 4 * wt[:, None, None] * g[:, :, None] * dp[:, None, :] / (dx * dx)
        v = nv
        C = nC
        x = x + dt * v
        J = J * (1 + dt * (C[:, 0, 0] + C[:, 1, 1]))
    return [x, v, J]


add("mpm88", make=mk, outs=lambda ret, a: [a[0], a[1], a[3]], ref=ref, rtol=1e-6, inplace=True)
PDT = np.dtype([("x", f64), ("y", f64), ("vx", f64), ("vy", f64), ("fx", f64), ("fy", f64), ("m", f64)])


def mk(scale):
    n = S(scale, 200_000, 500)
    r = R(32)
    p = np.zeros(n, PDT)
    for k in PDT.names:
        p[k] = r.standard_normal(n)
    p["m"] = 1 + np.abs(p["m"])
    p["x"] = np.abs(p["x"])
    p["y"] = np.abs(p["y"])
    return [p.view(np.recarray), 0.01]


def ref(p, dt):
    p = p.copy()
    p["vx"] += dt * p["fx"] / p["m"]
    p["vy"] += dt * p["fy"] / p["m"]
    p["x"] += dt * p["vx"]
    p["y"] += dt * p["vy"]
    for a, b in (("x", "vx"), ("y", "vy")):
        k = p[a] < 0
        p[a][k] *= -1
        p[b][k] *= -1
    return [p[k].copy() for k in ("x", "y", "vx", "vy")]


add(
    "particles_rec",
    make=mk,
    outs=lambda ret, a: [a[0][k].copy() for k in ("x", "y", "vx", "vy")],
    ref=ref,
    rtol=1e-9,
    inplace=True,
    nbytes=lambda a: int(a[0].size * (7 + 4) * 8),
    numpy_natural=True,
)


# ---------------------------------------------------------------- robotics
def mk(scale):
    nb = S(scale, 1000, 30)
    m = S(scale, 4000, 80)
    r = R(33)
    a = r.integers(0, nb, m)
    b = (a + 1 + r.integers(0, nb - 1, m)) % nb
    q = np.linalg.qr(r.standard_normal((m, 3, 3)))[0]
    return [
        r.standard_normal((nb, 3)),
        a.astype(i32),
        b.astype(i32),
        q[:, 0].copy(),
        q[:, 1].copy(),
        0.5 + r.random(nb),
        0.1 * r.random(m),
        0.5,
        np.zeros((m, 2)),
        S(scale, 20, 4),
    ]


def ref(vel, ba, bb, nrm, tng, im_, bias, mu, lam, iters):
    vel = [list(map(float, v)) for v in vel]
    lam = [[0.0, 0.0] for _ in range(len(ba))]
    A = ba.tolist()
    B = bb.tolist()
    N = nrm.tolist()
    T = tng.tolist()
    IM = im_.tolist()
    BI = bias.tolist()
    for _ in range(iters):
        for c in range(len(A)):
            a = A[c]
            b = B[c]
            ia = IM[a]
            ib = IM[b]
            im = ia + ib
            va = vel[a]
            vb = vel[b]
            n = N[c]
            rel = sum(n[k] * (vb[k] - va[k]) for k in range(3))
            old = lam[c][0]
            new = max(0.0, old - (rel - BI[c]) / im)
            lam[c][0] = new
            d = new - old
            for k in range(3):
                va[k] -= ia * d * n[k]
                vb[k] += ib * d * n[k]
            n = T[c]
            rel = sum(n[k] * (vb[k] - va[k]) for k in range(3))
            old = lam[c][1]
            lim = mu * lam[c][0]
            new = min(max(old - rel / im, -lim), lim)
            lam[c][1] = new
            d = new - old
            for k in range(3):
                va[k] -= ia * d * n[k]
                vb[k] += ib * d * n[k]
    return [np.array(vel), np.array(lam)]


add("pgs", make=mk, outs=lambda ret, a: [a[0], a[8]], ref=ref, rtol=1e-6, par=False, inplace=True)


def mk(scale):
    b = S(scale, 20000, 50)
    r = R(34)
    ax = r.standard_normal((7, 3))
    ax /= np.linalg.norm(ax, axis=1)[:, None]
    return [r.uniform(-3, 3, (b, 7)), ax, r.random((7, 3)), np.zeros((b, 3))]


def ref(th, ax, of, tip):
    q = np.zeros((th.shape[0], 4))
    q[:, 0] = 1
    p = np.zeros((th.shape[0], 3))
    for j in range(th.shape[1]):
        h = 0.5 * th[:, j]
        r = np.concatenate([np.cos(h)[:, None], np.sin(h)[:, None] * ax[j]], 1)
        w = q[:, 0] * r[:, 0] - (q[:, 1:] * r[:, 1:]).sum(1)
        v = q[:, :1] * r[:, 1:] + r[:, :1] * q[:, 1:] + np.cross(q[:, 1:], r[:, 1:])
        q = np.concatenate([w[:, None], v], 1)
        t = 2 * np.cross(q[:, 1:], of[j][None])
        p = p + of[j] + q[:, :1] * t + np.cross(q[:, 1:], t)
    return [p]


add("fk_quat", make=mk, outs=lambda ret, a: [a[3]], ref=ref, rtol=1e-8, numpy_natural=True)


def mk(scale):
    n = S(scale, 4000, 50)
    return [1 + R(36).random((n, 3)), np.zeros((n, 3)), 0.005, S(scale, 100, 20)]


def ref(X, out, dt, steps):
    x, y, z = X[:, 0].copy(), X[:, 1].copy(), X[:, 2].copy()
    f = lambda x, y, z: (10.0 * (y - x), x * (28.0 - z) - y, x * y - (8.0 / 3.0) * z)
    for _ in range(steps):
        a1, b1, c1 = f(x, y, z)
        a2, b2, c2 = f(x + 0.5 * dt * a1, y + 0.5 * dt * b1, z + 0.5 * dt * c1)
        a3, b3, c3 = f(x + 0.5 * dt * a2, y + 0.5 * dt * b2, z + 0.5 * dt * c2)
        a4, b4, c4 = f(x + dt * a3, y + dt * b3, z + dt * c3)
        x = x + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y = y + dt / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        z = z + dt / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
    return [np.stack([x, y, z], 1)]


add(
    "lorenz_rk4",
    make=mk,
    outs=lambda ret, a: [a[1]],
    ref=ref,
    rtol=1e-6,
    flops=lambda a: a[0].shape[0] * a[3] * 75,
    numpy_natural=True,
)

# ---------------------------------------------------------------- transcendental
for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = S(scale, 1_000_000, 4_000)
        r = R(38)
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
        n = S(scale, 1_000_000, 4_000)
        return [R(39).uniform(0.01, 10, n).astype(dt), np.zeros(n, dt)]

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
    n = S(scale, 384, 32)
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


# ---------------------------------------------------------------- ints / sorting / misc
def mk(scale):
    return [S(scale, 100_000, 3_000)]


def ref(n):
    x = np.arange(1, n, dtype=i64)
    c = np.zeros(n - 1, i64)
    k = np.arange(n - 1)
    while True:
        k = k[x[k] != 1]
        if not k.size:
            break
        v = x[k]
        x[k] = np.where(v % 2 == 0, v // 2, 3 * v + 1)
        c[k] += 1
    b = c.max()
    return [np.int64((int(np.argmax(c)) + 1) * 1000 + b)]


add("collatz", make=mk, outs=lambda ret, a: [np.int64(ret)], ref=ref, par=False)


def mk(scale):
    n = S(scale, 1_000_000, 5_000)
    a = R(41).integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    return [a, np.zeros_like(a)]


add(
    "radix_sort",
    make=mk,
    outs=lambda ret, a: [a[0]],
    ref=lambda a, t: [np.sort(a)],
    par=False,
    inplace=True,
    numpy_natural=True,
)


def mk(scale):
    n = S(scale, 200_000, 5_000)
    a = R(42).random(n)
    return [a, np.zeros_like(a)]


add(
    "merge_sort",
    make=mk,
    outs=lambda ret, a: [a[0]],
    ref=lambda a, t: [np.sort(a)],
    par=False,
    inplace=True,
    numpy_natural=True,
)
