"""Kernels as loops over the threads of a block, against the interpreter of device code."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from passes.random_kernels import arguments, kernel

from quadrants.api.typeof import typeof
from quadrants.backend.conformance import GOLDEN
from quadrants.backend.conformance.golden import dtype_of
from quadrants.backend.conformance.running import make_case
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options
from quadrants.ir import interp
from quadrants.ir.parser import parse_module
from quadrants.ir.simt import run_grid
from quadrants.ir.spec import verify
from quadrants.ir.text import print_module
from quadrants.ir.threads import Geometry
from quadrants.ir.values import Raised
from quadrants.lower import vectormath
from quadrants.passes import blocks, pipeline
from quadrants.passes.context import PassOptions
from quadrants.simt.names import NAMES

ns = SimpleNamespace(**NAMES, kernel=lambda f: f, func=lambda f: f)
PASSES = (
    None,
    PassOptions(verify=True),
    PassOptions(verify=True, vector_bits=128, vector_functions=vectormath.NAMES),
)
OPTIONS = Options(kernel=True, division="ieee", device="cpu")


def both(function: Any, args: tuple[Any, ...], grid: tuple[int, ...], block: tuple[int, ...], shared: int = 0) -> None:
    """The loops do what the threads do, before the passes, after them, and in lanes."""
    typed = infer_module(function, [typeof(a) for a in args], OPTIONS)
    hidden = [value for value in typed.hidden if isinstance(value, np.ndarray)]
    grid, block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]

    def arguments() -> list[Any]:
        flat = [x for a in args for x in (a if isinstance(a, tuple) else (a,))]
        return [x.copy() if isinstance(x, np.ndarray) else x.item() if isinstance(x, np.generic) else x for x in flat]

    wanted = arguments()
    run_grid(typed.module, [*wanted, *hidden], Geometry(grid, block, shared))
    for passes in PASSES:
        if passes is not None:
            pipeline.run_device(typed.module, PassOptions(verify=True))
        loops = blocks.run(typed.module)
        verify(loops)
        assert print_module(parse_module(print_module(loops))) == print_module(loops)
        if passes is not None:
            pipeline.run(loops, passes)
        found = arguments()
        launch = (*grid, *block, 0, grid[0] * grid[1] * grid[2], np.zeros(shared, np.uint8))
        interp.run(loops, (*found, *hidden, *launch))
        for a, b in zip(wanted, found):
            assert not isinstance(a, np.ndarray) or np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), (a, b)


SMALL = [n for n in GOLDEN if n not in ("many_blocks", "many_blocks_y", "grid_barrier", "nbody")]


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_golden_programs(name: str) -> None:
    golden = GOLDEN[name]
    dtype = golden.dtypes[-1]
    case = make_case(golden, dtype)
    shape = [s if isinstance(s, tuple) else (s,) for s in (case.grid, case.block)]
    kernel = golden.kernel(ns, dtype_of(dtype))
    args = case.args
    if kernel.__defaults__ or kernel.__kwdefaults__:
        args = (*args, *(kernel.__defaults__ or ()), *(kernel.__kwdefaults__ or {}).values())
    both(kernel, args, shape[0], shape[1], case.shared_bytes)


def x32(n: int = 32) -> np.ndarray:
    return np.random.default_rng(n).integers(-5, 9, n).astype(np.int32)


def test_an_endless_loop_that_threads_leave_together() -> None:
    def kernel(x, turns):
        left = ns.shared.array(1, np.int32)
        t = ns.threadIdx.x
        turn = 0
        while True:
            if t == 0:
                left[0] = 0
            ns.syncthreads()
            if x[t] > 0:
                x[t] -= 1
                ns.atomic.add(left, 0, 1)
            ns.syncthreads()
            turn += 1
            if left[0] == 0:
                break
            ns.syncthreads()
        if t == 0:
            turns[0] = turn

    both(kernel, (x32(), np.zeros(1, np.int32)), (1,), (32,))


def test_loops_of_lanes_that_part() -> None:
    def kernel(x, out):
        t = ns.threadIdx.x
        total = 0
        for k in range(t % 4 + 1):
            if x[t] > k:
                total += ns.popc(ns.activemask())
                if k == 2:
                    break
            elif x[t] < -3:
                continue
            else:
                total -= ns.subgroup.reduce_all_add(1)
            total += 1
        out[t] = total

    both(kernel, (x32(48), np.zeros(48, np.int32)), (1,), (48,))


def test_functions_with_shuffles_called_twice_and_in_a_branch() -> None:
    def warp_sum(v):
        for distance in (16, 8, 4, 2, 1):
            v += ns.shfl_down_sync(0xFFFFFFFF, v, distance)
        return v

    def kernel(x, out):
        held = ns.shared.array(32, np.int32)
        t = ns.threadIdx.x
        lane, warp = t % 32, t // 32
        v = warp_sum(x[ns.grid(1)])
        if lane == 0:
            held[warp] = v
        ns.syncthreads()
        if warp == 0:
            v = warp_sum(held[lane] if lane < ns.blockDim.x // 32 else 0)
            if lane == 0:
                ns.atomic.add(out, 0, v)

    both(kernel, (x32(192), np.zeros(1, np.int32)), (2,), (96,))


def test_returns_in_loops() -> None:
    def kernel(x, out):
        t = ns.threadIdx.x
        for k in range(5):
            if x[t] == k:
                out[t] = 100 + k
                return
            out[t] = ns.popc(ns.ballot_sync(0xFFFFFFFF, x[t] > k))
        out[t] += 1000

    both(kernel, (x32(40), np.zeros(40, np.int32)), (1,), (40,))


def test_arrays_that_swap_and_slices_that_are_kept() -> None:
    def kernel(x, out):
        a, b = ns.shared.array(16, np.int32), ns.shared.array(16, np.int32)
        t = ns.threadIdx.x
        row = out[t]
        a[t] = x[t]
        for k in range(6):
            ns.syncthreads()
            b[t] = a[(t + 1) % 16] + k
            row[k] = b[t]
            a, b = b, a
        ns.syncthreads()
        row[6] = a[t]

    both(kernel, (x32(16), np.zeros((16, 7), np.int32)), (1,), (16,))


def test_blocks_of_three_axes() -> None:
    def kernel(x, out):
        tile = ns.shared.array((2, 3, 4), np.int32)
        i, j, k = ns.threadIdx.z, ns.threadIdx.y, ns.threadIdx.x
        tile[i, j, k] = x[ns.blockIdx.y, i, j, k]
        ns.syncthreads()
        out[ns.blockIdx.y, k, j, i] = tile[1 - i, 2 - j, 3 - k] + ns.laneid

    both(kernel, (x32(72).reshape(3, 2, 3, 4), np.zeros((3, 4, 3, 2), np.int32)), (1, 3), (4, 3, 2))


def test_local_arrays_large_and_small() -> None:
    def kernel(x, out):
        t = ns.threadIdx.x
        small, large = ns.local.array(3, np.int32), ns.local.array((64, 100), np.int32)
        for k in range(3):
            small[k] = x[t] + k
            large[k, 99] = x[t] * k
        ns.syncthreads()
        out[t] = small[2] + large[2, 99]

    both(kernel, (x32(8), np.zeros(8, np.int32)), (1,), (8,))


def test_divergence_is_an_exception() -> None:
    def kernel(x):
        t = ns.threadIdx.x
        if x[t] > 0:
            ns.syncthreads()
        x[t] = 1

    typed = infer_module(kernel, [typeof(x32())], OPTIONS)
    loops = blocks.run(typed.module)
    with pytest.raises(Raised, match="BarrierDivergence"):
        interp.run(loops, (x32(), 1, 1, 1, 32, 1, 1, 0, 1, np.zeros(0, np.uint8)))


def test_what_cannot_be_made_into_loops_says_why() -> None:
    def kernel(x):
        try:
            ns.syncthreads()
            x[100] = 1
        except IndexError:
            x[0] = 1

    typed = infer_module(kernel, [typeof(x32())], OPTIONS)
    with pytest.raises(blocks.Refused, match="cannot stand inside of a try"):
        blocks.run(typed.module)


@pytest.mark.parametrize("seed", [0, 1, 2, 17, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 60))])
def test_random_kernels(seed: int) -> None:
    threads, args = arguments(seed)
    both(kernel(seed, ns), args, (2,), (threads,))
