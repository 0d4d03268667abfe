"""Kernels written in Python on Vulkan devices: what goes beyond the golden programs of the conformance suite."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from vulkan_harness import SWIFTSHADER, Bench

import quadrants as qd
from quadrants.backend import registry
from quadrants.diagnostics import CompileError

ns = registry.get_backend("vulkan").namespace


@pytest.fixture(autouse=True)
def on_device(device: Bench) -> Iterator[Bench]:
    """Kernels run on the device; what the validation layer says fails the test."""
    instances = registry._REGISTRY._instances
    before, instances["vulkan"] = instances["vulkan"], device.backend
    yield device
    instances["vulkan"] = before
    device.check()


def test_prints_come_in_order_with_their_format(capsys: pytest.CaptureFixture[str]) -> None:
    @ns.kernel
    def shout(x):
        i = ns.grid(1)
        if i < 3:
            print("thread", i, x[i], f"{i:03d}", sep="-", end=";\n")

    shout[1, 4](np.arange(4, dtype=np.float32) / 2)
    ns.synchronize()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "thread-0-0.0-000;",
        "thread-1-0.5-001;",
        "thread-2-1.0-002;",
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


def test_prints_and_errors_come_at_the_latest_when_the_process_ends(lavapipe: Bench) -> None:
    program = """
import numpy as np
import quadrants as qd

@qd.vulkan.kernel
def shout(x):
    print("heard", x[0])
    assert x[0] > 7, "too small"

shout[1, 1](np.array([5]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "heard 5\n"
    assert "AssertionError: too small" in done.stderr


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
        floats = ns.shared.array(0, np.float32)[:8]
        bytes_ = ns.shared.array(0, np.uint8)[32:40]
        floats[t] = x[t]
        bytes_[t] = t + 250
        ns.syncthreads()
        out[t] = floats[7 - t] + bytes_[7 - t]

    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    cut[1, 8, 0, 40](x, out)
    t = 7 - np.arange(8)
    assert out.tolist() == (x[t] + (t + 250) % 256).tolist()


def test_strided_and_read_only_arrays() -> None:
    @ns.kernel
    def add(a, b, out):
        i, j = ns.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = a[i, j] + b[j, i]

    a = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    b = np.arange(12, dtype=np.float32).reshape(3, 4)
    b.flags.writeable = False
    out = np.zeros((4, 3), np.float32, order="F")
    add[(1, 1), (4, 4)](a, b, out)
    assert np.array_equal(out, a + b.T)


def test_views_of_one_array_overlap_on_the_device() -> None:
    @ns.kernel
    def shift(a, b, c):
        i = ns.grid(1)
        v = b[i]
        ns.syncthreads()
        a[i] = v + c[0]

    x = np.arange(8, dtype=np.float32)
    shift[1, 7](x[1:], x[:-1], x[::-1])
    assert x.tolist() == [0, 7, 8, 9, 10, 11, 12, 13]
    y = np.arange(12, dtype=np.int16).reshape(3, 4)
    shift[1, 4](y[0], y[2], y[1])
    assert y.tolist() == [[12, 13, 14, 15], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_views_of_other_types_stay_aligned() -> None:
    @ns.kernel
    def add(longs, words):
        i = ns.grid(1)
        longs[i] += words[2 * i + 1]

    x = np.arange(10, dtype=np.int64)
    words = x.view(np.int32)
    words[1::2] = 5
    expected = x.copy()
    expected[1:] += 5
    add[1, 9](x[1:], words[2:])
    assert x.tolist() == expected.tolist()


def test_python_floats_are_as_wide_as_what_they_meet() -> None:
    @ns.kernel
    def scale(x, factor):
        i = ns.grid(1)
        x[i] = x[i] * factor + 0.1

    x = np.arange(5, dtype=np.float32)
    expected = x * np.float32(1 / 3) + np.float32(0.1)
    scale[1, 5](x, 1 / 3)
    assert np.allclose(x, expected, rtol=2e-7)


def test_a_forked_process_is_told_so(lavapipe: Bench) -> None:
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
    assert "was opened before this process was forked" in os.read(reading, 1000).decode()


def test_loops_that_a_driver_cuts_short_are_errors(device: Bench) -> None:
    @ns.kernel
    def count(x, n, m):
        c = 0
        for _ in range(n):
            k = 0
            while k < m:
                k += 1
                c += 1
        x[ns.grid(1)] = c

    x = np.zeros(4, np.int64)
    count[1, 4](x, 30, 1000)
    assert x.tolist() == [30_000] * 4
    if device.name == "lavapipe":
        with pytest.raises(RuntimeError, match="lets a thread take 65,535 turns"):
            count[1, 4](x, 300, 10_000)
    else:
        count[1, 4](x, 300, 10_000)
        assert x.tolist() == [3_000_000] * 4


def test_ctrl_c_ends_the_wait_for_a_kernel(on_device: Bench) -> None:
    """On SwiftShader, which runs a loop for as long as it takes."""
    if on_device.name != "swiftshader":
        return
    manifest = str(Path(SWIFTSHADER).with_name("vk_swiftshader_icd.json"))
    environment = {**os.environ, "VK_ICD_FILENAMES": manifest, "VK_DRIVER_FILES": manifest}
    program = """
import os, signal, threading, time
import numpy as np
import quadrants as qd

@qd.vulkan.kernel
def endless(x):
    while x[0] == 0:
        x[1] += 1

threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    endless[1, 1](np.zeros(2, np.int32))
except KeyboardInterrupt:
    print("interrupted", flush=True)
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_recursion_is_refused() -> None:
    @qd.njit
    def down(n):
        return 0 if n == 0 else down(n - 1)

    @ns.kernel
    def call(x):
        x[0] = down(x[0])

    with pytest.raises(CompileError, match="QD407.*down"):
        call[1, 1](np.array([3]))


def test_launches_from_several_threads() -> None:
    @ns.kernel
    def add(x, k):
        x[ns.grid(1)] += k

    def work(k: int) -> None:
        for _ in range(30):
            add[2, 8](arrays[k], k)

    arrays = [np.zeros(16, np.int32) for _ in range(4)]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [array.tolist() for array in arrays] == [[30 * k] * 16 for k in range(4)]
