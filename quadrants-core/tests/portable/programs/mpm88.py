"""The material point method, after the public program of 88 lines; mass and momentum against what they must be."""

import numpy as np

import quadrants as qd

quality = 1
n_particles, n_grid = 9000 * quality**2, 128 * quality
dx, inv_dx = 1 / n_grid, float(n_grid)
dt = 1e-4 / quality
p_vol, p_rho = (dx * 0.5) ** 2, 1
p_mass = p_vol * p_rho
E, nu = 0.1e4, 0.2
mu_0, lambda_0 = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
x = qd.Vector.field(2, dtype=float, shape=n_particles)
v = qd.Vector.field(2, dtype=float, shape=n_particles)
C = qd.Matrix.field(2, 2, dtype=float, shape=n_particles)
J = qd.field(dtype=float, shape=n_particles)
grid_v = qd.Vector.field(2, dtype=float, shape=(n_grid, n_grid))
grid_m = qd.field(dtype=float, shape=(n_grid, n_grid))


@qd.kernel
def substep():
    for i, j in grid_m:
        grid_v[i, j] = [0, 0]
        grid_m[i, j] = 0
    for p in x:
        Xp = x[p] / dx
        base = int(Xp - 0.5)
        fx = Xp - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        stress = -dt * 4 * E * p_vol * (J[p] - 1) / dx**2
        affine = qd.Matrix([[stress, 0], [0, stress]]) + p_mass * C[p]
        for i, j in qd.static(qd.ndrange(3, 3)):
            offset = qd.Vector([i, j])
            dpos = (offset - fx) * dx
            weight = w[i].x * w[j].y
            grid_v[base + offset] += weight * (p_mass * v[p] + affine @ dpos)
            grid_m[base + offset] += weight * p_mass
    for i, j in grid_m:
        if grid_m[i, j] > 0:
            grid_v[i, j] /= grid_m[i, j]
        grid_v[i, j].y -= dt * 9.8
        if i < 3 and grid_v[i, j].x < 0:
            grid_v[i, j].x = 0
        if i > n_grid - 3 and grid_v[i, j].x > 0:
            grid_v[i, j].x = 0
        if j < 3 and grid_v[i, j].y < 0:
            grid_v[i, j].y = 0
        if j > n_grid - 3 and grid_v[i, j].y > 0:
            grid_v[i, j].y = 0
    for p in x:
        Xp = x[p] / dx
        base = int(Xp - 0.5)
        fx = Xp - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        new_v = qd.Vector.zero(float, 2)
        new_C = qd.Matrix.zero(float, 2, 2)
        for i, j in qd.static(qd.ndrange(3, 3)):
            offset = qd.Vector([i, j])
            dpos = (offset - fx) * dx
            weight = w[i].x * w[j].y
            g_v = grid_v[base + offset]
            new_v += weight * g_v
            new_C += 4 * weight * g_v.outer_product(dpos) / dx**2
        v[p] = new_v
        x[p] += dt * v[p]
        J[p] *= 1 + dt * new_C.trace()
        C[p] = new_C


@qd.kernel
def init():
    for i in range(n_particles):
        x[i] = [qd.random() * 0.4 + 0.2, qd.random() * 0.4 + 0.2]
        v[i] = [0, -1]
        J[i] = 1


init()
before = x.to_numpy()
for _ in range(50):
    substep()
after, speed = x.to_numpy(), v.to_numpy()
time = 50 * dt
expected = before.mean(0) + [0, -time - 0.5 * 9.8 * time**2]
assert np.allclose(grid_m.to_numpy().sum(), n_particles * p_mass, rtol=1e-4)
assert np.allclose(speed.mean(0), [0, -1 - 9.8 * time], atol=1e-3)
assert np.allclose(after.mean(0), expected, atol=1e-3) and np.isfinite(after).all()
