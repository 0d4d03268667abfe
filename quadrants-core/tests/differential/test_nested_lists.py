"""Lists of lists: made, changed, shared, sorted, passed on, returned; by hand, and at random."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential.running import check, function_of

import quadrants
from quadrants.diagnostics import Code

PROGRAMS = {
    "grid": """
def f(n):
    g = [[0.0] * 3 for _ in range(n)]
    for i in range(n):
        for j in range(3):
            g[i][j] += i * 10 + j
    s = 0.0
    for row in g:
        for x in row:
            s += x
    return s, len(g), g[n - 1][-1], g[0]
""",
    "append": """
def f(n):
    rows = []
    for i in range(n):
        rows.append([i, i * i])
    rows[0].append(100)
    rows[-1][0] = 7
    return rows, len(rows[0])
""",
    "alias": """
def f(n):
    a = [n]
    xs = [a, a, [1]]
    xs.append(a)
    xs[0].append(5)
    a[0] = 9
    return xs[1][0], xs[3][1], len(xs[2]), xs
""",
    "buckets": """
def f(n):
    buckets = []
    for i in range(3):
        buckets.append([])
    for i in range(n):
        buckets[i % 3].append(i * 0.5)
    s = 0.0
    for b in buckets:
        for x in b:
            s += x
    return s, [len(b) for b in buckets], buckets
""",
    "bucketcomp": """
def f(n):
    buckets = [[] for _ in range(3)]
    for i in range(n):
        buckets[i % 3].append(i)
    return [len(b) for b in buckets], buckets
""",
    "three": """
def f(n):
    t = []
    for i in range(n):
        t.append([])
        for j in range(i):
            t[i].append([j])
            t[i][j].append(i)
    s = 0
    for p in t:
        for q in p:
            for r in q:
                s += r
    return s, t
""",
    "pop": """
