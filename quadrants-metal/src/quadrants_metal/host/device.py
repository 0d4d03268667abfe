"""A device in use: its queue, its memory, streams and events.

All streams of a device are one queue: work is done in the order in which it is launched, which is an order that streams allow. What
launches have to say (errors, prints) is asked for when someone waits.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from quadrants.diagnostics import BackendError, Code
from quadrants_metal.host.framework import Framework
from quadrants_metal.host.memory import Memory
from quadrants_metal.target import LIMITS

#: Looks at what a launch has left; gives the exception of a kernel.
Report = Callable[[], Exception | None]
#: So many launches are waited for at once at most: each holds its report until then.
_MOST_PENDING = 256


class MetalDevice:
    """See the module's docstring."""

    def __init__(self, found: Framework, index: int) -> None:
        self.metal = found.metal
        self.pool = found.pool
        self.device = found.devices[index]
        self.name = str(self.device.name())
        self.queue = self.device.newCommandQueue()
        self.limits = {**LIMITS, "shared_bytes": int(self.device.maxThreadgroupMemoryLength())}
        self.lock = threading.RLock()
        self.memory = Memory(self.metal, self.device, index, self.wait, self.synchronize, self.check)
        self.streams = 0
        self._pending: deque[tuple[Any, Report | None]] = deque()
        self._failed: list[Exception] = []
        self._forked = False
        own = weakref.ref(self)
        atexit.register(_on, own, MetalDevice.synchronize)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: _on(own, MetalDevice.forget))

    def check(self) -> None:
        """Refuse to go on in a forked process: the driver is not in it."""
        if self._forked:
            raise BackendError(
                Code.BACKEND_UNAVAILABLE,
                f"{self.name} was opened before this process was forked, and cannot be used in it",
                hint="start processes with multiprocessing's method 'spawn'",
            )

    def forget(self) -> None:
        """What a forked process does first."""
        self._forked = True
        self.lock = threading.RLock()
        self._pending.clear()

    def submit(self, commands: Any, report: Report | None) -> None:
        """Start commands; the report is looked at when they are waited for."""
        commands.commit()
        self._pending.append((commands, report))
        if len(self._pending) >= _MOST_PENDING:
            self.wait()

    def wait(self) -> None:
        """Wait for everything that was launched; what failed is kept for who synchronises."""
        with self.lock:
            while self._pending:
                commands, report = self._pending[0]
                commands.waitUntilCompleted()
                self._pending.popleft()
                problem = commands.error()
                if problem is not None:
                    text = f"{self.name} stopped a launch: {problem.localizedDescription()}"
                    self._failed.append(BackendError(Code.BAD_LAUNCH, text))
                elif report is not None and (error := report()) is not None:
                    self._failed.append(error)

    def synchronize(self) -> None:
        """Wait for everything; raises the first error that a kernel reported."""
        with self.lock:
            self.wait()
            failed, self._failed = self._failed, []
        if failed:
            raise failed[0]


def _on(device: weakref.ref[MetalDevice], what: Callable[[MetalDevice], None]) -> None:
    """At the end of the process, or in a fork of it: what kernels have still to print or to raise, or nothing more."""
    found = device()
    if found is not None:
        what(found)


class MetalStream:
    """Work in order."""

    def __init__(self, device: MetalDevice, handle: int) -> None:
        self.device = device
        self._handle = handle

    @property
    def handle(self) -> int:
        return self._handle

    def synchronize(self) -> None:
        self.device.synchronize()


class MetalEvent:
    """A point in the order of a device's work, with the host's time at which it was reached."""

    def __init__(self, device: MetalDevice) -> None:
        self.device = device
        self._reached: float | None = None

    def record(self, stream: object) -> None:
        """Wait for all that was launched before, and note the time."""
        self.device.wait()
        self._reached = time.perf_counter()

    def wait(self, stream: object) -> None:
        """What is launched later begins after the event: as everything does, on one queue."""
        self._time()

    def elapsed_ms(self, later: MetalEvent) -> float:
        """The time from this event to a later one."""
        return (later._time() - self._time()) * 1e3

    def _time(self) -> float:
        if self._reached is None:
            raise ValueError("the event has not been recorded")
        return self._reached
