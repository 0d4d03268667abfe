"""Host memory, streams and events behind the backend contract.

Takes sizes and addresses; gives 64-byte aligned blocks of this process. Everything is synchronous on the CPU: a stream's work is
done when the call that submitted it returns.
"""

from __future__ import annotations

import ctypes
import time
from threading import Lock

from quadrants.backend.contract import Event, Stream

ALIGNMENT = 64
DLPACK_CPU = 1  # DLPack's kDLCPU


class HostMemory:
    """`DeviceMemory` of this process. Freeing an address that is not a live block is an error, never a crash."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks: dict[int, tuple[int, ctypes.Array[ctypes.c_char]]] = {}

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> int:
        """The address of a new block of at least `nbytes` bytes, zeroed; MemoryError where there is no room."""
        if nbytes < 0 or alignment < 1 or alignment & (alignment - 1):
            raise ValueError(
                f"cannot allocate {nbytes} bytes aligned to {alignment}: need a size >= 0 and a power of two"
            )
        if nbytes > 2**62:
            raise MemoryError(f"cannot allocate {nbytes} bytes")
        block = ctypes.create_string_buffer(max(nbytes, 1) + alignment)
        address = -(-ctypes.addressof(block) // alignment) * alignment
        with self._lock:
            self._blocks[address] = (nbytes, block)
        return address

    def free(self, address: int) -> None:
        """Free a block that `allocate` gave."""
        with self._lock:
            if self._blocks.pop(address, None) is None:
                raise ValueError(f"{address:#x} is not the address of a live block")

    def copy_in(self, address: int, source: memoryview, stream: Stream | None = None) -> None:
        """Copy the bytes of `source` to `address`."""
        view = source.cast("B")
        ctypes.memmove(self._inside(address, view.nbytes), view.tobytes(), view.nbytes)

    def copy_out(self, target: memoryview, address: int, stream: Stream | None = None) -> None:
        """Fill `target` with bytes from `address`."""
        view = target.cast("B")
        view[:] = ctypes.string_at(self._inside(address, view.nbytes), view.nbytes)

    def copy(self, target: int, source: int, nbytes: int, stream: Stream | None = None) -> None:
        """Copy between two blocks; they may overlap."""
        ctypes.memmove(self._inside(target, nbytes), self._inside(source, nbytes), nbytes)

    def dlpack_device(self) -> tuple[int, int]:
        return (DLPACK_CPU, 0)

    def _inside(self, address: int, nbytes: int) -> int:
        """`address`, after checking that `nbytes` from it lie inside one live block."""
        with self._lock:
            for start, (size, _) in self._blocks.items():
                if start <= address and address + nbytes <= start + size:
                    return address
        raise ValueError(f"{nbytes} bytes at {address:#x} do not lie in a live block")


class HostStream:
    """The one stream of the CPU: work is complete when it is submitted."""

    @property
    def handle(self) -> int:
        return 0

    def synchronize(self) -> None:
        """Nothing is ever pending."""


class HostEvent:
    """A point in time."""

    def __init__(self) -> None:
        self.recorded_ns: int | None = None

    def record(self, stream: Stream | None = None) -> None:
        self.recorded_ns = time.perf_counter_ns()

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing is ever pending."""

    def synchronize(self) -> None:
        """Nothing is ever pending."""

    def elapsed_ms(self, later: Event) -> float:
        """Milliseconds from this event to `later`; both have to be recorded."""
        if not isinstance(later, HostEvent) or self.recorded_ns is None or later.recorded_ns is None:
            raise ValueError("both events have to be recorded events of the CPU backend")
        return (later.recorded_ns - self.recorded_ns) / 1e6
