"""Kernels as a physicist writes them: naive, readable, one source for every compiler that has `njit` and `prange`.

`build(compiler)` gives a dict from kernel name to compiled function.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

State = namedtuple("State", "x v")
Params = namedtuple("Params", "k c m dt")


def build(nb, parallel=False, fastmath=False, extra=None):
    prange = nb.prange
    extra = extra or {}
    kw = dict(extra)
    if fastmath:
        kw["fastmath"] = True
    fn = nb.njit(**kw) if kw else nb.njit  # helper (device-function) decorator
    kwp = dict(kw)
    if parallel:
        kwp["parallel"] = True
    jit = nb.njit(**kwp) if kwp else nb.njit  # kernel decorator
    K = {}

    def reg(f):
        K[f.__name__] = jit(f)
        return K[f.__name__]

    # ------------------------------------------------------------------ streaming / reductions
    @reg
    def saxpy(a, x, y, out):
        for i in prange(x.shape[0]):
            out[i] = a * x[i] + y[i]

    @reg
    def sum1(x):
        s = 0.0
        for i in prange(x.shape[0]):
            s += x[i]
        return s

    @reg
    def dot(x, y):
        s = 0.0
        for i in prange(x.shape[0]):
            s += x[i] * y[i]
        return s

    @reg
    def dot_f32acc(x, y):
        s = np.float32(0.0)
        for i in prange(x.shape[0]):
            s += x[i] * y[i]
        return s

    @reg
    def minmax(x):
        lo = x[0]
        hi = x[0]
        for i in range(x.shape[0]):
            if x[i] < lo:
                lo = x[i]
            if x[i] > hi:
                hi = x[i]
        return lo, hi

    @reg
    def argmax(x):
        best = x[0]
        k = 0
        for i in range(1, x.shape[0]):
            if x[i] > best:
                best = x[i]
                k = i
        return k

    @reg
    def prefix_sum(x, out):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
            out[i] = s

    @reg
    def histogram(x, lo, hi, counts):
        nb_ = counts.shape[0]
        for i in range(nb_):
            counts[i] = 0
        for i in range(x.shape[0]):
            k = int((x[i] - lo) / (hi - lo) * nb_)
            if k >= 0 and k < nb_:
                counts[k] += 1

    @reg
    def vec3_integrate(x, v, f, m, dt, xo, vo):
        for i in prange(x.shape[0]):
            for k in range(3):
                vo[i, k] = v[i, k] + dt * f[i, k] / m[i]
                xo[i, k] = x[i, k] + dt * vo[i, k]

    # ------------------------------------------------------------------ numpy-expression style
    @reg
    def array_expr(x, y, z):
        return np.sqrt(x * x + y * y + z * z) + (x - y) / (1.0 + z * z)

    @reg
    def row_normalize(A):
        B = np.empty_like(A)
        for i in prange(A.shape[0]):
            r = A[i] - np.mean(A[i])
            B[i] = r / np.sqrt(np.sum(r * r))
        return B

    # ------------------------------------------------------------------ dense linear algebra
    @reg
    def matmul(A, B, C):
        for i in prange(A.shape[0]):
            for j in range(B.shape[1]):
                acc = 0.0
                for k in range(A.shape[1]):
                    acc += A[i, k] * B[k, j]
                C[i, j] = acc

    @reg
    def transpose(A, B):
        for i in prange(A.shape[0]):
            for j in range(A.shape[1]):
                B[j, i] = A[i, j]

    @reg
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

    @reg
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

    @reg
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

    @reg
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

    # ------------------------------------------------------------------ stencils / grids
    @reg
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

    @reg
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

    @reg
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

    # ------------------------------------------------------------------ particles
    @reg
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

    @reg
    def nbody_vec(pos, mass, acc, eps):
        n = pos.shape[0]
        for i in prange(n):
            a = np.zeros(3)
            for j in range(n):
                d = pos[j] - pos[i]
                r2 = np.sum(d * d) + eps
                a += mass[j] * d / (r2 * np.sqrt(r2))
            acc[i] = a

    @reg
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

    @reg
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

    @reg
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

    @reg
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

    # ------------------------------------------------------------------ rigid-body / robotics
    @reg
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

    @fn
    def qmul(a, b):
        return (
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        )

    @fn
    def qrot(q, v):
        tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
        ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
        tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
        return (
            v[0] + q[0] * tx + q[2] * tz - q[3] * ty,
            v[1] + q[0] * ty + q[3] * tx - q[1] * tz,
            v[2] + q[0] * tz + q[1] * ty - q[2] * tx,
        )

    @reg
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

    @fn
    def lorenz_rhs(x, y, z):
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - (8.0 / 3.0) * z

    @reg
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

    # ------------------------------------------------------------------ elementwise transcendental
    @reg
    def sinexp(x, y, out):
        for i in prange(x.shape[0]):
            out[i] = np.sin(x[i]) * np.exp(-y[i])

    @reg
    def powmap(x, out):
        for i in prange(x.shape[0]):
            out[i] = x[i] ** 1.7

    @reg
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

    # ------------------------------------------------------------------ integer / branchy / sorting
    @reg
    def collatz(n):
        best = 0
        arg = 0
        for i in range(1, n):
            x = i
            c = 0
            while x != 1:
                if x % 2 == 0:
                    x = x // 2
                else:
                    x = 3 * x + 1
                c += 1
            if c > best:
                best = c
                arg = i
        return arg * 1000 + best

    @reg
    def radix_sort(a, tmp):
        n = a.shape[0]
        for p in range(4):
            sh = 8 * p
            cnt = np.zeros(257, np.int64)
            for i in range(n):
                cnt[((a[i] >> sh) & 255) + 1] += 1
            for b in range(256):
                cnt[b + 1] += cnt[b]
            for i in range(n):
                b = (a[i] >> sh) & 255
                tmp[cnt[b]] = a[i]
                cnt[b] += 1
            for i in range(n):
                a[i] = tmp[i]

    @reg
    def merge_sort(a, tmp):
        n = a.shape[0]
        width = 1
        while width < n:
            i = 0
            while i < n:
                mid = min(i + width, n)
                hi = min(i + 2 * width, n)
                left = i
                r = mid
                for k in range(i, hi):
                    if left < mid and (r >= hi or a[left] <= a[r]):
                        tmp[k] = a[left]
                        left += 1
                    else:
                        tmp[k] = a[r]
                        r += 1
                i += 2 * width
            for k in range(n):
                a[k] = tmp[k]
            width *= 2

    return K
