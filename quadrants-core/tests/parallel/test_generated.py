"""Random loop nests, compiled with parallel=True, against the interpreter: results, arrays, exceptions."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest
from parallel.nests import COLUMNS, ROWS, SIZE, program

import quadrants as qd

#: More with QUADRANTS_FUZZ=1000, for example.
COUNT = int(os.environ.get("FUZZ_NESTS", "60"))


def arguments(rng: random.Random) -> tuple[Any, ...]:
    """Arrays, now and then parts of one another."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    base = numbers.integers(-9, 9, 2 * SIZE + 7)
    a, b = base[:SIZE], numbers.integers(-9, 9, SIZE)
    m = numbers.integers(-9, 9, (ROWS, COLUMNS))
    kind = rng.randrange(6)
    if kind == 0:
        b = a
    elif kind == 1:
        b = base[3 : SIZE + 3]
    elif kind == 2:
        b = base[1 : 2 * SIZE : 2][:SIZE]
    elif kind == 3:
        m = numbers.integers(-9, 9, (COLUMNS, ROWS)).T
    elif kind == 4:
        m = numbers.integers(-9, 9, (2 * ROWS, 2 * COLUMNS))[::2, ::2]
    return a, b, m, rng.choice((0, 1, 5, 9, 9)), rng.choice((0, 1, 2, 3, -1))


def copied(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same arrays elsewhere, overlapping as before."""
    bases: dict[int, np.ndarray] = {}

    def copy(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        base = value
        while isinstance(base.base, np.ndarray):
            base = base.base
        made = bases.setdefault(id(base), base.copy(order="K"))
        shift = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return np.ndarray(value.shape, value.dtype, made, shift, value.strides)

    return tuple(map(copy, values))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(COUNT))
def test_nests(seed: int) -> None:
    source = program(seed)
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<nest {seed}>", "exec"), namespace)
    function = namespace["f"]
    compiled = qd.njit(parallel=True, cache=False)(function)
    rng = random.Random(seed)
    for _ in range(6):
        given = arguments(rng)
        ours, theirs = copied(given), copied(given)
        try:
            expected: Any = function(*theirs)
        except (IndexError, OverflowError) as error:
            expected = error
        if isinstance(expected, IndexError):
            with pytest.raises(IndexError):
                compiled(*ours)
            continue
        if isinstance(expected, OverflowError) or any(abs(int(x)) >> 60 for x in expected):
            continue  # Python's integers grow beyond 64 bits: another matter
        found = compiled(*ours)
        assert tuple(map(int, found)) == tuple(map(int, expected)), source
        for mine, other in zip(ours[:3], theirs[:3]):
            np.testing.assert_array_equal(mine, other, err_msg=source)
