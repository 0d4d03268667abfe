"""The language, construct by construct: each program does compiled what it does in the interpreter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from differential.running import Point, check, function_of

import quadrants

NAN, INF = float("nan"), float("inf")
WHOLE, PARTS, TABLE = np.arange(10), np.linspace(-1, 1, 7), np.arange(12.0).reshape(3, 4)

#: Source -> the arguments of its calls. One row a construct.
CONVERSIONS = {
    "lambda x: int(x)": [(3,), (-2.5,), (True,), (np.float32(2.5),), (np.uint8(200),), (np.array(5),), (NAN,), (INF,)],
    "lambda x: float(x)": [(3,), (True,), (np.float16(3.5),), (np.int8(-128),), (np.array(2.5),), (2**62 + 1,)],
    "lambda x: bool(x)": [(3,), (0,), (-0.0,), (NAN,), (0j,), (np.bool_(True),), (np.array(0),)],
    "lambda x: complex(x)": [(3,), (1 + 2j,), (np.complex64(1 + 2j),), (True,)],
    "lambda x, y: complex(x, y)": [(1, 2.5), (np.float32(1), 2), (True, 0.0)],
    "lambda x: np.uint8(x)": [(3,), (300,), (-2.5,), (np.int64(300),), (np.float64(7.9),), (True,)],
    "lambda x: np.int64(x)": [(3,), (2.9,), (NAN,), (np.uint64(2**64 - 1),), (np.array(7.5),)],
    "lambda x: np.float32(x)": [(3,), (1e300,), (np.float64(0.1),), (np.array([1.5, 2]),)],
    "lambda x: np.bool_(x)": [(3,), (0.0,), (np.float32(0.5),)],
    "lambda x: np.complex64(x)": [(3,), (1 + 2j,)],
    "lambda x: round(x)": [(2.5,), (-3.5,), (3,), (True,), (np.float32(2.5),), (np.int8(3),), (NAN,), (INF,)],
    "lambda x, n: round(x, n)": [
        (2.675, 2),
        (1234.5, -2),
        (15, -1),
        (np.float32(2.345), 2),
        (NAN, 2),
        (np.int8(25), -1),
    ],
    "lambda x: abs(x)": [(-5,), (3 - 4j,), (np.complex64(3 - 4j),), (True,), (-0.0,), (np.int8(-128),), (TABLE - 5,)],
    "lambda x, y: divmod(x, y)": [(7, -2), (7.5, -2), (1.5, 0.0), (7, 0), (np.int8(-128), np.int8(-1)), (WHOLE, 3)],
    "lambda x, y: pow(x, y)": [(2, 10), (2.0, 0.5), (0.0, -1), (10.0, 400.0), (np.int32(3), 4)],
    "lambda x, y, z: pow(x, y, z)": [(3, 5, 7), (3, 5, -7), (3, -1, 7), (2, -1, 4), (3, 5, 0), (2**40, 3, 10**12 + 39)],
    "lambda x: x.real + x.imag": [(1 + 2j,), (2.5,), (3,), (np.complex64(1j),)],
    "lambda x: x.conjugate()": [(1 + 2j,), (2.5,), (3,)],
    "lambda x: x.bit_length()": [(5,), (-8,), (0,)],
    "lambda x: x.is_integer()": [(2.0,), (2.5,)],
    "lambda x: x.dtype": [(np.float32(1),), (WHOLE,)],
    "lambda x: (x ** 3, x ** 0, x ** -1, x ** 0.5)": [(4,), (2.5,), (np.float32(3),)],
}
BUILTINS = {
    "lambda a, b: min(a, b)": [(1, 2), (NAN, 1.0), (1.0, NAN), (0.0, -0.0), (np.int8(5), np.int8(7))],
    "lambda a, b: max(a, b)": [(1, 2), (NAN, 1.0), (1.0, NAN), (-0.0, 0.0)],
    "lambda a: min(a)": [(WHOLE,), (np.array([2.5, NAN, 1]),), ((3, 1, 2),), (np.array([], float),)],
    "lambda a: max(a)": [(WHOLE,), ((3, 1, 2),), (np.array([], int),)],
    "lambda a, b: min(a, b, key=abs)": [(-3, 2), (-1.0, 2.0)],
    "lambda a: sum(a)": [(WHOLE,), ((1, 2, 3),), ((1, 2.5),), (np.array([200, 100], np.uint8),), (TABLE[0],)],
    "lambda a: sum(a, 10)": [(WHOLE,), ((1, 2),)],
    "lambda n: sum(range(n))": [(10,), (0,)],
    "lambda a: (any(a), all(a))": [(WHOLE,), ((0, 0),), ((1, 2.5),)],
    "lambda a: len(a)": [(WHOLE,), (TABLE,), ((1, 2),), (Point(1, 2),)],
    "lambda a, b, c: len(range(a, b, c))": [(0, 10, 3), (10, 0, -3), (0, 10, -1), (0, 10, 0)],
    "lambda x: (isinstance(x, int), isinstance(x, (float, np.floating)), isinstance(x, np.ndarray))": [
        (3,), (True,), (2.5,), (np.int64(3),), (np.float32(1),), (WHOLE,),
    ],
    "lambda x: x is None": [(None,), (3,)],
    "lambda x: x in (1, 2.5, 3)": [(2.5,), (3.0,), (5,)],
    "lambda x, n: x in range(n)": [(3, 5), (7, 5), (2.0, 5), (2.5, 5)],
    "lambda x, a: x in a": [(3, WHOLE), (30, WHOLE), (2.0, TABLE)],
    "lambda x, y: (x and y, x or y, not x)": [(0, 3), (2, 3), (0.0, 1.5)],
    "lambda x: x << 3 | x >> 1 & 6 ^ 5": [(11,), (-11,)],
    "lambda x: f'{x:.2f}|{x!r}|{x}'": [(2.5,), (np.float32(2.5),)],
    "lambda x: str(x)": [(2.5,), (3,), (np.float32(2.5),)],
    "lambda s: s + 'x'": [("ab",)],
}  # fmt: skip
TUPLES = {
    "lambda t: (t[0], t[-1])": [((1, 2.5),), (Point(1, np.float32(2)),)],
    "lambda t: (t[1:], t[::-1])": [((1, 2, 3.5),), (Point(1, 2),)],
    "lambda t, i: t[i]": [((1, 2, 3), 1), ((1, 2, 3), -1), ((1, 2, 3), 5), ((1, 2, 3), -4)],
    "lambda t: t.x + t.y": [(Point(1, 2.5),)],
    "lambda t: t + (1,)": [((2,),), (Point(1, 2),)],
    "lambda t: (t * 2, 2 * t)": [((1, 2.0),)],
    "def f(t):\n    a, *b, c = t\n    return b[0], c, len(b), a": [((1, 2, 3, 4.5),)],
    "def f(t):\n    a, (b, c) = t\n    return a + b + c": [((1, (2, 3)),)],
    "def f(a):\n    x, y, z = a\n    return x + y * z": [(np.arange(3),), (np.arange(2),), (np.arange(4),)],
    "lambda t: t == (1, 2)": [((1, 2),), ((1, 3),), ((1, 2, 3),), ((1.0, 2),)],
    "lambda t, u: (t < u, t >= u)": [((1, 2), (1, 3)), ((1,), (1, 3)), ((2,), (1, 3)), ((1, 2), (1, 2))],
    "lambda a, b: Point(y=a, x=b)": [(1, 2.5), (WHOLE, None)],
    "lambda p: p._replace(x=3)": [(Point(1, 2),)],
    "lambda t: (t.count(2), t.index(2))": [((1, 2, 2),), ((1, 3),)],
    "lambda x: (x, (x, x * 2.0), None, ())": [(3,)],
    "lambda a: (a, a, a[1:])": [(WHOLE,)],
    "def f(x):\n    return [1, 2, 3][x]": [(1,), (7,), (-4,)],
}
CONTROL = {
    "def f(n):\n s = 0\n for i in range(n):\n  if i == 3: continue\n  if i == 7: break\n  s += i\n else:\n  s += 100\n return s, i": [
        (5,), (20,), (0,),
    ],
    "def f(n):\n i = 0\n while i < n:\n  i += 1\n  if i == 5: break\n else:\n  i = -i\n return i": [(3,), (10,), (0,)],
    "def f(n):\n s = 0\n for i in range(n, 0, -2):\n  for j in range(i):\n   if j > 3: break\n   s += i * j\n return s": [(9,), (0,)],
    "def f(n):\n i = 5\n for i in range(n): i = i * 2\n return i": [(3,), (0,)],
    "def f(a):\n s = 0.0\n for x in a: s += x\n return s": [(PARTS,), (TABLE[:, 1],), ((1, 2.5, np.float32(3)),)],
    "def f(a):\n for r in a: r[0] = 5\n return a": [(TABLE,)],
    "def f(a):\n s = 0\n for i, x in enumerate(a, 3): s += i * x\n return s": [(WHOLE,), ((4, 5),)],
    "def f(a, b):\n s = 0.0\n for x, y in zip(a, b): s += x * y\n return s": [(WHOLE, PARTS), ((1, 2), (3.0, 4))],
    "def f(a):\n s = 0\n for k, (i, x) in enumerate(zip(range(3), reversed(a))): s = s * 3 + i * x * k\n return s": [(WHOLE,)],
    "def f(n):\n s = 0\n for i in reversed(range(1, n, 3)): s = s * 2 + i\n return s": [(17,)],
    "def f(a):\n s = 0.0\n for i in np.ndindex(a.shape): s += a[i] * i[0]\n return s": [(TABLE,)],
    "def f(x):\n if x > 0: y = 1\n return y": [(1,), (0,)],
    "def f(x):\n if x > 0: return 3": [(1,), (0,)],
    "def f(x):\n y = 1\n del y\n if x: y = 2\n return y": [(0,), (1,)],
    "def f(x):\n y = None\n if x > 0: y = x * 2\n return y": [(1,), (0,), (2.5,)],
    "def f(x, y=None):\n if y is None: y = 10\n return x + y": [(1,), (1, 2), (1, 2.5), (1, None)],
    "def f(a, i=None): return a[i] if i is not None else a.sum()": [(PARTS,), (PARTS, 2)],
    "def f(n):\n x, y = 0, 1\n while x < n: x, y = y, x + y\n return x": [(100,), (0,)],
    "def f(n):\n for i in range(n):\n  for j in range(n):\n   if i * j == 6: return i, j\n return None": [(4,), (2,)],
    "def f(n):\n s = 0\n while (n := n - 1) > 0: s += n\n return s": [(5,)],
    "def f(x):\n match x:\n  case 1: return 10\n  case 2 | 3: return 20\n  case n if n > 7: return n\n  case _: return 30": [
        (1,), (3,), (5,), (9,),
    ],
    "def f(x):\n assert x > 0, x\n return x": [(1,), (-1,)],
}  # fmt: skip
FUNCTIONS = {
    "def f(x):\n def g(y): return y * x\n return g(2) + g(3.5)": [(2,), (1.5,)],
    "def f(x):\n g = lambda y, z=3: y * z + x\n return g(2), g(1, 2), g(y=1, z=0)": [(2,)],
    "def f(n):\n def fact(k): return 1 if k <= 1 else k * fact(k - 1)\n return fact(n)": [(10,), (0,)],
    "def f(x):\n k = 1\n def g(): return k\n a = g()\n k = 2\n return a, g()": [(0,)],
    "def f(x):\n def g(*a): return len(a), a\n return g(), g(x), g(x, 2.5)": [(1,)],
    "def f(x):\n def g(a, *, k=2): return a * k\n return g(x), g(x, k=3)": [(2,)],
    "def f(a, b=2, c=3.5): return a, b, c": [(1,), (1, 5), (1, 2.5, 3)],
    "def f(x, *a): return x, a, sum(a)": [(1,), (1, 2, 3)],
    "def f(x):\n def g(a, b): return a - b\n t = (x, 3)\n return g(*t), g(*(1,), 2)": [(5,)],
    "def ap(g, x): return g(g(x))\ndef f(x): return ap(lambda v: v * 2, x), ap(abs, -x), ap(np.sqrt, x * 1.0)": [(16,)],
    "def ev(n): return True if n == 0 else od(n - 1)\ndef od(n): return False if n == 0 else ev(n - 1)\ndef f(n): return ev(n)": [
        (7,), (10,),
    ],
    "def f(m, n):\n if m == 0: return n + 1\n if n == 0: return f(m - 1, 1)\n return f(m - 1, f(m, n - 1))": [(2, 3)],
    "def f(g, x): return g(x)": [(math.sin, 1.0), (np.sin, 1.0), (abs, -2)],
    "def f(a, n):\n if n == 0: return a\n return f(a[1:], n - 1)": [(WHOLE, 3)],
    "def f(a, lo, hi):\n if lo >= hi: return\n p = a[hi]; i = lo\n for j in range(lo, hi):\n  if a[j] < p:\n   a[i], a[j] = a[j], a[i]\n"
    "   i += 1\n a[i], a[hi] = a[hi], a[i]\n f(a, lo, i - 1)\n f(a, i + 1, hi)": [(np.array([3, 1, 2, 9, 5]), 0, 4)],
}  # fmt: skip
EXCEPTIONS = {
    "def f(x):\n if x < 0: raise ValueError('neg', x)\n return x": [(1,), (-1,), (-2.5,)],
    "def f(x): raise OwnError(f'bad {x:.2f} and {x!r}')": [(1.5,), (2,)],
    "def f(x):\n try:\n  if x == 1: raise OwnError('a')\n  if x == 2: raise SubError('b')\n  if x == 3: raise KeyError('k')\n"
    "  if x == 4: 1 // (x - 4)\n  return 0\n except SubError: return 2\n except OwnError as e: return 1\n"
    " except (KeyError, ZeroDivisionError): return 3\n except Exception: return 9": [(0,), (1,), (2,), (3,), (4,)],
    "def f(x):\n r = 0\n try:\n  r = 1\n  if x: raise ValueError\n  r = 2\n except ValueError:\n  r += 10\n else:\n  r += 100\n"
    " finally:\n  r += 1000\n return r": [(0,), (1,)],
    "def f(x):\n try:\n  return 1\n finally:\n  if x: return 2": [(0,), (1,)],
    "def f(n):\n s = 0\n for i in range(n):\n  try:\n   if i == 2: continue\n   if i == 5: break\n   s += i\n  finally:\n   s += 100\n"
    " return s": [(3,), (10,)],
    "def f(x):\n try: raise ValueError('a')\n except ValueError:\n  if x: raise\n  return 3": [(0,), (1,)],
    "def f(x):\n try: raise ValueError('a')\n except ValueError as e: raise RuntimeError('r') from e": [(1,)],
    "def f(a, i):\n try: return a[i] * 1\n except IndexError: return a[0]": [(WHOLE, 3), (WHOLE, 20), (WHOLE, -11)],
    "def g(x):\n if x: raise OwnError('g', x)\n return 1\ndef f(x):\n try: return g(x)\n except OwnError as e: return 5": [
        (0,),
        (1,),
    ],
    "def g(x): return 1 // x\ndef f(x): return g(x) + g(x - 1)": [(1,), (0,), (5,)],
    "def f(x):\n try:\n  y = x + 1\n  z = 1 // x\n  y = 7\n except ZeroDivisionError: pass\n return y": [(0,), (1,)],
    "def f(x):\n try:\n  try: 1 // x\n  finally: x = 5\n except ZeroDivisionError: return x\n return -x": [(0,), (1,)],
    "def f(x):\n while True:\n  try:\n   x -= 1\n   if x < 0: raise ValueError\n   if x == 2: return x\n  except ValueError: return -1\n"
    "  finally: x -= 1": [(10,), (9,)],
    "def f(x): raise KeyError(x)": [(1,), ("k",)],
    "def f(x):\n e = ValueError('v', x)\n raise e": [(3,)],
    "def f(x): raise OSError(2, 'no')": [(1,)],
    "def f(x): raise": [(1,)],
}
ALL = [CONVERSIONS, BUILTINS, TUPLES, CONTROL, FUNCTIONS, EXCEPTIONS]


def rows(table):
    return [pytest.param(source, calls, id=source.replace("\n", " ")[:60]) for source, calls in table.items()]


@pytest.mark.parametrize(("source", "calls"), [row for table in ALL for row in rows(table)])
def test_row(source, calls):
    for args in calls:
        check(source, *args)


def test_changed_global_recompiles():
    function = function_of("def f(x): return x * FACTOR")
    function.__globals__["FACTOR"] = 2
    compiled = quadrants.njit(function)
    assert compiled(3) == 6
    function.__globals__["FACTOR"] = 2.5
    assert compiled(3) == 7.5


def test_global_arrays_are_not_copied():
    function = function_of("def f(i):\n    SHARED[i] += 1\n    return SHARED[i]")
    shared = np.arange(4.0)
    function.__globals__["SHARED"] = shared
    compiled = quadrants.njit(function)
    assert compiled(2) == 3.0
    assert shared[2] == 3.0
    shared[2] = 10.0
    assert compiled(2) == 11.0


def test_changed_cell_is_seen():
    def make(k):
        def set_(value):
            nonlocal k
            k = value

        return (lambda x: x + k), set_

    function, set_ = make(1)
    compiled = quadrants.njit(function)
    assert compiled(1) == 2
    set_(5)
    assert compiled(1) == 6


def test_print_in_order(capsys):
    def f(x):
        print("a", x, 2.5, sep="-")
        print(x * 2, end="!\n")
        print()
        return x

    for function in (f, quadrants.njit(f)):
        print("before")
        function(3)
        print("after")
    out = capsys.readouterr().out
    half = len(out) // 2
    assert out[:half] == out[half:] == "before\na-3-2.5\n6!\n\nafter\n"


def test_deep_recursion_raises():
    compiled = quadrants.njit(function_of("def f(n): return 0 if n < 0 else f(n + 1) + 1"))
    with pytest.raises(RecursionError):
        compiled(0)
    caught = quadrants.njit(
        function_of("def f(n):\n try:\n  return 0 if n < 0 else f(n + 1)\n except RecursionError:\n  return -1")
    )
    assert caught(0) == -1
