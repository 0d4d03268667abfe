"""Idioms of closures, exceptions, texts, lists and numbers do compiled what they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

#: Source -> the arguments of its calls, one a call (several in a tuple).
IDIOMS = {
    """
def f(x):
    return (math.gcd(), math.gcd(x), math.gcd(x, 4, 6), math.lcm(x, 4, 6), math.lcm())
""": [12],
    """
def f(x):
    return (math.perm(x), math.comb(x, x), math.perm(x, 2))
""": [5],
    """
def f(x):
    return (math.log(x, 10), math.log(x, 2), math.log2(x), math.log10(x))
""": [1000, 0.5],
    """
def f(x):
    return math.log(x, 1)
""": [5],
    """
def f(x):
    return (math.pow(x, 2), math.pow(2, x), math.exp2(x), math.cbrt(x))
""": [3, -1.5],
    """
def f(x):
    return (math.copysign(1, x), math.remainder(x, 3), math.fmod(x, 3), math.modf(x), math.frexp(x))
""": [-7.5, 7],
    """
def f(x):
    return (math.isclose(x, 1), math.isclose(x, 1.0000000001), math.isclose(x, 2, rel_tol=0.6), math.isclose(x, 0, abs_tol=2))
""": [1.0],
    """
def f(x):
    return math.sumprod((x, 2), (3, 4)) if False else math.prod((x, 2, 3), start=2)
""": [1.5],
    """
def f(x):
    return (math.pi, math.e, math.tau, math.inf, math.nan, x)
""": [1],
    """
def f(x):
    return math.factorial(x)
""": [2.0, True, np.int32(5), np.float64(3)],
    """
def f(x):
    return math.isqrt(x)
""": [2.0, True, np.int32(5), np.float64(3)],
    """
def f(x, y):
    return math.gcd(x, y)
""": [(4.0, 2), (6, 4.0), (np.int32(6), 4), (True, 4)],
    """
def f(x, y):
    return math.lcm(x, y)
""": [(4.0, 2), (6, 4.0), (np.int32(6), 4), (True, 4)],
    """
def f(x, y):
    return math.comb(x, y)
""": [(4.0, 2), (6, 4.0), (np.int32(6), 4), (True, 4)],
    """
def f(x, y):
    return math.perm(x, y)
""": [(4.0, 2), (6, 4.0), (np.int32(6), 4), (True, 4)],
    """
def outer(k):

    def mid(x):

        def inn(y):
            return x * y + k
        return inn(2) + inn(3)
    return mid(4)

def f(k):
    return outer(k)
""": [1],
    """
def compose(g, h):
    return lambda x: g(h(x))

def f(x):
    return compose(lambda v: v + 1, lambda v: v * 2)(x)
""": [3],
    """
def f(n):
    fs = (lambda x: x + 1, lambda x: x * 2, abs)
    t = 0
    for g in fs:
        t += g(n)
    return t
""": [-3],
    """
def f(x, op='add'):
    ops = (lambda a: a + 1) if op == 'add' else lambda a: a - 1
    return ops(x)
""": [3],
    """
def f(x):

    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)
    return fact(x)
""": [5],
    """
def f(n):
    return f(n - 1) + 1 if n else 0
""": [50],
    """
X = 1

def g():
    return X + 1

def f(n):
    return g() + n
""": [1],
    """
def f(x=1, y=2.5, z=None, w='s', t=(1, 2)):
    return (x, y, z, w, t)
""": [(), (5,), (5, 1, 3)],
    """
def f(a):
    b = a
    b += 1
    return (a, b)
""": [1, np.ones(2)],
    """
def f(a):
    b = a * 2
    a[:] = 0
    return (a, b)
""": [np.ones(2)],
    """
def f(t):
    (a, b), c = t
    a, b = (b, a)
    return (a, b, c)
""": [(((1, 2.5), 3),)],
    """
def f(t):
    for (i, j), k in t:
        print(i, j, k)
    return len(t)
""": [((((1, 2), 3), ((4, 5), 6)),)],
    """
def f(n):
    x = 0
    for x in range(n):
        pass
    return x
