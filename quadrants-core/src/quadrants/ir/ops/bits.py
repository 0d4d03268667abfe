"""Bitwise logic, shifts and bit counting on integers, and logic on booleans."""

from __future__ import annotations

from quadrants.ir.opdef import OpDef
from quadrants.ir.ops import rules

_LOGICAL = rules.same(2, rules.is_logical, "integers or booleans")
_SHIFT = rules.same(2, rules.is_int, "integers")
_COUNT = rules.same(1, rules.is_int, "an integer")
_NONE = "none: integers"

DEFS = (
    OpDef("and", _LOGICAL, doc="Bitwise and; logical and of booleans.", derivative=_NONE),
    OpDef("or", _LOGICAL, doc="Bitwise or; logical or of booleans.", derivative=_NONE),
    OpDef("xor", _LOGICAL, doc="Bitwise exclusive or; inequality of booleans.", derivative=_NONE),
    OpDef(
        "not",
        rules.same(1, rules.is_logical, "an integer or a boolean"),
        doc="Bitwise complement; logical negation of a boolean.",
        derivative=_NONE,
    ),
    OpDef(
        "shl",
        _SHIFT,
        doc="Shift left, bits lost; 0 if the count is negative or at least the width.",
        derivative=_NONE,
    ),
    OpDef(
        "shr",
        _SHIFT,
        doc="Shift right, arithmetic if signed; 0 or -1 (the sign) if the count is negative or at least the width.",
        derivative=_NONE,
    ),
    OpDef("popcount", _COUNT, doc="How many bits are set.", derivative=_NONE),
    OpDef("clz", _COUNT, doc="Leading zero bits; the width for 0.", derivative=_NONE),
    OpDef("ctz", _COUNT, doc="Trailing zero bits; the width for 0.", derivative=_NONE),
    OpDef("bitreverse", _COUNT, doc="The bits in reverse order.", derivative=_NONE),
    OpDef("bswap", _COUNT, doc="The bytes in reverse order.", derivative=_NONE),
)
