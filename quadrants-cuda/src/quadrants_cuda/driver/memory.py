"""Memory of a device as the contract has it: allocate, free, copy; DLPack's name of it.

The driver takes longer to allocate than to run a small kernel, so blocks come in sizes of powers of 2 and are kept when
they are freed. All copies and launches of the default stream are in order; a block that is freed while there are other
streams is only used again when the device has been waited for.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from quadrants_cuda.driver.library import CudaError

if TYPE_CHECKING:
    from quadrants_cuda.device import CudaDevice

#: DLPack's number of CUDA.
_DLPACK_CUDA = 2
_LEAST = 512
#: Blocks above this size are given back to the driver when they are freed.
_MOST_KEPT = 64 << 20


def _size_class(nbytes: int) -> int:
    return max(_LEAST, 1 << max(nbytes - 1, 0).bit_length()) if nbytes <= _MOST_KEPT else nbytes


class Memory:
    """See the module's docstring."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._sizes: dict[int, int] = {}
        self._free: dict[int, list[int]] = {}
        self._later: list[int] = []

    @property
    def used(self) -> int:
        """How many blocks are in use."""
        return len(self._sizes) - len(self._later)

    def allocate(self, nbytes: int, alignment: int = 64) -> int:
        """The address of a new block; MemoryError where there is no room."""
        if nbytes < 0 or alignment > 256:
            raise ValueError(f"cannot allocate {nbytes} bytes aligned to {alignment}")
        size = _size_class(nbytes)
        with self._lock:
            kept = self._free.get(size)
            address = kept.pop() if kept else self._new(size)
            self._sizes[address] = size
        return address

    def _new(self, size: int) -> int:
        device = self._device
        device.enter()
        for attempt in range(2):
            try:
                return int(device.cuda.got("CUdeviceptr", "cuMemAlloc_v2", size))
            except CudaError as error:
                if not error.no_memory:
                    raise device.failed(error) from None
                if attempt:
                    break
                self._trim()
        raise MemoryError(f"{device.name} has no room for {size} bytes")

    def _trim(self) -> None:
        """Give the kept blocks back to the driver."""
        self._device.cuda.call("cuCtxSynchronize")
        for address in [address for kept in self._free.values() for address in kept] + self._later:
            self._device.cuda.call("cuMemFree_v2", address)
        for address in self._later:
            self._sizes.pop(address, None)
        self._free.clear()
        self._later.clear()

    def free(self, address: int) -> None:
        with self._lock:
            size = self._sizes.pop(address)
            if size > _MOST_KEPT:
                self._device.enter()
                self._device.cuda.call("cuMemFree_v2", address)  # waits for the device
            elif self._device.has_streams:
                self._sizes[address] = size
                self._later.append(address)
            else:
                self._free.setdefault(size, []).append(address)

    def settle(self) -> None:
        """The device has been waited for: what was freed can be used again."""
        with self._lock:
            for address in self._later:
                self._free.setdefault(self._sizes.pop(address), []).append(address)
            self._later.clear()

    def copy_in(self, address: int, source: memoryview, stream: object | None = None) -> None:
        """Write bytes of the host, in order."""
        if not source.nbytes:
            return
        device = self._device
        device.enter()
        given = device.cuda.ffi.from_buffer(source.cast("B"))
        handle = device.stream_of(stream)
        if handle == device.cuda.null:
            device.call("cuMemcpyHtoD_v2", address, given, source.nbytes)
        else:
            device.call("cuMemcpyHtoDAsync_v2", address, given, source.nbytes, handle)
            device.call("cuStreamSynchronize", handle)

    def copy_out(self, target: memoryview, address: int, stream: object | None = None) -> None:
        """Read into bytes of the host; waits for everything before, whose errors surface here."""
        device = self._device
        device.synchronize()
        if target.nbytes:
            device.call("cuMemcpyDtoH_v2", device.cuda.ffi.from_buffer(target.cast("B")), address, target.nbytes)

    def copy(self, target: int, source: int, nbytes: int, stream: object | None = None) -> None:
        """Copy on the device, in order. The ranges must not overlap."""
        if nbytes:
            self._device.enter()
            self._device.call("cuMemcpyDtoDAsync_v2", target, source, nbytes, self._device.stream_of(stream))

    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK_CUDA, self._device.index
