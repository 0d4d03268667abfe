"""Strings and caught exceptions in compiled code do what they do in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from differential.running import check, function_of

import quadrants

MODE = """
def f(mode, x):
    if mode == "fast":
        return x * 2
    elif mode in ("slow", "mid"):
        return x * 3
    return x
"""
CHOSEN = """
def f(a):
    if a > 2:
        m = "big"
    elif a > 1:
        m = "mid"
    else:
        m = "small"
    k = 0
    for i in range(10):
        if m == "big":
            k += 1
        elif m == "mid":
            k += 2
    return m, k, m + "!", len(m), m == "big", m < "c", f"{m:>10}|", m.upper(), m[0], "i" in m
"""
GROWN = """
def f(n):
    s = ""
    for i in range(n):
        s += "x" + str(i)
    return s, len(s), s[-2:], s.upper(), s == "x0x1", "x3" in s, s or "nothing"
"""
WALKED = """
def f(s):
    n = 0
    for k, c in enumerate(s):
        if c == "a":
            n += k
    return n, s[::-1], s.startswith("ab"), "b" in s, s.find("b"), s * 2, s.isdigit(), s.strip(), s.replace("a", "z")
"""
DEFAULTS = """
def f(x, mode="a", *, kind="k"):
    def inner(y, label=mode):
        return y if label == kind else -y
    return inner(x), inner(x, "k"), inner(label="q", y=x), mode, kind
"""
PRINTED = """
def f(x):
    return "%d %.3f %s" % (x, x / 3, "a"), "{} {:>5}".format(x, x), chr(65 + x), hex(x), bin(x), ord("a"), repr(x), format(x, "05d")
"""
OPTIONAL = """
def f(name, x):
    label = None
    if x > 0:
        label = "up" if x > 1 else "flat"
    if name is None:
        name = "default"
    return name if label is None else label + name, label is None
"""
PARSED = """
def f(s):
    try:
        return int(s), float(s), int(s, 16)
    except ValueError as e:
        return str(e), len(s)
"""
NESTED_TEXT = """
def f(a):
    s = f"{a}"
    a[0] = 7
    return s, f"{a}"
"""
TEXTS = {
    MODE: [("fast", 2), ("mid", 2.5), ("", 1), ("ma\u00df", 1), ("fas", 3)],
    CHOSEN: [(1,), (2,), (3,)],
    GROWN: [(0,), (1,), (4,)],
    WALKED: [("abba",), ("",), ("\u00e9a\u4e2d",), ("123",)],
    DEFAULTS: [(1,), (1, "k")],
    PRINTED: [(5,), (25,)],
    OPTIONAL: [("n", 0), (None, 0), ("n", 1), (None, 3)],
    PARSED: [("12",), ("zz",), ("1e3",), ("99999999999999999999",)],
    NESTED_TEXT: [(np.arange(3),)],
    "lambda s, t: (s == t, s != t, s < t, s + t, s in t, len(s) + len(t), bool(s))": [
        ("a", "b"),
        ("", ""),
        ("x", "xy"),
    ],
    "lambda s: s[5]": [("abc",), ("abcdefg",)],
    "lambda s: min(s, 'm')": [("abc",), ("zzz",)],
    "lambda s, w: f'{s:>{6}}|' + s.center(7, '*') + s.zfill(5)": [("ab", 1)],
    "lambda s: (isinstance(s, str), type(s) is str, s is None)": [("a",)],
    "lambda x: 'yes' if x else 'no'": [(1,), (0,)],
    "lambda a, b: a and b or 'none'": [("x", "y"), ("", "y"), ("x", "")],
}

ARGUMENTS = """
def f(x):
    try:
        if x > 0:
            raise ValueError("negative", x, 2.5)
        if x < -5:
            raise KeyError("abc")
    except ValueError as e:
        return f"{e}", str(e), repr(e), e.args[0], e.args[1], len(e.args), type(e).__name__, e.__class__.__name__
    except KeyError as e:
        return str(e), f"{e!r:>20}", e.args
    return "fine"
