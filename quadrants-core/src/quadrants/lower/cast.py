"""Conversions between scalars."""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.lower.arith import shape
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.half import from_double, from_float, to_float
from quadrants.lower.shape import Shape
from quadrants.types import F16, F32, F64, I64, Kind, Scalar

#: (emitter, operand, from, to) -> operand
Convert = Callable[[FunctionEmitter, Text, Shape, Shape], Text]

_INT64_MIN = 1 << 63


def _resize(e: FunctionEmitter, a: Text, source: Shape, target: Shape) -> Text:
    """Between integers (a boolean counts as an unsigned one)."""
    if source.item.bits == target.item.bits:
        return a
    if source.item.bits > target.item.bits:
        return e.let(f"trunc {source.text} {a} to {target.text}")
    return e.let(f"{'sext' if source.item.is_signed else 'zext'} {source.text} {a} to {target.text}")


def _int_to_bool(e: FunctionEmitter, a: Text, source: Shape, target: Shape) -> Text:
    return e.let(f"icmp ne {source.text} {a}, {source.int(0)}")


def _float_to_bool(e: FunctionEmitter, a: Text, source: Shape, target: Shape) -> Text:
    """NaN is true."""
    if source.item.bits == 16:
        a, source = to_float(e, a), source.of(F32)
    return e.let(f"fcmp une {source.text} {a}, {source.float(0.0)}")


def _int_to_float(e: FunctionEmitter, a: Text, source: Shape, target: Shape) -> Text:
    instruction = "sitofp" if source.item.is_signed else "uitofp"
    if target.item.bits != 16:
        return e.let(f"{instruction} {source.text} {a} to {target.text}")
    if source.item.bits <= 16:  # exact in single precision
        return from_float(e, e.let(f"{instruction} {source.text} {a} to float"))
    # What is not exact in double precision is infinite as a half.
    return from_double(e, e.let(f"{instruction} {source.text} {a} to double"))


def _float_to_float(e: FunctionEmitter, a: Text, source: Shape, target: Shape) -> Text:
    if source.item.bits == target.item.bits:
        return a
    if target.item == F16:
        return from_double(e, a) if source.item == F64 else from_float(e, a)
    if source.item == F16:
        a, source = to_float(e, a), source.of(F32)
    if source.item.bits == target.item.bits:
        return a
    instruction = "fpext" if source.item.bits < target.item.bits else "fptrunc"
    return e.let(f"{instruction} {source.text} {a} to {target.text}")


def _float_to_int(e: FunctionEmitter, a: Text, source: Shape, target: Shape) -> Text:
    """Truncate in 64 bits; out of range, and NaN, give INT64_MIN; then wrap to the width."""
    if source.item.bits == 16:
        a, source = to_float(e, a), source.of(F32)
    text, wide = source.text, target.of(I64)
    if target.item.bits == 64 and not target.item.is_signed:
        above = e.let(f"fcmp ogt {text} {a}, {source.float(-1.0)}")
        below = e.let(f"fcmp olt {text} {a}, {source.float(2.0**64)}")
        fits = e.let(f"and {source.truth} {above}, {below}")
        whole = e.let(f"fptoui {text} {a} to {wide.text}")
    else:
        # -2**63 itself is in range, but gives INT64_MIN either way: one comparison is enough.
        size = e.let(f"call {text} @llvm.fabs.{source.suffix}({text} {a})")
        fits = e.let(f"fcmp olt {text} {size}, {source.float(2.0**63)}")
        whole = e.let(f"fptosi {text} {a} to {wide.text}")
    chosen = e.let(f"select {source.truth} {fits}, {wide.text} {whole}, {wide.text} {wide.int(_INT64_MIN)}")
    return chosen if target.item.bits == 64 else e.let(f"trunc {wide.text} {chosen} to {target.text}")


_INTEGERS = (Kind.INT, Kind.UINT)
_TABLE: dict[tuple[Kind, Kind], Convert] = {
    **{(source, target): _resize for source in (*_INTEGERS, Kind.BOOL) for target in _INTEGERS},
    (Kind.BOOL, Kind.BOOL): _resize,
    **{(source, Kind.BOOL): _int_to_bool for source in _INTEGERS},
    (Kind.FLOAT, Kind.BOOL): _float_to_bool,
    **{(source, Kind.FLOAT): _int_to_float for source in (*_INTEGERS, Kind.BOOL)},
    (Kind.FLOAT, Kind.FLOAT): _float_to_float,
    **{(Kind.FLOAT, target): _float_to_int for target in _INTEGERS},
}


def _shapes(op: Op) -> tuple[Shape, Shape]:
    """From and to."""
    source, target = shape(op), op.attrs["type"]
    assert isinstance(target, Scalar)
    return source, source.of(target)


def _cast(e: FunctionEmitter, op: Op) -> None:
    source, target = _shapes(op)
    if source.item.is_complex:
        ends = source.of(source.item.part), target.of(target.item.part)
        e.parts[op.results[0]] = tuple(_float_to_float(e, part, *ends) for part in e.get(op.operands[0]))
        return
    e.set(op, _TABLE[source.item.kind, target.item.kind](e, e.one(op.operands[0]), source, target))


def _bitcast(e: FunctionEmitter, op: Op) -> None:
    source, target = _shapes(op)
    e.set(op, e.let(f"bitcast {source.text} {e.one(op.operands[0])} to {target.text}"))


EMITTERS: dict[str, Emitter] = {"cast": _cast, "bitcast": _bitcast}
