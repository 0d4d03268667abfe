"""The CPU backend as core sees it.

Code generation and loading are `quadrants.host`, which compiled dispatchers use directly; this class is the same machinery
behind the backend contract. Always available where core itself runs.
"""

from __future__ import annotations

import os
import platform
import types
from collections.abc import Sequence
from typing import Any

from quadrants import config
from quadrants.api.namespace import explicit_namespace
from quadrants.backend.contract import (
    Artifact,
    Availability,
    Capabilities,
    Device,
    DeviceMemory,
    Event,
    Executable,
    Stream,
    Target,
)
from quadrants.diagnostics import BackendError, Code, SettingError
from quadrants.host.target import architecture, host_target
from quadrants.ir import Module
from quadrants.ir.ops import subgroup
from quadrants.ir.ops.device import ATOMICS
from quadrants.ir.threads import SUBGROUP
from quadrants.options import Options
from quadrants_cpu import kernels
from quadrants_cpu.codegen import NATIVE, compile_module, load_artifact
from quadrants_cpu.memory import HostEvent, HostMemory, HostStream

ARCHES = ("x86_64", "aarch64")

_INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_FLOATS = ("f16", "f32", "f64")
_ATOMIC_DTYPES = (*_INTEGERS, "f32", "f64")
CAPABILITIES = Capabilities(
    dtypes=frozenset(("bool", *_INTEGERS, *_FLOATS, "c64", "c128")),
    atomics=frozenset(
        (operation, dtype)
        for operation in (*ATOMICS, "cas")
        for dtype in _ATOMIC_DTYPES
        if dtype in _INTEGERS or operation not in ("and", "or", "xor", "inc", "dec")
    ),
    subgroup_width=SUBGROUP,
    subgroup_ops=frozenset(defn.name for defn in subgroup.DEFS),
    shared_bytes=1 << 20,
    max_block=(1024, 1024, 1024),
    max_threads_per_block=1024,
    max_grid=(2**31 - 1,) * 3,
    recursion=True,
    grid_sync=True,
    host_code=True,
    host_memory=True,
)


class CpuBackend:
    """`qd.cpu`."""

    def __init__(self) -> None:
        self._memory = HostMemory()
        self._stream = HostStream()
        self._namespace = explicit_namespace("cpu")

    @property
    def name(self) -> str:
        return "cpu"

    @property
    def namespace(self) -> types.ModuleType:
        return self._namespace

    @property
    def legalise(self) -> Sequence[Any]:
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    def availability(self) -> Availability:
        """Whether code can be generated for this machine and loaded into this process."""
        arch, known = architecture(), ", ".join(ARCHES)
        if arch not in ARCHES:
            return Availability(False, f"code is generated for {known}; this machine is {arch or 'unknown'}")
        try:
            host_target()
        except SettingError as problem:
            return Availability(False, problem.message, "unset QUADRANTS_ISA")
        return Availability(True)

    def targets(self) -> Sequence[Target]:
        """This machine, at the instruction set that `QUADRANTS_ISA` pins, or at its own."""
        return (Target("cpu", architecture(), cpu=config.get(config.Config.ISA) or NATIVE),)

    def devices(self) -> Sequence[Device]:
        return (Device("cpu", 0, platform.processor() or platform.machine(), _memory_bytes()),)

    def target_of(self, device: Device) -> Target:
        self._check(device)
        return self.targets()[0]

    def capabilities(self, target: Target) -> Capabilities:
        if target.backend != self.name or target.arch not in ARCHES:
            raise BackendError(Code.BAD_TARGET, f"{target.backend}:{target.arch} is not a target of the CPU backend")
        return CAPABILITIES

    def compile(self, module: Module, target: Target, options: Options) -> Artifact:
        """A QIR module, after the passes, to an object; one whose entry is a kernel, to a function that runs blocks of it."""
        return (
            kernels.compile_kernel(module, target, options)
            if kernels.is_kernel(module)
            else compile_module(module, target, options)
        )

    def load(self, artifact: Artifact, device: Device) -> Executable:
        """Map an object into this process."""
        self._check(device)
        return kernels.load_kernel(artifact) if kernels.is_kernel_artifact(artifact) else load_artifact(artifact)

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
