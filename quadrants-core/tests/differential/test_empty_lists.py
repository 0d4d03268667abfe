"""Lists that start empty and are taken from before the text puts anything in; lists of several types that meet; what is unpacked
from a list of unknown length.
"""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

#: Source -> the arguments of its calls, one a call (several in a tuple).
LISTS = {
    """
def f(text):
    stack = []
    for ch in text:
        if ch in "+-*/":
            b = stack.pop()
            a = stack.pop()
            if ch == "+":
                stack.append(a + b)
            elif ch == "-":
                stack.append(a - b)
            elif ch == "*":
                stack.append(a * b)
            else:
                stack.append(a / b)
        elif ch.isdigit():
            stack.append(float(ch))
    if len(stack) != 1:
        raise ValueError("malformed: %d left of %r" % (len(stack), text))
    return stack[0]
""": ["34+2*", "93/", "12", "+", "10/", "5"],
    """
def f(n):
    xs, ys, zs = [], [], []
    for i in range(n):
        if i % 3 == 2:
            xs.pop(0)
            del ys[0]
            zs.sort()
            zs.reverse()
        elif i in zs:
            zs.remove(i)
        elif i == 4:
            xs.clear()
        else:
            xs.insert(0, i * 1.0)
            ys.append(i)
            zs += [i]
    return xs, ys, zs
""": [0, 1, 7, 12],
    """
def push(xs, x):
    xs.append(x)

def pop(xs):
    return xs.pop()

def f(n):
    xs = []
    for i in range(n):
        if i % 3 == 2:
            pop(xs)
        else:
            push(xs, i)
    return xs
""": [0, 7],
    """
def f(n):
    xs = []
    for i in range(n):
        if i % 3 == 2:
            a, b = xs.pop()
            xs.append((a + 1, b))
        else:
            xs.append((i, 1.5))
    return xs
""": [0, 2, 7],
    """
def f(n):
    xs = []
    for i in range(n):
        if i % 3 == 2:
            x = xs.pop()
            x.append(1)
            xs.append(x)
        else:
            xs.append([i])
    return xs
""": [0, 2, 7],
    """
def f(n):
    xs = []
    xs.clear()
    if n > 5:
        return max(xs)
    ys = xs + [3]
    zs = ys * 2
    zs.append(2)
    return xs, xs[:], ys, zs, sum(xs), 3 in xs, xs == ys, np.sum(xs), [x for x in xs]
""": [1, 9],
    """
def f(n):
    xs = []
    return xs.pop() + n
""": [1],
    """
def f(n):
    xs = []
    for i in range(n):
        xs += [3]
        xs.append(2.5)
    return len(xs), xs[-1]
""": [1, 3],
    """
def f(n):
    whole = [1 for i in range(n)]
    parts = [1.5 for i in range(n)]
    return sum(whole + parts), sum(parts + whole), sum(whole + [2.5]), len([1] + parts)
""": [2, 3],
    """
def f(n):
    xs = [0] * n
    ys = xs * 2
    ys.append(2.5)
    return ys[-1], len(ys), len(xs)
""": [0, 3],
}
UNPACKED = {
    """
def f(n):
    p, *rest = [k for k in range(n)]
    return p, rest
""": [0, 1, 4],
    """
def f(a):
    first, *rest, last = a
    return first, rest, last
""": [np.arange(5) * 1.5, np.arange(2), np.arange(1)],
    """
def f(n):
    p, *rest, q = zip(range(n), range(n))
    rest.append((7, 7))
    a, *others = (k * k for k in range(n))
    return p, rest, q, others
""": [2, 4, 1],
    """
def quick(xs):
    if not xs:
        return []
    p, *rest = xs
    return quick([x for x in rest if x < p]) + [p] + quick([x for x in rest if x >= p])

def f(a):
    return quick([int(x) for x in a])
""": [np.array([3, 1, 2]), np.array([5, 5, 1, 9, -3]), np.zeros(0)],
    """
def f(n):
    items = iter(range(n))
    next(items)
    a, *rest = items
    return a, rest
""": [2, 5, 1],
}
#: Generator expressions and comprehensions over constants, whose conditions the constants decide.
DECIDED = {
    """
def f(grid, steps):
    for _ in range(steps):
        n = sum(np.roll(np.roll(grid, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i != 0 or j != 0))
        grid = ((n == 3) | ((grid == 1) & (n == 2))).astype(grid.dtype)
    return grid, grid.sum()
""": [(np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]), 1), (np.eye(4, dtype=np.int8), 3)],
    "lambda a: sum(np.roll(a, i) for i in (-1, 0, 1) if i)": [np.arange(4.0)],
    "lambda a: max(np.roll(a, i + j)[0] for i in (-1, 0, 1) for j in (0, 1) if not i == j == 0)": [np.arange(4.0)],
    "lambda a: np.array([a + i + j for i in (-1, 1) for j in (0, 1) if (i, j) != (1, 1)])": [np.arange(4.0)],
}
TEXTS = {
    'lambda n: (" ".join(str(i) for i in range(n)), ",".join(f"{i}" for i in (1, 2, n)), ",".join(map(str, (1, 2, n))))': [
        0,
        5,
    ],
    """
def show(**options):
    return ", ".join(f"{k}={v:.2f}" for k, v in options.items())

def f(n):
    return show(a=n, b=2.5), "".join(c for c in "hello" if c != "l"), "".join("ab" if k % 2 else "c" for k in range(n))
""": [0, 5],
    'lambda n: (str(range(n)), f"{range(1, n, 2)}")': [5],
    """
def f(n):
    print(range(n))
    raise ValueError(range(n), "empty")
""": [3],
}
SMALL = {
    "lambda x: (math.floor(x), math.ceil(x), math.trunc(x))": [True, False, 3],
    "lambda x: x.is_integer()": [2.5, 2.0, np.float64(2.5), np.float64(3)],
    "lambda n: ([1, 2, 3].index(n), (1, 2, 3).index(n, 1), (1, 2, 3).index(n, -2, -1), [1, 2, 3].index(n, 0, 3))": [
        1,
        2,
        3,
    ],
    "lambda n: [1, 2, 3].index(n)": [3, 9],
    'lambda a: (a.flags["C_CONTIGUOUS"], a.flags["WRITEABLE"])': [np.ones(3), np.ones((2, 3)).T],
}


@pytest.mark.parametrize(
    ("source", "args"),
    [(s, a) for table in (LISTS, UNPACKED, DECIDED, TEXTS, SMALL) for s, calls in table.items() for a in calls],
)
def test_as_the_interpreter(source: str, args: object) -> None:
    check(source, *(args if isinstance(args, tuple) else (args,)))
