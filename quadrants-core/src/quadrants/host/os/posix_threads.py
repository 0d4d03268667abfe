"""The part of the thread pool's support that POSIX systems have in common, as LLVM text: to start a thread, to read a clock.

The text defines `i32 @qd_os_start(ptr function, i64 argument, i64 stack bytes)` (0: it runs; all signals are blocked in
it, so that they go to the threads of the program) and `i64 @qd_os_now()` in nanoseconds.
"""

from __future__ import annotations

_SIGSET_BYTES = 128  # at least sizeof(sigset_t), of every libc
_ATTRIBUTE_BYTES = 128  # at least sizeof(pthread_attr_t)


def threads_text(*, set_mask: int, detached: int, clock: int) -> str:
    """The text, with the system's constants SIG_SETMASK, PTHREAD_CREATE_DETACHED and CLOCK_MONOTONIC."""
    return f"""
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_setdetachstate(ptr, i32)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @clock_gettime(i32, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i32 @qd_os_start(ptr %function, i64 %argument, i64 %stack) noinline {{
  %all = alloca [{_SIGSET_BYTES} x i8], align 16
  %before = alloca [{_SIGSET_BYTES} x i8], align 16
  %attributes = alloca [{_ATTRIBUTE_BYTES} x i8], align 16
  %thread = alloca i64, align 16
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 {_SIGSET_BYTES}, i1 false)
  %blocked = call i32 @pthread_sigmask(i32 {set_mask}, ptr %all, ptr %before)
  %begun = call i32 @pthread_attr_init(ptr %attributes)
  %sized = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 %stack)
  %detached = call i32 @pthread_attr_setdetachstate(ptr %attributes, i32 {detached})
  %word = inttoptr i64 %argument to ptr
  %status = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr %function, ptr %word)
  %ended = call i32 @pthread_attr_destroy(ptr %attributes)
  %restored = call i32 @pthread_sigmask(i32 {set_mask}, ptr %before, ptr null)
  ret i32 %status
}}

define internal i64 @qd_os_now() {{
  %time = alloca [2 x i64], align 16
  %status = call i32 @clock_gettime(i32 {clock}, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i8, ptr %time, i64 8
  %rest = load i64, ptr %rest.at
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %rest
  ret i64 %now
}}
"""


def pause_text(is_arm: bool) -> str:
    """`void @qd_os_pause()`: what a thread does in each turn of a loop that waits for another one."""
    if is_arm:
        return '\ndefine internal void @qd_os_pause() {\n  call void asm sideeffect "isb", ""()\n  ret void\n}\n'
    return """
declare void @llvm.x86.sse2.pause()
define internal void @qd_os_pause() {
  call void @llvm.x86.sse2.pause()
  ret void
}
"""
