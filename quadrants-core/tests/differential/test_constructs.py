"""Statements and builtins in many mixtures do compiled what they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

#: Source -> the arguments of its calls, one a call (several in a tuple).
CONSTRUCTS = {
    """
def f(a):
    return (1 < a < 10 < a * a, not a, a and 5, a or 7, a if a > 3 else -a)
""": [5, 0, 20],
    """
def f(n):
    s = 0
    for i in range(n):
        if i == 3:
            continue
        if i == 7:
            break
        s += i
    else:
        s = -s
    return (s, i)
""": [5, 20],
    """
def f(n):
    while n > 0:
        try:
            n -= 1
            if n == 5:
                continue
            if n == 2:
                break
        finally:
            n -= 1
    else:
        return ('e', n)
    return n
""": [3, 9, 10, 20, 1],
    """
def f(n):
    for i in range(n):
        try:
            if i == 2:
                return i
        finally:
            if i == 5:
                break
    return -1
""": [2, 10],
    """
def f(t):
    a, *b, c = t
    return (a, len(b), c, b[0])
""": [((1, 2, 3, 4),), ((1, 2.5, 3),)],
    """
def f(t):
    return (t[1:], t[::-1], t[:2], t[-1], t[-3:-1], len(t[1:]))
""": [((1, 2.5, 3, True),)],
    """
def f(t):
    s = 0
    for i, (a, b) in enumerate(zip(t, t[1:])):
        s += i * a * b
    return s
""": [((1, 2, 3),), ((1.5, 2, 3),)],
    """
def f(a):
    s = 0.0
    for i, x in enumerate(reversed(a)):
        s += i * x
    for x, y in zip(a, reversed(a)):
        s += x * y
    return s
""": [np.arange(5.0)],
    """
def f(n):
    s = 0
    for i in reversed(range(1, n, 2)):
        s = s * 3 + i
    return s
""": [10],
    """
def g(a, b=2, *c, d=4):
    return a + b + len(c) + d

def f(x):
    return (g(x), g(x, 1), g(x, 1, 2, 3), g(x, d=0), g(b=1, a=x), g(*(x, 1, 2)), g(*(x,), d=5))
""": [1],
    """
def mk(k):

    def h(x):
        return x * k
    return h
h3 = mk(3)

def f(x):
    return h3(x) + mk(4)(x)
""": [2],
    """
def f(x):
    g = lambda y, z=2: y * z + x
    return g(1) + g(1, z=5)
""": [3],
    """
def app(g, x):
    return g(g(x))

def f(x):
    return app(lambda v: v + 1, x) + app(math.sqrt, 16.0) + app(abs, -3)
""": [1],
    """
def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

def f(n):
    return even(n)
""": [10, 7],
    """
def f(n):
    if n < 2:
        return n
    return f(n - 1) + f(n - 2)
""": [15],
    """
def h(n):
    return 1.0 if n < 1 else n * h(n - 1)

def f(n):
    return h(n)
""": [5],
    """
def f(x, y=None):
    if y is None:
        y = x
    return x + y if y is not None else 0
""": [1, (1, 2), (1, None)],
    """
def g(x):
    if x > 0:
        return x

def f(x):
    r = g(x)
    return -1 if r is None else r * 2
""": [1, -1],
    """
def g(x):
    return None

def f(x):
    return (g(x) is None, g(x))
""": [1],
    """
def f(x):
    assert x > 0, 'neg %d' % x
    assert x > 1
    return x
""": [0, 1, 2],
    """
def f(x):
    if x > 0:
        y = 1
    return y
""": [1, 0],
    """
def f(x):
    del x
    return x
""": [1],
    """
