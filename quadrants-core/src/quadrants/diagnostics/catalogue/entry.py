"""The texts of one diagnostic code."""

from __future__ import annotations

from dataclasses import dataclass

from quadrants.diagnostics.codes import Code


@dataclass(frozen=True, slots=True)
class Entry:
    """The texts of one code. `example` is a program that shows the diagnostic, `hint` the usual way out."""

    code: Code
    title: str
    explanation: str
    example: str
    hint: str
