"""Integers and truth values: arithmetic, comparison, bits.

Words hold narrow integers extended by their sign, so results are brought back into their range; `wrapped` does that. Divisions,
shifts and INT_MIN are total in QIR, undefined in SPIR-V: guarded here.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.types import I32, Scalar
from quadrants_vulkan.lower.emit import FunctionEmitter, scalar
from quadrants_vulkan.lower.longs import COMPARISONS
from quadrants_vulkan.lower.parts import Part
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Glsl
from quadrants_vulkan.spirv.grammar import Op as Code

IntEmitter = Callable[[FunctionEmitter, Op, Scalar], Id]


def is_long(type: Scalar) -> bool:
    return type.is_integer and type.bits == 64


def wrapped(e: FunctionEmitter, type: Scalar, word: Id) -> Id:
    """A word brought into the range of the type."""
    if type.bits == 32:
        return word
    if type.is_signed:
        return e.let(Code.BIT_FIELD_S_EXTRACT, e.word_type, word, e.word(0), e.word(type.bits))
    return e.w(Code.BITWISE_AND, word, e.word((1 << type.bits) - 1))


def wrapped_any(e: FunctionEmitter, type: Scalar, part: Id) -> Id:
    """The same for a long, which is always in range."""
    return part if is_long(type) else wrapped(e, type, part)


def constant(e: FunctionEmitter, type: Scalar, value: int) -> Id:
    """A constant of an integer type."""
    return e.longs.const(value) if is_long(type) else e.word(value)


def binary(e: FunctionEmitter, type: Scalar, name: str, a: Id, b: Id) -> Id:
    """A sum, difference or product."""
    if is_long(type):
        operation = {"add": e.longs.add, "sub": e.longs.sub, "mul": e.longs.mul}[name]
        return operation(a, b)
    return wrapped(e, type, e.w(_WORD_CODES[name], a, b))


_WORD_CODES = {"add": Code.I_ADD, "sub": Code.I_SUB, "mul": Code.I_MUL}


def negated(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    return binary(e, type, "sub", constant(e, type, 0), a)


def compared(e: FunctionEmitter, type: Scalar, pred: str, a: Id, b: Id) -> Id:
    """A comparison of two integers."""
    if is_long(type):
        return e.longs.compare(pred, type.is_signed, a, b)
    return e.test(COMPARISONS[pred, type.is_signed], a, b)


def chosen(e: FunctionEmitter, type: Scalar, condition: Id, a: Id, b: Id) -> Id:
    return e.select(condition, Part.LONG if is_long(type) else Part.WORD, a, b)


def absolute(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    if not type.is_signed:
        return a
    negative = compared(e, type, "lt", a, constant(e, type, 0))
    return chosen(e, type, negative, negated(e, type, a), a)


# Division


def _unsigned_divide(e: FunctionEmitter, type: Scalar, a: Id, b: Id) -> tuple[Id, Id]:
    """Quotient and remainder of a divisor that is not 0."""
    if is_long(type):
        return e.longs.divide(a, b)
    return e.w(Code.U_DIV, a, b), e.w(Code.U_MOD, a, b)


def _floor_divide(e: FunctionEmitter, op: Op, type: Scalar) -> tuple[Id, Id]:
    """Quotient rounded down and remainder with the sign of the divisor; both 0 for a divisor of 0, unless that is ruled out."""
    a, b = (e.one(operand) for operand in op.operands)
    zero = constant(e, type, 0)
    none = None
    if not op.attr("nonzero"):
        none = compared(e, type, "eq", b, zero)
        b = chosen(e, type, none, constant(e, type, 1), b)
    if type.is_signed:
        wide = type if is_long(type) else I32  # a narrow number's size may be one more than it holds
        quotient, remainder = (wrapped_any(e, type, x) for x in _signed_divide(e, wide, a, b))
    else:
        quotient, remainder = _unsigned_divide(e, type, a, b)
    if none is not None:
        quotient, remainder = (chosen(e, type, none, zero, x) for x in (quotient, remainder))
    return quotient, remainder


def _signed_divide(e: FunctionEmitter, type: Scalar, a: Id, b: Id) -> tuple[Id, Id]:
    """From the quotient of the sizes, which has no case that overflows."""
    zero, one = constant(e, type, 0), constant(e, type, 1)
    q, r = _unsigned_divide(e, type, absolute(e, type, a), absolute(e, type, b))
    signs = e.longs.bitwise(Code.BITWISE_XOR, a, b) if is_long(type) else e.w(Code.BITWISE_XOR, a, b)
    opposite = compared(e, type, "lt", signs, zero)
    inexact = compared(e, type, "ne", r, zero)
    down = binary(e, type, "sub", negated(e, type, q), chosen(e, type, inexact, one, zero))
    quotient = chosen(e, type, opposite, down, q)
    return quotient, binary(e, type, "sub", a, binary(e, type, "mul", quotient, b))


def floordiv(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _floor_divide(e, op, scalar(op.result))[0])


def mod(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _floor_divide(e, op, scalar(op.result))[1])


# Bits


def _logical(bits: Code, truth: Code) -> Callable[[FunctionEmitter, Op], None]:
    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op.result)
        a, b = (e.one(operand) for operand in op.operands)
        if type.is_bool:
            e.set(op, e.test(truth, a, b))
        else:
            e.set(op, e.longs.bitwise(bits, a, b) if is_long(type) else e.w(bits, a, b))

    return emit


def _not(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op.result), e.one(op.operands[0])
    if type.is_bool:
        e.set(op, e.test(Code.LOGICAL_NOT, a))
    elif is_long(type):
        e.set(op, e.longs.invert(a))
    else:
        e.set(op, wrapped(e, type, e.let(Code.NOT, e.word_type, a)))


def _shift(left: bool) -> Callable[[FunctionEmitter, Op], None]:
    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op.result)
        a, count = (e.one(operand) for operand in op.operands)
        arithmetic = type.is_signed and not left
        inside = _count_below(e, type, count)
        count = e.longs.low(count) if is_long(type) else count
        most = e.word(type.bits - 1)  # of a signed number, that leaves the sign
        count = e.select(inside, Part.WORD, count, most)
        if is_long(type):
            shifted = e.longs.shift_left(a, count) if left else e.longs.shift_right(a, count, type.is_signed)
        else:
            code = Code.SHIFT_RIGHT_ARITHMETIC if type.is_signed else Code.SHIFT_RIGHT_LOGICAL
            shifted = e.w(Code.SHIFT_LEFT_LOGICAL if left else code, a, count)
            shifted = wrapped(e, type, shifted) if left else shifted
        e.set(op, shifted if arithmetic else chosen(e, type, inside, shifted, constant(e, type, 0)))

    return emit


def _count_below(e: FunctionEmitter, type: Scalar, count: Id) -> Id:
    """Whether a count is in [0, the width)."""
    if is_long(type):
        return e.longs.compare("lt", False, count, e.longs.const(type.bits))
    return e.test(Code.U_LESS_THAN, count, e.word(type.bits))


def _unsigned(e: FunctionEmitter, type: Scalar, word: Id) -> Id:
    """The bits of a narrow integer, without the extension of its sign."""
    return e.w(Code.BITWISE_AND, word, e.word((1 << type.bits) - 1)) if type.bits < 32 else word


def _on_words(
    narrow: Callable[[FunctionEmitter, Scalar, Id], Id], wide: Callable[[FunctionEmitter, Id, Id], tuple[Id, Id]]
) -> Callable[[FunctionEmitter, Op], None]:
    """An op on bits: of a word, or of the low and the high word of a long."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        type, a = scalar(op.result), e.one(op.operands[0])
        if is_long(type):
            e.set(op, e.longs.join(*wide(e, e.longs.low(a), e.longs.high(a))))
        else:
            e.set(op, wrapped(e, type, narrow(e, type, _unsigned(e, type, a))))

    return emit