"""
ARITHMETIC = """
def f(x):
    try:
        raise OwnError(x, "text")
    except OwnError as e:
        k, text = e.args
        return int(k) + 1, float(k) * 2, text == "text", e.args[0] == x, isinstance(e, ValueError)
"""
AGAIN = """
def f(x):
    error = None
    try:
        if x:
            raise ValueError("boom %d" % x)
    except ValueError as e:
        error = e
    for i in range(12):
        try:
            raise KeyError(i)
        except KeyError:
            pass
    if error is not None:
        raise error
    return 1
"""
MANY = """
def f(x):
    try:
        raise ValueError("outer", x)
    except ValueError as e:
        for i in range(20):
            try:
                raise KeyError(i)
            except KeyError:
                if i == x:
                    break
        if x > 10:
            raise
        return str(e)
"""
INNER = """
def f(x, s):
    def fail(y):
        if y > 2:
            raise SubError("deep", y)
        return y
    def describe(e):
        return "caught " + str(e)
    try:
        return fail(x) + int(s)
    except (OwnError, TypeError) as e:
        return describe(e)
    except ValueError as e:
        print(e)
        return describe(e)
    finally:
        print("left")
"""
INDEX = """
def f(a, i):
    try:
        return a[i], 1 // (a[i] - 1)
    except (IndexError, ZeroDivisionError) as e:
        return str(e)
"""
CAUGHT = {
    ARGUMENTS: [(1,), (-9,), (0,)],
    ARITHMETIC: [(3,)],
    AGAIN: [(0,), (5,)],
    MANY: [(3,), (15,)],
    INNER: [(1, "5"), (9, "5"), (1, "x")],
    INDEX: [((1, 2, 3), 0), ((1, 2, 3), 7), (np.arange(3), 9)],
}

CHAINED = {
    "def f(x):\n try: raise ValueError('a', x)\n except ValueError as e: raise KeyError('b') from e": 3,
    "def f(x):\n try: raise ValueError('a', x)\n except ValueError: raise KeyError('b') from None": 3,
    "def f(x):\n try: 1 // x\n except ZeroDivisionError: raise KeyError('b', x)": 0,
    "def f(x):\n try: raise ValueError('v')\n finally: raise KeyError('z')": 0,
    "def f(x):\n try:\n  try: 1 // x\n  except ZeroDivisionError as e: raise KeyError(1) from e\n"
    " except KeyError as f: raise RuntimeError(f.args[0]) from f": 0,
    "def f(x):\n try: raise ValueError(1)\n except ValueError:\n  try: 1 // x\n  except KeyError: pass\n  1 // x": 0,
}


@pytest.mark.parametrize("source", TEXTS)
def test_strings(source: str) -> None:
    for args in TEXTS[source]:
        check(source, *args)


@pytest.mark.parametrize("source", CAUGHT)
def test_caught_exceptions(source: str) -> None:
    for args in CAUGHT[source]:
        check(source, *args)


def chain(error: BaseException | None) -> object:
    """An exception with its cause and its context."""
    if error is None:
        return None
    return type(error), error.args, chain(error.__cause__), chain(error.__context__), error.__suppress_context__


@pytest.mark.parametrize("source", CHAINED)
def test_causes_and_contexts(source: str) -> None:
    function, found = function_of(source), []
    for call in (function, quadrants.njit(function)):
        with pytest.raises(Exception) as caught:
            call(CHAINED[source])
        found.append(chain(caught.value))
    assert found[0] == found[1]


def test_a_loop_in_a_handler_keeps_an_error_of_the_interpreter() -> None:
    def f(text: str) -> object:
        try:
            return int(text)
        except ValueError:
            k = 0
            for i in range(3):
                k += i
            if k == 3:
                raise
            return k

    with pytest.raises(ValueError, match="invalid literal for int"):
        quadrants.njit(f)("no")


def test_arithmetic_with_an_argument_of_an_exception_needs_a_conversion() -> None:
    def f(x: int) -> object:
        try:
            raise ValueError(x)
        except ValueError as e:
            return e.args[0] + 1

    with pytest.raises(quadrants.QuadrantsError, match="its type is only known at run time"):
        quadrants.njit(f)(1)
