"""Complex arithmetic and the module `cmath`: Python's and NumPy's rules on real and imaginary parts.

Takes and gives complex numbers. The `cmath` functions treat infinities, nan and signed zeros as C99's annex G asks, and
raise what CPython raises; the names with `numpy_` never raise.
"""

from __future__ import annotations

import math

from quadrants.library import raw
from quadrants.library.pymath import scaled

LARGE = 4.4942328371557893e307  # a quarter of the largest float
LN2 = 0.6931471805599453
LN10 = 2.302585092994046
TINY = 2.2250738585072014e-308


def complex_mul(x, y):
    """The product by the definition, as Python (before 3.14) and NumPy have it."""
    return complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def complex_div(x, y):
    """Python's `x / y` (Smith's algorithm)."""
    c = y.real
    d = y.imag
    if c == 0.0 and d == 0.0:
        raise ZeroDivisionError("division by zero" if raw.VERSION >= (3, 14) else "complex division by zero")
    if abs(c) >= abs(d):
        ratio = raw.div(d, c)
        bottom = c + d * ratio
        return complex(raw.div(x.real + x.imag * ratio, bottom), raw.div(x.imag - x.real * ratio, bottom))
    if abs(d) >= abs(c):
        ratio = raw.div(c, d)
        bottom = c * ratio + d
        return complex(raw.div(x.real * ratio + x.imag, bottom), raw.div(x.imag * ratio - x.real, bottom))
    return complex(math.nan, math.nan)


def numpy_complex_div(x, y):
    """NumPy's division: by a reciprocal; division by zero gives infinities and nan."""
    c = y.real
    d = y.imag
    if abs(c) >= abs(d):
        if c == 0.0 and d == 0.0:
            return complex(raw.div(x.real, abs(c)), raw.div(x.imag, abs(c)))
        ratio = raw.div(d, c)
        scale = raw.div(1.0, c + d * ratio)
        return complex((x.real + x.imag * ratio) * scale, (x.imag - x.real * ratio) * scale)
    ratio = raw.div(c, d)
    scale = raw.div(1.0, d + c * ratio)
    return complex((x.real * ratio + x.imag) * scale, (x.imag * ratio - x.real) * scale)


def complex_abs(x):
    """Python's `abs(x)`."""
    result = raw.hypot(x.real, x.imag)
    if result == math.inf and abs(x.real) != math.inf and abs(x.imag) != math.inf:
        raise OverflowError("absolute value too large")
    return result


def numpy_complex_abs(x):
    return raw.hypot(x.real, x.imag)


def complex_pow_int(x, n):
    """x**n for an integer |n| <= 100, by repeated squaring, as Python does."""
    result = complex(1.0, 0.0)
    factor = x
    left = abs(n)
    while left > 0:
        if left & 1:
            result = complex_mul(result, factor)
        left >>= 1
        if left > 0:
            factor = complex_mul(factor, factor)
    if n < 0:
        return complex_div(complex(1.0, 0.0), result)
    return result


def complex_pow(x, y):
    """Python's `x ** y`; raises ZeroDivisionError and OverflowError as Python does."""
    if y.real == 0.0 and y.imag == 0.0:
        return complex(1.0, 0.0)
    if x.real == 0.0 and x.imag == 0.0:
        if y.imag != 0.0 or y.real < 0.0:
            if raw.VERSION >= (3, 14):
                raise ZeroDivisionError("zero to a negative or complex power")
            raise ZeroDivisionError("0.0 to a negative or complex power")
        return complex(0.0, 0.0)
    if y.imag == 0.0 and y.real == raw.floor(y.real) and abs(y.real) <= 100.0:
        result = complex_pow_int(x, int(y.real))
    else:
        result = polar_pow(x, y)
    if (abs(result.real) == math.inf or abs(result.imag) == math.inf) and finite(x) and finite(y):
        raise OverflowError("complex exponentiation")
    return result


