"""Random programs of array statements, compiled and interpreted: the same results, the same changes to the arguments, the same
errors at the same place, and no memory that is not given back."""

from __future__ import annotations

import ctypes
import traceback
import warnings
from typing import Any

import numpy as np
import pytest
from array_programs import program

import quadrants as qd
from quadrants.host import symbols
from quadrants.lower import abi


def copied(args: list[Any]) -> list[Any]:
    """The arguments again, those that share memory sharing it."""
    bases: dict[int, np.ndarray] = {}

    def base(array: np.ndarray) -> np.ndarray:
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array

    def copy(array: np.ndarray) -> np.ndarray:
        old = base(array)
        new = bases.setdefault(id(old), old.copy(order="K"))
        offset = array.__array_interface__["data"][0] - old.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, new, offset, array.strides)

    return [copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args]


def run(function: Any, args: list[Any]) -> tuple[Any, ...]:
    """What a call gives: the results or the error and its line; and the arguments afterwards."""
    args = copied(args)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result: Any = function(*args)
        what: Any = None
    except (ValueError, IndexError, ZeroDivisionError) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<program>"]
        result, what = None, (type(error).__name__, lines[-1:])
    return result, what, args


def same(left: Any, right: Any) -> bool:
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if left is None or right is None:
        return left is right
    left, right = np.asarray(left), np.asarray(right)
    with np.errstate(all="ignore"):
        return left.shape == right.shape and np.allclose(left, right, rtol=1e-7, atol=1e-7, equal_nan=True)


def tame(values: Any) -> bool:
    """Whether no number is so large that rounding decides."""
    if isinstance(values, (tuple, list)):
        return all(map(tame, values))
    return values is None or bool(np.all(np.abs(np.asarray(values, dtype=float)) < 1e6))


def check(seed: int, fp: str = "default") -> None:
    """Compare one program."""
    text, args = program(seed)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, "<program>", "exec"), namespace)
    f = namespace["f"]
    expected = run(f, args)
    if not tame(expected[0]) or not tame(expected[2]):
        return
    compiled = qd.njit(fp=fp)(f)
    live = ctypes.c_int64.from_address(symbols.resolve(abi.LIVE_BLOCKS))
    before = live.value
    got = run(compiled, args)
    told = f"seed {seed}, {[getattr(arg, 'shape', arg) for arg in args]}\n{text}\n{got[1]} for {expected[1]}"
    assert got[1] == expected[1], told
    for part, (mine, theirs) in zip(
        ("results", "arguments"), ((got[0], expected[0]), (tuple(got[2]), tuple(expected[2])))
    ):
        assert same(mine, theirs), f"{part}: {told}\n{mine}\n{theirs}"
    del got
    assert live.value == before, f"{live.value - before} blocks remain: {told}"


@pytest.mark.parametrize("seed", range(0, 160, 8))
def test_random_array_programs(seed: int) -> None:
    for number in range(seed, seed + 8):
        check(number)


@pytest.mark.parametrize("seed", range(5000, 5024, 8))
def test_random_array_programs_in_strict_mode(seed: int) -> None:
    for number in range(seed, seed + 8):
        check(number, "strict")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10_000, 12_000, 100))
def test_many_random_array_programs(seed: int) -> None:
    for number in range(seed, seed + 100):
        check(number)
