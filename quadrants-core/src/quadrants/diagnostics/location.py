"""Where in the user's program something happened.

Takes positions as CPython's `co_positions()` gives them; gives the frozen `SourceLocation` that every operation, error and
decision carries. Nothing here reads files: `diagnostics.excerpt` does, when a text is made.
"""

from __future__ import annotations

import os
import types

from quadrants._frozen import frozen

Positions = tuple[int | None, int | None, int | None, int | None]


@frozen
class SourceLocation:
    """A range of source text.

    Lines count from 1. Columns count UTF-8 bytes from 0, as `co_positions()` does; `end_col` is exclusive. A part that is
    not known is None (the interpreter may run without column information).
    """

    filename: str
    line: int | None
    col: int | None = None
    end_line: int | None = None
    end_col: int | None = None
    function: str | None = None

    @classmethod
    def at(cls, code: types.CodeType, positions: Positions) -> SourceLocation:
        """The location of `positions`, an element of `code.co_positions()`, inside `code`."""
        line, end_line, col, end_col = positions
        return cls(code.co_filename, line, col, end_line, end_col, code.co_qualname)

    @classmethod
    def of_instruction(cls, code: types.CodeType, offset: int) -> SourceLocation:
        """The location of the instruction at byte `offset` of `code`."""
        for index, positions in enumerate(code.co_positions()):
            if index == offset // 2:
                return cls.at(code, positions)
        return cls.of_code(code)

    @classmethod
    def of_code(cls, code: types.CodeType) -> SourceLocation:
        """The first line of `code`: for what concerns a function as a whole."""
        return cls(code.co_filename, code.co_firstlineno, None, None, None, code.co_qualname)

    @property
    def short(self) -> str:
        """`file.py:line:col`, the file without its folders, the column counted from 1 in bytes."""
        parts = [os.path.basename(self.filename) or self.filename]
        parts += [str(n) for n in (self.line, None if self.col is None else self.col + 1) if n is not None]
        return ":".join(parts)
