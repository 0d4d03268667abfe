"""Blocks with a floating-point mode of their own: what is computed in them, on every way in and out, against the interpreter."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.diagnostics import CompileError

RNG = np.random.default_rng(7)
#: Numbers of many sizes: a sum in another order has other bits.
MIXED = RNG.random(5000) * 10.0 ** RNG.integers(-8, 8, 5000)
X = 1 + 2.0**-30  # its square, rounded, is not its square
OPS = "add|sub|mul|div|min|max|math[.][a-z0-9]+"


def modes(compiled: Any) -> dict[int, set[str]]:
    """The modes of the operations on floats in the typed code, by line below `def`; "" is that of the function."""
    (text,) = compiled.inspect_ir().values()
    first = compiled.__code__.co_firstlineno + 1  # behind the decorator
    found: dict[int, set[str]] = {}
    for attrs, line in re.findall(rf"= (?:{OPS}) [^{{\n:]*({{[^}}]*}})? : (?:lanes<)?f64[^@\n]*@(\d+)", text):
        mode = re.search(r'fp="(\w+)"', attrs)
        found.setdefault(int(line) - first, set()).add(mode.group(1) if mode else "")
    return found


def difference(mode: str) -> Callable[[float, float, float], float]:
    def f(a: float, b: float, c: float) -> float:
        with qd.fp(mode):
            return a * b - c

    return f


@pytest.mark.parametrize("around", ["default", "strict", "fast"])
def test_products_are_contracted_as_the_block_says(around: str) -> None:
    assert qd.njit(fp=around)(difference("strict"))(X, X, X * X) == 0.0
    rounding = qd.njit(fp=around)(difference("default"))(X, X, X * X)
    assert rounding == qd.njit(fp="default")(lambda a, b, c: a * b - c)(X, X, X * X)


def test_a_sum_keeps_its_order_in_a_strict_block_only() -> None:
    def f(a: Any) -> Any:
        with qd.fp("strict"):
            s = 0.0
            for x in a:
                s += x
        t = 0.0
        for x in a:
            t += x
        return s, t

    compiled = qd.njit(f)
    s, t = compiled(MIXED)
    exact = math.fsum(MIXED)
    assert s == f(MIXED)[0]
    assert t != s and abs(t - exact) <= abs(s - exact)
    text = str(compiled.explain())
    assert "the sum t may be computed in any order" in text and "the sum s" not in text
    assert "fp='strict' keeps the order in which 's' is computed" in text


def test_a_default_block_of_a_strict_function_reorders() -> None:
    @qd.njit(fp="strict")
    def f(a: Any) -> Any:
        s = t = 0.0
        with qd.fp("default"):
            for x in a:
                t += x
        for x in a:
            s += x
        return s, t

    s, t = f(MIXED)
    assert s == f.py_func(MIXED)[0] and t != s
    assert "the sum t may be computed in any order" in str(f.explain())


def test_blocks_in_blocks_and_in_loops() -> None:
    @qd.njit
    def f(a: Any) -> float:
        s = 0.0
        for x in a:
            with qd.fp("strict"):
                y = x * x
                with qd.fp("fast"):
                    z = x + y
                    with qd.fp("default"):
                        s -= z
                y += z
            s += y
        return s

    assert math.isclose(f(MIXED), f.py_func(MIXED), rel_tol=1e-9)
    found = modes(f)
    assert (found[4], found[6], found[8], found[9], found[10]) == ({"strict"}, {"fast"}, {""}, {"strict"}, {""})


def test_early_exits_leave_the_mode_behind() -> None:
    @qd.njit
    def f(a: Any, low: float, high: float) -> float:
        s = 0.0
        for i in range(len(a)):
            with qd.fp("strict"):
                if a[i] < low:
                    return s * 3.0
                if a[i] > high:
                    break
                if a[i] == 1.0:
                    continue
                s = s + a[i] * a[i]
            s = s / 3.0
        return s * 5.0

    a = np.array([0.5, 1.0, 0.25, 4.0, 2.0, -1.0])
    for low, high in ((0.3, 9.0), (-9.0, 3.0), (-9.0, 9.0), (0.0, 4.5), (9.0, 9.0)):
        assert f(a, low, high) == f.py_func(a, low, high)
    found = modes(f)
    assert (found[5], found[10], found[11], found[12]) == ({"strict"}, {"strict"}, {""}, {""})


def test_exceptions_pass_through_a_block() -> None:
    @qd.njit
    def f(x: float, k: int) -> Any:
        y = 0.0
        try:
            with qd.fp("strict"):
                y = x * 3.0
                if k == 1:
                    raise ValueError("out", k)
                if k == 2:
                    y = math.log(-x)
                try:
                    y = y / (k - 3)
                except ZeroDivisionError:
                    y = y - 1.0
                finally:
                    y = y + 0.5
            y = y * 7.0
        except ValueError:
            y = y + 2.0
        return y

    for k in range(6):
        assert f(1.1, k) == f.py_func(1.1, k)
    found = modes(f)
    assert (found[4], found[12], found[14], found[15], found[17]) == (*[{"strict"}] * 3, {""}, {""})

    @qd.njit
    def g(x: float) -> float:
        with qd.fp("strict"):
            return math.sqrt(x)

    with pytest.raises(ValueError, match="math domain error|expected a nonnegative input"):
        g(-1.0)


def test_two_managers_in_one_statement_a_name_and_a_global() -> None:
    @qd.njit
    def f(x: float) -> Any:
        with qd.fp("fast"), qd.fp(mode="strict") as nothing:
            y = x * x
        with EXACT:
            return y * x, nothing

    assert f(1.5) == f.py_func(1.5) == (3.375, None)
    assert modes(f) == {2: {"strict"}, 4: {"strict"}}


EXACT = qd.fp("strict")


def square_sum(a: Any) -> float:
    s = 0.0
    for x in a:
        s += x * x
    return s


def test_functions_that_a_block_calls_are_computed_in_its_mode() -> None:
    helper = qd.njit(square_sum)

    @qd.njit
    def f(a: Any) -> Any:
        with qd.fp("strict"):
            return square_sum(a), helper(a), [square_sum(a) for _ in range(2)][1], square_sum(a) ** 3

    exact = square_sum(MIXED)
    assert f(MIXED) == (exact, exact, exact, exact**3)

    @qd.njit
    def g(a: Any) -> float:
        with qd.fp("strict"):
            s = square_sum(a)
        return s - square_sum(a)

    assert g(MIXED) != 0.0


def test_elementary_functions_are_the_c_librarys_in_a_strict_block() -> None:
    @qd.njit
    def f(x: Any) -> Any:
        y, z = np.empty_like(x), np.empty_like(x)
        with qd.fp("strict"):
            for i in range(len(x)):
                y[i] = np.exp(x[i]) * np.tan(x[i]) + x[i]
        for i in range(len(x)):
            z[i] = np.exp(x[i]) * np.tan(x[i]) + x[i]
        return y, z

    x = RNG.uniform(-3, 3, 2000)
    strict, default = f(x)
    assert (strict == [math.exp(v) * math.tan(v) + v for v in x]).all()
    assert (strict != default).any() and np.allclose(strict, default, rtol=1e-12)


def test_array_expressions_and_matrix_products_in_a_block() -> None:
    @qd.njit
    def f(a: Any, b: Any, c: Any) -> Any:
        with qd.fp("strict"):
            return a * b - c

    a = RNG.random(1000) + X
    assert not f(a, a, a * a).any()

    @qd.njit
    def product(a: Any, b: Any, c: Any) -> None:
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    with qd.fp("strict"):
                        c[i, j] += a[i, k] * b[k, j]

    a, b = RNG.random((70, 80)), RNG.random((80, 90))
    c, wanted = np.zeros((70, 90)), np.zeros((70, 90))
    product(a, b, c)
    for k in range(80):
        wanted += a[:, k, None] * b[k]
    assert (c == wanted).all()


def test_parallel_sums_keep_their_order_in_a_strict_block() -> None:
    @qd.njit(parallel=True)
    def f(a: Any) -> float:
        s = 0.0
        for i in range(len(a)):
            with qd.fp("strict"):
                s += a[i]
        return s

    assert f(np.tile(MIXED, 40)) == f.py_func(np.tile(MIXED, 40))
    assert 'fp="strict" keeps the order' in str(f.explain())


def test_minima_in_a_fast_block_of_a_strict_function() -> None:
    @qd.njit(fp="strict")
    def f(a: Any) -> Any:
        with qd.fp("fast"):
            low = a[0]
            for x in a:
                low = min(low, x)
        high = a[0]
        for x in a:
            high = max(high, x)
        return low, high

    assert f(MIXED) == (MIXED.min(), MIXED.max())


def test_the_interpreter_does_nothing_but_check_the_mode() -> None:
    assert difference("fast")(X, X, X * X) == 0.0
    with pytest.raises(KeyError), qd.fp("strict"):
        raise KeyError
    with pytest.raises(ValueError, match=r"qd\.fp\(\) takes 'default', 'strict', 'fast', not 'exact'"):
        qd.fp("exact")


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("strickt", 'QD302: there is no floating-point mode \'strickt\': fp() takes "default", "strict", "fast"'),
        (3, 'QD301: the mode of fp() has to be a constant, "default", "strict", "fast", not the constant 3'),
    ],
)
def test_a_wrong_mode_is_an_error_at_its_place(mode: Any, text: str) -> None:
    with pytest.raises(CompileError) as caught:
        qd.njit(difference(mode))(1.0, 1.0, 1.0)
    told = str(caught.value)
    assert text in told and "with qd.fp(mode):" in told
    assert re.search(r"\n +\| +\^{11}\n", told)
    assert "hint: " in told


def test_what_is_no_mode_of_ours_stays_an_error() -> None:
    @qd.njit
    def argument(x: float, mode: str) -> float:
        with qd.fp(mode):
            return x

    @qd.njit
    def too_many(x: float) -> float:
        with qd.fp("strict", "fast"):  # type: ignore[call-arg]
            return x

    @qd.njit
    def called(x: float) -> float:
        return EXACT()  # type: ignore[operator]

    @qd.njit
    def other(x: Any) -> float:
        with x:
            return 1.0

    with pytest.raises(CompileError, match="has to be a constant"):
        argument(1.0, "strict")
    with pytest.raises(CompileError, match="takes one argument, the mode"):
        too_many(1.0)
    with pytest.raises(CompileError, match="cannot be called"):
        called(1.0)
    with pytest.raises(
        CompileError, match=r"a with statement cannot be compiled(.|\n)*hint: Put the with statement around"
    ):
        other(1.0)
