"""Raw instructions: what is read from a code object, or from a listing that was recorded on another Python version.

Takes a code object; gives `RawCode`: instructions with their (prefix-extended) arguments, offsets and positions, the
exception table and the name tables. Nothing here depends on the version: caches are the zero opcode on all of them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from opcode import EXTENDED_ARG, opname  # what `dis` gives on, without its imports

from quadrants._frozen import frozen

from .error import BytecodeError
from .opcode import Loc

CACHE = 0  # the opcode of an inline cache

# Bits of `co_flags` (as in `inspect`, which takes long to import).
CO_VARARGS, CO_VARKEYWORDS = 0x4, 0x8
CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class RawInst:
    """An instruction. `start` is where its EXTENDED_ARG prefixes begin, `next` the offset after its caches."""

    __slots__ = ("arg", "loc", "next", "opname", "start")

    def __init__(self, opname: str, arg: int, loc: Loc, start: int, next: int) -> None:
        self.opname = opname
        self.arg = arg
        self.loc = loc
        self.start = start
        self.next = next


@frozen
class Handler:
    """An entry of the exception table: exceptions in [start, end) go to `target` with the stack cut to `depth`."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@frozen
class RawCode:
    """What the decoder needs of a code object. `slots` are varnames, then further cells, then free variables."""

    name: str
    filename: str
    firstlineno: int
    argcount: int
    posonly: int
    kwonly: int
    flags: int
    consts: tuple[object, ...]
    names: tuple[str, ...]
    slots: tuple[str, ...]
    cells: frozenset[str]
    insts: tuple[RawInst, ...]
    handlers: tuple[Handler, ...]


def read(code: types.CodeType) -> RawCode:
    """Reads a code object of the running interpreter."""
    cells = code.co_cellvars
    slots = code.co_varnames + tuple(c for c in cells if c not in code.co_varnames) + code.co_freevars
    return RawCode(
        name=code.co_qualname,
        filename=code.co_filename,
        firstlineno=code.co_firstlineno,
        argcount=code.co_argcount,
        posonly=code.co_posonlyargcount,
        kwonly=code.co_kwonlyargcount,
        flags=code.co_flags,
        consts=code.co_consts,
        names=code.co_names,
        slots=slots,
        cells=frozenset(cells + code.co_freevars),
        insts=tuple(_instructions(code)),
        handlers=tuple(_exception_table(code.co_exceptiontable)),
    )


def is_generator(flags: int) -> bool:
    """Whether calling the function makes a generator, coroutine or asynchronous generator."""
    return bool(flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))


def _instructions(code: types.CodeType) -> Iterator[RawInst]:
    units = code.co_code
    positions = list(code.co_positions())
    opnames, prefix_op = opname, EXTENDED_ARG
    size = len(units)
    offset = start = prefix = 0
    while offset < size:
        op, arg = units[offset], units[offset + 1] | prefix
        if op == prefix_op:
            if arg > 0xFFFFFF:
                raise BytecodeError("more than three EXTENDED_ARG prefixes", offset)
            prefix = arg << 8
            offset += 2
            continue
        after = offset + 2
        while after < size and units[after] == CACHE:
            after += 2
        line, end_line, col, end_col = positions[offset >> 1]
        yield RawInst(opnames[op], arg, Loc(line, col, end_line, end_col, offset), start, after)
        offset = start = after
        prefix = 0
    if prefix:
        raise BytecodeError("the code ends in an EXTENDED_ARG prefix", start)


def _exception_table(table: bytes) -> Iterator[Handler]:
    """Decodes `co_exceptiontable`: four variable-length numbers an entry, six bits a byte, bit 6 = more follow."""
    numbers: list[int] = []
    value, open_number = 0, False
    for byte in table:
        value = (value << 6) | (byte & 0x3F)
        open_number = bool(byte & 0x40)
        if not open_number:
            numbers.append(value)
            value = 0
    if open_number or len(numbers) % 4:
        raise BytecodeError("the exception table is cut short")
    for i in range(0, len(numbers), 4):
        start, length, target, depth = numbers[i : i + 4]
        yield Handler(2 * start, 2 * (start + length), 2 * target, depth >> 1, bool(depth & 1))
