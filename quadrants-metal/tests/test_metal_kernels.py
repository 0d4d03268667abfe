"""Kernels written in Python on Metal's stand-in: what goes beyond the golden programs of the conformance suite."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from metal_harness import Bench

import quadrants as qd
from quadrants.backend import registry
from quadrants.diagnostics import CompileError

ns = registry.get_backend("metal").namespace


@pytest.fixture(autouse=True)
def on_device(device: Bench) -> Iterator[Bench]:
    """Kernels run on the stand-in."""
    instances = registry._REGISTRY._instances
    before, instances["metal"] = instances["metal"], device.backend
    yield device
    instances["metal"] = before


def test_prints_come_in_order_with_their_format(capsys: pytest.CaptureFixture[str]) -> None:
    @ns.kernel
    def shout(x):
        i = ns.grid(1)
        if i < 3:
            print("thread", i, x[i], f"{i:03d}", 0.25, sep="-", end=";\n")

    shout[1, 4](np.arange(4, dtype=np.float32) / 2)
    ns.synchronize()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "thread-0-0.0-000-0.25;",
        "thread-1-0.5-001-0.25;",
        "thread-2-1.0-002-0.25;",
    ]


def test_more_prints_than_there_is_room_for(capsys: pytest.CaptureFixture[str]) -> None:
    @ns.kernel
    def shout(x):
        print(ns.grid(1))
        x[0] = 1

    shout[12, 100](np.zeros(1, np.int32))
    ns.synchronize()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1025 and "176 lines more of" in lines[-1]


def test_an_exception_has_the_line_and_the_thread() -> None:
    @ns.kernel
    def guard(x, limit):
        i = ns.grid(1)
        if x[i] > limit:
            raise ValueError("too large", x[i])
        x[i] += 1

    x = np.arange(8, dtype=np.int32)
    guard[2, 4](x, 10)
    assert x.tolist() == list(range(1, 9))
    with pytest.raises(ValueError) as caught:
        guard[2, 4](x, 7)
    text, value = caught.value.args
    assert text.startswith("too large (in block (1, 0, 0), thread (3, 0, 0) of ") and value == 8
    assert 'raise ValueError("too large", x[i])' in "".join(traceback.format_exception(caught.value))


def test_an_error_in_a_function_ends_the_thread() -> None:
    def root(x):
        if x < 0:
            raise ValueError("below 0", x)
        return qd.math.sqrt(x) if False else x * 2

    @ns.kernel
    def work(x):
        i = ns.grid(1)
        y = root(x[i])
        x[i] = y

    x = np.array([1, 2, -3, 4], np.int32)
    with pytest.raises(ValueError, match="below 0"):
        work[1, 4](x)


def test_an_assertion_stops_its_thread() -> None:
    @ns.kernel
    def guard(x):
        i = ns.grid(1)
        assert x[i] != 3, "three"
        x[i] = 0

    with pytest.raises(AssertionError, match=r"(?s)three.*\(in block \(0, 0, 0\), thread \(3, 0, 0\) of "):
        guard[1, 6](np.arange(6, dtype=np.int32))


def test_small_arrays_and_library_functions_run_in_threads() -> None:
    def middle(a):
        return a[1, 1]

    @ns.kernel
    def work(x):
        i = ns.grid(1)
        a = np.zeros((2, 3), np.float32)
        b = np.empty(4, np.float32)
        for j in range(3):
            a[1, j] = x[i]
        b[:] = 2
        x[i] = a.sum() + b[1:].sum() + middle(a)

    x = np.arange(6, dtype=np.float32)
    work[1, 6](x)
    assert x.tolist() == [6, 10, 14, 18, 22, 26]


def test_a_function_takes_arrays_of_every_place() -> None:
    def total(a):
        s = a[0]
        for k in range(1, 3):
            s += a[k]
        return s

    @ns.kernel
    def work(x, out):
        i = ns.threadIdx.x
        own = np.empty(3, np.int32)
        mine = ns.local.array(3, np.int32)
        block = ns.shared.array(3, np.int32)
        for k in range(3):
            own[k] = i + k
            mine[k] = 10 * k
            if i == 0:
                block[k] = 100
        ns.syncthreads()
        out[i] = total(x) + total(own) + total(mine) + total(block)

    out = np.zeros(4, np.int32)
    work[1, 4](np.array([1, 2, 3], np.int32), out)
    assert out.tolist() == [6 + 3 * i + 3 + 30 + 300 for i in range(4)]


def test_threads_choose_between_arrays() -> None:
    @ns.kernel
    def swap(x, steps):
        i = ns.threadIdx.x
        a, b = ns.local.array(2, np.int32), ns.local.array(2, np.int32)
        a[0], a[1], b[0], b[1] = x[i], 1, 0, 0
        for _ in range(steps):
            b[0], b[1] = a[1], a[0] + a[1]
            a, b = b, a
        x[i] = a[1]

    x = np.array([0, 1, 2, 5], np.int32)
    swap[1, 4](x, 6)
    assert x.tolist() == [13, 21, 29, 53]


def test_shared_arrays_of_every_type_in_one_block() -> None:
    @ns.kernel
    def mix(x, out):
        t = ns.threadIdx.x
        flags = ns.shared.array(8, np.bool_)
        bytes_ = ns.shared.array(8, np.int8)
        halves = ns.shared.array(8, np.float16)
        words = ns.shared.array((2, 4), np.int32)
        longs = ns.shared.array(8, np.int64)
        flags[t] = x[t] > 3
        bytes_[t] = -x[t]
        halves[t] = x[t] * 0.5
        words[t // 4, t % 4] = x[t] * 1000
        longs[t] = np.int64(x[t]) << 40
        ns.syncthreads()
        o = 7 - t
        out[t] = flags[o] + bytes_[o] + np.int64(halves[o] * 2) + words[o // 4, o % 4] + (longs[o] >> 40)

    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int64)
    mix[1, 8](x, out)
    r = x[::-1].astype(np.int64)
    assert out.tolist() == ((r > 3) - r + r + r * 1000 + r).tolist()


def test_dynamic_memory_is_cut_into_arrays_of_several_types() -> None:
    @ns.kernel
    def cut(x, out):
        t = ns.threadIdx.x
        before = ns.shared.array(3, np.int32)
        before[t % 3] = 0
        floats = ns.shared.array(0, np.float32)[:8]
        bytes_ = ns.shared.array(0, np.uint8)[32:40]
        floats[t] = x[t]
        bytes_[t] = t + 250
        ns.syncthreads()
        out[t] = floats[7 - t] + bytes_[7 - t] + before[0]

    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    cut[1, 8, 0, 40](x, out)
    t = 7 - np.arange(8)
    assert out.tolist() == (x[t] + (t + 250) % 256).tolist()


def test_strided_and_read_only_arrays() -> None:
    @ns.kernel
    def take(a, out):
        i, j = ns.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = a[i, j] + a[-1, -1]

    a = np.arange(48, dtype=np.int16).reshape(6, 8)
    view = a[::-2, 1::3]
    view.flags.writeable = False
    for out in (
        np.zeros(view.shape, np.int16),
        np.zeros(view.shape[::-1], np.int16).T,
        np.zeros((6, 6), np.int16)[::2, ::2],
    ):
        take[(1, 1), (4, 4)](view, out)
        assert out.tolist() == (view + view[-1, -1]).tolist()


def test_complex_numbers_in_a_thread() -> None:
    @ns.kernel
    def escape(re, im, out):
        i = ns.grid(1)
        c = re[i] + im[i] * 1j
        z = c
        n = 0
        while n < 30 and z.real * z.real + z.imag * z.imag <= 4:
            z = z * z + c
            n += 1
        out[i] = n

    re, im = np.linspace(-2, 0.5, 8, dtype=np.float32), np.linspace(-1, 1, 8, dtype=np.float32)
    out = np.zeros(8, np.int32)
    escape[1, 8](re, im, out)

    def steps(a: np.float32, b: np.float32) -> int:
        z, c = np.complex64(complex(a, b)), np.complex64(complex(a, b))
        for n in range(30):
            if z.real * z.real + z.imag * z.imag > 4:
                return n
            z = z * z + c
        return 30

    assert out.tolist() == [steps(a, b) for a, b in zip(re, im)]


def test_recursion_is_refused() -> None:
    @qd.njit
    def down(n):
        return 0 if n == 0 else down(n - 1)

    @ns.kernel
    def call(x):
        x[0] = down(x[0])

    with pytest.raises(CompileError, match="QD407.*down"):
        call[1, 1](np.array([3]))


def test_double_precision_is_refused() -> None:
    @ns.kernel
    def twice(x):
        x[0] = x[0] * 2

    with pytest.raises(CompileError, match="the Metal device cannot run float64") as caught:
        twice[1, 1](np.ones(1))
    assert "float32" in str(caught.value.hint)


def test_an_index_out_of_bounds_in_debug_mode() -> None:
    @ns.kernel(debug=True)
    def shift(x):
        t = ns.threadIdx.x
        x[t + 1] = 1

    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        shift[1, 4](np.zeros(4, np.int32))


def test_functions_give_back_the_arrays_of_their_callers() -> None:
    def larger(a, b):
        spare = np.zeros(2, np.int32)
        spare[0] = a[0]
        return a if spare[0] > b[0] else b

    @ns.kernel
    def work(x):
        i = ns.threadIdx.x
        a, b = ns.local.array(2, np.int32), ns.local.array(2, np.int32)
        a[0], a[1], b[0], b[1] = x[i], 10, 2, 20
        x[i] = larger(a, b)[1]

    x = np.array([0, 1, 3, 5], np.int32)
    work[1, 4](x)
    assert x.tolist() == [20, 20, 10, 10]


def test_a_function_does_not_give_back_an_array_of_its_own() -> None:
    def fresh(i):
        a = ns.local.array(2, np.int32)
        a[0] = i
        return a

    @ns.kernel
    def work(x):
        x[ns.threadIdx.x] = fresh(3)[0]

    with pytest.raises(CompileError, match="a function that gives back an array of its own"):
        work[1, 4](np.zeros(4, np.int32))


def test_prints_and_errors_come_at_the_latest_when_the_process_ends() -> None:
    program = """
