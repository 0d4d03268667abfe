"""Which handler gets an exception: classes of the program's own, however the exception got there, and what signals raise."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import quadrants as qd


class Own(Exception):
    pass


class Below(Own):
    pass


class Late(Exception):
    """Raised by the handler of a signal."""


def kept(n: int) -> int:
    saved = None
    try:
        try:
            if n == 0:
                raise Below("a", n)
            if n == 1:
                raise Own("b")
            raise ValueError(n)
        except (Own, ValueError) as e:
            saved = e
        raise saved
    except Below:
        return 1
    except Own:
        return 2
    except ValueError:
        return 3


def kept_in_a_call(n: int) -> int:
    def again(error: Any) -> int:
        raise error

    try:
        try:
            if n:
                raise Below(n)
            raise Own(n)
        except Own as e:
            return again(e)
    except (KeyError, Below):
        return 1
    except Own:
        return 2


def made_here() -> Callable[[int], int]:
    class Local(Exception):
        pass

    class Lower(Local):
        pass

    class Number(Local, ValueError):
        pass

    def f(n: int) -> int:
        try:
            if n == 0:
                raise Lower("a")
            if n == 1:
                raise Number("b")
            if n == 2:
                raise Local("c")
            raise ArithmeticError("d")
        except ValueError:
            return 1
        except Local as e:
            return 2 if isinstance(e, Lower) else 3
        except ArithmeticError:
            return 4

    return f


def kept_local() -> Callable[[int], int]:
    class Local(Exception):
        pass

    class Lower(Local):
        pass

    def f(n: int) -> int:
        saved = None
        try:
            try:
                if n:
                    raise Lower("a")
                raise Local("b")
            except Local as e:
                saved = e
            raise saved
        except Lower:
            return 1
        except Local:
            return 2

    return f


@pytest.mark.parametrize("make", [lambda: kept, lambda: kept_in_a_call, made_here, kept_local])
def test_classes_of_the_program(make: Callable[[], Callable[[int], int]]) -> None:
    function = make()
    compiled = qd.njit(function)
    assert [compiled(n) for n in range(4)] == [function(n) for n in range(4)]


def counting(n: int) -> int:
    total = 0
    try:
        for i in range(n):
            for j in range(1000):
                total += (i ^ j) % 7
    except Late:
        return -1
    return total


def finishing(n: int) -> int:
    total = 0
    try:
        while n > 0:
            n -= 1
            total = total * 5 + n & 0xFFFF
    except KeyboardInterrupt:
        return -2
    except Own:
        return -3
    except Late:
        total = -1
    finally:
        if total < 0:
            total -= 10
    return total


def recursive(n: int) -> int:
    return n if n < 2 else recursive(n - 1) + recursive(n - 2)


def of_calls(n: int) -> int:
    try:
        return recursive(n // 1_000_000)
    except Late:
        return -1


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(_number: int, _frame: object) -> None:
        raise Late("now")

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("nogil", [False, True], ids=["gil", "nogil"])
@pytest.mark.parametrize(("function", "many", "answer"), [(counting, 1 << 27, -1), (finishing, 1 << 36, -11)])
def test_what_a_signal_raises_is_caught(function: Callable[[int], int], many: int, answer: int, nogil: bool) -> None:
    compiled = qd.njit(nogil=nogil)(function)
    assert compiled(7) == function(7)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    assert compiled(many) == answer


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
@pytest.mark.usefixtures("alarm")
def test_what_a_signal_raises_in_a_recursion_is_caught() -> None:
    compiled = qd.njit(of_calls)
    assert compiled(5_000_000) == 5
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    assert compiled(52_000_000) == -1
