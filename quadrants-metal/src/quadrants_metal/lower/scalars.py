"""Constants, arithmetic, bits, comparison, selection and conversion of numbers of every type, and complex numbers.

MSL leaves overflow of signed integers, shifts past the width and conversions of what does not fit undefined: sums are those of
unsigned integers, the rest is guarded by functions of the prelude.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quadrants.ir.core import Op
from quadrants.types import F32, F64, Scalar
from quadrants_metal.lower.emit import Emitter, FunctionEmitter, Parts, scalar
from quadrants_metal.lower.names import bits_type, number, parts_of, register, unsigned

_SIGNS: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_TESTS: Mapping[str, str] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _const(e: FunctionEmitter, op: Op) -> None:
    value = op.attrs["value"]
    assert isinstance(value, (bool, int, float, complex))
    e.constants[op.result] = value
    e.same(op, *number(scalar(op.result), value))


def _zero(e: FunctionEmitter, op: Op) -> None:
    e.set(op, *("nullptr" if "*" in type else f"{type}(0)" for type in parts_of(op.result.type)))


# Arithmetic


def arithmetic(type: Scalar, name: str, a: str, b: str) -> str:
    """A sum, difference, product or quotient; integers wrap."""
    sign = _SIGNS[name]
    if type.is_float:
        return f"half({a} {sign} {b})" if type.bits == 16 else f"{a} {sign} {b}"
    wide = unsigned(type)
    return f"{register(type)}({wide}({a}) {sign} {wide}({b}))"


def bitwise(type: Scalar, name: str, a: str, b: str) -> str:
    return f"{register(type)}({a} {_SIGNS[name]} {b})"


def _of_two(write: Callable[[Scalar, str, str, str], str], name: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        a, b = (e.one(operand) for operand in op.operands)
        e.set(op, write(scalar(op.result), name, a, b))

    return emit


def _negated(type: Scalar, a: str) -> str:
    if type.is_float:
        return f"half(-{a})" if type.bits == 16 else f"-{a}"
    return f"{register(type)}({unsigned(type)}(0) - {unsigned(type)}({a}))"


def _neg(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _negated(scalar(op.result), e.one(op.operands[0])))


def _abs(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op.result), e.one(op.operands[0])
    if type.is_float:
        e.set(op, f"fabs({a})")
    else:
        e.set(op, f"{a} < 0 ? {_negated(type, a)} : {a}" if type.is_signed else a)


def _choice(sign: str) -> Emitter:
    """`a if a < b else b`, for a comparison."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        a, b = (e.one(operand) for operand in op.operands)
        e.set(op, f"{a} {sign} {b} ? {a} : {b}")

    return emit


def _division(kind: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op.result)
        a, b = (e.one(operand) for operand in op.operands)
        name = register(type)
        call = f"qd_{kind}<{name}, {unsigned(type)}>" if type.is_signed else f"qd_{kind}_unsigned<{name}>"
        e.set(op, f"{call}({a}, {b})")

    return emit


# Comparison and selection


def compared(type: Scalar, pred: str, a: Parts, b: Parts) -> str:
    """A comparison of two numbers."""
    if type.is_complex:
        equal = f"({a[0]} == {b[0]} && {a[1]} == {b[1]})"
        return equal if pred == "eq" else f"!{equal}"
    if type.is_bool:
        a, b = (f"int({a[0]})",), (f"int({b[0]})",)
    return f"{a[0]} {_TESTS[pred]} {b[0]}"


def _cmp(e: FunctionEmitter, op: Op) -> None:
    a, b = (e.get(operand) for operand in op.operands)
    e.set(op, compared(scalar(op.operands[0]), str(op.attrs["pred"]), a, b))


def _select(e: FunctionEmitter, op: Op) -> None:
    condition, a, b = (e.get(operand) for operand in op.operands)
    e.set(op, *(f"{condition[0]} ? {x} : {y}" for x, y in zip(a, b)))


# Bits


