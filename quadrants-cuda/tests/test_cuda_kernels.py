"""Kernels written in Python on the stand-in device: what goes beyond the golden programs of the conformance suite."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Iterator

import numpy as np
import pytest
from cuda_harness import SimulatedBackend, first, needed

import quadrants as qd
from quadrants.backend import registry
from quadrants.backend.arguments import DeviceArray, pack
from quadrants.backend.contract import LaunchShape
from quadrants.diagnostics import CompileError
from quadrants.ir.parser import parse_module


@pytest.fixture(autouse=True)
def on_device() -> Iterator[SimulatedBackend]:
    """Kernels run on the stand-in; every block of memory is given back."""
    found = needed()
    instances = registry._REGISTRY._instances
    before, instances["cuda"] = instances.get("cuda"), found
    used = found.memory(first(found)).used
    yield found
    gc.collect()
    assert found.memory(first(found)).used == used
    del instances["cuda"]
    if before is not None:
        instances["cuda"] = before


@pytest.fixture
def ns(on_device: SimulatedBackend):  # type: ignore[no-untyped-def]
    return on_device.namespace


def test_prints_come_with_their_format(ns, capsys: pytest.CaptureFixture[str]) -> None:
    @ns.kernel
    def shout(x):
        i = ns.grid(1)
        if i < 3:
            print("thread", i, x[i], x[i] > 0.6, f"{i:03d}", sep="-", end=";\n")

    shout[1, 4](np.arange(4, dtype=np.float32) / 2)
    ns.synchronize()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "thread-0-0.0-False-000;",
        "thread-1-0.5-False-001;",
        "thread-2-1.0-True-002;",
    ]


def test_more_prints_than_there_is_room_for(ns, capsys: pytest.CaptureFixture[str]) -> None:
    @ns.kernel
    def shout(x):
        print(ns.grid(1))
        x[0] = 1

    shout[12, 100](np.zeros(1, np.int32))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1025 and "176 lines more of" in lines[-1]


def test_an_exception_has_the_line_and_the_thread(ns) -> None:
    @ns.kernel
    def guard(x, limit):
        i = ns.grid(1)
        if x[i] > limit:
            raise ValueError("too large", x[i])
        x[i] = 0

    with pytest.raises(ValueError, match="too large") as caught:
        guard[3, 4](np.arange(12, dtype=np.float64), 9.5)
    assert caught.value.args[0] == "too large (in block (2, 0, 0), thread (2, 0, 0) of " + guard.__qualname__ + "())"
    assert caught.value.args[1] == 10.0
    assert "raise ValueError" in "".join(traceback.format_tb(caught.value.__traceback__))


def test_an_assertion_in_a_function_that_is_called(ns) -> None:
    def root(v):
        assert v >= 0, f"negative: {v}"
        return v**0.5

    @ns.kernel
    def roots(x):
        i = ns.grid(1)
        x[i] = root(x[i])

    x = np.array([4.0, -1.0, 9.0])
    with pytest.raises(AssertionError, match=r"(?s)negative: -1.0.* \(in block \(0, 0, 0\), thread \(1, 0, 0\)"):
        roots[1, 3](x)
    y = np.array([4.0, 9.0])
    roots[1, 2](y)  # the report of the next launch is empty again
    assert y.tolist() == [2.0, 3.0]


def test_exceptions_are_handled_on_the_device(ns) -> None:
    def checked(v):
        if v < 0:
            raise ValueError("negative", v)
        if v > 100:
            raise KeyError("large")
        return v

    @ns.kernel
    def run(x):
        i = ns.grid(1)
        try:
            x[i] = checked(x[i])
        except ValueError:
            x[i] = -1000
        except KeyError:
            x[i] = 1000

    x = np.array([5, -3, 200, 7], np.int32)
    run[1, 4](x)
    assert x.tolist() == [5, -1000, 1000, 7]


def test_the_first_block_of_a_grid_in_parts_is_not_the_block(ns) -> None:
    @ns.kernel
    def mark(out):
        if ns.blockIdx.y == 70_001 and ns.blockIdx.z == 1:
            out[0] = ns.gridDim.y
            out[1] = ns.gridDim.z

    out = np.zeros(2, np.int32)
    mark[(1, 70_002, 2), 1](out)
    assert out.tolist() == [70_002, 2]


def test_an_argument_block_of_more_words_than_a_kernel_takes(on_device: SimulatedBackend) -> None:
    params = ", ".join(f"%x{i}: array<i64, 3, A>" for i in range(80))
    body = "\n".join(
        f"  %v{i} = load %x{i}, %z, %z, %z {{checked=false, wrap=false}}\n"
        f"  %s{i} = add {'%zero' if not i else f'%s{i - 1}'}, %v{i}"
        for i in range(80)
    )
    text = f"""qir 1
entry @k