def f(n):
    t = 0
    while (k := (n // 2)) > 0:
        t += k
        n = k
    return (t, k)
""": [100],
    """
def f(x):
    match x:
        case 0:
            return 'zero'
        case 1 | 2:
            return 'small'
        case n if n < 0:
            return 'neg'
        case _:
            return 'big'
""": [0, 1, 2, -5, 9],
    """
def f(t):
    match t:
        case [0, y]:
            return y
        case [x, 0]:
            return -x
        case [x, y] if x == y:
            return 100
        case [x, *r]:
            return len(r)
    return 0
""": [((0, 5),), ((5, 0),), ((3, 3),), ((3, 4),)],
    """
def f(x):
    x += 1
    x -= 2
    x *= 3
    x /= 2
    x **= 2
    x //= 2
    x %= 5
    return x
""": [7, 2.5, np.float32(3)],
    """
def f(x):
    x <<= 2
    x |= 1
    x &= 29
    x ^= 7
    x >>= 1
    return x
""": [7, np.uint8(200)],
    """
def f(n):
    return [i * i for i in range(n)]
""": [4],
    """
def f(n):
    return np.array([i * i for i in range(n)])
""": [4],
    """
def f(n):
    return sum([i * i for i in range(n)])
""": [4, 0],
    """
def f(n):
    return sum((i * i for i in range(n)))
""": [4, 0],
    """
def f(n):
    return (max((i * (5 - i) for i in range(n))), min([i - 3 for i in range(n)]))
""": [6],
    """
def f(n):
    return (any((i > 3 for i in range(n))), all((i < 3 for i in range(n))))
""": [6, 2],
    """
def f(n):
    xs = []
    for i in range(n):
        xs.append(i * 2)
    s = 0
    for x in xs:
        s += x
    return (s, len(xs), xs[0], xs[-1])
""": [5],
    """
def f(n):
    return len([i for i in range(n) if i % 2])
""": [7],
    """
def f(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i * i
    return sum(xs)
""": [5],
    """
def f(n):
    xs = [3, 1, 2]
    xs.sort()
    return (xs[0], xs[1], xs[2])
""": [5],
    """
def f(n):
    return sorted((3, 1, n))
""": [2],
    """
def f(a):
    return sorted(a)
""": [np.array([3, 1, 2])],
    """
def f(x):
    return ([x, 2, 3][1], len([x]), x in [1, 2, 3])
""": [1, 9],
    """
def f(a, b):
    return (max(a, b, 3), min(a, b, key=lambda v: -v), max((a, b), default=0), max((), default=7))
""": [(1, 2), (5.5, 2)],
    """
def f(a):
    return (round(a), round(a, 2), round(a, -1), round(a, 0))
""": [2.567, -2.5, 15, np.float32(2.567)],
    """
def f(a, b, c):
    return (pow(a, b, c), pow(a, b), divmod(a, b))
""": [(7, 3, 5), (2, 10, 7), (5, 0, 3)],
    """
def f(x):
    return (list(map(lambda v: v * 2, (x, 2, 3)))[1], tuple(map(abs, (x, -2))))
""": [-1],
    """
def f(x):
    return (sum(map(lambda v: v * 2, (x, 2, 3))), sum(filter(lambda v: v > 1, (x, 2, 3))))
""": [1],
    """
def f(x):
    return (int('12') + x, float('1.5'), int(x), bool(x), complex(x))
""": [1],
    """
def f(x, n):
    return (math.ldexp(x, n), math.dist((x, 1.0), (2.0, 3.0)), math.prod((x, 2, 3)), math.fsum((x, 0.2, 0.3)), math.log(8, 2), math.hypot(x, 2, 3))
""": [(1.5, 3)],
    """
def f(x):
    return (cmath.sqrt(x), cmath.exp(x), cmath.phase(x), cmath.polar(x), abs(x), x.real, x.imag, x.conjugate(), x ** 2, x ** 0.5, 1 / x)
""": [1 + 2j, -1 + 0j],
    """
def f(z, w):
    return (z * w, z / w, z - w, z == w, z != w, -z, +z)
""": [(1 + 2j, 3 - 1j), (1 + 2j, 0j), (1, 2j), (np.complex64(1 + 2j), 2)],
}


@pytest.mark.parametrize("source", CONSTRUCTS)
def test_programs(source: str) -> None:
    for args in CONSTRUCTS[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))
