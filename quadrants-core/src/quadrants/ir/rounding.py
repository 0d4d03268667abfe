"""Correct rounding of exact rational numbers to a binary float of any width: for what Python computes in one width only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

#: bits of a float type -> (bits of the significand with the leading one, smallest exponent of a unit in the last place)
_FORMATS = {16: (11, -24), 32: (24, -149), 64: (53, -1074)}


def round_to(value: Fraction | int, bits: int) -> float:
    """The nearest float of the width, ties to even, as a Python float; infinite past the largest. Zero is positive."""
    from fractions import Fraction  # with decimal behind it: only the interpreter and folding come here

    precision, lowest = _FORMATS[bits]
    if value == 0:
        return 0.0
    size = abs(Fraction(value))
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - precision + 1, lowest)
    rounded = round(size / unit) * unit  # round() of a Fraction: ties to even
    limit = Fraction(2) ** (1 - lowest - precision + 2)
    result = float("inf") if rounded >= limit else float(rounded)
    return result if value > 0 else -result
