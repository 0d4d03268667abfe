"""The module `math`: the C library's functions, with the errors that CPython raises.

Takes what converts to a float; gives Python numbers. "math domain error" is a ValueError, "math range error" an
OverflowError. Infinities and nan pass through as in CPython.
"""

from __future__ import annotations

import math

import numpy as np

from quadrants.library import raw


def domain():
    raise ValueError("math domain error")


def checked(x, result):
    """The result of a function of x that is nan only outside its domain."""
    if result != result and x == x:
        raise ValueError("math domain error")
    return result


def checked_range(x, result):
    """The result of a function of x that overflows for large finite arguments."""
    if abs(result) == math.inf and abs(x) != math.inf:
        raise OverflowError("math range error")
    return result


def sqrt(x):
    x = float(x)
    if x < 0.0:
        raise ValueError("math domain error")
    return raw.sqrt(x)


def sin(x):
    x = float(x)
    if abs(x) == math.inf:
        raise ValueError("math domain error")
    return raw.sin(x)


def cos(x):
    x = float(x)
    if abs(x) == math.inf:
        raise ValueError("math domain error")
    return raw.cos(x)


def tan(x):
    x = float(x)
    if abs(x) == math.inf:
        raise ValueError("math domain error")
    return raw.tan(x)


def asin(x):
    x = float(x)
    return checked(x, raw.asin(x))


def acos(x):
    x = float(x)
    return checked(x, raw.acos(x))


def atan(x):
    return raw.atan(float(x))


def atan2(y, x):
    return raw.atan2(float(y), float(x))


def sinh(x):
    x = float(x)
    return checked_range(x, raw.sinh(x))


def cosh(x):
    x = float(x)
    return checked_range(x, raw.cosh(x))


def tanh(x):
    return raw.tanh(float(x))


def asinh(x):
    return raw.asinh(float(x))


def acosh(x):
    x = float(x)
    return checked(x, raw.acosh(x))


def atanh(x):
    x = float(x)
    if x >= 1.0 or x <= -1.0:
        raise ValueError("math domain error")
    return raw.atanh(x)


def exp(x):
    x = float(x)
    return checked_range(x, raw.exp(x))


def exp2(x):
    x = float(x)
    return checked_range(x, raw.exp2(x))


def expm1(x):
    x = float(x)
    return checked_range(x, raw.expm1(x))


def positive_log(x):
    if x <= 0.0:
        raise ValueError("math domain error")
    return raw.log(x)


def log(x, base=None):
    if base is None:
        return positive_log(float(x))
    top = positive_log(float(x))
    bottom = positive_log(float(base))
    return top / bottom


def log2(x):
    x = float(x)
    if x <= 0.0:
        raise ValueError("math domain error")
    return raw.log2(x)


def log10(x):
    x = float(x)
    if x <= 0.0:
        raise ValueError("math domain error")
    return raw.log10(x)


def log1p(x):
    x = float(x)
    if x <= -1.0:
        raise ValueError("math domain error")
    return raw.log1p(x)


def cbrt(x):
    return raw.cbrt(float(x))


def erf(x):
    return raw.erf(float(x))


def erfc(x):
    return raw.erfc(float(x))


def gamma(x):
    x = float(x)
    if x == -math.inf or (x <= 0.0 and x == raw.floor(x)):
        raise ValueError("math domain error")
    return checked_range(x, raw.gamma(x))


def lgamma(x):
    x = float(x)
    if x <= 0.0 and x == raw.floor(x) and x != -math.inf:
        raise ValueError("math domain error")
    return checked_range(x, raw.lgamma(x))


def fabs(x):
    return abs(float(x))


def copysign(x, y):
    return raw.copysign(float(x), float(y))


def nextafter(x, y, *, steps=None):
    x = float(x)
    y = float(y)
    if steps is None:
        return raw.nextafter(x, y)
    if steps < 0:
        raise ValueError("steps must be a non-negative integer")
    if steps == 0 or x != x:
        return x
    for _ in range(steps):
        if x == y or y != y:
            break
        x = raw.nextafter(x, y)
    return y if y != y or x == y else x