def _not(e: FunctionEmitter, op: Op) -> None:
    type, a = scalar(op.result), e.one(op.operands[0])
    e.set(op, f"!{a}" if type.is_bool else f"{register(type)}(~{a})")


def _shl(e: FunctionEmitter, op: Op) -> None:
    type, (a, n) = scalar(op.result), e.all(op.operands)
    wide, name = unsigned(type), register(type)
    e.set(op, f"{wide}({n}) < {type.bits}u ? {name}({wide}({a}) << {wide}({n})) : {name}(0)")


def _shr(e: FunctionEmitter, op: Op) -> None:
    type, (a, n) = scalar(op.result), e.all(op.operands)
    wide, name = unsigned(type), register(type)
    if type.is_signed:
        e.set(op, f"{name}({a} >> min({wide}({n}), {wide}({type.bits - 1})))")
    else:
        e.set(op, f"{wide}({n}) < {type.bits}u ? {name}({a} >> {wide}({n})) : {name}(0)")


def _counting(write: Callable[[Scalar, str], str]) -> Emitter:
    """An op on the bits of an integer, of which a narrow one has none beyond its width."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        type = scalar(op.result)
        bits = f"{unsigned(type)}({bits_type(type)}({e.one(op.operands[0])}))"
        e.set(op, f"{register(type)}({write(type, bits)})")

    return emit


def _moved_down(call: str) -> Callable[[Scalar, str], str]:
    return lambda type, bits: f"{call}({bits}) >> {max(0, 32 - type.bits)}"


def _clz(type: Scalar, bits: str) -> str:
    return f"qd_clz({bits}) - {max(0, 32 - type.bits)}u"


# Conversions


def convert(source: Scalar, target: Scalar, a: str) -> str:
    """A number that is not complex as another type."""
    name = register(target)
    if source == target:
        return a
    if source == F64:
        return convert(F32, target, f"qd_single({a})")
    if target.is_bool:
        return f"{a} != {register(source)}(0)"
    if source.is_bool:
        return f"{name}({a} ? 1 : 0)"
    if source.is_float and target.is_integer:
        wide = "qd_to_ulong" if name == "ulong" else "qd_to_long" if name == "long" else "qd_to_int"
        return f"{name}({wide}(float({a})))"
    return f"{name}({a})"


def _cast(e: FunctionEmitter, op: Op) -> None:
    source, target = scalar(op.operands[0]), scalar(op.result)
    e.set(op, *(convert(source.part, target.part, part) for part in e.get(op.operands[0])))


def _bitcast(e: FunctionEmitter, op: Op) -> None:
    e.set(op, f"as_type<{register(scalar(op.result))}>({e.one(op.operands[0])})")


# Complex numbers


def _complex(e: FunctionEmitter, op: Op) -> None:
    e.same(op, *e.all(op.operands))


def _part(index: int) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.same(op, e.get(op.operands[0])[index])

    return emit


EMITTERS: dict[str, Emitter] = {
    "const": _const,
    "zero": _zero,
    **{name: _of_two(arithmetic, name) for name in ("add", "sub", "mul", "div")},
    **{name: _of_two(bitwise, name) for name in ("and", "or", "xor")},
    "neg": _neg,
    "abs": _abs,
    "min": _choice("<"),
    "max": _choice(">"),
    "floordiv": _division("floordiv"),
    "mod": _division("mod"),
    "cmp": _cmp,
    "select": _select,
    "not": _not,
    "shl": _shl,
    "shr": _shr,
    "popcount": _counting(lambda type, bits: f"qd_popcount({bits})"),
    "clz": _counting(_clz),
    "ctz": _counting(lambda type, bits: f"min(qd_ctz({bits}), {type.bits}u)"),
    "bitreverse": _counting(_moved_down("qd_reverse")),
    "bswap": _counting(_moved_down("qd_swap")),
    "cast": _cast,
    "bitcast": _bitcast,
    "complex": _complex,
    "real": _part(0),
    "imag": _part(1),
}