import numpy as np
import quadrants as qd
from quadrants.backend import registry
from metal_harness import needed

registry._REGISTRY._instances["metal"] = needed().backend
x = qd.metal.to_device(np.array([5], np.int32))

@qd.metal.kernel
def shout(x):
    print("heard", x[0])
    assert x[0] > 7, "too small"

shout[1, 1](x)
"""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout == "heard 5\n"
    assert "AssertionError: too small" in done.stderr


def test_a_forked_process_is_told_so() -> None:
    @ns.kernel
    def one(x):
        x[0] = 1

    one[1, 1](np.zeros(1, np.int32))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            one[1, 1](np.zeros(1, np.int32))
            os.write(writing, b"it ran")
        except qd.QuadrantsError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert "CPU was opened before this process was forked" in os.read(reading, 1000).decode()


def _cases(count: int) -> Callable[..., None]:
    """A function with a chain of so many cases."""
    lines = ["def choose(x):", "    i = x[0]", "    if i == 0:", "        x[0] = 1"]
    for k in range(1, count):
        lines += [f"    elif i == {k}:", f"        x[0] = {k * k + 1}"]
    names: dict[str, Callable[..., None]] = {}
    exec("\n".join(lines), names)
    return names["choose"]


def test_long_chains_of_cases() -> None:
    x = np.array([150], np.int32)
    ns.kernel(_cases(400))[1, 1](x)
    assert x[0] == 150 * 150 + 1
