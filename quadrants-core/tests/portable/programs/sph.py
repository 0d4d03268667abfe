"""Neighbours and densities of particles, on a grid of cells."""

import math

import numpy as np

import quadrants as qd

dim = 2
N = 400
h = 0.1
grid = 10
maxn = 64
x = qd.Vector.field(dim, float, N)
num = qd.field(int, shape=N)
neigh = qd.field(int, shape=(N, maxn))
cell_n = qd.field(int, shape=(grid, grid))
cell = qd.field(int, shape=(grid, grid, maxn))
rho = qd.field(float, N)


@qd.func
def get_cell(p):
    return int(p * (1 / h))


@qd.func
def is_in_grid(c):
    return 0 <= c[0] and c[0] < grid and 0 <= c[1] and c[1] < grid


@qd.func
def poly6(s, hh):
    result = 0.0
    if 0 < s and s < hh:
        t = (hh * hh - s * s) / (hh * hh * hh)
        result = 315.0 / 64.0 / math.pi * t * t * t
    return result


@qd.kernel
def build():
    for I in qd.grouped(cell_n):
        cell_n[I] = 0
    for I in qd.grouped(num):
        num[I] = 0
    for p in x:
        c = get_cell(x[p])
        k = qd.atomic_add(cell_n[c], 1)
        cell[c, k] = p
    for p in x:
        pos = x[p]
        c = get_cell(pos)
        nb = 0
        for off in qd.static(qd.grouped(qd.ndrange((-1, 2), (-1, 2)))):
            cc = c + off
            if is_in_grid(cc):
                for j in range(cell_n[cc]):
                    q = cell[cc, j]
                    if nb < maxn and q != p and (pos - x[q]).norm() < h:
                        neigh[p, nb] = q
                        nb += 1
        num[p] = nb
    for p in rho:
        d = 0.0
        for j in range(num[p]):
            q = neigh[p, j]
            if q < 0:
                break
            d += poly6((x[p] - x[q]).norm(), h)
        rho[p] = d


X = np.random.default_rng(0).random((N, 2)).astype(np.float32) * 0.999
x.from_numpy(X)
build()
D = np.linalg.norm(X[:, None] - X[None], axis=-1)
assert np.array_equal(num.to_numpy(), ((D < h) & (D > 0)).sum(1))
t = np.where((D < h) & (D > 0), (h * h - D * D) / h**3, 0)
assert np.allclose(rho.to_numpy(), (315 / 64 / math.pi * t**3).sum(1), rtol=1e-3)
