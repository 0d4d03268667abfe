"""Conversions between scalars."""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.lower.abi import scalar_text
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.half import from_double, from_float, to_float
from quadrants.lower.literal import float_text, int_text
from quadrants.types import F16, F32, F64, Kind, Scalar

Convert = Callable[[FunctionEmitter, Text, Scalar, Scalar], Text]

_INT64_MIN = int_text(1 << 63, 64)


def _resize(e: FunctionEmitter, a: Text, source: Scalar, target: Scalar) -> Text:
    """Between integers (a boolean counts as an unsigned one)."""
    if source.bits == target.bits:
        return a
    if source.bits > target.bits:
        return e.let(f"trunc i{source.bits} {a} to i{target.bits}")
    return e.let(f"{'sext' if source.is_signed else 'zext'} i{source.bits} {a} to i{target.bits}")


def _int_to_bool(e: FunctionEmitter, a: Text, source: Scalar, target: Scalar) -> Text:
    return e.let(f"icmp ne i{source.bits} {a}, 0")


def _float_to_bool(e: FunctionEmitter, a: Text, source: Scalar, target: Scalar) -> Text:
    """NaN is true."""
    if source.bits == 16:
        a, source = to_float(e, a), F32
    return e.let(f"fcmp une {scalar_text(source)} {a}, {float_text(0.0, source.bits)}")


def _int_to_float(e: FunctionEmitter, a: Text, source: Scalar, target: Scalar) -> Text:
    instruction = "sitofp" if source.is_signed else "uitofp"
    if target.bits != 16:
        return e.let(f"{instruction} i{source.bits} {a} to {scalar_text(target)}")
    if source.bits <= 16:  # exact in single precision
        return from_float(e, e.let(f"{instruction} i{source.bits} {a} to float"))
    # What is not exact in double precision is infinite as a half.
    return from_double(e, e.let(f"{instruction} i{source.bits} {a} to double"))


def _float_to_float(e: FunctionEmitter, a: Text, source: Scalar, target: Scalar) -> Text:
    if source.bits == target.bits:
        return a
    if target == F16:
        return from_double(e, a) if source == F64 else from_float(e, a)
    if source == F16:
        a, source = to_float(e, a), F32
    if source.bits == target.bits:
        return a
    instruction = "fpext" if source.bits < target.bits else "fptrunc"
    return e.let(f"{instruction} {scalar_text(source)} {a} to {scalar_text(target)}")


def _float_to_int(e: FunctionEmitter, a: Text, source: Scalar, target: Scalar) -> Text:
    """Truncate in 64 bits; out of range, and NaN, give INT64_MIN; then wrap to the width."""
    if source.bits == 16:
        a, source = to_float(e, a), F32
    text = scalar_text(source)
    if target.bits == 64 and not target.is_signed:
        above = e.let(f"fcmp ogt {text} {a}, {float_text(-1.0, source.bits)}")
        below = e.let(f"fcmp olt {text} {a}, {float_text(2.0**64, source.bits)}")
        fits = e.let(f"and i1 {above}, {below}")
        whole = e.let(f"fptoui {text} {a} to i64")
    else:
        # -2**63 itself is in range, but gives INT64_MIN either way: one comparison is enough.
        size = e.let(f"call {text} @llvm.fabs.f{source.bits}({text} {a})")
        fits = e.let(f"fcmp olt {text} {size}, {float_text(2.0**63, source.bits)}")
        whole = e.let(f"fptosi {text} {a} to i64")
    chosen = e.let(f"select i1 {fits}, i64 {whole}, i64 {_INT64_MIN}")
    return chosen if target.bits == 64 else e.let(f"trunc i64 {chosen} to i{target.bits}")


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


def _cast(e: FunctionEmitter, op: Op) -> None:
    source, target = op.operands[0].type, op.attrs["type"]
    assert isinstance(source, Scalar) and isinstance(target, Scalar)
    if source.is_complex:
        parts = e.get(op.operands[0])
        e.parts[op.results[0]] = tuple(_float_to_float(e, part, source.part, target.part) for part in parts)
        return
    e.set(op, _TABLE[source.kind, target.kind](e, e.one(op.operands[0]), source, target))


def _bitcast(e: FunctionEmitter, op: Op) -> None:
    source, target = op.operands[0].type, op.attrs["type"]
    assert isinstance(source, Scalar) and isinstance(target, Scalar)
    e.set(op, e.let(f"bitcast {scalar_text(source)} {e.one(op.operands[0])} to {scalar_text(target)}"))


EMITTERS: dict[str, Emitter] = {"cast": _cast, "bitcast": _bitcast}
