"""Gray and Scott, against NumPy."""

import numpy as np

import quadrants as qd

W, H = 64, 48
uv = qd.Vector.field(2, float, shape=(2, W, H))
pix = qd.Vector.field(3, dtype=float, shape=(W, H))


@qd.kernel
def compute(phase: int, f: float, k: float):
    for i, j in qd.ndrange(W, H):
        cen = uv[phase, i, j]
        lap = (
            uv[phase, (i + 1) % W, j]
            + uv[phase, (i - 1) % W, j]
            + uv[phase, i, (j + 1) % H]
            + uv[phase, i, (j - 1) % H]
            - 4.0 * cen
        )
        du = 0.16 * lap[0] - cen[0] * cen[1] ** 2 + f * (1 - cen[0])
        dv = 0.08 * lap[1] + cen[0] * cen[1] * cen[1] - (f + k) * cen[1]
        val = cen + 0.5 * qd.math.vec2(du, dv)
        uv[1 - phase, i, j] = val


@qd.kernel
def render():
    for i, j in pix:
        value = uv[0, i, j].y
        pix[i, j] = qd.math.mix(qd.math.vec3(0, 0, 0), qd.math.vec3(1.0, 0.5, 0.2), value)


u = np.ones((W, H))
v = np.zeros((W, H))
v[20:30, 20:30] = 0.5
A = np.zeros((2, W, H, 2), np.float32)
A[0, ..., 0] = u
A[0, ..., 1] = v
uv.from_numpy(A)
for s in range(10):
    compute(s % 2, 0.04, 0.06)
render()
for _ in range(10):
    L = lambda a: np.roll(a, -1, 0) + np.roll(a, 1, 0) + np.roll(a, -1, 1) + np.roll(a, 1, 1) - 4 * a
    du = 0.16 * L(u) - u * v * v + 0.04 * (1 - u)
    dv = 0.08 * L(v) + u * v * v - 0.1 * v
    u, v = u + 0.5 * du, v + 0.5 * dv
assert np.allclose(uv.to_numpy()[0, ..., 0], u, atol=1e-4)
assert np.allclose(pix.to_numpy()[..., 1], 0.5 * v, atol=1e-4)
