"""Where the words of the thread pool's state are, for its code and for Python."""

from __future__ import annotations

MAX_THREADS = 256

# The state of the pool, each hot word on cache lines of its own.
EPOCH = 0  # i32: counts the regions
SLEEPERS = 128  # i32: how many workers sleep on the epoch
OPEN = 256  # i64: a bit for each slot with an open region
USED = 384  # i64: a bit for each slot that is taken
STARTED = 512  # i32: how many workers there are
LOCK = 516  # i32: taken while workers are started
WANTED = 520  # i32: how many threads a region may have
LIMITS = 640  # i64 for each worker: the lowest frame of recursive functions
SLOTS = 2816
POOL_BYTES = SLOTS + 64 * 128
assert LIMITS + 8 * (MAX_THREADS + 1) <= SLOTS


def at(name: str, offset: int) -> str:
    """An instruction: the address of a word of the state."""
    return f"  %{name} = getelementptr i8, ptr @qd_pool, i64 {offset}"
