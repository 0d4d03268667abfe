"""What a thread carries, and what it leaves for the host: layouts, no code.

The context is the one of `lower.abi`, in memory of the thread, so that checks and exceptions lower as they do on the CPU; the
words of its header that only a host uses hold the launch. The report is memory of the device that the host reads when it waits:
the first exception that left a thread, with its context, and what threads printed.
"""

from __future__ import annotations

from quadrants.lower import abi

# The context: parts of the header of `abi`
REPORT = abi.CTX_SELF  # i64: the address of the report
GRID = 16  # 3 x i32: blocks
BLOCK = 28  # 3 x i32: threads of a block
FIRST = 40  # 3 x i32: the first block of this launch, where a grid takes several
DYNAMIC = 52  # i32: bytes of dynamic shared memory

# The report
STATUS = 0  # i32: the exception value of the first thread that failed; 0: none did
AT_BLOCK = 4  # 3 x i32
AT_THREAD = 16  # 3 x i32
FAILED = 32  # the context of that thread
PRINTED = FAILED + (abi.CTX_BYTES + 15) // 16 * 16  # i32: how many records were printed, or would have been
RECORDS = PRINTED + 16
REPORT_BYTES = RECORDS

# A record of a print
RECORD_SITE = 0  # i32
RECORD_WORDS = 8  # MOST_WORDS x i64
MOST_WORDS = 16
RECORD_BYTES = RECORD_WORDS + 8 * MOST_WORDS
#: How many prints a launch has room for.
MOST_RECORDS = 1024
PRINT_BYTES = MOST_RECORDS * RECORD_BYTES


def context_bytes(raises: bool) -> int:
    """The size of a context: without records, where nothing raises."""
    return abi.CTX_BYTES if raises else abi.CTX_HEADER_BYTES
