"""What a launch on a GPU has left for the host, in the layout of `lower.gpu.context`.

Takes the facts of a kernel, and the bytes of a report when the launch is over; prints what threads printed, and gives the
exception of the first thread that failed, with its lines in the traceback and the block and the thread in its text.
"""

from __future__ import annotations

import ctypes
import struct

from quadrants.host import hostcall
from quadrants.host.raising import Handler
from quadrants.lower.gpu import context
from quadrants.lower.gpu.kernel import Facts
from quadrants.types import NONE


class Reader:
    """Reads the reports of one kernel."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._sites, classes = facts.sites_and_classes()
        self._handler = Handler(self._sites, classes, NONE)
        self.nbytes = context.REPORT_BYTES + (context.PRINT_BYTES if facts.prints else 0)

    def look(self, data: bytearray) -> Exception | None:
        """Print what threads printed; the exception that one of them raised."""
        held = (ctypes.c_char * len(data)).from_buffer(data)
        start = ctypes.addressof(held)
        if self._facts.prints:
            self._print(data, start)
        (status,) = struct.unpack_from("<I", data, context.STATUS)
        if not status:
            return None
        error = self._handler.exception(status, start + context.FAILED, None)
        block = struct.unpack_from("<3I", data, context.AT_BLOCK)
        thread = struct.unpack_from("<3I", data, context.AT_THREAD)
        where = f"in block {block}, thread {thread} of {self._facts.kernel}()"
        if error.args and isinstance(error.args[0], str):
            error.args = (f"{error.args[0]} ({where})", *error.args[1:])
        else:
            error.add_note(where)
        assert isinstance(error, Exception)
        return error

    def _print(self, data: bytearray, start: int) -> None:
        (count,) = struct.unpack_from("<I", data, context.PRINTED)
        for index in range(min(count, context.MOST_RECORDS)):
            at = context.RECORDS + index * context.RECORD_BYTES
            (number,) = struct.unpack_from("<I", data, at + context.RECORD_SITE)
            hostcall.call(self._sites[number], start + at + context.RECORD_WORDS, 0, _nothing_caught)
        if count > context.MOST_RECORDS:
            left = count - context.MOST_RECORDS
            print(f"... and {left} lines more of {self._facts.kernel}(): a launch has room for {context.MOST_RECORDS}")


def _nothing_caught(status: int) -> BaseException:
    return SystemError(f"a kernel printed the exception {status}, which it cannot hold")
