"""The elementary functions, as vector code.

Each takes a `Code` and the operands and gives the result. `far_angle` and `odd_power` say which lanes that is wrong of, for
want of range: `definitions` has those computed by the scalar function.

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
_ANGLES = {64: 2.0**20, 32: 2.0**26}


def nearest(c: Code, x: Text | float, y: Text | float, z: float = 0.0) -> tuple[Text, Text]:
    """x * y + z rounded to whole numbers: (with the number in its low bits, as a float)."""
    shifted = c.add(c.fma(x, y, z), c.shifter) if z else c.fma(x, y, c.shifter)
    return shifted, c.sub(shifted, c.shifter)


def exp_reduced(c: Code, x: Text) -> tuple[Text, Text]:
    """n and e^r - 1 where x = n log 2 + r."""
    shifted, n = nearest(c, x, C.LOG2_E[c.bits][0])
    high, low = C.LN2[c.bits]
    return c.to_bits(shifted), _expm1_poly(c, c.fma(n, -low, c.fma(n, -high, x)))


def exp_reduced_double(c: Code, x: Text, more: Text) -> tuple[Text, Text, Text]:
    """n, e^r - 1 and what rounding took from r, where x + more = n log 2 + r; more is small."""
    shifted, n = nearest(c, x, C.LOG2_E[c.bits][0])
    high, low = C.LN2[c.bits]
    large, small = c.fma(n, -high, x), c.fma(n, -low, more)
    r = c.add(large, small)
    return c.to_bits(shifted), _expm1_poly(c, r), c.add(c.sub(large, r), small)


def _expm1_poly(c: Code, r: Text) -> Text:
    return c.fma(c.poly(C.EXP[c.bits], r), c.mul(r, r), r)


def exp(c: Code, x: Text) -> Text:
    n, q = exp_reduced(c, c.clamp(x, *_EXP_RANGE[c.bits]))
    return c.scale(c.add(q, 1.0), n)


def exp2(c: Code, x: Text) -> Text:
    x = c.clamp(x, *_EXP2_RANGE[c.bits])
    shifted, n = nearest(c, x, 1.0)
    r = c.sub(x, n)
    return c.scale(c.fma(c.poly(C.EXP2[c.bits], r), r, 1.0), c.to_bits(shifted))


def _expm1(c: Code, x: Text) -> Text:
    """Of a number within the range; of -0, 0."""
    n, q = exp_reduced(c, x)
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


def far_angle(c: Code, x: Text) -> Text:
    """Lanes that sin and cos do not compute: large angles, infinities, nan."""
    return c.compare("ugt", c.abs(x), _ANGLES[c.bits])


def odd_power(c: Code, x: Text, y: Text) -> Text:
    """Lanes that pow does not compute: bases that are not positive, infinities, nan."""
    inf = float("inf")
    positive = c.mask_and(c.compare("ogt", x, 0.0), c.compare("olt", x, inf))
    return c.mask_not(c.mask_and(positive, c.compare("olt", c.abs(y), inf)))


def _turns(c: Code, x: Text, offset: float) -> Text:
    """(-1)^n r where x = (n - offset) pi + r, for float64 (in float64 for float32)."""
    d = c if c.bits == 64 else c.wide()
    x = x if d is c else c.widened(x)
    shifted, k = nearest(d, x, C.ONE_OVER_PI[c.bits][0], offset)
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


def log_parts(c: Code, x: Text) -> tuple[Text, Text]:
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
    e, m = log_parts(c, x)
    return _log_special(c, x, _log_of(c, e, m))


def _log_mantissa(c: Code, m: Text, more: Text | None) -> tuple[Text, Text]:
    """f and g with log m + more = f - g, where more is small."""
    f = c.sub(m, 1.0)
    s = c.div(f, c.add(f, 2.0))
    t = c.mul(s, s)
    square = c.mul(c.mul(f, f), 0.5)
    rest = c.add(square, c.mul(c.poly(C.LOG[c.bits], t), t))
    small = c.mul(s, rest) if more is None else c.fma(s, rest, more)
    return f, c.sub(square, small)


def _log_of(c: Code, e: Text, m: Text, more: Text | None = None) -> Text:
    """e log 2 + log m + more."""
    high, low = C.LN2[c.bits]
    f, g = _log_mantissa(c, m, c.mul(e, low) if more is None else c.fma(e, low, more))
    return c.fma(e, high, c.sub(f, g))


def _log_to_base(c: Code, x: Text, inverse: tuple[float, ...], of_2: tuple[float, ...]) -> Text:
    """log x / log b. Takes 1 / log b, and log 2 / log b, in two parts each."""
    e, m = log_parts(c, x)
    f, g = _log_mantissa(c, m, None)
    small = c.fma(f, inverse[1], c.sub(c.mul(e, of_2[1]), c.mul(g, inverse[0])))
    return _log_special(c, x, c.fma(e, of_2[0], c.fma(f, inverse[0], small)))


def log2(c: Code, x: Text) -> Text:
    return _log_to_base(c, x, C.ONE_OVER_LN2[c.bits], (1.0, 0.0))


def log10(c: Code, x: Text) -> Text:
    return _log_to_base(c, x, C.ONE_OVER_LN10[c.bits], C.LOG10_2[c.bits])


def _log_special(c: Code, x: Text, y: Text) -> Text:
    y = c.select(c.compare("olt", x, float("inf")), y, x)  # inf and nan
    y = c.select(c.compare("oeq", x, 0.0), float("-inf"), y)
    return c.select(c.compare("olt", x, 0.0), float("nan"), y)


def _log2_double(c: Code, x: Text) -> tuple[Text, Text]:
    """log2 x of a positive float64, as the sum of two: right to some 2^-64 of it, where products and sums fuse.

    log2 x = e + s (c + t (c / 3 + t tail(t))), where x = 2^e m, s = (m - 1) / (m + 1), t = s^2, c = 2 / log 2.
    """
    *tail, third, third_low, first, first_low = C.LOG2_SERIES[64]
    e, m = log_parts(c, x)
    f, g = c.sub(m, 1.0), c.add(m, 1.0)
    g_low = c.sub(m, c.sub(g, 1.0))
    s = c.div(f, g)
    s_low = c.div(c.fma(c.neg(s), g_low, c.fma(c.neg(s), g, f)), g)
    t = c.mul(s, s)
    t_low = c.fma(c.add(s, s), s_low, c.fma(s, s, c.neg(t)))
    w, w_low = _sum(c, third, c.mul(t, c.poly(tail, t)))
    w_low = c.add(w_low, third_low)
    u, u_low = _product(c, t, t_low, w, w_low)
    z, z_low = _sum(c, first, u)
    z_low = c.add(z_low, c.add(u_low, first_low))
    y, y_low = _product(c, s, s_low, z, z_low)
    total, total_low = _sum(c, e, y)
    return total, c.add(total_low, y_low)


def _sum(c: Code, large: Text | float, small: Text) -> tuple[Text, Text]:
    """A sum, and what rounding took from it; the first is the larger or 0. (Dekker.)"""
    total = c.add(large, small)
    return total, c.add(c.sub(large, total), small)


def _product(c: Code, a: Text, a_low: Text, b: Text, b_low: Text) -> tuple[Text, Text]:
    """The product of two sums of two."""
    product = c.mul(a, b)
    return product, c.fma(a, b_low, c.fma(a_low, b, c.fma(a, b, c.neg(product))))


def pow(c: Code, x: Text, y: Text) -> Text:
    """Of a positive finite x and a finite y."""
    return _pow_wide(c, x, y) if c.bits == 64 else _pow_narrow(c, x, y)


def _pow_wide(c: Code, x: Text, y: Text) -> Text:
    log, log_low = _log2_double(c, x)
    p = c.mul(y, log)
    low = c.fma(y, log_low, c.fma(y, log, c.neg(p)))
    far = c.compare("ogt", c.abs(p), _EXP2_RANGE[64][1] + 100)
    low = c.select(far, 0.0, low)  # it may be nan
    return _exp2_of(c, p, low)


def _exp2_of(c: Code, p: Text, low: Text | None) -> Text:
    """2^(p + low)."""
    bits = 64 if low is not None else 32
    p = c.clamp(p, *_EXP2_RANGE[bits])
    shifted, n = nearest(c, p, 1.0)
    r = c.sub(p, n)
    r = r if low is None else c.add(r, low)
    n = c.to_bits(shifted)
    y = c.fma(c.poly(C.WIDE_EXP2[bits], r), r, 1.0)
    return c.scale(y, n) if low is not None else c.mul(y, c.power_of_2(n))


def _pow_narrow(c: Code, x: Text, y: Text) -> Text:
    """In float64, whose exponents have room for every power of float32."""
    d = c.wide()
    *tail, third, _, first, _ = C.LOG2_SERIES[32]
    e, m = log_parts(d, c.widened(x))
    s = d.div(d.sub(m, 1.0), d.add(m, 1.0))
    log = d.fma(s, d.poly((*tail, third, first), d.mul(s, s)), e)
    return c.narrowed(_exp2_of(d, d.mul(c.widened(y), log), None))


def log1p(c: Code, x: Text) -> Text:
    """The logarithm of the rounded 1 + x, put right by what rounding took from it."""
    u = c.add(x, 1.0)
    lost = c.select(c.compare("ogt", x, 1.0), c.sub(1.0, c.sub(u, x)), c.sub(x, c.sub(u, 1.0)))
    e, m = log_parts(c, u)
    y = _log_of(c, e, m, c.div(lost, u))
    y = _log_special(c, u, y)
    return c.select(c.compare("olt", c.abs(x), 2.0 ** -(c.fraction + 2)), x, y)


def atan(c: Code, x: Text) -> Text:
    """Of a size above 1, a right angle less that of the inverse; above tan(pi / 8), pi / 4 more that of (x - 1) / (x + 1)."""
    size = c.abs(x)
    inverted = c.compare("ogt", size, _STEEP)
    middle = c.mask_and(c.compare("ogt", size, _FLAT), c.mask_not(inverted))
    above = c.select(inverted, -1.0, c.select(middle, c.sub(size, 1.0), size))
    below = c.select(inverted, size, c.select(middle, c.add(size, 1.0), 1.0))
    z = c.div(above, below)
    t = c.mul(z, z)
    high, low = C.RIGHT_ANGLE[c.bits]
    base = c.select(inverted, high, c.select(middle, high / 2, 0.0))
    base_low = c.select(inverted, low, c.select(middle, low / 2, 0.0))
    rest = c.fma(c.mul(t, z), c.poly(C.ATAN[c.bits], t), base_low)
    return c.copysign(c.add(base, c.add(z, rest)), x)


#: The tangents of pi / 8 and of 3 pi / 8.
_FLAT, _STEEP = 0.41421356237309503, 2.414213562373095
