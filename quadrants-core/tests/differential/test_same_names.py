"""Types that look alike, and integers of NumPy's that Python's compiled ints do not hold."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import quadrants

One = namedtuple("P", ("x",))  # type: ignore[name-match]
Other = namedtuple("P", ("x",), module="elsewhere")  # type: ignore[name-match]


def test_classes_of_one_name_are_told_apart() -> None:
    @quadrants.njit(cache=False)
    def f(n):  # type: ignore[no-untyped-def]
        p = One(n)
        if n > 3:
            p = Other(n)
        return p.x

    with pytest.raises(quadrants.QuadrantsError, match="different types") as caught:
        f(4)
    text = str(caught.value)
    assert f"P(x: int) of {__name__}" in text and "P(x: int) of elsewhere" in text


def test_large_unsigned_integers() -> None:
    whole = quadrants.njit(lambda x: int(x), cache=False)
    assert whole(np.uint64(2**63 - 1)) == 2**63 - 1 and whole(np.uint32(2**32 - 1)) == 2**32 - 1
    for value in (2**63, 2**64 - 1):
        with pytest.raises(OverflowError, match="too large"):
            whole(np.uint64(value))
