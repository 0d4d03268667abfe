"""`**keywords` parameters, `**` in calls, and the dicts whose keys are known."""

from __future__ import annotations

import pytest
from differential.running import check, function_of

import quadrants
from quadrants.diagnostics import Code

FORWARDED = """
def area(w, h=2.0, *, scale=1.0, shift=0):
    return w * h * scale + shift
def forward(g, *args, **options):
    return g(*args, **options)
def f(n):
    a = forward(area, n)
    b = forward(area, n, 3.0, scale=0.5)
    c = forward(area, w=n, shift=2, h=n + 1)
    d = forward(forward, area, n, **{"scale": 4.0})
    return a, b, c, d
"""

READ = """
def total(**terms):
    s = 0
    for name in terms:
        s += terms[name] * len(name)
    for name, value in terms.items():
        if name != "skip":
            s += value
    for value in terms.values():
        s += value
    return s, len(terms), "a" in terms, "zz" in terms, bool(terms)
def f(n):
    return total(a=n, bcd=2.5, skip=1), total(), total(x=n > 2)
"""

DEFAULTS = """
def step(x, **options):
    rate = options.get("rate", 0.5)
    limit = options.get("limit")
    if "shift" in options:
        x = x + options["shift"]
    y = x * rate
    if limit is not None and y > limit:
        y = limit
    return y
def f(n):
    return step(n), step(n, rate=2.0), step(n, limit=3.0, rate=1.5), step(n, shift=10, limit=1.0)
"""

DISPLAYS = """
def g(a, b, c=3): return a * 100 + b * 10 + c
def f(n):
    first = {"a": n, "b": 2}
    second = {**first, "c": 7, "a": 1}
    third = dict(b=n, a=2)
    fourth = dict(third, c=n)
    pick = {1: n, 2.5: n + 1, "x": (n, 2)}
    return g(**first), g(**second), g(**third), g(**fourth), g(1, **{"b": 5}), pick[1], pick[2.5], pick["x"][0], len(second)
"""

MERGED = """
def g(a, b): return a - b
def f(n):
    d = {"a": 1, "b": n}
    for i in range(n):
        if i % 2:
            d = {"a": i, "b": d["a"]}
    return g(**d), d["a"]
"""

MISSING = """
def g(**k): return k["nope"]
def f(n):
    try:
        return g(a=n)
    except KeyError as error:
        return -1
"""

UNCAUGHT = """
def f(n):
    d = {"a": n}
    return d["b"]
"""

POSITIONAL_ONLY = """
def g(a, /, **k): return a + k["a"]
def f(n):
    return g(n, a=10)
"""

IN_CLOSURES = """
def f(n):
    seen = 0
    def note(**k):
        nonlocal seen
        seen += len(k)
        return k.get("x", 0)
    r = note(x=n, y=2) + note() + note(z=1.5)
    options = {"x": n + 1}
    h = lambda: note(**options)
    options = {"x": n + 2, "w": 1}
    return r + h(), seen
"""

RETURNED = """
def f(n):
    inner = {"k": n, 3: [n, 2.5]}
    return {"energy": n * 0.5, "steps": n, "nested": inner, (1, 2): "text"}
"""

PROGRAMS = [FORWARDED, READ, DEFAULTS, DISPLAYS, MERGED, MISSING, UNCAUGHT, POSITIONAL_ONLY, IN_CLOSURES, RETURNED]


@pytest.mark.parametrize("source", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(source):
    for n in (1, 4):
        check(source, n)


REFUSED = {
    "def f(n):\n d = {}\n d[n] = 1\n return d": Code.UNSUPPORTED_DICT,
    "def f(n):\n d = {'a': 1}\n d['a'] = n\n return d": Code.UNSUPPORTED_DICT,
    "def f(n):\n d = {1: 1}\n return d[n]": Code.UNSUPPORTED_DICT,
    "def f(n):\n return {n: 1}": Code.UNSUPPORTED_DICT,
    "def f(n):\n d = {'a': 1}\n d.update(b=2)\n return d": Code.UNSUPPORTED_DICT,
    "def f(n):\n d = {'a': 1}\n return d.pop('a')": Code.UNSUPPORTED_DICT,
    "def f(n):\n return {**n}": Code.UNSUPPORTED_DICT,
    "def f(n):\n return max(1, 2, **n)": Code.UNSUPPORTED_KWARGS,
    "def g(**k): return 1\ndef f(n):\n return g(1)": Code.BAD_ARGUMENTS,
    "def g(a, **k): return a\ndef f(n):\n return g(n, **{'a': 1})": Code.BAD_ARGUMENTS,
    "def f(**k):\n return 1": Code.UNSUPPORTED_KWARGS,
}


@pytest.mark.parametrize("source", REFUSED, ids=range(len(REFUSED)))
def test_refused(source):
    with pytest.raises(quadrants.QuadrantsError) as info:
        quadrants.njit(function_of(source), cache=False)(**({"a": 1} if "f(**" in source else {"n": 1}))
    assert info.value.code is REFUSED[source]


def test_a_compiled_function_with_keywords_is_called_by_another():
    @quadrants.njit
    def scaled(x, **options):
        return x * options.get("by", 1)

    @quadrants.njit
    def use(x):
        return scaled(x) + scaled(x, by=10)

    assert use(3) == 33
    with pytest.raises(quadrants.QuadrantsError, match="only other compiled functions"):
        scaled(3)
