"""Inner functions: variables that they assign, that change after they were made, that are not bound yet; circles among them."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check

COUNTER = """
def f(n):
    count = 0
    def step(by):
        nonlocal count
        count += by
        return count
    for i in range(n):
        step(i)
    step(1)
    return count
"""

ACCUMULATOR = """
def f(xs):
    total = 0.0
    best = None
    where = -1
    def see(i, x):
        nonlocal total, best, where
        total += x
        if best is None or x > best:
            best, where = x, i
    for i in range(len(xs)):
        see(i, xs[i])
    return total, best, where
"""

TWO_READERS = """
def f(n):
    state = 1.5
    def get():
        return state
    def put(x):
        nonlocal state
        state = x
    before = get()
    put(n * 2.0)
    inside = get()
    state = -1.0
    return before, inside, get(), state
"""

PASSED_ON = """
def apply(g, n):
    s = 0
    for i in range(n):
        s += g(i)
    return s
def f(n):
    calls = 0
    def g(i):
        nonlocal calls
        calls += 1
        return i * calls
    a = apply(g, n)
    b = apply(g, 2)
    return a, b, calls
"""

MAKER = """
def make(start):
    value = start
    def step(by):
        nonlocal value
        value += by
        return value
    def get():
        return value
    return step, get
def f(n):
    a, get_a = make(10)
    b, get_b = make(0.5)
    a(n)
    b(2)
    a(1)
    return get_a(), get_b(), a(0), b(0)
"""

TWO_OF_ONE_MAKER = """
def make():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return step
def f(n):
    a, b = make(), make()
    for i in range(n):
        a()
        if i % 2:
            b()
    return a(), b()
"""

WIDENED_LATER = """
def make():
    value = 0
    def put(x):
        nonlocal value
        value = x
    def get():
        return value
    return put, get
def f(x):
    put, get = make()
    a = get()
    put(x)
    return a * 1.0, get()
"""

FREE_AFTER = """
def f(n):
    def get():
        return x
    try:
        y = get()
    except NameError as error:
        y = -1
    x = n
    return y, get()
"""

FREE_NEVER = """
def f(n):
    def get():
        return x
    if n > 100:
        x = 1
    return get()
"""

ASSIGNED_FIRST_INSIDE = """
def f(n):
    def put():
        nonlocal x
        x = n
    if n > 2:
        put()
    x2 = x
    if n < 0:
        x = 0
    return x2
"""

READ_BEFORE_INSIDE = """
def f(n):
    def bump():
        nonlocal x
        x += 1
    bump()
    x = 0
    return x
"""

DELETED = """
def f(n):
    x = n
    def drop():
        nonlocal x
        del x
    def get():
        return x
    a = get()
    if n > 1:
        drop()
    return a, get()
"""

DELETED_HERE = """
def f(n):
    x = n
    def get():
        nonlocal x
        x += 1
        return x
    a = get()
    if n > 1:
        del x
    if n > 2:
        x = 5
    return a, get()
"""

RAISES_MIDWAY = """
def f(n):
    count = 0
    def step(i):
        nonlocal count
        count += 1
        if i == 3:
            raise ValueError(count)
        count += 10
    try:
        for i in range(n):
            step(i)
    except ValueError as error:
        count += 1000
    finally:
        count += 100000
    return count
"""

THREE_DEEP = """
def f(n):
    a = 1
    def outer(k):
        b = k
        def inner(j):
            nonlocal a, b
            a += j
            b += a
            return b
        return inner(1) + inner(2) + b
    r = outer(n)
    return r, a, outer(5), a
"""

PARAMETER = """
def f(n):
    def halve():
        nonlocal n
        n //= 2
        return n > 0
    steps = 0
    while halve():
        steps += 1
    return steps, n
