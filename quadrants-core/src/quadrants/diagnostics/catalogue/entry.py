"""The texts of one diagnostic code."""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.diagnostics.codes import Code


@frozen
class Entry:
    """The texts of one code. `example` is a program that shows the diagnostic, `hint` the usual way out."""

    code: Code
    title: str
    explanation: str
    example: str
    hint: str
