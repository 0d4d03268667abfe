"""Golden programs: atomic operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import FLOATS, WORDS, Case, Golden, data

_NUMBERS = (*WORDS, *FLOATS)


def _histogram(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def histogram(x, bins):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            ns.atomic.add(bins, x[i], 1)

    return histogram


def _histogram_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = rng.integers(0, 10, 1000).astype(np.int32)
    return Case((x, np.zeros(10, dtype)), 8, 128, {1: np.bincount(x, minlength=10).astype(dtype)})


def _privatised(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def privatised(x, bins):  # type: ignore[no-untyped-def]
        own = ns.shared.array(10, dtype)
        t = ns.threadIdx.x
        i = ns.grid(1)
        if t < 10:
            own[t] = 0
        ns.syncthreads()
        if i < x.size:
            ns.atomic.add(own, x[i], 1)
        ns.syncthreads()
        if t < 10:
            ns.atomic.add(bins, t, own[t])

    return privatised


def _combined(name: str, apply: Callable[[np.ndarray, np.ndarray], Any], start: int = 0) -> tuple[Any, Any]:
    """A program in which all threads combine into two elements, one of them of a matrix."""

    def make(ns: Any, dtype: np.dtype) -> Any:
        operation = getattr(ns.atomic, name)

        @ns.kernel
        def combined(x, out, matrix):  # type: ignore[no-untyped-def]
            i = ns.grid(1)
            if i < x.size:
                operation(out, 0, x[i])
                operation(matrix, (1, -1), x[i])

        return combined

    def case(rng: np.random.Generator, dtype: np.dtype) -> Case:
        x = data(rng, dtype, 200, low=-20, high=20)
        if name == "mul":
            x = np.where(rng.integers(0, 40, 200) == 0, 2, 1).astype(dtype)
        out, matrix = np.full(1, start, dtype), np.full((2, 3), start, dtype)
        expected, second = out.copy(), matrix.copy()
        expected[0] = second[1, -1] = apply(out[:1], x)
        return Case((x, out, matrix), 2, 128, {1: expected, 2: second})

    return make, case


def _wrapping(name: str) -> tuple[Any, Any]:
    """inc and dec, whose old values are all different."""

    def make(ns: Any, dtype: np.dtype) -> Any:
        operation = getattr(ns.atomic, name)

        @ns.kernel
        def wrapping(counter, seen):  # type: ignore[no-untyped-def]
            old = operation(counter, 0, 9)
            ns.atomic.add(seen, old, 1)

        return wrapping

    def case(rng: np.random.Generator, dtype: np.dtype) -> Case:
        counter = np.zeros(1, dtype)
        return Case((counter, np.zeros(10, np.int32)), 2, 25, {0: counter.copy(), 1: np.full(10, 5, np.int32)})

    return make, case


def _exchange(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def exchange(slot, seen):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        old = ns.atomic.exch(slot, 0, i + 1)
        ns.atomic.add(seen, int(old), 1)
        ns.syncthreads()
        if i == 0:
            seen[int(slot[0])] += 1

    return exchange


def _exchange_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(1, dtype), np.zeros(33, np.int32)), 1, 32, {1: np.ones(33, np.int32)})


def _compare_and_swap(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def compare_and_swap(total, x, taken):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            while True:
                seen = total[0]
                if ns.atomic.cas(total, 0, seen, seen + x[i]) == seen:
                    break
        if ns.atomic.compare_and_swap(taken, 0, i + 1) == 0:
            taken[1] = 1

    return compare_and_swap


def _compare_and_swap_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 60, high=9)
    return Case((np.zeros(1, dtype), x, np.ones(2, dtype)), 2, 32, {0: x.sum(dtype=dtype, keepdims=True)})


def _old_values(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def old_values(counter, order):  # type: ignore[no-untyped-def]
        place = ns.atomic.add(counter, 0, 1)
        order[int(place)] = 1

    return old_values


def _old_values_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case(
        (np.zeros(1, dtype), np.zeros(96, np.int32)), 3, 32, {0: np.full(1, 96, dtype), 1: np.ones(96, np.int32)}
    )


def _last_block(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def last_block(x, partial, done, out):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(32, dtype)
        flag = ns.shared.array(1, np.int32)
        t = ns.threadIdx.x
        tile[t] = x[ns.grid(1)]
        ns.syncthreads()
        if t == 0:
            total = tile[0]
            for k in range(1, 32):
                total += tile[k]
            partial[ns.blockIdx.x] = total
            ns.threadfence()
            flag[0] = 1 if ns.atomic.add(done, 0, 1) == ns.gridDim.x - 1 else 0
        ns.syncthreads()
        if flag[0] == 1 and t == 0:
            total = partial[0]
            for k in range(1, ns.gridDim.x):
                total += partial[k]
            out[0] = total

    return last_block


def _last_block_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 128, high=9)
    args = (x, np.zeros(4, dtype), np.zeros(1, np.int32), np.zeros(1, dtype))
    return Case(args, 4, 32, {3: x.sum(dtype=dtype, keepdims=True)})


def _row(name: str, what: str, apply: Callable[..., Any], dtypes: tuple[str, ...], start: int = 0) -> Golden:
    make, case = _combined(name, apply, start)
    return Golden(f"atomic_{name.rstrip('_')}", make, case, dtypes, ("atomic",), (what,))


PROGRAMS = (
    Golden("histogram", _histogram, _histogram_case, _NUMBERS, ("atomic",), ("add",)),
    Golden("privatised_histogram", _privatised, _histogram_case, _NUMBERS, ("atomic",), ("add",)),
    _row("add", "add", lambda old, x: old[0] + x.sum(dtype=x.dtype), _NUMBERS, 5),
    _row("sub", "sub", lambda old, x: old[0] - x.sum(dtype=x.dtype), _NUMBERS, 100),
    _row("mul", "mul", lambda old, x: x.prod(dtype=x.dtype) * old[0], _NUMBERS, 3),
    _row("min", "min", lambda old, x: min(old[0], x.min()), _NUMBERS, 3),
    _row("max", "max", lambda old, x: max(old[0], x.max()), _NUMBERS, 3),
    _row("nanmax", "max", lambda old, x: max(old[0], x.max()), FLOATS, 3),
    _row("and_", "and", lambda old, x: np.bitwise_and.reduce(x) & old[0], WORDS, 63),
    _row("or_", "or", lambda old, x: np.bitwise_or.reduce(x) | old[0], WORDS, 64),
    _row("xor", "xor", lambda old, x: np.bitwise_xor.reduce(x) ^ old[0], WORDS, 5),
    Golden("atomic_inc", *_wrapping("inc"), WORDS, ("atomic",), ("inc",)),
    Golden("atomic_dec", *_wrapping("dec"), WORDS, ("atomic",), ("dec",)),
    Golden("atomic_exch", _exchange, _exchange_case, _NUMBERS, ("atomic",), ("exchange",)),
    Golden("atomic_cas", _compare_and_swap, _compare_and_swap_case, _NUMBERS, ("atomic",), ("cas",)),
    Golden("atomic_old_values", _old_values, _old_values_case, _NUMBERS, ("atomic",), ("add",)),
    Golden("last_block", _last_block, _last_block_case, _NUMBERS, ("atomic",)),
)
