"""Nests that are products of matrices give what they give turn by turn, and those that are none are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ir.observation import Sample, agree, observe
from passes import product_programs

import quadrants as qd
from quadrants.diagnostics import DecisionKind
from quadrants.infer import Options, infer_module
from quadrants.ir import Module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.text import print_module
from quadrants.passes import pipeline
from quadrants.passes.context import PassOptions
from quadrants.passes.contractions import emit
from quadrants.types import F64, PYFLOAT, PYINT, ArrayType

_OPTIONS = PassOptions(tile=lambda dtype: (4, 8), verify=True)
_MATRIX, _VECTOR = ArrayType(F64, 2), ArrayType(F64, 1)
_TYPES = (*(_MATRIX,) * 3, *(_VECTOR,) * 3, *(PYINT,) * 3, PYFLOAT)


def compiled(text: str) -> Any:
    scope: dict[str, Any] = {"np": np}
    exec(text, scope)
    return scope["f"]


def module_of(text: str, types: tuple[Any, ...] = _TYPES, fp: str = "strict") -> Module:
    return infer_module(compiled(text), types, Options(fp=fp)).module


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of any size."""
    monkeypatch.setattr(emit, "_LEAST_WORK", 1)


def codes(module: Module, options: PassOptions = _OPTIONS) -> list[str]:
    return [found.code for found in pipeline.run(module, options) if found.pass_name == "contractions"]


@pytest.mark.parametrize("seed", range(80))
def test_random_nests(seed: int, small: None) -> None:
    text = product_programs.source(seed)
    module = module_of(text)
    changed = clone_module(module)
    pipeline.run(changed, _OPTIONS)
    for trial in range(4):
        sample = Sample(module, product_programs.arguments(1000 * trial + seed))
        before = observe(sample, max_steps=1_000_000)
        after = observe(sample, changed, max_steps=1_000_000)
        assert agree(before, after), f"{text}\n{print_module(changed)}\n{before}\n{after}"


def test_most_of_them_are_found(small: None) -> None:
    """Not only what is refused is right."""
    found = sum("contraction" in codes(module_of(product_programs.source(seed))) for seed in range(100))
    assert found > 40


# As machine code

_SIZES = (*range(10), 12, 13, 16, 17, 31, 33, 63, 64, 65, 127, 130)