def ulp(x):
    x = abs(float(x))
    if x - x != 0.0:
        return x
    up = raw.nextafter(x, math.inf)
    if up == math.inf:
        return x - raw.nextafter(x, 0.0)
    return up - x


def fmod(x, y):
    x = float(x)
    y = float(y)
    if (abs(x) == math.inf and y == y) or (y == 0.0 and x == x):
        raise ValueError("math domain error")
    return raw.fmod(x, y)


def remainder(x, y):
    """IEEE 754's remainder: x - n*y for the integer n nearest to x/y, even in a tie."""
    x = float(x)
    y = float(y)
    if x != x or y != y:
        return x + y
    if abs(x) == math.inf or y == 0.0:
        raise ValueError("math domain error")
    size = abs(y)
    if size == math.inf:
        return x
    m = raw.fmod(abs(x), size)
    c = size - m
    if m < c:
        r = m
    elif m > c:
        r = -c
    else:
        r = m - 2.0 * raw.fmod(0.5 * (abs(x) - m), size)
    return raw.copysign(1.0, x) * r


def pow(x, y):
    x = float(x)
    y = float(y)
    if x == 0.0 and y < 0.0 and y != -math.inf:
        raise ValueError("math domain error")
    result = raw.pow(x, y)
    if result != result and x == x and y == y:
        raise ValueError("math domain error")
    if abs(result) == math.inf and abs(x) != math.inf and abs(y) != math.inf and x != 0.0:
        raise OverflowError("math range error")
    return result


def fma(x, y, z):
    x = float(x)
    y = float(y)
    z = float(z)
    result = raw.fma(x, y, z)
    if result != result and x == x and y == y and z == z:
        raise ValueError("invalid operation in fma")
    if abs(result) == math.inf and abs(x) != math.inf and abs(y) != math.inf and abs(z) != math.inf:
        raise OverflowError("overflow in fma")
    return result


def hypot(*coordinates):
    n = len(coordinates)
    if n == 0:
        return 0.0
    if n == 1:
        return abs(float(coordinates[0]))
    if n == 2:
        return raw.hypot(float(coordinates[0]), float(coordinates[1]))
    return norm(coordinates)


def norm(coordinates):
    """The Euclidean length of a tuple, scaled against overflow, with the rounding errors of the squares added back."""
    largest = 0.0
    bad = False
    for c in coordinates:
        size = abs(float(c))
        if size > largest:
            largest = size
        bad = bad or size != size
    if largest == math.inf:
        return largest
    if bad:
        return math.nan
    if largest == 0.0:
        return 0.0
    _, exponent = frexp(largest)
    total = 0.0
    lost = 0.0
    for c in coordinates:
        x = scaled(float(c), -exponent)
        p = x * x
        lost += raw.fma(x, x, -p)
        new = total + p
        lost += (total - new) + p if total >= p else (p - new) + total
        total = new
    root = raw.sqrt(total + lost)
    # One Newton step on the residual rounds the root correctly in nearly all cases.
    square = root * root
    error = raw.fma(root, root, -square)
    rest = ((total - square) - error) + lost
    return scaled(root + rest / (2.0 * root), exponent)


def scaled(x, exponent):
    """x * 2**exponent for |exponent| <= 1100."""
    half = exponent // 2
    return x * raw.from_bits((half + 1023) << 52) * raw.from_bits((exponent - half + 1023) << 52)


def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    if isinstance(p, np.ndarray):
        largest = 0.0
        total = 0.0
        for i in range(len(p)):
            largest = max(largest, abs(float(p[i]) - float(q[i])))
        if largest == 0.0 or largest - largest != 0.0:
            return largest
        for i in range(len(p)):
            part = (float(p[i]) - float(q[i])) / largest
            total += part * part
        return largest * raw.sqrt(total)
    return hypot(*differences(p, q))


def differences(p, q):
    if len(p) == 0:
        return ()
    return (float(p[0]) - float(q[0]),) + differences(p[1:], q[1:])


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    x = float(a)
    y = float(b)
    if x == y:
        return True
    if abs(x) == math.inf or abs(y) == math.inf:
        return False
    gap = abs(y - x)
    return gap <= abs(rel_tol * y) or gap <= abs(rel_tol * x) or gap <= abs_tol


