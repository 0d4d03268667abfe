"""Sorting against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library.modes import check, dtypes, layouts, sample


@pytest.mark.parametrize("shape", ((0,), (1,), (5,), (150,), (3, 40), (2, 3, 4)), ids=str)
def test_sort(mode, shape):
    for dtype in dtypes(mode):
        for a in layouts(sample(dtype, shape), mode):
            check(mode, np.sort, a)
            check(mode, np.sort, a, axis=0)
            check(mode, np.sort, a, axis=None)
            check(mode, np.argsort, a, kind="stable")
            check(mode, np.argsort, a, axis=0, kind="stable")
            check(mode, np.argsort, a, axis=None, kind="stable")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 2.5]), max_size=130))
def test_special_values(values):
    a = np.array(values)
    check("python", np.argsort, a, kind="stable")
    check("python", np.sort, a)
    check("python", np.sort, a[: len(a) // 2 * 2].view(complex) if len(a) > 1 else a)


def test_axis_errors(mode):
    check(mode, np.sort, np.ones((2, 3)), axis=2)
    check(mode, np.argsort, np.ones((2, 3)), axis=-3)
