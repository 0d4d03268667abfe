"""Polynomials by their coefficients, highest power first, and window functions."""

from __future__ import annotations

import numpy as np

from quadrants.library.elementwise import i0
from quadrants.library.signals import convolve
from quadrants.library.spectral import lstsq
from quadrants.library.support import as_array


def polyadd(a1, a2):
    x = as_array(a1)
    y = as_array(a2)
    n = max(x.shape[0], y.shape[0])
    out = np.zeros(n, np.result_type(x.dtype, y.dtype))
    out[n - x.shape[0] :] += x
    out[n - y.shape[0] :] += y
    return out


def polysub(a1, a2):
    return polyadd(a1, -as_array(a2))


def polymul(a1, a2):
    return convolve(a1, a2)


def polyder(p, m=1):
    result = as_array(p)
    for _ in range(m):
        result = derivative(result)
    return result


def derivative(p):
    n = p.shape[0]
    out = np.empty(max(n - 1, 0), p.dtype)
    for i in range(n - 1):
        out[i] = p[i] * p.dtype.type(n - 1 - i)
    return out


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The least-squares polynomial of a degree through points, each with its weight."""
    if full or cov:
        raise TypeError("polyfit() gives the coefficients only in compiled code")
    at = as_array(x).astype(np.float64)
    values = as_array(y).astype(np.float64)
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if at.shape[0] != values.shape[0]:
        raise TypeError("expected x and y to have same length")
    table = np.vander(at, deg + 1)
    if w is not None:
        weights = as_array(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weights.shape[0] != values.shape[0]:
            raise TypeError("expected w and y to have the same length")
        table *= weights[:, None]
        values = values * weights.reshape((weights.shape[0],) + (1,) * (values.ndim - 1))
    scale = np.sqrt((table * table).sum(axis=0))
    cutoff = at.shape[0] * np.finfo(np.float64).eps if rcond is None else rcond
    solution = lstsq(table / scale, values, cutoff)[0]
    return solution / scale if values.ndim == 1 else solution / scale[:, None]


def cosine_window(m, first, second, third):
    """first + second*cos(pi n / (m - 1)) + third*cos(2 pi n / (m - 1)) for n = 1 - m, 3 - m, ..., m - 1."""
    size = max(int(m), 0)
    out = np.ones(size)
    if size > 1:
        for i in range(size):
            angle = np.pi * (1 - size + 2 * i) / (size - 1)
            out[i] = first + second * np.cos(angle) + third * np.cos(2.0 * angle)
    return out


def hamming(M):
    return cosine_window(M, 0.54, 0.46, 0.0)


def hanning(M):
    return cosine_window(M, 0.5, 0.5, 0.0)


def blackman(M):
    return cosine_window(M, 0.42, 0.5, 0.08)


def bartlett(M):
    size = max(int(M), 0)
    out = np.ones(size)
    if size > 1:
        for i in range(size):
            out[i] = 1.0 - abs(1 - size + 2 * i) / (size - 1)
    return out


def poly(seq_of_zeros):
    """The polynomial with the given roots, leading coefficient 1."""
    zeros = as_array(seq_of_zeros)
    if zeros.ndim != 1:
        raise ValueError("input must be 1d: give the eigenvalues of a matrix")
    kind = zeros.dtype if zeros.dtype.kind in "fc" else np.dtype(np.float64)
    out = np.zeros(zeros.shape[0] + 1, kind)
    out[0] = 1
    for k in range(zeros.shape[0]):
        for i in range(k + 1, 0, -1):
            out[i] -= kind.type(zeros[k]) * out[i - 1]
    return out


def polyint(p, m=1, k=None):
    """The antiderivative, `m` times, with the constants `k`."""
    result = as_array(p) * 1.0
    for i in range(m):
        n = result.shape[0]
        higher = np.empty(n + 1, result.dtype)
        for j in range(n):
            higher[j] = result[j] / (n - j)
        higher[n] = 0 if k is None else np.broadcast_to(as_array(k), (m,))[i]
        result = higher
    return result


def polydiv(u, v):
    """Quotient and remainder."""
    x = np.atleast_1d(u) + 0.0
    y = np.atleast_1d(v) + 0.0
    n = max(x.shape[0] - y.shape[0] + 1, 1)
    quotient = np.zeros(n, np.result_type(x.dtype, y.dtype))
    left = x.astype(quotient.dtype)
    for k in range(x.shape[0] - y.shape[0] + 1):
        factor = left[k] / y[0]
        quotient[k] = factor
        for j in range(y.shape[0]):
            left[k + j] -= factor * y[j]
    first = 0
    while first < left.shape[0] - 1 and abs(left[first]) <= 1e-14:
        first += 1
    return quotient, left[first:]


def kaiser(M, beta):
    if M <= 1:
        return np.ones(max(M, 0))
    half = (M - 1) / 2.0
    at = (np.arange(M) - half) / half
    return i0(beta * np.sqrt(1.0 - at * at)) / i0(float(beta))
