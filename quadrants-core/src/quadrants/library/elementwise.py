"""Element-wise functions that are more than one operation, and application of a function to every element or line."""

from __future__ import annotations

import math

import numpy as np

from quadrants.library import raw
from quadrants.library.integers import int_gcd
from quadrants.library.support import as_array, axis_last, checked_axis, unpacked


def apply(function, a):
    """`function` of every element, in an array of the same dtype."""
    out = np.empty(a.shape, a.dtype)
    for index in np.ndindex(a.shape):
        out[index] = function(a[index])
    return out


def of_pairs(function, x1, x2, dtype):
    """`function(x, y)` of every pair of elements, broadcast; a scalar of two scalars."""
    x = as_array(x1)
    y = as_array(x2)
    shape = np.broadcast_shapes(x.shape, y.shape)
    left = np.broadcast_to(x, shape)
    right = np.broadcast_to(y, shape)
    out = np.empty(shape, dtype)
    for index in np.ndindex(shape):
        out[index] = function(left[index], right[index])
    if out.ndim == 0:
        return out[()]
    return out


def gcd_of(x, y):
    return int_gcd(int(x), int(y))


def lcm_of(x, y):
    p = abs(int(x))
    q = abs(int(y))
    if p == 0 or q == 0:
        return 0
    return raw.wrap(p // int_gcd(p, q) * q)


def check_whole(dtype):
    if dtype.kind != "i" and dtype.kind != "u":
        raise TypeError("gcd and lcm take integers of one signedness only")


def gcd(x1, x2):
    check_whole(np.result_type(x1, x2))
    return of_pairs(gcd_of, x1, x2, np.result_type(x1, x2))


def lcm(x1, x2):
    check_whole(np.result_type(x1, x2))
    return of_pairs(lcm_of, x1, x2, np.result_type(x1, x2))


def ldexp_of(x, n):
    # In two steps, because 2.0**n alone may overflow where the result does not.
    half = min(max(int(n), -2200), 2200) // 2
    rest = min(max(int(n), -2200), 2200) - half
    return x * raw.exp2(float(half)) * raw.exp2(float(rest))


def ldexp(x1, x2):
    a = as_array(x1)
    return of_pairs(ldexp_of, a, x2, np.result_type(a.dtype, np.float16))


def divmod_(x1, x2):
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


def modf(x):
    """The fractional and the whole part, both with the sign of x."""
    whole = np.trunc(x)
    part = np.where(np.isinf(x), 0.0, x - whole)
    return np.copysign(unpacked(part), x), whole


def logaddexp2_of(x, y):
    if x == y:
        return x + 1.0
    gap = x - y
    if gap > 0.0:
        return x + np.log1p(np.exp2(-gap)) / math.log(2.0)
    if gap <= 0.0:
        return y + np.log1p(np.exp2(gap)) / math.log(2.0)
    return gap


def logaddexp2(x1, x2):
    return of_pairs(logaddexp2_of, x1, x2, np.result_type(x1, x2, np.float16))


def sinc(x):
    """sin(pi x) / (pi x), and 1 at zero."""
    a = as_array(x)
    y = np.where(a == 0, 1.0e-20, a) * np.pi
    return unpacked(np.sin(y) / y)


def isposinf(x):
    return np.isinf(x) & (x > 0)


def isneginf(x):
    return np.isinf(x) & (x < 0)


def iscomplex(x):
    return as_array(x).imag != 0


def isreal(x):
    return as_array(x).imag == 0


def iscomplexobj(x):
    return as_array(x).dtype.kind == "c"


def isrealobj(x):
    return as_array(x).dtype.kind != "c"


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Angles with jumps of more than half a period taken out."""
    a = as_array(p)
    front = checked_axis(axis, a.ndim)
    out = a.astype(np.result_type(a.dtype, np.float64 if a.dtype.kind in "biu" else a.dtype))
    lines = axis_last(out, front)
    limit = period / 2 if discont is None else max(discont, period / 2)
    for index in np.ndindex(lines.shape[:-1]):
        unwrap_line(lines[index], limit, period)
    return out


def unwrap_line(line, limit, period):
    shift = 0.0
    last = 0.0
    for i in range(line.shape[0]):
        x = float(line[i])
        if i > 0:
            step = x - last
            turned = (step + period / 2) % period - period / 2
            if turned == -period / 2 and step > 0:
                turned = period / 2
            if abs(step) >= limit:
                shift += turned - step
        last = x
        line[i] = x + shift


def apply_along_axis(func1d, axis, arr, *args):
    """`func1d(line, *args)` of every line along the axis; it gives a scalar or a row."""
    a = as_array(arr)
    front = checked_axis(axis, a.ndim)
    lines = axis_last(a, front)
    outer = lines.shape[:-1]
    first = as_array(func1d(lines[(0,) * len(outer)], *args))
    result = np.empty(outer + first.shape, first.dtype)
    for index in np.ndindex(outer):
        result[index] = func1d(lines[index], *args)
    if first.ndim == 0:
        return result
    return np.moveaxis(result, -1, front)


def astype(x, dtype, /, *, copy=True):
    """`np.astype`."""
    return x.astype(dtype, copy=copy)


def where_given(result, where):
    """The result of a ufunc with `where=` and no `out=`: NumPy leaves the other elements undefined, here they are zero."""
    return np.where(where, result, result.dtype.type(0))


def put_where(out, result, where):
    """The result of a ufunc with `where=` into `out`."""
    np.copyto(out, result, where=as_array(where))
    return out


def spacing(x):
    """The distance to the next number that is farther from zero."""
    a = as_array(x)
    return np.nextafter(a, np.copysign(np.inf, a)) - a


def frexp(x):
    """Mantissas in [0.5, 1) and exponents of 2."""
    a = as_array(x)
    mantissas = np.empty(a.shape, a.dtype if a.dtype.kind == "f" else np.float64)
    exponents = np.empty(a.shape, np.int32)
    for index in np.ndindex(a.shape):
        part, power = math.frexp(float(a[index]))
        mantissas[index] = part
        exponents[index] = power
    if a.ndim == 0:
        return mantissas[()], exponents[()]
    return mantissas, exponents


def i0(x):
    """The modified Bessel function of order 0, as a power series or, for large numbers, by its asymptotic series."""
    a = as_array(x)
    out = np.empty(a.shape, np.float64)
    for index in np.ndindex(a.shape):
        out[index] = bessel_i0(abs(float(a[index])))
    if a.ndim == 0:
        return out[()]
    return out


def bessel_i0(x):
    if x < 25.0:
        term = 1.0
        total = 1.0
        k = 1
        while term > 1e-18 * total:
            term *= (x / (2.0 * k)) ** 2
            total += term
            k += 1
        return total
    term = 1.0
    total = 1.0
    k = 1
    while k < 40 and abs(term) > 1e-18:
        term *= (2.0 * k - 1.0) ** 2 / (8.0 * x * k)
        total += term
        k += 1
    return math.exp(x) / math.sqrt(2.0 * math.pi * x) * total
