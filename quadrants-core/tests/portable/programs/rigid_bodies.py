"""Rotations, factorisation, broad phase: kernels in the style of a simulator of rigid bodies, against NumPy."""

import dataclasses
import enum

import numpy as np

import quadrants as qd


class Mode(enum.IntEnum):
    A = 0
    B = 1


class Integ(enum.Enum):
    Euler = "e"
    RK = "r"


N = 32


# rigid-body style
@dataclasses.dataclass(frozen=True)
class Info:
    mass: qd.Tensor
    inertia: qd.Tensor
    parent: qd.Tensor
    n: int
    g: float


@qd.func
def quat_mul(u, v):
    return qd.Vector(
        [
            u[0] * v[0] - u[1] * v[1] - u[2] * v[2] - u[3] * v[3],
            u[0] * v[1] + u[1] * v[0] + u[2] * v[3] - u[3] * v[2],
            u[0] * v[2] - u[1] * v[3] + u[2] * v[0] + u[3] * v[1],
            u[0] * v[3] + u[1] * v[2] - u[2] * v[1] + u[3] * v[0],
        ]
    )


@qd.func
def quat_to_R(q: qd.types.vector(4)):
    w, x, y, z = q
    return qd.Matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@qd.func
def transform(v, q):
    return quat_to_R(q) @ v


quat = qd.Vector.tensor(4, dtype=qd.f32, shape=(N,))
omega = qd.Vector.tensor(3, dtype=qd.f32, shape=(N,))
pos = qd.Vector.tensor(3, dtype=qd.f32, shape=(N,))
vel = qd.Vector.tensor(3, dtype=qd.f32, shape=(N,))
info = Info(qd.tensor(qd.f32, (N,)), qd.Matrix.tensor(3, 3, qd.f32, (N,)), qd.tensor(qd.i32, (N,)), N, -9.8)
info.mass.fill(2)
info.inertia.from_numpy(np.tile(np.eye(3, dtype=np.float32), (N, 1, 1)))
info.parent.fill(-1)
quat.from_numpy(np.tile([1, 0, 0, 0], (N, 1)).astype(np.float32))
omega.fill(0.5)


@qd.kernel
def step(
    pos: qd.Tensor,
    vel: qd.Tensor,
    quat: qd.Tensor,
    omega: qd.Tensor,
    info: Info,
    dt: qd.f32,
    mode: qd.template(),
    integ: qd.template(),
):
    for i in range(info.n):
        if qd.static(integ == Integ.Euler):
            f = qd.Vector([0.0, 0.0, info.g]) * info.mass[i]
            R = quat_to_R(quat[i])
            Iw = R @ info.inertia[i] @ R.transpose()
            tau = -0.1 * omega[i]
            acc = Iw.inverse() @ (tau - omega[i].cross(Iw @ omega[i]))
            vel[i] += f / info.mass[i] * dt
            pos[i] += vel[i] * dt
            omega[i] += acc * dt
            dq = quat_mul(qd.Vector([0.0, omega[i][0], omega[i][1], omega[i][2]]), quat[i]) * 0.5
            quat[i] = (quat[i] + dq * dt).normalized()
        if qd.static(mode == Mode.B and info is not None):
            pos[i][2] = qd.max(pos[i][2], 0.0)
            if info.parent[i] >= 0:
                j = info.parent[i]
                pos[i] = pos[j]


for _ in range(10):
    step(pos, vel, quat, omega, info, 0.01, Mode.B, Integ.Euler)
q = np.array([1.0, 0, 0, 0])
w = np.full(3, 0.5)


def qm(u, v):
    return np.array(
        [
            u[0] * v[0] - u[1] * v[1] - u[2] * v[2] - u[3] * v[3],
            u[0] * v[1] + u[1] * v[0] + u[2] * v[3] - u[3] * v[2],
            u[0] * v[2] - u[1] * v[3] + u[2] * v[0] + u[3] * v[1],
            u[0] * v[3] + u[1] * v[2] - u[2] * v[1] + u[3] * v[0],
        ]
    )


