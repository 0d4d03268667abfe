"""`explain()`: what it says about loops of known kinds, with the place."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import quadrants as qd


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
        y[i] = np.cbrt(x[i])
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
    assert "cbrt() is computed one element at a time" in str(compiled.explain())