""": [0, 3],
    """
def f(n):
    for i in range(n):
        pass
    return i
""": [0, 3],
    """
def f(n):
    for i in range(n):
        y = i
    try:
        return y
    except UnboundLocalError as e:
        return str(e)
""": [0, 3],
    """
def f(n):
    for i in range(10, 0, -n):
        if i < 5:
            return i
    return None
""": [3, 0, 1],
    """
def f(a, b, c):
    return (list(range(a, b, c)), len(range(a, b, c)), 3 in range(a, b, c), range(a, b, c)[-1])
""": [(0, 10, 3), (10, 0, -2)],
    """
def f(n):
    return (range(n)[2], sum(range(n)), max(range(n)), min(range(1, n)), tuple(range(3)), list(range(n))[::-1])
""": [5, 1],
    """
def f(x):
    if x:
        pass
    elif x is None:
        return 'none'
    else:
        return 'zero'
    return 'one'
""": [0, 1, None],
    """
def f(x):
    return (x or 'd', x and 1)
""": ["a", "", None],
    """
def f(x, y):
    return x if x is not None else y
""": [(None, 2), (1, 2)],
    """
def g(x):
    if x > 2:
        return None
    return x

def f(n):
    t = 0
    for i in range(n):
        r = g(i)
        if r is not None and r > 0:
            t += r
    return t
""": [5],
    """
def f(x):
    try:
        try:
            return 1 // x
        finally:
            print('f1')
    except ZeroDivisionError:
        return 'caught'
    finally:
        print('f2')
""": [0, 1],
    """
def f(x):
    for i in range(5):
        try:
            if i == x:
                break
        except ValueError:
            pass
        else:
            continue
        finally:
            print(i)
    return i
""": [2, 9],
    """
def f(x):
    try:
        raise ValueError('a')
    except ValueError:
        raise
""": [1],
    """
def f(x):
    try:
        raise ValueError('a')
    except (KeyError, TypeError):
        return 1
    except Exception as e:
        if x:
            raise RuntimeError('b') from e
        return 2
""": [0, 1],
    """
def f(x):
    try:
        assert x, 'msg'
    except AssertionError as e:
        return str(e)
    return 'ok'
""": [0, 1],
    """
def f(x):
    try:
        return (1, 2)[x]
    except IndexError as e:
        return str(e)
""": [1, 5],
    """
def f(a, x):
    try:
        return a[x]
    except IndexError as e:
        return str(e)
""": [(np.arange(3), 1), (np.arange(3), 7)],
    """
def f(x):
    try:
        return math.sqrt(x)
    except ValueError as e:
        return str(e)
""": [-1, 4],
    """
def f(x):
    try:
        return math.log(x)
    except ValueError as e:
        return str(e)
""": [0, 1],
    """
def f(x):
    try:
        return math.exp(x)
    except OverflowError as e:
        return str(e)
""": [1000, 1],
    """
def f(x):
    try:
        return x ** 0.5
    except Exception as e:
        return str(e)
""": [4.0],
    """
def f(x):
    try:
        return 10.0 ** x
    except OverflowError as e:
        return str(e)
""": [400],
    """
def f(x):
    try:
        return int(x)
    except (ValueError, OverflowError) as e:
        return str(e)
""": [float("nan"), float("inf"), 2.5],
    """
