"""Names that mean something special in compiled code and also work in the interpreter."""

from __future__ import annotations

from typing import SupportsIndex

from quadrants.options import FP_MODES, FpBlock


class prange:
    """A `range` whose iterations are independent of each other: functions compiled with `parallel=True` run them on several
    threads. Elsewhere it is `range`.

    >>> import numpy as np
    >>> import quadrants as qd
    >>> @qd.njit(parallel=True)
    ... def total(x):
    ...     s = 0.0
    ...     for i in qd.prange(len(x)):
    ...         s += x[i]
    ...     return s
    >>> total(np.ones(1000))
    1000.0
    """

    __quadrants_builtin__ = "prange"  # its name among the builtins of inference

    def __new__(cls, *args: SupportsIndex) -> range:  # type: ignore[misc]
        return range(*args)


def fp(mode: str) -> FpBlock:
    """The floating-point mode of a block: `with qd.fp("strict"):` in a compiled function. In the interpreter it does nothing.

    What is written in the block, and the functions that are called there, are computed in the mode; blocks inside of it may have
    others.

    >>> import quadrants as qd
    >>> @qd.njit(fp="fast")
    ... def rest(a, b, c):
    ...     with qd.fp("strict"):
    ...         return a * b - c
    >>> x = 1 + 2.0**-30
    >>> rest(x, x, x * x)
    0.0

    Args:
        mode: "default", "strict" or "fast", as for `fp=` of `qd.njit`.

    Raises:
        ValueError: for any other mode.
    """
    if mode not in FP_MODES:
        raise ValueError(f"qd.fp() takes {', '.join(map(repr, FP_MODES))}, not {mode!r}")
    return FpBlock(mode)


fp.__quadrants_builtin__ = "fp"  # type: ignore[attr-defined]
