"""Julia sets, against NumPy."""

import numpy as np

import quadrants as qd

qd.init(arch=qd.cpu)
n = 80
pixels = qd.field(dtype=float, shape=(n * 2, n))


@qd.func
def complex_sqr(z):
    return qd.Vector([z[0] ** 2 - z[1] ** 2, z[1] * z[0] * 2])


@qd.kernel
def paint(t: float):
    for i, j in pixels:
        c = qd.Vector([-0.8, qd.cos(t) * 0.2])
        z = qd.Vector([i / n - 1, j / n - 0.5]) * 2
        iterations = 0
        while z.norm() < 20 and iterations < 50:
            z = complex_sqr(z) + c
            iterations += 1
        pixels[i, j] = 1 - iterations * 0.02


paint(0.3)
i, j = np.mgrid[0 : 2 * n, 0:n]
z = ((i / n - 1) + 1j * (j / n - 0.5)) * 2
c = -0.8 + 1j * np.cos(0.3) * 0.2
it = np.zeros(z.shape)
for _ in range(50):
    m = abs(z) < 20
    z[m] = z[m] ** 2 + c
    it[m] += 1
d = abs((1 - it * 0.02) - pixels.to_numpy())
assert (d > 0.011).mean() < 0.02
