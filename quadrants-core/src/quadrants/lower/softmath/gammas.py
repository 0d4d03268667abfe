"""The gamma function and the logarithm of its size.

By the approximation of C. Lanczos (1964) with the coefficients of P. Godfrey, right to 15 digits; below 1/2 by the
reflection at it. gamma is within 8 units in the last place (float32 without float64: 60); lgamma has that error
relative to the largest of its terms, which is more than its own size near 1 and 2, where it is 0.
"""

from __future__ import annotations

from quadrants.ir.core import Value
from quadrants.lower.softmath.code import QirCode
from quadrants.lower.softmath.functions import pow_of_size, sum_of
from quadrants.lower.vectormath import functions as f

_INF, _NAN, _PI = float("inf"), float("nan"), 3.141592653589793
#: What is added to the operand, and sqrt(2 pi) e^-shift.
_SHIFT = 671 / 128
_SCALE = 0.013256742781830741
_SERIES = (
    0.99999999999999709182,
    57.156235665862923517,
    -59.597960355475491248,
    14.136097974741747174,
    -0.49191381609762019978,
    0.33994649984811888699e-4,
    0.46523628927048575665e-4,
    -0.98374475304879564677e-4,
    0.15808870322491248884e-3,
    -0.21026444172410488319e-3,
    0.21743961811521264320e-3,
    -0.16431810653676389022e-3,
    0.84418223983852743293e-4,
    -0.26190838401581408670e-4,
    0.36899182659531622704e-5,
)


def gamma(c: QirCode, x: Value) -> Value:
    if c.bits == 32 and c.doubles:
        return c.narrowed(gamma(c.wide(), c.widened(x)))
    below = c.compare("olt", x, 0.5)
    size = c.select(below, c.sub(1.0, x), x)
    y = _gamma_of_size(c, size)
    mirrored = c.div(_PI, c.mul(_sin_of_turns(c, x), y))
    y = c.select(below, mirrored, y)
    y = c.select(_is_tiny(c, x), c.div(1.0, x), y)
    whole = c.compare("oeq", c.trunc(x), x)
    pole = c.mask_and(whole, c.compare("olt", x, 0.0))
    y = c.select(c.compare("oeq", x, 0.0), c.copysign(c.const(_INF), x), c.select(pole, _NAN, y))
    return c.select(c.is_nan(x), x, y)


def lgamma(c: QirCode, x: Value) -> Value:
    if c.bits == 32 and c.doubles:
        return c.narrowed(lgamma(c.wide(), c.widened(x)))
    below = c.compare("olt", x, 0.5)
    size = c.select(below, c.sub(1.0, x), x)
    t, _ = sum_of(c, size, c.const(_SHIFT))
    rest = f.log(c, c.mul(_series(c, size), _SCALE))
    y = c.add(c.sub(c.mul(c.add(size, 0.5), f.log(c, t)), size), rest)
    y = c.select(c.compare("ogt", size, 1e30), c.mul(size, c.sub(f.log(c, size), 1.0)), y)
    mirrored = c.sub(f.log(c, c.div(_PI, c.abs(_sin_of_turns(c, x)))), y)
    y = c.select(below, mirrored, y)
    y = c.select(_is_tiny(c, x), c.neg(f.log(c, c.abs(x))), y)
    pole = c.mask_and(c.compare("oeq", c.trunc(x), x), c.compare("ole", x, 0.0))
    infinite = c.mask_or(pole, c.compare("oeq", c.abs(x), _INF))
    one = c.mask_or(c.compare("oeq", x, 1.0), c.compare("oeq", x, 2.0))
    return c.select(infinite, _INF, c.select(one, 0.0, y))


def _is_tiny(c: QirCode, x: Value) -> Value:
    """Where gamma is 1 / x."""
    return c.compare("olt", c.abs(x), 2.0 ** -(c.fraction + 4))


def _series(c: QirCode, x: Value) -> Value:
    total = c.div(_SERIES[-1], c.add(x, float(len(_SERIES) - 1)))
    for place in range(len(_SERIES) - 2, 0, -1):
        total = c.add(total, c.div(_SERIES[place], c.add(x, float(place))))
    return c.div(c.add(total, _SERIES[0]), x)


def _gamma_of_size(c: QirCode, x: Value) -> Value:
    """From 1/2 on: scale * series * t^(x + 1/2) e^-x, the power in two halves, put right by what rounding took from
    its operands."""
    large = c.compare("ogt", x, 180.0)
    x = c.clamp(x, 0.5, 180.0 if c.bits == 64 else 40.0)
    t, lost = sum_of(c, x, c.const(_SHIFT))
    exponent, more = sum_of(c, x, c.const(0.5))
    half = pow_of_size(c, t, c.mul(exponent, 0.5))
    right = c.add(c.add(c.div(c.mul(lost, exponent), t), c.mul(more, f.log(c, t))), 1.0)
    front = c.mul(c.mul(half, f.exp(c, c.neg(x))), c.mul(c.mul(_series(c, x), _SCALE), right))
    return c.select(large, _INF, c.mul(front, half))


def _sin_of_turns(c: QirCode, x: Value) -> Value:
    """sin(pi x)."""
    half = c.mul(x, 0.5)
    whole = c.op("math.rint", half)
    r = c.sub(x, c.add(whole, whole))
    size = c.abs(r)
    folded = c.select(c.compare("ogt", size, 0.5), c.sub(1.0, size), size)
    return c.copysign(f._sin_reduced(c, c.mul(folded, _PI)), r)
