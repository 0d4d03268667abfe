"""Golden programs: one thread an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import FLOATS, NUMBERS, Case, Golden, data


def _saxpy(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def saxpy(a, x, y):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < y.shape[0]:
            y[i] = a * x[i] + y[i]

    return saxpy


def _saxpy_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x, y = data(rng, dtype, 1000, high=10), data(rng, dtype, 1000, high=10)
    return Case((dtype.type(3), x, y), 8, 128, {2: dtype.type(3) * x + y})


def _weak(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def weak(x, out, factor):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            out[i] = x[i] * 2.5 + x[i] * factor

    return weak


def _weak_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 77)
    return Case((x, np.zeros_like(x), 0.25), 3, 32, {1: x * dtype.type(2.5) + x * dtype.type(0.25)})


def _stride_loop(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def stride_loop(x):  # type: ignore[no-untyped-def]
        for i in range(ns.grid(1), x.size, ns.gridsize(1)):
            x[i] += 1

    return stride_loop


def _stride_loop_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 1037)
    return Case((x,), 3, 32, {0: x + dtype.type(1)})


def _two_axes(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def two_axes(a, out):  # type: ignore[no-untyped-def]
        x, y = ns.grid(2)
        if y < a.shape[0] and x < a.shape[1]:
            out[x, y] = a[y, x]

    return two_axes


def _two_axes_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    a = data(rng, dtype, 33, 50)
    return Case((a, np.zeros((50, 33), dtype)), (7, 9), (8, 4), {1: a.T.copy()})


def _three_axes(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def three_axes(a):  # type: ignore[no-untyped-def]
        x, y, z = ns.grid(3)
        gx, gy, gz = ns.gridsize(3)
        if z < a.shape[0] and y < a.shape[1] and x < a.shape[2]:
            a[z, y, x] = (z * gy + y) * gx + x + gz * 0

    return three_axes


def _three_axes_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    a = np.zeros((4, 3, 5), dtype)
    z, y, x = np.indices(a.shape)
    return Case((a,), (3, 2, 4), (2, 3, 1), {0: ((z * 6 + y) * 6 + x).astype(dtype)})


def _places(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def places(out):  # type: ignore[no-untyped-def]
        i = ns.blockIdx.x * ns.blockDim.x + ns.threadIdx.x
        out[i, 0] = ns.threadIdx.x
        out[i, 1] = ns.blockIdx.x
        out[i, 2] = ns.blockDim.x + ns.blockDim.y + ns.blockDim.z
        out[i, 3] = ns.gridDim.x + ns.gridDim.y + ns.gridDim.z

    return places


def _places_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    i = np.arange(35)
    expected = np.stack([i % 7, i // 7, np.full(35, 9), np.full(35, 7)], axis=1)
    return Case((np.zeros((35, 4), dtype),), 5, 7, {0: expected.astype(dtype)})


def _many_blocks(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def many_blocks(out):  # type: ignore[no-untyped-def]
        out[ns.blockIdx.x] = ns.blockIdx.x

    return many_blocks


def _many_blocks_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(70_000, dtype),), 70_000, 1, {0: np.arange(70_000).astype(dtype)})


def _many_blocks_y(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def many_blocks_y(out):  # type: ignore[no-untyped-def]
        out[ns.blockIdx.y + ns.blockIdx.z] = ns.blockIdx.y

    return many_blocks_y


def _many_blocks_y_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(70_000, dtype),), (1, 70_000, 1), 1, {0: np.arange(70_000).astype(dtype)})


def _flags(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def flags(x, positive, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            positive[i] = x[i] > 0
            if positive[i] and not x[i] == 7:
                out[i] = x[i]

    return flags


def _flags_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 300)
    expected = np.where((x > 0) & (x != 7), x, 0).astype(dtype)
    return Case((x, np.zeros(300, bool), np.zeros(300, dtype)), 5, 64, {1: x > 0, 2: expected})


def _half(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def half(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            out[i] = x[i] / 2

    return half


def _half_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 100)
    return Case((x, np.zeros_like(x)), 4, 32, {1: x / dtype.type(2)})


PROGRAMS = (
    Golden("saxpy", _saxpy, _saxpy_case),
    Golden("weak_scalars", _weak, _weak_case, FLOATS),
    Golden("grid_stride_loop", _stride_loop, _stride_loop_case),
    Golden("two_axes", _two_axes, _two_axes_case),
    Golden("three_axes", _three_axes, _three_axes_case),
    Golden("places", _places, _places_case, ("i32", "i64", "f32")),
    Golden("many_blocks", _many_blocks, _many_blocks_case, ("i32", "f32")),
    Golden("many_blocks_y", _many_blocks_y, _many_blocks_y_case, ("i32",)),
    Golden("flags", _flags, _flags_case, NUMBERS),
    Golden("halves", _half, _half_case, FLOATS),
)
