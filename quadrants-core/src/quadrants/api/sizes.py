"""Which sizes of the arguments of a call are worth code of their own.

Takes the arguments; gives the small trailing sizes of arrays of many small items, such as points or matrices: (n, 3), (n, 6, 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quadrants.types import Type

#: (number of an argument, axis, size)
Sizes = tuple[tuple[int, int, int], ...]
LARGEST = 16
#: An array has at least so many items for each size of one.
_ITEMS = 2


def of_arguments(values: Sequence[object], types: Sequence[Type]) -> Sizes:
    """The sizes, in order; the numbers are those of the machine values that the arguments are made of."""
    found: list[tuple[int, int, int]] = []
    number = 0
    for value, type in zip(values, types):
        if isinstance(value, np.ndarray):
            found += ((number, axis, size) for axis, size in _trailing(value.shape))
        number += len(type.leaves())
    return tuple(found)


def _trailing(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    first = len(shape)
    while first > 1 and 1 <= shape[first - 1] <= LARGEST:
        first -= 1
    sizes = shape[first:]
    items = 1
    for size in shape[:first]:
        items *= size
    return [(first + k, size) for k, size in enumerate(sizes)] if sizes and items >= _ITEMS * max(sizes) else []
