"""Vectors and matrices as values, and tensors of them, against NumPy."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import quadrants as qd


def run_one(body, *args):
    """What a function gives in a kernel, as an array."""
    made = qd.kernel(body)(*args)
    return np.array(made.to_list() if hasattr(made, "to_list") else made)


A = np.array([[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]], np.float32)
V, W = np.array([1.0, 2.0, 3.0], np.float32), np.array([-2.0, 0.5, 4.0], np.float32)


def test_methods_of_vectors() -> None:
    def body(v: qd.template(), w: qd.template()):
        a, b = v[None], w[None]
        return a.dot(b), a.norm(), a.norm_sqr(), a.sum(), a.max(), b.min(), (a > 0).all(), (b < 0).any()

    v, w = qd.Vector.field(3, float, shape=()), qd.Vector.field(3, float, shape=())
    v[None], w[None] = V, W
    found = qd.kernel(body)(v, w)
    expected = (V @ W, np.linalg.norm(V), V @ V, V.sum(), V.max(), W.min(), True, True)
    assert np.allclose(found, expected)


@pytest.mark.parametrize(
    "body, expected",
    [
        (lambda a, v, w: a @ v, A @ V),
        (lambda a, v, w: v @ a, V @ A),
        (lambda a, v, w: a @ a, A @ A),
        (lambda a, v, w: a.transpose(), A.T),
        (lambda a, v, w: a.inverse(), np.linalg.inv(A)),
        (lambda a, v, w: a.determinant(), np.linalg.det(A)),
        (lambda a, v, w: a.trace(), A.trace()),
        (lambda a, v, w: v.cross(w), np.cross(V, W)),
        (lambda a, v, w: v.outer_product(w), np.outer(V, W)),
        (lambda a, v, w: w.normalized(), W / np.linalg.norm(W)),
        (lambda a, v, w: (v + 1) * w - v / w, (V + 1) * W - V / W),
        (lambda a, v, w: v**2 - -w, V**2 + W),
        (lambda a, v, w: v.zyx, V[::-1]),
        (lambda a, v, w: v.xy, V[:2]),
        (lambda a, v, w: a[1, :], A[1]),
        (lambda a, v, w: a[:, 2], A[:, 2]),
        (lambda a, v, w: a[0:2, 1:3], A[:2, 1:3]),
        (lambda a, v, w: qd.max(v, w), np.maximum(V, W)),
        (lambda a, v, w: min(v, w), np.minimum(V, W)),
        (lambda a, v, w: abs(w), abs(W)),
        (lambda a, v, w: qd.select(v > w, v, w), np.maximum(V, W)),
        (lambda a, v, w: qd.floor(w, int), np.floor(W)),
        (lambda a, v, w: qd.cast(w, qd.i32), W.astype(np.int32)),
        (lambda a, v, w: qd.sin(v) + qd.exp(w), np.sin(V) + np.exp(W)),
        (lambda a, v, w: qd.sqrt(v), np.sqrt(V)),
        (lambda a, v, w: qd.math.clamp(w, 0.0, 1.0), np.clip(W, 0, 1)),
        (lambda a, v, w: qd.math.mix(v, w, 0.25), V * 0.75 + W * 0.25),
        (lambda a, v, w: qd.math.length(v), np.linalg.norm(V)),
        (lambda a, v, w: qd.math.normalize(v), V / np.linalg.norm(V)),
        (lambda a, v, w: qd.math.fract(w), W - np.floor(W)),
        (lambda a, v, w: qd.math.sign(w), np.sign(W)),
        (lambda a, v, w: qd.Matrix.identity(float, 3) * 2, 2 * np.eye(3)),
        (lambda a, v, w: qd.Matrix.cols([v, w]), np.stack([V, W], axis=1)),
        (lambda a, v, w: qd.Matrix.rows([v, w]), np.stack([V, W])),
        (lambda a, v, w: qd.Vector([x * 2 for x in v]), 2 * V),
        (lambda a, v, w: qd.Vector.unit(3, 1), np.array([0, 1, 0])),
        (lambda a, v, w: qd.math.vec3(1.0, w.xy), np.array([1, *W[:2]])),
        (lambda a, v, w: qd.atan2(v, w), np.arctan2(V, W)),
    ],
)
def test_expressions(body, expected) -> None:
    @qd.kernel
    def run(a: qd.types.ndarray(), v: qd.types.ndarray(), w: qd.types.ndarray()):
        return body(a[None], v[None], w[None])

    tensors = [qd.Matrix.ndarray(3, 3, qd.f32, ()), qd.Vector.ndarray(3, qd.f32, ()), qd.Vector.ndarray(3, qd.f32, ())]
    for tensor, value in zip(tensors, (A, V, W)):
        tensor.from_numpy(value)
    found = run(*tensors)
    assert np.allclose(np.asarray(found), expected, rtol=1e-5, atol=1e-6)


def test_elements_are_assigned() -> None:
    @qd.kernel
    def run(k: int):
        v = qd.Vector([0.0, 0.0, 0.0])
        u = v
        v[0] = 1
        v.y += 2.5
        v[k] = 7
        m = qd.Matrix.zero(float, 2, 3)
        m[1, :] = v
        m[0, k] = 3
        m[0, 0:2] += 1
        return u, v, m

    u, v, m = run(2)
    assert u.to_list() == [0, 0, 0] and v.to_list() == [1, 2.5, 7]
    assert m.to_list() == [[1, 1, 3], [1, 2.5, 7]]
    with pytest.raises(IndexError):
        run(3)


def test_vectors_in_loops_and_branches() -> None:
    @qd.kernel
    def run(out, n: int):
        for i in range(out.shape[0]):
            p = qd.Vector([0.0, 1.0])
            for k in range(n):
                if k % 2 == 0:
                    p = p * 1.5
                else:
                    p[0] += i
            out[i] = p.x + p.y

    out = np.zeros(20, np.float32)
    run(out, 5)
    expected = []
    for i in range(20):
        p = np.array([0.0, 1.0])
        for k in range(5):
            if k % 2 == 0:
                p = p * 1.5
            else:
                p[0] += i
        expected.append(p.sum())
    assert np.allclose(out, expected)


def test_tensors_of_vectors() -> None:
    x = qd.Vector.field(3, dtype=qd.f32, shape=(4, 5))
    m = qd.Matrix.field(2, 2, dtype=qd.f64, shape=4)

    @qd.kernel
    def fill():
        for i, j in x:
            x[i, j] = qd.Vector([i, j, i + j])
            x[i, j].z *= 2
        for index in qd.grouped(x):
            x[index][0] += 0.5
        for i in m:
            m[i] = [[i, 0], [0, 1]]
            m[i][0, 1] -= 3

    fill()
    i, j = np.mgrid[0:4, 0:5]
    assert np.array_equal(x.to_numpy(), np.stack([i + 0.5, j, 2 * (i + j)], axis=-1).astype(np.float32))
    assert np.array_equal(m.to_numpy()[:, 0, 1], [-3.0] * 4) and np.array_equal(m.to_numpy()[:, 0, 0], range(4))


def test_the_host_side_of_tensors() -> None:
    x = qd.Vector.tensor(3, qd.f32, (2, 4), layout=(1, 0), needs_grad=True)
    assert x.shape == (2, 4) and x.n == 3 and x.has_grad() and x.grad.shape == (2, 4) and repr(x.dtype) == "float32"
    x[1, 2] = [1, 2, 3]
    assert x[1, 2].to_list() == [1, 2, 3] and x[0, 0].norm() == 0
    assert x.to_numpy(copy=False).strides == (12, 24, 4)
    again = pickle.loads(pickle.dumps(x))
    assert np.array_equal(again.to_numpy(), x.to_numpy()) and again.layout == (1, 0)
    x.fill(2)
    again.copy_from(x)
    assert (again.to_numpy() == 2).all()
    scalar = qd.field(qd.i32, shape=())
    scalar[None] = 5
    assert scalar[None] == 5 and scalar[()] == 5 and scalar.shape == ()
    scalar.anything = 1
    with pytest.raises(ValueError, match="shape"):
        x.from_numpy(np.zeros(3))

    @qd.kernel
    def twice(y: qd.Tensor, s: qd.template()):
        for i, j in qd.ndrange(y.shape[0], y.shape[1]):
            y[i, j] *= s[None]
        s[None] += 1

    twice(x, scalar)
    assert (x.to_numpy() == 10).all() and scalar[None] == 6


def test_random_numbers() -> None:
    @qd.kernel
    def draw(x, y):
        for i in range(x.shape[0]):
            x[i] = qd.random()
            y[i] = qd.randn()

    x, y = np.zeros(100_000, np.float32), np.zeros(100_000, np.float32)
    draw(x, y)
    assert 0 <= x.min() and x.max() < 1 and abs(x.mean() - 0.5) < 0.01 and abs(x.var() - 1 / 12) < 0.01
    assert abs(y.mean()) < 0.02 and abs(y.var() - 1) < 0.03 and np.unique(x).size > 90_000


def test_values_on_the_host() -> None:
    v = qd.Vector([3.0, 4.0])
    assert v.norm() == 5 and (v + 1).to_list() == [4, 5] and v.x == 3 and v.dot([1, 1]) == 7
    m = qd.Matrix([[1.0, 2.0], [3.0, 4.0]])
    assert m[1, 0] == 3 and (m @ v).to_list() == [11, 25] and math.isclose(m.determinant(), -2)
    assert qd.types.vector(2, qd.i32)(1.5, 2).to_list() == [1, 2]
    g = qd.Vector([0.0, -9.8])

    @qd.kernel
    def fall(x):
        for i in range(x.shape[0]):
            x[i] = g.y * 2 + g[0]

    x = np.zeros(2)
    fall(x)
    assert np.allclose(x, -19.6)


def test_sizes_that_do_not_fit_are_errors() -> None:
    @qd.kernel
    def add(a: float):
        return qd.Vector([a, a]) + qd.Vector([a, a, a])

    with pytest.raises(qd.CompileError, match="different sizes"):
        add(1.0)

    @qd.kernel
    def static(x):
        for i in qd.static(range(x.shape[0])):
            x[i] = 1

    with pytest.raises(qd.CompileError, match="known when the kernel is compiled"):
        static(np.zeros(3))


def test_elements_are_assigned_in_loops_and_branches() -> None:
    @qd.kernel
    def run(k: int):
        a = qd.Matrix.zero(float, 3, 3)
        v = qd.Vector([0.0, 0.0, 0.0])
        for i in range(3):
            for j in range(3):
                a[i, j] = i * 3 + j
            if i > 0:
                v[i] = 5
            v.x += 1
        n = 0
        while n < k:
            v[1] *= 2
            n += 1
        return a, v

    a, v = run(2)
    assert a.to_list() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]] and v.to_list() == [3, 20, 5]


def test_variables_that_turns_hand_on_run_in_order() -> None:
    @qd.kernel
    def fibonacci(n: int) -> int:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    assert [fibonacci(n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
