"""Half floats compute in single precision: conversions, by an instruction where the target has one, else by code of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quadrants.lower.emit import FunctionEmitter, Text


def to_float(e: FunctionEmitter, half: Text) -> Text:
    """f16 to f32: exact."""
    if e.module.options.native_f16:
        return e.let(f"fpext half {half} to float")
    return e.let(f"call float {e.module.helper('qd.float_from_half')}(half {half})")


def from_float(e: FunctionEmitter, single: Text) -> Text:
    """f32 to f16, to nearest even."""
    if e.module.options.native_f16:
        return e.let(f"fptrunc float {single} to half")
    return e.let(f"call half {e.module.helper('qd.half_from_float')}(float {single})")


def from_double(e: FunctionEmitter, double: Text) -> Text:
    """f64 to f16, rounded once. LLVM's own way would be a call into a runtime library."""
    return from_float(e, e.let(f"call float {e.module.helper('qd.round_odd')}(double {double})"))
