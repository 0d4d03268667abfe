"""Whole-number functions of `math`: gcd, lcm, factorial, comb, perm, isqrt. Results past 64 bits wrap."""

from __future__ import annotations

import numpy as np

from quadrants.library import raw


def whole(n):
    """An argument that has to be an integer, as a Python int."""
    if isinstance(n, (np.floating, np.bool_)):
        raise TypeError(f"'numpy.{type(n).__name__}' object cannot be interpreted as an integer")
    if isinstance(n, (float, complex)):
        raise TypeError(f"'{type(n).__name__}' object cannot be interpreted as an integer")
    return int(n)


def int_gcd(a, b):
    """The greatest common divisor of two integers, not negative."""
    a = abs(a)
    b = abs(b)
    while b != 0:
        a, b = b, a % b
    return a


def gcd(*integers):
    result = 0
    for n in integers:
        result = int_gcd(result, whole(n))
    return result


def int_lcm(a, b):
    if a == 0 or b == 0:
        return 0
    return raw.wrap(abs(a // int_gcd(a, b) * b))


def lcm(*integers):
    result = 1
    for n in integers:
        result = int_lcm(result, whole(n))
    return result


def factorial(n):
    n = whole(n)
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for i in range(2, n + 1):
        result = raw.wrap(result * i)
        if result == 0:
            return 0
    return result


def comb(n, k):
    n, k = whole(n), whole(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    few = min(k, n - k)
    result = 1
    for i in range(1, few + 1):
        # result * (n - few + i) is divisible by i; dividing common factors out first keeps every step below the result.
        factor = n - few + i
        shared = int_gcd(result, i)
        result = raw.wrap((result // shared) * (factor // (i // shared)))
    return result


def perm(n, k=None):
    if k is None:
        return factorial(n)
    n, k = whole(n), whole(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    result = 1
    for i in range(k):
        result = raw.wrap(result * (n - i))
        if result == 0:
            return 0
    return result


def isqrt(n):
    n = whole(n)
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(raw.sqrt(float(n)))
    # The float's root is off by at most one; (root + 1)**2 stays below 2**63 in these comparisons.
    if root > 3037000499:
        root = 3037000499
    if root * root > n:
        root -= 1
    elif root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root
