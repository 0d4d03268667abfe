"""Python's `round(x, ndigits)`, NumPy's `round`, and the arithmetic with double-double numbers that the former needs.

`round_half_even_digits` is exact for |ndigits| <= 22: it gives the float nearest to the decimal that is nearest to the
binary value, as CPython does. For more digits powers of ten are not floats; the result can differ from CPython's only
where the value lies within a relative 2**-95 of a tie.
"""

from __future__ import annotations

import math

import numpy as np

from quadrants.library import raw
from quadrants.library.support import as_array, deliver


def power_of_ten(n):
    """10.0**n, exact for 0 <= n <= 22."""
    t = 1.0
    for _ in range(n):
        t *= 10.0
    return t


def scaled(high, low, factor):
    """The double-double (high, low) times a float, as a double-double."""
    p = high * factor
    e = raw.fma(high, factor, -p) + low * factor
    s = p + e
    return s, e - (s - p)


def divided(high, low, divisor):
    """The double-double (high, low) by a float, as a double-double."""
    q = high / divisor
    e = (raw.fma(-q, divisor, high) + low) / divisor
    s = q + e
    return s, e - (s - q)


def round_half_even_digits(x, ndigits):
    """Python's `round(x, ndigits)` of a float."""
    if x - x != 0.0 or x == 0.0 or ndigits > 323:
        return x
    if ndigits < -308:
        return 0.0 * x
    size = abs(x)
    rounded = rounded_fraction(size, ndigits) if ndigits >= 0 else rounded_tens(size, -ndigits)
    if rounded == math.inf:
        raise OverflowError("rounded value too large to represent")
    return raw.copysign(rounded, x)


def finer_than_float(x, unit):
    """Whether rounding the positive x to a multiple of `unit` cannot change it: half the unit is below half the distance
    to the nearest other float (below a power of two, floats are closer)."""
    gap = x - raw.nextafter(x, 0.0)
    return unit < gap


def rounded_fraction(x, n):
    """The positive x rounded to n >= 0 decimals."""
    if n <= 22 and finer_than_float(x, 1.0 / power_of_ten(n)) or x >= 4503599627370496.0:
        return x
    p = x
    e = 0.0
    left = n
    while left > 22:
        p, e = scaled(p, e, 1e22)
        left -= 22
        if p >= 18014398509481984.0:
            return x
    p, e = scaled(p, e, power_of_ten(left))
    if p >= 18014398509481984.0:
        return x
    whole = raw.floor(p)
    over = (p - whole) - 0.5
    low = raw.rint(e) if abs(e) >= 0.5 else 0.0
    if over > 0.0 or (over == 0.0 and (e > 0.0 or (e == 0.0 and raw.fmod(whole, 2.0) != 0.0))):
        whole += 1.0
    left = n
    while left > 22:
        whole, low = divided(whole, low, 1e22)
        left -= 22
    whole, low = divided(whole, low, power_of_ten(left))
    return whole + low


def rounded_tens(x, n):
    """The positive x rounded to a multiple of 10**n."""
    unit = 1.0
    rest = 0.0
    left = n
    while left > 22:
        unit, rest = scaled(unit, rest, 1e22)
        left -= 22
    unit, rest = scaled(unit, rest, power_of_ten(left))
    if finer_than_float(x, unit):
        return x
    q = raw.rint(x / unit)
    # x - q*unit is exact: a multiple of the last place of `unit`, and no larger than it.
    over = raw.fma(-q, unit, x)
    odd = raw.fmod(q, 2.0) != 0.0
    up = (over - unit * 0.5) - rest * (q + 0.5)
    down = (over + unit * 0.5) - rest * (q - 0.5)
    if up > 0.0 or (up == 0.0 and odd):
        q += 1.0
    elif down < 0.0 or (down == 0.0 and odd):
        q -= 1.0
    rounded, _ = scaled(unit, rest, q)
    # An overflow leaves nan in the second part of a double-double, never in the first.
    return rounded if rounded == rounded else math.inf


def int_round_digits(x, ndigits):
    """Python's `round(x, ndigits)` of an integer."""
    if ndigits >= 0:
        return x
    if ndigits < -18:
        return 0
    unit = 1
    for _ in range(-ndigits):
        unit *= 10
    q = x // unit
    rest = x - q * unit
    # Twice the remainder may need 64 bits; the other way round it does not.
    if rest > unit - rest or (rest == unit - rest and q % 2 != 0):
        q += 1
    return raw.wrap(q * unit)


def round_(a, decimals=0, out=None):
    """NumPy's `round`: scales, rounds to even, scales back."""
    if isinstance(a, (tuple, list)):
        a = as_array(a)
    return deliver(rounded(a, decimals), out)


def rounded(a, decimals):
    kind = np.result_type(a).kind
    if kind == "b":
        return np.float16(a) if not isinstance(a, np.ndarray) else a.astype(np.float16)
    if kind in "iu":
        return rounded_integers(a, decimals)
    if kind == "c":
        return rounded_floats(a.real, decimals) + 1j * rounded_floats(a.imag, decimals)
    return rounded_floats(a, decimals)


def rounded_integers(a, decimals):
    if decimals >= 0:
        return a.copy() if isinstance(a, np.ndarray) else a
    if not isinstance(a, np.ndarray):
        return np.result_type(a).type(int_round_digits(int(a), decimals))
    out = np.empty(a.shape, a.dtype)
    for index in np.ndindex(a.shape):
        out[index] = int_round_digits(int(a[index]), decimals)
    return out


def rounded_floats(a, decimals):
    if decimals == 0:
        return np.rint(a)
    scale = np.result_type(a).type(raw.pow(10.0, float(abs(decimals))))
    if decimals > 0:
        return np.rint(a * scale) / scale
    return np.rint(a / scale) * scale
