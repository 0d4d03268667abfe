"""Programs of numerical courses and physics do compiled what they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

#: Source -> the arguments of its calls, one a call (several in a tuple).
COURSES = {
    """
def force(x, m):
    n = x.shape[0]
    F = np.zeros_like(x)
    for i in range(n):
        for j in range(i + 1, n):
            d = x[j] - x[i]
            r2 = np.dot(d, d)
            fij = m[i] * m[j] * d / (r2 * np.sqrt(r2))
            F[i] += fij
            F[j] -= fij
    return F

def f(x, m):
    return force(x, m)
""": [(np.arange(12.0).reshape(4, 3) ** 1.3, np.ones(4))],
    """
def f(u, steps, r):
    for _ in range(steps):
        un = u.copy()
        u[1:-1] = un[1:-1] + r * (un[2:] - 2 * un[1:-1] + un[:-2])
    return u
""": [(np.array([0.0, 0, 1, 0, 0]), 5, 0.25)],
    """
def f(s, seed, T):
    n = len(s)
    acc = 0
    x = seed
    for k in range(n * n):
        x = (x * 1103515245 + 12345) % 2147483648
        i = x % n
        x = (x * 1103515245 + 12345) % 2147483648
        j = x % n
        dE = 2 * s[i, j] * (s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % n] + s[i, j - 1])
        if dE <= 0 or x / 2147483648 < math.exp(-dE / T):
            s[i, j] = -s[i, j]
            acc += 1
    return (acc, s.sum())
""": [(np.ones((4, 4), np.int64), 7, 2.5)],
    """
def f(A, b):
    n = len(b)
    A = A.copy()
    b = b.copy()
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if A[p, k] == 0:
            raise ValueError('singular')
        if p != k:
            tmp = A[k].copy()
            A[k] = A[p]
            A[p] = tmp
            b[k], b[p] = (b[p], b[k])
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
    return x
""": [(np.array([[2.0, 1, 1], [1, 3, 2], [1, 0, 0]]), np.array([4.0, 5, 6])), (np.zeros((2, 2)), np.ones(2))],
    """
def f(g, n):
    for _ in range(n):
        new = np.zeros_like(g)
        h, w = g.shape
        for i in range(h):
            for j in range(w):
                c = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if (di, dj) != (0, 0):
                            c += g[(i + di) % h, (j + dj) % w]
                new[i, j] = 1 if c == 3 or (c == 2 and g[i, j]) else 0
        g = new
    return g
""": [(np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], np.int32), 3)],
    """
def f(n):
    hist = np.zeros(5, dtype=np.int32)
    for i in range(n):
        hist[i * i % 5] += 1
    mx, arg = (hist[0], 0)
    for i, h in enumerate(hist):
        if h > mx:
            mx, arg = (h, i)
    return (mx, arg, hist)
""": [17],
    """
def f(x, coef):
    r = 0.0
    for c in coef[::-1]:
        r = r * x + c
    return r
""": [(2.0, np.array([1.0, 2, 3])), (2, (1, 2, 3))],
    """
def simpson(g, a, b, n=10):
    if n % 2:
        n += 1
    h = (b - a) / n
    s = g(a) + g(b)
    for i in range(1, n):
        s += (4 if i % 2 else 2) * g(a + i * h)
    return s * h / 3

def f(a, b):
    return (simpson(math.sin, a, b), simpson(lambda x: x ** 2, a, b, n=7))
""": [(0.0, 1.0), (0, 2)],
    """
def f(n):
    bits = 0
    while n:
        n &= n - 1
        bits += 1
    return bits
""": [255, 0],
    """
def f(x):
    h = 5381
    for c in (1, 2, x):
        h = (h << 5) + h + c & 4294967295
    return h
""": [7],
    """
def f(a):
    h = np.uint32(2166136261)
    for b in a:
        h ^= np.uint32(b)
        h *= np.uint32(16777619)
    return h
""": [np.arange(5, dtype=np.uint8)],
    """
def f(n):
    s = np.uint64(n)
    for _ in range(3):
        s ^= s << np.uint64(13)
        s ^= s >> np.uint64(7)
        s ^= s << np.uint64(17)
    return s
""": [12345],
    """
def f(a, b):
    if a > b:
        a, b = (b, a)
    return a if a == b else (a + b) / 2
""": [(1, 2), (2, 2)],
    """
def f(x, *, scale=2, off=None):
    return x * scale + (off or 0)
""": [3],
    """
def f(a):
    m = a[0]
    i = 0
    for k in range(1, len(a)):
        if a[k] < m:
            m = a[k]
            i = k
    return (m, i)
""": [np.array([3.0, 1, 2]), (3, 1, 2)],
    """
def f(a):
    out = np.empty(len(a))
    s = 0
    for i in range(len(a)):
        s += a[i]
        out[i] = s / (i + 1)
    return out
""": [np.array([3, 1, 2])],
    """
def f(a, k):
    n = a.shape[0]
    lo, hi = (0, n - 1)
    while lo <= hi:
        m = lo + (hi - lo) // 2
        if a[m] == k:
            return m
        if a[m] < k:
            lo = m + 1
        else:
            hi = m - 1
    return -1
""": [(np.arange(10), 7), (np.arange(10), 70)],
    """
def f(x):
    t = x
    n = 0
    s = 0.0
    while abs(t) > 1e-12 and n < 100:
        s += t
        n += 1
        t *= -x * x / (2 * n * (2 * n + 1))
    return (s, n)
""": [1.0, 2],
    """
def f(x0):
    x = x0
    for k in range(100):
        fx = x * x - 2
        d = 2 * x
        if d == 0:
            raise ZeroDivisionError('flat')
        dx = fx / d
        x -= dx
        if abs(dx) < 1e-14:
            break
    else:
        return None
    return (x, k)
""": [1.0, 1, 0],
    """
def f(m):
    r = np.eye(2, dtype=np.int64)
    b = np.array([[1, 1], [1, 0]])
    while m:
        if m & 1:
            r = r @ b
        b = b @ b
        m >>= 1
    return r[0, 1]
""": [30],
    """
def f(n):
    return [(i, j) for i in range(n) for j in range(i) if (i + j) % 2]
""": [5],
    """
def f(n):
    q = [0]
    d = [-1] * n
    d[0] = 0
    h = 0
    while h < len(q):
        u = q[h]
        h += 1
        for v in (u * 2 % n, (u + 1) % n):
            if d[v] < 0:
                d[v] = d[u] + 1
                q.append(v)
    return d
""": [9],
    """
def f(w, v, c):
    best = [0] * (c + 1)
    for i in range(len(w)):
        for j in range(c, w[i] - 1, -1):
            best[j] = max(best[j], best[j - w[i]] + v[i])
    return best[c]
""": [(np.array([1, 3, 4]), np.array([15, 20, 30]), 6), ((1, 3, 4), (15, 20, 30), 6)],
    """
def f(x):
    return 0 if x < 0 else x * 0.5 if x < 10 else 'big' if x < 100 else None
""": [-1, 5, 50, 500],
    """
def f(x):
    return (1, 2) if x else 3
""": [0, 1],
    """
def f(x):
    return x or 2.5
""": [0, 1],
    """
def f(x):
    return x and 2.5
""": [0, 1],
    """
def f(n):
    return 1 if n == 0 else n * f(n - 1)
""": [5],
}


@pytest.mark.parametrize("source", COURSES)
def test_programs(source: str) -> None:
    for args in COURSES[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))
