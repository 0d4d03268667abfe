"""Cube roots, lengths and remainders, as vector code.

Each takes a `Code` and the operands and gives the result.

Methods: the cube root by a polynomial of the fraction and two of Newton's steps, the exponent divided by 3; lengths by a power of
2 that keeps the squares from overflowing and underflowing; remainders by the truncated quotient, whose product with the divisor a
fused subtraction takes off without rounding.
"""

from __future__ import annotations

from quadrants.lower.vectormath import coefficients as C
from quadrants.lower.vectormath.code import Code, Text
from quadrants.lower.vectormath.functions import log_parts, nearest

_STEPS = {64: 2, 32: 1}
#: Sizes above and below which squares would leave the range, and the scales that bring them back.
_LARGE, _SMALL = 2.0**500, 2.0**-450
_DOWN, _UP = 2.0**-600, 2.0**600


def cbrt(c: Code, x: Text) -> Text:
    size = c.abs(x)
    e, m = log_parts(c, size)
    shifted, third = nearest(c, e, 1.0 / 3.0)
    rest = c.fma(third, -3.0, e)  # -1, 0 or 1
    up, down = c.compare("ogt", rest, 0.5), c.compare("olt", rest, -0.5)
    of_two, of_half = C.CBRT_2[c.bits]
    y = c.mul(c.poly(C.CBRT[c.bits], m), c.select(up, of_two, c.select(down, of_half, 1.0)))
    m = c.mul(m, c.select(up, 2.0, c.select(down, 0.5, 1.0)))
    for _ in range(_STEPS[c.bits]):
        square = c.mul(y, y)
        y = c.sub(y, c.div(c.fma(square, y, c.neg(m)), c.mul(square, 3.0)))
    y = c.mul(y, c.power_of_2(c.to_bits(shifted)))
    finite = c.mask_and(c.compare("ogt", size, 0.0), c.compare("olt", size, float("inf")))
    return c.copysign(c.select(finite, y, size), x)


def hypot(c: Code, x: Text, y: Text) -> Text:
    """Of float32 in float64, which has room for the squares."""
    d = c if c.bits == 64 else c.wide()
    a, b = c.abs(x), c.abs(y)
    infinite = c.mask_or(c.compare("oeq", a, float("inf")), c.compare("oeq", b, float("inf")))
    if d is c:
        swapped = c.compare("ogt", a, b)
        large, small = c.select(swapped, a, b), c.select(swapped, b, a)
        above, below = c.compare("ogt", large, _LARGE), c.compare("olt", large, _SMALL)
        down = c.select(above, _DOWN, c.select(below, _UP, 1.0))
        back = c.select(above, _UP, c.select(below, _DOWN, 1.0))
        a, b = c.mul(small, down), c.mul(large, down)
        length = c.mul(c.sqrt(c.fma(a, a, c.mul(b, b))), back)
    else:
        a, b = c.widened(a), c.widened(b)
        length = c.narrowed(d.sqrt(d.fma(a, a, d.mul(b, b))))
    return c.select(infinite, float("inf"), length)


def far_quotient(c: Code, x: Text, y: Text) -> Text:
    """Lanes that fmod does not compute: quotients that are no whole numbers to the last bit, infinite divisors, nan."""
    near = c.compare("olt", c.div(c.abs(x), c.abs(y)), 2.0 ** (c.fraction - 1))
    return c.mask_not(c.mask_and(near, c.compare("olt", c.abs(y), float("inf"))))


def fmod(c: Code, x: Text, y: Text) -> Text:
    """The rounded quotient may be one too large: then the difference is negative."""
    a, b = c.abs(x), c.abs(y)
    quotient = c.trunc(c.div(a, b))
    rest = c.fma(c.neg(quotient), b, a)
    return c.copysign(c.select(c.compare("olt", rest, 0.0), c.add(rest, b), rest), x)
