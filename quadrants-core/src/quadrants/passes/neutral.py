"""What a fold begins with, and how two parts of it are combined."""

from __future__ import annotations

from quadrants.ir import Value
from quadrants.ir.builder import Builder
from quadrants.types import Scalar


def together(b: Builder, kind: str, total: Value, part: Value) -> Value:
    """What two parts come to."""
    if isinstance(total.type, Scalar) and total.type.is_complex:
        sums = [b.value("add", b.value(name, total), b.value(name, part)) for name in ("real", "imag")]
        return b.value("complex", *sums)
    return b.value(kind, part, total) if kind in ("min", "max") else b.value(kind, total, part)


def neutral(kind: str, type: Scalar) -> bool | int | float | complex:
    """What changes nothing when it is combined with another value (for `LAST`: anything)."""
    if kind in ("min", "max", "least", "greatest"):
        return _extreme(type, highest=kind in ("min", "least"))
    if type.is_bool:
        return kind == "and"
    if kind == "and":
        return -1 if type.is_signed else (1 << type.bits) - 1
    one = kind == "mul"
    if type.is_complex:
        return complex(1) if one else complex(-0.0, -0.0)
    if type.is_float:
        return 1.0 if one else -0.0
    return int(one)


def _extreme(type: Scalar, highest: bool) -> bool | int | float:
    if type.is_float:
        return float("inf") if highest else float("-inf")
    if type.is_bool:
        return highest
    if not type.is_signed:
        return (1 << type.bits) - 1 if highest else 0
    return (1 << (type.bits - 1)) - 1 if highest else -(1 << (type.bits - 1))
