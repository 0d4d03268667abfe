"""Windows: VirtualAlloc and VirtualProtect. Not yet tested."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

_MEM_COMMIT, _MEM_RESERVE = 0x1000, 0x2000
_PAGE_NOACCESS, _PAGE_READWRITE, _PAGE_EXECUTE_READ = 0x01, 0x04, 0x20


_THREADS = """
declare i32 @WaitOnAddress(ptr, ptr, i64, i32)
declare void @WakeByAddressSingle(ptr)
declare void @WakeByAddressAll(ptr)
declare ptr @CreateThread(ptr, i64, ptr, ptr, i32, ptr)
declare i32 @CloseHandle(ptr)
declare i32 @QueryPerformanceCounter(ptr)
declare i32 @QueryPerformanceFrequency(ptr)
declare void @llvm.x86.sse2.pause()

define internal void @qd_os_wait(ptr %word, i32 %expected, i64 %nanoseconds) noinline {
  %compare = alloca i32
  store i32 %expected, ptr %compare
  %millis = udiv i64 %nanoseconds, 1000000
  %small = trunc i64 %millis to i32
  %forever = icmp slt i64 %nanoseconds, 0
  %limit = select i1 %forever, i32 -1, i32 %small
  %status = call i32 @WaitOnAddress(ptr %word, ptr %compare, i64 4, i32 %limit)
  ret void
}

define internal void @qd_os_wake(ptr %word, i32 %count) noinline {
  %one = icmp eq i32 %count, 1
  br i1 %one, label %single, label %all
single:
  call void @WakeByAddressSingle(ptr %word)
  ret void
all:
  call void @WakeByAddressAll(ptr %word)
  ret void
}

define internal i32 @qd_os_start(ptr %function, i64 %argument, i64 %stack) noinline {
  %word = inttoptr i64 %argument to ptr
  %handle = call ptr @CreateThread(ptr null, i64 %stack, ptr %function, ptr %word, i32 65536, ptr null)
  %failed = icmp eq ptr %handle, null
  br i1 %failed, label %none, label %started
started:
  %closed = call i32 @CloseHandle(ptr %handle)
  ret i32 0
none:
  ret i32 1
}

define internal i64 @qd_os_now() {
  %count.at = alloca i64
  %rate.at = alloca i64
  %a = call i32 @QueryPerformanceCounter(ptr %count.at)
  %b = call i32 @QueryPerformanceFrequency(ptr %rate.at)
  %count = load i64, ptr %count.at
  %rate = load i64, ptr %rate.at
  %seconds = udiv i64 %count, %rate
  %rest = urem i64 %count, %rate
  %whole = mul i64 %seconds, 1000000000
  %scaled = mul i64 %rest, 1000000000
  %part = udiv i64 %scaled, %rate
  %now = add i64 %whole, %part
  ret i64 %now
}

define internal void @qd_os_pause() {
  call void @llvm.x86.sse2.pause()
  ret void
}
"""


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

    def threads_text(self) -> str:
        return _THREADS

    @staticmethod
    def _checked(result: int | None) -> int:
        if not result:
            error = getattr(ctypes, "get_last_error")()  # noqa: B009
            raise OSError(error, "cannot get memory for compiled code")
        return int(result)
