"""Reductions of one row: the inner loops behind `sum`, `min`, `var` and their kin.

Takes a 1-D array and the dtype of the result; gives a scalar of that dtype (`argmin` and `argmax`: int64).

Floating-point sums add blocks of 256 elements and combine the blocks with compensation, so that the error does not grow
with the length. Inside a block the compiler may reorder (then 16 or more partial sums run side by side: about 20 rounding
errors, as with NumPy's pairwise summation); where it may not, eight accumulators are written out.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import raw
from quadrants.library.support import wide_dtype

BLOCK = 256
LANES = 64


def sum_row(a, dtype):
    if dtype.kind == "b":
        return any_row(a, dtype)
    if dtype.kind in "fc":
        return dtype.type(float_sum(a, wide_dtype(dtype).type))
    total = dtype.type(0)
    for i in range(a.shape[0]):
        total += dtype.type(raw.load(a, i))
    return total


def float_sum(a, kind):
    """The sum of the elements, each converted by `kind`."""
    n = a.shape[0]
    total = kind(0)
    lost = kind(0)
    for start in range(0, n, BLOCK):
        part = block_sum(a, start, min(start + BLOCK, n), kind)
        # The rounding error of total + part is itself a float; it is added up apart (Knuth's two-sum).
        new = total + part
        seen = new - total
        lost += (total - (new - seen)) + (part - seen)
        total = new
    # After an overflow or with infinities `lost` is nan, and `total` is the answer.
    return total + lost if lost == lost else total


def block_sum(a, start, stop, kind):
    if raw.strict():
        return ordered_block_sum(a, start, stop, kind)
    total = kind(0)
    for i in range(start, stop):
        total += kind(raw.load(a, i))
    return total


def ordered_block_sum(a, start, stop, kind):
    whole = start + (stop - start) // 8 * 8
    # -0.0 is the neutral element of addition: the sum of negative zeros stays negative.
    r0 = r1 = r2 = r3 = r4 = r5 = r6 = r7 = kind(-0.0)
    for i in range(start, whole, 8):
        r0 += kind(raw.load(a, i))
        r1 += kind(raw.load(a, i + 1))
        r2 += kind(raw.load(a, i + 2))
        r3 += kind(raw.load(a, i + 3))
        r4 += kind(raw.load(a, i + 4))
        r5 += kind(raw.load(a, i + 5))
        r6 += kind(raw.load(a, i + 6))
        r7 += kind(raw.load(a, i + 7))
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(whole, stop):
        total += kind(raw.load(a, i))
    return total


def mean_row(a, dtype):
    kind = wide_dtype(dtype).type
    if dtype.kind in "fc":
        return dtype.type(float_sum(a, kind) / kind(a.shape[0]))
    return dtype.type(sum_row(a, dtype) / a.shape[0])


def var_row(a, dtype, ddof):
    """The mean squared distance from the mean."""
    wide = a.dtype if a.dtype.kind == "c" else wide_dtype(dtype)
    n = a.shape[0]
    mean = float_sum(a, wide.type) / wide.type(n)
    total = squares_about(a, mean, wide.type)
    kind = wide_dtype(dtype).type
    free = kind(n - ddof)
    if free < 0:
        free = kind(0)
    return dtype.type(total / free)


def squares_about(a, mean, kind):
    """The sum of the squared distances from `mean`."""
    n = a.shape[0]
    total = abs(kind(0))
    lost = abs(kind(0))
    for start in range(0, n, BLOCK):
        part = block_squares(a, start, min(start + BLOCK, n), mean, kind)
        new = total + part
        seen = new - total
        lost += (total - (new - seen)) + (part - seen)
        total = new
    return total + lost if lost == lost else total


def square_size(x):
    """The squared absolute value."""
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def block_squares(a, start, stop, mean, kind):
    if raw.strict():
        return ordered_block_squares(a, start, stop, mean, kind)
    total = abs(kind(0))
    for i in range(start, stop):
        total += square_size(kind(raw.load(a, i)) - mean)
    return total


def ordered_block_squares(a, start, stop, mean, kind):
    whole = start + (stop - start) // 8 * 8
    r0 = r1 = r2 = r3 = r4 = r5 = r6 = r7 = abs(kind(0))
    for i in range(start, whole, 8):
        r0 += square_size(kind(raw.load(a, i)) - mean)
        r1 += square_size(kind(raw.load(a, i + 1)) - mean)
        r2 += square_size(kind(raw.load(a, i + 2)) - mean)
        r3 += square_size(kind(raw.load(a, i + 3)) - mean)
        r4 += square_size(kind(raw.load(a, i + 4)) - mean)
        r5 += square_size(kind(raw.load(a, i + 5)) - mean)
        r6 += square_size(kind(raw.load(a, i + 6)) - mean)
        r7 += square_size(kind(raw.load(a, i + 7)) - mean)
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(whole, stop):
        total += square_size(kind(raw.load(a, i)) - mean)
    return total


def std_row(a, dtype, ddof):
    wide = wide_dtype(dtype)
    return dtype.type(np.sqrt(var_row(a, wide, ddof)))


def prod_row(a, dtype):
    if dtype.kind == "b":
        return all_row(a, dtype)
    kind = wide_dtype(dtype).type
    total = kind(1)
    for i in range(a.shape[0]):
        total *= kind(raw.load(a, i))
    return dtype.type(total)


def lower(x, y):
    """The smaller of two NumPy scalars of one type; nan if either is."""
    kind = x.dtype.kind
    if kind == "b":
        return x & y
    if kind == "f":
        return x if (x <= y) | (x != x) else y
    if kind == "c":
        if x != x:
            return x
        return y if y != y or before(y, x) else x
    return x if x <= y else y


def higher(x, y):
    """The larger of two NumPy scalars of one type; nan if either is."""
    kind = x.dtype.kind
    if kind == "b":
        return x | y
    if kind == "f":
        return x if (x >= y) | (x != x) else y
    if kind == "c":
        if x != x:
            return x
        return y if y != y or before(x, y) else x
    return x if x >= y else y


def before(x, y):
    """NumPy's order of complex numbers: by the real part, then by the imaginary part."""
    return x.real < y.real or (x.real == y.real and x.imag < y.imag)


