"""Code that is loaded on a device, and its launches.

The argument block goes to the driver as it is, with the hidden words of the kernel behind it.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from typing import Any

from quadrants.backend.contract import Artifact, LaunchAbi, LaunchShape, Stream
from quadrants.diagnostics import BackendError, Code
from quadrants.host.launchreport import Reader
from quadrants.lower.gpu.kernel import ENTRY, LAUNCH_BYTES, Facts, launch_words
from quadrants_cuda.device import CudaDevice
from quadrants_cuda.driver import declarations as c
from quadrants_cuda.driver.library import CudaError

Box = tuple[int, int, int]
#: The most blocks along y and z that one launch has.
MOST_BLOCKS = 65_535
#: Dynamic shared memory that a kernel has without asking.
_FREE_SHARED = 48 << 10
#: Registers of a thread with which a block of 1024 threads fits on every device.
_FEW_REGISTERS = 64
_LOG_BYTES = 8192


class CudaExecutable:
    """A kernel on a device."""

    launch_abi = LaunchAbi.DRIVER_LAUNCH

    def __init__(self, artifact: Artifact, device: CudaDevice) -> None:
        self.artifact = artifact
        self.device = device
        self.name = artifact.entries[0]
        self.facts = Facts.from_json(dict(artifact.metadata)["facts"])
        self._reader = Reader(self.facts)
        self._modules: list[Any] = []
        self._function = self._load(0)
        self._most_threads = self._attribute(self._function, c.FUNC_MAX_THREADS)
        self._small: Any = None
        self._allowed: dict[Any, int] = {}
        self._lock = threading.Lock()
        self._make_params(device.cuda.ffi)

    def _make_params(self, ffi: Any) -> None:
        """The buffer of the parameters, and what says to the driver where it is."""
        size = 8 * (1 if self.facts.indirect else self.facts.words) + LAUNCH_BYTES
        self._params, self._size = ffi.new("char[]", size), ffi.new("size_t *", size)
        pairs = ((c.PARAM_POINTER, self._params), (c.PARAM_BYTES, self._size))
        words = [word for name, place in pairs for word in (ffi.cast("void *", name), place)]
        self._extra = ffi.new("void *[]", [*words, ffi.cast("void *", c.PARAM_END)])

    def _load(self, registers: int) -> Any:
        """Have the driver assemble the code, for threads of at most so many registers; 0: as many as it likes."""
        device, cuda = self.device, self.device.cuda
        device.enter()
        log = cuda.ffi.new("char[]", _LOG_BYTES)
        options = [(c.JIT_ERROR_LOG, log), (c.JIT_ERROR_LOG_BYTES, cuda.ffi.cast("void *", _LOG_BYTES))]
        if registers:
            options.append((c.JIT_MAX_REGISTERS, cuda.ffi.cast("void *", registers)))
        names = cuda.ffi.new("int[]", [name for name, _ in options])
        values = cuda.ffi.new("void *[]", [value for _, value in options])
        image = cuda.ffi.new("char[]", self.artifact.code)
        try:
            module = cuda.got("CUmodule", "cuModuleLoadDataEx", image, len(options), names, values)
        except CudaError as error:
            said = cuda.ffi.string(log).decode(errors="replace").strip()
            raise BackendError(
                Code.CODEGEN_FAILED,
                f"the driver of {device.name} does not take the kernel {self.name}: {error}\n{said}",
            ) from None
        self._modules.append(module)
        return cuda.got("CUfunction", "cuModuleGetFunction", module, ENTRY.encode())

    def _attribute(self, function: Any, number: int) -> int:
        return int(self.device.cuda.got("int", "cuFuncGetAttribute", number, function))

    def address(self, entry: str) -> int:
        """The driver's handle of the kernel."""
        if entry not in self.artifact.entries:
            raise KeyError(entry)
        return int(self.device.cuda.ffi.cast("uintptr_t", self._function))

    def registers(self) -> int:
        """Of a thread."""
        return self._attribute(self._function, c.FUNC_REGISTERS)

    # Launches

    def launch(self, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None) -> None:
        """Start the kernel, in order in its stream."""
        if shape.empty:
            return
        device, facts = self.device, self.facts
        device.enter()
        function = self._fitting(shape)
        words = struct.pack("<Q", self._kept(arguments, stream)) if facts.indirect else arguments
        report = 0
        if facts.raises or facts.prints:
            report = device.report(self._reader.nbytes, self._reader.look)
        x, y, z = shape.grid
        for first_y, first_z in _parts(shape.grid):
            first = (0, first_y, first_z)
            given = words + launch_words(shape.grid, shape.block, first, shape.shared_bytes, report)
            grid = (x, min(y - first_y, MOST_BLOCKS), min(z - first_z, MOST_BLOCKS))
            self._start(function, given, grid, shape, stream)

    def _kept(self, arguments: bytes, stream: Stream | None) -> int:
        """The address of a copy of the argument block on the device."""
        memory = self.device.memory
        address = memory.allocate(len(arguments))
        memory.copy_in(address, memoryview(arguments), stream)
        memory.free(address)  # in order: what takes its place is written after this launch has read it
        return address

    def _start(self, function: Any, given: bytes, grid: Box, shape: LaunchShape, stream: Stream | None) -> None:
        cuda = self.device.cuda
        with self._lock:  # the driver copies the parameters before it returns
            cuda.ffi.memmove(self._params, given, len(given))
            result = cuda.lib.cuLaunchKernel(
                function, *grid, *shape.block, shape.shared_bytes, self.device.stream_of(stream), cuda.null, self._extra
            )
        if result:
            raise self.device.failed(CudaError("cuLaunchKernel", result, cuda.words(result)))

    def _fitting(self, shape: LaunchShape) -> Any:
        """The function for blocks of a size: one with fewer registers where the threads would not fit otherwise."""
        threads = shape.block[0] * shape.block[1] * shape.block[2]
        function = self._function
        if threads > self._most_threads:
            if self._small is None:
                self._small = self._load(_FEW_REGISTERS)
            function = self._small
        total = shape.shared_bytes + self.facts.shared_bytes
        if total > self.device.shared_bytes:
            raise BackendError(
                Code.BAD_LAUNCH,
                f"{self.device.name} cannot launch {self.name} with a block of {total} bytes of shared memory: it has "
                f"{self.device.shared_bytes}",
                hint="use smaller blocks, and more of them",
            )
        if total > _FREE_SHARED and self._allowed.get(function, 0) < shape.shared_bytes:
            self.device.call("cuFuncSetAttribute", function, c.FUNC_MAX_DYNAMIC_SHARED, shape.shared_bytes)
            self._allowed[function] = shape.shared_bytes
        return function

    def close(self) -> None:
        """Unload the code; nothing may be running it."""
        self.device.enter()
        for module in self._modules:
            self.device.cuda.call("cuModuleUnload", module)
        self._modules.clear()


def _parts(grid: Box) -> Iterator[tuple[int, int]]:
    """The first blocks along y and z of the launches that make up a grid."""
    for z in range(0, grid[2], MOST_BLOCKS):
        for y in range(0, grid[1], MOST_BLOCKS):
            yield y, z
