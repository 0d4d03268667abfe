"""Edges of histograms, and histograms of two variables."""

from __future__ import annotations

import numpy as np

from quadrants.library.searching import bin_edges, upper_bound
from quadrants.library.support import as_array, flat


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    return bin_edges(flat(as_array(a)), bins, range)


def place_in(edges, x):
    """The bin of a value, the last one with its end; -1 outside of all."""
    n = edges.shape[0] - 1
    if not (edges[0] <= x and x <= edges[n]):
        return -1
    return min(upper_bound(edges, x) - 1, n - 1)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Counts in cells, and the edges along both axes."""
    xs = flat(as_array(x)).astype(np.float64)
    ys = flat(as_array(y)).astype(np.float64)
    if xs.shape[0] != ys.shape[0]:
        raise ValueError("x and y must have the same length.")
    across = bin_edges(xs, bins_of(bins, 0), None if range is None else range[0])
    along = bin_edges(ys, bins_of(bins, 1), None if range is None else range[1])
    rows = across.astype(np.float64)
    columns = along.astype(np.float64)
    counts = np.zeros((across.shape[0] - 1, along.shape[0] - 1))
    for k in np.arange(xs.shape[0]):
        i = place_in(rows, xs[k])
        j = place_in(columns, ys[k])
        if i >= 0 and j >= 0:
            counts[i, j] += 1.0 if weights is None else as_array(weights)[k]
    if density:
        areas = np.diff(across)[:, None] * np.diff(along)
        return counts / areas / counts.sum(), across, along
    return counts, across, along


def bins_of(bins, axis):
    """The bins of one axis: a pair has one for each."""
    if isinstance(bins, tuple) and len(bins) == 2:
        return bins[axis]
    return bins
