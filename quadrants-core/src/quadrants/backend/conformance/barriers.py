"""Golden programs: barriers and shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import FLOATS, NUMBERS, WORDS, Case, Golden, data


def _reverse(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def reverse(x):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(64, dtype)
        t = ns.threadIdx.x
        i = ns.grid(1)
        tile[t] = x[i]
        ns.syncthreads()
        x[i] = tile[63 - t]

    return reverse


def _reverse_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 192)
    return Case((x,), 3, 64, {0: x.reshape(3, 64)[:, ::-1].ravel()})


def _block_sum(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def block_sum(x, out):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(128, dtype)
        t = ns.threadIdx.x
        i = ns.grid(1)
        tile[t] = x[i] if i < x.size else 0
        ns.syncthreads()
        s = ns.blockDim.x // 2
        while s > 0:
            if t < s:
                tile[t] += tile[t + s]
            ns.syncthreads()
            s //= 2
        if t == 0:
            out[ns.blockIdx.x] = tile[0]

    return block_sum


def _block_sum_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 500, low=-1, high=2)
    padded = np.zeros(512, dtype)
    padded[:500] = x
    return Case((x, np.zeros(4, dtype)), 4, 128, {1: padded.reshape(4, 128).sum(axis=1, dtype=dtype)})


def _matmul(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def matmul(a, b, c):  # type: ignore[no-untyped-def]
        left = ns.shared.array((8, 8), dtype)
        right = ns.shared.array((8, 8), dtype)
        x, y = ns.grid(2)
        tx, ty = ns.threadIdx.x, ns.threadIdx.y
        total = a[0, 0] * 0
        for k in range((a.shape[1] + 7) // 8):
            left[ty, tx] = 0
            right[ty, tx] = 0
            if y < a.shape[0] and k * 8 + tx < a.shape[1]:
                left[ty, tx] = a[y, k * 8 + tx]
            if k * 8 + ty < b.shape[0] and x < b.shape[1]:
                right[ty, tx] = b[k * 8 + ty, x]
            ns.syncthreads()
            for j in range(8):
                total += left[ty, j] * right[j, tx]
            ns.syncthreads()
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = total

    return matmul


def _matmul_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    a, b = data(rng, dtype, 19, 26, low=-3, high=4), data(rng, dtype, 26, 13, low=-3, high=4)
    return Case((a, b, np.zeros((19, 13), dtype)), (2, 3), (8, 8), {2: a @ b})


def _early_return(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def early_return(x, n):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if n == 0:
            return
        tile = ns.shared.array(32, dtype)
        tile[ns.threadIdx.x] = x[i]
        ns.syncthreads()
        if i >= n:
            return
        x[i] = tile[(ns.threadIdx.x + 1) % 32]

    return early_return


def _early_return_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 96)
    expected = np.roll(x.reshape(3, 32), -1, axis=1).ravel()
    expected[70:] = x[70:]
    return Case((x, 70), 3, 32, {0: expected})


def _counting(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def counting(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        b = ns.blockIdx.x
        positive = x[i] > 0
        count = ns.syncthreads_count(positive)
        every = ns.syncthreads_and(x[i] != 100)
        some = ns.syncthreads_or(x[i] == 17)
        if ns.threadIdx.x == 0:
            out[b, 0] = count
            out[b, 1] = every
            out[b, 2] = some

    return counting


def _counting_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 160, low=-9, high=9)
    x[70] = 100
    x[33] = 17
    blocks = x.reshape(5, 32)
    expected = np.stack([(blocks > 0).sum(1), (blocks != 100).all(1), (blocks == 17).any(1)], axis=1)
    return Case((x, np.zeros((5, 3), np.int32)), 5, 32, {1: expected.astype(np.int32)})


def _uniform_loop(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def uniform_loop(x, steps):  # type: ignore[no-untyped-def]
        a = ns.shared.array(16, dtype)
        b = ns.shared.array(16, dtype)
        t = ns.threadIdx.x
        a[t] = x[t]
        ns.syncthreads()
        source, target = a, b
        for step in range(steps):
            if step == 5:
                break
            target[t] = source[(t + 1) % 16] + 1
            ns.syncthreads()
            source, target = target, source
        x[t] = source[t]

    return uniform_loop


def _uniform_loop_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 16, high=20)
    return Case((x, 9), 1, 16, {0: np.roll(x, -5) + dtype.type(5)})


def _until_done(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def until_done(x, rounds):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        value = x[t]
        done = 0
        while ns.syncthreads_or(value > 1):
            if value > 1:
                value = value // 2 if value % 2 == 0 else 3 * value + 1
            done += 1
        x[t] = value
        if t == 0:
            rounds[0] = done

    return until_done


def _until_done_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    def steps(value: int) -> int:
        count = 0
        while value > 1:
            value, count = (value // 2 if value % 2 == 0 else 3 * value + 1), count + 1
        return count

    x = rng.integers(1, 30, 20).astype(dtype)
    most = max(steps(int(value)) for value in x)
    return Case((x, np.zeros(1, dtype)), 1, 20, {0: np.ones(20, dtype), 1: np.array([most], dtype)})


def _kept(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def kept(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        tile = ns.shared.array(32, dtype)
        own = x[t] * 2
        small = own < 10
        tile[t] = own
        ns.syncthreads()
        other = tile[31 - t]
        ns.syncthreads()
        tile[t] = other
        ns.syncthreads()
        out[t] = own + tile[t] if small else tile[31 - t]

    return kept


def _kept_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 32, low=-10, high=12)
    own = x * dtype.type(2)
    return Case((x, np.zeros(32, dtype)), 1, 32, {1: np.where(own < 10, own + own[::-1], own)})


def _stencil(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def stencil(x, out):  # type: ignore[no-untyped-def]
        tile = ns.shared.array(34, dtype)
        t = ns.threadIdx.x
        i = ns.grid(1)
        n = x.size
        if i < n:
            tile[t + 1] = x[i]
        if t == 0:
            tile[0] = x[i - 1] if i > 0 else 0
        if t == 31 or i == n - 1:
            tile[t + 2] = x[i + 1] if i + 1 < n else 0
        ns.syncthreads()
        if i < n:
            out[i] = tile[t] + tile[t + 1] * 2 + tile[t + 2]

    return stencil


def _stencil_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 100, low=-9, high=9)
    padded = np.pad(x, 1)
    return Case((x, np.zeros(100, dtype)), 4, 32, {1: padded[:-2] + x * dtype.type(2) + padded[2:]})


def _scan(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def scan(x):  # type: ignore[no-untyped-def]
        held = ns.shared.array((2, 64), dtype)
        t = ns.threadIdx.x
        side = 0
        held[0, t] = x[t]
        ns.syncthreads()
        distance = 1
        while distance < 64:
            value = held[side, t]
            if t >= distance:
                value += held[side, t - distance]
            held[1 - side, t] = value
            side = 1 - side
            distance *= 2
            ns.syncthreads()
        x[t] = held[side, t]

    return scan


def _scan_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 64, low=-1, high=2)
    return Case((x,), 1, 64, {0: np.cumsum(x, dtype=dtype)})


def _grid_barrier(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def grid_barrier(x, y):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        x[i] = i
        ns.cg.this_grid().sync()
        y[i] = x[x.size - 1 - i]

    return grid_barrier


def _grid_barrier_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(24, dtype), np.zeros(24, dtype)), 3, 8, {1: np.arange(24)[::-1].astype(dtype)})


PROGRAMS = (
    Golden("reverse_in_block", _reverse, _reverse_case),
    Golden("block_sum", _block_sum, _block_sum_case),
    Golden("tiled_matmul", _matmul, _matmul_case, (*WORDS, *FLOATS)),
    Golden("early_return", _early_return, _early_return_case),
    Golden("counting_barriers", _counting, _counting_case, (*WORDS, *FLOATS)),
    Golden("uniform_loop", _uniform_loop, _uniform_loop_case, NUMBERS),
    Golden("until_all_are_done", _until_done, _until_done_case, WORDS),
    Golden("kept_across_barriers", _kept, _kept_case, (*WORDS, *FLOATS)),
    Golden("stencil", _stencil, _stencil_case),
    Golden("block_scan", _scan, _scan_case),
    Golden("grid_barrier", _grid_barrier, _grid_barrier_case, ("i32", "f32"), needs=("cg",)),
)
