"""Strings that are objects of the interpreter: what compiled code does with them itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Attr, AttrKind, OpDef
from quadrants.ir.ops import rules
from quadrants.types import BOOL, StrType, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def _equals(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.match_types(types, (StrType(),), "the operand")
    text = attrs.get("text")
    if not isinstance(text, str) or not text.isascii() or "\0" in text:
        raise TypeError(f"attribute 'text' must be a string of ASCII characters other than NUL, not {text!r}")
    return (BOOL,)


def _do_equals(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (values[0] == op.attrs["text"],)


DEFS = (
    OpDef(
        "str.eq",
        _equals,
        reference=_do_equals,
        attrs=(Attr("text", AttrKind.STR),),
        doc="Whether the string is `text`, which is ASCII without NUL.",
        derivative="none: a truth value",
    ),
)