for _ in range(10):
    w = w - 0.1 * w * 0.01
    q = q + 0.5 * 0.01 * qm(np.r_[0, w], q)
    q /= np.linalg.norm(q)
assert np.allclose(q, quat.to_numpy()[3], atol=1e-5)
# factorisation with layout and scratch
n = 6
B = 5
M = qd.tensor(qd.f32, (n, n, B), layout=(2, 0, 1))
L = qd.tensor(qd.f32, (n, n, B))
x = qd.tensor(qd.f32, (n, B))
rhs = qd.tensor(qd.f32, (n, B))


@qd.kernel
def chol(M: qd.Tensor, L: qd.Tensor):
    qd.loop_config(serialize=False, block_dim=64, name="chol")
    for b in range(M.shape[2]):
        for i in range(M.shape[0]):
            for j in range(i + 1):
                s = M[i, j, b]
                for k in range(j):
                    s -= L[i, k, b] * L[j, k, b]
                if i == j:
                    L[i, j, b] = qd.sqrt(s)
                else:
                    L[i, j, b] = s / L[j, j, b]


A = np.random.default_rng(0).standard_normal((B, n, n))
A = A @ A.transpose(0, 2, 1) + np.eye(n) * n
M.from_numpy(A.transpose(1, 2, 0).astype(np.float32))
chol(M, L)
assert np.allclose(L.to_numpy().transpose(2, 0, 1), np.linalg.cholesky(A), atol=1e-4)
# contact-ish: atomic slot, early out flags, while
cnt = qd.ndarray(qd.i32, ())
pairs = qd.Vector.ndarray(2, qd.i32, 64)


@qd.kernel
def broad(aabb: qd.types.ndarray(), cnt: qd.types.ndarray(), pairs: qd.types.ndarray()):
    cnt[None] = 0
    for i in range(aabb.shape[0]):
        for j in range(i + 1, aabb.shape[0]):
            hit = True
            for k in qd.static(range(3)):
                if aabb[i, 0, k] > aabb[j, 1, k] or aabb[j, 0, k] > aabb[i, 1, k]:
                    hit = False
            if hit:
                slot = qd.atomic_add(cnt[None], 1)
                if slot < pairs.shape[0]:
                    pairs[slot] = [i, j]


R = np.random.default_rng(1)
lo = R.random((10, 3))
box = np.stack([lo, lo + 0.4], 1).astype(np.float32)
broad(box, cnt, pairs)
exp = {
    (i, j)
    for i in range(10)
    for j in range(i + 1, 10)
    if (box[i, 0] <= box[j, 1]).all() and (box[j, 0] <= box[i, 1]).all()
}
assert cnt[None] == len(exp) and {tuple(p) for p in pairs.to_numpy()[: len(exp)]} == exp


@qd.kernel
def opt(a, b: qd.types.ndarray() | None, k: int = 2) -> float:
    s = 0.0
    if qd.static(b is not None):
        for i in range(b.shape[0]):
            s += b[i] * k
    return s


assert opt(1, None) == 0 and opt(1, np.ones(3)) == 6 and opt(1, b=np.ones(3), k=3) == 9


@qd.kernel
def tupk(ts: qd.template()):
    for i in qd.static(range(2)):
        for j in range(ts[i].shape[0]):
            ts[i][j] = i + 1


ta, tb = qd.field(float, 3), qd.field(float, 3)
tupk((ta, tb))
assert ta[0] == 1 and tb[2] == 2


@qd.kernel
def swap(x: qd.types.ndarray()):
    for i in range(x.shape[0] // 2):
        a, b = x[2 * i], x[2 * i + 1]
        x[2 * i], x[2 * i + 1] = b, a


z = np.arange(6.0)
swap(z)
assert z.tolist() == [1, 0, 3, 2, 5, 4]
