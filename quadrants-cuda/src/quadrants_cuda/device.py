"""A device in use: its context, memory, streams and events, and the reports of kernels that may raise or print."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any

from quadrants.backend.contract import Stream
from quadrants.diagnostics import Code, DeviceError
from quadrants_cuda.driver import declarations as c
from quadrants_cuda.driver.library import CudaError, Library
from quadrants_cuda.driver.memory import Memory

#: So many launches whose reports have not been looked at are waited for.
_MOST_PENDING = 64


def _finish(device: weakref.ref[CudaDevice]) -> None:
    """At the end of the process: what kernels have still to print or to raise."""
    found = device()
    if found is not None and found.pending:
        found.synchronize()


class CudaDevice:
    """A device and its primary context, which PyTorch and others use too."""

    def __init__(self, cuda: Library, index: int) -> None:
        self.cuda = cuda
        self.index = index
        self.handle = cuda.got("CUdevice", "cuDeviceGet", index)
        name = cuda.ffi.new("char[]", 256)
        cuda.call("cuDeviceGetName", name, 256, self.handle)
        self.name: str = cuda.ffi.string(name).decode(errors="replace")
        self._context = cuda.got("CUcontext", "cuDevicePrimaryCtxRetain", self.handle)
        self._local = threading.local()
        self._lock = threading.RLock()
        self._reports: list[tuple[Any, Callable[[bytearray], Exception | None]]] = []
        self._spare: dict[int, list[Any]] = {}
        self.has_streams = False
        self.memory = Memory(self)
        self.shared_bytes = self.attribute(c.SHARED_PER_BLOCK_OPTIN)
        atexit.register(_finish, weakref.ref(self))

    @property
    def pending(self) -> int:
        """Launches whose reports have not been looked at."""
        return len(self._reports)

    def attribute(self, number: int) -> int:
        return int(self.cuda.got("int", "cuDeviceGetAttribute", number, self.handle))

    def enter(self) -> None:
        """Make the device's context the one of this thread."""
        self.cuda.call("cuCtxSetCurrent", self._context)

    def call(self, name: str, *args: Any) -> None:
        """Call the driver; what a kernel did wrong before may be what it says."""
        try:
            self.cuda.call(name, *args)
        except CudaError as error:
            raise self.failed(error) from None

    def failed(self, error: CudaError) -> Exception:
        """The error for the user."""
        if error.no_memory:
            return MemoryError(f"{self.name}: {error}")
        hint = (
            "run the kernel with debug=True: every access is checked then"
            if error.result == c.ILLEGAL_ADDRESS
            else None
        )
        return DeviceError(Code.DEVICE_FAULT, f"{self.name}: {error}", hint=hint)

    def stream_of(self, stream: object | None) -> Any:
        """The driver's handle of a stream; the default one for none."""
        return stream.raw if isinstance(stream, CudaStream) else self.cuda.null

    # Reports

    def report(self, nbytes: int, look: Callable[[bytearray], Exception | None]) -> int:
        """The address of a report for a launch; `look` is given the memory when the launch is over."""
        cuda = self.cuda
        with self._lock:
            if len(self._reports) >= _MOST_PENDING:
                self.synchronize()
            spare = self._spare.setdefault(nbytes, [])
            if spare:
                pointer = spare.pop()
            else:
                pointer = cuda.got("void *", "cuMemHostAlloc", nbytes, c.HOST_MAPPED)
            cuda.ffi.buffer(pointer, nbytes)[:] = bytes(nbytes)
            self._reports.append(((pointer, nbytes), look))
        return int(cuda.got("CUdeviceptr", "cuMemHostGetDevicePointer_v2", pointer, 0))

    def synchronize(self) -> None:
        """Wait for everything; raises the first error that a kernel reported."""
        self.enter()
        self.call("cuCtxSynchronize")
        self.memory.settle()
        with self._lock:
            pending, self._reports = self._reports, []
            problem: Exception | None = None
            for (pointer, nbytes), look in pending:
                found = look(bytearray(self.cuda.ffi.buffer(pointer, nbytes)))
                problem = problem or found
                self._spare[nbytes].append(pointer)
        if problem is not None:
            raise problem


class CudaStream:
    """Work in order."""

    def __init__(self, device: CudaDevice) -> None:
        self.device = device
        device.enter()
        device.has_streams = True
        self.raw = device.cuda.got("CUstream", "cuStreamCreate", 0)

    @property
    def handle(self) -> int:
        return int(self.device.cuda.ffi.cast("uintptr_t", self.raw))

    def synchronize(self) -> None:
        self.device.enter()
        self.device.call("cuStreamSynchronize", self.raw)
        self.device.synchronize()

    def __del__(self) -> None:
        if hasattr(self, "raw"):
            self.device.cuda.lib.cuStreamDestroy_v2(self.raw)


class CudaEvent:
    """A point in a stream, with the time at which it was reached."""

    def __init__(self, device: CudaDevice) -> None:
        self.device = device
        self.recorded = False
        device.enter()
        self._raw = device.cuda.got("CUevent", "cuEventCreate", 0)

    def record(self, stream: Stream | None = None) -> None:
        """Note the time when all that was launched into the stream before is done."""
        self.device.enter()
        self.device.call("cuEventRecord", self._raw, self.device.stream_of(stream))
        self.recorded = True

    def wait(self, stream: Stream | None = None) -> None:
        """What is launched into the stream later begins after the event."""
        if not self.recorded:
            raise ValueError("the event has not been recorded")
        self.device.enter()
        self.device.call("cuStreamWaitEvent", self.device.stream_of(stream), self._raw, 0)

    def elapsed_ms(self, later: CudaEvent) -> float:
        """The time from this event to a later one."""
        if not (self.recorded and later.recorded):
            raise ValueError("both events have to be recorded first")
        self.device.enter()
        self.device.call("cuEventSynchronize", later._raw)
        return float(self.device.cuda.got("float", "cuEventElapsedTime", self._raw, later._raw))

    def __del__(self) -> None:
        if hasattr(self, "_raw"):
            self.device.cuda.lib.cuEventDestroy_v2(self._raw)
