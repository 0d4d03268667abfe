"""Functions made inside a kernel: variables that they share with it, and calls with `*` and keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import quadrants as qd


def changed_in_a_for(n: int) -> Any:
    total = 0.0

    def add(x: float) -> float:
        return total + x

    for i in range(n):
        total = add(i) * 0.5
    return total


def changed_in_a_while(n: int) -> Any:
    i = total = 0
    add = lambda x: total + x
    while i < n:
        total = add(i) * 2
        i += 1
    return total, i


def leaves_by_what_it_reads(n: int) -> Any:
    k = 0

    def present() -> int:
        return k

    while True:
        if present() >= n:
            break
        k += 1
    return k


def changed_in_a_try(n: int) -> Any:
    k = total = 0

    def doubled() -> int:
        return k * 2

    try:
        for i in range(n):
            k = i
            if i == 3:
                raise ValueError(i)
            total += doubled()
    except ValueError:
        total += doubled() * 100
    return total


def nested(n: int) -> Any:
    def outer(x: int) -> int:
        def inner(y: int) -> int:
            return y + k

        return inner(x)

    k, total = 1, 0
    for i in range(n):
        total += outer(i)
        k = k * 2
    return total, k


def star_and_keywords(n: int) -> Any:
    def g(a: int, b: int = 2, *rest: int, k: int = 1) -> int:
        return a + 10 * b + 100 * len(rest) + 1000 * k

    pair = (n, 7)
    return g(*pair), g(*pair, k=n), g(1, *pair, 5, k=2), g(*(4,), b=3), g(a=n, k=3), g(*pair, k=n)


@pytest.mark.parametrize(
    "function",
    [
        *(changed_in_a_for, changed_in_a_while, leaves_by_what_it_reads, changed_in_a_try, nested, star_and_keywords),
    ],
)
def test_inner_functions(function: Callable[[int], Any]) -> None:
    assert qd.njit(function)(5) == function(5)


def test_repeated_keywords_are_refused() -> None:
    def f(n: int) -> Any:
        def g(a: int, k: int = 1) -> int:
            return a + k

        return g(*(n,), k=2, **{"k": 3})  # noqa: PIE804

    with pytest.raises(TypeError, match="multiple values for keyword argument 'k'"):
        qd.njit(f)(1)
