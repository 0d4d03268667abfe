"""Parallel loops give what the interpreter gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd

Function = Callable[..., Any]
SIZES = (0, 1, 2, 3, 17, 255, 256, 257, 1000, 5000)


def explained(dispatcher: Any) -> list[str]:
    """The reason codes of the pass, in order of lines."""
    return [record.code for record in dispatcher.explain().records if record.pass_name == "parallelise"]


def same(function: Function, *arguments: Any, exact: bool = True) -> Any:
    """Compile, run compiled and interpreted on copies of the arguments, compare results and arrays; gives the dispatcher."""
    compiled = qd.njit(parallel=True)(function)
    ours = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    theirs = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    result, expected = compiled(*ours), function(*theirs)
    compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
    for mine, other in zip(ours, theirs):
        if isinstance(mine, np.ndarray):
            compare(mine, other)
    if expected is not None:
        compare(np.asarray(result), np.asarray(expected))
        assert np.asarray(result).dtype == np.asarray(expected).dtype
    return compiled


def axpy(a, x, y):
    for i in range(len(x)):
        y[i] = a * x[i] + y[i]


def total(x):
    s = 0.0
    for i in qd.prange(len(x)):
        s += x[i]
    return s


def count(x, limit):
    n = 0
    for i in qd.prange(len(x)):
        if x[i] > limit:
            n += 1
    return n


def product(x):
    p = 1
    for i in qd.prange(len(x)):
        p *= x[i]
    return p


def extremes(x):
    low, high = np.inf, -np.inf
    for i in qd.prange(len(x)):
        low = min(low, x[i])
        high = max(high, x[i])
    return low, high


def bits(x):
    a, b, c = -1, 0, 0
    for i in qd.prange(len(x)):
        a &= x[i]
        b |= x[i]
        c ^= x[i]
    return a, b, c


def nested_sum(x):
    s = 0
    for i in qd.prange(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] % 3 == 0:
                s += x[i, j]
            else:
                s -= 1
    return s


def last(x):
    t = -1
    for i in qd.prange(len(x)):
        t = x[i] * 2
    return t


def backwards(x, out):
    for i in qd.prange(len(x) - 1, -1, -1):
        out[i] = x[i] * 3 - i


def strided(x, out, first, step3):
    n = 0
    for i in qd.prange(first, len(x), 3):
        out[i] = x[i] + i
        n += i
    for i in qd.prange(len(x) - 1, first, -2):
        out[i] -= 1
        n -= i
    return n


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", SIZES)
def test_folds(n: int) -> None:
    rng = np.random.default_rng(n)
    ints = rng.integers(-50, 50, n)
    floats = rng.standard_normal(n)
    whole = rng.integers(-9, 9, n).astype(np.float64)  # sums that are exact in any order
    assert explained(same(axpy, 2.0, floats, floats[::-1].copy())) == ["parallel"]
    for function, arguments in (
        (total, (whole,)),
        (count, (floats, 0.25)),
        (product, (rng.integers(1, 3, n) | 1,)),
        (extremes, (floats,)),
        (bits, (ints,)),
        (nested_sum, (rng.integers(0, 99, (n, 3)),)),
        (last, (ints,)),
        (backwards, (ints, np.zeros(n, np.int64))),
        (strided, (ints, np.zeros(n, np.int64), 1, 3)),
    ):
        assert "parallel" in explained(same(function, *arguments)), function.__name__


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.uint64, np.int32, np.complex128, np.bool_])
def test_types_of_sums(dtype: type) -> None:
    def sums(x):
        s = x[0]
        for i in qd.prange(1, len(x)):
            s = s + x[i]
        return s

    x = np.arange(1000).astype(dtype)
    if dtype is np.bool_:
        x = np.zeros(1000, np.bool_)
    elif dtype in (np.int8, np.uint8):
        x = np.resize(np.array([1, 2, 0], dtype), 300) % 2
    same(sums, x)


def test_extremes_keep_what_comparisons_make_of_nan() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        x = rng.standard_normal(300)
        x[rng.integers(0, 300, 5)] = np.nan
        same(extremes, x)
        same(extremes, np.full(20, np.nan))


def test_strict_sums_stay_in_order() -> None:
    x = np.random.default_rng(1).standard_normal(10_001)
    strict = qd.njit(fp="strict", parallel=True)(total)
    assert strict(x) == total(x)
    assert explained(strict) == ["strict-order"]


def test_sums_do_not_depend_on_threads() -> None:
    x = np.random.default_rng(2).standard_normal(100_003)
    compiled = qd.njit(parallel=True)(total)
    results = set()
    for threads in (1, 2, 3, 7, 16):
        qd.set_num_threads(threads)
        results |= {compiled(x) for _ in range(20)}
    assert len(results) == 1
    assert math.isclose(results.pop(), math.fsum(x), rel_tol=1e-12, abs_tol=1e-10)


def test_without_the_option_loops_run_in_order() -> None:
    compiled = qd.njit(total)
    assert compiled(np.ones(300)) == 300.0
    assert explained(compiled) == ["not-asked-for"]


def matmul(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def flat(x, n, m):
    for i in range(n):
        for j in range(m):
            x[i * m + j] = i - j


def triangle(x):
    for i in range(x.shape[0]):
        for j in range(i):
            x[i, j] = x[i, j] + j


def rows(x, v):
    for i in range(len(x)):
        x[i] += v[i] * 2.0


def stencil(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        a, b = b, a
    return a


def evens(x):
    for i in range(len(x) // 2):
        x[2 * i] = x[2 * i + 1] + 1.0


def private(x, out):
    for i in range(len(out)):
        buffer = np.zeros(3)
        for k in range(3):
            buffer[k] = x[i] + k
        out[i] = buffer[0] * buffer[1] * buffer[2]


def test_proven_loops() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((23, 17)), rng.standard_normal((17, 31))
    assert explained(same(matmul, a, b, exact=False))[0] == "parallel"
    assert explained(same(flat, np.zeros(300, np.int64), 20, 15)) == ["parallel"]
    assert explained(same(triangle, rng.standard_normal((40, 40)))) == ["parallel"]
    assert explained(same(rows, rng.standard_normal((40, 3)), rng.standard_normal((40, 3))))[0] == "parallel"
    assert "parallel" in explained(same(stencil, rng.standard_normal((20, 30)), np.zeros((20, 30)), 4))
    assert explained(same(evens, rng.standard_normal(101))) == ["parallel"]
    assert explained(same(private, rng.standard_normal(300), np.zeros(300)))[0] == "parallel"


def shift(x, k):
    for i in range(len(x)):
        if 0 <= i + k < len(x):
            x[i] = x[i + k] + 1.0


def recurrence(x):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + x[i]


def gather(x, index):
    for i in range(len(x)):
        x[index[i]] = i


def running(x, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        out[i] = s


@pytest.mark.parametrize(
    ("function", "arguments", "code"),
    [
        (shift, (np.arange(50.0), 1), "carried-dependence"),
        (shift, (np.arange(50.0), -1), "carried-dependence"),
        (recurrence, (np.arange(50.0),), "carried-dependence"),
        (gather, (np.zeros(50), np.arange(50)[::-1].copy()), "carried-dependence"),
        (running, (np.arange(50.0), np.zeros(50)), "carried-dependence"),
    ],
)
def test_loops_that_stay(function: Function, arguments: tuple[Any, ...], code: str) -> None:
    assert code in explained(same(function, *arguments))


def test_arrays_that_overlap_are_noticed() -> None:
    compiled = qd.njit(parallel=True)(axpy)
    for offset in (-3, -1, 0, 1, 3):
        ours, theirs = np.arange(600.0), np.arange(600.0)

        def parts(base: np.ndarray, offset: int = offset) -> tuple[np.ndarray, np.ndarray]:
            return base[5:505], base[5 + offset : 505 + offset]

        compiled(2.0, *parts(ours))
        axpy(2.0, *parts(theirs))
        np.testing.assert_array_equal(ours, theirs)


def test_arrays_that_overlap_themselves_are_noticed() -> None:
    def store(x, y):
        for i in range(x.shape[0]):
            x[i, 0] = y[i]
            x[i, 1] = -y[i]

    y = np.arange(1.0, 101.0)
    compiled = qd.njit(parallel=True)(store)
    for strides in ((8, 8), (16, 8), (0, 8), (8, 0), (8, 16), (-8, 8)):
        bases = [np.zeros(400) for _ in range(2)]
        views = [np.lib.stride_tricks.as_strided(b[150:], (100, 2), strides, writeable=True) for b in bases]
        compiled(views[0], y)
        store(views[1], y)
        np.testing.assert_array_equal(bases[0], bases[1])


def sometimes_set(x):
    t = -1
    for i in qd.prange(len(x)):
        if x[i] > 2:
            t = i
    return t


def test_a_value_that_some_turns_set() -> None:
    assert explained(same(sometimes_set, np.arange(500) % 5)) == ["last-value"]


def test_an_unknown_step_runs_in_order() -> None:
    def steps(x, step):
        s = 0
        for i in qd.prange(0, len(x), step):
            s += x[i]
        return s

    assert explained(same(steps, np.arange(500), 7)) == ["step"]


def test_lists_that_turns_share_run_in_order() -> None:
    def gathered(n):
        found = [0]
        for i in qd.prange(n):
            found.append(i)
        s = 0
        for k in range(len(found)):
            s += found[k] * k
        return s

    assert explained(same(gathered, 300))[0] == "shared-list"


def test_lists_of_one_turn() -> None:
    def collected(n):
        s = 0
        for i in qd.prange(n):
            mine = [i]
            for j in range(i % 5):
                mine.append(j)
            s += len(mine) + mine[-1]
        return s

    assert explained(same(collected, 1000))[0] == "parallel"


def test_huge_and_empty_ranges() -> None:
    def few(start, stop):
        n = 0
        for _ in qd.prange(start, stop, 2**61):
            n += 1
        return n

    for bounds in ((0, 2**62), (0, 2**63 - 1), (-(2**63), 2**63 - 1), (5, 5), (7, -7), (-(2**63), -(2**63) + 3)):
        same(few, *bounds)

    def down(start, stop):
        s = 0
        for i in qd.prange(start, stop, -3):
            s += i
        return s

    for bounds in ((-(2**63) + 7, -(2**63)), (2**63 - 1, 2**63 - 9), (3, 3), (-5, 50), (100, -100)):
        wrapped = (down(*bounds) + 2**63) % 2**64 - 2**63
        assert qd.njit(parallel=True)(down)(*bounds) == wrapped


def first_least(x):
    best, place, other = np.inf, -1, -1.0
    for i in qd.prange(len(x)):
        if x[i] < best:
            best = x[i]
            place = i
            other = i * 0.5
    return best, place, other


def first_greatest(x):
    best, place = x[0], 0
    for i in range(1, len(x)):
        if best < x[i]:
            best, place = x[i], i
    return best, place


def last_least(x):
    best, place = 100, -1
    for i in range(len(x)):
        if x[i] <= best:
            best, place = x[i], i
    return best, place


def test_extremes_with_their_places() -> None:
    rng = np.random.default_rng(8)
    for n in (1, 2, 255, 1000, 5000):
        ints = rng.integers(-5, 5, n)
        floats = ints.astype(np.float64)
        floats[rng.integers(0, n, n // 5)] = np.nan
        assert explained(same(first_least, floats)) == ["parallel"]
        assert explained(same(first_least, ints.astype(np.float64))) == ["parallel"]
        assert explained(same(first_greatest, ints)) == ["parallel"]
        same(first_greatest, floats)
        same(last_least, ints)
    same(first_least, np.full(600, np.inf))
    same(first_least, np.full(600, np.nan))
    same(first_least, np.zeros(0))
    same(first_least, np.where(np.arange(600) % 2, 0.0, -0.0))
