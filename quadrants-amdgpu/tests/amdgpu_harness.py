"""What the tests of the AMDGPU backend share: HIP as a stand-in, whose launches the simulated device runs.

The host code of the backend is the real one, down to the calls of HIP. Memory of the device is memory of this process; a code
object is known by its bytes, and stands for the LLVM IR that it was made of.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import cffi
from amdgpu_simulator import Simulated

from quadrants.backend.contract import Artifact, Device, Target
from quadrants.ir import Module
from quadrants_amdgpu import AmdgpuBackend
from quadrants_amdgpu.driver.declarations import HIP
from quadrants_amdgpu.driver.library import Hip
from quadrants_amdgpu.executable import AmdgpuExecutable
from quadrants_amdgpu.target import ARCHES

_GUARD = 256
_INVALID, _NOT_FOUND, _NO_MEMORY = 1, 500, 2
_MOST_BYTES = 1 << 34


class StandIn:
    """The functions of HIP. Every error is one that the library gives for the same mistake."""

    def __init__(self, ffi: Any, arch: str) -> None:
        self.ffi, self.arch = ffi, arch
        self.blocks: dict[int, Any] = {}
        self.images: dict[bytes, str] = {}
        self.modules: dict[int, Any] = {}
        self.handles: set[int] = set()
        self.launches = 0
        self._next = 1

    def _handle(self) -> int:
        self._next += 1
        return self._next

    def hipGetErrorString(self, error: int) -> Any:
        texts = {_INVALID: "invalid argument", _NOT_FOUND: "named symbol not found", _NO_MEMORY: "out of memory"}
        self._text = self.ffi.new("char[]", texts.get(error, "unknown error").encode())
        return self._text

    def hipInit(self, flags: int) -> int:
        return 0

    def hipGetDeviceCount(self, count: Any) -> int:
        count[0] = 1
        return 0

    def hipSetDevice(self, device: int) -> int:
        return 0 if device == 0 else _INVALID

    def hipDeviceTotalMem(self, nbytes: Any, device: int) -> int:
        nbytes[0] = _MOST_BYTES
        return 0

    def hipGetDevicePropertiesR0600(self, properties: Any, device: int) -> int:
        view = self.ffi.buffer(properties)
        name, processor = b"Simulated device", self.arch.encode() + b":sramecc+:xnack-"
        view[: len(name)] = name
        view[1160 : 1160 + len(processor)] = processor
        return 0

    def hipDeviceSynchronize(self) -> int:
        return 0

    # Memory

    def hipMalloc(self, address: Any, nbytes: int) -> int:
        if nbytes > _MOST_BYTES:
            return _NO_MEMORY
        block = ctypes.create_string_buffer(nbytes + _GUARD)
        ctypes.memset(block, 0xCB, nbytes)
        start = -(-ctypes.addressof(block) // _GUARD) * _GUARD
        self.blocks[start] = block
        address[0] = start
        return 0

    def hipFree(self, address: int) -> int:
        return 0 if self.blocks.pop(address, None) is not None else _INVALID

    def _host(self, pointer: Any) -> int:
        return int(self.ffi.cast("uintptr_t", pointer))

    def hipMemcpyHtoDAsync(self, target: int, source: Any, nbytes: int, stream: int) -> int:
        ctypes.memmove(target, self._host(source), nbytes)
        return 0

    def hipMemcpyDtoHAsync(self, target: Any, source: int, nbytes: int, stream: int) -> int:
        ctypes.memmove(self._host(target), source, nbytes)
        return 0

    def hipMemcpyDtoDAsync(self, target: int, source: int, nbytes: int, stream: int) -> int:
        ctypes.memmove(target, source, nbytes)
        return 0

    def hipMemsetD8Async(self, target: int, value: int, nbytes: int, stream: int) -> int:
        ctypes.memset(target, value, nbytes)
        return 0

    # Streams and events

    def _make(self, place: Any) -> int:
        place[0] = self._handle()
        self.handles.add(place[0])
        return 0

    def _drop(self, handle: int) -> int:
        known = handle in self.handles
        self.handles.discard(handle)
        return 0 if known else _INVALID

    def _known(self, *handles: int) -> int:
        return 0 if all(handle == 0 or handle in self.handles for handle in handles) else _INVALID

    hipStreamCreate = hipEventCreate = _make
    hipStreamDestroy = hipEventDestroy = _drop
    hipStreamSynchronize = hipEventSynchronize = _known

    def hipEventRecord(self, event: int, stream: int) -> int:
        return self._known(event, stream)

    def hipStreamWaitEvent(self, stream: int, event: int, flags: int) -> int:
        return self._known(event, stream)

    def hipEventElapsedTime(self, milliseconds: Any, start: int, stop: int) -> int:
        milliseconds[0] = 0.0
        return self._known(start, stop)

    # Kernels

    def hipModuleLoadData(self, module: Any, image: Any) -> int:
        made = self.make(bytes(self.ffi.buffer(image)))
        if made is None:
            return _INVALID
        module[0] = self._handle()
        self.modules[module[0]] = made
        return 0

    def make(self, code: bytes) -> Any:
        """What executes a code object; None: it is not one."""
        text = self.images.get(code)
        return None if text is None else Simulated(text, ARCHES[self.arch].wave)

    def hipModuleUnload(self, module: int) -> int:
        return 0 if self.modules.pop(module, None) is not None else _INVALID

    def hipModuleGetFunction(self, function: Any, module: int, name: Any) -> int:
        if name != b"qd_kernel":
            return _NOT_FOUND
        function[0] = module
        return 0

    def hipModuleLaunchKernel(self, function: int, *shape: Any) -> int:
        grid, block, (shared_bytes, stream, _arguments, extra) = shape[:3], shape[3:6], shape[6:]
        keys = [int(self.ffi.cast("uintptr_t", extra[index])) for index in (0, 2, 4)]
        most = (1 << 32) // max(1, block[0]) - 1, 65_536, 65_536
        if keys != [1, 2, 3] or self._known(stream) or any(size > limit for size, limit in zip(grid, most)):
            return _INVALID
        size = self.ffi.cast("size_t *", extra[3])[0]
        arguments = bytes(self.ffi.buffer(self.ffi.cast("char *", extra[1]), size))
        self.launches += 1
        self.modules[function].launch(arguments, grid, block, shared_bytes)
        return 0


class SimulatedBackend(AmdgpuBackend):
    """The backend on a simulated device of a processor. Code is made for the processor all the same."""

    def __init__(self, arch: str) -> None:
        ffi = cffi.FFI()
        ffi.cdef(HIP)
        self.standin = StandIn(ffi, arch)
        super().__init__(Hip(ffi, self.standin))

    def compile(self, module: Module, target: Target, options: Any = None) -> Artifact:
        artifact = super().compile(module, target, options)
        check_code(artifact)
        return artifact

    def load(self, artifact: Artifact, device: Device) -> AmdgpuExecutable:
        self.standin.images[artifact.code] = artifact.text["llvm"]
        return super().load(artifact, device)


def check_code(artifact: Artifact) -> None:
    """A code object is an ELF shared object for an AMD GPU, with the descriptor of the kernel."""
    assert artifact.format == "hsaco"
    code = artifact.code
    assert code[:5] == b"\x7fELF\x02" and code[16] == 3 and int.from_bytes(code[18:20], "little") == 224
    assert b"qd_kernel.kd\0" in code and artifact.target.arch.encode() in code


@cache
def backend(arch: str) -> SimulatedBackend:
    """The backend of a processor, one for all tests."""
    return SimulatedBackend(arch)
