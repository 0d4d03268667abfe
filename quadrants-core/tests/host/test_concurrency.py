"""Threads and processes: calls while chains change, kernels without the GIL, forks, stacks of threads."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from host.native import Dispatcher, identity, install, load_kernel, make

from quadrants.host.layout import native_call_supported
from quadrants.host.native_type import Retry, uninstall
from quadrants.host.spec import GlobalDependency
from quadrants.lower import abi
from quadrants.types import F64, PYFLOAT, PYINT, ArrayType, OptionalType, TupleType

A1 = ArrayType(F64, 1)


def in_threads(count: int, work: Any) -> list[Any]:
    """The results of `work(index)` in so many threads that start together."""
    barrier = threading.Barrier(count)

    def run(index: int) -> Any:
        barrier.wait()
        return work(index)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(count) as pool:
            return [future.result(timeout=60) for future in [pool.submit(run, i) for i in range(count)]]
    finally:
        sys.setswitchinterval(switch)


def test_calls_while_the_chain_changes() -> None:
    loaded = {type: load_kernel([type], type, identity(type)) for type in (PYFLOAT, PYINT, A1)}
    f: Any = Dispatcher(lambda x: 0)
    array = np.arange(3.0)
    stop = threading.Event()

    def change(_index: int) -> int:
        rounds = 0
        while rounds < 20 or not (stop.wait(0) or rounds > 3000):
            for kernel in loaded.values():
                install(f, kernel)
                kernel.revalidate()
            for kernel in loaded.values():
                uninstall(f, kernel)
            rounds += 1
        return rounds

    def call(index: int) -> int:
        if index == 0:
            return change(index)
        try:
            for _ in range(1000):
                for value in (1.5, 7, array):
                    result = f(value)
                    given = result[1] if type(result) is tuple else result
                    assert given is value or given == value
                f.misses.clear()
        finally:
            stop.set()
        return 0

    assert in_threads(4, call)[0] > 0


def test_first_calls_at_the_same_time() -> None:
    lock = threading.Lock()

    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        with lock:
            if not self._entries:
                install(self, load_kernel([PYFLOAT, PYFLOAT], PYFLOAT, "  store double %p1, ptr %r0\n  ret i32 0"))
        return Retry(arguments)

    for _ in range(5):
        f: Any = Dispatcher(lambda x, y=2.5: 0, on_miss)
        results = in_threads(6, lambda index, f=f: (f(1.0), f(y=float(index), x=1.0)))
        assert results == [(2.5, float(index)) for index in range(6)]
        assert len(f._entries) == 1


def test_globals_change_in_another_thread() -> None:
    names: dict[str, object] = {"k": 10**6}
    f: Any = Dispatcher(lambda x: 0)
    loaded = load_kernel(
        [PYFLOAT], PYFLOAT, identity(PYFLOAT), dicts=1, dependencies=[GlobalDependency(names, "k", names["k"])]
    )
    install(f, loaded)

    def work(index: int) -> None:
        for i in range(300):
            if index == 0:
                names["k"] = 10**6 if i % 2 else i
                loaded.revalidate()
            else:
                assert f(1.5) in (1.5, ("missed", 1.5))
                names[f"other{index}"] = i

    in_threads(3, work)
    names["k"] = 5
    assert f(1.5) == ("missed", 1.5)
    names["k"] = int("1000000")
    assert loaded.revalidate() and f(1.5) == 1.5


BUSY = """
  br label %loop
loop:
  %i = phi i64 [0, %head], [%i1, %loop]
  %i1 = add i64 %i, 1
  %flag = load atomic i64, ptr %p1 seq_cst, align 8
  %c = icmp eq i64 %flag, 0
  br i1 %c, label %loop, label %done
done:
  store i64 %i1, ptr %r0
  ret i32 0
"""


def test_without_the_gil_other_threads_run() -> None:
    spin = make([A1], PYINT, "head:" + BUSY.replace("%p1", "%p0").replace("%head", "%head"), nogil=True)
    flag = np.zeros(1)
    result: list[int] = []
    thread = threading.Thread(target=lambda: result.append(spin(flag)))
    thread.start()
    assert thread.is_alive()
    flag[0] = 1.0
    thread.join(60)
    assert result and result[0] > 0


@pytest.mark.skipif(not native_call_supported(), reason="pins are native")
def test_arrays_cannot_be_resized_under_a_kernel() -> None:
    types = TupleType((A1, OptionalType(A1)))
    spin = make([types], PYINT, "head:" + BUSY.replace("%p1", "%p0"), nogil=True)
    flag, other = np.zeros(1), np.zeros(1)
    for arguments in ((flag, other), (flag, None)):
        flag[0] = 0.0
        thread = threading.Thread(target=spin, args=(arguments,))
        thread.start()
        while weakref.getweakrefcount(flag) == 0 and thread.is_alive():
            pass
        for array in arguments:
            if array is not None:
                with pytest.raises(ValueError, match="resize"):
                    array.resize((1 << 20,), refcheck=False)
        flag[0] = 1.0
        thread.join(60)
    del array
    flag.resize((5,), refcheck=False)
    assert flag.shape == (5,)


#: Recurses until the limit of the context; returns how deep it came.
RECURSE = f"""
define internal i64 @down(ptr %ctx, i64 %depth) noinline {{
  %pad = alloca [256 x i8]
  store volatile i8 0, ptr %pad
  %limit.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_STACK_LIMIT}
  %limit = load i64, ptr %limit.at
  %here = ptrtoint ptr %pad to i64
  %low = icmp ult i64 %here, %limit
  br i1 %low, label %stop, label %more
more:
  %next = add i64 %depth, 1
  %r = call i64 @down(ptr %ctx, i64 %next)
  %again = add i64 %r, 0
  store volatile i8 1, ptr %pad
  ret i64 %again
stop:
  ret i64 %depth
}}
"""


def recursing() -> Any:
    body = "  %r = call i64 @down(ptr %ctx, i64 0)\n  store i64 %r, ptr %r0\n  ret i32 0"
    return make([], PYINT, body, extra=RECURSE, recursive=True)


def test_recursion_stops_before_the_stack_ends() -> None:
    f = recursing()
    assert f() > 1000
    before = threading.stack_size()
    depths = []
    try:
        for size in (256 << 10, 1 << 20, 16 << 20):
            threading.stack_size(size)
            thread = threading.Thread(target=lambda: depths.append(f()))
            thread.start()
            thread.join()
    finally:
        threading.stack_size(before)
    assert depths == sorted(depths) and depths[0] > 100 and depths[2] > 8 * depths[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_goes_on() -> None:
    f, deep = make([PYFLOAT], PYFLOAT, identity(PYFLOAT)), recursing()
    parent_depth = deep()

    def child() -> int:
        new = make([PYINT], PYINT, identity(PYINT), function=lambda a, b=1: 0)
        assert new._parameters.names == ("a", "b")
        return int(f(1.5) == 1.5 and f(a=2.5) == 2.5 and abs(deep() - parent_depth) < parent_depth // 2)

    def fork() -> int:
        pid = os.fork()
        if pid == 0:
            os._exit(0 if child() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert fork() == 0
