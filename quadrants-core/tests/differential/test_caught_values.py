"""What a caught exception carries has a type that only the interpreter knows: `is`, `isinstance()` and `callable()` ask it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from differential.running import check, compiled

import quadrants

ASKED = {
    """
def f(x):
    try:
        raise OwnError(x, OwnError, None, "s", True)
    except Exception as e:
        a, b, c, d, t = e.args
        print(a is None, None is c, c is not None, t is True, a is not d, type(a) is int, type(d) == str)
        return isinstance(a, (int, float)), isinstance(d, str | int), isinstance(a, np.generic), isinstance(a, OwnError), callable(b)
""": [1, 2.5, np.float64(2), "text"],
    """
def f(x):
    try:
        raise OwnError(x)
    except OwnError as e:
        y = e.args[0]
        if isinstance(y, bool):
            return "bool"
        if isinstance(y, int):
            return int(y) + 1
        if isinstance(y, str):
            return y
        return None
""": [1, 2.5, "text", True],
    """
def f(n):
    try:
        for i in range(n):
            try:
                if i % 2:
                    raise ValueError(i)
                if i == 4:
                    raise KeyError(i)
            except ValueError as e:
                if i > 6:
                    raise RuntimeError("late") from e
                if i == 1 and n == 2:
                    raise KeyError("soon") from e
    except (KeyError, RuntimeError) as e:
        cause = e.__cause__
        return type(e).__name__, cause is None, e.__cause__ is not None, isinstance(cause, ValueError), callable(e)
    return None
""": [1, 2, 6],
    """
def f(x):
    try:
        raise OSError(2, "gone")
    except OSError as e:
        return e.errno, e.strerror, e.filename is None, isinstance(e.errno, int), x
""": [1],
}


@pytest.mark.parametrize(("source", "argument"), [(source, x) for source, calls in ASKED.items() for x in calls])
def test_as_the_interpreter(source: str, argument: object) -> None:
    check(source, argument)


#: Source, arguments -> what the error says, and the place.
REFUSED = {
    "lambda a, k: a.sum(axis=(0, k))": ((np.ones((2, 2)), 1), "the axes of a tuple have to be constants"),
    "def f(x):\n    a, b = x\n    return a": ((3,), "cannot unpack int, which has no items"),
    "lambda a, n: tuple(a[i] for i in range(n))": ((np.ones(3), 2), "cannot become a tuple: its length is not known"),
    "lambda x: round(x, 'a')": ((1.5,), "the number of digits has to be an integer"),
    "lambda n: str(zip((1, 2), (3, n)))": ((3,), "a zip object exists only in compiled code"),
    "def f(n):\n    raise ValueError(x for x in (1, n))": ((3,), "a generator object exists only in compiled code"),
    "lambda n: print(n.bit_length)": ((3,), "exists only in compiled code"),
    "lambda a: sum(np.roll(a, i) for i in (-1, 0, 1) if a[0] > i)": (
        (np.ones(3),),
        "the items of a list that changes are numbers",
    ),
}


@pytest.mark.parametrize(("source", "args", "message"), [(source, *rest) for source, rest in REFUSED.items()])
def test_refused_with_the_place(source: str, args: tuple[object, ...], message: str) -> None:
    with pytest.raises(quadrants.QuadrantsError, match=re.escape(message)) as caught:
        compiled(source)(*args)
    assert "\n    |" in str(caught.value) or "-->" in str(caught.value)
