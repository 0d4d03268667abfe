"""Bitwise logic, shifts and bit counting on integers, and logic on booleans."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import OpDef
from quadrants.ir.ops import rules
from quadrants.ir.ops.semantics import on_bits, operand_scalar, plain
from quadrants.ir.values import wrap

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def _not(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = operand_scalar(op)
    return (not values[0] if type.is_bool else wrap(~values[0], type),)


def _shift_left(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = operand_scalar(op)
    value, count = values
    return (wrap(value << count, type) if 0 <= count < type.bits else 0,)


def _shift_right(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = operand_scalar(op)
    value, count = values
    return (value >> (count if 0 <= count < type.bits else type.bits),)


def _reverse(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def _swap(value: int, bits: int) -> int:
    return int.from_bytes(value.to_bytes(bits // 8, "little"), "big")


def _trailing_zeros(value: int, bits: int) -> int:
    return (value & -value).bit_length() - 1 if value else bits


_LOGICAL = rules.same(2, rules.is_logical, "integers or booleans")
_SHIFT = rules.same(2, rules.is_int, "integers")
_COUNT = rules.same(1, rules.is_int, "an integer")
_NONE = "none: integers"

DEFS = (
    OpDef(
        "and", _LOGICAL, reference=plain(operator.and_), doc="Bitwise and; logical and of booleans.", derivative=_NONE
    ),
    OpDef("or", _LOGICAL, reference=plain(operator.or_), doc="Bitwise or; logical or of booleans.", derivative=_NONE),
    OpDef(
        "xor",
        _LOGICAL,
        reference=plain(operator.xor),
        doc="Bitwise exclusive or; inequality of booleans.",
        derivative=_NONE,
    ),
    OpDef(
        "not",
        rules.same(1, rules.is_logical, "an integer or a boolean"),
        reference=_not,
        doc="Bitwise complement; logical negation of a boolean.",
        derivative=_NONE,
    ),
    OpDef(
        "shl",
        _SHIFT,
        reference=_shift_left,
        doc="Shift left, bits lost; 0 if the count is negative or at least the width.",
        derivative=_NONE,
    ),
    OpDef(
        "shr",
        _SHIFT,
        reference=_shift_right,
        doc="Shift right, arithmetic if signed; 0 or -1 (the sign) if the count is negative or at least the width.",
        derivative=_NONE,
    ),
    OpDef(
        "popcount",
        _COUNT,
        reference=on_bits(lambda value, bits: value.bit_count()),
        doc="How many bits are set.",
        derivative=_NONE,
    ),
    OpDef(
        "clz",
        _COUNT,
        reference=on_bits(lambda value, bits: bits - value.bit_length()),
        doc="Leading zero bits; the width for 0.",
        derivative=_NONE,
    ),
    OpDef(
        "ctz", _COUNT, reference=on_bits(_trailing_zeros), doc="Trailing zero bits; the width for 0.", derivative=_NONE
    ),
    OpDef("bitreverse", _COUNT, reference=on_bits(_reverse), doc="The bits in reverse order.", derivative=_NONE),
    OpDef("bswap", _COUNT, reference=on_bits(_swap), doc="The bytes in reverse order.", derivative=_NONE),
)
