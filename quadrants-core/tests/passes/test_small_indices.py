"""Indices that are small by their types or masks are covered by one guard; short tables keep their checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrants as qd


def looked_up(a: Any, table: Any, out: Any) -> None:
    for i in range(len(a)):
        out[i] = table[a[i]]


def counted(a: Any, table: Any, out: Any) -> None:
    for x in a:
        table[x] += 1


def masked(a: Any, table: Any, out: Any) -> None:
    h = 0
    for i in range(len(a)):
        h = table[(h ^ a[i]) & 63] ^ (h >> 3)
        out[i] = h


@pytest.mark.parametrize("size", [256, 300, 70, 64, 10, 0])
@pytest.mark.parametrize("length", [100, 1, 0])
@pytest.mark.parametrize("function", [looked_up, counted, masked])
def test_tables_of_any_size(function: Any, length: int, size: int) -> None:
    rng = np.random.default_rng(size + length)
    data = rng.integers(0, 256, length).astype(np.uint8)
    table = rng.integers(0, 1000, size)
    outcomes = []
    for run in (function, qd.njit(function)):
        mine, out, raised = table.copy(), np.zeros(length, np.int64), ""
        try:
            run(data.copy(), mine, out)
        except IndexError as error:
            raised = str(error)
        outcomes.append((raised != "", mine, out))
    assert outcomes[0][0] == outcomes[1][0]
    np.testing.assert_array_equal(outcomes[1][1], outcomes[0][1])
    np.testing.assert_array_equal(outcomes[1][2], outcomes[0][2])


def test_signed_bytes_still_wrap() -> None:
    data = np.arange(-128, 128, dtype=np.int8)
    table = np.arange(256)
    out = np.zeros(256, np.int64)
    qd.njit(looked_up)(data, table, out)
    np.testing.assert_array_equal(out, table[data])


@pytest.mark.parametrize("function", [looked_up, counted])
def test_the_guard_is_reported(function: Any) -> None:
    compiled = qd.njit(function)
    compiled(np.zeros(9, np.uint8), np.zeros(256, np.int64), np.zeros(9, np.int64))
    assert "replaced by one guard" in str(compiled.explain())
    assert "bounds-check" not in str(compiled.explain())
