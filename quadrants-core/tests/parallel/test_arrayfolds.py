"""Arrays that parallel loops fold into: histograms, sums of rows, scatters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parallel.test_loops import explained, same

import quadrants as qd


def histogram(x, counts):
    for i in range(len(x)):
        counts[x[i]] += 1


def weighted(x, w, sums):
    for i in qd.prange(len(x)):
        sums[x[i]] += w[i]
        sums[x[i] // 2] -= 2 * w[i]


def rows(x, total):
    for i in qd.prange(len(x)):
        total += x[i]


def parts_of_rows(x, total):
    for i in qd.prange(len(x)):
        total[1:] += x[i, 1:]


def one_row(x, table):
    for i in qd.prange(len(x)):
        table[1, :] += x[i, :]


def part_of_one_row(x, table):
    for i in qd.prange(len(x)):
        table[1, 1:3] += x[i, 1:3]


def scatter(p, grid):
    for i in qd.prange(len(p)):
        for a in range(2):
            for b in range(2):
                if p[i, 0] != 3:
                    grid[p[i, 0] + a, p[i, 1] + b] += a - b + p[i, 0]


def greatest(x, k, best):
    for i in qd.prange(len(x)):
        best[k[i]] = max(x[i], best[k[i]])


def products(x, k, out):
    for i in qd.prange(len(x)):
        out[k[i]] *= x[i]


def element(x, out):
    for i in range(len(x)):
        out[0] += x[i]
        out[1] += x[i] * x[i]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", [0, 1, 31, 500, 5000])
def test_folds_into_arrays(n: int) -> None:
    rng = np.random.default_rng(n)
    k, x = rng.integers(0, 9, n), rng.integers(-20, 20, n)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (histogram, (k, np.arange(9))),
        (weighted, (k, x, np.arange(9))),
        (weighted, (k, x.astype(np.float64), np.arange(9.0))),
        (rows, (rng.integers(-9, 9, (n, 4)), np.arange(4))),
        (rows, (rng.integers(-9, 9, (n, 4)).astype(np.float32), np.arange(4, dtype=np.float32))),
        (parts_of_rows, (rng.integers(-9, 9, (n, 4)), np.arange(4))),
        (one_row, (rng.integers(-9, 9, (n, 4)), np.arange(12).reshape(3, 4))),
        (part_of_one_row, (rng.integers(-9, 9, (n, 4)), np.arange(12).reshape(3, 4))),
        (scatter, (rng.integers(0, 4, (n, 2)), np.ones((5, 5), np.int64))),
        (greatest, (x.astype(np.float64), k, np.full(9, -3.0))),
        (products, (x | 1, k, np.ones(9, np.int64))),
        (element, (x, np.zeros(3, np.int64))),
        (histogram, (k, np.zeros(9, np.int8))),
    ]
    for function, arguments in cases:
        assert explained(same(function, *arguments)) == ["parallel"], function.__name__


def test_sums_into_arrays_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(0)
    k, w = rng.integers(0, 9, 50_000), rng.standard_normal(50_000)
    compiled = qd.njit(parallel=True)(weighted)
    results = []
    for threads in (1, 2, 3, 8):
        qd.set_num_threads(threads)
        for _ in range(5):
            results.append(np.zeros(9))
            compiled(k, w, results[-1])
    assert len({result.tobytes() for result in results}) == 1
    expected = np.zeros(9)
    weighted(k, w, expected)
    np.testing.assert_allclose(results[0], expected, rtol=1e-9, atol=1e-9)


def test_strict_functions_keep_the_order() -> None:
    rng = np.random.default_rng(0)
    k, w = rng.integers(0, 9, 1000), rng.standard_normal(1000)

    def sums(x, w, sums):
        for i in range(len(x)):
            sums[x[i]] += w[i]

    ours, theirs = np.zeros(9), np.zeros(9)
    compiled = qd.njit(parallel=True, fp="strict")(sums)
    compiled(k, w, ours)
    sums(k, w, theirs)
    np.testing.assert_array_equal(ours, theirs)
    assert "parallel" not in explained(compiled)


def uses_the_count(x, counts, out):
    for i in range(len(x)):
        counts[x[i]] += 1
        out[i] = counts[x[i]]


def two_at_once(x, counts):
    for i in range(len(x)):
        a, b = counts[x[i]], counts[x[i] // 2]
        counts[x[i]] = a + 1
        counts[x[i] // 2] = b + 1


def other_element(x, counts):
    for i in range(len(x)):
        counts[x[i]] = counts[x[i] // 2] + 1


def mixed(x, counts):
    for i in range(len(x)):
        counts[x[i]] += 1
        counts[x[i] // 2] *= 2


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [uses_the_count, two_at_once, other_element, mixed])
def test_what_is_no_fold(function: Any) -> None:
    x = np.random.default_rng(4).integers(0, 9, 1000)
    arguments = (x, np.zeros(9, np.int64), np.zeros(1000, np.int64))[: function.__code__.co_argcount]
    assert "parallel" not in explained(same(function, *arguments))


def test_what_overlaps_runs_in_order() -> None:
    compiled = qd.njit(parallel=True)(rows)
    ours = np.random.default_rng(2).integers(-9, 9, (300, 4))
    theirs = ours.copy()
    compiled(ours, ours[3])
    rows(theirs, theirs[3])
    np.testing.assert_array_equal(ours, theirs)


def test_large_arrays_run_in_order() -> None:
    k = np.arange(200) % 150
    same(histogram, k, np.zeros(100_000, np.int64))
    same(histogram, k, np.zeros(150, np.int64))


def test_an_index_out_of_range() -> None:
    compiled = qd.njit(parallel=True)(histogram)
    k = np.arange(2000) % 9
    k[1234] = 9
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 9"):
        compiled(k, np.zeros(9, np.int64))