def f(x):
    return (np.float32(x) + 1, np.int8(x) * 2, np.uint8(x) - 1, np.float64(x) / 0, np.int32(7) // np.int32(x))
""": [3],
    """
def f(x):
    return (np.int32(7) // x, np.int32(7) % x, np.float32(7) / x)
""": [np.int32(0)],
    """
def f(x):
    return (np.uint8(250) + np.uint8(x), np.int16(x) + np.uint16(3), np.uint64(x) + np.int64(1), np.int8(x) + 1.5, np.float16(x) + np.float32(1))
""": [10],
    """
def f(x):
    return (x + 1, x * 1.5, x ** 2, x // 2, -x, x > 5, x == 3, ~x, x & 3, x << 1)
""": [np.uint8(3), np.int16(-3), np.int64(7)],
    """
def f(x):
    return x + 300
""": [np.uint8(3)],
    """
def f(x):
    return x + 2 ** 40
""": [np.int32(3)],
    """
def f(x):
    return (bool(x), int(x), float(x), complex(x), str(x), repr(x))
""": [np.float32(2.5), np.int8(3), True, 2],
    """
def f(x):
    return (type(x) is int, type(x) == float, isinstance(x, (int, float)), isinstance(x, bool), type(x).__name__)
""": [1, 2.5, True, np.float32(1)],
    """
def f(z):
    return (z.real, z.imag, abs(z), z * z, z.conjugate(), z == z, z != 0, bool(z), -z, z ** 2, z ** (-1), z / 2)
""": [1 + 2j, np.complex64(3 - 4j)],
    """
def f(z):
    return (f'{z}', str(z), f'{z:.2f}', f'{z.real:.1f}')
""": [1 + 2j],
    """
def f(x):
    return (str(x), f'{x}', f'{x:.3g}', f'{x:10.2e}', repr(x))
""": [0.1, 1e22, -0.0, float("inf"), 3],
    """
def f(x):
    print(x, str(x), repr(x), (x, 1), [x, 2], None, True, sep='|', end='!\\n')
    return 1
""": [1.5, np.float32(1.5), np.int8(3), 2],
    """
def f(x):
    print()
    print('a', 'b', sep='')
    print('%5.2f|%-5d|%s' % (x, 3, 'q'))
    print('{0}-{1:>4}-{0!r}'.format('a', 3))
    return 0
""": [1.5],
    """
def f(n):
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if i % 2:
            continue
        print(i)
    return i
""": [5],
    """
def f(n):
    a, b = (0, 1)
    while b < n:
        a, b = (b, a + b)
    return a
""": [100],
    """
def f(a):
    total = 0
    for row in a:
        for v in row:
            total += v
    return total
""": [np.arange(6).reshape(2, 3)],
    """
def f(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = i * j
    return a
""": [np.zeros((2, 3))],
    """
def f(x):
    a = [1, 2, 3]
    b = a[:]
    b[0] = x
    c = a
    c[1] = 9
    return (a, b)
""": [5],
    """
def f(x):
    xs = [5, 3, x]
    ys = sorted(xs)
    xs.sort(key=lambda v: -v)
    return (xs, ys, xs[-1], max(xs, key=lambda v: abs(v - 4)))
""": [4],
    """
def f(n):
    g = []
    for i in range(n):
        for j in range(i, n):
            if i + j == n:
                g.append((i, j))
    return (g, len(g))
""": [6],
    """
def euler(g, y, h):
    return y + h * g(y)

def mid(g, y, h):
    return y + h * g(y + h / 2 * g(y))

def f(n, method='euler'):
    if method == 'euler':
        step = euler
    elif method == 'mid':
        step = mid
    else:
        raise ValueError('unknown method: ' + method)
    y = 1.0
    for i in range(n):
        y = step(lambda v: -v, y, 0.1)
    return y
""": [5, (5, "mid"), (5, "zz")],
    """
def f(x, k):
    g = math.sin if k else math.cos
    t = 0.0
    for i in range(3):
        t += g(x + i)
    return t
""": [(1.0, 0), (1.0, 1)],
    """
def f(x, k):
    if k == 0:
        g = lambda v: v + x
    elif k == 1:
        g = abs
    else:
        g = math.sqrt
    return g(4.0)
""": [(1.0, 0), (1.0, 1), (1.0, 2)],
    """
def f(n):
    return range(n)[2]
""": [5, 1],
    """
def f(x):
    print(x, str(x), repr(x), (x, 1), [x, 2], None, True, sep='|', end='!\\n')
    return (f'{[x, 1]}', str([1, (x,)]))
""": [1.5, 2],
    """
def f(t):
    a, *b = t
    b.append(a)
    return b
""": [((1, 2, 3),)],
}


@pytest.mark.parametrize("source", IDIOMS)
def test_programs(source: str) -> None:
    for args in IDIOMS[source]:
        check(source, *(args if isinstance(args, tuple) else (args,)))
