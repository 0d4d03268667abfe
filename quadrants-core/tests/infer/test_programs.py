"""Programs over the whole language: the IR against CPython and NumPy, before and after the passes."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest
from inferring import agrees

P = namedtuple("P", "x y")
G = 3
GA = np.array([1.0, 2.0, 3.0])
GT = (1, 2.5, "a")


def f1(n):
    t = 0
    for i in range(n):
        for j in range(i):
            if j % 3 == 0:
                continue
            if j > 7:
                break
            t += i * j
        else:
            t += 100
    return t


def f2(a, b):
    return a < b < 10, a if a > b else b, a and b, a or b, not a


def f3(x):
    y = None
    for i in range(len(x)):
        if x[i] > 2:
            y = x[i]
            break
    if y is None:
        return -1.0
    return y * 2


def f4(p):
    return p.x + p.y, p[0], p._replace(x=7)


def f5(a, b=2, *args, c=4):
    return a + b + c + len(args)


def f6():
    return G * 2, GA[1] + GA.sum(), GT[1]


def f7(x):
    if x > 0:
        z = 1
    return z


def f8(x):
    a = x[::2]
    b = x[::-1]
    c = x[1:-1]
    return a, b, c, x[None, :], x[..., 0] if x.ndim > 1 else x[0]


def f9(A):
    return (
        A[1],
        A[:, 1],
        A[::2, 1:],
        A.T,
        A[..., None],
        A[-1, -1],
        A.shape,
        A.reshape(-1),
        A.reshape(2, 6),
        A.T.reshape(-1),
    )


def f10(A):
    A[1] = 5
    A[:, 0] += 1
    A[0, 1:3] = A[1, 1:3] * 2
    A[A > 20] = 0
    return A


def f11(x, y):
    return (
        x + y,
        x - y[:, None],
        x * 2,
        x / 3,
        x // 2,
        x % 2,
        x**2,
        -x,
        x > 1,
        (x > 0) & (x < 3),
        np.where(x > 1, x, y),
        np.maximum(x, y),
        np.exp(-x),
    )


def f12(x):
    return x * 2.0, x + 1, np.float32(2) * x[0], x[0] * 2.0, np.sqrt(x)


def f13(n):
    def fact(k):
        return 1 if k <= 1 else k * fact(k - 1)

    return fact(n)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def app(f, x):
    return f(x)


def f14(x):
    k = 3.0
    return app(lambda t: t * k, x) + app(math.sqrt, x) + app(abs, -x)


def f15(x):
    try:
        if x < 0:
            raise ValueError("neg", x)
        if x == 0:
            return 1 / x
        return x
    except ZeroDivisionError:
        return -1.0
    except (ValueError, KeyError):
        return -2.0
    else:
        return 9.0


def f16(x):
    r = 0
    for i in range(5):
        try:
            if i == x:
                raise IndexError(f"bad {i}")
            r += i
        except IndexError:
            r += 100
            continue
        finally:
            r += 1000
    return r


def f17(x):
    assert x > 0, f"x was {x}"
    return x


def f18(a, b, c):
    for i, (x, y) in enumerate(zip(a, b)):
        c[i] = x * y + i
    for i in reversed(range(3)):
        c[i] -= 1
    return c


def f19(z):
    return z * z, z.real, z.imag, abs(z), z + 1, z / 2j, z.conjugate(), z == z, z**2


def f20(z):
    return z * z, z.real, z.imag, np.abs(z), z + 1, np.exp(z)


def f21(a, b):
    return a // b, a % b, divmod(a, b), a**b if b >= 0 else 0, a << 2, a >> 1, a & b, a | b, a ^ b, ~a, -a, +a


def f22(a, b):
    return a // b, a % b, a / b, a * b, a + b


def f23(x):
    return int(x), float(x), bool(x), complex(x), round(x), round(x, 2), abs(x), min(x, 1), max(x, 1, 2.5)


def f24(n):
    a = np.zeros(n)
    b = np.ones(n)
    for _ in range(10):
        a, b = b, a + b
    return a


def f25(A, B):
    return (
        A @ B,
        np.dot(A, B),
        A.sum(axis=0),
        A.mean(axis=1, keepdims=True),
        A.max(),
        np.argmax(A),
        A.std(),
        np.linalg.norm(A) if False else 1,
    )


def f26(n):
    return (
        np.arange(n),
        np.linspace(0, 1, n),
        np.eye(n),
        np.full((2, n), 7),
        np.zeros((n, 2), dtype=np.int32),
        np.array([1.0, 2.0, n]),
        np.array([[1, 2], [3, 4]]),
    )


def f27(x):
    s = 0
    i = 0
    while True:
        i += 1
        if i > len(x):
            break
        s += x[i - 1]
    else:
        s = -1
    return s


def f28(x, flag=None):
    if flag is not None and flag > 2:
        return x + flag
    if flag:
        return x
    return -x


def f29(t):
    s = 0
    for v in t:
        s += v
    return s, sum(t), t[-1], t + (1,), t * 2, len(t), 3 in t, t == (1, 2, 3)


def f30(t, i):
    return t[i]


def f31(x):
    return x[:, np.newaxis] * x[np.newaxis, :], x[x > 1], (x > 1).any(), np.isnan(x)


def f32(x):
    x = x.copy()
    x[0] = 99
    return x


def f33(x):
    return isinstance(x, int), isinstance(x, (float, np.floating)), type(x) is int


def f34(a, n):
    return a[n:], a[:n], a[n : n + 2], a[-n:], a[::n], a[5:1:-1]


def f35(x, y, z):
    return x < y < z, x <= y, x != y, x == y


def f36(a):
    b = a.reshape(2, -1)
    b[0, 0] = 100
    return a, b, a.ravel(), a.flatten(), a.astype(np.float32), a.T, a.size, a.ndim, a.nbytes, a.itemsize


def f37(x):
    y = x
    y += 1
    y *= 2
    return y is x, y


def f38(i):
    return GA[i]


def f39(a):
    return (
        np.sum(a),
        np.mean(a),
        np.var(a),
        np.prod(a),
        np.cumsum(a),
        np.percentile(a, 30),
        np.all(a > 0),
        np.argmin(a),
        np.clip(a, 1, 2),
        np.sort(a),
    )


CASES = [
    (f1, (12,)),
    (
        f2,
        (
            3,
            5,
        ),
    ),
    (
        f2,
        (
            0,
            2,
        ),
    ),
    (f3, (np.array([1.0, 2, 3, 4]),)),
    (f3, (np.array([1.0, 2]),)),
    (f4, (P(1, 2.5),)),
    (f5, (1,)),
    (
        f5,
        (
            1,
            3,
        ),
    ),
    (f6, ()),
    (f7, (1,)),
    (f7, (-1,)),
    (f8, (np.arange(7.0),)),
    (f9, (np.arange(12).reshape(3, 4),)),
    (f10, (np.arange(12.0).reshape(3, 4),)),
    (
        f11,
        (
            np.arange(3.0),
            np.ones(3),
        ),
    ),
    (
        f11,
        (
            np.arange(3),
            np.ones(3, np.int32),
        ),
    ),
    (
        f11,
        (
            np.arange(3, dtype=np.float32),
            np.ones(3, np.float32),
        ),
    ),
    (f12, (np.arange(3, dtype=np.float32),)),
    (f12, (np.arange(3, dtype=np.int8),)),
    (f12, (np.arange(3, dtype=np.uint8),)),
    (f13, (6,)),
    (even, (7,)),
    (f14, (4.0,)),
    (f15, (0.0,)),
    (f15, (-1.0,)),
    (f15, (5.0,)),
    (f16, (2,)),
    (f16, (9,)),
    (f17, (1,)),
    (f17, (-1,)),
    (
        f18,
        (
            np.arange(4.0),
            np.arange(4.0),
            np.zeros(4),
        ),
    ),
    (f19, (1 + 2j,)),
    (f19, (np.complex64(1 + 2j),)),
    (f20, (np.array([1 + 2j, 3 - 1j]),)),
    (
        f21,
        (
            7,
            3,
        ),
    ),
    (
        f21,
        (
            -7,
            3,
        ),
    ),
    (
        f21,
        (
            7,
            -3,
        ),
    ),
    (
        f22,
        (
            np.int32(7),
            np.int32(-3),
        ),
    ),
    (
        f22,
        (
            np.uint8(200),
            np.uint8(100),
        ),
    ),
    (
        f22,
        (
            np.float32(7.5),
            2,
        ),
    ),
    (
        f22,
        (
            7.5,
            -2.0,
        ),
    ),
    (f23, (2.567,)),
    (f23, (3,)),
    (f24, (3,)),
    (
        f25,
        (
            np.arange(6.0).reshape(2, 3),
            np.arange(6.0).reshape(3, 2),
        ),
    ),
    (f26, (4,)),
    (f27, (np.arange(5),)),
    (f28, (1,)),
    (
        f28,
        (
            1,
            3,
        ),
    ),
    (
        f28,
        (
            1,
            0,
        ),
    ),
    (f29, ((1, 2, 3),)),
    (f29, ((1, 2.5, 3),)),
    (
        f30,
        (
            (1, 2, 3),
            1,
        ),
    ),
    (
        f30,
        (
            (1, 2, 3),
            -1,
        ),
    ),
    (
        f30,
        (
            (1, 2, 3),
            5,
        ),
    ),
    (f31, (np.arange(4.0),)),
    (f32, (np.arange(3),)),
    (f33, (1,)),
    (f33, (2.0,)),
    (
        f34,
        (
            np.arange(8),
            2,
        ),
    ),
    (
        f34,
        (
            np.arange(8),
            3,
        ),
    ),
    (
        f34,
        (
            np.arange(8),
            -2,
        ),
    ),
    (
        f35,
        (
            1,
            2.0,
            3,
        ),
    ),
    (
        f35,
        (
            np.uint64(5),
            -1,
            np.int8(3),
        ),
    ),
    (f36, (np.arange(6),)),
    (f37, (np.arange(3),)),
    (f38, (1,)),
    (f38, (7,)),
    (f39, (np.array([3.0, 1, 2]),)),
]


@pytest.mark.parametrize(("function", "args"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_agrees_with_python(function, args):
    agrees(function, *args)
