"""Conversions between numbers, and their bits as other types.

QIR defines them for every value (see `ir.ops.cast`); SPIR-V leaves floats that an integer cannot hold undefined, so those are
taken apart by hand.
"""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.types import F32, F64, I64, U32, Scalar
from quadrants_vulkan.lower import integers
from quadrants_vulkan.lower.arith import float_constant, float_type
from quadrants_vulkan.lower.emit import FunctionEmitter, scalar
from quadrants_vulkan.lower.parts import Part
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Glsl
from quadrants_vulkan.spirv.grammar import Op as Code

_INT64_MIN = -(1 << 63)


def _cast(e: FunctionEmitter, op: Op) -> None:
    source, target = scalar(op.operands[0]), scalar(op.result)
    if op.operands[0] in e.double_bits:
        bits = e.one(op.operands[0])
        e.set_float(op, e.call_helper("double_to_single", e.longs.low(bits), e.longs.high(bits)))
        return
    e.set(op, *(convert(e, source.part, target.part, part) for part in e.get(op.operands[0])))


def convert(e: FunctionEmitter, source: Scalar, target: Scalar, a: Id) -> Id:
    """A number that is not complex as another type."""
    if target.is_bool:
        return _to_truth(e, source, a)
    if source.is_bool:
        one, none = ((_one(e, target, value)) for value in (1, 0))
        return e.let(Code.SELECT, e.type(_part(target)), a, one, none)
    if source.is_integer:
        return _from_integer(e, source, target, a)
    return _to_integer(e, source, target, a) if target.is_integer else _between_floats(e, source, target, a)


def _part(type: Scalar) -> Part:
    if type.is_integer:
        return Part.LONG if type.bits == 64 else Part.WORD
    return Part.DOUBLE if type.bits == 64 else Part.SINGLE


def _one(e: FunctionEmitter, type: Scalar, value: int) -> Id:
    return float_constant(e, type, value) if type.is_float else integers.constant(e, type, value)


def _to_truth(e: FunctionEmitter, source: Scalar, a: Id) -> Id:
    if source.is_bool:
        return a
    if source.is_float:
        return e.test(Code.F_UNORD_NOT_EQUAL, a, float_constant(e, source, 0.0))
    return integers.compared(e, source, "ne", a, integers.constant(e, source, 0))


# From integers


def widened(e: FunctionEmitter, source: Scalar, word: Id) -> Id:
    """A word as a long, by the sign of its type."""
    return e.longs.extend(word, source.is_signed)


def _from_integer(e: FunctionEmitter, source: Scalar, target: Scalar, a: Id) -> Id:
    if target.is_integer:
        if not integers.is_long(target):
            return integers.wrapped(e, target, e.longs.low(a) if integers.is_long(source) else a)
        return a if integers.is_long(source) else widened(e, source, a)
    code = Code.CONVERT_S_TO_F if source.is_signed else Code.CONVERT_U_TO_F
    if not integers.is_long(source) or e.longs.native:
        return e.rounded(target, e.let(code, float_type(e, target), a))
    return e.rounded(target, _from_pair(e, source, target, a))


def _from_pair(e: FunctionEmitter, source: Scalar, target: Scalar, a: Id) -> Id:
    size = integers.absolute(e, source, a)
    low, high = e.longs.low(size), e.longs.high(size)
    if target == F64:
        double = e.type(Part.DOUBLE)
        top = e.let(Code.CONVERT_U_TO_F, double, high)
        scaled = e.let(Code.F_MUL, double, top, float_constant(e, F64, 2.0**32))
        value = e.let(Code.F_ADD, double, scaled, e.let(Code.CONVERT_U_TO_F, double, low))
    else:
        value = e.call_helper("pair_to_single", low, high)
    if not source.is_signed:
        return value
    negative = integers.compared(e, source, "lt", a, integers.constant(e, source, 0))
    return e.let(
        Code.SELECT, float_type(e, target), negative, e.let(Code.F_NEGATE, float_type(e, target), value), value
    )


# To integers


def _to_integer(e: FunctionEmitter, source: Scalar, target: Scalar, a: Id) -> Id:
    source = F32 if source.bits == 16 else source  # which holds it, and the bounds too
    if integers.is_long(target):
        return _to_long(e, source, target, a)
    if source == F64:
        return integers.wrapped(e, target, e.longs.low(_to_long(e, source, I64, a)))
    size = e.glsl(Glsl.F_ABS, e.single_type, a)
    small = e.test(Code.F_ORD_LESS_THAN, size, float_constant(e, F32, 2.0**31))
    safe = e.select(small, Part.SINGLE, a, float_constant(e, F32, 0.0))
    near = e.let(Code.CONVERT_F_TO_S, e.word_type, safe)
    low, _ = e.call_helper_pair("single_to_pair", size)  # beyond 64 bits, and of nan, these are 0
    far = _signed(e, U32, source, a, low)
    return integers.wrapped(e, target, e.select(small, Part.WORD, near, far))


