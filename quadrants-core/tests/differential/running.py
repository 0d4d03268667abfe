"""Runs a piece of source in the interpreter and compiled, and asserts that both do the same."""

from __future__ import annotations

import cmath
import functools
import gc
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from differential.expressions import Program
from differential.outcome import run, same_outcome, show, wraps

import quadrants
from quadrants.host.symbols import live_blocks


class Point(NamedTuple):
    """A named tuple for programs."""

    x: object
    y: object


class OwnError(ValueError):
    """An exception class of the user's."""


class SubError(OwnError):
    """A class derived from it."""


NAMES: dict[str, object] = {
    "np": np,
    "math": math,
    "cmath": cmath,
    "Point": Point,
    "OwnError": OwnError,
    "SubError": SubError,
}


@functools.cache
def function_of(source: str) -> Callable[..., object]:
    """The function that a `lambda`, or the last `def` of a text, makes."""
    scope = {**NAMES, "__name__": __name__}
    code = compile(source, f"<{source[:40]}>", "eval" if source.startswith("lambda") else "exec")
    if source.startswith("lambda"):
        return eval(code, scope)
    exec(code, scope)
    return next(value for name, value in reversed(scope.items()) if name not in NAMES and callable(value))


@functools.cache
def compiled(source: str, fp: str = "default") -> Callable[..., object]:
    return quadrants.njit(function_of(source), fp=fp, cache=False)


def difference(source: str, args: tuple[object, ...], fp: str = "default", texts: bool = True) -> str | None:
    """None, or what the compiled function does otherwise than the interpreter."""
    expected = run(function_of(source), args)
    if wraps(expected.value):
        return None  # an int beyond 64 bits
    before = live_blocks()
    actual = run(compiled(source, fp), args)
    found = same_outcome(expected, actual, texts)
    del actual
    if found is None and live_blocks() != before:
        found = left_over(source, args, fp)
    if found is None:
        return None
    shown = "\n  ".join(map(show, args))
    return f"{source}\n  {shown}\n{found}"


def left_over(source: str, args: tuple[object, ...], fp: str) -> str | None:
    """None, or how many blocks a call leaves over, with what earlier calls left in reference cycles collected first."""
    gc.collect()
    before = live_blocks()
    run(compiled(source, fp), args)
    gc.collect()
    after = live_blocks()
    return None if after == before else f"{after - before} blocks of array memory are left over"


def check(source: str, *args: object, texts: bool = True) -> None:
    """Assert that compiled code does what the interpreter does."""
    found = difference(source, args, texts=texts)
    assert found is None, found


def check_program(program: Program) -> None:
    """Assert it of a random program; one that only the interpreter's type errors end may be refused."""
    expected = run(function_of(program.source), program.args)
    found = difference(program.source, program.args, "default" if program.exact else "strict")
    assert found is None or isinstance(expected.error, TypeError), found
