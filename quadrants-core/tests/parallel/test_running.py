"""Parallel loops in a process: exceptions, signals, threads, child processes, memory, calls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.host.symbols import live_blocks

HERE = Path(__file__)


@qd.njit(parallel=True)
def inverse(x, out):
    for i in qd.prange(len(x)):
        out[i] = 1.0 / x[i] if x[i] != 0 else np.inf
        if x[i] < 0.0:
            raise ValueError("negative", i)


@qd.njit(parallel=True)
def checked(v):
    if v < 0:
        raise ValueError("negative")
    return v + 1


@qd.njit(parallel=True)
def through_calls(x, out):
    for i in qd.prange(len(x)):
        out[i] = checked(x[i])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_exception_wins(threads: int) -> None:
    """Whichever chunk fails first in time, the exception is that of the first turn."""
    qd.set_num_threads(threads)
    rng = np.random.default_rng(threads)
    for _ in range(200):
        x = np.ones(2000)
        bad = np.sort(rng.choice(2000, 7, replace=False))
        x[bad] = -1.0
        with pytest.raises(ValueError) as caught:
            inverse(x, np.zeros(2000))
        assert caught.value.args == ("negative", bad[0])


def test_exceptions_have_the_line_of_the_body() -> None:
    x = np.ones(3000)
    x[2900] = -1
    for function, names in ((inverse, ["inverse"]), (through_calls, ["through_calls", "checked"])):
        with pytest.raises(ValueError) as caught:
            function(x, np.zeros(3000))
        frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.name in names]
        assert [frame.name for frame in frames] == names
        assert "raise ValueError" in (frames[-1].line or "")
        if len(names) > 1:
            assert frames[0].line == "out[i] = checked(x[i])"


def test_index_errors() -> None:
    @qd.njit(parallel=True)
    def gather(x, index, out):
        for i in qd.prange(len(index)):
            out[i] = x[index[i]]

    index = np.arange(1000) % 10
    out = np.zeros(1000)
    gather(np.arange(10.0), index, out)
    np.testing.assert_array_equal(out, index)
    index[[400, 999]] = 11, 12
    with pytest.raises(IndexError, match="index 11 is out of bounds"):
        gather(np.arange(10.0), index, out)


def test_handlers_around_and_inside() -> None:
    @qd.njit(parallel=True)
    def around(x, out):
        try:
            for i in qd.prange(len(x)):
                out[i] = checked(x[i])
        except ValueError:
            return -1
        return 1

    @qd.njit(parallel=True)
    def inside(x, out):
        bad = 0
        for i in qd.prange(len(x)):
            try:
                out[i] = checked(x[i])
            except ValueError:
                bad += 1
        return bad

    x, out = np.ones(500), np.zeros(500)
    assert around(x, out) == 1 and inside(x, out) == 0
    x[::7] = -1
    assert around(x, out) == -1
    assert inside(x, out) == len(x[::7])
    np.testing.assert_array_equal(out[x > 0], 2.0)


def test_memory_of_turns() -> None:
    """Arrays that turns allocate are freed, also where they raise; arrays that they share keep their references."""

    @qd.njit(parallel=True)
    def rows(x, out, bad):
        for i in qd.prange(len(out)):
            row = x[i] * 2.0
            other = np.zeros(i % 7 + 20)
            if i == bad:
                raise ValueError("bad")
            out[i] = row.sum() + other.sum()

    x = np.random.default_rng(0).standard_normal((600, 5))
    out = np.zeros(600)
    before = live_blocks()
    for _ in range(20):
        rows(x, out, -1)
        np.testing.assert_allclose(out, (x * 2).sum(axis=1))
        with pytest.raises(ValueError):
            rows(x, out, 300)
    assert live_blocks() == before


def test_results_that_were_filled_in_parallel() -> None:
    @qd.njit(parallel=True)
    def table(n):
        made = np.empty((n, 2))
        for i in range(n):
            made[i, 0] = i
            made[i, 1] = -i
        return made

    before = live_blocks()
    for _ in range(10):
        found = table(700)
    np.testing.assert_array_equal(found, np.stack([np.arange(700.0), -np.arange(700.0)], 1))
    del found
    assert live_blocks() == before


def test_recursion_in_workers() -> None:
    @qd.njit(parallel=True)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    @qd.njit(parallel=True)
    def many(out):
        for i in qd.prange(len(out)):
            out[i] = fib(i % 12)

    out = np.zeros(300, np.int64)
    many(out)
    assert out.tolist() == [fib(i % 12) for i in range(300)]

    @qd.njit(parallel=True)
    def endless(n):
        return 0 if n < 0 else endless(n + 1) + 1

    @qd.njit(parallel=True)
    def deep(out):
        for i in qd.prange(len(out)):
            out[i] = endless(i)

    with pytest.raises(RecursionError):
        deep(out)


def test_regions_in_regions() -> None:
    @qd.njit(parallel=True)
    def inner(x, k):
        s = 0
        for j in qd.prange(len(x)):
            s += x[j] * k
        return s

    @qd.njit(parallel=True)
    def outer(x, out):
        for i in qd.prange(len(out)):
            out[i] = inner(x, i)
            for j in qd.prange(3):
                out[i] += j

    x, out = np.arange(400), np.zeros(100, np.int64)
    for _ in range(20):
        outer(x, out)
        np.testing.assert_array_equal(out, x.sum() * np.arange(100) + 3)


def test_many_threads_at_once() -> None:
    @qd.njit(nogil=True, parallel=True)
    def free(x):
        s = 0
        for i in qd.prange(len(x)):
            s += x[i]
        return s

    @qd.njit(parallel=True)
    def held(x):
        s = 0
        for i in qd.prange(len(x)):
            s += x[i]
        return s

    x = np.arange(3000)
    expected, wrong = int(x.sum()), []
    assert free(x) == held(x) == expected

    def work(function: Any) -> None:
        for _ in range(300):
            if function(x) != expected:
                wrong.append(function)

    runners = [threading.Thread(target=work, args=(f,)) for f in (free, held) * 3]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert not wrong


def test_other_threads_run_while_a_region_waits() -> None:
    """The GIL is given up while the owner of a region waits for its workers."""

    @qd.njit(parallel=True)
    def long(n, turns):
        s = 0.0
        for i in qd.prange(n):
            t = 0.0
            for j in range(turns):
                t += np.sqrt(j * 0.5) if j % 3 else i
            s += t
        return s

    long(3, 10)
    qd.set_num_threads(2)
    count, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        long(3, 10_000_000)
    finally:
        stop.set()
        ticker.join()
    assert count[0] > 0


_INTERRUPTED = """
import os, signal
import numpy as np, quadrants as qd
os.environ["QUADRANTS_PARALLEL_WORK"] = "0"
qd.set_num_threads({threads})

