"""Loops that count bits become one operation; loops that do more, or something else, stay loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd


def ones(x):
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


def weighted(x, count):
    while x != 0:
        count += 3
        x = (x - 1) & x
    return count, x


def ones_of_all(a):
    total = 0
    for x in a:
        while x:
            x &= x - 1
            total += 1
    return total


def trailing(x):
    steps = 0
    while x > 0:
        x &= x - 1
        steps += x & 15
    return steps


def halves(x):
    steps = 0
    while x:
        x >>= 1
        steps += 1
    return steps


def stores(x, a):
    k = 0
    while x:
        a[k] = x
        x &= x - 1
        k += 1
    return k


NUMBERS = (0, 1, 2, 7, 255, 2**31, 2**62 + 5, 2**63 - 1)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64, np.int32, np.uint8])
def test_bits_are_counted(kind: Callable[[int], Any]) -> None:
    most = 2**63 - 1 if kind is int else int(np.iinfo(kind).max)
    compiled = qd.njit(cache=False)(ones)
    for number in NUMBERS:
        x = kind(number & most)
        assert compiled(x) == int(x).bit_count()
    assert "popcount" in next(iter(compiled.inspect_ir().values()))


def test_negative_numbers_have_the_bits_of_twos_complement() -> None:
    compiled = qd.njit(cache=False)(ones)
    for number in (-1, -2, -(2**63) + 1, -(2**63)):
        assert compiled(np.int64(number)) == (number % 2**64).bit_count()


def test_counts_go_on_from_where_they_are() -> None:
    compiled = qd.njit(cache=False)(weighted)
    for number in NUMBERS:
        assert compiled(number, 100) == weighted(number, 100)
    assert "popcount" in next(iter(compiled.inspect_ir().values()))


def test_in_loops() -> None:
    compiled = qd.njit(cache=False)(ones_of_all)
    a = np.random.default_rng(0).integers(0, 2**63, 1000).astype(np.uint64)
    assert compiled(a) == sum(int(x).bit_count() for x in a)
    text = next(iter(compiled.inspect_ir().values()))
    assert "popcount" in text and 'pred="ne"' not in text


@pytest.mark.parametrize("function", [trailing, halves])
def test_other_loops_stay(function: Callable[[int], int]) -> None:
    compiled = qd.njit(cache=False)(function)
    for number in NUMBERS:
        assert compiled(number) == function(number)
    assert "popcount" not in next(iter(compiled.inspect_ir().values()))


def test_a_loop_that_stores_stays() -> None:
    compiled = qd.njit(cache=False)(stores)
    for number in NUMBERS:
        ours, theirs = np.zeros(64, np.int64), np.zeros(64, np.int64)
        assert compiled(number, ours) == stores(number, theirs)
        assert np.array_equal(ours, theirs)
