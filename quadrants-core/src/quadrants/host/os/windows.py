"""Windows: VirtualAlloc and VirtualProtect. Not yet tested."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

_MEM_COMMIT, _MEM_RESERVE = 0x1000, 0x2000
_PAGE_NOACCESS, _PAGE_READWRITE, _PAGE_EXECUTE_READ = 0x01, 0x04, 0x20


class Windows:
    """See `System`."""

    page_size = mmap.PAGESIZE

    def __init__(self) -> None:
        windll: Any = getattr(ctypes, "WinDLL")  # noqa: B009  (absent from the type stubs elsewhere)
        kernel = windll("kernel32", use_last_error=True)
        size, address, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_ulong
        self._alloc = kernel["VirtualAlloc"]
        self._alloc.restype = address
        self._alloc.argtypes = (address, size, number, number)
        self._protect = kernel["VirtualProtect"]
        self._protect.argtypes = (address, size, number, ctypes.POINTER(number))
        self._flush = kernel["FlushInstructionCache"]
        self._flush.argtypes = (address, address, size)
        self._process = kernel["GetCurrentProcess"]
        self._process.restype = address
        self._limits = kernel["GetCurrentThreadStackLimits"]

    def reserve(self, size: int) -> int:
        return self._checked(self._alloc(None, size, _MEM_RESERVE, _PAGE_NOACCESS))

    def make_writable(self, address: int, size: int) -> None:
        self._checked(self._alloc(address, size, _MEM_COMMIT, _PAGE_READWRITE))

    def make_executable(self, address: int, size: int) -> None:
        before = ctypes.c_ulong()
        self._checked(self._protect(address, size, _PAGE_EXECUTE_READ, ctypes.byref(before)))
        self._flush(self._process(), address, size)

    def write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def stack_bounds(self) -> tuple[int, int]:
        low, high = ctypes.c_size_t(), ctypes.c_size_t()
        self._limits(ctypes.byref(low), ctypes.byref(high))
        return low.value, high.value

    @staticmethod
    def _checked(result: int | None) -> int:
        if not result:
            error = getattr(ctypes, "get_last_error")()  # noqa: B009
            raise OSError(error, "cannot get memory for compiled code")
        return int(result)
