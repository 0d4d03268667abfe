"""Elementary functions beside those of `vectormath`, each a function of a `QirCode` and its operands.

They are made of the others where that loses no more than a few units in the last place, with the identities that do not cancel.
"""

from __future__ import annotations

from quadrants.ir.core import Value
from quadrants.lower.softmath.code import QirCode
from quadrants.lower.vectormath import coefficients as C
from quadrants.lower.vectormath import functions as f

_INF, _NAN = float("inf"), float("nan")
_LN2 = 0.6931471805599453
#: Where x^2 has no room for 1.
_HUGE = {32: 2.0**13, 64: 2.0**28}


def asinh(c: QirCode, x: Value) -> Value:
    size = c.abs(x)
    huge = c.compare("ogt", size, _HUGE[c.bits])
    safe = c.select(huge, 1.0, size)
    square = c.mul(safe, safe)
    near = f.log1p(c, c.add(safe, c.div(square, c.add(c.sqrt(c.add(square, 1.0)), 1.0))))
    far = c.add(f.log(c, size), _LN2)
    return c.copysign(c.select(huge, far, near), x)


def acosh(c: QirCode, x: Value) -> Value:
    huge = c.compare("ogt", x, _HUGE[c.bits])
    t = c.sub(c.select(huge, 2.0, x), 1.0)
    near = f.log1p(c, c.add(t, c.sqrt(c.add(c.add(t, t), c.mul(t, t)))))
    y = c.select(huge, c.add(f.log(c, x), _LN2), near)
    return c.select(c.compare("olt", x, 1.0), _NAN, y)


def atanh(c: QirCode, x: Value) -> Value:
    size = c.abs(x)
    y = c.mul(f.log1p(c, c.div(c.add(size, size), c.sub(1.0, size))), 0.5)
    return c.copysign(y, x)