def isnan(x):
    x = float(x)
    return x != x


def isinf(x):
    return abs(float(x)) == math.inf


def isfinite(x):
    x = float(x)
    return x - x == 0.0


def to_int(x):
    if x != x:
        raise ValueError("cannot convert float NaN to integer")
    if abs(x) == math.inf:
        raise OverflowError("cannot convert float infinity to integer")
    return int(x)


def floor(x):
    if isinstance(x, int):
        return int(x)  # of a bool, too
    return to_int(raw.floor(float(x)))


def ceil(x):
    if isinstance(x, int):
        return int(x)  # of a bool, too
    return to_int(raw.ceil(float(x)))


def trunc(x):
    if isinstance(x, int):
        return int(x)  # of a bool, too
    return to_int(float(x))


def degrees(x):
    return float(x) * (180.0 / math.pi)


def radians(x):
    return float(x) * (math.pi / 180.0)


def modf(x):
    x = float(x)
    if abs(x) == math.inf:
        return raw.copysign(0.0, x), x
    if x != x:
        return x, x
    whole = raw.trunc(x)
    return raw.copysign(x - whole, x), whole


def frexp(x):
    x = float(x)
    if x == 0.0 or x - x != 0.0:
        return x, 0
    shift = 0
    if abs(x) < 2.2250738585072014e-308:
        x *= 18014398509481984.0
        shift = 54
    word = raw.bits(x)
    exponent = ((word >> 52) & 2047) - 1022 - shift
    return raw.from_bits((word & -9218868437227405313) | (1022 << 52)), exponent


def ldexp(x, i):
    x = float(x)
    if x == 0.0 or x - x != 0.0:
        return x
    if i > 3000:
        raise OverflowError("math range error")
    if i < -3000:
        return raw.copysign(0.0, x)
    fraction, exponent = frexp(x)
    exponent += i
    if exponent > 1024:
        raise OverflowError("math range error")
    if exponent >= -1021:
        return fraction * 2.0 * raw.from_bits((exponent - 1 + 1023) << 52)
    if exponent < -1080:
        return raw.copysign(0.0, x)
    # The result is subnormal: one rounding, in the last multiplication.
    return fraction * raw.from_bits((exponent + 1074 + 1023) << 52) * 5e-324


def prod(iterable, *, start=1):
    result = start
    for x in iterable:
        result = result * x
    return result


def sumprod(p, q):
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    total = 0
    for x, y in zip(p, q):
        total = total + x * y
    return total


def fsum(seq):
    """The exactly rounded sum (Shewchuk): `parts` holds floats that do not overlap and add up to the sum so far.

    Floats have 2098 binary places of 53 bits each, so 48 parts are always enough.
    """
    parts = np.empty(48, np.float64)
    count = 0
    special = 0.0
    plus = False
    minus = False
    for item in seq:
        x = float(item)
        if x - x != 0.0:
            special += x
            count = 0
            plus = plus or x == math.inf
            minus = minus or x == -math.inf
        else:
            count = fsum_add(parts, count, x)
    if plus and minus:
        raise ValueError("-inf + inf in fsum")
    if special != 0.0:
        return special
    return fsum_total(parts, count)


def fsum_add(parts, count, x):
    """Adds x to the parts; gives their new number."""
    kept = 0
    for j in range(count):
        y = float(raw.load(parts, j))
        if abs(x) < abs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            raw.store(low, parts, kept)
            kept += 1
        x = high
    if x - x != 0.0:
        raise OverflowError("intermediate overflow in fsum")
    if x != 0.0:
        raw.store(x, parts, kept)
        kept += 1
    return kept


def fsum_total(parts, count):
    """The parts added up from the largest, rounded once (half to even across all parts)."""
    if count == 0:
        return 0.0
    n = count - 1
    high = float(raw.load(parts, n))
    low = 0.0
    while n > 0:
        x = high
        n -= 1
        y = float(raw.load(parts, n))
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            break
    if n > 0:
        below = float(raw.load(parts, n - 1))
        if (low < 0.0 and below < 0.0) or (low > 0.0 and below > 0.0):
            y = low * 2.0
            x = high + y
            if y == x - high:
                high = x
    return high
