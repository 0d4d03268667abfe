"""The tangent, and the inverse functions of angles, as vector code.

Each takes a `Code` and the operands and gives the result. `far_angle` (in `functions`) says which lanes `tan` does not compute.

Methods: tan of an angle reduced to within pi / 4 by a polynomial, or minus its inverse (Cody and Waite); asin by a polynomial up to
1/2, and from there by the half angle, asin x = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
"""

from __future__ import annotations

from quadrants.lower.vectormath import coefficients as C
from quadrants.lower.vectormath.code import Code, Text
from quadrants.lower.vectormath.functions import atan, nearest


def _quarter_turns(c: Code, x: Text) -> tuple[Text, Text]:
    """n and r where x = n pi / 2 + r: a whole number in the low bits of a float64; computed in float64 for float32."""
    d = c if c.bits == 64 else c.wide()
    x = x if d is c else c.widened(x)
    shifted, n = nearest(d, x, C.TWO_OVER_PI[c.bits][0])
    for part in C.HALF_PI[c.bits]:
        x = d.fma(n, -part, x)
    return d.to_bits(shifted), x


def tan(c: Code, x: Text) -> Text:
    n, r = _quarter_turns(c, x)
    d = c if c.bits == 64 else c.wide()
    odd = d.is_odd(n)
    r = r if d is c else c.narrowed(r)
    t = c.mul(r, r)
    y = c.fma(c.mul(r, t), c.poly(C.TAN[c.bits], t), r)
    y = c.select(odd, c.div(-1.0, y), y)
    return c.select(c.compare("oeq", x, 0.0), x, y)


def _half_angle(c: Code, size: Text) -> tuple[Text, Text, Text]:
    """Whether a size is above 1/2; of those, sqrt((1 - size) / 2) instead of it; and of that asin less itself."""
    large = c.compare("ogt", size, 0.5)
    half = c.mul(c.sub(1.0, size), 0.5)
    t = c.select(large, half, c.mul(size, size))
    z = c.select(large, c.sqrt(half), size)
    return large, z, c.mul(c.mul(z, t), c.poly(C.ASIN[c.bits], t))


def asin(c: Code, x: Text) -> Text:
    large, z, rest = _half_angle(c, c.abs(x))
    high, low = C.RIGHT_ANGLE[c.bits]
    from_right = c.sub(high, c.sub(c.fma(z, 2.0, c.mul(rest, 2.0)), low))
    return c.copysign(c.select(large, from_right, c.add(z, rest)), x)


def acos(c: Code, x: Text) -> Text:
    large, z, rest = _half_angle(c, c.abs(x))
    high, low = C.RIGHT_ANGLE[c.bits]
    negative = c.is_negative(x)
    near_one = c.fma(z, 2.0, c.mul(rest, 2.0))
    near_minus_one = c.sub(2 * high, c.sub(near_one, 2 * low))
    small = c.copysign(z, x)
    middle = c.sub(high, c.sub(c.add(small, c.copysign(rest, x)), low))
    return c.select(large, c.select(negative, near_minus_one, near_one), middle)


def atan2(c: Code, y: Text, x: Text) -> Text:
    """From the angle of the smaller size over the larger one, turned to where the point is."""
    x_size, y_size = c.abs(x), c.abs(y)
    steep = c.compare("ogt", y_size, x_size)
    above, below = c.select(steep, x_size, y_size), c.select(steep, y_size, x_size)
    same = c.mask_or(c.compare("oeq", above, float("inf")), c.compare("oeq", below, 0.0))
    ratio = c.select(same, c.select(c.compare("oeq", below, 0.0), 0.0, 1.0), c.div(above, below))
    high, low = C.RIGHT_ANGLE[c.bits]
    angle = atan(c, ratio)
    angle = c.select(steep, c.sub(high, c.sub(angle, low)), angle)
    angle = c.select(c.is_negative(x), c.sub(2 * high, c.sub(angle, 2 * low)), angle)
    angle = c.select(c.compare("uno", x, y), c.add(x, y), angle)
    return c.copysign(angle, y)
