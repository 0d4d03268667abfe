"""The CUDA backend as core sees it.

Takes QIR and a target; gives PTX (`lower`, `codegen`), and runs it on a device (`driver`). The driver is found when it is
first needed, a device is opened when it is first used. Compiling needs neither.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from quadrants.api.namespace import explicit_namespace
from quadrants.backend.contract import Artifact, Availability, Capabilities, Device, Target
from quadrants.diagnostics import BackendError, BackendUnavailable, Code
from quadrants.ir import Module
from quadrants.ir.rewrite import clone_module
from quadrants_cuda import target as targets
from quadrants_cuda.device import CudaDevice, CudaEvent, CudaStream
from quadrants_cuda.driver import declarations as c
from quadrants_cuda.driver.library import CudaError, Library, library
from quadrants_cuda.driver.memory import Memory
from quadrants_cuda.executable import CudaExecutable

_DRIVER = "install the driver of an NVIDIA GPU (Debian: nvidia-driver-cuda), or use another backend: python -m quadrants doctor"


class CudaBackend:
    """`qd.cuda`. `driver`: the driver's library, where it is not the system's."""

    name = "cuda"

    def __init__(self, driver: Library | None = None) -> None:
        self._driver = driver
        self._opened: dict[int, CudaDevice] = {}

    # What is here

    @cached_property
    def _found(self) -> Library | Availability:
        """The driver, started; or why it cannot be used."""
        cuda = self._driver or library()
        if cuda is None:
            return Availability(False, "the CUDA driver (libcuda.so.1) is not found", _DRIVER)
        try:
            cuda.call("cuInit", 0)
        except CudaError as error:
            return Availability(False, f"the CUDA driver cannot be started: {error.words}", _DRIVER)
        return cuda

    @property
    def cuda(self) -> Library:
        """The driver; BackendUnavailable with the reason where there is none."""
        found = self._found
        if isinstance(found, Availability):
            raise BackendUnavailable(Code.BACKEND_UNAVAILABLE, found.reason, hint=found.fix)
        return found

    def availability(self) -> Availability:
        """Usable here? If not, the reason in words, and the fix. Never raises."""
        found = self._found
        if isinstance(found, Availability):
            return found
        try:
            devices = self.devices()
        except CudaError as error:
            return Availability(False, f"the CUDA driver does not answer: {error.words}", _DRIVER)
        if not devices:
            return Availability(False, "the CUDA driver finds no device", _DRIVER)
        first = devices[0]
        capability = dict(first.detail)["compute capability"]
        major, minor = capability.split(".")
        if targets.arch_of(int(major), int(minor)) is None:
            reason = f"{first.name} has compute capability {capability}; code needs 7.0"
            return Availability(False, reason, "use a newer GPU, or qd.vulkan or qd.cpu")
        return Availability(True, f"{first.name}, compute capability {capability}")

    @cached_property
    def namespace(self) -> types.ModuleType:
        return explicit_namespace("cuda")

    @property
    def legalise(self) -> Sequence[Any]:
        """None: `compile` itself runs the passes of the backend."""
        return ()

    @property
    def intrinsics(self) -> Sequence[Any]:
        return ()

    # Targets and devices

    def targets(self) -> Sequence[Target]:
        return tuple(map(targets.target, targets.ARCHES))

    def devices(self) -> Sequence[Device]:
        found = self._found
        if isinstance(found, Availability):
            return []
        return [_describe(found, index) for index in range(found.got("int", "cuDeviceGetCount"))]

    def target_of(self, device: Device) -> Target:
        handle = self._handle(device)
        arch = targets.arch_of(*_capability(self.cuda, handle))
        if arch is None:
            raise BackendUnavailable(
                Code.BACKEND_UNAVAILABLE, f"{device.name} is too old: code needs compute capability 7.0"
            )
        return targets.target(arch)

    def _handle(self, device: Device) -> Any:
        count = self.cuda.got("int", "cuDeviceGetCount")
        if not 0 <= device.index < count:
            raise BackendUnavailable(
                Code.BACKEND_UNAVAILABLE, f"there is no CUDA device {device.index}: there are {count} devices"
            )
        return self.cuda.got("CUdevice", "cuDeviceGet", device.index)

    def capabilities(self, target: Target) -> Capabilities:
        return targets.capabilities(_arch(target))

    def open(self, device: Device) -> CudaDevice:
        """The device, opened when it is first asked for."""
        opened = self._opened.get(device.index)
        if opened is None:
            self._handle(device)
            opened = self._opened[device.index] = CudaDevice(self.cuda, device.index)
        return opened

    # Code

    def compile(self, module: Module, target: Target, options: Any = None) -> Artifact:
        """PTX for the entry of the module."""
        from quadrants.lower.gpu.kernel import lower  # LLVM and the lowering are loaded when something is compiled
        from quadrants_cuda.codegen import check_shared, to_ptx
        from quadrants_cuda.primitives import primitives

        arch = _arch(target)
        kernel = module.entry
        check_shared(module)
        module = clone_module(module)
        text, facts = lower(module, primitives(module))
        code = to_ptx(text, arch)
        shown = {"llvm": text, "ptx": code.decode()}
        return Artifact(target, "ptx", code, (kernel,), (("facts", facts.to_json()),), text=shown)

    def load(self, artifact: Artifact, device: Device) -> CudaExecutable:
        return CudaExecutable(artifact, self.open(device))

    def memory(self, device: Device) -> Memory:
        return self.open(device).memory

    def stream(self, device: Device) -> CudaStream:
        return CudaStream(self.open(device))

    def event(self, device: Device) -> CudaEvent:
        return CudaEvent(self.open(device))


def _arch(target: Target) -> str:
    if target.backend != "cuda" or target.arch not in targets.ARCHES:
        raise BackendError(
            Code.BAD_TARGET,
            f"the CUDA backend does not compile for {target.backend}:{target.arch}",
            hint=f"it compiles for cuda:{', cuda:'.join(targets.ARCHES)}",
        )
    return target.arch


def _capability(cuda: Library, handle: Any) -> tuple[int, int]:
    """The compute capability."""
    major, minor = (cuda.got("int", "cuDeviceGetAttribute", n, handle) for n in (c.COMPUTE_MAJOR, c.COMPUTE_MINOR))
    return int(major), int(minor)


def _describe(cuda: Library, index: int) -> Device:
    handle = cuda.got("CUdevice", "cuDeviceGet", index)
    name = cuda.ffi.new("char[]", 256)
    cuda.call("cuDeviceGetName", name, 256, handle)
    memory = int(cuda.got("size_t", "cuDeviceTotalMem_v2", handle))
    major, minor = _capability(cuda, handle)
    title = cuda.ffi.string(name).decode(errors="replace")
    return Device("cuda", index, title, memory, (("compute capability", f"{major}.{minor}"),))