func @k({params}) -> () from "k.py" "k" 1 with {{kernel=true, level="device"}} {{
  %z = const 0 : i64
  %zero = const 0 : i64
{body}
  store %s79, %x0, %z, %z, %z {{checked=false, wrap=false}}
  return
}}
"""
    module = parse_module(text)
    device = first(on_device)
    executable = on_device.load(on_device.compile(module, on_device.target_of(device)), device)
    assert executable.facts.indirect
    memory = on_device.memory(device)
    data = np.arange(80, dtype=np.int64)
    at = memory.allocate(data.nbytes)
    memory.copy_in(at, data.data)
    arrays = [DeviceArray(at + 8 * i, (1, 1, 1), (1, 1, 1)) for i in range(80)]
    block = pack([p.type for p in module.functions["k"].params], arrays)
    executable.launch("k", block, LaunchShape((1, 1, 1), (1, 1, 1)))
    memory.copy_out(data.data, at)
    assert data[0] == sum(range(80))
    memory.free(at)
    executable.close()


def test_kernels_in_streams_with_device_arrays(ns) -> None:
    @ns.kernel
    def twice(x):
        i = ns.grid(1)
        x[i] *= 2

    stream = ns.stream()
    start = ns.event()
    start.record(stream)
    data = ns.to_device(np.arange(8.0))
    twice[2, 4, stream](data)
    twice[2, 4, stream](data)
    stream.synchronize()
    assert data.copy_to_host().tolist() == (np.arange(8.0) * 4).tolist()
    del data


def test_large_blocks_and_three_axes(ns) -> None:
    @ns.kernel
    def place(out):
        x, y, z = ns.threadIdx.x, ns.threadIdx.y, ns.threadIdx.z
        out[z, y, x] = x + 10 * y + 100 * z + 1000 * ns.laneid

    out = np.zeros((8, 8, 16), np.int32)
    place[1, (16, 8, 8)](out)
    z, y, x = np.indices(out.shape)
    lanes = (x + 16 * y + 128 * z) % 32
    assert (out == x + 10 * y + 100 * z + 1000 * lanes).all()


@pytest.mark.parametrize("name", ["sin", "exp", "log1p", "tanh", "erf", "lgamma"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elementary_functions(ns, name: str, dtype: type) -> None:
    import math

    function = getattr(math, name)

    @ns.kernel
    def apply(x):
        i = ns.grid(1)
        x[i] = function(x[i])

    x = np.linspace(0.1, 20.0, 64).astype(dtype)
    expected = np.array([function(float(v)) for v in x])
    apply[2, 32](x)
    assert np.allclose(x, expected, rtol=8 * np.finfo(dtype).eps, atol=8 * np.finfo(dtype).eps)


def test_threads_that_have_left_do_not_hold_up_a_barrier(ns) -> None:
    @ns.kernel
    def part(x):
        if ns.threadIdx.x < 3:
            ns.syncthreads()
            x[0] = ns.syncthreads_count(True)
        else:
            while x[1] == 0:
                ns.threadfence()

    x = np.zeros(2, np.int32)
    x[1] = 1
    part[1, 4](x)
    assert x[0] == 3


def test_arrays_that_need_a_heap(ns) -> None:
    @ns.kernel
    def make(x, n):
        y = np.zeros(n)
        x[0] = y.sum()

    with pytest.raises(CompileError, match="cannot run on a CUDA device"):
        make[1, 1](np.zeros(1), 4)


def test_debug_runs_in_the_interpreter(ns) -> None:
    @ns.kernel(debug=True)
    def over(x):
        x[ns.threadIdx.x + 2] = 1.0

    with pytest.raises(IndexError, match=r"index 4 .* thread \(2, 0, 0\)"):
        over[1, 4](np.zeros(4))


def test_device_functions_of_all_kinds(ns) -> None:
    @qd.njit
    def shared(v):
        return v + 1

    @ns.func
    def own(v):
        return shared(v) * 2

    @ns.kernel
    def run(x):
        x[ns.grid(1)] = own(x[ns.grid(1)])

    x = np.arange(4, dtype=np.int64)
    run[1, 4](x)
    assert x.tolist() == [2, 4, 6, 8]


def test_lanes_that_parted_are_together_again(ns) -> None:
    @ns.kernel
    def sums(out):
        i = ns.grid(1)
        v = 0
        for turn in range(i % 5 + 3):
            if (i + turn) % 3 == 0:
                v += ns.subgroup.reduce_all_add(1)
            elif (i + turn) % 3 == 1:
                for _ in range(i % 2 + 1):
                    v += 100 * ns.subgroup.reduce_all_add(1)
            else:
                continue
            v += 10000 * ns.subgroup.reduce_all_add(1)
        out[i] = v

    out = np.zeros(64, np.int64)
    sums[1, 64](out)
    for group in range(2):
        lanes = np.arange(32) + 32 * group
        expected = np.zeros(32, np.int64)
        for turn in range(7):
            here = lanes % 5 + 3 > turn
            first, second = here & ((lanes + turn) % 3 == 0), here & ((lanes + turn) % 3 == 1)
            expected[first] += first.sum()
            expected[second] += 100 * second.sum()
            more = second & (lanes % 2 == 1)
            expected[more] += 100 * more.sum()
            expected[first | second] += 10000 * (first | second).sum()
        assert out[lanes].tolist() == expected.tolist()


def test_lanes_meet_in_functions_and_after_an_early_return(ns) -> None:
    def share(v, odd):
        if odd:
            v += ns.subgroup.reduce_all_add(1)
        else:
            v -= 1
        return v + 1000 * ns.subgroup.reduce_all_add(1)

    @ns.kernel
    def run(out, n):
        i = ns.grid(1)
        if i >= n:
            return
        out[i] = share(0, i % 2 == 1)

    out = np.zeros(64, np.int64)
    run[1, 64](out, 44)
    odd = np.arange(64) % 2 == 1
    expected = np.where(odd, 32016, 31999)
    expected[32:44] = np.where(odd[32:44], 12006, 11999)
    expected[44:] = 0
    assert out.tolist() == expected.tolist()
