"""Comparing arrays, and replacing nan."""

from __future__ import annotations

import numpy as np

from quadrants.library.support import as_array, unpacked


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol*|b|, element by element; equal infinities are close."""
    x = as_array(a)
    y = as_array(b)
    dtype = np.result_type(x.dtype, y.dtype, np.float16)
    shape = np.broadcast_shapes(x.shape, y.shape)
    left = np.broadcast_to(x, shape)
    right = np.broadcast_to(y, shape)
    out = np.empty(shape, np.bool_)
    for index in np.ndindex(shape):
        out[index] = close(dtype.type(left[index]), dtype.type(right[index]), rtol, atol, equal_nan)
    if out.ndim == 0:
        return out[()]
    return out


def close(x, y, rtol, atol, equal_nan):
    if x == y:
        return True
    if x != x or y != y:
        return equal_nan and x != x and y != y
    # An infinite y would make the bound infinite too.
    return abs(y) != np.inf and abs(x - y) <= atol + rtol * abs(y)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x = as_array(a)
    y = as_array(b)
    dtype = np.result_type(x.dtype, y.dtype, np.float16)
    shape = np.broadcast_shapes(x.shape, y.shape)
    left = np.broadcast_to(x, shape)
    right = np.broadcast_to(y, shape)
    for index in np.ndindex(shape):
        if not close(dtype.type(left[index]), dtype.type(right[index]), rtol, atol, equal_nan):
            return False
    return True


def array_equal(a1, a2, equal_nan=False):
    x = as_array(a1)
    y = as_array(a2)
    if x.ndim != y.ndim:
        return False
    if x.shape != y.shape:
        return False
    for index in np.ndindex(x.shape):
        p = x[index]
        q = y[index]
        if p != q and not (equal_nan and p != p and q != q):
            return False
    return True


def array_equiv(a1, a2):
    """Whether the arrays are equal after broadcasting (of shapes that go together)."""
    x = as_array(a1)
    y = as_array(a2)
    shape = np.broadcast_shapes(x.shape, y.shape)
    return array_equal(np.broadcast_to(x, shape), np.broadcast_to(y, shape))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    a = as_array(x)
    kind = a.dtype.kind
    if kind == "c":
        out = np.empty(a.shape, a.dtype)
        for index in np.ndindex(a.shape):
            z = a[index]
            out[index] = complex(finite_value(z.real, nan, posinf, neginf), finite_value(z.imag, nan, posinf, neginf))
    else:
        out = a.copy() if copy else a
        if kind == "f":
            for index in np.ndindex(a.shape):
                out[index] = finite_value(a[index], nan, posinf, neginf)
    if out.ndim == 0:
        return out[()]
    return out


def finite_value(x, nan, posinf, neginf):
    """The number itself, or what stands for nan and the infinities (by default the largest numbers)."""
    kind = x.dtype.type
    if x != x:
        return kind(nan)
    if x == np.inf:
        return kind(np.finfo(x.dtype).max) if posinf is None else kind(posinf)
    if x == -np.inf:
        return kind(np.finfo(x.dtype).min) if neginf is None else kind(neginf)
    return x


def angle(z, deg=False):
    a = as_array(z)
    result = np.arctan2(a.imag, a.real)
    if deg:
        result = result * (180.0 / np.pi)
    return unpacked(result)
