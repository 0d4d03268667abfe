"""Linux: mmap and mprotect through libc, the stack through pthread_getattr_np, threads that wait by futex."""

from __future__ import annotations

import ctypes
import os

# As in <sys/mman.h>, on every Linux; the module `mmap` takes longer to load than all that is done here.
_PROT_NONE, _PROT_READ, _PROT_WRITE, _PROT_EXEC = 0, 1, 2, 4
_MAP_PRIVATE, _MAP_ANONYMOUS, _MAP_NORESERVE = 0x02, 0x20, 0x4000
_FAILED = ctypes.c_void_p(-1).value
_PTHREAD_ATTR_BYTES = 128  # at least sizeof(pthread_attr_t) of every libc (glibc: 56 or 64)


#: The number of the system call futex, and its operations for words that only this process uses.
_FUTEX = {False: 202, True: 98}  # x86-64, Arm64
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129

_WAITING = """
declare i64 @syscall(i64, ...)

define internal void @qd_os_wait(ptr %word, i32 %expected, i64 %nanoseconds) noinline {{
  %time = alloca [2 x i64], align 16
  %seconds = udiv i64 %nanoseconds, 1000000000
  %rest = urem i64 %nanoseconds, 1000000000
  store i64 %seconds, ptr %time
  %rest.at = getelementptr i8, ptr %time, i64 8
  store i64 %rest, ptr %rest.at
  %forever = icmp slt i64 %nanoseconds, 0
  %limit = select i1 %forever, ptr null, ptr %time
  %status = call i64 (i64, ...) @syscall(i64 {futex}, ptr %word, i32 {wait}, i32 %expected, ptr %limit, ptr null, i32 0)
  ret void
}}

define internal void @qd_os_wake(ptr %word, i32 %count) noinline {{
  %status = call i64 (i64, ...) @syscall(i64 {futex}, ptr %word, i32 {wake}, i32 %count, ptr null, ptr null, i32 0)
  ret void
}}
"""


class Linux:
    """See `System`."""

    page_size = os.sysconf("SC_PAGE_SIZE")

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        size, address, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
        self._mmap = libc["mmap"]
        self._mmap.restype = address
        self._mmap.argtypes = (address, size, number, number, number, ctypes.c_long)
        self._mprotect = libc["mprotect"]
        self._mprotect.argtypes = (address, size, number)
        self._libc = libc
        self._is_arm = os.uname().machine in ("aarch64", "arm64")

    def reserve(self, size: int) -> int:
        flags = _MAP_PRIVATE | _MAP_ANONYMOUS | _MAP_NORESERVE
        address = self._mmap(None, size, _PROT_NONE, flags, -1, 0)
        if address is None or address == _FAILED:
            raise OSError(ctypes.get_errno(), "cannot reserve address space for compiled code")
        return int(address)

    def make_writable(self, address: int, size: int) -> None:
        self._protect(address, size, _PROT_READ | _PROT_WRITE)

    def make_executable(self, address: int, size: int) -> None:
        self._protect(address, size, _PROT_READ | _PROT_EXEC)
        if self._is_arm:
            clear = ctypes.CDLL("libgcc_s.so.1")["__clear_cache"]
            clear.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
            clear(address, address + size)

    def write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def stack_bounds(self) -> tuple[int, int]:
        attributes = ctypes.create_string_buffer(_PTHREAD_ATTR_BYTES)
        low, size = ctypes.c_size_t(), ctypes.c_size_t()
        thread = self._libc["pthread_self"]
        thread.restype = ctypes.c_void_p
        get = self._libc["pthread_getattr_np"]
        get.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        if get(thread(), attributes) != 0:
            return 0, 0
        found = self._libc["pthread_attr_getstack"](attributes, ctypes.byref(low), ctypes.byref(size)) == 0
        self._libc["pthread_attr_destroy"](attributes)
        return (low.value, low.value + size.value) if found else (0, 0)

    def threads_text(self) -> str:
        from quadrants.host.os.posix_threads import pause_text, threads_text  # for the first parallel code

        waiting = _WAITING.format(futex=_FUTEX[self._is_arm], wait=_FUTEX_WAIT, wake=_FUTEX_WAKE)
        return waiting + threads_text(set_mask=2, detached=1, clock=1) + pause_text(self._is_arm)

    def _protect(self, address: int, size: int, protection: int) -> None:
        if self._mprotect(address, size, protection) != 0:
            raise OSError(ctypes.get_errno(), "cannot change the protection of memory for compiled code")