def hypot(c: QirCode, a: Value, b: Value) -> Value:
    """The larger is brought near 1, so that no square is lost."""
    a, b = c.abs(a), c.abs(b)
    steep = c.compare("ogt", b, a)
    high, low = c.select(steep, b, a), c.select(steep, a, b)
    top = 2.0 ** (c.bias // 2)
    large, small = c.compare("ogt", high, top), c.compare("olt", high, 1 / top)
    scale = c.select(large, 1 / top / 4, c.select(small, top * 4, 1.0))
    back = c.select(large, top * 4, c.select(small, 1 / top / 4, 1.0))
    h, w = c.mul(high, scale), c.mul(low, scale)
    y = c.mul(c.sqrt(c.add(c.mul(h, h), c.mul(w, w))), back)
    infinite = c.mask_or(c.compare("oeq", a, _INF), c.compare("oeq", b, _INF))
    return c.select(infinite, _INF, y)


def pow(c: QirCode, x: Value, y: Value) -> Value:
    """C's: of negative numbers to whole powers, too, and all of the special cases."""
    size = c.abs(x)
    whole = c.trunc(y)
    integral = c.compare("oeq", whole, y)
    halves = c.mul(y, 0.5)
    odd = c.mask_and(integral, c.compare("une", c.trunc(halves), halves))
    negative = c.is_negative(x)
    normal = c.mask_and(c.compare("ogt", size, 0.0), c.compare("olt", size, _INF))
    finite = c.compare("olt", c.abs(y), _INF)
    positive = pow_of_size(c, c.select(normal, size, 1.0), c.select(finite, y, 1.0))
    grows = c.compare("ogt", y, 0.0)
    edge = c.select(grows, size, c.div(1.0, size))  # of 0 and infinity
    above = c.compare("ogt", size, 1.0)
    limit = c.select(c.b.value("xor", above, grows), 0.0, _INF)  # to an infinite power
    result = c.select(finite, c.select(normal, positive, edge), limit)
    sign = c.select(c.mask_and(negative, odd), -1.0, 1.0)
    result = c.mul(result, sign)
    below = c.mask_and(c.compare("olt", x, 0.0), c.mask_and(normal, finite))
    result = c.select(c.mask_and(below, c.mask_not(integral)), _NAN, result)
    result = c.select(c.mask_or(c.is_nan(x), c.is_nan(y)), _NAN, result)
    unit = c.mask_and(c.compare("oeq", size, 1.0), c.mask_not(finite))
    unit = c.mask_and(unit, c.mask_not(c.is_nan(y)))
    one = c.mask_or(c.compare("oeq", y, 0.0), c.mask_or(c.compare("oeq", x, 1.0), unit))
    return c.select(one, 1.0, result)


def pow_of_size(c: QirCode, x: Value, y: Value) -> Value:
    """Of a positive finite x and a finite y."""
    if c.bits == 64 or c.doubles:
        return f.pow(c, x, y)  # type: ignore[no-any-return]
    return _pow_in_pairs(c, x, y)


def _pow_in_pairs(c: QirCode, x: Value, y: Value) -> Value:
    """Without float64: log2 x is the sum of two, and so is its product with y."""
    e, m = f.log_parts(c, x)
    high, low = _log2_pair(c, m)
    total, rest = f._sum(c, e, high)
    rest = c.add(rest, low)
    product, lost = product_of(c, y, total)
    lost = c.add(lost, c.mul(y, rest))
    far = c.compare("ogt", c.abs(product), 200.0)
    lost = c.select(far, 0.0, lost)
    p = c.clamp(product, -151.0, 129.0)
    shifted, n = f.nearest(c, p, 1.0)
    r = c.add(c.sub(p, n), lost)
    return c.scale(c.fma(c.poly(C.EXP2[32], r), r, 1.0), c.to_bits(shifted))


def _log2_pair(c: QirCode, m: Value) -> tuple[Value, Value]:
    """log2 of a number in [sqrt 1/2, sqrt 2) as a sum: 2 / log 2 (s + s^3 / 3 + ...) with s = (m - 1) / (m + 1)."""
    above, below = c.sub(m, 1.0), c.add(m, 1.0)
    below_low = c.sub(m, c.sub(below, 1.0))
    s = c.div(above, below)
    back, back_low = product_of(c, s, below)
    s_low = c.div(c.sub(c.sub(c.sub(above, back), back_low), c.mul(s, below_low)), below)
    t = c.mul(s, s)
    tail = c.mul(c.mul(s, t), c.poly((2 / _LN2 / 9, 2 / _LN2 / 7, 2 / _LN2 / 5, 2 / _LN2 / 3), t))
    first = 2.885390043258667  # 2 / log 2 in float32
    first_low = 2 / _LN2 - first
    high, high_low = product_of(c, s, c.const(first))
    low = c.add(high_low, c.add(c.mul(s, first_low), c.add(c.mul(s_low, first), tail)))
    return high, low


def product_of(c: QirCode, a: Value, b: Value) -> tuple[Value, Value]:
    """A product, and what rounding took from it (T. J. Dekker, 1971), where nothing overflows."""
    product = c.mul(a, b)
    (a1, a0), (b1, b0) = _split(c, a), _split(c, b)
    low = c.sub(c.mul(a1, b1), product)
    low = c.add(c.add(c.add(low, c.mul(a1, b0)), c.mul(a0, b1)), c.mul(a0, b0))
    return product, low


def _split(c: QirCode, a: Value) -> tuple[Value, Value]:
    """A number as the sum of two of half as many bits (G. W. Veltkamp)."""
    scaled = c.mul(a, 2.0 ** (c.fraction // 2 + 1) + 1.0)
    high = c.sub(scaled, c.sub(scaled, a))
    return high, c.sub(a, high)


def sum_of(c: QirCode, a: Value, b: Value) -> tuple[Value, Value]:
    """A sum, and what rounding took from it (D. E. Knuth)."""
    total = c.add(a, b)
    part = c.sub(total, a)
    return total, c.add(c.sub(a, c.sub(total, part)), c.sub(b, part))