def _popcount(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    return e.let(Code.BIT_COUNT, e.word_type, a)


def _popcount_long(e: FunctionEmitter, low: Id, high: Id) -> tuple[Id, Id]:
    counts = (e.let(Code.BIT_COUNT, e.word_type, word) for word in (low, high))
    return e.w(Code.I_ADD, *counts), e.word(0)


def leading_zeros(e: FunctionEmitter, word: Id) -> Id:
    """Of 32 bits. FindUMsb gives -1 for 0."""
    return e.w(Code.I_SUB, e.word(31), e.glsl(Glsl.FIND_U_MSB, e.word_type, word))


def _clz(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    return e.w(Code.I_SUB, leading_zeros(e, a), e.word(32 - type.bits))


def _clz_long(e: FunctionEmitter, low: Id, high: Id) -> tuple[Id, Id]:
    below = e.w(Code.I_ADD, leading_zeros(e, low), e.word(32))
    none = e.test(Code.I_EQUAL, high, e.word(0))
    return e.select(none, Part.WORD, below, leading_zeros(e, high)), e.word(0)


def _trailing_zeros(e: FunctionEmitter, word: Id, of_zero: int) -> Id:
    none = e.test(Code.I_EQUAL, word, e.word(0))
    return e.select(none, Part.WORD, e.word(of_zero), e.glsl(Glsl.FIND_I_LSB, e.word_type, word))


def _ctz(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    return _trailing_zeros(e, a, type.bits)


def _ctz_long(e: FunctionEmitter, low: Id, high: Id) -> tuple[Id, Id]:
    above = e.w(Code.I_ADD, _trailing_zeros(e, high, 32), e.word(32))
    none = e.test(Code.I_EQUAL, low, e.word(0))
    return e.select(none, Part.WORD, above, _trailing_zeros(e, low, 32)), e.word(0)


def _reverse(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    flipped = e.let(Code.BIT_REVERSE, e.word_type, a)
    return e.w(Code.SHIFT_RIGHT_LOGICAL, flipped, e.word(32 - type.bits)) if type.bits < 32 else flipped


def _reverse_long(e: FunctionEmitter, low: Id, high: Id) -> tuple[Id, Id]:
    return e.let(Code.BIT_REVERSE, e.word_type, high), e.let(Code.BIT_REVERSE, e.word_type, low)


def _swap_word(e: FunctionEmitter, a: Id) -> Id:
    """The bytes of a word in reverse order: neighbours are swapped, then the halves."""
    mask, eight, half = e.word(0x00FF00FF), e.word(8), e.word(16)
    up = e.w(Code.SHIFT_LEFT_LOGICAL, e.w(Code.BITWISE_AND, a, mask), eight)
    down = e.w(Code.BITWISE_AND, e.w(Code.SHIFT_RIGHT_LOGICAL, a, eight), mask)
    pairs = e.w(Code.BITWISE_OR, up, down)
    high = e.w(Code.SHIFT_LEFT_LOGICAL, pairs, half)
    return e.w(Code.BITWISE_OR, high, e.w(Code.SHIFT_RIGHT_LOGICAL, pairs, half))


def _swap(e: FunctionEmitter, type: Scalar, a: Id) -> Id:
    swapped = _swap_word(e, a)
    return e.w(Code.SHIFT_RIGHT_LOGICAL, swapped, e.word(32 - type.bits)) if type.bits < 32 else swapped


def _swap_long(e: FunctionEmitter, low: Id, high: Id) -> tuple[Id, Id]:
    return _swap_word(e, high), _swap_word(e, low)


EMITTERS = {
    "floordiv": floordiv,
    "mod": mod,
    "and": _logical(Code.BITWISE_AND, Code.LOGICAL_AND),
    "or": _logical(Code.BITWISE_OR, Code.LOGICAL_OR),
    "xor": _logical(Code.BITWISE_XOR, Code.LOGICAL_NOT_EQUAL),
    "not": _not,
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "popcount": _on_words(_popcount, _popcount_long),
    "clz": _on_words(_clz, _clz_long),
    "ctz": _on_words(_ctz, _ctz_long),
    "bitreverse": _on_words(_reverse, _reverse_long),
    "bswap": _on_words(_swap, _swap_long),
}
