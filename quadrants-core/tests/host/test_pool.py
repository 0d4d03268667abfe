"""The thread pool by its native interface: every chunk once, in all circumstances."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import quadrants as qd
from quadrants.host import loader, symbols, threads
from quadrants.host.codegen import compile_ir

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the pool has only been run on POSIX systems")

#: The frame: stop word, then: 8 a nested count, 16 where to fail, 24 with which status; from 64 a counter for each chunk.
_TEXT = """
declare i32 @qd_pool_run(ptr, ptr, i64, i64, i64, ptr)

define i32 @count(ptr %frame, i64 %lo, i64 %hi, i32 %worker) {
entry:
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%i1, %loop]
  %bytes = shl i64 %i, 3
  %base = getelementptr i8, ptr %frame, i64 %bytes
  %at = getelementptr i8, ptr %base, i64 64
  %old = atomicrmw add ptr %at, i64 1 seq_cst
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %hi
  br i1 %more, label %loop, label %done
done:
  %fail.at = getelementptr i8, ptr %frame, i64 16
  %fail = load i64, ptr %fail.at
  %below = icmp sle i64 %lo, %fail
  %above = icmp slt i64 %fail, %hi
  %fails = and i1 %below, %above
  %status.at = getelementptr i8, ptr %frame, i64 24
  %status = load i32, ptr %status.at
  %result = select i1 %fails, i32 %status, i32 0
  ret i32 %result
}

define i32 @nested(ptr %frame, i64 %lo, i64 %hi, i32 %worker) {
  %n.at = getelementptr i8, ptr %frame, i64 8
  %n = load i64, ptr %n.at
  %status = call i32 @qd_pool_run(ptr @count, ptr %frame, i64 %n, i64 3, i64 0, ptr null)
  ret i32 %status
}

define i32 @run(ptr %fn, ptr %frame, i64 %n, i64 %grain, i64 %work) {
  %status = call i32 @qd_pool_run(ptr %fn, ptr %frame, i64 %n, i64 %grain, i64 %work, ptr null)
  ret i32 %status
}
"""


@functools.cache
def _native() -> tuple[dict[str, int], ctypes._FuncPointer]:
    found = loader.load(compile_ir(_TEXT).object_bytes, symbols.resolve)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 3)
    return found, prototype(found["run"])


class Frame:
    """A frame with a counter for each index."""

    def __init__(self, size: int, *, nested: int = 0, fail: int = -1, status: int = 0) -> None:
        self.words = (ctypes.c_int64 * (8 + size))(0, nested, fail, status)

    def run(self, function: str, n: int, grain: int, work: int = 0) -> int:
        found, run = _native()
        return int(run(found[function], ctypes.addressof(self.words), n, grain, work))

    @property
    def counts(self) -> list[int]:
        return list(self.words[8:])

    @property
    def stopped(self) -> bool:
        return bool(self.words[0])


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = qd.get_num_threads()
    yield
    qd.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 33])
@pytest.mark.parametrize(("n", "grain"), [(0, 1), (1, 1), (2, 1), (7, 3), (64, 1), (1000, 7), (1000, 2000)])
def test_every_index_once(count: int, n: int, grain: int) -> None:
    qd.set_num_threads(count)
    for work in (0, 1, 10**9):
        for turn in range(1, 20):
            frame = Frame(n)
            for _ in range(turn):
                assert frame.run("count", n, grain, work) == 0
            assert frame.counts == [turn] * n


def test_a_grain_below_one_is_one() -> None:
    frame = Frame(10)
    assert frame.run("count", 10, 0) == 0
    assert frame.run("count", 10, -5) == 0
    assert frame.counts == [2] * 10
    assert frame.run("count", -3, 1) == 0


@pytest.mark.parametrize("count", [1, 2, 5])
def test_regions_inside_chunks(count: int) -> None:
    qd.set_num_threads(count)
    for _ in range(50):
        frame = Frame(20, nested=20)
        assert frame.run("nested", 30, 1) == 0
        assert frame.counts == [30] * 20


def test_regions_of_several_threads() -> None:
    qd.set_num_threads(3)
    frames = [Frame(50) for _ in range(6)]

    def work(frame: Frame) -> None:
        for _ in range(500):
            assert frame.run("count", 50, 4) == 0

    runners = [threading.Thread(target=work, args=(frame,)) for frame in frames]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert all(frame.counts == [500] * 50 for frame in frames)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_failing_chunk_is_the_last_to_begin(count: int) -> None:
    qd.set_num_threads(count)
    for status in (1, 7, -1):
        for _ in range(100):
            frame = Frame(10_000, fail=35, status=status)
            assert frame.run("count", 10_000, 10) == status
            counts = frame.counts
            assert counts[:40] == [1] * 40  # all chunks before it were begun, and ran to their end
            assert counts[9_990:] == [0] * 10  # the last was not
            assert max(counts) == 1
            assert frame.stopped == (status < 0 and count > 1)


def test_more_regions_than_slots() -> None:
    """Sixty-four regions at a time share workers; the others run where they were begun."""
    qd.set_num_threads(2)
    frames = [Frame(8) for _ in range(100)]
    barrier = threading.Barrier(len(frames))

    def work(frame: Frame) -> None:
        barrier.wait()
        for _ in range(20):
            frame.run("count", 8, 1)

    runners = [threading.Thread(target=work, args=(frame,)) for frame in frames]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert all(frame.counts == [20] * 8 for frame in frames)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_process_starts_its_own_workers() -> None:
    qd.set_num_threads(3)
    Frame(100).run("count", 100, 1)
    assert threads.pool().started() >= 2
    child = os.fork()
    if child == 0:
        code = 1
        try:
            frame = Frame(100)
            before = threads.pool().started()
            results = [frame.run("count", 100, 1) for _ in range(50)]
            code = 0 if before == 0 and not any(results) and frame.counts == [50] * 100 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    frame = Frame(100)
    assert frame.run("count", 100, 1) == 0
    assert frame.counts == [1] * 100


def test_workers_take_no_signals() -> None:
    """A timer's signals all arrive in the main thread, while workers run."""
    program = """
import signal, time, sys
sys.path[:0] = {path!r}
from test_pool import Frame
import quadrants as qd
qd.set_num_threads(4)
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
end = time.monotonic() + 0.5
frame = Frame(64)
turns = 0
while time.monotonic() < end:
    assert frame.run("count", 64, 1) == 0
    turns += 1
signal.setitimer(signal.ITIMER_REAL, 0, 0)
assert frame.counts == [turns] * 64
assert seen
"""
    text = program.format(path=[os.path.dirname(__file__)])
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)


