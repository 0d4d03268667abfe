"""Wrong programs, and programs outside of the language: what Python raises, or an error that says what is not compiled; never
a failure of the compiler itself.
"""

from __future__ import annotations

import numpy as np
import pytest
from differential.outcome import run
from differential.running import function_of

import quadrants

#: Source -> the arguments of its calls, one a call (several in a tuple).
WRONG = {
    """
def f(n):
    xs = [[0] * 3 for _ in range(n)]
    xs[1][2] = 5
    return xs[1][2]
""": [3],
    """
def f(n):
    d = {}
    for i in range(n):
        d[i] = i
    return len(d)
""": [3],
    """
def f(n):
    xs = []
    for i in range(n):
        xs.append([i, i])
    return len(xs)
""": [3],
    """
def f(xs):
    return sum(xs)
""": [([1, 2, 3],)],
    """
def f(d):
    return d['a']
""": [({"a": 1},)],
    """
def f(n):
    s = set()
    s.add(n)
    return len(s)
""": [3],
    """
class P:

    def __init__(self, x):
        self.x = x

def f(n):
    return P(n).x
""": [3],
    """
class P:
    x = 3
p = P()

def f(n):
    return p.x + n
""": [3],
    """
def f(n):
    yield n
""": [3],
    """
def f(n):

    def g():
        yield n
    return list(g())
""": [3],
    """
async def f(n):
    return n
""": [3],
    """
def f(n):
    with np.errstate(all='ignore'):
        return n / 1
""": [3],
    """
def f(n):
    return eval('n')
""": [3],
    """
def f(n):
    return input()
""": [3],
    """
def f(n):
    return sorted({1: 2})
""": [3],
    """
def f(n):
    return [1, 2, 3].foo(n)
""": [3],
    """
def f(n):
    return 'a'.foo(n)
""": [3],
    """
def f(n):
    return n.append(1)
""": [3],
    """
def f(n):
    raise 'x'
""": [3],
    """
def f(n):
    raise n
""": [3],
    """
def f(n):
    try:
        pass
    except n:
        pass
    return n
""": [3],
    """
def f(n):
    try:
        return 1 // n
    except 'x':
        pass
""": [0],
    """
def g(a, b):
    return a

def f(n):
    return g(n)
""": [3],
    """
def g(a, b):
    return a

def f(n):
    return g(n, 1, 2)
""": [3],
    """
def g(a, b):
    return a

def f(n):
    return g(n, c=2)
""": [3],
    """
def f(n):
    return n if n else undefined
""": [0, 1],
    """
def f(n):
    x = n + y
    y = 1
    return x
""": [3],
    """
def f(a):
    a[0] = 'x'
""": [np.ones(2)],
    """
def f(t):
    t[0] = 1
""": [((1, 2),)],
    """
def f(t):
    a, b = t
    return a
""": [((1, 2, 3),)],
    """
def f(n):
    a, b = n
    return a
""": [3],
    """
def f(s):
    s[0] = 'x'
    return s
""": ["abc"],
    """
def f(n):
    return int('abc')
""": [3],
    """
def f(s):
    return s + 1
""": ["abc"],
    """
def f(s):
    return s * 2.5
""": ["abc"],
    """
def f(s):
    return s < 1
""": ["abc"],
    """
def f(n):
    return (1, 2) + [3]
""": [3],
    """
def f(n):
    return [1] + (2,)
""": [3],
    """
def f(n):
    return None + n
""": [3],
    """
def f(x):
    return x + 1
""": [None],
    """
def f(n):
    return -'a'
""": [3],
    """
def f(n):
    return max()
""": [3],
    """
def f(n):
    return max([])
""": [3],
    """
def f(n):
    return range(1.5)
""": [3],
    """
def f(n):
    return sum('abc')
""": [3],
    """
def f(n):
    return round('a')
""": [3],
    """
def f(n):
    return math.sqrt('a')
""": [3],
    """
def f(n):
    return math.sqrt(1, 2)
""": [3],
    """
def f(n):
    return math.floor(1j)
""": [3],
    """
def f(n):
    return len(5)
""": [3],
    """
def f(n):
    return n in 5
""": [3],
    """
def f(n):
    return [1, 2][1.0]
""": [3],
    """
def f(n):
    return (1, 2)['a']
""": [3],
    """
def f(n):
    return print(n, foo=1)
""": [3],
    """
def f(n):
    return zip(1, 2)
""": [3],
    """
def f(n):
    return 1 << -1
""": [3],
    """
def f(n):
    return 1 << n
""": [-3],
    """
def f(n):
    return (n % 0, n)
""": [3],
    """
def f(n):
    return f'{n:zz}'
""": [3],
    """
def f(n):
    return '{:d}'.format(n)
""": [3.5],
    """
def f(n):
    return '%d' % 'a'
""": [3],
    """
def f(n):
    return chr(-1)
""": [3],
    """
def f(n):
    return ord('ab')
""": [3],
    """
def f(n):
    return [x for x in n]
""": [3],
    """
def f(n):
    return n.real.foo
""": [3],
    """
def f(n):
    return np.foo(n)
""": [3],
    """
def f(n):
    assert isinstance(n, str), f'not str: {type(n).__name__}'
""": [3],
    """
def f(n):
    del n
    return n
""": [3],
    """
def f(n):
    import nosuchmod
    return n
""": [3],
}


@pytest.mark.parametrize("source", WRONG)
def test_errors_are_pythons_or_explained(source: str) -> None:
    function = function_of(source)
    for args in WRONG[source]:
        values = args if isinstance(args, tuple) else (args,)
        expected = run(function, values)
        try:
            actual = run(quadrants.njit(function, cache=False), values)
        except quadrants.QuadrantsError:
            continue  # refused where it is decorated
        if isinstance(actual.error, quadrants.QuadrantsError):
            assert str(actual.error).startswith("QD") and "QD599" not in str(actual.error)
        elif expected.error is None:
            assert actual.error is None
        else:
            assert type(actual.error) is type(expected.error)
