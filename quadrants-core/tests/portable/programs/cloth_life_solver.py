"""Cloth, the game of life, a solver as a class, and small kernels."""

import numpy as np

import quadrants as qd
from quadrants.math import mat3

# cloth-like
n = 16
x = qd.Vector.field(3, dtype=float, shape=(n, n))
v = qd.Vector.field(3, dtype=float, shape=(n, n))
offs = []
for i in range(-1, 2):
    for j in range(-1, 2):
        if (i, j) != (0, 0):
            offs.append(qd.Vector([i, j]))


@qd.kernel
def init():
    o = qd.Vector([qd.random() - 0.5, qd.random() - 0.5]) * 0.1
    for i, j in x:
        x[i, j] = [i / n, 0.6, j / n]
        x[i, j].x += o[0]
        v[i, j] = [0, 0, 0]


@qd.kernel
def substep(dt: float):
    for i in qd.grouped(x):
        v[i] += qd.Vector([0, -9.8, 0]) * dt
    for i in qd.grouped(x):
        force = qd.Vector([0.0, 0.0, 0.0])
        for off in qd.static(offs):
            j = i + off
            if 0 <= j[0] < n and 0 <= j[1] < n:
                xij = x[i] - x[j]
                vij = v[i] - v[j]
                d = xij.normalized()
                cur = xij.norm()
                orig = 1 / n * float(i - j).norm()
                force += -300.0 * d * (cur / orig - 1)
                force += -vij.dot(d) * d * 2.0 * (1 / n)
        v[i] += force * dt
    for i in qd.grouped(x):
        v[i] *= qd.exp(-0.5 * dt)
        p = x[i] - qd.Vector([0.0, 0, 0])
        if p.norm() <= 0.3:
            nn = p.normalized()
            v[i] -= min(v[i].dot(nn), 0) * nn
        x[i] += dt * v[i]


init()
substep(1e-3)
assert np.isfinite(x.to_numpy()).all()
# svd-free polar, shape ()
loss = qd.field(float, ())
U = qd.field(float, shape=())


@qd.kernel
def energy() -> float:
    loss[None] = 0
    for i in range(n):
        for j in range(n):
            loss[None] += x[i, j].norm_sqr()
    return loss[None]


e = energy()
assert np.isclose(e, (x.to_numpy() ** 2).sum(), rtol=1e-4)


@qd.kernel
def mats() -> mat3:
    A = mat3(1, 2, 3, 0, 1, 4, 5, 6, 0)
    I = qd.Matrix.identity(float, 3)
    B = A @ A.inverse() - I
    for i in qd.static(range(3)):
        for j in range(3):
            B[i, j] += 1e-9
    return B


assert abs(np.asarray(mats())).max() < 1e-3


@qd.kernel
def dynidx(k: int) -> float:
    A = qd.Matrix.zero(float, 3, 3)
    s = 0.0
    for i in range(3):
        for j in range(3):
            A[i, j] = i * 3 + j
    for i in range(3):
        s += A[i, k]
    return s


assert dynidx(1) == 12
# life
a = qd.field(int, (n, n))
c = qd.field(int, (n, n))


@qd.func
def alive(f: qd.template(), i, j):
    return f[i % n, j % n]


@qd.func
def count(f: qd.template(), i, j):
    return (
        alive(f, i - 1, j)
        + alive(f, i + 1, j)
        + alive(f, i, j - 1)
        + alive(f, i, j + 1)
        + alive(f, i - 1, j - 1)
        + alive(f, i + 1, j - 1)
        + alive(f, i - 1, j + 1)
        + alive(f, i + 1, j + 1)
    )


@qd.func
def rule(av, cv):
    if av == 0:
        for t in qd.static([3]):
            if cv == t:
                av = 1
    elif av == 1:
        ok = 0
        for t in qd.static([2, 3]):
            if cv == t:
                ok = 1
        if not ok:
            av = 0
    return av


@qd.kernel
def life():
    for i, j in a:
        c[i, j] = count(a, i, j)
    for i, j in a:
        a[i, j] = rule(a[i, j], c[i, j])


A = np.random.default_rng(0).integers(0, 2, (n, n)).astype(np.int32)
a.from_numpy(A)
life()
C = sum(np.roll(np.roll(A, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
assert np.array_equal(a.to_numpy(), np.where(A == 0, C == 3, (C == 2) | (C == 3)).astype(np.int32))


# sparse matrix-free CG etc
@qd.data_oriented
class Solver:
    def __init__(self, n):
        self.N = n
        self.r = qd.field(float, n)
        self.Ap = qd.field(float, n)
        self.alpha = qd.field(float, ())
        self.dim = 1

    @qd.kernel
    def reduce(self, p: qd.template(), q: qd.template()) -> float:
        s = 0.0
        for I in qd.grouped(p):
            s += p[I] * q[I]
        self.alpha[None] = s
        return s

    @qd.kernel
    def lap(self):
        for i in range(self.N):
            left = self.r[i - 1] if i > 0 else 0.0
            right = self.r[i + 1] if i < self.N - 1 else 0.0
            self.Ap[i] = 2 * self.r[i] - left - right

    def run(self):
        self.r.fill(1.0)
        self.lap()
        return self.reduce(self.r, self.Ap)


s = Solver(100)
assert s.run() == 2.0
s2 = Solver(50)
assert s2.run() == 2.0 and s2.alpha[None] == 2.0


@qd.kernel
def tern(x: qd.types.ndarray(dtype=qd.f32, ndim=1), mode: qd.template()):
    for i in x:
        val = x[i]
        x[i] = val * 2 if mode == 1 else (val + 1 if mode == 2 else qd.f32(0))


y = np.ones(3, np.float32)
tern(y, 1)
tern(y, 2)
assert y.tolist() == [3, 3, 3]
tern(y, 0)
assert y.sum() == 0


@qd.kernel
def whiles(x):
    for i in range(x.shape[0]):
        k = 0
        while True:
            k += 1
            if k > i:
                break
            if k % 2:
                continue
            x[i] += k


z = np.zeros(6, np.int32)
whiles(z)
assert z.tolist() == [0, 0, 2, 2, 6, 6]


@qd.kernel
def shadows():
    for i in range(3):
        a = qd.Vector([i, i])
        b = a
        b[0] = 5
        assert a[0] == i


shadows()


@qd.kernel
def pr(n: int):
    for i in range(n):
        if i == 1:
            print("value", i, qd.Vector([i, 2]))


pr(2)


@qd.kernel
def mixed_types(a: qd.f64, b: qd.i64, c: bool) -> qd.f64:
    r = a * b
    if c:
        r += 0.1
    return r


assert mixed_types(0.5, 3, True) == 1.6
