"""Comprehensions and generators that inner functions see into, or that assign variables of the function around them."""

from __future__ import annotations

import pytest
from differential.running import check

WALRUS = """
def f(n):
    xs = [y := i * i for i in range(n)]
    if any((w := i) * i > n for i in range(10)):
        return y, w
    return y, -1
"""

GENERATOR_SEES_LATER = """
def f(n):
    k = 1
    g = (i * k for i in range(n))
    k = 10
    return sum(g)
"""

COMPREHENSION_CLOSURES = """
def f(n):
    s = 0
    for k in range(n):
        g, h = [lambda: i + k for i in (k, k + 1)]
        s += g() * 10 + h()
    return s
"""

CELLS_AND_LOCALS = """
def f(n):
    a = ((1, 2), (3, 4))
    before = [i * 2 for i in range(n)]
    called = [(lambda: i + 1)() for i in range(n)]
    summed = [sum(i + j for j in range(i)) for i in range(n)]
    rows = [sum(a[i][k] for k in range(2)) for i in range(2)]
    given = [(lambda x=i: x + 1)() + (lambda y, x=i: x + y + n)(2) for i in range(n)]
    pairs = [(i, j, (lambda: i * j)()) for i in range(2) for j in range(2)], [(j, i) for i in range(2) for j in range(2)]
    return before, called, summed, rows, given, pairs
"""

CELLS_AND_OUTER = """
def f(n):
    i = 7
    called = [(lambda: i + 1)() for i in range(n)]
    i += 1
    return i, called, [i * 2 for i in range(n)], i
"""

PROGRAMS = [WALRUS, GENERATOR_SEES_LATER, COMPREHENSION_CLOSURES, CELLS_AND_LOCALS, CELLS_AND_OUTER]


@pytest.mark.parametrize("source", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs_of_a_number(source):
    for n in (1, 2, 3, 4, 9):
        check(source, n)
