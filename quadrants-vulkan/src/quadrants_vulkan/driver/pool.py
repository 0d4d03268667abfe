"""The memory pool of a device: blocks out of few large buffers.

Takes sizes; gives addresses, and says which buffer an address is in. Sizes are rounded to powers of 2 up to a chunk, so that a free
block fits the next one that asks; larger blocks have buffers of their own. Addresses that are freed while the device may still use
them are given out again only when `settle` is called, after everything that was recorded before has run.
"""

from __future__ import annotations

from bisect import bisect_right

from quadrants_vulkan.driver.logical import Buffer, LogicalDevice

CHUNK = 32 << 20
_LEAST = 256


class Pool:
    """See the module's docstring."""

    def __init__(self, device: LogicalDevice) -> None:
        self.device = device
        self.live: dict[int, int] = {}  # address -> size of the block
        self._free: dict[int, list[int]] = {}  # size -> addresses
        self._starts: list[int] = []  # addresses of the buffers, ascending
        self._buffers: list[Buffer] = []
        self._rest = (0, 0)  # of the newest chunk: where it goes on, and its end
        self._freed: list[tuple[int, int]] = []

    def allocate(self, nbytes: int) -> int:
        """The address of a new block, aligned to 256 bytes."""
        size = _rounded(nbytes)
        if size > CHUNK:
            address = self._add(self.device.buffer(size, visible=False)).address
        else:
            free = self._free.get(size)
            address = free.pop() if free else self._cut(size)
        self.live[address] = size
        return address

    def _cut(self, size: int) -> int:
        """A block from the newest chunk, or from a new one."""
        start, end = self._rest
        if start + size > end:
            buffer = self._add(self.device.buffer(CHUNK, visible=False))
            start, end = buffer.address, buffer.address + CHUNK
        self._rest = (start + size, end)
        return start

    def _add(self, buffer: Buffer) -> Buffer:
        place = bisect_right(self._starts, buffer.address)
        self._starts.insert(place, buffer.address)
        self._buffers.insert(place, buffer)
        return buffer

    def free(self, address: int) -> None:
        """Give a block back; the device may still be using it."""
        size = self.live.pop(address, 0)
        if not size:
            raise ValueError(f"{address:#x} is not the address of a block of {self.device.physical.name}")
        self._freed.append((address, size))

    def settle(self) -> None:
        """The device has done all that was recorded: what was freed may be given out again."""
        while self._freed:  # not a loop over it: arrays may be collected, and freed, at any time
            address, size = self._freed.pop()
            if size > CHUNK:
                place = self._starts.index(address)
                del self._starts[place]
                self.device.release(self._buffers.pop(place))
            else:
                self._free.setdefault(size, []).append(address)

    def find(self, address: int, nbytes: int) -> tuple[Buffer, int]:
        """The buffer that the bytes at an address are in, and where in it."""
        place = bisect_right(self._starts, address) - 1
        if place >= 0:
            buffer, offset = self._buffers[place], address - self._starts[place]
            if offset + nbytes <= buffer.nbytes:
                return buffer, offset
        raise ValueError(f"{nbytes} bytes at {address:#x} are not memory of {self.device.physical.name}")

    def close(self) -> None:
        for buffer in self._buffers:
            self.device.release(buffer)
        self._buffers.clear()
        self._starts.clear()


def _rounded(nbytes: int) -> int:
    """The size of the block for a request: a power of 2 up to a chunk, else a multiple of the least."""
    if nbytes <= CHUNK:
        return max(_LEAST, 1 << max(0, nbytes - 1).bit_length())
    return (nbytes + _LEAST - 1) // _LEAST * _LEAST
