"""What a launch has left for the host: the error that a thread reported, and what threads printed.

Takes the words of a report and the sites of the kernel; gives the exception, with the kernel's line in its traceback
and the block and the thread in its text, or prints.
"""

from __future__ import annotations

from typing import Any

from quadrants.host import traceback
from quadrants.host.hostcall import split
from quadrants.ir.boxing import box, resolve
from quadrants.ir.core import Loc, Scope
from quadrants.types import TupleType
from quadrants.types.text import parse_type
from quadrants_vulkan.lower.errors import BLOCK, LEAVES, REPORT_BYTES, SITE, THREAD, leaves_of
from quadrants_vulkan.lower.kernel import Facts
from quadrants_vulkan.lower.prints import RECORDS


def _arguments(type: TupleType, words: Any, start: int) -> tuple[Any, ...]:
    """The values of what is told."""
    raw = [int(words[start + LEAVES + index]) for index in range(2 * len(type.leaves()))]
    values: tuple[Any, ...] = box(type, iter(leaves_of(type, raw)))
    return values


def error_of(facts: Facts, words: Any) -> Exception | None:
    """The exception of the program that a report tells of; None: nothing was reported."""
    number = words[SITE]
    if not number:
        return None
    site = facts.sites[number - 1]
    type = parse_type(site.args)
    assert isinstance(type, TupleType)
    args = _arguments(type, words, 0)
    block, thread = (tuple(int(words[first + axis]) for axis in range(3)) for first in (BLOCK, THREAD))
    where = f"in block {block}, thread {thread} of {facts.kernel}()"
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


def print_all(facts: Facts, words: Any) -> None:
    """Print what threads printed. `words`: from the count of records on."""
    count = int(words[0])
    for index in range(min(count, RECORDS)):
        start = 4 + index * (REPORT_BYTES // 4)
        items, keywords = split(parse_type(facts.sites[words[start + SITE]].args))
        print(*_arguments(TupleType(items), words, start), **keywords)  # type: ignore[call-overload]
    if count > RECORDS:
        print(f"... and {count - RECORDS} lines more of {facts.kernel}(): a launch has room for {RECORDS}")