@qd.njit(nogil={nogil}, parallel=True)
def spin(n, turns):
    s = 0
    for i in qd.prange(n):
        t = i
        for j in range(turns):
            t = (t * 31 + j) % 1000003
        s += t
    return s

spin(8, 10)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    spin(10**7, 10**4)
except KeyboardInterrupt as error:
    import traceback
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    print("interrupted", "spin" in names)
assert spin(8, 1000) == spin.py_func(8, 1000)  # the pool goes on
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers here")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("nogil", [False, True])
def test_control_c_ends_a_region(threads: int, nogil: bool) -> None:
    program = _INTERRUPTED.format(threads=threads, nogil=nogil)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["interrupted", "True"] or (nogil and done.stdout.startswith("interrupted"))


_FORKED = """
import multiprocessing, os
import numpy as np, quadrants as qd
os.environ["QUADRANTS_PARALLEL_WORK"] = "0"
qd.set_num_threads(3)

@qd.njit(parallel=True)
def total(x):
    s = 0
    for i in qd.prange(len(x)):
        s += x[i]
    return s

def child(n):
    return total(np.arange(n))

if __name__ == "__main__":
    x = np.arange(5000)
    assert total(x) == x.sum()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(child, range(1000, 1020)) == [n * (n - 1) // 2 for n in range(1000, 1020)]
    assert total(x) == x.sum()
    print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_child_processes(tmp_path: Path) -> None:
    program = tmp_path / "forked.py"
    program.write_text(_FORKED)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "fine", done.stderr


def test_code_comes_from_the_cache(tmp_path: Path) -> None:
    """A process with a warm cache runs parallel code without LLVM."""
    program = tmp_path / "cached.py"
    program.write_text(
        "import sys\nimport numpy as np\nimport quadrants as qd\n"
        "@qd.njit(parallel=True)\ndef f(x):\n    s = 0\n    for i in qd.prange(len(x)):\n        s += x[i]\n    return s\n"
        "assert f(np.arange(10**6)) == 499999500000\nprint('llvmlite' in sys.modules)\n"
    )
    environment = {**os.environ, "QUADRANTS_CACHE_DIR": str(tmp_path / "cache"), "QUADRANTS_PARALLEL_WORK": "1000"}
    runs = [
        subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100, env=environment)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["True", "False"], runs[-1].stderr


def test_the_pool_is_not_loaded_by_serial_code() -> None:
    program = (
        "import sys\nimport numpy as np\nimport quadrants as qd\n"
        "@qd.njit\ndef f(x):\n    s = 0\n    for i in range(len(x)):\n        s += x[i]\n    return s\n"
        "f(np.arange(9))\nprint('quadrants.host.threads' in sys.modules)\n"
    )
    path = HERE.parent
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, cwd=path)
    assert done.stdout.strip() == "False", done.stderr


def test_hidden_arrays_and_globals() -> None:
    assert scaled(np.arange(300.0))[299] == 299.0 * TABLE[299 % 3]


TABLE = np.array([1.0, 2.0, 4.0])


@qd.njit(parallel=True)
def scaled(x):
    out = np.empty_like(x)
    for i in qd.prange(len(x)):
        out[i] = x[i] * TABLE[i % 3]
    return out


def test_printing_stays_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    @qd.njit(parallel=True)
    def show(n):
        for i in qd.prange(n):
            print(i)

    show(300)
    assert capsys.readouterr().out.split() == [str(i) for i in range(300)]
    assert "call" in [r.code for r in show.explain().records]


def test_signals_run_handlers_meanwhile() -> None:
    if not hasattr(signal, "setitimer"):
        pytest.skip("there are no timers here")
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        x = np.arange(200_000)
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            assert count_up(x) == len(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen


@qd.njit(parallel=True)
def count_up(x):
    n = 0
    for i in qd.prange(len(x)):
        if x[i] == i:
            n += 1
    return n
