"""Long functions: the work grows with their length, and nothing in the compiler is too deep for them.

Work is counted in lines of LLVM IR and in comparisons, never in seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.bytecode import copies


def function(lines: list[str]) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<long>", "exec"), scope)
    return scope["f"]


def accesses(n: int) -> Callable[..., Any]:
    """Each statement has three checks that nothing proves away."""
    return function(
        ["def f(a, b, i):", *(f"    a[b[i + {k}]] = a[i - {k % 7}] + {k}" for k in range(n)), "    return a[3]"]
    )


def statements(n: int) -> Callable[..., Any]:
    return function(["def f(x):", "    y = x", *(f"    y = y * 0.5 + x + {k}.25" for k in range(n)), "    return y"])


def branches(n: int) -> Callable[..., Any]:
    arms = [line for k in range(1, n) for line in (f"    elif x == {k}:", f"        r = {k * 7 % 101}")]
    return function(
        ["def f(x):", "    if x == 0:", "        r = 1", *arms, "    else:", "        r = -1", "    return r"]
    )


def terms(n: int) -> Callable[..., Any]:
    return function(["def f(x):", "    return x" + "".join(f" + {k}" for k in range(n))])


def nested(n: int) -> Callable[..., Any]:
    return function(["def f(x):", "    return " + "".join(f"({k} + x - " for k in range(n)) + "x" + ")" * n])


def choices(n: int) -> Callable[..., Any]:
    return function(["def f(x):", "    return " + "".join(f"{k} if x == {k} else " for k in range(n)) + "-1"])


def conditions(n: int) -> Callable[..., Any]:
    return function(["def f(x):", "    return " + " and ".join(f"x > {k}" for k in range(n))])


def merges(n: int) -> Callable[..., Any]:
    body = [
        line
        for k in range(n)
        for line in (f"    if x > {k}:", f"        v{k} = v{(k * 7 + 1) % n} * 2", f"        v{k * 3 % n} += 1")
    ]
    total = " + ".join(f"v{k}" for k in range(n))
    return function(["def f(x):", *(f"    v{k} = x + {k}" for k in range(n)), *body, f"    return {total}"])


def errors(n: int) -> Callable[..., Any]:
    body = [
        line
        for k in range(n)
        for line in ("    try:", f"        r += x // (x - {k})", "    except ZeroDivisionError:", f"        r -= {k}")
    ]
    return function(["def f(x):", "    r = 0", *body, "    return r"])


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (statements, 2000),
        (branches, 300),
        (terms, 500),
        (nested, 90),
        (choices, 300),
        (conditions, 200),
        (merges, 60),
        (errors, 40),
    ],
)
def test_they_compile_and_are_right(make: Callable[[int], Callable[..., Any]], size: int) -> None:
    python = make(size)
    compiled = qd.njit(python)
    for x in (3, size + 5):
        assert compiled(x) == python(x)


def test_many_small_callees() -> None:
    scope: dict[str, Any] = {"qd": qd}
    lines = [line for k in range(100) for line in ("@qd.njit", f"def g{k}(x):", f"    return x * {k} + 1")]
    lines += ["def f(x):", *(f"    x = g{k}(x) % 1000003" for k in range(100)), "    return x"]
    exec(compile("\n".join(lines), "<callees>", "exec"), scope)
    expected = 5
    for k in range(100):
        expected = (expected * k + 1) % 1000003
    assert qd.njit(scope["f"])(5) == expected


def llvm(n: int) -> str:
    python = accesses(n)
    compiled = qd.njit(python)
    a, b = np.arange(4.0 * n + 20), np.arange(4 * n + 20)
    again = a.copy()
    assert compiled(a, b, 8) == python(again, b, 8)
    np.testing.assert_array_equal(a, again)
    (text,) = compiled.inspect_llvm().values()
    return text


def test_the_code_of_checks_grows_with_their_number() -> None:
    sizes = [len(llvm(n).splitlines()) for n in (20, 40, 80)]
    assert sizes[2] - sizes[1] <= 2.1 * (sizes[1] - sizes[0])


def test_no_check_looks_like_a_test_of_overflow() -> None:
    """LLVM makes an instruction of its own of `a + b < a` without a sign, and starts the function over for each."""
    text = llvm(20)
    sums = {
        name: {first, second} for name, first, second in re.findall(r"(%\w+) = add (?:\w+ )*i64 ([^,\s]+), (\S+)", text)
    }
    compared = re.findall(r"icmp u(?:lt|gt|le|ge) i64 (\S+), (\S+)", text)
    assert len(compared) > 20
    for first, second in compared:
        assert second not in sums.get(first, ()) and first not in sums.get(second, ())


def test_a_long_chain_of_conditions_is_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = copies._same_ways_out
    monkeypatch.setattr(copies, "_same_ways_out", lambda *args: calls.append(1) or original(*args))
    assert qd.njit(conditions(150))(1000)
    assert len(calls) <= 300


@pytest.mark.parametrize(
    "x",
    [
        -(2.0**63),
        np.nextafter(-(2.0**63), -np.inf),
        2.0**63,
        np.nextafter(2.0**63, 0.0),
        np.inf,
        -np.inf,
        np.nan,
        -0.5,
        3.7,
    ],
)
def test_float_to_int_at_the_ends(x: float) -> None:
    compiled = qd.njit(lambda v: int(v))
    x = float(x)
    if -(2.0**63) <= x < 2.0**63:
        assert compiled(x) == int(x)
    else:
        with pytest.raises(ValueError if x != x else OverflowError):
            compiled(x)
