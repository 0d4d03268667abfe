"""Elementary functions of floats: IEEE and C99 results (NaN, infinities), never an error.

The errors of Python's `math` module are explicit checks around these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.ir.opdef import OpDef, Reference
from quadrants.ir.ops import rules
from quadrants.ir.ops.semantics import operand_scalar, plain
from quadrants.ir.rounding import round_to
from quadrants.ir.values import canonical
from quadrants.types import F32, Scalar

if TYPE_CHECKING:
    from quadrants.ir.core import Op

#: name -> (meaning, derivative by the operand a)
UNARY: dict[str, tuple[str, str]] = {
    "sqrt": ("square root; NaN below 0", "da / (2 * y)"),
    "sin": ("sine", "da * cos(a)"),
    "cos": ("cosine", "-da * sin(a)"),
    "tan": ("tangent", "da * (1 + y * y)"),
    "asin": ("arc sine; NaN outside [-1, 1]", "da / sqrt(1 - a * a)"),
    "acos": ("arc cosine; NaN outside [-1, 1]", "-da / sqrt(1 - a * a)"),
    "atan": ("arc tangent", "da / (1 + a * a)"),
    "sinh": ("hyperbolic sine", "da * cosh(a)"),
    "cosh": ("hyperbolic cosine", "da * sinh(a)"),
    "tanh": ("hyperbolic tangent", "da * (1 - y * y)"),
    "asinh": ("inverse hyperbolic sine", "da / sqrt(a * a + 1)"),
    "acosh": ("inverse hyperbolic cosine; NaN below 1", "da / sqrt(a * a - 1)"),
    "atanh": ("inverse hyperbolic tangent; infinite at -1 and 1, NaN outside", "da / (1 - a * a)"),
    "exp": ("e to the a", "da * y"),
    "exp2": ("2 to the a", "da * y * log(2)"),
    "expm1": ("e to the a, minus 1", "da * (y + 1)"),
    "log": ("natural logarithm; -inf at 0, NaN below", "da / a"),
    "log2": ("logarithm to base 2; -inf at 0, NaN below", "da / (a * log(2))"),
    "log10": ("logarithm to base 10; -inf at 0, NaN below", "da / (a * log(10))"),
    "log1p": ("natural logarithm of 1 + a; -inf at -1, NaN below", "da / (1 + a)"),
    "cbrt": ("cube root", "da / (3 * y * y)"),
    "erf": ("error function", "da * 2 / sqrt(pi) * exp(-a * a)"),
    "erfc": ("1 - erf(a)", "-da * 2 / sqrt(pi) * exp(-a * a)"),
    "gamma": ("gamma function; NaN at negative integers, infinite at 0", "da * y * digamma(a)"),
    "lgamma": ("logarithm of the absolute value of gamma", "da * digamma(a)"),
    "floor": ("rounded down", "zero"),
    "ceil": ("rounded up", "zero"),
    "trunc": ("rounded toward 0", "zero"),
    "rint": ("rounded to the nearest integer, ties to even", "zero"),
}

#: name -> (meaning, derivative by the operands a and b)
BINARY: dict[str, tuple[str, str]] = {
    "pow": (
        "a to the b, by C's rules; NaN for a negative a and a b that is no integer",
        "da * b * pow(a, b - 1) + db * y * log(a)",
    ),
    "atan2": ("angle of the point (b, a)", "(da * b - db * a) / (a * a + b * b)"),
    "hypot": ("sqrt(a * a + b * b) without overflow; inf if either is infinite", "(a * da + b * db) / y"),
    "copysign": ("the size of a with the sign of b", "da with the sign of a * b"),
    "nextafter": ("the next float of the operands' own width from a toward b", "da"),
    "fmin": ("the smaller; a NaN only if both are", "da if a is smaller else db"),
    "fmax": ("the larger; a NaN only if both are", "da if a is larger else db"),
}


def _gamma(a: float) -> float:
    if a == 0:
        return math.copysign(math.inf, a)
    try:
        return math.gamma(a)
    except OverflowError:
        return math.inf
    except ValueError:  # a negative integer, or -inf
        return math.nan


def _lgamma(a: float) -> float:
    try:
        return math.lgamma(a)
    except (OverflowError, ValueError):  # too large, or an integer up to 0
        return math.inf


def _fma(a: float, b: float, c: float, bits: int) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c if not (math.isfinite(a) and math.isfinite(b)) else c
    from fractions import Fraction  # loaded only by who computes one

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return round_to(exact, bits) if exact else a * b + c


def _narrow(type: Scalar, value: Any) -> Any:
    """The result in the width of the operands; f16 goes through f32."""
    return canonical(type, canonical(F32, value) if type.bits == 16 else value)


def _in_double(function: Callable[..., Any]) -> Reference:
    """Computed in f64."""

    def reference(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return (_narrow(operand_scalar(op), function(*(np.float64(value) for value in values))),)

    return reference


def _fused(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = operand_scalar(op)
    a, b, c = map(float, values)
    return (_narrow(type, _fma(a, b, c, max(type.bits, 32))),)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "gamma": _gamma,
    "lgamma": _lgamma,
    "pow": np.float_power,  # C's pow: np.power takes a square root for 0.5, and gives -0.0 for -0.0
    "atan2": np.arctan2,
}

#: Exact in every width, so not through f64 (and NaN signs and neighbours are those of the width).
_EXACT = {"copysign": np.copysign, "nextafter": np.nextafter, "fmin": np.fmin, "fmax": np.fmax}


def _reference(name: str) -> Reference:
    if name in _EXACT:
        return plain(_EXACT[name])
    return _in_double(_FUNCTIONS.get(name) or getattr(np, name))


_ATTRS = (rules.FAST, rules.MODE)

DEFS = (
    *(
        OpDef(
            f"math.{name}",
            rules.same(1, rules.is_float, "a float"),
            reference=_reference(name),
            attrs=_ATTRS,
            doc=doc,
            derivative=derivative,
        )
        for name, (doc, derivative) in UNARY.items()
    ),
    *(
        OpDef(
            f"math.{name}",
            rules.same(2, rules.is_float, "floats"),
            reference=_reference(name),
            attrs=_ATTRS,
            doc=doc,
            derivative=derivative,
        )
        for name, (doc, derivative) in BINARY.items()
    ),
    OpDef(
        "math.fma",
        rules.same(3, rules.is_float, "floats"),
        reference=_fused,
        attrs=_ATTRS,
        doc="a * b + c, rounded once",
        derivative="da * b + a * db + dc",
    ),
)
