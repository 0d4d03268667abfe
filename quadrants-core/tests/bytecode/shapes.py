"""The functions whose trees `test_shapes` and `test_recorded` expect word for word, on every Python version."""

from __future__ import annotations

import re

from quadrants.bytecode import Function, format


def shape(function: Function) -> str:
    """The text of the body without line numbers and variable sets."""
    lines = format(function).splitlines()[1:]
    return "\n".join(re.sub(r"  (live|assigned)=\{[^}]*\}", "", line[8:]) for line in lines)


def while_and(a, n):
    i = 0
    while i < n and a[i] > 0:
        i += 1
    return i


def while_continue(n):
    total = 0
    while n > 0:
        n -= 1
        if n == 3:
            continue
        total += n
    else:
        total = -total
    return total


def nested_for(n, m):
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += i * j
    return s


def for_else(xs, y):
    for x in xs:
        if x == y:
            break
    else:
        return -1
    return x


def elif_chain(x):
    if x < 0:
        r = -x
    elif x == 0:
        r = 1
    else:
        r = x * 2
    return r


def conditions(a, b, c):
    if a and (b or not c):
        return a if b is None else c
    return 0 < a < b or c


def try_as(a, b):
    try:
        r = a / b
    except ZeroDivisionError as e:
        r = str(e)
    return r


def try_finally(f):
    try:
        return f(1)
    finally:
        f(2)


def with_as(m):
    with m as x:
        x.go(1, k=2)
    return x


def calls(f, a, k):
    return f(a.b.c(1), *a, x=2, **k)


def listcomp(n):
    return [i * n for i in range(n) if i]


def slices(a, i):
    a[1:i] = a[i:]
    del a[::2]
    a[i] += 1
    return a[i, ...]


def closure(n):
    m = 1

    def inner(x, k=3):
        return x + n + m + k

    return inner(m)


def text(a, b):
    assert a, "no"
    return f"{a!r:>{b}} {b}"
