"""Memory of a device as the contract has it: allocate, free, copy; DLPack's name of it.

Blocks are buffers that the host sees too ("shared"), which on Apple's processors are the same memory. A copy waits for the launches
before it, and raises what they reported.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable
from typing import Any

#: DLPack's number of Metal.
_DLPACK_METAL = 8

_Call = Callable[[], None]


class Memory:
    """See the module's docstring.

    Args:
        metal: the bindings.
        device: Metal's device.
        index: its number.
        wait: returns when all that was launched is done.
        synchronize: the same; raises what went wrong.
        check: raises where the device cannot be used.
    """

    def __init__(self, metal: Any, device: Any, index: int, wait: _Call, synchronize: _Call, check: _Call) -> None:
        self._metal = metal
        self._device = device
        self._index = index
        self._wait = wait
        self._synchronize = synchronize
        self._check = check
        self._starts: list[int] = []
        self.buffers: dict[int, Any] = {}  # by address

    def buffer(self, nbytes: int) -> Any:
        """A buffer that the host sees."""
        self._check()
        made = self._device.newBufferWithLength_options_(max(16, nbytes), self._metal.MTLResourceStorageModeShared)
        if made is None:
            raise MemoryError(f"{self._device.name()} has no room for {nbytes} bytes")
        return made

    def allocate(self, nbytes: int, alignment: int = 64) -> int:
        """The address of a new block; MemoryError where there is no room."""
        if nbytes < 0 or alignment > 256:
            raise ValueError(f"cannot allocate {nbytes} bytes aligned to {alignment}")
        if nbytes > int(self._device.maxBufferLength()):
            raise MemoryError(f"{self._device.name()} has no room for {nbytes} bytes")
        made = self.buffer(nbytes)
        address = int(made.gpuAddress())
        self.buffers[address] = made
        insort(self._starts, address)
        return address

    def free(self, address: int) -> None:
        """Give a block back, when the launches that may use it are done."""
        if address not in self.buffers:
            raise ValueError(f"{address:#x} is not the address of a block of {self._device.name()}")
        self._wait()
        self._starts.remove(address)
        del self.buffers[address]

    def _view(self, address: int, nbytes: int) -> memoryview:
        """The bytes at an address, as the host sees them."""
        place = bisect_right(self._starts, address) - 1
        if place >= 0:
            start = self._starts[place]
            buffer = self.buffers[start]
            offset = address - start
            if offset + nbytes <= int(buffer.length()):
                return contents(buffer)[offset : offset + nbytes]
        raise ValueError(f"{nbytes} bytes at {address:#x} are not memory of {self._device.name()}")

    def copy_in(self, address: int, source: memoryview, stream: object | None = None) -> None:
        """Write bytes of the host."""
        if source.nbytes:
            target = self._view(address, source.nbytes)
            self._synchronize()
            target[:] = source.cast("B")

    def copy_out(self, target: memoryview, address: int, stream: object | None = None) -> None:
        """Read into bytes of the host."""
        if target.nbytes:
            source = self._view(address, target.nbytes)
            self._synchronize()
            target.cast("B")[:] = source

    def copy(self, target: int, source: int, nbytes: int, stream: object | None = None) -> None:
        """Copy on the device, in order. The ranges must not overlap."""
        if nbytes:
            to, origin = self._view(target, nbytes), self._view(source, nbytes)
            self._synchronize()
            to[:] = origin

    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK_METAL, self._index


def contents(buffer: Any) -> memoryview:
    """The bytes of a buffer, as the host sees them."""
    return memoryview(buffer.contents().as_buffer(int(buffer.length()))).cast("B")
