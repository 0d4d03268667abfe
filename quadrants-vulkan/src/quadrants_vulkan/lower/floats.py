"""The functions of floats that are instructions, or nearly so. The others are expanded into these before (`softmath`)."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.types import Scalar
from quadrants_vulkan.lower.arith import float_type, selected
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter, scalar
from quadrants_vulkan.lower.parts import Part
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Glsl
from quadrants_vulkan.spirv.grammar import Op as Code


def _extended(what: Glsl) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set_float(op, e.glsl(what, float_type(e, scalar(op.result)), *e.all(op.operands)))

    return emit


def _fma(e: FunctionEmitter, op: Op) -> None:
    e.set_float(op, e.exact(Code.EXT_INST, float_type(e, scalar(op.result)), e.asm.glsl, Glsl.FMA, *e.all(op.operands)))


def _number(code: Code) -> Emitter:
    """The smaller or larger of two, of which a NaN loses."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        a, b = (e.get(operand) for operand in op.operands)
        nan = e.test(Code.F_UNORD_NOT_EQUAL, *b, *b)
        first = e.test(Code.LOGICAL_OR, e.test(code, *a, *b), nan)
        e.set(op, *selected(e, scalar(op.result), first, a, b))

    return emit


def _copysign(e: FunctionEmitter, op: Op) -> None:
    type = scalar(op.result)
    size, sign = (e.one(operand) for operand in op.operands)
    e.set(op, with_sign(e, type, size, sign))


def with_sign(e: FunctionEmitter, type: Scalar, size: Id, sign: Id) -> Id:
    """The size of one float with the sign of another."""
    if type.bits != 64:
        a, b = (e.let(Code.BITCAST, e.word_type, x) for x in (size, sign))
        kept, taken = e.w(Code.BITWISE_AND, a, e.word(0x7FFFFFFF)), e.w(Code.BITWISE_AND, b, e.word(1 << 31))
        return e.let(Code.BITCAST, e.single_type, e.w(Code.BITWISE_OR, kept, taken))
    long, top = e.type(Part.LONG), e.longs.const(-(1 << 63))
    a, b = (e.let(Code.BITCAST, long, x) for x in (size, sign))
    kept = e.longs.bitwise(Code.BITWISE_AND, a, e.longs.const((1 << 63) - 1))
    both = e.longs.bitwise(Code.BITWISE_OR, kept, e.longs.bitwise(Code.BITWISE_AND, b, top))
    return e.let(Code.BITCAST, e.type(Part.DOUBLE), both)


EMITTERS: dict[str, Emitter] = {
    "math.sqrt": _extended(Glsl.SQRT),
    "math.floor": _extended(Glsl.FLOOR),
    "math.ceil": _extended(Glsl.CEIL),
    "math.trunc": _extended(Glsl.TRUNC),
    "math.rint": _extended(Glsl.ROUND_EVEN),
    "math.fma": _fma,
    "math.fmin": _number(Code.F_ORD_LESS_THAN),
    "math.fmax": _number(Code.F_ORD_GREATER_THAN),
    "math.copysign": _copysign,
}
