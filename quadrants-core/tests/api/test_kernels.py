"""Kernels of the explicit language on the CPU: launches, arguments, errors, what `debug=True` finds."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import traceback

import numpy as np
import pytest

import quadrants as qd
from quadrants.diagnostics import Code

cpu = qd.cpu
f32 = np.float32


@cpu.kernel
def add_one(x):
    i = cpu.grid(1)
    if i < x.size:
        x[i] += 1


def test_updates_in_place_by_the_time_it_returns() -> None:
    x = np.zeros(1000, f32)
    add_one[4, 256](x)
    assert (x == 1).all()


@pytest.mark.parametrize(("grid", "block"), [(0, 32), (4, 0), ((3, 0, 2), 8), (2, (0, 4)), ((0, 0), (0, 0))])
def test_a_zero_in_the_shape_does_nothing(grid, block) -> None:
    x = np.zeros(100)
    add_one[grid, block](x)
    assert not x.any()


@pytest.mark.parametrize("axis", range(3))
def test_many_blocks_along_any_axis(axis: int) -> None:
    @cpu.kernel
    def mark(out):
        b = cpu.blockIdx.x + cpu.blockIdx.y + cpu.blockIdx.z
        out[b] += b

    grid = [1, 1, 1]
    grid[axis] = 70_000
    out = np.zeros(70_000, np.int64)
    mark[tuple(grid), 1](out)
    assert np.array_equal(out, np.arange(70_000))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2.5, 32), "the grid is 2.5: it has to be an integer"),
        ((2, "32"), "the block is '32'"),
        ((-1, 32), "the grid is -1: it cannot be negative"),
        ((1, 1, 0, -8), "the bytes of shared memory is -8"),
        (((1, 2, 3, 4), 32), "the grid has one to three axes, not 4"),
        ((1, 4096), "4096 threads in a block; at most 1024"),
        ((2**31, 1), "a grid of .2147483648, 1, 1. blocks"),
        ((1, 1, 0, 1 << 30), "bytes of shared memory; there are"),
        (7, "takes grid and block"),
        ((1, 2, 3, 4, 5), "not 5 values"),
    ],
)
def test_bad_shapes(shape, message: str) -> None:
    with pytest.raises(qd.BackendError, match=message) as caught:
        add_one[shape](np.zeros(8))
    assert caught.value.code is Code.BAD_LAUNCH


def test_a_kernel_is_not_called_without_a_shape() -> None:
    with pytest.raises(qd.BackendError, match="it is launched with blocks and threads"):
        add_one(np.zeros(3))


def test_numpy_integers_and_lists_are_shapes() -> None:
    x = np.zeros(32)
    add_one[np.int64(2), [np.int32(16)]](x)
    assert (x == 1).all()


def test_forall() -> None:
    x = np.zeros(1001)
    add_one.forall(x.size)(x)
    add_one.forall(x.size, 32)(x)
    add_one.forall(0)(x)
    assert (x == 2).all()


def test_strided_readonly_and_scalar_arguments() -> None:
    @cpu.kernel
    def scale(x, out, factor, offset=1.0, *, flip=False):
        i = cpu.grid(1)
        if i < x.size:
            v = x[i] * factor + offset
            out[i] = -v if flip else v

    x = np.arange(60, dtype=f32)
    x.flags.writeable = False
    out = np.zeros(100, f32)
    scale[1, 32](x[::-3], out[5:85:4], 2.5)
    assert np.array_equal(out[5:85:4], x[::-3] * f32(2.5) + 1)
    scale[1, 32](out=out[:20], x=x[:20], factor=np.int32(2), flip=True)
    assert np.array_equal(out[:20], -(x[:20] * 2 + 1))
    with pytest.raises(TypeError, match="missing a required argument: 'factor'"):
        scale[1, 32](x, out)
    with pytest.raises(TypeError, match="unexpected keyword argument 'flop'"):
        scale[1, 32](x, out, 1.0, flop=1)


def test_a_store_into_a_readonly_array_is_a_compile_error() -> None:
    x = np.zeros(4)
    x.flags.writeable = False
    with pytest.raises(qd.CompileError, match="read-only"):
        add_one[1, 4](x)


def test_python_numbers_are_weak() -> None:
    @cpu.kernel
    def dtypes(x, n, alpha, out):
        i = cpu.grid(1)
        out[i] = 0
        y = x[i] * 2.5
        y = y + alpha
        y = y * n[i]
        y = y * i
        if y.dtype == x.dtype:
            out[i] = 1

    out = np.zeros(4, np.int32)
    dtypes[1, 4](np.ones(4, f32), np.ones(4, np.int64), 0.1, out)
    assert out.tolist() == [1, 1, 1, 1]
    exact = np.zeros(1)

    @cpu.kernel
    def double(x, alpha):
        x[0] = x[0] + alpha

    double[1, 1](exact, 0.1)
    assert exact[0] == 0.1


def test_globals_and_closures_are_followed() -> None:
    scale = 2.0
    table = np.arange(4.0)

    @cpu.kernel
    def use(x):
        t = cpu.threadIdx.x
        x[t] = table[t] * scale

    x = np.zeros(4)
    use[1, 4](x)
    assert x.tolist() == [0, 2, 4, 6]
    table[1] = 10
    scale = 3.0
    use[1, 4](x)
    assert x.tolist() == [0, 30, 6, 9]


def test_device_functions_of_every_kind() -> None:
    @cpu.func
    def a(v):
        return v + 1

    @qd.njit
    def b(v):
        return v * 2

    @cpu.kernel
    def use(x, apply):
        i = cpu.grid(1)
        x[i] = apply(a(b(x[i])), (lambda v: v - 3)(x[i]))

    x = np.arange(4.0)
    use[1, 4](x, lambda p, q: p * q)
    assert x.tolist() == [(2 * v + 1) * (v - 3) for v in range(4)]
    assert a(1) == 2


def test_out_of_bounds_raises() -> None:
    @cpu.kernel
    def beyond(x):
        x[cpu.grid(1)] = 1

    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        beyond[1, 11](np.zeros(10))
    x = np.zeros(4)
    beyond[1, 4](x[::-1])
    assert x.all()


def test_exceptions_have_the_line_of_the_kernel() -> None:
    @cpu.kernel
    def refuses(x):
        if x[cpu.grid(1)] < 0:
            raise ValueError("negative", cpu.grid(1))

    with pytest.raises(ValueError, match="negative") as caught:
        refuses[1, 3](np.array([1.0, 2.0, -1.0]))
    assert caught.value.args == ("negative", 2)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "refuses"


def test_a_kernel_returns_nothing() -> None:
    @cpu.kernel
    def returns(x):
        return x[0]

    with pytest.raises(qd.CompileError, match="returns a value"):
        returns[1, 1](np.zeros(1))


def test_names_outside_of_kernels() -> None:
    with pytest.raises(qd.BackendError, match="means something in a kernel only"):
        cpu.syncthreads()

    @qd.njit
    def host():
        return cpu.grid(1)

    with pytest.raises(qd.BackendError, match="'grid' means something in a kernel only"):
        host()
    with pytest.raises(AttributeError, match="Did you mean.*syncthreads"):
        cpu.syncthread

    @cpu.kernel
    def misspelt(x):
        cpu.atomic.ad(x, 0, 1)

    with pytest.raises(qd.CompileError, match="'atomic' has no 'ad' in kernels"):
        misspelt[1, 1](np.zeros(1))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x: cpu.shared.array(x.size, f32), "has to be known when the kernel is compiled"),
        (lambda x: cpu.local.array(-3, f32), "has to be positive"),
        (lambda x: cpu.grid(4), "takes the number of axes"),
        (lambda x: cpu.atomic.add(x, 0), "takes 3 arguments, not 2"),
        (lambda x: cpu.atomic.add(x, (0, 1), 1), "takes an index for each axis: 1 for this array, not 2"),
        (lambda x: cpu.atomic.and_(x, 0, 1), "takes integers, not f64"),
        (lambda x: cpu.atomic.add(3, 0, 1), "takes an array"),
        (lambda x: cpu.threadIdx.w, "has no 'w'"),
        (lambda x: cpu.popc(1.5), "an integer is needed"),
    ],
)
def test_misuse_is_a_compile_error(body, message: str) -> None:
    @cpu.kernel
    def misuse(x):
        body(x)

    with pytest.raises(qd.CompileError, match=message):
        misuse[1, 1](np.zeros(3))


# Barriers in divergent flow


@pytest.mark.parametrize("debug", [False, True])
def test_a_barrier_in_a_branch_that_threads_part_in(debug: bool) -> None:
    @cpu.kernel(debug=debug)
    def parts(x):
        t = cpu.threadIdx.x
        if t < 16:
            cpu.syncthreads()
        x[t] = 1

    with pytest.raises(qd.DeviceError, match="divergent barrier") as caught:
        parts[1, 32](np.zeros(32))
    assert caught.value.code is Code.DIVERGENT_BARRIER
    assert isinstance(caught.value, RuntimeError)
    parts[1, 16](np.zeros(16))


@pytest.mark.parametrize("debug", [False, True])
def test_a_barrier_in_a_loop_of_different_lengths(debug: bool) -> None:
    @cpu.kernel(debug=debug)
    def parts(x, turns):
        t = cpu.threadIdx.x
        for _ in range(turns[t]):
            x[t] += 1
            cpu.syncthreads()

    x = np.zeros(4)
    parts[1, 4](x, np.full(4, 3))
    assert x.tolist() == [3, 3, 3, 3]
    with pytest.raises(qd.DeviceError, match="divergent barrier"):
        parts[1, 4](x, np.array([3, 3, 2, 3]))


def test_threads_that_have_returned_do_not_hold_up_the_others() -> None:
    @cpu.kernel
    def leaves(x, n):
        tile = cpu.shared.array(32, f32)
        t = cpu.threadIdx.x
        if t >= n:
            return
        tile[t] = x[t]
        cpu.syncthreads()
        x[t] = tile[n - 1 - t]

    x = np.arange(32, dtype=f32)
    leaves[1, 32](x, 20)
    assert x.tolist() == [*range(19, -1, -1), *range(20, 32)]


# What debug=True finds


def test_debug_names_index_block_and_thread() -> None:
    @cpu.kernel(debug=True)
    def beyond(x):
        x[cpu.grid(1)] = 1

    with pytest.raises(IndexError, match=r"index 7 is out of bounds.*block \(1, 0, 0\), thread \(3, 0, 0\)") as caught:
        beyond[2, 4](np.zeros(7))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "beyond"


def test_debug_raises_assertions() -> None:
    @cpu.kernel(debug=True)
    def asserts(x):
        t = cpu.threadIdx.x
        assert x[t] > 0, "not positive"

    with pytest.raises(AssertionError, match="not positive"):
        asserts[1, 3](np.array([1.0, 2.0, 0.0]))
    asserts[1, 2](np.array([1.0, 2.0]))


def test_debug_finds_races() -> None:
    @cpu.kernel(debug=True)
    def shared(x):
        tile = cpu.shared.array(8, f32)
        t = cpu.threadIdx.x
        tile[t] = x[t]
        x[t] = tile[t] + tile[(t + 1) % 8]

    with pytest.raises(qd.DeviceError, match="race|which nothing was written to"):
        shared[1, 8](np.zeros(8, f32))

    @cpu.kernel(debug=True)
    def between_blocks(x):
        x[0] = cpu.blockIdx.x

    with pytest.raises(qd.DeviceError, match="race on element 0 of an array in global memory") as caught:
        between_blocks[2, 1](np.zeros(1))
    assert caught.value.code is Code.DATA_RACE


def test_debug_finds_reads_of_nothing() -> None:
    @cpu.kernel(debug=True)
    def unwritten(x):
        held = cpu.local.array(3, f32)
        held[0] = 1
        x[0] = held[1]

    with pytest.raises(qd.DeviceError, match="reads element 1 of local memory") as caught:
        unwritten[1, 1](np.zeros(1))
    assert caught.value.code is Code.UNINITIALISED_READ


def test_grid_barrier() -> None:
    @cpu.kernel
    def together(x, y):
        i = cpu.grid(1)
        x[i] = i
        cpu.cg.this_grid().sync()
        y[i] = x[x.size - 1 - i]

    x, y = np.zeros(24), np.zeros(24)
    together[3, 8](x, y)
    assert y.tolist() == list(range(23, -1, -1))


# Numbers


def test_math_stays_in_the_type_of_the_argument() -> None:
    @cpu.kernel
    def types(x, out):
        y = math.sin(x[0]) + math.sqrt(x[0]) ** 2
        out[0] = y.dtype == x.dtype

    out = np.zeros(1, np.int32)
    types[1, 1](np.ones(1, f32), out)
    assert out[0] == 1


def test_nothing_raises_for_its_numbers() -> None:
    @cpu.kernel
    def edges(zero, out, i):
        out[0] = 1 / zero[0]
        out[1] = math.sqrt(zero[0] - 1)
        out[2] = math.log(zero[0])
        i[0] = i[0] // i[1]
        i[2] = i[2] + 1
        i[3] = int(zero[0] + 2.75)

    out, i = np.zeros(3), np.array([5, 0, 2**31 - 1, 0], np.int32)
    edges[1, 1](np.zeros(1), out, i)
    assert out[0] == np.inf and np.isnan(out[1]) and out[2] == -np.inf
    assert i.tolist() == [0, 0, -(2**31), 2]


def test_print_goes_through_python(capsys: pytest.CaptureFixture[str]) -> None:
    @cpu.kernel
    def says(x):
        print("thread", cpu.grid(1), x[cpu.grid(1)])

    says[2, 2](np.arange(4))
    assert capsys.readouterr().out == "thread 0 0\nthread 1 1\nthread 2 2\nthread 3 3\n"


def test_errors_on_several_threads_of_the_pool() -> None:
    @cpu.kernel
    def sometimes(x):
        i = cpu.grid(1)
        if x[i] == 1:
            raise ZeroDivisionError(f"at {i}")

    x = np.zeros(64 * 500, np.int32)
    sometimes[500, 64](x)
    x[[9000, 20000]] = 1
    with pytest.raises(ZeroDivisionError, match="at (9000|20000)"):
        sometimes[500, 64](x)


# Arrays on the device


@pytest.mark.parametrize("debug", [False, True])
def test_device_arrays(debug: bool) -> None:
    @cpu.kernel(debug=debug)
    def double(x):
        i, j = cpu.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            x[i, j] *= 2

    host = np.arange(12, dtype=f32).reshape(3, 4)
    there = cpu.to_device(host[:, ::-1])
    assert there.shape == (3, 4) and there.dtype == f32 and len(there) == 3 and there.ndim == 2
    double[1, (4, 4)](there)
    out = np.zeros((4, 3), f32)
    assert there.copy_to_host(out.T) is not None
    assert np.array_equal(out.T, 2 * host[:, ::-1])
    like = cpu.device_array_like(there)
    like.copy_to_device(host)
    double[1, (4, 4)](like)
    assert np.array_equal(np.asarray(like), 2 * host) and like[1, 2] == 12
    empty = cpu.device_array((0, 4), np.int8)
    assert empty.copy_to_host().shape == (0, 4)
    with pytest.raises(ValueError, match="shape"):
        like.copy_to_device(host.T)
    with pytest.raises(ValueError, match="negative"):
        cpu.device_array(-1)


def test_streams_and_events() -> None:
    stream, event = cpu.stream(), cpu.event()
    x = np.zeros(32)
    add_one[1, 32, stream](x)
    event.record(stream)
    event.wait(stream)
    stream.synchronize()
    cpu.synchronize()
    add_one[1, 32, 0](x)
    assert (x == 2).all()


# The cache

_CACHED = """
import sys
import numpy as np
import quadrants as qd

