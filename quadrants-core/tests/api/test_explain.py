"""`explain()`: what it says about loops of known kinds, with the place."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import quadrants as qd
from quadrants.host.target import host_target


def saxpy(a, x, y):
    for i in range(len(x)):
        y[i] += a * x[i]


def gather(x, index):
    total = 0.0
    for i in range(len(index)):
        total += x[index[i]]
    return total


def running(x, y):
    p = 0.0
    for i in range(len(x)):
        p = p * 0.5 + x[i]
        y[i] = p


def squares(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i * i
    return out


def search(x, wanted):
    for i in range(len(x)):
        if x[i] == wanted:
            return i
    return -1


def called(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = np.nextafter(x[i], 1.0)
    return y


X = np.arange(40.0)
CASES = [
    (saxpy, (2.0, X, X.copy()), "vectorised", "+", "for i"),
    (gather, (X, np.arange(3)), "check-inside", "-", "for i"),
    (gather, (X, np.arange(3)), "bounds-check", "!", "total +="),
    (running, (X, X.copy()), "carried-dependence", "-", "for i"),
    (squares, (10,), "allocation", "!", "np.zeros"),
    (search, (X, 3.0), "early-exit", "-", "for i"),
]


@pytest.mark.parametrize(("function", "args", "code", "kind", "line"), CASES)
def test_decisions(function, args, code, kind, line):
    compiled = qd.njit(function)
    compiled(*args)
    records = [record for record in compiled.explain().records if record.code == code]
    assert records, str(compiled.explain())
    source, first = inspect.getsourcelines(function)
    (record,) = records
    assert record.kind.value == kind
    assert line in source[record.location.line - first]
    assert record.location.col is not None


def test_text_names_signature_and_source():
    compiled = qd.njit(saxpy)
    assert "not compiled yet" in str(compiled.explain())
    compiled(2.0, X, X.copy())
    text = str(compiled.explain())
    assert "saxpy" in text and "float64" in text and "for i in range(len(x))" in text


def test_scalar_function_in_a_vector_loop_is_told():
    compiled = qd.njit(called)
    compiled(X)
    assert "nextafter() is computed one element at a time" in str(compiled.explain())


def escapes(x, count):
    for i in range(len(x)):
        z = np.nextafter(x[i], 0.0)
        for turn in range(100):
            z = z * z + x[i]
            if z > 4.0:
                break
            count[i] = turn


def smoothed(x, y):
    for i in range(1, len(x)):
        z = x[i - 1]
        while z > 1.0:
            z *= 0.5
        x[i] += z * y[i]


@pytest.mark.skipif(host_target().vector_bits < 256, reason="registers with too few lanes")
def test_loops_in_lanes_are_told():
    """What runs in lanes, and what does not: with the accesses that stand in the way."""
    compiled = qd.njit(escapes)
    compiled(X + 1.0, np.zeros(len(X), np.int64))
    text = str(compiled.explain())
    assert "turns run side by side in SIMD lanes, masks at" in text
    assert "nextafter() one lane at a time" in text
    assert "not vectorised" not in text
    compiled = qd.njit(smoothed)
    compiled(X.copy(), X)
    (record,) = [record for record in compiled.explain().records if record.pass_name == "spmd"]
    assert record.code == "carried-dependence"
    line = smoothed.__code__.co_firstlineno
    assert record.location.line == line + 1
    assert [int(place.split(":")[1]) for name, place in record.detail] == [line + 2]


def summed(a):
    return a.sum()


def sorted_and_joined(a, b):
    c = np.sort(a)
    return np.concatenate((c, b))


def test_calls_of_the_library_are_told_at_the_users_line():
    compiled = qd.njit(summed)
    compiled(X)
    (record,) = [record for record in compiled.explain().records if record.pass_name == "library"]
    assert record.code == "library-call" and record.kind.value == "+"
    assert record.text.startswith("sum() of the library") and "innermost loops in SIMD" in record.text
    assert any(what == "a loop" and text.startswith("vectorised: ") for what, text in record.detail)
    assert record.location.function == "summed"


def test_allocations_of_the_library_are_told_at_the_users_line():
    compiled = qd.njit(sorted_and_joined)
    compiled(X, X)
    told = [record for record in compiled.explain().records if record.code == "allocation"]
    first = inspect.getsourcelines(sorted_and_joined)[1]
    assert [(record.location.line - first, record.text.partition("(")[0]) for record in told] == [
        (1, "sort"),
        (2, "concatenate"),
    ]


def test_what_always_raises_in_the_library_is_told():
    def split(a):
        try:
            return len(np.array_split(a, 0))
        except ValueError:
            return -1

    compiled = qd.njit(split)
    assert compiled(X) == -1
    (record,) = [record for record in compiled.explain().records if record.code == "always-raises"]
    assert record.text == "array_split() always raises here"
