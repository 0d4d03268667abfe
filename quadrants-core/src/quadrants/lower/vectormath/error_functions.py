"""erf and erfc, as vector code.

Each takes a `Code` and the operand and gives the result.

Methods: below 1 by a polynomial of x^2; above, erfc x = e^(-x^2) G(t) / (x + d) with a polynomial G of
t = (x - c) / (x + c) (M. M. Shepherd and J. G. Laframboise, Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x,
1981). The square is taken apart, because e^(-x^2) magnifies its rounding error.
"""

from __future__ import annotations

from quadrants.lower.vectormath import coefficients as C
from quadrants.lower.vectormath.code import Code, Text
from quadrants.lower.vectormath.functions import exp_reduced_double

#: Where erfc is 0.
_LAST = {64: 28.0, 32: 10.5}
#: The last bits of the fraction, which the square of what is left has room for.
_LOW_BITS = {64: 27, 32: 12}
_CENTRE = 3.0
#: e^(x^2) erfc(x) (x + this) is nearly constant.
_SHIFT = 0.3125


def _near(c: Code, x: Text) -> Text:
    """erf x / x - 1 of a size up to 1."""
    return c.poly(C.ERF[c.bits], c.mul(x, x))


def _tail(c: Code, size: Text) -> Text:
    """erfc of a size above 1."""
    size = c.clamp(size, 1.0, _LAST[c.bits])
    high = c.from_bits(c.int_binary("and", c.to_bits(size), -(1 << _LOW_BITS[c.bits])))
    low = c.mul(c.sub(size, high), c.add(size, high))
    n, q, q_low = exp_reduced_double(c, c.neg(c.mul(high, high)), c.neg(low))
    y, y_low = _scaled(c, size)
    y_low = c.fma(q_low, c.fma(q, y, y), y_low)
    return c.scale(c.add(y, c.fma(q, y, y_low)), n)


def _scaled(c: Code, size: Text) -> tuple[Text, Text]:
    """e^(x^2) erfc x, and what rounding took from it (the most of it, where products and sums fuse)."""
    t = c.div(c.sub(size, _CENTRE), c.add(size, _CENTRE))
    *rest, first = C.ERFC[c.bits]
    small = c.mul(t, c.poly(rest, t))
    g = c.add(first, small)
    g_low = c.add(c.sub(first, g), small)
    below = c.add(size, _SHIFT)
    below_low = c.sub(_SHIFT, c.sub(below, size))
    y = c.div(g, below)
    left = c.fma(c.neg(y), below_low, c.add(c.fma(c.neg(y), below, g), g_low))
    return y, c.div(left, below)


def erf(c: Code, x: Text) -> Text:
    size = c.abs(x)
    small = c.compare("olt", size, 1.0)
    near = c.fma(size, _near(c, c.select(small, size, 1.0)), size)
    return c.copysign(c.select(small, near, c.sub(1.0, _tail(c, size))), x)


def erfc(c: Code, x: Text) -> Text:
    size = c.abs(x)
    small = c.compare("olt", size, 1.0)
    near = c.fma(c.neg(x), _near(c, c.select(small, size, 1.0)), c.sub(1.0, x))
    tail = _tail(c, size)
    far = c.select(c.compare("olt", x, 0.0), c.sub(2.0, tail), tail)
    return c.select(small, near, far)