def scalar(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            t = 0.0
            for k in range(a.shape[1]):
                t += a[i, k] * b[k, j]
            c[i, j] = t


def columns_first(a, b, c):
    for j in range(b.shape[1]):
        for i in range(a.shape[0]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def rows_of_rows(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += x * b[k, j]


def outer_products(a, b, c):
    for k in range(a.shape[1]):
        for j in range(b.shape[1]):
            for i in range(a.shape[0]):
                c[i, j] -= b[k, j] * a[i, k]


def scaled(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            t = c[0, 0] * 0.0
            for k in range(a.shape[1]):
                t += a[i, k] * b[k, j]
            c[i, j] = 2.0 * t + 0.5 * c[i, j]


def flat(a, b, c):
    n, p = a.shape
    m = b.shape[1]
    x, y, z = a.ravel(), b.ravel(), c.ravel()
    for i in range(n):
        for j in range(m):
            for k in range(p):
                z[i * m + j] += x[i * p + k] * y[k * m + j]


def cleared(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def wide(a, b, c):
    for i in range(a.shape[0]):
        c[i, :] = 1.0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def batched(a, b, c):
    for _ in range(1):
        for i in range(a.shape[0]):
            row = a[i]
            for j in range(b.shape[1]):
                t = 0.0
                for k in range(a.shape[1]):
                    t += row[k] * b[k, j]
                c[i, j] = t


def matrices(n: int, m: int, p: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
    """Factors and a result; small whole numbers, so that all sums are exact."""
    choose = np.random.default_rng(n + 7 * m + 31 * p)
    return tuple(choose.integers(-4, 5, shape).astype(dtype) for shape in ((n, p), (p, m), (n, m)))


_EXPECTED = {
    scalar: lambda a, b, c: a @ b,
    columns_first: lambda a, b, c: a @ b,
    rows_of_rows: lambda a, b, c: c + a @ b,
    outer_products: lambda a, b, c: c - a @ b,
    cleared: lambda a, b, c: a @ b,
    wide: lambda a, b, c: 1 + a @ b,
    flat: lambda a, b, c: c + a @ b,
    batched: lambda a, b, c: a @ b,
}


def decisions(kernel: Any) -> list[str]:
    return [found.code for found in kernel.explain().records if found.pass_name == "contractions"]


@pytest.mark.parametrize("function", _EXPECTED, ids=lambda function: function.__name__)
def test_every_size(function: Any) -> None:
    kernel = qd.njit(function)
    for size in _SIZES:
        for n, m, p in ((size, size, size), (size, 9, 40), (30, size, 11), (20, 21, size)):
            a, b, c = matrices(n, m, p)
            expected = _EXPECTED[function](a, b, c)
            kernel(a, b, c)
            assert np.array_equal(c, expected), (n, m, p)
    assert "contraction" in decisions(kernel)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.uint32, np.uint64])
def test_every_type(dtype: Any) -> None:
    def product(a, b, c):
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    kernel = qd.njit(product)
    for n, m, p in ((5, 6, 7), (40, 33, 20), (130, 127, 129)):
        a, b, c = matrices(n, m, p, dtype)
        if np.dtype(dtype).kind in "iu":
            a[0, 0] = np.iinfo(dtype).max  # wraps
        expected = c + a @ b
        kernel(a, b, c)
        assert np.array_equal(c, expected)
    assert "contraction" in decisions(kernel)


@pytest.mark.parametrize("function", [scalar, rows_of_rows])
def test_any_strides(function: Any) -> None:
    kernel = qd.njit(function)
    views = (
        lambda x: x,
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 3, 1)[:, ::3],
        lambda x: x[::-1].copy()[::-1],
    )
    for n in (6, 45):
        for make_a in views:
            for make_b in views:
                a, b, c = matrices(n, n + 1, n + 2)
                a, b = make_a(a), make_b(b)
                for result in (make_a(c.copy()), make_b(c.copy())):
                    expected = _EXPECTED[function](a, b, result.copy())
                    kernel(a, b, result)
                    assert np.array_equal(result, expected)


def test_strict_keeps_every_bit() -> None:
    for function in (scalar, rows_of_rows, outer_products, scaled):
        kernel = qd.njit(function, fp="strict")
        choose = np.random.default_rng(3)
        for n in (7, 23, 52):
            a, b, c = (choose.standard_normal((n, n)) for _ in range(3))
            expected = c.copy()
            function(a, b, expected)
            kernel(a, b, c)
            assert c.tobytes() == expected.tobytes(), function.__name__


def test_the_result_may_be_a_factor() -> None:
    for function in (scalar, rows_of_rows, outer_products, scaled, cleared, wide):
        kernel = qd.njit(function, fp="strict")
        memory = np.random.default_rng(5).standard_normal(1200)
        for start in (0, 3, 30, 400, 500):
            for where in (0, 450):
                mine, other = memory.copy(), memory.copy()
                for values, run in ((mine, kernel), (other, function)):
                    a, b = values[:400].reshape(20, 20), values[where : where + 400].reshape(20, 20)
                    with np.errstate(all="ignore"):
                        run(a, b, values[start : start + 400].reshape(20, 20))
                assert mine.tobytes() == other.tobytes(), (function.__name__, start, where)


def test_lines_are_prepared_beyond_the_product() -> None:
    """What is read is among what is prepared: it must be read in its turn."""
    kernel = qd.njit(wide, fp="strict")
    values = np.random.default_rng(9).standard_normal((20, 40))
    for first in (0, 20):
        mine, other = values.copy(), values.copy()
        for x, run in ((mine, kernel), (other, wide)):
            run(x[:, first : first + 20], x[:, 20:], x)
        assert mine.tobytes() == other.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.uint32])
def test_the_operator(dtype: Any) -> None:
    kernel = qd.njit(lambda a, b: a @ b)
    for n, m, p in ((0, 3, 4), (3, 2, 4), (40, 30, 50), (130, 9, 60)):
        a, b, _ = matrices(n, m, p, dtype)
        assert np.array_equal(kernel(a, b), a @ b) and kernel(a, b).dtype == a.dtype
        assert np.array_equal(kernel(a[::-1], np.asfortranarray(b)), a[::-1] @ b)


def test_parts_of_one_array() -> None:
    """A step of a blocked LU decomposition: three parts of the same matrix, which overlap or not."""

    def update(x, low, high, first, second):
        for i in range(first, x.shape[0]):
            for j in range(second, x.shape[1] - 1):
                for k in range(low, high):
                    x[i, j] -= x[i, k] * x[k, j + 1]

    kernel = qd.njit(update, fp="strict")
    x = np.random.default_rng(8).standard_normal((24, 24))
    for low, high in ((0, 8), (8, 16), (5, 20), (15, 24)):
        for first in (0, low, high - 1, high, high + 1):
            for second in (0, low - 1, high - 1, high, high + 1):
                mine, other = x.copy(), x.copy()
                with np.errstate(all="ignore"):
                    kernel(mine, low, high, first, max(second, 0))
                    update(other, low, high, first, max(second, 0))
                assert mine.tobytes() == other.tobytes(), (low, high, first, second)


def test_parts_of_one_array_are_told_apart() -> None:
    """By the ranges along an axis: their extents in memory overlap."""
    from quadrants.ir.interp import run

    text = """
def f(x, low, high):
    for i in range(high, x.shape[0]):
        for j in range(high, x.shape[1]):
            for k in range(low, high):
                x[i, j] -= x[i, k] * x[k, j]
"""
    module = module_of(text, (_MATRIX, PYINT, PYINT))
    pipeline.run(module, _OPTIONS)
    calls = [op for op in module.functions[module.entry].body.walk() if op.name == "contract"]
    assert len(calls) == 1
    x = np.arange(144.0).reshape(12, 12) % 7
    expected = x.copy()
    expected[6:, 6:] -= x[6:, :6] @ x[:6, 6:]
    run(module, (x, 0, 6), max_steps=700)  # turn by turn it would take more
    assert np.array_equal(x, expected)


def test_not_a_number_and_infinities_spread() -> None:
    kernel = qd.njit(scalar)
    a, b, c = (np.ones((40, 40)) for _ in range(3))
    a[3, 5], a[7, 0], b[1, 9] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = a @ b
    kernel(a, b, c)
    assert np.array_equal(c, expected, equal_nan=True)


def test_an_index_that_is_out_of_range_raises_where_it_is() -> None:
    def beyond(a, b, c, n):
        for i in range(n):
            for j in range(n):
                t = 0.0
                for k in range(n):
                    t += a[i, k] * b[k, j]
                c[i, j] = t

    kernel = qd.njit(beyond)
    a, b, c = (np.ones((30, 30)) for _ in range(3))
    kernel(a, b, c, 30)
    mine, other = np.zeros((30, 30)), np.zeros((30, 30))
    for values, run in ((mine, kernel), (other, beyond)):
        with pytest.raises(IndexError) as caught:
            run(a, b[:, :29], values, 30)
        assert [entry.lineno for entry in caught.traceback][-1] == beyond.__code__.co_firstlineno + 4
    assert np.array_equal(mine, other)


def test_mixed_types_are_copied() -> None:
    def mixed(a, b, c):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                t = np.float64(0.0)
                for k in range(a.shape[1]):
                    t += np.float64(a[i, k]) * (2.0 * b[k, j])
                c[i, j] = t

    kernel = qd.njit(mixed)
    a, b, c = matrices(50, 40, 30, np.float32)
    kernel(a, b, c)
    assert np.array_equal(c, a @ (2 * b))
    assert "contraction" in decisions(kernel)


@pytest.mark.parametrize("parallel", [False, True])
def test_on_several_threads(parallel: bool) -> None:
    def product(a, b, c):
        for i in qd.prange(a.shape[0]):
            for j in range(b.shape[1]):
                t = 0.0
                for k in range(a.shape[1]):
                    t += a[i, k] * b[k, j]
                c[i, j] = t

    kernel = qd.njit(product, parallel=parallel)
    for n in (3, 33, 200):
        a, b, c = matrices(n, n, n)
        kernel(a, b, c)
        assert np.array_equal(c, a @ b)
    assert "contraction" in decisions(kernel)


_REFUSED = {
    "not-rectangular": """
def f(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            t = 0.0
            for k in range(i):
                t += a[i, k] * b[k, j]
            c[i, j] = t
""",
    "reads-result": """
def f(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            t = c[0, j]
            for k in range(a.shape[1]):
                t += a[i, k] * b[k, j]
            c[i, j] = t
""",
    "few-turns": """
def f(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            t = 0.0
            for k in range(3):
                t += a[i, k] * b[k, j]
            c[i, j] = t
""",
}


@pytest.mark.parametrize("code", _REFUSED)
def test_what_is_refused_is_told(code: str) -> None:
    module = module_of(_REFUSED[code], (_MATRIX,) * 3)
    found = [item for item in pipeline.run(module, _OPTIONS) if item.pass_name == "contractions"]
    assert [item.code for item in found] == [code]
    assert found[0].kind is DecisionKind.REFUSED
    assert found[0].location.line > 1 and found[0].location.col is not None


def test_interrupted_between_blocks() -> None:
    """A long product ends when the user asks for it, and its memory is given back."""
    import signal
    import threading

    kernel = qd.njit(scalar)
    a, b, c = matrices(30, 30, 30)
    kernel(a, b, c)
    a = np.ones((3000, 3000))
    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                kernel(a, a, np.empty_like(a))
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
