"""What a launch has left for the host: the exception of the first thread that failed, and what threads printed.

Takes the memory of a report and the facts of the kernel; prints, and gives the exception, with the kernel's line in its
traceback and the block and the thread in its text.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from quadrants.host import traceback
from quadrants.host.hostcall import split
from quadrants.ir.boxing import box, resolve
from quadrants.lower.abi import Site
from quadrants.types import Scalar, TupleType, Type
from quadrants_cuda.lower import context
from quadrants_cuda.lower.kernel import Facts


def _number(type: Type, words: list[int]) -> Any:
    """A leaf, from its words: integers as they are, floats as doubles."""
    assert isinstance(type, Scalar)
    doubles = struct.unpack(f"<{len(words)}d", struct.pack(f"<{len(words)}q", *words))
    if type.is_complex:
        return np.complex128(complex(*doubles)) if type.bits == 128 else np.complex64(complex(*doubles))
    if type.is_float:
        return {64: np.float64, 32: np.float32, 16: np.float16}[type.bits](doubles[0])
    if type.is_bool:
        return bool(words[0] & 1)
    return words[0] if type.is_signed else words[0] & ((1 << type.bits) - 1)


def values_of(type: TupleType, words: tuple[int, ...]) -> tuple[Any, ...]:
    """The values that words stand for."""
    leaves, place = [], 0
    for leaf in type.leaves():
        count = 2 if isinstance(leaf, Scalar) and leaf.is_complex else 1
        leaves.append(_number(leaf, list(words[place : place + count])))
        place += count
    values: tuple[Any, ...] = box(type, iter(leaves))
    return values


def _record(memory: Any, offset: int) -> tuple[int, tuple[int, ...]]:
    """The number of the site of a record, and its words."""
    (site,) = struct.unpack_from("<i", memory, offset)
    return site, struct.unpack_from(f"<{context.PAYLOAD_WORDS}q", memory, offset + context.RECORD_PAYLOAD)


def look(facts: Facts, memory: Any) -> Exception | None:
    """Print what was printed; the exception, if there is one."""
    sites, classes = facts.tables()
    if facts.prints:
        _print(facts, sites, memory)
    (taken,) = struct.unpack_from("<i", memory, context.TAKEN)
    return _error(facts, sites, classes, memory) if taken else None


def _error(facts: Facts, sites: tuple[Site, ...], classes: tuple[str, ...], memory: Any) -> Exception:
    number, words = _record(memory, context.RECORD)
    site = sites[number]
    block = struct.unpack_from("<3i", memory, context.BLOCK)
    thread = struct.unpack_from("<3i", memory, context.THREAD)
    where = f"in block {block}, thread {thread} of {facts.kernel}()"
    args: tuple[Any, ...] = ()
    if isinstance(site.args, TupleType):
        args = values_of(site.args, words[1:] if site.chain else words)
    try:
        cls = resolve(classes[site.exc - 1])
    except LookupError:  # a class that has no name at module level
        cls = RuntimeError
    if args and isinstance(args[0], str):
        args = (f"{args[0]} ({where})", *args[1:])
    error: Exception = cls(*args)
    if not (args and isinstance(args[0], str)):
        error.add_note(where)
    return error.with_traceback(traceback.build([(site.scope, site.loc)]))


def _print(facts: Facts, sites: tuple[Site, ...], memory: Any) -> None:
    (count,) = struct.unpack_from("<i", memory, context.PRINTED)
    for index in range(min(count, context.MOST_PRINTS)):
        number, words = _record(memory, context.PRINTS + index * context.RECORD_BYTES)
        args = sites[number].args
        assert args is not None
        items, keywords = split(args)
        print(*values_of(TupleType(items), words), **keywords)  # type: ignore[call-overload]
    if count > context.MOST_PRINTS:
        more = count - context.MOST_PRINTS
        print(f"... and {more} lines more of {facts.kernel}(): a launch has room for {context.MOST_PRINTS}")
