"""Golden programs: subgroups. They do not depend on how many lanes a subgroup has, unless the name says so."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import FLOATS, WORDS, Case, Golden, data

_NUMBERS = (*WORDS, *FLOATS)


def _shuffles(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def shuffles(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        lane = ns.subgroup.invocation_id()
        size = ns.subgroup.group_size()
        v = x[t]
        up = ns.subgroup.shuffle_up(v, 1)
        down = ns.subgroup.shuffle_down(v, 1)
        mirrored = ns.subgroup.shuffle(v, size - 1 - lane)
        neighbour = ns.subgroup.shuffle_xor(v, 1)
        first = ns.subgroup.broadcast(v, 0)
        base = t - lane
        # What each has to be, by plain loads: true for every size of a subgroup.
        out[t, 0] = up == (x[t - 1] if lane > 0 else v)
        out[t, 1] = down == (x[t + 1] if lane < size - 1 else v)
        out[t, 2] = mirrored == x[base + size - 1 - lane]
        out[t, 3] = neighbour == x[base + (lane ^ 1)]
        out[t, 4] = first == x[base]
        out[t, 5] = ns.subgroup.broadcast_first(v) == x[base]

    return shuffles


def _shuffles_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((data(rng, dtype, 64), np.zeros((64, 6), np.int32)), 1, 64, {1: np.ones((64, 6), np.int32)})


def _votes(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def votes(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        size = ns.subgroup.group_size()
        base = t - ns.subgroup.invocation_id()
        every = True
        some = False
        equal = True
        bits = 0
        for k in range(size):
            every = every and x[base + k] > 0
            some = some or x[base + k] > 0
            equal = equal and x[base + k] == x[base]
            if x[base + k] > 0:
                bits |= 1 << k
        out[t, 0] = ns.subgroup.all_true(x[t] > 0) == every
        out[t, 1] = ns.subgroup.any_true(x[t] > 0) == some
        out[t, 2] = ns.subgroup.all_equal(x[t]) == equal
        out[t, 3] = ns.popc(ns.subgroup.ballot(x[t] > 0)) == ns.popc(np.uint64(bits))
        out[t, 4] = ns.subgroup.elect() == (t == base)

    return votes


def _votes_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 128, low=-2, high=3)
    x[:64] = 1
    return Case((x, np.zeros((128, 5), np.int32)), 1, 128, {1: np.ones((128, 5), np.int32)})


def _reductions(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def reductions(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        lane = ns.subgroup.invocation_id()
        size = ns.subgroup.group_size()
        base = t - lane
        total = x[base]
        least = x[base]
        most = x[base]
        before = x[base] * 0
        for k in range(1, size):
            total += x[base + k]
            least = min(least, x[base + k])
            most = max(most, x[base + k])
        for k in range(lane):
            before += x[base + k]
        out[t, 0] = ns.subgroup.reduce_all_add(x[t]) == total
        out[t, 1] = ns.subgroup.reduce_all_min(x[t]) == least
        out[t, 2] = ns.subgroup.reduce_all_max(x[t]) == most
        out[t, 3] = ns.subgroup.inclusive_add(x[t]) == before + x[t]
        out[t, 4] = ns.subgroup.exclusive_add(x[t]) == before
        added = ns.subgroup.reduce_add(x[t])
        out[t, 5] = lane != 0 or added == total

    return reductions


def _reductions_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 64, low=-20, high=20)
    return Case((x, np.zeros((64, 6), np.int32)), 1, 64, {1: np.ones((64, 6), np.int32)})


def _block_reduce(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def block_reduce(x, out):  # type: ignore[no-untyped-def]
        partial = ns.shared.array(64, dtype)
        t = ns.threadIdx.x
        size = ns.subgroup.group_size()
        total = ns.subgroup.reduce_add(x[ns.grid(1)])
        if t % size == 0:
            partial[t // size] = total
        ns.syncthreads()
        if t == 0:
            value = partial[0]
            for k in range(1, ns.blockDim.x // size):
                value += partial[k]
            out[ns.blockIdx.x] = value

    return block_reduce


def _block_reduce_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 384, low=-9, high=9)
    return Case((x, np.zeros(3, dtype)), 3, 128, {1: x.reshape(3, 128).sum(axis=1, dtype=dtype)})


def _cuda_reduce(ns: Any, dtype: np.dtype) -> Any:
    full = 0xFFFFFFFF

    @ns.kernel
    def cuda_reduce(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        value = x[t]
        distance = ns.warpsize // 2
        while distance > 0:
            value += ns.shfl_down_sync(full, value, distance)
            distance //= 2
        if ns.laneid == 0:
            ns.atomic.add(out, 0, value)

    return cuda_reduce


def _cuda_reduce_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 128, low=-9, high=9)
    return Case((x, np.zeros(1, dtype)), 1, 128, {1: x.sum(dtype=dtype, keepdims=True)})


def _divergent(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def divergent(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        value = x[t] * 0
        if t < ns.warpsize:
            value = ns.subgroup.reduce_all_add(x[t])
        ns.syncwarp()
        out[t] = value == (10 if t < ns.warpsize else 0)

    return divergent


def _divergent_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = np.zeros(128, dtype)
    x[:4] = (1, 2, 3, 4)
    return Case((x, np.zeros(128, np.int32)), 1, 128, {1: np.ones(128, np.int32)})


def _partial(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def partial(x, out):  # type: ignore[no-untyped-def]
        t = ns.threadIdx.x
        lane = ns.subgroup.invocation_id()
        if lane % 2 == 1:
            out[t] = ns.popc(ns.activemask()) == ns.subgroup.group_size() // 2
        else:
            out[t] = ns.all_sync(0xFFFFFFFF, lane % 2 == 0)

    return partial


def _partial_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    return Case((np.zeros(64, dtype), np.zeros(64, np.int32)), 1, 64, {1: np.ones(64, np.int32)})


PROGRAMS = (
    Golden("shuffles", _shuffles, _shuffles_case, _NUMBERS, ("subgroup.shuffle",)),
    Golden("votes", _votes, _votes_case, ("i32", "f32"), ("subgroup.ballot",)),
    Golden("subgroup_reductions", _reductions, _reductions_case, _NUMBERS, ("subgroup.reduce_add",)),
    Golden("block_reduce", _block_reduce, _block_reduce_case, _NUMBERS, ("subgroup.reduce_add",)),
    Golden("cuda_warp_reduce", _cuda_reduce, _cuda_reduce_case, _NUMBERS, ("shfl_down_sync",), ("add",)),
    Golden("subgroup_in_branch", _divergent, _divergent_case, ("i32", "f32"), ("subgroup.reduce_add",)),
    Golden("lanes_that_part", _partial, _partial_case, ("i32",), ("activemask",)),
)
