"""The elementary functions, as vector code.

Each takes a `Code` and the operand and gives the result. Where a function is listed with a bound, lanes whose operand
is larger in size (or not a number) are not computed right here: `definitions` has them computed by the scalar function.

Methods: arguments are reduced with constants in several parts of few bits, whose products with the whole multiple are
exact, so that the subtraction cancels without loss (W. J. Cody and W. Waite, Software Manual for the Elementary
Functions, 1980). log goes through s = f / (2 + f) and the series of atanh, with the leading terms taken apart (P. T. P.
Tang, 1990, and the C libraries since). expm1 and tanh scale before they subtract, for no cancellation near 0.
"""

from __future__ import annotations

from quadrants.lower.vectormath import coefficients as C
from quadrants.lower.vectormath.code import Code, Text

#: Where exp overflows and where its result is 0, by bits.
_EXP_RANGE = {64: (-746.0, 710.0), 32: (-104.5, 89.0)}
_EXP2_RANGE = {64: (-1076.0, 1025.0), 32: (-151.0, 129.0)}
_EXPM1_RANGE = {64: (-40.0, 710.0), 32: (-20.0, 89.0)}
#: Where tanh is 1.
_TANH_ONE = {64: 20.0, 32: 10.0}
#: The largest angle whose multiple of pi has so few bits that its products are exact.
ANGLES = {64: 2.0**20, 32: 2.0**26}


def _nearest(c: Code, x: Text | float, y: Text | float, z: float = 0.0) -> tuple[Text, Text]:
    """x * y + z rounded to whole numbers: (with the number in its low bits, as a float)."""
    shifted = c.add(c.fma(x, y, z), c.shifter) if z else c.fma(x, y, c.shifter)
    return shifted, c.sub(shifted, c.shifter)


def _exp_reduced(c: Code, x: Text) -> tuple[Text, Text]:
    """n and e^r - 1 where x = n log 2 + r."""
    shifted, n = _nearest(c, x, C.LOG2_E[c.bits][0])
    high, low = C.LN2[c.bits]
    r = c.fma(n, -low, c.fma(n, -high, x))
    rest = c.poly(C.EXP[c.bits], r)
    return c.to_bits(shifted), c.fma(rest, c.mul(r, r), r)


def exp(c: Code, x: Text) -> Text:
    n, q = _exp_reduced(c, c.clamp(x, *_EXP_RANGE[c.bits]))
    return c.scale(c.add(q, 1.0), n)


def exp2(c: Code, x: Text) -> Text:
    x = c.clamp(x, *_EXP2_RANGE[c.bits])
    shifted, n = _nearest(c, x, 1.0)
    r = c.sub(x, n)
    return c.scale(c.fma(c.poly(C.EXP2[c.bits], r), r, 1.0), c.to_bits(shifted))


def _expm1(c: Code, x: Text) -> Text:
    """Of a number within the range; of -0, 0."""
    n, q = _exp_reduced(c, x)
    half = c.power_of_2(c.int_binary("sub", n, 1))  # so that it is finite where the result is
    part = c.fma(half, q, c.sub(half, 0.5))
    return c.add(part, part)


def expm1(c: Code, x: Text) -> Text:
    y = _expm1(c, c.clamp(x, *_EXPM1_RANGE[c.bits]))
    tiny = c.compare("olt", c.abs(x), 2.0 ** -(c.fraction + 2))
    return c.select(tiny, x, y)


def tanh(c: Code, x: Text) -> Text:
    size = c.abs(x)
    one = _TANH_ONE[c.bits]
    size = c.select(c.compare("ogt", size, one), one, size)
    t = _expm1(c, c.add(size, size))
    y = c.copysign(c.div(t, c.add(t, 2.0)), x)
    return c.select(c.compare("olt", size, 2.0 ** -(c.fraction // 2 + 4)), x, y)


def _turns(c: Code, x: Text, offset: float) -> Text:
    """(-1)^n r where x = (n - offset) pi + r, for float64 (in float64 for float32)."""
    d = c if c.bits == 64 else c.wide()
    x = x if d is c else c.widened(x)
    shifted, k = _nearest(d, x, C.ONE_OVER_PI[c.bits][0], offset)
    k = d.sub(k, offset) if offset else k
    for part in C.PI[c.bits]:
        x = d.fma(k, -part, x)
    odd = d.int_binary("shl", d.to_bits(shifted), 63)
    r = d.from_bits(d.int_binary("xor", d.to_bits(x), odd))
    return r if d is c else c.narrowed(r)


def _sin_reduced(c: Code, r: Text) -> Text:
    t = c.mul(r, r)
    return c.fma(c.poly(C.SIN[c.bits], t), c.mul(t, r), r)


def sin(c: Code, x: Text) -> Text:
    y = _sin_reduced(c, _turns(c, x, 0.0))
    return c.select(c.compare("oeq", x, 0.0), x, y)


def cos(c: Code, x: Text) -> Text:
    return _sin_reduced(c, _turns(c, x, 0.5))


#: The bits of sqrt 1/2.
_ROOT = {64: 0x3FE6A09E667F3BCD, 32: 0x3F3504F3}


def _log_parts(c: Code, x: Text) -> tuple[Text, Text]:
    """e as a float, and m in [sqrt 1/2, sqrt 2), where x = 2^e m; x is positive."""
    scale = c.fraction + 2
    subnormal = c.compare("olt", x, 2.0 ** (1 - c.bias))
    x = c.select(subnormal, c.mul(x, 2.0**scale), x)
    bits = c.to_bits(x)
    root = _ROOT[c.bits]
    above = c.int_binary("add", bits, c.one - root)
    exponent = c.int_binary("lshr", above, c.fraction)
    kept = c.int_binary("sub", bits, c.int_binary("shl", exponent, c.fraction))
    m = c.from_bits(c.int_binary("add", kept, c.one))
    float_of = 2.0**c.fraction  # with a whole number in its low bits, that number more
    as_float = c.from_bits(c.int_binary("or", exponent, (c.bias + c.fraction) << c.fraction))
    bias = c.select(subnormal, float_of + c.bias + scale, float_of + c.bias)
    return c.sub(as_float, bias), m


def log(c: Code, x: Text) -> Text:
    e, m = _log_parts(c, x)
    high, low = C.LN2[c.bits]
    f = c.sub(m, 1.0)
    s = c.div(f, c.add(f, 2.0))
    t = c.mul(s, s)
    square = c.mul(c.mul(f, f), 0.5)
    rest = c.mul(c.poly(C.LOG[c.bits], t), t)
    small = c.fma(s, c.add(square, rest), c.mul(e, low))
    y = c.fma(e, high, c.sub(f, c.sub(square, small)))
    return _log_special(c, x, y)


def _log_special(c: Code, x: Text, y: Text) -> Text:
    y = c.select(c.compare("olt", x, float("inf")), y, x)  # inf and nan
    y = c.select(c.compare("oeq", x, 0.0), float("-inf"), y)
    return c.select(c.compare("olt", x, 0.0), float("nan"), y)
