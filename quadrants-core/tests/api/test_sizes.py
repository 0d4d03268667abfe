"""Code for the sizes of small items: it does what the function does, whatever the sizes of later calls are."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.api.dispatcher import MOST_SIZES
from quadrants.api.sizes import of_arguments
from quadrants.api.typeof import typeof

N = 40


def squares(x: Any, y: Any, o: Any) -> None:
    for i in range(x.shape[0]):
        s = 0.0
        for k in range(x.shape[1]):
            s += x[i, k] * y[i, k]
        o[i] = s


def pairs(x: Any, y: Any, o: Any) -> None:
    for i in range(len(x)):
        total = np.zeros(x.shape[1])
        for j in range(len(y)):
            d = y[j] - x[i]
            total += d / (1.0 + np.sum(d * d))
        o[i] = total[0] - total[-1]
        y[i] = total * 0.5


def places(x: Any, y: Any, o: Any) -> None:
    for i in range(len(x)):
        a, b = x[i, 0], x[i, 1]
        y[i, 0] = b - a
        y[i, 1] = a * b
        o[i] = y[i, -1]


def matrices(x: Any, y: Any, o: Any) -> None:
    for i in range(len(x)):
        m = np.empty((x.shape[1], x.shape[1]))
        for p in range(x.shape[1]):
            for q in range(x.shape[1]):
                m[p, q] = x[i, p] * y[i, q] + (1.0 if p == q else 0.0)
        for p in range(x.shape[1] - 1):
            m[p + 1] -= m[p] * (m[p + 1, p] / (1.0 + m[p, p] * m[p, p]))
        o[i] = np.sum(m) + m[-1, -1]


def copies(x: Any, y: Any, o: Any) -> None:
    for i in range(len(x)):
        row = x[i].copy()
        row[::-1] += y[i]
        y[i] = row
        o[i] = row.max()


def third(x: Any, y: Any, o: Any) -> None:
    for i in range(len(x)):
        o[i] = x[i, 0] + x[i, 2]
        y[i] = x[i] * o[i]


def arguments(size: int, layout: str = "C", count: int = N) -> list[np.ndarray]:
    random = np.random.default_rng(size)
    made = [random.standard_normal((count, size)) for _ in range(2)]
    if layout == "F":
        made = [np.asfortranarray(array) for array in made]
    if layout == "A":
        made = [np.repeat(array, 2, axis=1)[:, ::2] for array in made]
    return [*made, np.zeros(count)]


def check(compiled: Any, function: Callable[..., Any], args: list[np.ndarray]) -> None:
    """The results, or the exception, of the function in Python."""
    ours, theirs = [arg.copy(order="K") for arg in args], [arg.copy(order="K") for arg in args]
    ours = [mine if mine.strides == arg.strides else arg for mine, arg in zip(ours, args)]
    try:
        function(*theirs)
    except Exception as error:  # noqa: BLE001 (whatever it raises)
        with pytest.raises(type(error)):
            compiled(*ours)
        return
    compiled(*ours)
    for mine, right in zip(ours, theirs):
        np.testing.assert_allclose(mine, right, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", [squares, pairs, places, matrices, copies, third], ids=lambda f: f.__name__)
def test_any_size_after_any_other(function: types.FunctionType) -> None:
    compiled = qd.njit(function)
    for size in (3, 2, 3, 5, 1, 6, 20, 3, 16, 2):
        check(compiled, function, arguments(size))
    assert len(compiled.signatures) == 1
    assert len(compiled._entries) <= MOST_SIZES + 1
    for layout in ("F", "A"):
        for size in (3, 4):
            check(compiled, function, arguments(size, layout))
    check(compiled, function, arguments(3, count=1))
    check(compiled, function, arguments(3, count=0))


def test_the_sizes_of_arguments_that_differ() -> None:
    """Each array counts by itself: here the rows do not fit each other."""
    compiled = qd.njit(pairs)
    check(compiled, pairs, arguments(3))
    x, y, o = arguments(3)
    for other in (arguments(1)[1], arguments(4)[1]):
        check(compiled, pairs, [x, other, o])
        check(compiled, pairs, [other, y, o])


def test_explanation_and_statistics() -> None:
    compiled = qd.njit(squares)
    compiled(*arguments(3))
    compiled(*arguments(3, count=99))
    assert sum(compiled.stats.cache_misses.values()) + sum(compiled.stats.cache_hits.values()) == 1
    told = [record for record in compiled.explain().records if record.code == "sizes"]
    assert [record.text for record in told] == [
        "compiled for arrays of these sizes: x.shape[1] is 3, y.shape[1] is 3; calls with others run code of their own"
    ]
    assert told[0].location.line == squares.__code__.co_firstlineno + 3
    compiled(*arguments(5))
    assert len([record for record in compiled.explain().records if record.code == "sizes"]) == 2
    general = qd.njit("(float64[:, ::1], float64[:, ::1], float64[::1])")(squares)
    general(*arguments(3))
    assert not [record for record in general.explain().records if record.code == "sizes"]


def test_functions_that_gain_nothing_are_compiled_once() -> None:
    @qd.njit
    def ends(x: Any) -> Any:
        return x[0, 0] + x[-1, -1] + x.shape[1]

    for size in (2, 3, 4, 5):
        assert ends(np.ones((50, size))) == 2.0 + size
    assert len(ends._entries) == 1


def test_functions_that_call_themselves() -> None:
    @qd.njit
    def halves(x: Any, depth: int) -> float:
        s = 0.0
        for i in range(x.shape[0]):
            for k in range(x.shape[1]):
                s += x[i, k]
        return s + halves(x[:, 1:], depth - 1) if depth > 0 else s

    x = np.arange(120.0).reshape(40, 3)
    assert halves(x, 2) == x.sum() + x[:, 1:].sum() + x[:, 2:].sum()


FACTOR = 2.0


def scaled(x: Any, o: Any) -> None:
    for i in range(len(x)):
        o[i] = np.sum(x[i] * FACTOR)


def test_other_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a global changes, the code for all sizes goes."""
    compiled = qd.njit(scaled)
    out = np.zeros(N)
    for factor in (2.0, 3.0, 0.5):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        for size in (3, 4, 3):
            compiled(np.ones((N, size)), out)
            assert out[-1] == factor * size


