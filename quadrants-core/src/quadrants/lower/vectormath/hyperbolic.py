"""sinh and cosh, as vector code.

Each takes a `Code` and the operand and gives the result.

Methods: with e^x / 2, which is finite where the results are, and its inverse; sinh below 1 by a polynomial.
"""

from __future__ import annotations

from quadrants.lower.vectormath import coefficients as C
from quadrants.lower.vectormath.code import Code, Text
from quadrants.lower.vectormath.functions import exp_reduced

#: Where the results are infinite.
_OVERFLOW = {64: 712.0, 32: 91.0}


def _half_exp(c: Code, size: Text) -> tuple[Text, Text]:
    """e^x / 2 and e^-x / 2."""
    n, q = exp_reduced(c, c.clamp(size, 0.0, _OVERFLOW[c.bits]))
    half = c.scale(c.add(q, 1.0), c.int_binary("sub", n, 1))
    return half, c.div(0.25, half)


def cosh(c: Code, x: Text) -> Text:
    return c.add(*_half_exp(c, c.abs(x)))


def sinh(c: Code, x: Text) -> Text:
    size = c.abs(x)
    t = c.mul(size, size)
    small = c.fma(c.mul(size, t), c.poly(C.SINH[c.bits], t), size)
    y = c.select(c.compare("olt", size, 1.0), small, c.sub(*_half_exp(c, size)))
    return c.copysign(y, x)
