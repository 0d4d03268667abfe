"""What a launch on a device leaves for the host: the error that a thread reported, and what threads printed.

Takes the words of a report and the sites of the kernel; gives the exception, with the kernel's line in its traceback
and the block and the thread in its text, or prints. A report is a word with the number of the site (0: none), the block,
the thread, and the leaves of the exception's arguments as two words each. Prints begin with a word that counts them, in
16 bytes; each is a record laid out as a report. Backends whose kernels cannot call the host write their reports so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrants._frozen import frozen
from quadrants.host import traceback
from quadrants.host.hostcall import split
from quadrants.ir.boxing import box, resolve
from quadrants.ir.origin import Loc, Scope
from quadrants.types import Scalar, TupleType
from quadrants.types.text import parse_type

#: Words of the report: the site, the block, the thread; then the leaves.
SITE, BLOCK, THREAD, LEAVES = 0, 1, 4, 8
#: How many leaves a report has room for; what an exception has more is not told.
MOST_LEAVES = 12
REPORT_BYTES = 4 * (LEAVES + 2 * MOST_LEAVES)
#: How many prints a launch has room for, and the bytes of all of them with their count.
RECORDS = 1024
RECORDS_BYTES = 16 + RECORDS * REPORT_BYTES


@frozen
class Site:
    """A place that tells the host something: it raises, or it prints.

    Args:
        exc: the class of the exception; empty: it prints.
        args: the type of the arguments, as text.
        filename, qualname, firstlineno: the function.
        line, col, end_line, end_col: where in it.
    """

    exc: str
    args: str
    filename: str
    qualname: str
    firstlineno: int
    line: int = 0
    col: int = 0
    end_line: int = 0
    end_col: int = 0


def leaves_of(type: TupleType, words: Sequence[int]) -> list[Any]:
    """The leaves of an exception's arguments, from the words of a report."""
    leaves: list[Any] = []
    for leaf, (low, high) in zip(type.leaves(), zip(words[0::2], words[1::2])):
        assert isinstance(leaf, Scalar)
        raw = np.array([low, high], np.uint32)
        if leaf.is_float:
            leaves.append(raw.view(np.float64)[0] if leaf.bits == 64 else raw.view(np.float32)[0])
        elif leaf.is_bool:
            leaves.append(bool(low))
        else:
            long = int(raw.view(np.int64)[0])
            leaves.append(long if leaf.is_signed else long & ((1 << leaf.bits) - 1))
    return leaves


def _arguments(type: TupleType, words: Any, start: int) -> tuple[Any, ...]:
    """The values of what is told."""
    raw = [int(words[start + LEAVES + index]) for index in range(2 * len(type.leaves()))]
    values: tuple[Any, ...] = box(type, iter(leaves_of(type, raw)))
    return values


def error_of(sites: Sequence[Site], kernel: str, words: Any) -> Exception | None:
    """The exception of the program that a report tells of; None: nothing was reported."""
    number = int(words[SITE])
    if not number:
        return None
    site = sites[number - 1]
    type = parse_type(site.args)
    assert isinstance(type, TupleType)
    args = _arguments(type, words, 0)
    block, thread = (tuple(int(words[first + axis]) for axis in range(3)) for first in (BLOCK, THREAD))
    where = f"in block {block}, thread {thread} of {kernel}()"
    try:
        cls = resolve(site.exc)
    except LookupError:  # a class that has no name at module level
        cls = RuntimeError
    if args and isinstance(args[0], str):
        args = (f"{args[0]} ({where})", *args[1:])
    error: Exception = cls(*args)
    if not (args and isinstance(args[0], str)):
        error.add_note(where)
    scope = Scope(site.filename, site.qualname, site.firstlineno)
    loc = Loc(site.line, site.col, site.end_line, site.end_col) if site.line else None
    return error.with_traceback(traceback.build([(scope, loc)]))


def print_all(sites: Sequence[Site], kernel: str, words: Any) -> None:
    """Print what threads printed. `words`: from the count of records on."""
    count = int(words[0])
    for index in range(min(count, RECORDS)):
        start = 4 + index * (REPORT_BYTES // 4)
        items, keywords = split(parse_type(sites[int(words[start + SITE])].args))
        print(*_arguments(TupleType(items), words, start), **keywords)  # type: ignore[call-overload]
    if count > RECORDS:
        print(f"... and {count - RECORDS} lines more of {kernel}(): a launch has room for {RECORDS}")
