"""One compilation at a time for each specialisation.

Takes a key and what to do; does it once, however many threads ask, and gives all of them the result or the error. The front end
(everything before LLVM) holds one lock of the process; LLVM runs without it. After a fork the child starts with fresh locks and
without the jobs of threads that it does not have.
"""

from __future__ import annotations

import copy
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

PROGRESS_AFTER = 1.0  # seconds


class Job:
    """A compilation that one thread does and others may wait for."""

    __slots__ = ("done", "error", "owner", "result")

    def __init__(self) -> None:
        self.owner = threading.get_ident()
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None


class Jobs:
    """The compilations under way in this process."""

    def __init__(self) -> None:
        self.reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.reset)

    def reset(self) -> None:
        """Fresh locks and no jobs."""
        self._lock = threading.Lock()
        self._jobs: dict[Hashable, Job] = {}
        self._front_end = threading.RLock()

    def once(self, key: Hashable, work: Callable[[], Any]) -> Any:
        """The result of `work()`, of this call or of the one that is under way for the same key."""
        while True:
            with self._lock:
                job = self._jobs.get(key)
                mine = job is None
                if job is None:
                    job = self._jobs[key] = Job()
            if mine:
                return self._run(key, job, work)
            if job.owner == threading.get_ident():
                return (
                    work()
                )  # reached again from inside of it, by a finaliser or a signal handler: waiting would not end
            job.done.wait()
            if job.error is None:
                return job.result
            if isinstance(job.error, Exception):
                raise copy.copy(job.error)
            # The other thread was interrupted (Ctrl-C): this one does the work itself.

    def _run(self, key: Hashable, job: Job, work: Callable[[], Any]) -> Any:
        try:
            job.result = work()
        except BaseException as error:
            job.error = error
            raise
        finally:
            with self._lock:
                self._jobs.pop(key, None)
            job.done.set()
        return job.result

    @contextmanager
    def front_end(self) -> Iterator[None]:
        """The lock of everything before LLVM."""
        lock = self._front_end
        with lock:
            yield


JOBS = Jobs()


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Print one line to the error stream if what is done inside takes longer than a second."""
    timer = threading.Timer(PROGRESS_AFTER, lambda: print(f"quadrants: {text} ...", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
