"""Reductions that pass over nan: `nansum`, `nanmean`, `nanvar`, `nanmin`, `nanmedian`, ...

Integers have no nan: for them these are the plain reductions.
"""

from __future__ import annotations

import numpy as np

from quadrants.library import kernels, raw
from quadrants.library.reductions import arg_reduce, free_degrees, max_, mean, min_, reduce, std, sum_, var
from quadrants.library.reductions import prod as plain_prod
from quadrants.library.statistics import any_quantile, median, median_row, quantile_dtype, quantile_row
from quadrants.library.support import as_array, deliver, mean_dtype, real_dtype, sum_dtype


def inexact(a):
    return a.dtype.kind in "fc"


def known(a):
    """The elements of a row that are not nan."""
    n = a.shape[0]
    out = np.empty(n, a.dtype)
    count = 0
    for i in range(n):
        x = raw.load(a, i)
        if x == x:
            raw.store(x, out, count)
            count += 1
    return out[:count]


def nansum_row(a, dtype):
    return kernels.sum_row(known(a), dtype)


def nanprod_row(a, dtype):
    return kernels.prod_row(known(a), dtype)


def nanmean_row(a, dtype):
    return kernels.mean_row(known(a), dtype)


def nanvar_row(a, dtype, ddof):
    line = known(a)
    if line.shape[0] - ddof <= 0:
        return dtype.type(np.nan)
    return kernels.var_row(line, dtype, ddof)


def nanstd_row(a, dtype, ddof):
    return dtype.type(np.sqrt(nanvar_row(a, dtype, ddof)))


def nanmin_row(a, dtype):
    line = known(a)
    if line.shape[0] == 0 and a.shape[0] > 0:
        return raw.load(a, 0)
    return kernels.fmin_row(line, dtype)


def nanmax_row(a, dtype):
    line = known(a)
    if line.shape[0] == 0 and a.shape[0] > 0:
        return raw.load(a, 0)
    return kernels.fmax_row(line, dtype)


def nanmedian_row(a, dtype):
    return median_row(known(a), dtype)


def nanquantile_row(a, dtype, q, method):
    line = known(a)
    if line.shape[0] == 0:
        return dtype.type(np.nan)
    return quantile_row(line, dtype, q, method)


def nanargmin_row(a, dtype):
    return first_known(a, kernels.argmin_row(with_nan_as(a, np.inf), dtype))


def nanargmax_row(a, dtype):
    return first_known(a, kernels.argmax_row(with_nan_as(a, -np.inf), dtype))


def with_nan_as(a, value):
    out = a.copy()
    if inexact(a):
        for i in range(a.shape[0]):
            x = raw.load(a, i)
            if x != x:
                raw.store(a.dtype.type(value), out, i)
    return out


def first_known(a, place):
    """The place, unless the row is all nan (where infinities and nan mix, it may be that of a nan, as in NumPy)."""
    for i in range(a.shape[0]):
        x = raw.load(a, i)
        if x == x:
            return place
    raise ValueError("All-NaN slice encountered")


def nansum(a, axis=None, dtype=None, out=None, keepdims=False):
    a = as_array(a)
    if not inexact(a):
        return sum_(a, axis, dtype, out, keepdims)
    return deliver(reduce(nansum_row, a, axis, keepdims, sum_dtype(a, dtype)), out)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False):
    a = as_array(a)
    if not inexact(a):
        return plain_prod(a, axis, dtype, out, keepdims)
    return deliver(reduce(nanprod_row, a, axis, keepdims, sum_dtype(a, dtype)), out)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    a = as_array(a)
    if not inexact(a):
        return mean(a, axis, dtype, out, keepdims)
    return deliver(reduce(nanmean_row, a, axis, keepdims, mean_dtype(a, dtype)), out)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None):
    a = as_array(a)
    ddof = free_degrees(ddof, correction)
    if not inexact(a):
        return var(a, axis, dtype, out, ddof, keepdims)
    return deliver(reduce(nanvar_row, a, axis, keepdims, real_dtype(mean_dtype(a, dtype)), ddof), out)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None):
    a = as_array(a)
    ddof = free_degrees(ddof, correction)
    if not inexact(a):
        return std(a, axis, dtype, out, ddof, keepdims)
    return deliver(reduce(nanstd_row, a, axis, keepdims, real_dtype(mean_dtype(a, dtype)), ddof), out)


def nanmin(a, axis=None, out=None, keepdims=False):
    a = as_array(a)
    if not inexact(a):
        return min_(a, axis, out, keepdims)
    return deliver(reduce(nanmin_row, a, axis, keepdims, a.dtype), out)


def nanmax(a, axis=None, out=None, keepdims=False):
    a = as_array(a)
    if not inexact(a):
        return max_(a, axis, out, keepdims)
    return deliver(reduce(nanmax_row, a, axis, keepdims, a.dtype), out)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    a = as_array(a)
    if not inexact(a):
        return median(a, axis, out, False, keepdims)
    return deliver(reduce(nanmedian_row, a, axis, keepdims, mean_dtype(a, None)), out)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return any_nanquantile(as_array(a), q, axis, out, keepdims, "Quantiles must be in the range [0, 1]", method)


def any_nanquantile(a, q, axis, out, keepdims, message, method):
    if not inexact(a):
        return any_quantile(a, q, axis, out, keepdims, message, method)
    if isinstance(q, (np.ndarray, tuple, list)):
        qs = as_array(q)
        places = qs.reshape(-1)
        first = nan_quantile(a, np.float64(0.0), axis, keepdims, message, method)
        result = np.empty((places.shape[0],) + np.shape(first), first.dtype)
        for i in range(places.shape[0]):
            result[i] = nan_quantile(a, np.float64(places[i]), axis, keepdims, message, method)
        return deliver(result if qs.ndim == 1 else result.reshape(qs.shape + np.shape(first)), out)
    return deliver(nan_quantile(a, q, axis, keepdims, message, method), out)


def nan_quantile(a, q, axis, keepdims, message, method):
    if not (0.0 <= q and q <= 1.0):
        raise ValueError(message)
    return reduce(nanquantile_row, a, axis, keepdims, quantile_dtype(a, q, method), q, method)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    share = as_array(q) / 100 if isinstance(q, (np.ndarray, tuple, list)) else q / 100
    return any_nanquantile(as_array(a), share, axis, out, keepdims, "Percentiles must be in the range [0, 100]", method)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    return deliver(arg_reduce(nanargmin_row, as_array(a), axis, keepdims), out)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    return deliver(arg_reduce(nanargmax_row, as_array(a), axis, keepdims), out)


def nancumsum(a, axis=None, dtype=None, out=None):
    a = as_array(a)
    clean = np.where(np.isnan(a), a.dtype.type(0), a) if inexact(a) else a
    return np.cumsum(clean, axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    a = as_array(a)
    clean = np.where(np.isnan(a), a.dtype.type(1), a) if inexact(a) else a
    return np.cumprod(clean, axis, dtype, out)
