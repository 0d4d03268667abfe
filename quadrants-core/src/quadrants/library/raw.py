"""Operations that never raise: the machine's own arithmetic, below Python's and NumPy's rules.

Takes and gives scalars. Compiled code replaces each call by one operation of the IR; the bodies here give the same
results in the interpreter. Legal only inside `quadrants.library`: `load` and `store` do not check their indices.
"""

from __future__ import annotations

import math
import struct
import sys

import numpy as np


def _unary(ufunc):
    def function(x):
        with np.errstate(all="ignore"):
            return float(ufunc(np.float64(x)))

    function.__name__ = function.__qualname__ = ufunc.__name__
    return function


def _binary(ufunc):
    def function(x, y):
        with np.errstate(all="ignore"):
            return float(ufunc(np.float64(x), np.float64(y)))

    function.__name__ = function.__qualname__ = ufunc.__name__
    return function


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    return function


sqrt = _unary(np.sqrt)
sin = _unary(np.sin)
cos = _unary(np.cos)
tan = _unary(np.tan)
asin = _named(_unary(np.arcsin), "asin")
acos = _named(_unary(np.arccos), "acos")
atan = _named(_unary(np.arctan), "atan")
sinh = _unary(np.sinh)
cosh = _unary(np.cosh)
tanh = _unary(np.tanh)
asinh = _named(_unary(np.arcsinh), "asinh")
acosh = _named(_unary(np.arccosh), "acosh")
atanh = _named(_unary(np.arctanh), "atanh")
exp = _unary(np.exp)
exp2 = _unary(np.exp2)
expm1 = _unary(np.expm1)
log = _unary(np.log)
log2 = _unary(np.log2)
log10 = _unary(np.log10)
log1p = _unary(np.log1p)
cbrt = _unary(np.cbrt)
floor = _unary(np.floor)
ceil = _unary(np.ceil)
trunc = _unary(np.trunc)
rint = _unary(np.rint)

atan2 = _named(_binary(np.arctan2), "atan2")
hypot = _binary(np.hypot)
copysign = _binary(np.copysign)
nextafter = _binary(np.nextafter)
fmin = _binary(np.fmin)
fmax = _binary(np.fmax)
fmod = _binary(np.fmod)
div = _named(_binary(np.divide), "div")


def pow(x, y):
    """C's pow (NumPy's differs: it takes square roots for 0.5)."""
    x, y = float(x), float(y)
    negative = math.copysign(1.0, x) < 0.0 and math.fmod(y, 2.0) in (1.0, -1.0) if math.isfinite(y) else False
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if negative else math.inf
    except ValueError:
        if x == 0.0:
            return -math.inf if negative else math.inf
        return math.nan


def erf(x):
    return math.erf(x)


def erfc(x):
    return math.erfc(x)


def gamma(x):
    """C's tgamma: a pole gives nan, or an infinity at zero; overflow gives an infinity."""
    x = float(x)
    if x == 0.0:
        return math.copysign(math.inf, x)
    if x == -math.inf or (x < 0.0 and x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


def lgamma(x):
    """C's lgamma: a pole or overflow gives inf."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def fma(x, y, z):
    """x*y + z, rounded once."""
    x, y, z = float(x), float(y), float(z)
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)) or x == 0.0 or y == 0.0:
        return x * y + z
    from fractions import Fraction  # loaded only in the interpreter: compiled code has an instruction

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def wrap(x):
    """The integer as 64 bits hold it (in compiled code integers have 64 bits and this does nothing)."""
    return (int(x) + 2**63) % 2**64 - 2**63


def bits(x):
    """The 64 bits of a float64 as a signed integer."""
    return struct.unpack("<q", struct.pack("<d", x))[0]


def from_bits(n):
    """The float64 that has these 64 bits."""
    return struct.unpack("<d", struct.pack("<q", n))[0]


def clz(n):
    """Leading zero bits of a signed 64-bit integer."""
    return 64 - (int(n) % 2**64).bit_length()


def ctz(n):
    """Trailing zero bits of a signed 64-bit integer; 64 for zero."""
    n = int(n) % 2**64
    return (n & -n).bit_length() - 1 if n else 64


def known(x):
    """Whether the value is a constant at compile time."""
    return True


def needs_constant(what):
    """End the compilation: what the text names has to be known then."""


def strict():
    """Whether floating-point operations must keep their order (`fp="strict"`); known at compile time."""
    return True


def load(array, *index):
    """`array[index]`, with every index known to be in range and not negative."""
    return array[index]


def store(value, array, *index):
    """`array[index] = value`, with every index known to be in range and not negative."""
    array[index] = value


def put(value, array, index):
    """`array[index] = value` as users write it: a number of NumPy's has to fit a signed integer type."""
    array[index] = value


def list_size(items):
    """How many items a list has."""
    return len(items)


def list_get(items, index):
    """`items[index]`, with the index known to be in range and not negative."""
    return items[index]


def list_put(items, index, value):
    """`items[index] = value`, with the index known to be in range and not negative."""
    items[index] = value


def list_resize(items, size):
    """Let a list have so many items."""
    del items[size:]
    items.extend([None] * (size - len(items)))


def list_like(items):
    """A new, empty list for items of the same type."""
    return []


def list_dtype(items):
    """The dtype of an array of the items of a list."""
    return np.array(items).dtype


def list_width(items):
    """How many numbers each tuple of a list, or of the lists in it, has; 0 for numbers, -1 where nothing is ever put in."""
    while items and isinstance(items[0], list):
        items = items[0]
    return len(items[0]) if items and isinstance(items[0], tuple) else 0


def list_depth(items):
    """How many lists are in each other: 1 for a list of numbers."""
    return 1 + list_depth(items[0]) if items and isinstance(items[0], list) else 1


def strided(array, shape, strides):
    """The view with the shape and the strides (in bytes), all of which is known to lie in the array's memory."""
    return np.lib.stride_tricks.as_strided(array, shape, strides)


def linear(array):
    """The elements on one axis; they are known to lie next to each other in C order."""
    return array.reshape(-1)


#: The interpreter's version, for the few texts and rules that changed.
VERSION = sys.version_info[:2]
