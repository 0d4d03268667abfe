"""Advection, divergence and pressure on a grid, with fields as template arguments."""

import numpy as np

import quadrants as qd

res = 32


class TexPair:
    def __init__(self, cur, nxt):
        self.cur = cur
        self.nxt = nxt

    def swap(self):
        self.cur, self.nxt = self.nxt, self.cur


_v = qd.Vector.field(2, float, shape=(res, res))
_nv = qd.Vector.field(2, float, shape=(res, res))
div = qd.field(float, shape=(res, res))
p = qd.field(float, shape=(res, res))
np_ = qd.field(float, shape=(res, res))


@qd.func
def sample(qf, u, v):
    I = qd.Vector([int(u), int(v)])
    I = max(0, min(res - 1, I))
    return qf[I]


@qd.func
def lerp(vl, vr, frac):
    return vl + frac * (vr - vl)


@qd.func
def bilerp(vf, p):
    u, v = p
    s, t = u - 0.5, v - 0.5
    iu, iv = qd.floor(s), qd.floor(t)
    fu, fv = s - iu, t - iv
    a = sample(vf, iu, iv)
    b = sample(vf, iu + 1, iv)
    c = sample(vf, iu, iv + 1)
    d = sample(vf, iu + 1, iv + 1)
    return lerp(lerp(a, b, fu), lerp(c, d, fu), fv)


@qd.func
def backtrace(vf: qd.template(), p, dt: qd.template()):
    v1 = bilerp(vf, p)
    p1 = p - 0.5 * dt * v1
    v2 = bilerp(vf, p1)
    p -= dt * v2
    return p


@qd.kernel
def advect(vf: qd.template(), qf: qd.template(), new_qf: qd.template()):
    for i, j in vf:
        p = qd.Vector([i, j]) + 0.5
        p = backtrace(vf, p, 0.03)
        new_qf[i, j] = bilerp(qf, p) * 0.99


@qd.kernel
def divergence(vf: qd.template()):
    for i, j in vf:
        vl = sample(vf, i - 1, j)
        vr = sample(vf, i + 1, j)
        vb = sample(vf, i, j - 1)
        vt = sample(vf, i, j + 1)
        vc = sample(vf, i, j)
        if i == 0:
            vl.x = -vc.x
        if i == res - 1:
            vr.x = -vc.x
        if j == 0:
            vb.y = -vc.y
        if j == res - 1:
            vt.y = -vc.y
        div[i, j] = (vr.x - vl.x + vt.y - vb.y) * 0.5


@qd.kernel
def jacobi(pf: qd.template(), new_pf: qd.template()):
    for i, j in pf:
        pl = sample(pf, i - 1, j)
        pr = sample(pf, i + 1, j)
        pb = sample(pf, i, j - 1)
        pt = sample(pf, i, j + 1)
        new_pf[i, j] = (pl + pr + pb + pt - div[i, j]) * 0.25


V = TexPair(_v, _nv)
P = TexPair(p, np_)
_v.from_numpy(np.random.default_rng(0).standard_normal((res, res, 2)).astype(np.float32))
advect(V.cur, V.cur, V.nxt)
V.swap()
divergence(V.cur)
for _ in range(4):
    jacobi(P.cur, P.nxt)
    P.swap()
a = V.cur.to_numpy()
x = np.pad(a, ((1, 1), (1, 1), (0, 0)), "edge")
vl, vr, vb, vt = x[:-2, 1:-1, 0].copy(), x[2:, 1:-1, 0].copy(), x[1:-1, :-2, 1].copy(), x[1:-1, 2:, 1].copy()
vl[0] = -a[0, :, 0]
vr[-1] = -a[-1, :, 0]
vb[:, 0] = -a[:, 0, 1]
vt[:, -1] = -a[:, -1, 1]
assert np.allclose(div.to_numpy(), (vr - vl + vt - vb) * 0.5, atol=1e-5)
