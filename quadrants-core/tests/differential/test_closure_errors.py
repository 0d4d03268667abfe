"""What inner functions may not do, and variables of the interpreter."""

from __future__ import annotations

import sys

import pytest
from differential.running import function_of

import quadrants
from quadrants.diagnostics import Code


def refused(source: str, *args: object) -> quadrants.QuadrantsError:
    with pytest.raises(quadrants.QuadrantsError) as info:
        quadrants.njit(function_of(source), cache=False)(*args)
    return info.value


def test_types_that_do_not_fit_in_one_variable():
    source = """
def f(n):
    x = 0
    def g():
        nonlocal x
        x = (1, 2)
    g()
    return x
"""
    error = refused(source, 1)
    assert error.code is Code.CANNOT_UNIFY
    assert "'x', which an inner function assigns, is given different types" in str(error)


def test_a_variable_that_grows_with_every_assignment():
    error = refused("def f(n):\n x = (1,)\n def g():\n  nonlocal x\n  x = (x,)\n g()\n return x", 1)
    assert error.code is Code.CANNOT_UNIFY


def test_a_variable_of_the_interpreter():
    scope: dict[str, object] = {}
    exec("def make():\n k = 0\n def f(x):\n  nonlocal k\n  k = x\n return f", scope)
    with pytest.raises(quadrants.QuadrantsError, match="which the interpreter runs") as info:
        quadrants.njit(scope["make"](), cache=False)(1)  # type: ignore[operator]
    assert info.value.code is Code.UNSUPPORTED_NONLOCAL


def test_a_variable_of_the_interpreter_changes_between_calls():
    scope: dict[str, object] = {}
    exec(
        "def make():\n k = 0\n def f(x):\n  g = lambda: x + k\n  return g()\n def put(v):\n  nonlocal k\n  k = v\n return f, put",
        scope,
    )
    function, put = scope["make"]()  # type: ignore[operator]
    compiled = quadrants.njit(function, cache=False)
    assert compiled(1) == 1
    for value in (4, 5, 2.5, 7, 8):
        put(value)
        assert compiled(1) == 1 + value
        assert type(compiled(1)) is type(1 + value)


@pytest.mark.parametrize(
    "source",
    [
        "def f(n):\n i = 10\n fs = [lambda: i for i in range(3)]\n return i, [g() for g in fs]",
        "def f(n):\n fs = [lambda: i for i in range(3)]\n i = 7\n return [g() for g in fs], i",
        "def f(n):\n t = 0\n for r in range(n):\n  fs = [lambda: i + r for i in range(3)]\n  t += fs[0]()\n return t",
    ],
)
def test_lists_of_functions_that_know_variables(source):
    error = refused(source, 3)
    assert error.code is Code.UNSUPPORTED_COMPREHENSION
    assert "as defaults" in str(error.hint)


def test_a_comprehension_with_the_name_of_a_variable_that_is_shared():
    """From Python 3.12 on it would be in the same box; before, the comprehension is a function of its own."""
    source = """
def f(n):
    i = 0
    def step():
        nonlocal i
        i += 1
    s = [(lambda: i + 1)() for i in range(n)]
    step()
    return i, s
"""
    if sys.version_info >= (3, 12):
        assert refused(source, 3).code is Code.UNSUPPORTED_COMPREHENSION
    else:
        assert quadrants.njit(function_of(source), cache=False)(3) == (1, [1, 2, 3])
