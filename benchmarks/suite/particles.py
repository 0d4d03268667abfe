"""Particles: pairs, neighbours, cloth, grids.

Each kernel is as a physicist writes it, naive and readable, one source for every compiler. `kernels(compiler)` compiles them;
`WORKLOADS` has their inputs, references in NumPy, and checks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import collector, f32, f64, i32, i64, rng, size

WORKLOADS = {}
add = collector(WORKLOADS)


def kernels(compiler):
    prange = compiler.prange

    @compiler.kernel
    def nbody(pos, mass, acc, eps):
        n = pos.shape[0]
        for i in prange(n):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + eps
                inv = 1.0 / np.sqrt(r2)
                s = mass[j] * inv * inv * inv
                ax += s * dx
                ay += s * dy
                az += s * dz
            acc[i, 0] = ax
            acc[i, 1] = ay
            acc[i, 2] = az

    @compiler.kernel
    def nbody_vec(pos, mass, acc, eps):
        n = pos.shape[0]
        for i in prange(n):
            a = np.zeros(3)
            for j in range(n):
                d = pos[j] - pos[i]
                r2 = np.sum(d * d) + eps
                a += mass[j] * d / (r2 * np.sqrt(r2))
            acc[i] = a

    @compiler.kernel
    def sph_density(pos, h, mass, start, order, rho):
        # counting-sorted 2D uniform grid of cell size h on the unit square
        n = pos.shape[0]
        g = int(1.0 / h)
        h2 = h * h
        norm = mass * 4.0 / (np.pi * h**8)
        for c in range(g * g + 1):
            start[c] = 0
        for i in range(n):
            c = int(pos[i, 1] * g) * g + int(pos[i, 0] * g)
            start[c + 1] += 1
        for c in range(g * g):
            start[c + 1] += start[c]
        fill = start[: g * g].copy()
        for i in range(n):
            c = int(pos[i, 1] * g) * g + int(pos[i, 0] * g)
            order[fill[c]] = i
            fill[c] += 1
        for i in prange(n):
            cx = int(pos[i, 0] * g)
            cy = int(pos[i, 1] * g)
            s = 0.0
            for yy in range(max(cy - 1, 0), min(cy + 2, g)):
                for xx in range(max(cx - 1, 0), min(cx + 2, g)):
                    c = yy * g + xx
                    for k in range(start[c], start[c + 1]):
                        j = order[k]
                        dx = pos[i, 0] - pos[j, 0]
                        dy = pos[i, 1] - pos[j, 1]
                        r2 = dx * dx + dy * dy
                        if r2 < h2:
                            s += (h2 - r2) ** 3
            rho[i] = norm * s

    @compiler.kernel
    def mass_spring(x, v, edges, rest, fixed, k, damp, dt, steps):
        n = x.shape[0]
        f = np.zeros((n, 3))
        for _ in range(steps):
            for i in range(n):
                f[i, 0] = 0.0
                f[i, 1] = 0.0
                f[i, 2] = -9.81
            for e in range(edges.shape[0]):
                i = edges[e, 0]
                j = edges[e, 1]
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2]
                L = np.sqrt(dx * dx + dy * dy + dz * dz)
                s = k * (L - rest[e]) / L
                f[i, 0] += s * dx
                f[i, 1] += s * dy
                f[i, 2] += s * dz
                f[j, 0] -= s * dx
                f[j, 1] -= s * dy
                f[j, 2] -= s * dz
            for i in range(n):
                if not fixed[i]:
                    for c in range(3):
                        v[i, c] = damp * (v[i, c] + dt * f[i, c])
                        x[i, c] += dt * v[i, c]

    @compiler.kernel
    def mpm88(x, v, C, J, gv, gm, dt, steps):
        n = x.shape[0]
        ng = gm.shape[0]
        dx = 1.0 / ng
        p_vol = (dx * 0.5) ** 2
        p_mass = p_vol * 1.0
        E = 400.0
        for _ in range(steps):
            for i in range(ng):
                for j in range(ng):
                    gv[i, j, 0] = 0.0
                    gv[i, j, 1] = 0.0
                    gm[i, j] = 0.0
            for p in range(n):
                bx = int(x[p, 0] / dx - 0.5)
                by = int(x[p, 1] / dx - 0.5)
                fx = x[p, 0] / dx - bx
                fy = x[p, 1] / dx - by
                w = np.empty((3, 2))
                w[0, 0] = 0.5 * (1.5 - fx) ** 2
                w[0, 1] = 0.5 * (1.5 - fy) ** 2
                w[1, 0] = 0.75 - (fx - 1.0) ** 2
                w[1, 1] = 0.75 - (fy - 1.0) ** 2
                w[2, 0] = 0.5 * (fx - 0.5) ** 2
                w[2, 1] = 0.5 * (fy - 0.5) ** 2
                stress = -dt * 4.0 * E * p_vol * (J[p] - 1.0) / (dx * dx)
                a00 = stress + p_mass * C[p, 0, 0]
                a01 = p_mass * C[p, 0, 1]
                a10 = p_mass * C[p, 1, 0]
                a11 = stress + p_mass * C[p, 1, 1]
                for i in range(3):
                    for j in range(3):
                        dpx = (i - fx) * dx
                        dpy = (j - fy) * dx
                        wt = w[i, 0] * w[j, 1]
                        gv[bx + i, by + j, 0] += wt * (p_mass * v[p, 0] + a00 * dpx + a01 * dpy)
                        gv[bx + i, by + j, 1] += wt * (p_mass * v[p, 1] + a10 * dpx + a11 * dpy)
                        gm[bx + i, by + j] += wt * p_mass
            for i in range(ng):
                for j in range(ng):
                    if gm[i, j] > 0.0:
                        gv[i, j, 0] /= gm[i, j]
                        gv[i, j, 1] /= gm[i, j]
                        gv[i, j, 1] -= dt * 9.8
                        if i < 3 and gv[i, j, 0] < 0.0:
                            gv[i, j, 0] = 0.0
                        if i > ng - 3 and gv[i, j, 0] > 0.0:
                            gv[i, j, 0] = 0.0
                        if j < 3 and gv[i, j, 1] < 0.0:
                            gv[i, j, 1] = 0.0
                        if j > ng - 3 and gv[i, j, 1] > 0.0:
                            gv[i, j, 1] = 0.0
            for p in prange(n):
                bx = int(x[p, 0] / dx - 0.5)
                by = int(x[p, 1] / dx - 0.5)
                fx = x[p, 0] / dx - bx
                fy = x[p, 1] / dx - by
                w = np.empty((3, 2))
                w[0, 0] = 0.5 * (1.5 - fx) ** 2
                w[0, 1] = 0.5 * (1.5 - fy) ** 2
                w[1, 0] = 0.75 - (fx - 1.0) ** 2
                w[1, 1] = 0.75 - (fy - 1.0) ** 2
                w[2, 0] = 0.5 * (fx - 0.5) ** 2
                w[2, 1] = 0.5 * (fy - 0.5) ** 2
                nvx = 0.0
                nvy = 0.0
                c00 = 0.0
                c01 = 0.0
                c10 = 0.0
                c11 = 0.0
                for i in range(3):
                    for j in range(3):
                        dpx = (i - fx) * dx
                        dpy = (j - fy) * dx
                        wt = w[i, 0] * w[j, 1]
                        gx = gv[bx + i, by + j, 0]
                        gy = gv[bx + i, by + j, 1]
                        nvx += wt * gx
                        nvy += wt * gy
                        c00 += 4.0 * wt * gx * dpx / (dx * dx)
                        c01 += 4.0 * wt * gx * dpy / (dx * dx)
                        c10 += 4.0 * wt * gy * dpx / (dx * dx)
                        c11 += 4.0 * wt * gy * dpy / (dx * dx)
                v[p, 0] = nvx
                v[p, 1] = nvy
                x[p, 0] += dt * nvx
                x[p, 1] += dt * nvy
                J[p] *= 1.0 + dt * (c00 + c11)
                C[p, 0, 0] = c00
                C[p, 0, 1] = c01
                C[p, 1, 0] = c10
                C[p, 1, 1] = c11

    @compiler.kernel
    def particles_rec(p, dt):
        for i in prange(p.shape[0]):
            q = p[i]
            q.vx += dt * q.fx / q.m
            q.vy += dt * q.fy / q.m
            q.x += dt * q.vx
            q.y += dt * q.vy
            if q.x < 0.0:
                q.x = -q.x
                q.vx = -q.vx
            if q.y < 0.0:
                q.y = -q.y
                q.vy = -q.vy


for dt, tag in ((f32, "f32"), (f64, "f64")):

    def mk(scale, dt=dt):
        n = size(scale, 2048, 64)
        r = rng(27)
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
    n = size(scale, 512, 32)
    r = rng(28)
    return [r.random((n, 3)), r.random(n), np.zeros((n, 3)), 1e-3]


add("nbody_vec", make=mk, outs=lambda ret, a: [a[2]], ref=ref, rtol=1e-8, flops=lambda a: 20 * a[1].size ** 2)


def mk(scale):
    n = size(scale, 20000, 400)
    r = rng(30)
    h = size(scale, 1 / 64, 1 / 10)
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
    g = size(scale, 64, 8)
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
    return [p, np.zeros((n, 3)), e, rest, fixed, 2000.0, 0.999, 1e-3, size(scale, 20, 5)]


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
    n = size(scale, 8192, 256)
    ng = size(scale, 128, 32)
    r = rng(31)
    x = r.random((n, 2)) * 0.4 + 0.2
    return [
        x,
        np.stack([np.zeros(n), -np.ones(n)], 1),
        np.zeros((n, 2, 2)),
        np.ones(n),
        np.zeros((ng, ng, 2)),
        np.zeros((ng, ng)),
        2e-4,
        size(scale, 5, 5),
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
    n = size(scale, 200_000, 500)
    r = rng(32)
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
