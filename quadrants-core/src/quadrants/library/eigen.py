"""Eigenvalues and eigenvectors of any square matrix: Hessenberg form, then QR steps with shifts to the Schur form.

All of it is computed with complex numbers. A result has one type, so that a real matrix gives real numbers here, and one
with complex eigenvalues is an error that says to convert it (NumPy's result is real or complex as it turns out; since 2.5 it is
always complex, and so it is here then).
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EigResult

from quadrants.library import raw
from quadrants.library.linalg import check_square, float_matrix

#: QR steps for one eigenvalue until it counts as not convergent; after every 10 the shift is changed.
MOST_STEPS = 300
#: Since 2.5, NumPy's results are complex whatever they are.
ALWAYS_COMPLEX = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 5)


def size_of(z):
    return raw.hypot(float(z.real), float(z.imag))


def hessenberg(h, q):
    """Makes `h` zero below the first subdiagonal by reflections from both sides, which `q` collects."""
    n = h.shape[0]
    for k in range(n - 2):
        square = 0.0
        for i in range(k + 1, n):
            square += float(h[i, k].real) ** 2 + float(h[i, k].imag) ** 2
        head = h[k + 1, k]
        if square == 0.0 or square == float(head.real) ** 2 + float(head.imag) ** 2:
            continue
        length = np.sqrt(np.float64(square))
        turn = head / size_of(head) if size_of(head) > 0.0 else np.complex128(1.0)
        v = h[k + 1 :, k].copy()
        v[0] += turn * length
        scale = 0.0
        for i in range(v.shape[0]):
            scale += float(v[i].real) ** 2 + float(v[i].imag) ** 2
        reflect(h, q, v, k + 1, 2.0 / scale)


def reflect(h, q, v, first, factor):
    """h = P h P and q = q P with P = 1 - factor * v v*, on the rows and columns from `first` on."""
    n = h.shape[0]
    for j in range(n):
        total = np.complex128(0.0)
        for i in range(v.shape[0]):
            total += np.conj(v[i]) * h[first + i, j]
        total *= factor
        for i in range(v.shape[0]):
            h[first + i, j] -= total * v[i]
    right_reflect(h, v, first, factor)
    right_reflect(q, v, first, factor)


def right_reflect(a, v, first, factor):
    for i in range(a.shape[0]):
        total = np.complex128(0.0)
        for j in range(v.shape[0]):
            total += a[i, first + j] * v[j]
        total *= factor
        for j in range(v.shape[0]):
            a[i, first + j] -= total * np.conj(v[j])


def active_start(h, last):
    """The first row of the block that ends at `last` and has no zero on its subdiagonal."""
    first = last
    while first > 0:
        near = size_of(h[first, first]) + size_of(h[first - 1, first - 1])
        if size_of(h[first, first - 1]) <= 2.3e-16 * near:
            h[first, first - 1] = 0.0
            break
        first -= 1
    return first


def shift_of(h, last, step):
    """The eigenvalue of the last 2 by 2 block that is nearer to its last element; now and then another number."""
    d = h[last, last]
    if step % 10 == 0:
        return d + size_of(h[last, last - 1])
    a = h[last - 1, last - 1]
    half = (a - d) / 2.0
    root = np.sqrt(half * half + h[last - 1, last] * h[last, last - 1])
    if size_of(half + root) < size_of(half - root):
        root = -root
    below = half + root
    if size_of(below) == 0.0:
        return d
    return d - h[last - 1, last] * h[last, last - 1] / below


def qr_step(h, q, first, last, shift):
    """One QR step on the rows and columns from `first` to `last`, as rotations from both sides."""
    n = h.shape[0]
    c = np.empty(last - first, np.complex128)
    s = np.empty(last - first, np.complex128)
    for k in range(first, last + 1):
        h[k, k] -= shift
    for k in range(first, last):
        x = h[k, k]
        y = h[k + 1, k]
        length = raw.hypot(size_of(x), size_of(y))
        if length == 0.0:
            c[k - first] = 1.0
            s[k - first] = 0.0
            continue
        c[k - first] = x / length
        s[k - first] = y / length
        for j in range(k, n):
            upper = h[k, j]
            lower = h[k + 1, j]
            h[k, j] = np.conj(c[k - first]) * upper + np.conj(s[k - first]) * lower
            h[k + 1, j] = c[k - first] * lower - s[k - first] * upper
    for k in range(first, last):
        turn_columns(h, k, min(k + 2, last + 1), c[k - first], s[k - first])
        turn_columns(q, k, n, c[k - first], s[k - first])
    for k in range(first, last + 1):
        h[k, k] += shift


def turn_columns(a, k, rows, c, s):
    for i in range(rows):
        left = a[i, k]
        right = a[i, k + 1]
        a[i, k] = left * c + right * s
        a[i, k + 1] = right * np.conj(c) - left * np.conj(s)


def schur(h, q):
    """Makes the square matrix upper triangular: afterwards the old one is q @ h @ q*."""
    n = h.shape[0]
    for i in range(n):
        for j in range(n):
            if not np.isfinite(h[i, j]):
                raise LinAlgError("Array must not contain infs or NaNs")
    hessenberg(h, q)
    last = n - 1
    step = 0
    while last > 0:
        first = active_start(h, last)
        if first == last:
            last -= 1
            step = 0
        else:
            step += 1
            if step > MOST_STEPS:
                raise LinAlgError("Eigenvalues did not converge")
            qr_step(h, q, first, last, shift_of(h, last, step))


def vectors_of(t, q):
    """The eigenvectors, of length 1, as columns; the largest element of each is real."""
    n = t.shape[0]
    out = np.empty((n, n), np.complex128)
    norm = 0.0
    for i in range(n):
        norm = max(norm, size_of(t[i, i]))
    for k in range(n):
        x = np.zeros(n, np.complex128)
        x[k] = 1.0
        for i in range(k - 1, -1, -1):
            total = np.complex128(0.0)
            for j in range(i + 1, k + 1):
                total += t[i, j] * x[j]
            gap = t[i, i] - t[k, k]
            # Equal eigenvalues are taken as slightly different.
            if size_of(gap) < 2.3e-16 * norm or size_of(gap) == 0.0:
                gap = np.complex128(max(2.3e-16 * norm, 2.3e-308))
            x[i] = -total / gap
        put_vector(out, q, x, k)
    return out


def put_vector(out, q, x, k):
    n = x.shape[0]
    square = 0.0
    largest = np.complex128(0.0)
    for i in range(n):
        total = np.complex128(0.0)
        for j in range(k + 1):
            total += q[i, j] * x[j]
        out[i, k] = total
        square += float(total.real) ** 2 + float(total.imag) ** 2
        if size_of(total) > size_of(largest) * (1.0 + 1e-9):
            largest = total
    turn = np.conj(largest) / size_of(largest) / np.sqrt(np.float64(square))
    for i in range(n):
        out[i, k] *= turn


def check_real(values, scale):
    """Refuse eigenvalues that are complex by more than rounding."""
    least = 1e-9 * scale
    for i in range(values.shape[0]):
        if abs(float(values[i].imag)) > least:
            raise ValueError(
                "the eigenvalues of this real matrix are complex, and compiled code decides the type of a result before it "
                "runs: pass a.astype(np.complex128)"
            )


def decompose(a, values, vectors, wanted):
    """The eigenvalues of a matrix, and the eigenvectors if they are wanted."""
    n = a.shape[0]
    h = a.astype(np.complex128)
    q = np.eye(n, dtype=np.complex128)
    schur(h, q)
    found = np.diagonal(h).copy()
    scale = 0.0
    for i in range(n):
        scale = max(scale, size_of(found[i]))
    if a.dtype.kind == "c":
        values[...] = found
        if wanted:
            vectors[...] = vectors_of(h, q)
    else:
        check_real(found, scale)
        values[...] = found.real
        if wanted:
            vectors[...] = vectors_of(h, q).real


def eigen_matrix(a):
    work = float_matrix(a)
    if ALWAYS_COMPLEX and work.dtype.kind == "f":
        return work.astype(np.result_type(work.dtype, np.complex64))
    return work


def eig(a):
    """Eigenvalues and eigenvectors of square matrices."""
    work = eigen_matrix(a)
    check_square(work)
    values = np.empty(work.shape[:-1], work.dtype)
    vectors = np.empty(work.shape, work.dtype)
    for index in np.ndindex(work.shape[:-2]):
        decompose(work[index], values[index], vectors[index], True)
    return EigResult(values, vectors)


def eigvals(a):
    """Eigenvalues of square matrices."""
    return values_of(eigen_matrix(a))


def values_of(work):
    check_square(work)
    values = np.empty(work.shape[:-1], work.dtype)
    for index in np.ndindex(work.shape[:-2]):
        decompose(work[index], values[index], work[index], False)
    return values


def roots(p):
    """The roots of a polynomial, highest power first."""
    c = np.atleast_1d(p)
    if c.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    first = 0
    end = c.shape[0]
    while first < end and c[first] == 0:
        first += 1
    while end > first and c[end - 1] == 0:
        end -= 1
    kind = c.dtype if c.dtype.kind in "fc" else np.dtype(np.float64)
    zeros = c.shape[0] - end if end > first else 0
    n = max(end - first - 1, 0)
    companion = np.zeros((n, n), kind)
    for i in range(n):
        companion[0, i] = -kind.type(c[first + 1 + i]) / kind.type(c[first])
        if i > 0:
            companion[i, i - 1] = 1
    out = np.zeros(n + zeros, kind)
    if n > 0:
        out[:n] = values_of(companion)
    return out
