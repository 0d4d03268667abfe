"""Arithmetic of scalars where Python's or NumPy's rule is more than one machine operation.

`python_*` follow CPython's float and int objects (a zero divisor is checked by the caller); `numpy_*` follow NumPy's
scalars and ufuncs, which never raise. All take and give scalars of one type.
"""

from __future__ import annotations

import math

from quadrants.library import raw


def float_mod(x, y):
    """Python's `x % y` of floats, y not zero: the sign of the result is that of y."""
    mod = raw.fmod(x, y)
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            mod += y
        return mod
    return raw.copysign(mod, y)


def float_floordiv(x, y):
    """Python's `x // y` of floats, y not zero."""
    mod = raw.fmod(x, y)
    quotient = (x - mod) / y
    if mod != 0.0 and (y < 0.0) != (mod < 0.0):
        quotient -= 1.0
    if quotient != 0.0:
        whole = raw.floor(quotient)
        if quotient - whole > 0.5:
            whole += 1.0
        return whole
    return raw.copysign(quotient, raw.div(x, y))


def float_divmod(x, y):
    return float_floordiv(x, y), float_mod(x, y)


def numpy_float_mod(x, y):
    """NumPy's remainder of floats: nan for a zero divisor."""
    mod = raw.fmod(x, y)
    if y == 0.0:
        return mod
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            mod += y
        return mod
    return raw.copysign(mod, y)


def numpy_float_floordiv(x, y):
    """NumPy's floor_divide of floats: x / y for a zero divisor."""
    if y == 0.0:
        return raw.div(x, y)
    mod = raw.fmod(x, y)
    quotient = raw.div(x - mod, y)
    if mod != 0.0 and (y < 0.0) != (mod < 0.0):
        quotient -= 1.0
    if quotient != 0.0:
        whole = raw.floor(quotient)
        if quotient - whole > 0.5:
            whole += 1.0
        return whole
    return raw.copysign(quotient, raw.div(x, y))


def int_pow(base, exponent):
    """`base ** exponent` of integers, exponent not negative; wraps at 64 bits."""
    result = 1
    while exponent > 0:
        if exponent & 1:
            result = raw.wrap(result * base)
        exponent >>= 1
        if exponent > 0:
            base = raw.wrap(base * base)
    return result


def sized_int_pow(base, exponent, one):
    """`base ** exponent` of NumPy integers of one type, exponent not negative; `one` is the 1 of that type."""
    result = one
    while exponent > 0:
        if exponent & 1:
            result = result * base
        exponent >>= 1
        if exponent > 0:
            base = base * base
    return result


def int_pow_mod(base, exponent, modulus):
    """`pow(base, exponent, modulus)` of integers."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    base = base % modulus
    if exponent < 0:
        base = inverse_mod(base, modulus)
        exponent = -exponent
    result = 1 % modulus
    while exponent > 0:
        if exponent & 1:
            result = product_mod(result, base, modulus)
        exponent >>= 1
        if exponent > 0:
            base = product_mod(base, base, modulus)
    return result


def product_mod(x, y, modulus):
    """`x * y % modulus` of reduced x and y, without overflow."""
    if abs(modulus) <= 3037000499:
        return x * y % modulus
    x = abs(x)
    y = abs(y)  # both have the sign of the modulus, so that the product of the sizes is the product
    size = abs(modulus)
    total = 0
    while y > 0:
        if y & 1:
            total = total - (size - x) if total >= size - x else total + x
        x = x - (size - x) if x >= size - x else x + x
        y >>= 1
    return total % modulus


def inverse_mod(x, modulus):
    """The inverse of x modulo `modulus`, by Euclid's algorithm."""
    a = x
    b = modulus
    inverse = 1
    other = 0
    while b != 0:
        quotient = a // b
        a, b = b, a - quotient * b
        inverse, other = other, inverse - quotient * other
    if a != 1 and a != -1:
        raise ValueError("base is not invertible for the given modulus")
    return inverse * a % modulus


def float_pow_int(base, exponent):
    """`base ** exponent` of a float and an integer; never raises.

    Small exponents multiply (at most a few rounding errors); all others go to the C library's pow.
    """
    if exponent == 2:
        return base * base
    if exponent == 1:
        return base
    if exponent == 0:
        return 1.0
    return raw.pow(base, float(exponent))


def python_float_pow(x, y):
    """Python's `x ** y` of floats where the result is real; raises as Python does."""
    if x == 0.0 and y < 0.0:
        if raw.VERSION >= (3, 14):
            raise ZeroDivisionError("zero to a negative power")
        raise ZeroDivisionError("0.0 cannot be raised to a negative power")
    result = raw.pow(x, y)
    if math.isinf(result) and not math.isinf(x) and not math.isinf(y):
        raise OverflowError(34, "Numerical result out of range")
    return result


def float_to_int(x):
    """Python's `int(x)` of a float: towards zero, as 64 bits hold it."""
    if x != x:
        raise ValueError("cannot convert float NaN to integer")
    if x - x != 0.0:
        raise OverflowError("cannot convert float infinity to integer")
    return int(x)
