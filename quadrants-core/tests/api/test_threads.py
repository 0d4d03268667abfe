"""Concurrent first calls, globals that change meanwhile, forks."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.api import compile as driver
from quadrants.api import jobs as jobs_module
from quadrants.api.jobs import Jobs
from quadrants.diagnostics import Code, QuadrantsError


def test_concurrent_first_calls_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    original = driver.specialise
    monkeypatch.setattr(driver, "specialise", lambda request: (compiled.append(1), original(request))[1])
    f = qd.njit(cache=False)(lambda a, b: a * b + 1.5)
    barrier = threading.Barrier(8)
    results: list[Any] = []

    def call() -> None:
        barrier.wait()
        results.append(f(3.0, 2))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [7.5] * 8 and len(compiled) == 1 and len(f.signatures) == 1


def test_globals_that_change_while_others_call() -> None:
    space: dict[str, Any] = {"qd": qd, "K": 1}
    exec("@qd.njit\ndef helper(x): return x + K\n@qd.njit\ndef f(x, n=2, *, m=1): return helper(x) * n * m", space)
    f = space["f"]
    values = [1, 1.5, np.float32(2), True, 2 + 1j, np.float64(2)]
    wrong: list[object] = []

    def call() -> None:
        for turn in range(150):
            value = values[turn % len(values)]
            result = f(value) if turn % 3 else f(value, n=2, m=1)
            if result not in ((value + 1) * 2, (value + 2) * 2):
                wrong.append((value, result))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        space["K"] = 3 - space["K"]
        threads[0].join(0.005)
    assert not wrong
    space["K"] = 10
    assert f(1) == 22


def test_errors_reach_every_waiting_thread() -> None:
    f = qd.njit(lambda x: x.nothing)
    errors: list[BaseException] = []

    def call() -> None:
        try:
            f(1.0)
        except QuadrantsError as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 6 and {error.code for error in errors} == {Code.NO_ATTRIBUTE}  # type: ignore[attr-defined]


def test_jobs_that_reach_themselves_do_not_wait() -> None:
    jobs = Jobs()
    assert jobs.once("key", lambda: jobs.once("key", lambda: 7)) == 7


def test_an_interrupted_job_is_done_by_who_waits() -> None:
    jobs = Jobs()
    started, go = threading.Event(), threading.Event()

    def interrupted() -> None:
        started.set()
        go.wait()
        raise KeyboardInterrupt

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            jobs.once("key", interrupted)

    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(jobs.once("key", lambda: 5)))
    waiting.start()
    go.set()
    thread.join()
    waiting.join()
    assert results == [5]


def test_progress_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(jobs_module, "PROGRESS_AFTER", 0.01)
    done = threading.Event()
    with jobs_module.progress("compiling f(int)"):
        done.wait(1.0)
    with jobs_module.progress("not shown"):
        pass
    done.wait(0.1)
    assert capsys.readouterr().err == "quadrants: compiling f(int) ...\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_compiles_while_its_parent_does() -> None:
    """Another thread holds the locks at the moment of the fork; the child has neither the thread nor the locks."""
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with jobs_module.JOBS.front_end():
            held.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if qd.njit(cache=False)(lambda x: x * 3)(2) == 6 else 1)
    try:
        assert os.waitpid(child, 0)[1] == 0
    finally:
        go.set()
        thread.join()
