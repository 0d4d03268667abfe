"""A device in use: its memory, streams, events, and the reports of the launches that have not been looked at.

HIP has a current device for each thread of the host: every call names its device first.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any

from quadrants._frozen import frozen
from quadrants.backend.contract import Stream
from quadrants_amdgpu.driver.library import Hip, HipError

#: So many reports may wait to be looked at; the next launch waits for them.
_MOST_REPORTS = 64
#: DLPack's number for devices of ROCm.
_DLPACK_ROCM = 10


@frozen(eq=False)
class Report:
    """What a launch leaves for the host.

    Args:
        address: of the report, on the device.
        nbytes: its size.
        look: gives the exception that it tells of, after printing; takes the bytes.
    """

    address: int
    nbytes: int
    look: Callable[[bytearray], Exception | None]


class AmdgpuDevice:
    """See the module's docstring."""

    def __init__(self, hip: Hip, index: int, name: str) -> None:
        self.hip = hip
        self.index = index
        self.name = name
        self.lock = threading.RLock()
        self.memory = Memory(self)
        self._reports: list[Report] = []
        self._spare: dict[int, list[int]] = {}
        atexit.register(_finish, weakref.ref(self))

    def use(self) -> None:
        """Make it the current device of this thread."""
        self.hip.call("hipSetDevice", self.index)

    def call(self, name: str, *args: Any) -> None:
        """A call on this device."""
        self.use()
        self.hip.call(name, *args)

    def made(self, name: str, *args: Any) -> int:
        """The handle that a call makes on this device."""
        self.use()
        return int(self.hip.made(name, *args))

    # Reports

    def report(self, nbytes: int, zeroed: int, stream: int) -> int:
        """Memory for a report, its first bytes 0 in the order of a stream."""
        if len(self._reports) >= _MOST_REPORTS:
            self.synchronize()
        with self.lock:
            spare = self._spare.get(nbytes)
            address = spare.pop() if spare else self.memory.allocate(nbytes)
        self.call("hipMemsetD8Async", address, 0, zeroed, stream)
        return address

    def expect(self, report: Report) -> None:
        """A launch has begun that will leave a report."""
        with self.lock:
            self._reports.append(report)

    def settle(self) -> None:
        """Look at the reports, when all work is done; raises the first error that a kernel reported."""
        with self.lock:
            reports, self._reports = self._reports, []
            errors = []
            for report in reports:
                data = bytearray(report.nbytes)
                self.call("hipMemcpyDtoHAsync", self.hip.ffi.from_buffer(data), report.address, report.nbytes, 0)
                self.call("hipStreamSynchronize", 0)
                self._spare.setdefault(report.nbytes, []).append(report.address)
                error = report.look(data)
                if error is not None:
                    errors.append(error)
        if errors:
            raise errors[0]

    def synchronize(self) -> None:
        """Wait for everything."""
        self.call("hipDeviceSynchronize")
        self.settle()


def _finish(reference: weakref.ref[AmdgpuDevice]) -> None:
    """When the process ends: what kernels printed, and an error that nobody has asked for."""
    device = reference()
    if device is not None and device._reports:
        device.synchronize()


def handle_of(stream: Stream | None) -> int:
    """HIP's handle; 0 is the default stream."""
    return 0 if stream is None else stream.handle


class Memory:
    """Memory of one device."""

    def __init__(self, device: AmdgpuDevice) -> None:
        self._device = device

    def allocate(self, nbytes: int, alignment: int = 64) -> int:
        """The address of a new block: aligned to 256 bytes."""
        try:
            return self._device.made("hipMalloc", max(1, nbytes))
        except HipError as error:
            if not error.no_memory:
                raise
            raise MemoryError(f"{self._device.name} has no {nbytes} bytes left") from error

    def free(self, address: int) -> None:
        self._device.call("hipFree", address)

    def copy_in(self, address: int, source: memoryview, stream: Stream | None = None) -> None:
        """From the host; the source may change as soon as this returns."""
        data = memoryview(source).cast("B")
        if data.nbytes:
            handle = handle_of(stream)
            view = self._device.hip.ffi.from_buffer(data)
            self._device.call("hipMemcpyHtoDAsync", address, view, data.nbytes, handle)
            self._device.call("hipStreamSynchronize", handle)

    def copy_out(self, target: memoryview, address: int, stream: Stream | None = None) -> None:
        """To the host, when the work before is done; raises what a kernel reported."""
        data = memoryview(target).cast("B")
        handle = handle_of(stream)
        if data.nbytes:
            view = self._device.hip.ffi.from_buffer(data, require_writable=True)
            self._device.call("hipMemcpyDtoHAsync", view, address, data.nbytes, handle)
        self._device.call("hipStreamSynchronize", handle)
        if not handle:
            self._device.settle()

    def copy(self, target: int, source: int, nbytes: int, stream: Stream | None = None) -> None:
        if nbytes:
            self._device.call("hipMemcpyDtoDAsync", target, source, nbytes, handle_of(stream))

    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK_ROCM, self._device.index


class AmdgpuStream:
    """Work in order."""

    def __init__(self, device: AmdgpuDevice) -> None:
        self.device = device
        self._handle = device.made("hipStreamCreate")

    @property
    def handle(self) -> int:
        return self._handle

    def synchronize(self) -> None:
        """Wait for what was launched before; an error that a kernel reported is raised."""
        self.device.call("hipStreamSynchronize", self._handle)
        self.device.synchronize()

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self.device.hip.lib.hipStreamDestroy(self._handle)


class AmdgpuEvent:
    """A point in a stream, with its time."""

    def __init__(self, device: AmdgpuDevice) -> None:
        self.device = device
        self.recorded = False
        self._handle = device.made("hipEventCreate")

    def record(self, stream: Stream | None = None) -> None:
        """Note the point behind all that was launched in the stream."""
        self.device.call("hipEventRecord", self._handle, handle_of(stream))
        self.recorded = True

    def wait(self, stream: Stream | None = None) -> None:
        """What is launched later in the stream begins after the event."""
        if not self.recorded:
            raise ValueError("the event has not been recorded")
        self.device.call("hipStreamWaitEvent", handle_of(stream), self._handle, 0)

    def elapsed_ms(self, later: AmdgpuEvent) -> float:
        """The time from this event to a later one."""
        if not (self.recorded and later.recorded):
            raise ValueError("both events have to be recorded first")
        self.device.call("hipEventSynchronize", later._handle)
        return float(self.device.hip.made("hipEventElapsedTime", self._handle, later._handle, type="float *"))

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self.device.hip.lib.hipEventDestroy(self._handle)