def f(n):
    stack = [[1, n]]
    total = 0
    while stack:
        top = stack.pop()
        total += top[0] * top[1]
        if top[1] > 1:
            stack.append([top[0] + 1, top[1] - 1])
            stack.append([top[0], top[1] // 2])
    return total
""",
    "replace": """
def f(n):
    xs = [[i] for i in range(n)]
    xs[0] = [5, 6]
    keep = xs[0]
    xs[0] = xs[-1]
    xs.insert(1, [42])
    del xs[0]
    xs.reverse()
    ys = xs[1:]
    zs = xs + ys
    return keep, xs, ys, len(zs), [9] in xs, xs == ys
""",
    "tuples": """
def f(n):
    xs = [(i, [i]) for i in range(n)]
    for k, row in xs:
        row.append(k * 2)
    return xs[0][1][1], xs
""",
    "sorted": """
def f(n):
    xs = [[(i * 7) % 5, i] for i in range(n)]
    ys = sorted(xs)
    zs = sorted(xs, key=lambda r: -r[1])
    xs.sort()
    return ys, zs, xs, min(xs), max(xs)
""",
    "oob": """
def f(n):
    xs = [[i] for i in range(n)]
    xs[0].append(2)
    return xs[0][n + 5]
""",
    "arg": """
def add(rows, k):
    for r in rows:
        r.append(k)
    rows.append([k])
    return rows
def f(n):
    xs = [[i] for i in range(n)]
    ys = add(xs, 7)
    ys[0][0] = -1
    return xs, len(ys)
""",
    "const": """
def f(n):
    m = [[1, 2], [3, 4]]
    m[n % 2][0] = 9
    s = 0
    for i in range(2):
        for j in range(2):
            s += m[i][j]
    return s, m
""",
    "raise": """
def f(n):
    xs = [[i] for i in range(n)]
    try:
        for i in range(10):
            ys = xs[i]
            ys.append(i)
    except IndexError:
        xs.append([99])
    return xs
""",
    "types": """
def f(n):
    xs = [[0, 0] for _ in range(n)]
    xs[0][0] = 1.5
    return xs[0][0], xs[0][1] * 1.0
""",
    "listof": """
def f(n):
    xs = [[i, i + 1] for i in range(n)]
    ys = list(xs)
    zs = [list(r) for r in xs]
    zs[0][0] = 50
    ws = [x for r in xs for x in r]
    ts = [[r[j] for r in xs] for j in range(2)]
    return xs, len(ys), zs, ws, ts
""",
    "clear": """
def f(n):
    xs = [[i] for i in range(n)]
    a = xs[0]
    xs.clear()
    xs.append([3])
    ys = xs.copy()
    ys[0].append(4)
    xs = []
    xs.append([1])
    return a, ys, len(xs)
""",
    "aliaslen": """
def f(n):
    xs = [[i] for i in range(n)]
    a = xs[0]
    k = len(a)
    xs[0].append(1)
    m = len(a)
    b = xs[n - 1]
    b.append(3)
    return k, m, len(xs[0]), len(a), a[-1]
""",
    "methods": """
def f(n):
    xs = [[i % 2, i] for i in range(n + 2)]
    k = xs.index([0, 0])
    c = xs.count([1, 1])
    xs.remove([1, 1])
    xs.extend([[7, 8], [9, 9]])
    e = [9, 9] in xs
    r = list(reversed(xs))
    m = max(xs, key=len)
    s = sorted(xs, key=lambda r: r[0])
    t = xs * 2
    t[0][0] = 77
    return k, c, e, r[0][0], m, s[0], len(t), xs
""",
    "enum": """
def f(n):
    xs = [[i] * (i + 1) for i in range(n)]
    s = 0
    for k, row in enumerate(xs):
        a, *rest = [k, 1, 2]
        s += k * len(row)
        row[0] += 5
    for p, q in zip(xs, xs[1:]):
        s += len(q) - len(p)
    while xs and len(xs[-1]) > 1:
        xs.pop()
    return s, xs, any(len(r) == 1 for r in xs), [len(r) for r in xs]
""",
    "nestedcomp": """
def f(n):
    xs = [[[] for _ in range(2)] for _ in range(n)]
    xs[0][1].append(2.5)
    xs[n - 1][0].append(n)
    ys = [[i * j for j in range(i)] for i in range(n)]
    ys[0].append(4)
    return xs, ys
""",
    "print": """
def f(n):
    xs = [[i] for i in range(n)]
    xs[0].append(3)
    return str(xs), f"{xs[0]}"
""",
    "paramfloat": """
def g(rows):
    rows[0].append(1.5)
def f(n):
    xs = [[i] for i in range(n)]
    g(xs)
    return xs
""",
    "makegrid": """
def grid(n, m):
    return [[0.0] * m for _ in range(n)]
def f(n):
    a = grid(n, 2)
    b = grid(2, n)
    a[0][1] = 3.0
    b[1][0] = 2.0
    return a, b
""",
    "adjacency": """
def f(n):
    adj = [[] for _ in range(n + 1)]
    for i in range(n):
        adj[i].append((i + 1, i * 0.5))
        adj[i + 1].append((i, 1.0))
    seen = [False] * (n + 1)
    stack, order, cost = [0], [], 0.0
    while stack:
        v = stack.pop()
        if seen[v]:
            continue
        seen[v] = True
        order.append(v)
        for w, c in adj[v]:
            cost += c
            if not seen[w]:
                stack.append(w)
    return order, cost
""",
    "pascal": """
def f(n):
    rows = [[1]]
    for i in range(n):
        last = rows[-1]
        rows.append([1] + [last[j] + last[j + 1] for j in range(len(last) - 1)] + [1])
    return rows
""",
    "matmul": """
def f(n):
    a = [[i + j for j in range(n)] for i in range(n)]
    b = [[i * j + 0.5 for j in range(n)] for i in range(n)]
    c = [[sum(a[p][k] * b[k][q] for k in range(n)) for q in range(n)] for p in range(n)]
    t = [list(r) for r in zip(a[0], a[0])]
    return c, t
""",
    "optional": """
def f(n):
    best = None
    xs = [[i, n - i] for i in range(n)]
    for r in xs:
        if best is None or r[1] * r[0] > best[0] * best[1]:
            best = r
    return best
""",
    "break": """
def f(n):
    xs = [[i, i + 1] for i in range(n)]
    out = []
    for r in xs:
        q = r
        if r[0] == 2:
            break
        if r[0] == 1:
            continue
        out.append(q)
    else:
        out.append([0])
    return out, q
""",
    "find": """
def pick(xs, k):
    for r in xs:
        if r[0] == k:
            return r
    return [-1, -1]
def f(n):
    xs = [[i, i * 2] for i in range(n)]
    p = pick(xs, 0)
    p[1] = 50
    return p, pick(xs, 99), xs
""",
    "closure": """
def f(n):
    xs = [[] for _ in range(2)]
    calls = 0
    def put(i, v):
        nonlocal calls
        calls += 1
        xs[i].append(v)
    for k in range(n):
        put(k % 2, k)
    return xs, calls
""",
    "swap": """
def f(n):
    xs = [[i] for i in range(n)]
    xs[0], xs[-1] = xs[-1], xs[0]
    a, b = xs[0], xs[-1]
    a, b = b, a
    a.append(1)
    t = (a, b, xs)
    u = t[2][0]
    u.append(9)
    return xs, t[0]
""",
    "mixed": """
def f(n):
    xs = [(i, [i], (1.5, [2.0])) for i in range(n)]
    xs[0][1].append(4)
    xs[0][2][1][0] = 7.5
    i, a, (b, c) = xs[-1]
    c.append(b)
    return xs
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    for n in (1, 4):
        check(PROGRAMS[name], n)


class Rows:
    """Writes random programs on lists of lists of ints, which are aliased, nested, moved and dropped."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def row(self) -> str:
        return self.pick(
            "r",
            "q",
            "xs[0]",
            "xs[-1]",
            "ys[n % 3]",
            "xs[n]",
            "zs[0][0]",
            "[n, 7]",
            "[k * n for k in range(n)]",
            "ys[0][1:]",
        )

    def number(self) -> str:
        return self.pick("n", "3", "len(xs)", "len(r)", "q[0]", "xs[0][-1]", "ys[1][0]", "sum(r)", "zs[0][0][0]", "i")

    def statement(self, depth: int) -> list[str]:
        rows = self.pick("xs", "ys", "zs[0]", "zs[-1]")
        plain = [
            f"{rows}.append({self.row()})",
            f"{rows}.insert({self.number()}, {self.row()})",
            f"{rows}[{self.number()}] = {self.row()}",
            f"{self.pick('r', 'q')} = {self.row()}",
            f"{self.pick('r', 'q', 'xs[0]', 'ys[-1]')}.append({self.number()})",
            f"{self.pick('r', 'q', 'xs[-1]', 'zs[0][0]')}[{self.number()}] = {self.number()}",
            f"{self.pick('xs', 'ys', 'r', 'q')}.pop()",
            f"del {rows}[{self.number()}]",
            f"{self.pick('xs', 'ys')} = {self.pick('xs', 'ys', 'zs[0]', 'zs[-1]', 'xs + ys', 'ys[:2]', 'xs[::-1]', 'sorted(xs)', 'list(ys)')}",
            f"zs.append({self.pick('xs', 'ys', '[r, q]', '[[n]]')})",
            f"{rows}.reverse()",
            f"{self.pick('xs', 'ys')}.sort()",
            f"s += {self.number()} * (1 + ({self.row()} in {rows}))",
            f"{self.pick('r', 'q')}, {self.pick('xs[0]', 'ys[0]')} = {self.row()}, {self.row()}",
            f"s += grow({rows}, {self.row()})",
        ]
        if depth == 0 or self.random.random() < 0.7:
            return [self.random.choice(plain)]
        body = ["    " + line for _ in range(1 + self.random.randrange(3)) for line in self.statement(depth - 1)]
        form = self.random.randrange(4)
        if form == 0:
            return [f"for i in range({self.pick('n', '3')}):", *body]
        if form == 1:
            return [f"for r in list({rows}):", *body, "    if s > 50: break"]
        if form == 2:
            return [f"if {self.number()} > {self.number()}:", *body]
        return ["try:", *body, "except IndexError:", f"    s += {self.number()}"]

    def program(self) -> str:
        body = [line for _ in range(4 + self.random.randrange(10)) for line in self.statement(2)]
        start = [
            "s, i = 0, 0",
            "xs = [[k, n] for k in range(n)]",
            "ys = [[k] for k in range(3)]",
            "zs = [xs, ys]",
            "r = xs[0]",
            "q = [5]",
        ]
        lines = [*start, *body, "return s, xs, ys, zs, r, q"]
        helper = "def grow(rows, row):\n    rows.append(row)\n    row.append(len(rows))\n    return len(rows[0])\n"
        return helper + "def f(n):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed):
    check(Rows(seed).program(), 1 + seed % 4)


@pytest.mark.slow
def test_many_random_programs():
    for seed in range(1000, 1400):
        check(Rows(seed).program(), 1 + seed % 4)


REFUSED = {
    "def f(n):\n xs = [[1], [2]]\n xs.append(n)\n return xs": Code.UNSUPPORTED_LIST,
    "def f(n):\n xs = []\n xs.append(xs)\n return len(xs)": Code.NO_FIXPOINT,
    "def f(n):\n xs = []\n for i in range(n): xs.append(np.zeros(i))\n return len(xs)": Code.UNSUPPORTED_LIST,
}


@pytest.mark.parametrize("source", REFUSED, ids=range(len(REFUSED)))
def test_refused(source):
    with pytest.raises(quadrants.QuadrantsError) as info:
        quadrants.njit(function_of(source), cache=False)(3)
    assert info.value.code is REFUSED[source]


SHARED = """
def f(n):
    xs = [[1.0 * k] for k in range(3)]
    out = np.zeros(n)
    for i in {range}(n):
        s = 0.0
        for j in range(20):
            row = xs[j % 3]
            s += row[0] + len(row)
        out[i] = s
    return out, xs
"""


def test_rows_that_several_threads_read():
    scope = {"np": np, "qd": quadrants}
    exec(SHARED.format(range="range"), scope)
    expected = scope["f"](4000)
    exec(SHARED.format(range="qd.prange"), scope)
    compiled = quadrants.njit(scope["f"], parallel=True, cache=False)
    for _ in range(5):
        found = compiled(4000)
        assert np.array_equal(found[0], expected[0])
        assert found[1] == expected[1]


def test_rows_that_several_threads_would_change():
    """Such a loop runs in order."""
    source = "def f(n):\n xs = [[1.0 * k] for k in range(3)]\n for i in qd.prange(n):\n  row = xs[i % 3]\n  row.append(1.0 * i)\n return xs"
    scope = {"qd": quadrants}
    exec(source, scope)
    function = scope["f"]
    assert callable(function)
    compiled = quadrants.njit(function, parallel=True, cache=False)
    for _ in range(3):
        assert compiled(6000) == function(6000)


ARRAYS = {
    "comprehension": "def f(n):\n return np.array([[i * j for j in range(3)] for i in range(n)])",
    "appended": """
def f(n):
    rows = []
    for i in range(n):
        row = []
        for j in range(4):
            row.append(i + j * 0.5)
        rows.append(row)
    a = np.array(rows)
    return a, a.shape, a.sum(axis=0), np.sum(rows), np.asarray(rows) @ np.ones(4)
""",
    "four axes": "def f(n):\n return np.array([[[(i, j + k) for k in range(2)] for j in range(3)] for i in range(n)], dtype=np.float32)",
    "empty rows": "def f(n):\n return np.array([[] for i in range(n)])",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_lists_of_lists(name):
    scope = {"np": np}
    exec(ARRAYS[name], scope)
    compiled = quadrants.njit(scope["f"], cache=False)
    for n in (1, 2, 5):
        found, expected = compiled(n), scope["f"](n)
        for got, wanted in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
            np.testing.assert_array_equal(got, wanted, strict=isinstance(wanted, np.ndarray))


def test_rows_of_different_lengths():
    scope = {"np": np}
    exec("def f(n):\n return np.array([[i * j for j in range(i + n)] for i in range(3)])", scope)
    exec("def g(n):\n return np.array([[[1.0] * (1 + i * j) for j in range(n)] for i in range(3)])", scope)
    for name in ("f", "g"):
        with pytest.raises(ValueError, match="inhomogeneous shape"):
            scope[name](2)
        with pytest.raises(ValueError, match="inhomogeneous shape"):
            quadrants.njit(scope[name], cache=False)(2)
