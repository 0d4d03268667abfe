"""Memory of a device as the contract has it: allocate, free, copy; DLPack's name of it.

What the host sees is copied directly, after what was recorded has run; other memory through a staging buffer, in order.
"""

from __future__ import annotations

from quadrants_vulkan.driver.logical import LogicalDevice
from quadrants_vulkan.driver.pool import Pool
from quadrants_vulkan.driver.recorder import Recorder

#: DLPack's number of Vulkan.
_DLPACK_VULKAN = 7
#: The most that is staged at once.
_STAGE = 16 << 20


class Memory:
    """See the module's docstring."""

    def __init__(self, device: LogicalDevice, pool: Pool, recorder: Recorder, index: int) -> None:
        self._device = device
        self._pool = pool
        self._recorder = recorder
        self._index = index

    def allocate(self, nbytes: int, alignment: int = 64) -> int:
        """The address of a new block; MemoryError where there is no room."""
        if nbytes < 0 or alignment > 256:
            raise ValueError(f"cannot allocate {nbytes} bytes aligned to {alignment}")
        with self._recorder.lock:
            try:
                return self._pool.allocate(nbytes)
            except MemoryError:
                self._recorder.wait()  # what was freed is free then
                return self._pool.allocate(nbytes)

    def free(self, address: int) -> None:
        with self._recorder.lock:
            self._pool.free(address)
            if not self._recorder.pending:
                self._pool.settle()

    def copy_in(self, address: int, source: memoryview, stream: object | None = None) -> None:
        """Write bytes of the host."""
        if not source.nbytes:
            return
        raw = source.cast("B")
        ffi = self._device.vk.ffi
        with self._recorder.lock:
            buffer, offset = self._pool.find(address, raw.nbytes)
            if buffer.mapped is not None and not self._recorder.pending:
                ffi.memmove(buffer.mapped + offset, raw, raw.nbytes)
                return
            for start in range(0, raw.nbytes, _STAGE):
                part = raw[start : start + _STAGE]
                self._recorder.roll()
                staging = self._device.buffer(part.nbytes, visible=True)
                self._recorder.open().staging.append(staging)
                ffi.memmove(staging.mapped, part, part.nbytes)
                self._recorder.copy(staging, 0, buffer, offset + start, part.nbytes)

    def copy_out(self, target: memoryview, address: int, stream: object | None = None) -> None:
        """Read into bytes of the host; waits for everything before."""
        raw = target.cast("B")
        if not raw.nbytes:
            return
        ffi = self._device.vk.ffi
        with self._recorder.lock:
            buffer, offset = self._pool.find(address, raw.nbytes)
            if buffer.mapped is not None:
                self._recorder.wait()
                ffi.memmove(raw, buffer.mapped + offset, raw.nbytes)
                return
            for start in range(0, raw.nbytes, _STAGE):
                part = raw[start : start + _STAGE]
                staging = self._device.buffer(part.nbytes, visible=True)
                try:
                    self._recorder.copy(buffer, offset + start, staging, 0, part.nbytes)
                    self._recorder.wait()
                    ffi.memmove(part, staging.mapped, part.nbytes)
                finally:
                    self._device.release(staging)

    def copy(self, target: int, source: int, nbytes: int, stream: object | None = None) -> None:
        """Copy on the device, in order. The ranges must not overlap."""
        if not nbytes:
            return
        with self._recorder.lock:
            to, to_at = self._pool.find(target, nbytes)
            source_buffer, source_at = self._pool.find(source, nbytes)
            self._recorder.roll()
            self._recorder.copy(source_buffer, source_at, to, to_at, nbytes)

    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK_VULKAN, self._index
