"""The one exception of this package: the bytecode cannot be read as structured code."""

from __future__ import annotations


class BytecodeError(Exception):
    """The code object is not something that a Python compiler makes (or uses an unknown instruction).

    `offset` is the byte offset of the offending instruction and `lineno` its source line, where known.
    """

    def __init__(self, message: str, offset: int | None = None, lineno: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.lineno = lineno

    def __str__(self) -> str:
        where = [f"line {self.lineno}"] if self.lineno is not None else []
        where += [f"offset {self.offset}"] if self.offset is not None else []
        return f"{self.message} ({', '.join(where)})" if where else self.message