def polar_pow(x, y):
    size = raw.hypot(x.real, x.imag)
    angle = raw.atan2(x.imag, x.real)
    length = raw.pow(size, y.real)
    turn = angle * y.real
    if y.imag != 0.0:
        length = raw.div(length, raw.exp(angle * y.imag))
        turn += y.imag * raw.log(size)
    return complex(length * raw.cos(turn), length * raw.sin(turn))


def numpy_complex_pow(x, y):
    """NumPy's power: small integer exponents multiply, others go through polar form; never raises."""
    if y.real == 0.0 and y.imag == 0.0:
        return complex(1.0, 0.0)
    if x.real == 0.0 and x.imag == 0.0:
        if y.real > 0.0:
            return complex(0.0, 0.0)
        return complex(math.nan, math.nan)
    if y.imag == 0.0 and y.real == raw.floor(y.real) and abs(y.real) < 100.0:
        n = int(y.real)
        if n < 0:
            return numpy_complex_div(complex(1.0, 0.0), complex_pow_int(x, -n))
        return complex_pow_int(x, n)
    return polar_pow(x, y)


def finite(z):
    return z.real - z.real == 0.0 and z.imag - z.imag == 0.0


def as_complex(z):
    return complex(z)


def phase(x):
    z = as_complex(x)
    return raw.atan2(z.imag, z.real)


def polar(x):
    z = as_complex(x)
    size = raw.hypot(z.real, z.imag)
    if size == math.inf and finite(z):
        raise OverflowError("math range error")
    return size, raw.atan2(z.imag, z.real)


def rect(r, phi):
    r = float(r)
    phi = float(phi)
    if phi == 0.0:
        return complex(r, r * phi if r - r == 0.0 else raw.copysign(phi, r))
    if r == 0.0 and phi - phi != 0.0:
        return complex(0.0, 0.0)
    if abs(phi) == math.inf:
        if r != r:
            return complex(math.nan, math.nan)
        raise ValueError("math domain error")
    if abs(r) == math.inf:
        if phi != phi:
            return complex(math.inf, phi)
        return complex(raw.copysign(r, r * raw.cos(phi)), raw.copysign(abs(r), r * raw.sin(phi)))
    return complex(r * raw.cos(phi), r * raw.sin(phi))