def test_the_process_ends_while_workers_sleep() -> None:
    here = os.path.dirname(__file__)
    program = f"import sys; sys.path[:0] = [{here!r}]; from test_pool import Frame; Frame(99).run('count', 99, 1)"
    environment = {**os.environ, "QUADRANTS_NUM_THREADS": "5"}
    done = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=environment, capture_output=True)
    assert done.stderr == b""


def test_the_number_of_threads() -> None:
    code = "import quadrants as qd; print(qd.get_num_threads())"

    def asked(**variables: str) -> str:
        environment = {k: v for k, v in os.environ.items() if k != "QUADRANTS_NUM_THREADS"} | variables
        return subprocess.run(
            [sys.executable, "-c", code], check=True, timeout=60, env=environment, capture_output=True, text=True
        ).stdout.strip()

    assert asked(QUADRANTS_NUM_THREADS="3") == "3"
    if hasattr(os, "sched_getaffinity"):
        assert asked() == str(len(os.sched_getaffinity(0)))
        cpu = min(os.sched_getaffinity(0))
        pinned = subprocess.run(
            [sys.executable, "-c", f"import os; os.sched_setaffinity(0, [{cpu}]); {code}"],
            check=True,
            timeout=60,
            env={k: v for k, v in os.environ.items() if k != "QUADRANTS_NUM_THREADS"},
            capture_output=True,
            text=True,
        )
        assert pinned.stdout.strip() == "1"


def test_impossible_numbers_of_threads() -> None:
    for bad in (0, -1, 257):
        with pytest.raises(qd.QuadrantsError, match=r"the number of threads is from 1 to 256"):
            qd.set_num_threads(bad)
    for wrong in (1.5, "2", None, True):
        with pytest.raises(TypeError, match="the number of threads is an int"):
            qd.set_num_threads(wrong)  # type: ignore[arg-type]