def extreme(a, pick):
    """The elements combined by `pick`, which is idempotent, associative and commutative. The row is not empty."""
    if a.dtype.kind == "f":
        return extreme_of(lanes_of(a, pick), pick)
    return extreme_of(a, pick)


def extreme_of(a, pick):
    best = raw.load(a, 0)
    for i in range(1, a.shape[0]):
        best = pick(best, raw.load(a, i))
    return best


def lanes_of(a, pick):
    """A row of at most LANES elements with the same extreme: in each, every element LANES further on is combined.

    A float's running minimum is one chain that SIMD cannot split without breaking the rule for nan; lanes are independent.
    """
    n = a.shape[0]
    width = min(n, LANES)
    lanes = np.empty(width, a.dtype)
    # The last elements come first: the blocks from the start may then overlap them.
    for i in range(width):
        raw.store(raw.load(a, n - width + i), lanes, i)
    for start in range(0, n - width, LANES):
        for i in range(LANES):
            raw.store(pick(raw.load(lanes, i), raw.load(a, start + i)), lanes, i)
    return lanes


def min_row(a, dtype):
    if a.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return extreme(a, lower)


def max_row(a, dtype):
    if a.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return extreme(a, higher)


def fmin_row(a, dtype):
    if a.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation fmin which has no identity")
    return extreme(a, lower)


def fmax_row(a, dtype):
    if a.shape[0] == 0:
        raise ValueError("zero-size array to reduction operation fmax which has no identity")
    return extreme(a, higher)


def ptp_row(a, dtype):
    high = max_row(a, dtype)
    return high - min_row(a, dtype)


def first_equal(a, value):
    """The first index whose element is `value`, or the first nan if that is nan."""
    n = a.shape[0]
    if value != value:
        for i in range(n):
            x = raw.load(a, i)
            if x != x:
                return np.int64(i)
    for i in range(n):
        if raw.load(a, i) == value:
            return np.int64(i)
    return np.int64(0)


def argmin_row(a, dtype):
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    return first_equal(a, extreme(a, lower))


def argmax_row(a, dtype):
    if a.shape[0] == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    return first_equal(a, extreme(a, higher))


def any_row(a, dtype):
    for i in range(a.shape[0]):
        if raw.load(a, i) != 0:
            return np.bool_(True)
    return np.bool_(False)


def all_row(a, dtype):
    for i in range(a.shape[0]):
        if raw.load(a, i) == 0:
            return np.bool_(False)
    return np.bool_(True)


def count_row(a, dtype):
    """How many elements are not zero."""
    count = np.int64(0)
    for i in range(a.shape[0]):
        count += np.int64(raw.load(a, i) != 0)
    return count
