"""What a thread carries: the context that every function takes, and the report that the host reads.

The context is memory of the thread, which LLVM takes apart where no function keeps it: where the report is, the place of
the launch in its grid, and the records of the exceptions that are being handled. The report is memory that the host
sees: the first exception that leaves a kernel, then what threads printed.
"""

from __future__ import annotations

# The context
NEXT_RECORD = 0  # i32: how many records were written
REPORT = 8  # i64: the address of the report
FIRST = 16  # 2 x i32: the first block of this launch along y and z (a grid may take several)
GRID = 24  # 2 x i32: the blocks of the whole grid along y and z
RECORDS = 32

# A record: what an exception carries.
RECORD_SITE = 0  # i32: the number of the site, from 0
RECORD_WORDS = 4  # i32: how many words of the payload are filled
RECORD_PAYLOAD = 8  # PAYLOAD_WORDS x i64
PAYLOAD_WORDS = 16
RECORD_BYTES = RECORD_PAYLOAD + 8 * PAYLOAD_WORDS
#: Records of a kernel that handles exceptions, a power of 2; one is enough for others.
MOST_RECORDS = 8

# The report
TAKEN = 0  # i32: not 0 when a thread has written it
BLOCK = 4  # 3 x i32
THREAD = 16  # 3 x i32
RECORD = 32
PRINTED = RECORD + RECORD_BYTES  # i32: how many records were printed, or would have been
PRINTS = PRINTED + 8
REPORT_BYTES = PRINTS
#: How many prints a launch has room for.
MOST_PRINTS = 1024
PRINT_BYTES = MOST_PRINTS * RECORD_BYTES


def context_bytes(records: int) -> int:
    """The size of a context."""
    return RECORDS + records * RECORD_BYTES
