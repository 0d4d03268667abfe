"""Instruction listings recorded on another Python version, in the text form of `dis`, as raw code.

    4   L1:     LOAD_FAST_BORROW         0 (n)
                POP_JUMP_IF_FALSE        9 (to L2)

A line is: line number (optional), label (optional), name, argument (optional), remark. Of a jump the label counts, not the
number, because a listing shows no caches. `ExceptionTable:` starts the exception table, in `dis`'s form too.
"""

from __future__ import annotations

import re

from quadrants.bytecode.opcode import Loc
from quadrants.bytecode.raw import Handler, RawCode, RawInst

LINE = re.compile(r"^\s*(?:(\d+|--)\s+)?(?:(L\d+):\s*)?([A-Z_][A-Z_0-9]+)(?:\s+(\d+))?\s*(?:\((.*)\))?\s*$")
ENTRY = re.compile(r"^\s*(L\d+) to (L\d+) -> (L\d+) \[(\d+)\]( lasti)?\s*$")


def record(
    text: str,
    *,
    slots: tuple[str, ...],
    argcount: int | None = None,
    consts: tuple[object, ...] = (),
    names: tuple[str, ...] = (),
    cells: tuple[str, ...] = (),
    flags: int = 3,
    name: str = "recorded",
) -> RawCode:
    """The raw code of a listing."""
    code_text, _, table_text = text.partition("ExceptionTable:")
    rows = [match for line in code_text.splitlines() if line.strip() for match in [LINE.match(line)]]
    assert all(rows), text
    labels = {row[2]: 2 * i for i, row in enumerate(rows) if row is not None and row[2]}
    insts = []
    number: int | None = None
    for i, row in enumerate(rows):
        assert row is not None
        if row[1]:
            number = None if row[1] == "--" else int(row[1])
        offset, arg = 2 * i, int(row[4] or 0)
        jump = re.match(r"to (L\d+)", row[5] or "")
        if jump:
            arg = abs(labels[jump[1]] - offset - 2) // 2
        insts.append(RawInst(row[3], arg, Loc(number, i, number, i + 1, offset), offset, offset + 2))
    entries = [ENTRY.match(line) for line in table_text.splitlines() if line.strip()]
    assert all(entries), table_text
    handlers = tuple(
        Handler(labels[e[1]], labels[e[2]], labels[e[3]], int(e[4]), bool(e[5])) for e in entries if e is not None
    )
    return RawCode(
        name=name,
        filename="<recorded>",
        firstlineno=1,
        argcount=len(slots) if argcount is None else argcount,
        posonly=0,
        kwonly=0,
        flags=flags,
        consts=consts,
        names=names,
        slots=slots,
        cells=frozenset(cells),
        insts=tuple(insts),
        handlers=handlers,
    )
