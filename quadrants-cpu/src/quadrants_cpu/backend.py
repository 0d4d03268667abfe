"""The CPU backend as core sees it.

Code generation and loading are `quadrants.host`, which compiled dispatchers use directly; this class is the same machinery
behind the backend contract. Always available where core itself runs.
"""

from __future__ import annotations

import os
import platform
import sys
import types
from collections.abc import Sequence
from typing import Any

from quadrants import config
from quadrants.backend.contract import Availability, Capabilities, Device, DeviceMemory, Event, Stream, Target
from quadrants.diagnostics import BackendError, Code
from quadrants_cpu.memory import HostEvent, HostMemory, HostStream

ARCHES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

_INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_FLOATS = ("f16", "f32", "f64")
CAPABILITIES = Capabilities(
    dtypes=frozenset(("bool", *_INTEGERS, *_FLOATS, "c64", "c128")), recursion=True, host_code=True
)


class CpuBackend:
    """`qd.cpu`."""

    def __init__(self) -> None:
        self._memory = HostMemory()
        self._stream = HostStream()

    @property
    def name(self) -> str:
        return "cpu"

    @property
    def namespace(self) -> types.ModuleType:
        return sys.modules["quadrants_cpu"]

    @property
    def legalise(self) -> Sequence[Any]:
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    def availability(self) -> Availability:
        """Whether LLVM can compile for this machine."""
        machine = platform.machine().lower()
        if machine in ARCHES:
            return Availability(True)
        known = ", ".join(sorted(set(ARCHES.values())))
        return Availability(False, f"code is generated for {known}; this machine is {machine or 'unknown'}")

    def targets(self) -> Sequence[Target]:
        """This machine, at the instruction set that `QUADRANTS_ISA` pins, or at its own."""
        machine = platform.machine().lower()
        return (Target("cpu", ARCHES.get(machine, machine), cpu=config.get(config.Config.ISA) or "native"),)

    def devices(self) -> Sequence[Device]:
        return (Device("cpu", 0, platform.processor() or platform.machine(), _memory_bytes()),)

    def target_of(self, device: Device) -> Target:
        self._check(device)
        return self.targets()[0]

    def capabilities(self, target: Target) -> Capabilities:
        if target.backend != self.name or target.arch not in ARCHES.values():
            raise BackendError(Code.BAD_TARGET, f"{target.backend}:{target.arch} is not a target of the CPU backend")
        return CAPABILITIES

    def memory(self, device: Device) -> DeviceMemory:
        self._check(device)
        return self._memory

    def stream(self, device: Device) -> Stream:
        self._check(device)
        return self._stream

    def event(self, device: Device) -> Event:
        self._check(device)
        return HostEvent()

    def _check(self, device: Device) -> None:
        """There is one CPU device."""
        if (device.backend, device.index) != (self.name, 0):
            raise BackendError(
                Code.UNKNOWN_DEVICE, f"there is no device {device.backend}:{device.index}", hint="the CPU is device 0"
            )


def _memory_bytes() -> int | None:
    """The machine's memory, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
