"""Globals and closure variables: constants that are noticed when they change, arrays and changing numbers as arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrants as qd

FACTOR = 2
TABLE = np.arange(5.0)


@qd.njit
def scaled(x):  # type: ignore[no-untyped-def]
    return x * FACTOR


def helper(x):  # type: ignore[no-untyped-def]
    return scaled(x) + FACTOR


@qd.njit
def through_helper(x):  # type: ignore[no-untyped-def]
    return helper(x)


@qd.njit
def table_sum():  # type: ignore[no-untyped-def]
    s = 0.0
    for value in TABLE:
        s += value
    return s


def test_a_changed_global_recompiles(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scaled(5) == 10 and through_helper(5) == 12
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert scaled(5) == 15 and through_helper(5) == 18
    monkeypatch.setitem(globals(), "FACTOR", 0.5)
    assert scaled(5) == 2.5 and through_helper(5) == 3.0
    monkeypatch.undo()
    assert scaled(5) == 10 and type(scaled(5)) is int and through_helper(5) == 12
    assert len(scaled.signatures) == 1


def test_a_changed_callee_recompiles(monkeypatch: pytest.MonkeyPatch) -> None:
    assert through_helper(5) == 12
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1)
    assert through_helper(5) == 4
    monkeypatch.undo()
    assert through_helper(5) == 12


def test_a_callee_whose_code_is_replaced() -> None:
    space: dict[str, Any] = {"qd": qd}
    exec(
        "def inner(x, k=2): return x * k\ndef outer(x): return inner(x) + 1\n"
        "class C:\n  @staticmethod\n  def part(x): return x - 1\n"
        "@qd.njit\ndef decorated(x): return outer(x) * 10\n@qd.njit(cache=False)\n"
        "def f(x): return decorated(x) + C.part(x)",
        space,
    )
    f, inner = space["f"], space["inner"]
    assert f(3) == 72 and f(4) == 93
    inner.__code__ = (lambda x, k=2: x - k).__code__
    assert f(3) == 22 and f(3) == 22
    inner.__defaults__ = (5,)
    assert f(3) == -8
    inner.__code__ = (lambda x, *, k: x + k).__code__
    inner.__defaults__, inner.__kwdefaults__ = None, {"k": 0.5}
    assert f(3) == 47.0
    inner.__kwdefaults__ = {"k": 1}
    assert f(3) == 52
    space["C"].part.__code__ = (lambda x: x + 100).__code__
    assert f(3) == 153
    space["decorated"].py_func.__code__ = (lambda x: outer(x)).__code__  # type: ignore[name-defined]  # noqa: F821
    assert f(3) == 108
    f.py_func.__code__ = (lambda x: -x).__code__
    assert f(3) == -3 and f(3.5) == -3.5
    assert len(f.signatures) == 2


def test_another_function_that_is_replaced_changes_nothing() -> None:
    space: dict[str, Any] = {"qd": qd}
    exec("def used(x): return x\ndef unused(x): return x\n@qd.njit(cache=False)\ndef f(x): return used(x)", space)
    f = space["f"]
    assert f(1) == 1
    before = sum(f.stats.cache_misses.values())
    space["unused"].__code__ = (lambda x: x + 1).__code__
    space["used"].__doc__ = "text"
    assert f(1) == 1 and sum(f.stats.cache_misses.values()) == before


def test_global_arrays_are_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert table_sum() == 10
    TABLE[0] = 100
    assert table_sum() == 110
    TABLE[0] = 0
    for table in (np.ones(7), np.ones(7)[::2], np.ones(3, np.float32), np.ones(4, np.int8)):
        monkeypatch.setitem(globals(), "TABLE", table)
        assert table_sum() == len(table)
    monkeypatch.undo()
    assert table_sum() == 10


def test_a_global_that_hides_a_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    @qd.njit
    def magnitude(x):  # type: ignore[no-untyped-def]
        return abs(x)

    assert magnitude(-2) == 2
    monkeypatch.setitem(globals(), "abs", scaled)
    assert magnitude(-2) == -4
    monkeypatch.undo()
    assert magnitude(-2) == 2


def test_closure_cells() -> None:
    def outer(start: Any) -> Any:
        value = start

        def change(new: Any) -> None:
            nonlocal value
            value = new

        @qd.njit
        def inner(x):  # type: ignore[no-untyped-def]
            return x + value

        return inner, change

    inner, change = outer(10)
    assert inner(1) == 11
    change(20)
    assert inner(1) == 21
    change(0.5)
    assert inner(1) == 1.5
    other, _ = outer(7)
    assert other(1) == 8 and inner(1) == 1.5


def test_a_number_that_keeps_changing_becomes_an_argument() -> None:
    space: dict[str, Any] = {"qd": qd, "K": 1.0}
    exec("@qd.njit\ndef helper(x): return x + K\n@qd.njit\ndef f(x): return helper(x) * K", space)
    f = space["f"]
    for value in (1.0, 2.0, -0.0, 0.0, float("inf"), 7.5, 3, 4, True, 5.5, 2 + 1j, 1.0):
        space["K"] = value
        assert f(2.0) == (2.0 + value) * value, value
    for value in np.linspace(0, 1, 20).tolist():
        space["K"] = value
        assert f(2.0) == (2.0 + value) * value
    assert sum(f.stats.cache_misses.values()) + sum(f.stats.cache_hits.values()) < 10
    space["K"] = np.float32(0.5)
    assert f(2.0) == 1.25


def test_a_closure_number_that_keeps_changing() -> None:
    count = 0

    @qd.njit
    def shifted(x):  # type: ignore[no-untyped-def]
        return x + count

    for _ in range(20):
        assert shifted(1) == 1 + count
        count += 1
    assert sum(shifted.stats.cache_misses.values()) + sum(shifted.stats.cache_hits.values()) <= 3


def test_a_number_that_has_to_be_constant_stays_one() -> None:
    space: dict[str, Any] = {"qd": qd, "np": np, "AXES": 1}
    exec("@qd.njit\ndef f(a): return np.sum(a, axis=AXES)", space)
    a = np.arange(6.0).reshape(2, 3)
    for axis in (0, 1, 0, 1, 0):
        space["AXES"] = axis
        assert np.array_equal(space["f"](a), a.sum(axis=axis))


def test_recompile() -> None:
    f = qd.njit(lambda x: x + 1)
    assert f(1) == 2 and f(1.0) == 2
    f.recompile()
    assert f(1) == 2 and len(f.signatures) == 2
