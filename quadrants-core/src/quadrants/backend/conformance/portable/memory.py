"""Portable programs: arrays and tensors, mathematics, algorithms.

Without annotations of the future: kernels read theirs when they are defined.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False, disable-error-code="valid-type"

from typing import Any

import numpy as np

from quadrants.backend.conformance.portable.program import Found, Rng, floats, program

# Memory


@program()
def tensors_and_arrays(qd: Any, rng: Rng) -> Found:
    x = qd.field(float, (6, 8))

    @qd.kernel
    def add(a):
        for i, j in x:
            x[i, j] += a[i, j]

    first, second = floats(rng, 6, 8), floats(rng, 8, 6)
    add(first)
    add(second.T)
    x[2, 3] = 100.0
    add(first[::-1])
    expected = first + second.T
    expected[2, 3] = 100.0
    expected += first[::-1]
    x.fill(x[0, 0])
    return [(x.to_numpy(), np.full((6, 8), expected[0, 0]))]


@program()
def layouts(qd: Any, rng: Rng) -> Found:
    x = qd.tensor(float, (5, 9), layout=(1, 0))
    y = np.asfortranarray(np.zeros((5, 9), np.float32))

    @qd.kernel
    def run(x: qd.Tensor, y: qd.types.ndarray()):
        for i, j in qd.ndrange(5, 9):
            x[i, j] = 10 * i + j
            y[i, j] = x[i, j] + 1

    run(x, y)
    i, j = np.mgrid[0:5, 0:9]
    return [(x.to_numpy(), 10 * i + j), (y, 10 * i + j + 1)]


@program()
def negative_indices_and_globals(qd: Any, rng: Rng) -> Found:
    table = np.array([3, 1, 4, 1, 5], np.int32)
    scale = 2

    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            x[i] = table[i % 5] * scale + table[-1]
        x[-1] = 77

    x = np.zeros(23, np.int32)
    run(x)
    expected = np.resize(table, 23) * 2 + 5
    expected[-1] = 77
    return [(x, expected)]


@program()
def views_of_arrays(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            x[i] += y[i, 0]

    x, y = np.zeros(60, np.float32), floats(rng, 30, 4)
    run(x[::2], y[:, 1:])
    expected = np.zeros(60, np.float32)
    expected[::2] = y[:, 1]
    return [(x, expected)]


@program(dtypes=("f64", "i64"))
def wide_numbers(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, k):
        for i in range(x.shape[0]):
            x[i] = x[i] / 3 + k[i]
            k[i] = k[i] * 3_000_000_000

    x, k = rng.standard_normal(50), rng.integers(-9, 9, 50)
    expected, big = x / 3 + k, k * 3_000_000_000
    run(x, k)
    return [(x, expected), (k, big)]


@program()
def narrow_numbers(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(a, b, c):
        for i in range(a.shape[0]):
            a[i] += 200
            b[i] = b[i] - 1
            c[i] = a[i] > 100 and b[i] < 0

    a, b = rng.integers(0, 256, 90).astype(np.uint8), rng.integers(-5, 5, 90).astype(np.int16)
    c = np.zeros(90, bool)
    after, low = a + np.uint8(200), b - np.int16(1)
    run(a, b, c)
    return [(a, after), (b, low), (c, (after > 100) & (low < 0))]


# Mathematics and algorithms


@program(rtol=3e-6)
def elementary_functions(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            a = qd.sin(x[i]) + qd.exp(-x[i] * x[i]) + qd.sqrt(abs(x[i]))
            y[i] = a + qd.math.clamp(x[i], -1.0, 1.0) + qd.atan2(x[i], 2.0) + qd.floor(x[i])

    x = rng.uniform(-3, 3, 400).astype(np.float32)
    y = np.zeros(400, np.float32)
    run(x, y)
    z = x.astype(np.float64)
    expected = np.sin(z) + np.exp(-z * z) + np.sqrt(abs(z)) + np.clip(z, -1, 1) + np.arctan2(z, 2) + np.floor(z)
    return [(y, expected)]


@program()
def integers_and_bits(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            q = x[i] // 7 + x[i] % 7
            y[i] = (q << 3) ^ (x[i] & 12) | (x[i] >> 2)
            if qd.select(x[i] > 0, 1, 0) == 1 and not x[i] == 5:
                y[i] = -y[i]

    x = rng.integers(-1000, 1000, 300).astype(np.int32)
    y = np.zeros(300, np.int32)
    run(x, y)
    expected = ((x // 7 + x % 7) << 3) ^ (x & 12) | (x >> 2)
    return [(y, np.where((x > 0) & (x != 5), -expected, expected))]


@program()
def random_numbers(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def draw(x):
        for i in range(x.shape[0]):
            x[i] = qd.random()

    x = np.zeros(2000, np.float32)
    draw(x)
    good = (x >= 0).all() and (x < 1).all() and abs(x.mean() - 0.5) < 0.03 and len(np.unique(x)) > 1900
    return [(bool(good), True)]


@program(rtol=1e-4)
def bodies(qd: Any, rng: Rng) -> Found:
    n = 64
    x, v = qd.Vector.field(3, float, n), qd.Vector.field(3, float, n)

    @qd.kernel
    def step(dt: float):
        for i in x:
            force = qd.Vector([0.0, 0.0, 0.0])
            for j in range(n):
                d = x[j] - x[i]
                r = d.norm_sqr() + 0.01
                force += d / (r * qd.sqrt(r))
            v[i] += dt * force
        for i in x:
            x[i] += dt * v[i]

    at = rng.uniform(-1, 1, (n, 3)).astype(np.float32)
    x.from_numpy(at)
    step(0.001)
    step(0.001)
    p, speed = at.astype(np.float64), np.zeros((n, 3))
    for _ in range(2):
        d = p[None] - p[:, None]
        r = (d**2).sum(-1, keepdims=True) + 0.01
        speed += 0.001 * (d / r**1.5).sum(1)
        p = p + 0.001 * speed
    return [(x.to_numpy(), p), (v.to_numpy(), speed)]


@program(rtol=1e-5)
def stencil(qd: Any, rng: Rng) -> Found:
    a, b = qd.field(float, (24, 24)), qd.field(float, (24, 24))

    @qd.func
    def step(x: qd.template(), y: qd.template()):
        for i, j in qd.ndrange((1, 23), (1, 23)):
            y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])

    @qd.kernel
    def run():
        for _ in qd.static(range(3)):
            step(a, b)
            step(b, a)

    x = rng.random((24, 24)).astype(np.float32)
    a.from_numpy(x)
    b.from_numpy(x)
    run()
    z = x.astype(np.float64)
    for _ in range(6):
        z[1:-1, 1:-1] = 0.25 * (z[:-2, 1:-1] + z[2:, 1:-1] + z[1:-1, :-2] + z[1:-1, 2:])
    return [(a.to_numpy(), z)]
