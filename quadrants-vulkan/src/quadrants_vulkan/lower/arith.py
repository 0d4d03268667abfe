"""Constants, arithmetic, comparison and selection on numbers of every type, and complex numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from quadrants.ir.core import Op
from quadrants.ir.values import canonical
from quadrants.types import Scalar
from quadrants_vulkan.lower import integers
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter, Parts, scalar
from quadrants_vulkan.lower.parts import Part, parts_of, scalar_parts
from quadrants_vulkan.spirv.assembler import Id, split64
from quadrants_vulkan.spirv.grammar import Glsl
from quadrants_vulkan.spirv.grammar import Op as Code

_FLOAT_CODES = {"add": Code.F_ADD, "sub": Code.F_SUB, "mul": Code.F_MUL, "div": Code.F_DIV}
_FLOAT_TESTS = {
    "eq": Code.F_ORD_EQUAL,
    "ne": Code.F_UNORD_NOT_EQUAL,
    "lt": Code.F_ORD_LESS_THAN,
    "le": Code.F_ORD_LESS_THAN_EQUAL,
    "gt": Code.F_ORD_GREATER_THAN,
    "ge": Code.F_ORD_GREATER_THAN_EQUAL,
}


def float_type(e: FunctionEmitter, type: Scalar) -> Id:
    return e.type(scalar_parts(type)[0])


def float_constant(e: FunctionEmitter, type: Scalar, value: float) -> Id:
    """A constant of a float type, rounded to it."""
    with np.errstate(over="ignore"):
        exact = float(canonical(type, value))
    if type.bits == 64:
        return e.asm.constant(e.type(Part.DOUBLE), *split64(struct.unpack("<Q", struct.pack("<d", exact))[0]))
    return e.asm.constant(e.single_type, struct.unpack("<I", struct.pack("<f", exact))[0])


def number(e: FunctionEmitter, type: Scalar, value: complex) -> Parts:
    """The parts of a constant."""
    if type.is_bool:
        return (e.truth(bool(value)),)
    if type.is_integer:
        assert isinstance(value, int)
        return (integers.constant(e, type, value),)
    if type.is_float:
        assert isinstance(value, (int, float))
        return (float_constant(e, type, value),)
    value = complex(value)
    return float_constant(e, type.part, value.real), float_constant(e, type.part, value.imag)


def _const(e: FunctionEmitter, op: Op) -> None:
    value = op.attrs["value"]
    assert isinstance(value, (bool, int, float, complex))
    e.constants[op.result] = value
    e.set(op, *number(e, scalar(op.result), value))


def _zero(e: FunctionEmitter, op: Op) -> None:
    e.set(op, *(e.asm.null(e.type(part)) for part in parts_of(op.result.type)))


def float_binary(e: FunctionEmitter, type: Scalar, name: str, fast: str, a: Id, b: Id) -> Id:
    """Arithmetic on two floats; not fused with what uses it, unless that is allowed."""
    emit = e.let if "contract" in fast else e.exact
    return e.rounded(type, emit(_FLOAT_CODES[name], float_type(e, type), a, b))


def _binary(name: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op.result)
        a, b = (e.one(operand) for operand in op.operands)
        if type.is_float:
            e.set(op, float_binary(e, type, name, str(op.attr("fast")), a, b))
        else:
            e.set(op, integers.binary(e, type, name, a, b))

    return emit


def _neg(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op.result), e.one(op.operands[0])
    if type.is_float:
        e.set(op, e.let(Code.F_NEGATE, float_type(e, type), a))
    else:
        e.set(op, integers.negated(e, type, a))


def _abs(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op.result), e.one(op.operands[0])
    if type.is_float:
        e.set(op, e.glsl(Glsl.F_ABS, float_type(e, type), a))
    else:
        e.set(op, integers.absolute(e, type, a))


def compared(e: FunctionEmitter, type: Scalar, pred: str, a: Parts, b: Parts) -> Id:
    """A comparison of two numbers."""
    if type.is_complex:
        same = [e.test(Code.F_ORD_EQUAL, x, y) for x, y in zip(a, b)]
        equal = e.test(Code.LOGICAL_AND, *same)
        return equal if pred == "eq" else e.test(Code.LOGICAL_NOT, equal)
    if type.is_float:
        return e.test(_FLOAT_TESTS[pred], *a, *b)
    if type.is_bool:
        words = [e.select(x, Part.WORD, e.word(1), e.word(0)) for x in (*a, *b)]
        return integers.compared(e, type, pred, *words)
    return integers.compared(e, type, pred, *a, *b)


def compared_bits(e: FunctionEmitter, part: Part, a: Id, b: Id) -> Id:
    """Whether two words or two longs are the same."""
    return e.longs.compare("eq", False, a, b) if part is Part.LONG else e.test(Code.I_EQUAL, a, b)


def _cmp(e: FunctionEmitter, op: Op) -> None:
    a, b = (e.get(operand) for operand in op.operands)
    e.set(op, compared(e, scalar(op.operands[0]), str(op.attrs["pred"]), a, b))


def selected(e: FunctionEmitter, type: Scalar, condition: Id, a: Parts, b: Parts) -> Parts:
    return tuple(e.select(condition, part, x, y) for part, x, y in zip(parts_of(type), a, b))


def _select(e: FunctionEmitter, op: Op) -> None:
    condition, a, b = (e.get(operand) for operand in op.operands)
    e.set(op, *selected(e, scalar(op.result), condition[0], a, b))


def _choice(pred: str) -> Emitter:
    """`a if a < b else b`, for a predicate."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op.result)
        a, b = (e.get(operand) for operand in op.operands)
        e.set(op, *selected(e, type, compared(e, type, pred, a, b), a, b))

    return emit


def _complex(e: FunctionEmitter, op: Op) -> None:
    e.set(op, *e.all(op.operands))


def _part(index: int) -> Callable[[FunctionEmitter, Op], None]:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, e.get(op.operands[0])[index])

    return emit


EMITTERS: dict[str, Emitter] = {
    "const": _const,
    "zero": _zero,
    "add": _binary("add"),
    "sub": _binary("sub"),
    "mul": _binary("mul"),
    "div": _binary("div"),
    "neg": _neg,
    "abs": _abs,
    "min": _choice("lt"),
    "max": _choice("gt"),
    "cmp": _cmp,
    "select": _select,
    "complex": _complex,
    "real": _part(0),
    "imag": _part(1),
}
