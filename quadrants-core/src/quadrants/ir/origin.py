"""Where an operation comes from: the place in the source, and the function.

Apart from the rest of QIR, since the tables of loaded code have them too: a cached call loads this module alone.
"""

from __future__ import annotations

from quadrants._frozen import frozen


@frozen
class Loc:
    """Where an op comes from: lines from 1, columns from 0 as CPython counts them, and the bytecode offset."""

    line: int
    col: int = 0
    end_line: int = 0
    end_col: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"@{self.line}:{self.col}"


@frozen
class Scope:
    """The Python function that an IR function was made from. `internal` marks the library's own, hidden from tracebacks."""

    filename: str
    qualname: str
    firstlineno: int
    internal: bool = False
