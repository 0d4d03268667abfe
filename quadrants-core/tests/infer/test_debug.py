"""`debug=True`: Python ints that leave 64 bits raise instead of wrapping."""

from __future__ import annotations

import pytest

import quadrants as qd

LOW, HIGH = -(2**63), 2**63 - 1
PAIRS = [
    (HIGH, 1),
    (LOW, -1),
    (LOW, 1),
    (HIGH, HIGH),
    (LOW, LOW),
    (2**32, 2**31),
    (2**32, -(2**31)),
    (-1, LOW),
    (LOW, -1),
]
PAIRS += [(0, LOW), (3, 4), (-7, 9), (2**31, 2**31), (-1, HIGH), (1, LOW), (0, 0)]


@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_overflow_raises_exactly_where_python_leaves_64_bits(symbol):
    function = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[symbol]
    checked, plain = qd.njit(debug=True)(function), qd.njit(function)
    for a, b in PAIRS:
        exact = function(a, b)
        if LOW <= exact <= HIGH:
            assert checked(a, b) == exact == plain(a, b)
        else:
            with pytest.raises(OverflowError, match="64 bits"):
                checked(a, b)
            assert plain(a, b) == (exact + 2**63) % 2**64 - 2**63