def sqrt(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        return special_sqrt(a, b)
    if a == 0.0 and b == 0.0:
        return complex(0.0, b)
    p = abs(a)
    q = abs(b)
    if p < TINY and q < TINY:
        p = scaled(p, 53)
        s = scaled(raw.sqrt(p + raw.hypot(p, scaled(q, 53))), -27)
    else:
        p = p / 8.0
        s = 2.0 * raw.sqrt(p + raw.hypot(p, q / 8.0))
    d = q / (2.0 * s)
    if a >= 0.0:
        return complex(s, raw.copysign(d, b))
    return complex(d, raw.copysign(s, b))


def special_sqrt(a, b):
    if abs(b) == math.inf:
        return complex(math.inf, b)
    if a == math.inf:
        return complex(a, b if b != b else raw.copysign(0.0, b))
    if a == -math.inf:
        return complex(math.nan if b != b else 0.0, raw.copysign(math.inf, b))
    return complex(math.nan, math.nan)


def exp(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        return special_exp(a, b)
    return in_range(finite_exp(a, b))


def finite_exp(a, b):
    """exp(a + bi) of finite parts; overflows to infinities."""
    if a > 710.0:
        # In two halves, so that a tiny sine may outweigh the overflow.
        half = raw.exp(a * 0.5)
        return complex(half * raw.cos(b) * half, half * raw.sin(b) * half)
    if a > 709.0:
        size = raw.exp(a - 1.0)
        return complex(size * raw.cos(b) * math.e, size * raw.sin(b) * math.e)
    size = raw.exp(a)
    return complex(size * raw.cos(b), size * raw.sin(b))


def in_range(z):
    """The result of finite arguments, unless it overflowed."""
    if abs(z.real) == math.inf or abs(z.imag) == math.inf:
        raise OverflowError("math range error")
    return z


def special_exp(a, b):
    """exp at an infinity or nan."""
    if abs(b) == math.inf:
        if a != a:
            return complex(math.nan, math.nan)
        if a == -math.inf:
            return complex(0.0, 0.0)
        raise ValueError("math domain error")
    if abs(a) == math.inf and b - b == 0.0 and b != 0.0:
        size = math.inf if a > 0.0 else 0.0
        return complex(raw.copysign(size, raw.cos(b)), raw.copysign(size, raw.sin(b)))
    if b == 0.0:
        return complex(0.0 if a == -math.inf else a, b)
    if a == -math.inf:
        return complex(0.0, 0.0)
    if a == math.inf:
        return complex(math.inf, math.nan)
    return complex(math.nan, math.nan)


def log(x, base=None):
    if base is None:
        return natural_log(as_complex(x))
    # With a base CPython does not notice that the logarithm of x = 0 is infinite.
    top = any_log(as_complex(x))
    bottom = natural_log(as_complex(base))
    if bottom.real == 0.0 and bottom.imag == 0.0:
        raise ValueError("math domain error")
    return complex_div(top, bottom)


def natural_log(z):
    if z.real == 0.0 and z.imag == 0.0:
        raise ValueError("math domain error")
    return any_log(z)


def any_log(z):
    """The logarithm, -inf at zero."""
    if z.real == 0.0 and z.imag == 0.0:
        return complex(-math.inf, raw.atan2(z.imag, z.real))
    return complex(log_size(z), raw.atan2(z.imag, z.real))


def log_size(z):
    """The logarithm of the absolute value, without overflow and accurate near 1."""
    p = abs(z.real)
    q = abs(z.imag)
    if p == math.inf or q == math.inf:
        return math.inf
    if p > LARGE or q > LARGE:
        return raw.log(raw.hypot(p / 2.0, q / 2.0)) + LN2
    if p < TINY and q < TINY:
        return raw.log(raw.hypot(scaled(p, 53), scaled(q, 53))) - 53 * LN2
    size = raw.hypot(p, q)
    if 0.71 <= size and size <= 1.73:
        large = max(p, q)
        small = min(p, q)
        return raw.log1p((large - 1.0) * (large + 1.0) + small * small) / 2.0
    return raw.log(size)


def log10(x):
    z = natural_log(as_complex(x))
    return complex(z.real / LN10, z.imag / LN10)


def sinh(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        if abs(b) == math.inf and a == a:
            raise ValueError("math domain error")
        return special_sinh(a, b)
    return in_range(finite_sinh(a, b))


def finite_sinh(a, b):
    if abs(a) > 711.0:
        half = raw.exp(abs(a) * 0.5)
        return complex(raw.copysign(0.5 * half, a) * raw.cos(b) * half, 0.5 * half * raw.sin(b) * half)
    if abs(a) > 708.0:
        less = a - raw.copysign(1.0, a)
        return complex(raw.cos(b) * raw.sinh(less) * math.e, raw.sin(b) * raw.cosh(less) * math.e)
    return complex(raw.cos(b) * raw.sinh(a), raw.sin(b) * raw.cosh(a))


def special_sinh(a, b):
    """sinh at an infinity or nan, where it is defined."""
    if abs(a) == math.inf:
        if b == 0.0:
            return complex(a, b)
        if b != b:
            return complex(math.inf, math.nan)
        return complex(raw.copysign(math.inf, raw.cos(b)) * raw.copysign(1.0, a), raw.copysign(math.inf, raw.sin(b)))
    if a == 0.0:
        return complex(0.0, math.nan)
    if b == 0.0:
        return complex(math.nan, b)
    return complex(math.nan, math.nan)


def cosh(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        if abs(b) == math.inf and a == a:
            raise ValueError("math domain error")
        return special_cosh(a, b)
    return in_range(finite_cosh(a, b))


def finite_cosh(a, b):
    if abs(a) > 711.0:
        half = raw.exp(abs(a) * 0.5)
        return complex(0.5 * half * raw.cos(b) * half, raw.copysign(0.5 * half, a) * raw.sin(b) * half)
    if abs(a) > 708.0:
        less = a - raw.copysign(1.0, a)
        return complex(raw.cos(b) * raw.cosh(less) * math.e, raw.sin(b) * raw.sinh(less) * math.e)
    return complex(raw.cos(b) * raw.cosh(a), raw.sin(b) * raw.sinh(a))


def special_cosh(a, b):
    """cosh at an infinity or nan, where it is defined."""
    if abs(a) == math.inf:
        if b == 0.0:
            return complex(math.inf, b * raw.copysign(1.0, a))
        if b != b:
            return complex(math.inf, math.nan)
        return complex(raw.copysign(math.inf, raw.cos(b)), raw.copysign(math.inf, raw.sin(b)) * raw.copysign(1.0, a))
    if a == 0.0:
        return complex(math.nan, 0.0)
    if b == 0.0:
        return complex(math.nan, 0.0)
    return complex(math.nan, math.nan)


def tanh(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        if abs(b) == math.inf and a - a == 0.0:
            raise ValueError("math domain error")
        return special_tanh(a, b)
    return finite_tanh(a, b)


def finite_tanh(a, b):
    if abs(a) > 354.0:
        return complex(raw.copysign(1.0, a), 4.0 * raw.sin(b) * raw.cos(b) * raw.exp(-2.0 * abs(a)))
    ta = raw.tanh(a)
    tb = raw.tan(b)
    ca = 1.0 / raw.cosh(a)
    both = ta * tb
    bottom = 1.0 + both * both
    return complex(ta * (1.0 + tb * tb) / bottom, ((tb / bottom) * ca) * ca)


def special_tanh(a, b):
    """tanh at an infinity or nan, where it is defined."""
    if abs(a) == math.inf:
        if b - b != 0.0:
            return complex(raw.copysign(1.0, a), 0.0)
        return complex(raw.copysign(1.0, a), raw.copysign(0.0, 2.0 * raw.sin(b) * raw.cos(b)))
    if b == 0.0:
        return complex(math.nan, b)
    return complex(math.nan, math.nan)


def turned(z):
    """i*z."""
    return complex(-z.imag, z.real)


def turned_back(z):
    """-i*z."""
    return complex(z.imag, -z.real)


def sin(x):
    return turned_back(sinh(turned(as_complex(x))))


def cos(x):
    return cosh(turned(as_complex(x)))


def tan(x):
    return turned_back(tanh(turned(as_complex(x))))


def asinh(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        return special_asinh(a, b)
    if abs(a) > LARGE or abs(b) > LARGE:
        size = raw.log(raw.hypot(a / 2.0, b / 2.0)) + LN2 * 2.0
        return complex(raw.copysign(size, a), raw.atan2(b, abs(a)))
    s = sqrt(complex(1.0 + b, -a))
    t = sqrt(complex(1.0 - b, a))
    return complex(raw.asinh(s.real * t.imag - t.real * s.imag), raw.atan2(b, s.real * t.real - s.imag * t.imag))


def special_asinh(a, b):
    if abs(b) == math.inf:
        if a != a:
            return complex(math.inf, a)
        return complex(raw.copysign(math.inf, a), raw.copysign(math.pi / 4 if abs(a) == math.inf else math.pi / 2, b))
    if abs(a) == math.inf:
        return complex(a, b if b != b else raw.copysign(0.0, b))
    if b == 0.0:
        return complex(a, b)
    return complex(math.nan, math.nan)


def acosh(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        return special_polar(a, b)
    if abs(a) > LARGE or abs(b) > LARGE:
        return complex(raw.log(raw.hypot(a / 2.0, b / 2.0)) + LN2 * 2.0, raw.atan2(b, a))
    s = sqrt(complex(a - 1.0, b))
    t = sqrt(complex(a + 1.0, b))
    return complex(raw.asinh(s.real * t.real + s.imag * t.imag), 2.0 * raw.atan2(s.imag, t.real))


def special_polar(a, b):
    """The logarithm, and in the limit acosh, at an infinity or nan."""
    if abs(a) == math.inf or abs(b) == math.inf:
        return complex(math.inf, raw.atan2(b, a))
    return complex(math.nan, math.nan)


def acos(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        return special_acos(a, b)
    if abs(a) > LARGE or abs(b) > LARGE:
        size = raw.log(raw.hypot(a / 2.0, b / 2.0)) + LN2 * 2.0
        return complex(raw.atan2(abs(b), a), raw.copysign(size, -b))
    s = sqrt(complex(1.0 - a, -b))
    t = sqrt(complex(1.0 + a, b))
    return complex(2.0 * raw.atan2(s.real, t.real), raw.asinh(t.real * s.imag - t.imag * s.real))


def special_acos(a, b):
    if abs(a) == math.inf or abs(b) == math.inf:
        return complex(abs(raw.atan2(b, a)), math.inf if b != b else raw.copysign(math.inf, -b))
    if a == 0.0:
        return complex(math.pi / 2, math.nan)
    return complex(math.nan, math.nan)


def asin(x):
    return turned_back(asinh(turned(as_complex(x))))


def atanh(x):
    z = as_complex(x)
    a = z.real
    b = z.imag
    if not finite(z):
        return special_atanh(a, b)
    if abs(a) == 1.0 and b == 0.0:
        raise ValueError("math domain error")
    if raw.copysign(1.0, a) < 0.0:
        r = right_atanh(-a, -b)
        return complex(-r.real, -r.imag)
    return right_atanh(a, b)


def right_atanh(a, b):
    """atanh(a + bi) of finite parts, a not negative, except at 1."""
    q = abs(b)
    if a > 6.703903964971298e153 or q > 6.703903964971298e153:
        h = raw.hypot(a / 2.0, b / 2.0)
        return complex(a / 4.0 / h / h, -raw.copysign(math.pi / 2.0, -b))
    if a == 1.0 and q < 1.4916681462400413e-154:
        return complex(-raw.log(raw.sqrt(q) / raw.sqrt(raw.hypot(q, 2.0))), raw.copysign(raw.atan2(2.0, -q) / 2.0, b))
    # a and q are at most 2**511: the denominator neither overflows nor, but for a = 1 and tiny q, vanishes.
    real = raw.log1p(raw.div(4.0 * a, (1.0 - a) * (1.0 - a) + q * q)) / 4.0
    return complex(real, -raw.atan2(-2.0 * b, (1.0 - a) * (1.0 + a) - q * q) / 2.0)


def special_atanh(a, b):
    if abs(b) == math.inf:
        return complex(raw.copysign(0.0, a) if a == a else 0.0, raw.copysign(math.pi / 2, b))
    if abs(a) == math.inf:
        return complex(raw.copysign(0.0, a), b if b != b else raw.copysign(math.pi / 2, b))
    if a == 0.0:
        return complex(a, b)
    return complex(math.nan, math.nan)


def atan(x):
    return turned_back(atanh(turned(as_complex(x))))


def isnan(x):
    z = as_complex(x)
    return z.real != z.real or z.imag != z.imag


def isinf(x):
    z = as_complex(x)
    return abs(z.real) == math.inf or abs(z.imag) == math.inf


def isfinite(x):
    return finite(as_complex(x))


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    x = as_complex(a)
    y = as_complex(b)
    if x == y:
        return True
    if isinf(x) or isinf(y):
        return False
    gap = numpy_complex_abs(x - y)
    return gap <= rel_tol * numpy_complex_abs(y) or gap <= rel_tol * numpy_complex_abs(x) or gap <= abs_tol