def test_from_the_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for a size, and for any size, is found by calls that it is for; code for any size is no reason not to make the other."""
    monkeypatch.setenv("QUADRANTS_CACHE_DIR", str(tmp_path))

    def fresh(size: int) -> tuple[int, int]:
        compiled = qd.njit(matrices)
        check(compiled, matrices, arguments(size))
        return sum(compiled.stats.cache_hits.values()), sum(compiled.stats.cache_misses.values())

    assert [fresh(size) for size in (20, 21, 3, 3, 4, 4, 20)] == [
        (0, 1),
        (1, 0),
        (0, 1),
        (1, 0),
        (0, 1),
        (1, 0),
        (1, 0),
    ]


def test_threads() -> None:
    """Sizes that several threads ask for at once."""
    compiled = qd.njit(pairs)
    failed: list[BaseException] = []

    def work(size: int) -> None:
        try:
            for _ in range(3):
                check(compiled, pairs, arguments(size))
        except BaseException as error:  # noqa: BLE001 (told below)
            failed.append(error)

    threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 4, 5, 6, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((100, 3), ((0, 1, 3),)),
        ((100, 6, 6), ((0, 1, 6), (0, 2, 6))),
        ((128, 128, 2), ((0, 2, 2),)),
        ((8, 8), ()),
        ((4, 3), ()),
        ((100, 17), ()),
        ((100, 0), ()),
        ((100,), ()),
        ((3,), ()),
        ((9, 1, 4), ((0, 1, 1), (0, 2, 4))),
    ],
)
def test_which_sizes_count(shape: tuple[int, ...], expected: tuple[tuple[int, int, int], ...]) -> None:
    array = np.zeros(shape)
    assert of_arguments([array], [typeof(array)]) == expected
    pair = (1, 2.0)
    moved = tuple((number + 2, axis, size) for number, axis, size in expected)
    assert of_arguments([pair, array], [typeof(pair), typeof(array)]) == moved