"""

RECURSIVE_WALK = """
def f(n):
    visited = 0
    deepest = 0
    def visit(k, depth):
        nonlocal visited, deepest
        visited += 1
        deepest = max(deepest, depth)
        if k > 1:
            visit(k // 2, depth + 1)
            visit(k - k // 2, depth + 1)
    visit(n, 0)
    return visited, deepest
"""

RECURSIVE_OWNER = """
def f(n):
    x = n
    def add(k):
        nonlocal x
        x += k
    if n > 0:
        add(f(n - 1))
    add(1)
    return x
"""

INTO_FLOAT32 = """
def f(xs):
    s = 0.0
    def add(x):
        nonlocal s
        s += x
    for x in xs:
        add(x)
    return s
"""

TUPLES = """
def f(n):
    a, b = 0, 1
    pair = (0, 1.5)
    def step():
        nonlocal a, b, pair
        a, b = b, a + b
        pair = (pair[0] + 1, pair[1] * 2)
    for _ in range(n):
        step()
    return a, b, pair
"""

TEXTS = """
def f(n):
    state = "start"
    def go(i):
        nonlocal state
        if state == "start":
            state = "middle"
        elif state == "middle" and i > 2:
            state = "end"
        return state
    hits = 0
    for i in range(n):
        if go(i) == "end":
            hits += 1
    return hits, state
"""

FLAG = """
def f(xs, limit):
    found = False
    steps = 0
    def check(x):
        nonlocal found, steps
        steps += 1
        if x > limit:
            found = True
    for x in xs:
        check(x)
        if found:
            break
    return found, steps
"""

LATE_MERGE = """
def f(n):
    x = 1
    g = lambda: x
    for i in range(n):
        x = i
        if i % 2:
            g = lambda: -x
    x = 50
    return g()
"""

LATE_ESCAPE = """
def same(g): return g
def f(n):
    x = 1
    g = same(lambda: x)
    a = g()
    x = n
    return a, g()
"""

LATE_COMPOSED = """
def compose(g, h):
    return lambda v: g(h(v))
def f(n):
    k = 1
    both = compose(lambda v: v * k, lambda v: v + k)
    s = 0
    for i in range(n):
        k = i
        s += both(i)
    return s
"""

LATE_IN_TUPLES = """
def first(t): return t[0]()
def f(n):
    x = 1
    t = (lambda: x, lambda: x + 1)
    x = n
    return first(t), t[1](), first((lambda: x * 2, 3))
"""

LATE_UNBOUND_ESCAPE = """
def same(g): return g
def f(n):
    g = same(lambda: x)
    x = n
    return g()
"""

IN_LOOP = """
def f(n):
    kept = lambda: -1
    s = 0
    for i in range(n):
        def g(k): return i * 100 + k
        if i == 1:
            kept = lambda: g(7)
        s += g(i)
    return s, kept()
"""

IN_LOOP_DEFAULTS = """
def f(n):
    fs = ()
    for i in (1, 2, 3):
        fs = fs + ((lambda v, i=i: v * i),)
    return fs[0](n), fs[1](n), fs[2](n)
"""

MUTUAL = """
def f(n):
    calls = 0
    def even(k):
        nonlocal calls
        calls += 1
        return True if k == 0 else odd(k - 1)
    def odd(k):
        nonlocal calls
        calls += 1
        return False if k == 0 else even(k - 1)
    return even(n), odd(n), calls
"""

THREE_IN_A_CIRCLE = """
def f(n):
    def a(k): return 0 if k <= 0 else 1 + b(k - 1)
    def b(k): return 0 if k <= 0 else 10 + c(k - 1)
    def c(k): return 0 if k <= 0 else 100 + a(k - 2) + b(k - 3)
    def use(g, k): return g(k)
    return a(n), use(b, n), use(c, n)
"""

CHAIN_OF_ONE_CODE = """
def make(prev, k):
    def g():
        return prev() + k
    return g
def f(n):
    f0 = lambda: n
    f1 = make(f0, 1)
    f2 = make(f1, 20)
    f3 = make(f2, 300)
    return f3(), f2(), f1()
"""

RECURSION_WITH_DEFAULT = """
def f(n):
    base = n * 2
    def g(k, acc=base + 1):
        return acc if k == 0 else g(k - 1) + acc
    return g(3), g(2, 7)
"""

REBOUND_FUNCTION = """
def f(n):
    def g(k):
        return 1 if k < 2 else k * g(k - 1)
    h = g
    g = lambda k: 1000
    return h(n)
"""

EITHER_FUNCTION = """
def f(n):
    if n > 2:
        def g(k): return 1 if k == 0 else 2 * g(k - 1)
    else:
        def g(k): return 1 if k == 0 else 3 * g(k - 1)
    return g(n)
"""

PARTIAL = """
def bind(g, a):
    def h(b): return g(a, b)
    return h
def f(n):
    s = 0.0
    def add(a, b):
        nonlocal s
        s += a * b
        return s
    h = bind(add, 2)
    k = bind(add, 0.5)
    h(n)
    k(n)
    return h(1), s
"""

INNER_SHADOWS = """
def f(n):
    x = 1
    def g():
        x = 10
        def h():
            nonlocal x
            x += n
            return x
        return h() + x
    return g(), x
"""

WHILE_AND_BREAK = """
def f(n):
    lo, hi, steps = 0.0, float(n), 0
    def narrow():
        nonlocal lo, hi, steps
        mid = (lo + hi) / 2
        if mid * mid > n:
            hi = mid
        else:
            lo = mid
        steps += 1
        return hi - lo
    while narrow() > 1e-6:
        if steps > 60:
            break
    return lo, hi, steps
"""

KEY_WITH_STATE = """
def f(xs):
    looked = 0
    def key(x):
        nonlocal looked
        looked += 1
        return -x
    ys = sorted([3, 1, 2], key=key)
    return ys[0], ys[2], looked > 2, list(map(key, (1, 2))), looked > 4
"""

SPRING = """
def rk4(rate, t, y, h):
    k1 = rate(t, y)
    k2 = rate(t + h / 2, y + h / 2 * k1)
    k3 = rate(t + h / 2, y + h / 2 * k2)
    k4 = rate(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
def f(n):
    evaluations = 0
    damping = 0.5
    def rate(t, y):
        nonlocal evaluations
        evaluations += 1
        return -damping * y + math.sin(t)
    y, t = 1.0, 0.0
    for i in range(n):
        if i == 3:
            damping = 0.25
        y = rk4(rate, t, y, 0.125)
        t += 0.125
    return y, evaluations
"""

OF_ONE_NUMBER = [
    COUNTER, TWO_READERS, PASSED_ON, MAKER, TWO_OF_ONE_MAKER, FREE_AFTER, FREE_NEVER, ASSIGNED_FIRST_INSIDE, READ_BEFORE_INSIDE,
    DELETED, DELETED_HERE, RAISES_MIDWAY, THREE_DEEP, PARAMETER, RECURSIVE_WALK, RECURSIVE_OWNER, TUPLES, TEXTS, LATE_MERGE,
    LATE_ESCAPE, LATE_COMPOSED, LATE_IN_TUPLES, LATE_UNBOUND_ESCAPE, IN_LOOP, IN_LOOP_DEFAULTS, MUTUAL, THREE_IN_A_CIRCLE,
    CHAIN_OF_ONE_CODE, RECURSION_WITH_DEFAULT, REBOUND_FUNCTION, EITHER_FUNCTION, PARTIAL,
    INNER_SHADOWS, WHILE_AND_BREAK, KEY_WITH_STATE, SPRING,
]  # fmt: skip


@pytest.mark.parametrize("source", OF_ONE_NUMBER, ids=range(len(OF_ONE_NUMBER)))
def test_programs_of_a_number(source):
    for n in (1, 2, 3, 4, 9):
        check(source, n)


def test_programs_of_an_array():
    for dtype in (np.float64, np.float32, np.int32):
        xs = np.array([3, -1, 7, 7, 2], dtype)
        check(ACCUMULATOR, xs)
        check(INTO_FLOAT32, xs)
        check(FLAG, xs, 6)
        check(FLAG, xs, 10)


def test_a_value_put_later_of_another_type():
    check(WIDENED_LATER, 2.5)
    check(WIDENED_LATER, 3)
