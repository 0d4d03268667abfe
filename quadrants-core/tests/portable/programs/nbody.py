"""Bodies that attract each other, against NumPy."""

import numpy as np

import quadrants as qd

N = 64
pos = qd.Vector.field(3, qd.f32, shape=N)
vel = qd.Vector.field(3, qd.f32, N)
force = qd.Vector.field(3, qd.f32, N)
mass = qd.field(qd.f32, N)
eps = 1e-2
G = 1.0


@qd.kernel
def init():
    for i in pos:
        pos[i] = qd.Vector([qd.random(), qd.random(), qd.random()]) * 2 - 1
        vel[i] = qd.Vector.zero(qd.f32, 3)
        mass[i] = 1.0 + qd.random()


@qd.kernel
def compute():
    for i in range(N):
        force[i] = qd.Vector([0.0, 0.0, 0.0])
    for i in range(N):
        p = pos[i]
        f = qd.Vector([0.0, 0.0, 0.0])
        for j in range(N):
            if i != j:
                diff = pos[j] - p
                r = diff.norm(eps)
                f += G * mass[i] * mass[j] * (1.0 / r) ** 3 * diff
        force[i] += f


@qd.kernel
def update(dt: qd.f32):
    for i in range(N):
        vel[i] += dt * force[i] / mass[i]
        pos[i] += dt * vel[i]


init()
p0, v0, m = pos.to_numpy().astype(float), vel.to_numpy().astype(float), mass.to_numpy().astype(float)
for _ in range(5):
    compute()
    update(0.001)
for _ in range(5):
    d = p0[None] - p0[:, None]
    r2 = (d**2).sum(-1) + eps
    F = ((m[:, None] * m[None])[..., None] * d * (r2**-1.5)[..., None]).sum(1)
    v0 += 0.001 * F / m[:, None]
    p0 += 0.001 * v0
assert np.allclose(p0, pos.to_numpy(), atol=1e-4), abs(p0 - pos.to_numpy()).max()
