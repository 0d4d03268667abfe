"""macOS: as on Linux, but code lives in MAP_JIT memory, which each thread opens for writing (Apple silicon). Not yet tested."""

from __future__ import annotations

import ctypes
import mmap
import os

_MAP_JIT = 0x800
_MAP_FIXED = 0x10
_PROT_NONE = 0
_FAILED = ctypes.c_void_p(-1).value
_ALL = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC


#: UL_COMPARE_AND_WAIT, UL_COMPARE_AND_WAIT + ULF_WAKE_ALL
_WAITING = """
declare i32 @__ulock_wait(i32, ptr, i64, i32)
declare i32 @__ulock_wake(i32, ptr, i64)

define internal void @qd_os_wait(ptr %word, i32 %expected, i64 %nanoseconds) noinline {
  %forever = icmp slt i64 %nanoseconds, 0
  %micros = udiv i64 %nanoseconds, 1000
  %small = trunc i64 %micros to i32
  %limit = select i1 %forever, i32 0, i32 %small
  %value = zext i32 %expected to i64
  %status = call i32 @__ulock_wait(i32 1, ptr %word, i64 %value, i32 %limit)
  ret void
}

define internal void @qd_os_wake(ptr %word, i32 %count) noinline {
  %one = icmp eq i32 %count, 1
  %operation = select i1 %one, i32 1, i32 257
  %status = call i32 @__ulock_wake(i32 %operation, ptr %word, i64 0)
  ret void
}
"""


class MacOS:
    """See `System`.

    On Apple silicon a MAP_JIT range is mapped readable, writable and executable once, and the hardware lets a thread either
    write or run it: `write` opens it for its own duration. Data must be writable while code runs, so `make_writable`
    maps ordinary memory over its part of the range.
    """

    page_size = mmap.PAGESIZE

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        size, address, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
        self._mmap = libc["mmap"]
        self._mmap.restype = address
        self._mmap.argtypes = (address, size, number, number, number, ctypes.c_longlong)
        self._mprotect = libc["mprotect"]
        self._mprotect.argtypes = (address, size, number)
        self._libc = libc
        self._is_arm = os.uname().machine == "arm64"

    def reserve(self, size: int) -> int:
        return self._map(None, size, _PROT_NONE, 0)

    def make_writable(self, address: int, size: int) -> None:
        self._map(address, size, mmap.PROT_READ | mmap.PROT_WRITE, _MAP_FIXED)

    def make_executable(self, address: int, size: int) -> None:
        if self._is_arm:
            # Fresh MAP_JIT memory takes the place of the written pages; they are copied through a thread-local opening.
            data = ctypes.string_at(address, size)
            self._map(address, size, _ALL, _MAP_FIXED | _MAP_JIT)
            protect = self._libc["pthread_jit_write_protect_np"]
            protect(0)
            ctypes.memmove(address, data, size)
            protect(1)
            flush = self._libc["sys_icache_invalidate"]
            flush.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
            flush(address, size)
        elif self._mprotect(address, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
            raise OSError(ctypes.get_errno(), "cannot change the protection of memory for compiled code")

    def write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def stack_bounds(self) -> tuple[int, int]:
        thread = self._libc["pthread_self"]
        thread.restype = ctypes.c_void_p
        top = self._libc["pthread_get_stackaddr_np"]
        top.restype, top.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
        size = self._libc["pthread_get_stacksize_np"]
        size.restype, size.argtypes = ctypes.c_size_t, (ctypes.c_void_p,)
        high = top(thread()) or 0
        return high - size(thread()), high

    def threads_text(self) -> str:
        from quadrants.host.os.posix_threads import pause_text, threads_text  # for the first parallel code

        return _WAITING + threads_text(set_mask=3, detached=2, clock=6) + pause_text(self._is_arm)

    def _map(self, address: int | None, size: int, protection: int, flags: int) -> int:
        flags |= mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        found = self._mmap(address, size, protection, flags, -1, 0)
        if found is None or found == _FAILED:
            raise OSError(ctypes.get_errno(), "cannot map memory for compiled code")
        return int(found)
