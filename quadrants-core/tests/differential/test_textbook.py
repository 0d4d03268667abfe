"""Small programs as textbooks and collections have them do compiled what they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

#: Source -> the arguments of its calls, one a call (several in a tuple).
PROGRAMS = {
    """
def f(n):
    for i in range(1, n + 1):
        print('FizzBuzz' if i % 15 == 0 else 'Fizz' if i % 3 == 0 else 'Buzz' if i % 5 == 0 else i)
    return n
""": [3],
    """
def f(n):
    s = ''
    while n > 0:
        s = str(n % 2) + s
        n //= 2
    return s or '0'
""": [10, 0],
    """
def f(n):
    r = ''
    for v, c in ((1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):
        while n >= v:
            r += c
            n -= v
    return r
""": [1994],
    """
def f(n):
    c = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        c += 1
    return c
""": [27],
    """
def f(a, b):
    while b:
        a, b = (b, a % b)
    return a
""": [(48, 18)],
    """
def f(n):

    def place(row, cols, d1, d2):
        if row == n:
            return 1
        c = 0
        for k in range(n):
            if not cols >> k & 1 and (not d1 >> row + k & 1) and (not d2 >> row - k + n & 1):
                c += place(row + 1, cols | 1 << k, d1 | 1 << row + k, d2 | 1 << row - k + n)
        return c
    return place(0, 0, 0, 0)
""": [6],
    """
def rk4(g, t, y, h):
    k1 = g(t, y)
    k2 = g(t + h / 2, y + h / 2 * k1)
    k3 = g(t + h / 2, y + h / 2 * k2)
    k4 = g(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

def f(n):
    y = 1.0
    for i in range(n):
        y = rk4(lambda t, y: -2 * t * y, i * 0.1, y, 0.1)
    return y
""": [10],
    """
def f(lo, hi, tol=1e-10):
    g = lambda x: x ** 3 - x - 2
    if g(lo) * g(hi) > 0:
        raise ValueError('no sign change')
    while hi - lo > tol:
        mid = (lo + hi) / 2
        if g(mid) == 0:
            return mid
        if g(lo) * g(mid) < 0:
            hi = mid
        else:
            lo = mid
    return (lo + hi) / 2
""": [(1, 2), (2, 3), (1.0, 2.0)],
    """
def f(a, x):
    lo, hi = (0, len(a))
    while lo < hi:
        mid = lo + hi >> 1
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo if lo < len(a) and a[lo] == x else None
""": [(np.array([1, 3, 5, 7]), 5), (np.array([1, 3, 5, 7]), 4)],
    """
def qs(a, lo, hi):
    if lo < hi:
        p = a[hi]
        i = lo - 1
        for j in range(lo, hi):
            if a[j] <= p:
                i += 1
                a[i], a[j] = (a[j], a[i])
        a[i + 1], a[hi] = (a[hi], a[i + 1])
        qs(a, lo, i)
        qs(a, i + 2, hi)

def f(a):
    qs(a, 0, len(a) - 1)
    return a
""": [np.array([3, 1, 2, 9, 4])],
    """
def f(s, t):
    m, n = (len(s), len(t))
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(m + 1):
        d[i, 0] = i
    for j in range(n + 1):
        d[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (s[i - 1] != t[j - 1]))
    return int(d[m, n])
""": [("kitten", "sitting")],
    """
def fft(x):
    n = len(x)
    if n == 1:
        return x.copy()
    e = fft(x[::2])
    o = fft(x[1::2])
    r = np.empty(n, np.complex128)
    for k in range(n // 2):
        t = np.exp(-2j * np.pi * k / n) * o[k]
        r[k] = e[k] + t
        r[k + n // 2] = e[k] - t
    return r

def f(x):
    return fft(x)
""": [np.arange(8) + 0j],
    """
def f(w, h, it):
    out = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(w):
            c = complex(-2 + 3 * j / w, -1 + 2 * i / h)
            z = 0j
            for k in range(it):
                z = z * z + c
                if abs(z) > 2:
                    out[i, j] = k
                    break
    return out
""": [(8, 6, 20)],
    """
def f(seed, n):
    x = seed
    t = 0
    for _ in range(n):
        x = 1103515245 * x + 12345 & 2147483647
        t ^= x
    return (t, x)
""": [(42, 10)],
    """
def f(n):
    return [k for k in range(2, n) if sum((d for d in range(1, k) if k % d == 0)) == k]
""": [500],
    """
def f(x):
    r = 1.0
    for _ in range(50):
        nr = (r + x / r) / 2
        if abs(nr - r) < 1e-12 * r:
            break
        r = nr
    else:
        raise RuntimeError('no convergence')
    return r
""": [2, 2.0],
    """
def f(n):
    tri = [1]
    for i in range(n):
        tri = [1] + [tri[k] + tri[k + 1] for k in range(len(tri) - 1)] + [1]
    return tri
""": [5],
    """
def f(a):
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = (a[j + 1], a[j])
                swapped = True
        if not swapped:
            break
    return a
""": [np.array([3, 1, 2.5])],
    """
def f(x, y):
    try:
        return x / y
    except ZeroDivisionError:
        return None
    finally:
        print('d')
""": [(1, 0), (1, 2)],
    """
def f(x):
    try:
        if x < 0:
            raise ValueError
        r = math.sqrt(x)
    except (ValueError, TypeError) as e:
        return ('bad', type(e).__name__, str(e))
    else:
        return r
""": [4, -4],
    """
def f(x):
    raise ValueError(f'x={x:.2f} {x!r} {x:>8.1e}')
""": [1.5],
    """
def f(x):
    raise KeyError('a', x, (1, 2), None, True)
""": [2],
    """
def f(x):
    raise NotImplementedError
""": [2],
    """
def f(x):
    raise Exception
""": [2],
    """
def f(x):
    raise StopIteration(x)
""": [2],
    """
def f(x):
    for i in range(3):
        for j in range(3):
            if i * j == x:
                break
        else:
            continue
        break
    else:
        return 'none'
    return (i, j)
""": [2, 9],
    """
def f(a, i, j):
    return (a[i][j], a[i, j], a[-1], a[i, :].sum())
""": [
        (np.arange(6.0).reshape(2, 3), 1, 2),
        (np.arange(6.0).reshape(2, 3), 5, 0),
        (np.arange(6.0).reshape(2, 3), 0, -4),
    ],
    """
K = 5
PI2 = 2 * math.pi
T = (1, 2, 3)
NAME = 'abc'

def f(x):
    return (x * K + PI2, T[1], NAME + 'd', len(NAME), sum(T))
""": [2],
    """
A = np.arange(4.0)

def f(x):
    return (A[x], A.sum(), len(A))
""": [2, 7],
    """
def f(x):
    y = x if x > 0 else -x if x < 0 else 'zero'
    return y
""": [2, -2],
    """
def f(n, *args):
    return (n + sum(args), len(args), args)
""": [(1, 2, 3), (1,), (1, 2.5)],
    """
def f(a, b=2, /, c=3, *, d=4):
    return (a, b, c, d)
""": [1, (1, 5), (1, 5, 6)],
    """
def f(x):
    return (x.real, x.imag, x.conjugate(), abs(x), x.is_integer())
""": [2.5, 3.0],
    """
def f(x):
    return (x.bit_length(), x.bit_count(), x.numerator, x.denominator, 5 .bit_length())
""": [10, -7],
    """
def f(x):
    return (float('inf') > x, -math.inf < x, math.nan == math.nan, float('nan') != x, 1e309 == math.inf)
""": [2.0],
    """
def f(x):
    return (x == 1, x == 1.0, x is None, x != None, x == True)
""": [1, 1.0, True],
    """
def f(x, y):
    return (x // y, x % y, divmod(x, y), -x // y, x // -y, x % -y)
""": [(7.5, 2), (-7, 3), (True, 2), (np.int8(-7), np.int8(2)), (np.float32(-7.5), np.float32(2))],
    """
def f(x, y):
    return (x < y, x <= y, x == y, x != y, x > y, x >= y, not x < y <= 3)
""": [(1, 2.5), (True, 1), (np.uint8(200), -1), (np.int64(-1), np.uint64(1)), (float("nan"), 1.0)],
    """
def f(x):
    return (~x, -x, +x, not x, abs(x))
""": [5, True, np.int8(-128), np.uint8(3)],
    """
def f(x):
    return (2 ** x, x ** 2, x ** 0.5, x ** (-1), 10 ** x, (-2) ** x, 2.0 ** x)
""": [3, 0, 10],
    """
def f(x, y):
    return x ** y
""": [
        (0, 0),
        (0.0, 0),
        (0, -1),
        (0.0, -1.0),
        (-2, 3),
        (2, 0.5),
        (-2.0, 2),
        (-2.0, 3.0),
        (1e200, 2),
        (np.float64(0), -1),
        (np.int32(2), 3),
        (np.int64(2), np.int64(-1)),
    ],
    """
def f(x):
    return (int(x), round(x), math.floor(x), math.ceil(x), math.trunc(x), x // 1, x % 1)
""": [2.5, -2.5, 3.5, -0.5, 0.5, 1e18],
    """
def f(x):
    return (round(x, 1), round(x, -2), round(int(x), -1))
""": [1234.56, 0.25, -1250.0],
    """
def f(a, b):
    return ((a, b) < (b, a), (a, b) == (1, 2), (1, 2) < (1, 2, 3), max((a, b), (b, a)), (a,) + (b,), (a, b) * 2)
""": [(1, 2), (2, 1)],
    """
def f(n):
    a = b = c = 0
    for i in range(n):
        a, b, c = (b, c, a + i)
    return (a, b, c)
""": [5],
    """
def f(a, b):
    return a + b
""": [(np.ones(3), np.ones(4))],
    """
def f(n):
    import math as m
    return m.sqrt(n)
""": [4],
    """
def f(n):
    x: int = n
    y: float
    return x
""": [4],
    """
def f(n):
    return f'{n:5d}|{n:<5}|{n:^5}|{n:+}|{n:x}|{n:,}|{n / 3:.3%}|{n!r:>4}'
""": [1234],
    """
def f(x):
    return f'x={x!r} {x:.{2}f}'
""": [1.5],
    """
def f(a):
    return (a.sum(), a.mean(), a.max(), a.shape, a.ndim, a.T, a[::-1], a[a > 1], a.dtype)
""": [np.arange(4.0)],
    """
def f(n):
    r = 'none'
    for i in range(n):
        if i > 2:
            r = i
    return r
""": [1, 6],
}


@pytest.mark.parametrize("source", PROGRAMS)
def test_programs(source: str) -> None:
    for args in PROGRAMS[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))
