"""Element-wise application of functions that may raise, which a map cannot hold."""

from __future__ import annotations

import numpy as np


def apply(function, a):
    """`function` of every element, in an array of the same dtype."""
    out = np.empty(a.shape, a.dtype)
    for index in np.ndindex(a.shape):
        out[index] = function(a[index])
    return out
