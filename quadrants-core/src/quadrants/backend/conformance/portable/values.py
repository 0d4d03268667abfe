"""Portable programs: functions, vectors, matrices, structs.

Without annotations of the future: kernels read theirs when they are defined.
"""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False, disable-error-code="valid-type"

import dataclasses
from typing import Any

import numpy as np

from quadrants.backend.conformance.portable.program import Found, Rng, floats, program

# Functions


@program()
def functions(qd: Any, rng: Rng) -> Found:
    @qd.func
    def clamp(x, low: float = -1.0, high=2.0):
        if x < low:
            return low
        return high if x > high else x

    @qd.func
    def both(x):
        return clamp(x), clamp(x, high=3.0)

    @qd.kernel
    def run(x, y):
        for i in range(x.shape[0]):
            a, b = both(x[i])
            y[i] = a + 10 * b

    x, y = floats(rng, 150), np.zeros(150, np.float32)
    run(x, y)
    return [(y, np.clip(x, -1, 2) + 10 * np.clip(x, -1, 3))]


@program()
def functions_with_loops(qd: Any, rng: Rng) -> Found:
    @qd.func
    def fill(x, value):
        for i in range(x.shape[0]):
            x[i] = value + i

    @qd.func
    def both(x, y):
        fill(x, 1)
        if x.shape[0] > 3:
            fill(y, 5)

    @qd.kernel
    def run(x, y):
        both(x, y)
        for i in range(x.shape[0]):
            x[i] += y[i]

    x, y = np.zeros(200, np.int32), np.zeros(200, np.int32)
    run(x, y)
    k = np.arange(200)
    return [(x, 2 * k + 6), (y, k + 5)]


@program()
def references(qd: Any, rng: Rng) -> Found:
    @qd.func
    def grow(v: qd.template(), by):
        v[0] += by
        v.y = 5.0

    @qd.kernel
    def run(x):
        for i in range(x.shape[0]):
            v = qd.Vector([1.0, 2.0])
            grow(v, i)
            x[i] = v[0] * 10 + v[1]

    x = np.zeros(40, np.float32)
    run(x)
    return [(x, 10.0 * (np.arange(40) + 1) + 5)]


@program()
def static_loops(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, n: qd.template(), flag: qd.template()):
        for i in range(x.shape[0]):
            for k in qd.static(range(n)):
                x[i] = x[i] * 2 + k
            if qd.static(flag):
                for a, b in qd.static(qd.ndrange(2, 2)):
                    x[i] += a * b

    x = np.arange(50, dtype=np.int32)
    y = x.copy()
    run(x, 3, True)
    run(y, 1, False)
    k = np.arange(50)
    return [(x, ((k * 2) * 2 + 1) * 2 + 2 + 1), (y, k * 2)]


# Vectors, matrices, structs


@program(rtol=1e-6)
def vectors(qd: Any, rng: Rng) -> Found:
    x, y = qd.Vector.field(3, float, 60), qd.field(float, 60)

    @qd.kernel
    def run():
        for i in x:
            a = x[i]
            b = qd.Vector([a.z, a.x, 1.0])
            y[i] = a.dot(b) + a.cross(b).norm_sqr()
            x[i] = a.zyx * 2 + b
            x[i].y -= 1

    a = floats(rng, 60, 3)
    b = np.stack([a[:, 2], a[:, 0], np.ones(60, np.float32)], axis=-1)
    x.from_numpy(a)
    run()
    expected = a[:, ::-1] * 2 + b - np.array([0, 1, 0], np.float32)
    return [(x.to_numpy(), expected), (y.to_numpy(), (a * b).sum(1) + (np.cross(a, b) ** 2).sum(1))]


@program(rtol=1e-5)
def matrices(qd: Any, rng: Rng) -> Found:
    m = qd.Matrix.field(2, 2, float, 40)

    @qd.kernel
    def run(d, t):
        for i in m:
            a = m[i]
            d[i] = a.determinant()
            t[i] = (a @ a.transpose()).trace()
            m[i] = a.inverse() @ qd.Matrix([[2.0, 0.0], [1.0, 1.0]])

    a = np.eye(2, dtype=np.float32) * 6 + floats(rng, 40, 2, 2)
    m.from_numpy(a)
    d, t = np.zeros(40, np.float32), np.zeros(40, np.float32)
    run(d, t)
    expected = np.linalg.inv(a.astype(np.float64)) @ np.array([[2.0, 0.0], [1.0, 1.0]])
    return [(d, np.linalg.det(a)), (t, (a * a).sum((1, 2))), (m.to_numpy(), expected)]


@program()
def indices_into_vectors(qd: Any, rng: Rng) -> Found:
    @qd.kernel
    def run(x, which):
        for i in range(x.shape[0]):
            v = qd.Vector([1, 2, 3, 4])
            k = which[i]
            v[k] += 10
            x[i] = v[k] + v[3 - k] * 100

    which, x = rng.integers(0, 4, 64).astype(np.int32), np.zeros(64, np.int32)
    run(x, which)
    return [(x, which + 11 + 100 * (4 - which))]


@program()
def structs(qd: Any, rng: Rng) -> Found:
    ball = qd.types.struct(pos=qd.types.vector(2, float), mass=float)
    balls = ball.field(shape=33)

    @qd.kernel
    def run():
        for i in balls:
            balls[i] = ball(pos=[i, 1], mass=i + 1)
            balls[i].pos.y += balls[i].mass
            balls[i].mass *= 2

    run()
    k = np.arange(33)
    return [(balls.pos.to_numpy(), np.stack([k, k + 2], axis=-1)), (balls.mass.to_numpy(), 2 * k + 2)]


@program()
def dataclasses_of_tensors(qd: Any, rng: Rng) -> Found:
    @dataclasses.dataclass(frozen=True)
    class State:
        q: qd.Tensor
        v: qd.Tensor

    @qd.kernel
    def step(state: State, dt: float):
        for i in range(state.q.shape[0]):
            state.q[i] += state.v[i] * dt

    q, v = floats(rng, 45), floats(rng, 45)
    state = State(q=qd.tensor(float, 45), v=qd.tensor(float, 45))
    state.q.from_numpy(q)
    state.v.from_numpy(v)
    step(state, 0.5)
    step(state, 0.5)
    return [(state.q.to_numpy(), q + v), (state.v.to_numpy(), v)]


@program()
def methods_of_objects(qd: Any, rng: Rng) -> Found:
    @qd.data_oriented
    class Counter:
        def __init__(self) -> None:
            self.n = 3
            self.x = qd.field(qd.i32, shape=20)

        @qd.func
        def amount(self, i):
            return i * self.n

        @qd.kernel
        def step(self, by: int) -> int:
            for i in self.x:
                self.x[i] += by + self.amount(i)
            return self.n

    counter = Counter()
    found = [counter.step(2), counter.step(5)]
    return [(counter.x.to_numpy(), 7 + 6 * np.arange(20)), (found, [3, 3])]
