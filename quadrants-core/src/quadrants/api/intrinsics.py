"""Names that mean something special in compiled code and also work in the interpreter."""

from __future__ import annotations

from typing import SupportsIndex


class prange:
    """A `range` whose iterations are independent of each other. In the interpreter it is `range`."""

    __quadrants_builtin__ = range  # what inference takes it for

    __quadrants_alias__ = range  # what compiled code takes it for: loops run serially in this version

    def __new__(cls, *args: SupportsIndex) -> range:  # type: ignore[misc]
        return range(*args)
