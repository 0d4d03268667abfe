"""Small programs in QIR's text form, for tests of control flow, arrays and exceptions."""

from __future__ import annotations

import textwrap

from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.spec import verify


def module(text: str) -> Module:
    """The module, verified. `entry @f` is added."""
    parsed = parse_module("qir 1\nentry @f\n\n" + textwrap.dedent(text))
    verify(parsed)
    return parsed
