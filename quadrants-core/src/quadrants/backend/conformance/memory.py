"""Golden programs: arrays in every form and space."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import NUMBERS, Case, Golden, data


def _strided(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def strided(x, y):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            y[i] = x[i] + 1

    return strided


def _strided_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x, y = data(rng, dtype, 90), np.zeros(60, dtype)
    return Case((x[::3], y[::-2]), 1, 32, {1: x[::3] + dtype.type(1)})


def _readonly_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 40)
    x.flags.writeable = False
    return Case((x, np.zeros(40, dtype)), 2, 32, {1: x + dtype.type(1)})


def _fortran(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def fortran(a, b):  # type: ignore[no-untyped-def]
        x, y = ns.grid(2)
        if x < a.shape[0] and y < a.shape[1]:
            b[x, y] = a[x, y] + a[-1, -1]

    return fortran


def _fortran_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    a, b = np.asfortranarray(data(rng, dtype, 6, 9)), np.zeros((9, 6), dtype).T
    return Case((a, b), (2, 3), (4, 4), {1: a + a[-1, -1]})


def _slices(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def slices(a, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < a.shape[0]:
            row = a[i]
            part = row[1::2]
            total = row[0]
            for k in range(part.shape[0]):
                total += part[k]
            out[i] = total

    return slices


def _slices_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    a = data(rng, dtype, 20, 7, low=-5, high=6)
    expected = (a[:, 0] + a[:, 1::2].sum(axis=1, dtype=dtype)).astype(dtype)
    return Case((a, np.zeros(20, dtype)), 1, 32, {1: expected})


def _local(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def local(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            held = ns.local.array(5, dtype)
            for k in range(5):
                held[k] = x[i]
            held[2] += 3
            total = held[0]
            for k in range(1, 5):
                total += held[k]
            out[i] = total

    return local


def _local_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 50, low=-9, high=9)
    return Case((x, np.zeros(50, dtype)), 2, 32, {1: x * dtype.type(5) + dtype.type(3)})


def _local_matrix(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def local_matrix(out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        m = ns.local.array((2, 3), dtype)
        for r in range(2):
            for c in range(3):
                m[r, c] = r * 3 + c + t
        ns.syncthreads()
        for r in range(2):
            for c in range(3):
                out[t, r, c] = m[1 - r, 2 - c]

    return local_matrix


def _local_matrix_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    base = np.arange(6).reshape(2, 3)[::-1, ::-1] + np.arange(16)[:, None, None]
    return Case((np.zeros((16, 2, 3), dtype),), 1, 16, {0: base.astype(dtype)})


_TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)


def _constant(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def constant(out):  # type: ignore[no-untyped-def]
        table = ns.const.array_like(_TABLE)
        i = ns.grid(1)
        out[i] = table[i % 8]

    return constant


def _constant_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(24, dtype),), 3, 8, {0: np.tile(_TABLE, 3).astype(dtype)})


def _dynamic(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def dynamic(x):  # type: ignore[no-untyped-def]
        held = ns.shared.array(0, dtype)
        t = ns.threadIdx.x
        held[t] = x[ns.grid(1)]
        ns.syncthreads()
        x[ns.grid(1)] = held[ns.blockDim.x - 1 - t]

    return dynamic


def _dynamic_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 48)
    return Case((x,), 3, 16, {0: x.reshape(3, 16)[:, ::-1].ravel()}, shared_bytes=16 * dtype.itemsize)


def _carved(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def carved(x, out):  # type: ignore[no-untyped-def]
        whole = ns.shared.array(0, dtype)
        low = whole[:8]
        high = whole[8:16]
        t = ns.threadIdx.x
        low[t] = x[t]
        high[t] = x[t] + 1
        ns.syncthreads()
        out[t] = whole[7 - t] + whole[8 + t]

    return carved


def _carved_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 8, low=-20, high=20)
    expected = x[::-1] + x + dtype.type(1)
    return Case((x, np.zeros(8, dtype)), 1, 8, {1: expected}, shared_bytes=16 * dtype.itemsize)


def _zero_rank(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def zero_rank(x, total):  # type: ignore[no-untyped-def]
        if ns.grid(1) == 0:
            for k in range(x.size):
                total[()] += x[k]

    return zero_rank


def _zero_rank_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 10, low=-5, high=5)
    return Case((x, np.zeros((), dtype)), 1, 1, {1: x.sum(dtype=dtype)})


def _hints(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def hints(x, y):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        ns.stcg(y, (i, 0), ns.ldca(x, i) + 1)
        ns.stcs(y, (i, 1), ns.ldcg(x, i))
        ns.stwt(y, (i, 2), ns.ldcs(x, i) + ns.ldcv(x, i))

    return hints


def _hints_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 16, high=20)
    return Case((x, np.zeros((16, 3), dtype)), 2, 8, {1: np.stack([x + dtype.type(1), x, x + x], axis=1)})


def _empty_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(0, dtype), np.zeros(0, dtype)), 2, 32, {1: np.zeros(0, dtype)})


PROGRAMS = (
    Golden("strided_arrays", _strided, _strided_case),
    Golden("readonly_arrays", _strided, _readonly_case),
    Golden("empty_arrays", _strided, _empty_case, ("i32", "f32")),
    Golden("fortran_order", _fortran, _fortran_case),
    Golden("slices", _slices, _slices_case, NUMBERS),
    Golden("local_array", _local, _local_case),
    Golden("local_matrix", _local_matrix, _local_matrix_case),
    Golden("constant_array", _constant, _constant_case),
    Golden("dynamic_shared", _dynamic, _dynamic_case),
    Golden("carved_shared", _carved, _carved_case),
    Golden("rank_zero", _zero_rank, _zero_rank_case),
    Golden("cache_hints", _hints, _hints_case),
)
