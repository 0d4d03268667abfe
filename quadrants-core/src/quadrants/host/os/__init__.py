"""What the host needs from the operating system: executable memory, the bounds of a thread's stack, threads that wait.

One module a system, chosen once. Linux is tested; macOS and Windows are written to their documentation and not yet tested.
"""

from __future__ import annotations

import functools
import sys
from typing import Protocol

if sys.platform == "win32":
    from quadrants.host.os.windows import Windows as _System
elif sys.platform == "darwin":
    from quadrants.host.os.macos import MacOS as _System
else:
    from quadrants.host.os.linux import Linux as _System


class System(Protocol):
    """Memory comes from a reserved range, so that what is loaded is near to each other. Addresses are page-aligned integers."""

    @property
    def page_size(self) -> int: ...

    def reserve(self, size: int) -> int:
        """Reserve address space without memory behind it. OSError if there is none."""
        ...

    def make_writable(self, address: int, size: int) -> None:
        """Back a reserved range by zeroed memory, readable and writable."""
        ...

    def make_executable(self, address: int, size: int) -> None:
        """Turn a written range into code: readable and executable, no longer writable; the instruction cache is made coherent."""
        ...

    def write(self, address: int, data: bytes) -> None:
        """Copy into a range that is still writable."""
        ...

    def stack_bounds(self) -> tuple[int, int]:
        """The calling thread's stack: lowest address, highest address. (0, 0) if not known."""
        ...

    def threads_text(self) -> str:
        """LLVM text for the thread pool, internal functions all:

        - `void @qd_os_wait(ptr word, i32 expected, i64 nanoseconds)` sleeps while the word has the expected value, until
          it is woken, the time (if it is not negative) is over, or without a reason;
        - `void @qd_os_wake(ptr word, i32 count)` wakes so many that sleep on the word, or more;
        - `i32 @qd_os_start(ptr function, i64 argument, i64 stack bytes)` starts a thread that takes no signals; 0 if it runs;
        - `i64 @qd_os_now()` is a clock in nanoseconds; `void @qd_os_pause()` goes into loops that wait.
        """
        ...


@functools.cache
def system() -> System:
    """The running system."""
    return _System()