def _signed(e: FunctionEmitter, type: Scalar, source: Scalar, a: Id, size: Id) -> Id:
    """A size with the sign of the float that it came from."""
    negative = e.test(Code.F_ORD_LESS_THAN, a, float_constant(e, source, 0.0))
    return integers.chosen(e, type, negative, integers.negated(e, type, size), size)


def _to_long(e: FunctionEmitter, source: Scalar, target: Scalar, a: Id) -> Id:
    """Truncated; INT64_MIN for what does not fit."""
    type = float_type(e, source)
    size = e.glsl(Glsl.F_ABS, type, a)
    if target.is_signed:
        top = e.test(Code.F_ORD_LESS_THAN, a, float_constant(e, source, 2.0**63))
        bottom = e.test(Code.F_ORD_GREATER_THAN_EQUAL, a, float_constant(e, source, -(2.0**63)))
    else:
        top = e.test(Code.F_ORD_LESS_THAN, a, float_constant(e, source, 2.0**64))
        bottom = e.test(Code.F_ORD_GREATER_THAN, a, float_constant(e, source, -1.0))
    fits = e.test(Code.LOGICAL_AND, top, bottom)
    if e.longs.native:
        safe = e.let(Code.SELECT, type, fits, a if target.is_signed else size, float_constant(e, source, 0.0))
        code = Code.CONVERT_F_TO_S if target.is_signed else Code.CONVERT_F_TO_U
        value = e.let(code, e.type(Part.LONG), safe)
    else:
        value = e.longs.join(*_pair_of(e, source, size))
        value = _signed(e, target, source, a, value) if target.is_signed else value
    return e.select(fits, Part.LONG, value, e.longs.const(_INT64_MIN))


def _pair_of(e: FunctionEmitter, source: Scalar, size: Id) -> tuple[Id, ...]:
    """The words of the whole part of a size below 2^64."""
    if source != F64:
        return e.call_helper_pair("single_to_pair", size)
    double = e.type(Part.DOUBLE)
    whole = e.glsl(Glsl.TRUNC, double, size)
    top = e.glsl(Glsl.TRUNC, double, e.let(Code.F_MUL, double, whole, float_constant(e, F64, 2.0**-32)))
    rest = e.exact(Code.F_SUB, double, whole, e.exact(Code.F_MUL, double, top, float_constant(e, F64, 2.0**32)))
    return tuple(e.let(Code.CONVERT_F_TO_U, e.word_type, part) for part in (rest, top))


# Between floats


def _between_floats(e: FunctionEmitter, source: Scalar, target: Scalar, a: Id) -> Id:
    if source == target:
        return a
    if target == F64:
        return e.let(Code.F_CONVERT, e.type(Part.DOUBLE), a)
    if source == F64:
        return _narrowed_to_half(e, a) if target.bits == 16 else e.let(Code.F_CONVERT, e.single_type, a)
    return e.rounded(target, a)


def _narrowed_to_half(e: FunctionEmitter, a: Id) -> Id:
    """Through a single rounded to odd, so that the second rounding sees what the first one lost."""
    double = e.type(Part.DOUBLE)
    near = e.let(Code.F_CONVERT, e.single_type, a)
    back = e.let(Code.F_CONVERT, double, near)
    bits = e.let(Code.BITCAST, e.word_type, near)
    even = e.test(Code.I_EQUAL, e.w(Code.BITWISE_AND, bits, e.word(1)), e.word(0))
    lost = e.test(Code.F_UNORD_NOT_EQUAL, back, a)
    below = e.test(Code.F_ORD_LESS_THAN, e.glsl(Glsl.F_ABS, double, back), e.glsl(Glsl.F_ABS, double, a))
    moved = e.w(Code.I_ADD, bits, e.select(below, Part.WORD, e.word(1), e.word(-1)))
    finite = e.test(Code.F_ORD_LESS_THAN, e.glsl(Glsl.F_ABS, e.single_type, near), float_constant(e, F32, float("inf")))
    adjust = e.test(Code.LOGICAL_AND, e.test(Code.LOGICAL_AND, even, lost), finite)
    odd = e.let(Code.BITCAST, e.single_type, e.select(adjust, Part.WORD, moved, bits))
    return e.call_helper("round_half", odd)


# Bits


def _bitcast(e: FunctionEmitter, op: Op) -> None:
    source, target, a = scalar(op.operands[0]), scalar(op.result), e.one(op.operands[0])
    if source.bits != 16:
        e.set(op, e.let(Code.BITCAST, e.type(_part(target)), a))
    elif target.is_float:
        e.set(op, e.call_helper("from_half", e.w(Code.BITWISE_AND, a, e.word(0xFFFF))))
    else:
        e.set(op, integers.wrapped(e, target, e.call_helper("to_half", a)))


EMITTERS = {"cast": _cast, "bitcast": _bitcast}
