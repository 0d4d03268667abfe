"""NumPy's element-wise functions of complex numbers: as `cmath`, but an infinity or nan where that raises.

Takes and gives complex numbers; the results at infinities and nan are C99's (annex G). Nothing here raises.
"""

from __future__ import annotations

import math

from quadrants.library import complexes, raw
from quadrants.library.complexes import (
    LN2,
    LN10,
    acos,
    any_log,
    asin,
    asinh,
    finite,
    finite_cosh,
    finite_exp,
    finite_sinh,
    finite_tanh,
    special_atanh,
    special_cosh,
    special_exp,
    special_sinh,
    special_tanh,
    sqrt,
    turned,
    turned_back,
)

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2",
    "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip


def exp(x):
    z = complex(x)
    if z.imag == 0.0:
        return complex(raw.exp(z.real), z.imag)
    if finite(z):
        return finite_exp(z.real, z.imag)
    if abs(z.imag) == math.inf and z.real != -math.inf:
        return complex(math.inf if z.real == math.inf else math.nan, math.nan)
    return special_exp(z.real, z.imag)


def exp2(x):
    z = complex(x)
    return exp(complex(z.real * LN2, z.imag * LN2))


def expm1(x):
    """exp(x) - 1, accurate near zero."""
    z = complex(x)
    half = raw.sin(z.imag / 2.0)
    return complex(
        raw.expm1(z.real) * raw.cos(z.imag) - 2.0 * half * half,
        raw.exp(z.real) * raw.sin(z.imag),
    )


def log(x):
    return any_log(complex(x))


def log2(x):
    z = log(x)
    return complex(z.real / LN2, z.imag / LN2)


def log10(x):
    z = log(x)
    return complex(z.real / LN10, z.imag / LN10)


def log1p(x):
    z = complex(x)
    return complex(raw.log(raw.hypot(z.real + 1.0, z.imag)), raw.atan2(z.imag, z.real + 1.0))


def sinh(x):
    z = complex(x)
    if z.imag == 0.0:
        return complex(raw.sinh(z.real), z.imag)
    if finite(z):
        return finite_sinh(z.real, z.imag)
    if z.real == 0.0:
        return complex(z.real, math.nan)
    if abs(z.imag) == math.inf:
        return complex(math.inf if abs(z.real) == math.inf else math.nan, math.nan)
    return special_sinh(z.real, z.imag)


def cosh(x):
    z = complex(x)
    if z.imag == 0.0:
        return complex(raw.cosh(z.real), z.imag * raw.copysign(1.0, z.real))
    if finite(z):
        return finite_cosh(z.real, z.imag)
    if abs(z.imag) == math.inf:
        if z.real == 0.0:
            return complex(math.nan, 0.0)
        return complex(math.inf if abs(z.real) == math.inf else math.nan, math.nan)
    return special_cosh(z.real, z.imag)


def tanh(x):
    z = complex(x)
    if finite(z):
        return finite_tanh(z.real, z.imag)
    if z.real == 0.0:
        return complex(z.real, math.nan)
    return special_tanh(z.real, z.imag)


def sin(x):
    return turned_back(sinh(turned(complex(x))))


def cos(x):
    return cosh(turned(complex(x)))


def tan(x):
    return turned_back(tanh(turned(complex(x))))


def atanh(x):
    z = complex(x)
    if abs(z.real) == 1.0 and z.imag == 0.0:
        return complex(raw.copysign(math.inf, z.real), z.imag)
    if not finite(z):
        return special_atanh(z.real, z.imag)
    size = complexes.right_atanh(abs(z.real), z.imag if raw.copysign(1.0, z.real) > 0.0 else -z.imag)
    if raw.copysign(1.0, z.real) < 0.0:
        return complex(-size.real, -size.imag)
    return size


def acosh(x):
    z = complex(x)
    if z.real == 0.0 and z.imag != z.imag:
        return complex(math.nan, math.pi / 2)
    return complexes.acosh(z)


def atan(x):
    return turned_back(atanh(turned(complex(x))))
