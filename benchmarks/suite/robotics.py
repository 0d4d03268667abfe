"""Rigid bodies and robots: contacts, kinematics, integration.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, i32, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    prange = compiler.prange

    @compiler.kernel
    def pgs(vel, ba, bb, normal, tang, imass, bias, mu, lam, iters):
        m = ba.shape[0]
        for c in range(m):
            lam[c, 0] = 0.0
            lam[c, 1] = 0.0
        for _ in range(iters):
            for c in range(m):
                a = ba[c]
                b = bb[c]
                im = imass[a] + imass[b]
                rel = 0.0
                for k in range(3):
                    rel += normal[c, k] * (vel[b, k] - vel[a, k])
                old = lam[c, 0]
                lam[c, 0] = max(0.0, old - (rel - bias[c]) / im)
                d = lam[c, 0] - old
                for k in range(3):
                    vel[a, k] -= imass[a] * d * normal[c, k]
                    vel[b, k] += imass[b] * d * normal[c, k]
                rel = 0.0
                for k in range(3):
                    rel += tang[c, k] * (vel[b, k] - vel[a, k])
                old = lam[c, 1]
                lim = mu * lam[c, 0]
                lam[c, 1] = min(max(old - rel / im, -lim), lim)
                d = lam[c, 1] - old
                for k in range(3):
                    vel[a, k] -= imass[a] * d * tang[c, k]
                    vel[b, k] += imass[b] * d * tang[c, k]

    @compiler.njit
    def qmul(a, b):
        return (
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        )

    @compiler.njit
    def qrot(q, v):
        tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
        ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
        tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
        return (
            v[0] + q[0] * tx + q[2] * tz - q[3] * ty,
            v[1] + q[0] * ty + q[3] * tx - q[1] * tz,
            v[2] + q[0] * tz + q[1] * ty - q[2] * tx,
        )

    @compiler.kernel
    def fk_quat(theta, axis, offs, tip):
        nj = theta.shape[1]
        for s in prange(theta.shape[0]):
            q = (1.0, 0.0, 0.0, 0.0)
            p = (0.0, 0.0, 0.0)
            for j in range(nj):
                h = 0.5 * theta[s, j]
                sn = np.sin(h)
                cs = np.cos(h)
                q = qmul(q, (cs, sn * axis[j, 0], sn * axis[j, 1], sn * axis[j, 2]))
                d = qrot(q, (offs[j, 0], offs[j, 1], offs[j, 2]))
                p = (p[0] + d[0], p[1] + d[1], p[2] + d[2])
            for k in range(3):
                tip[s, k] = p[k]

    @compiler.njit
    def lorenz_rhs(x, y, z):
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - (8.0 / 3.0) * z

    @compiler.kernel
    def lorenz_rk4(X, out, dt, steps):
        for i in prange(X.shape[0]):
            x = X[i, 0]
            y = X[i, 1]
            z = X[i, 2]
            for _ in range(steps):
                a1, b1, c1 = lorenz_rhs(x, y, z)
                a2, b2, c2 = lorenz_rhs(x + 0.5 * dt * a1, y + 0.5 * dt * b1, z + 0.5 * dt * c1)
                a3, b3, c3 = lorenz_rhs(x + 0.5 * dt * a2, y + 0.5 * dt * b2, z + 0.5 * dt * c2)
                a4, b4, c4 = lorenz_rhs(x + dt * a3, y + dt * b3, z + dt * c3)
                x += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
                y += dt / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
                z += dt / 6.0 * (c1 + 2.0 * c2 + 2.0 * c3 + c4)
            out[i, 0] = x
            out[i, 1] = y
            out[i, 2] = z


def mk(scale):
    nb = size(scale, 1000, 30)
    m = size(scale, 4000, 80)
    r = rng(33)
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
        size(scale, 20, 4),
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
    b = size(scale, 20000, 50)
    r = rng(34)
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
    n = size(scale, 4000, 50)
    return [1 + rng(36).random((n, 3)), np.zeros((n, 3)), 0.005, size(scale, 100, 20)]


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