WEIGHTS = np.array([1, 2, 3], np.float32)
SCALE = {scale}

@qd.func
def scaled(v):
    return v * SCALE

@qd.cpu.kernel
def k(x):
    tile = qd.cpu.shared.array(32, qd.f32)
    t = qd.cpu.threadIdx.x
    tile[t] = scaled(x[t]) + WEIGHTS[t % 3]
    qd.cpu.syncthreads()
    x[t] = tile[31 - t]

x = np.arange(32, dtype=np.float32)
k[1, 32](x)
print(x[0], "quadrants.infer" in sys.modules)
"""


def test_kernels_are_kept_on_disk(tmp_path) -> None:
    file = tmp_path / "program.py"
    environment = {**os.environ, "QUADRANTS_CACHE_DIR": str(tmp_path / "cache")}

    def run(scale: float) -> str:
        file.write_text(_CACHED.format(scale=scale))
        done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=environment, check=True)
        return done.stdout.strip()

    assert run(3.0) == "95.0 True"
    assert run(3.0) == "95.0 False"
    assert run(2.0) == "64.0 True"
    assert run(3.0) == "95.0 False"


def test_complex_arrays() -> None:
    @cpu.kernel
    def rotate(z):
        t = cpu.threadIdx.x
        held = z[t] * 1j
        cpu.syncthreads()
        z[31 - t] = held

    z = np.arange(32) + 1j * np.arange(32)[::-1]
    expected = (z * 1j)[::-1]
    rotate[1, 32](z)
    assert np.array_equal(z, expected)

    @cpu.kernel
    def scale(z, factor):
        z[0] *= factor

    with pytest.raises(qd.CompileError, match="cannot take factor of the type c128"):
        scale[1, 1](z, 1j)


def test_waiting_for_another_block() -> None:
    @cpu.kernel
    def waits(flag, out):
        if cpu.blockIdx.x == 0:
            out[0] = 5
            cpu.threadfence()
            cpu.atomic.exch(flag, 0, 1)
        else:
            while cpu.ldcv(flag, 0) == 0:
                pass
            out[cpu.blockIdx.x] = out[0] + 1

    flag, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
    waits[64, 1](flag, out)
    assert out.tolist() == [5] + [6] * 63
