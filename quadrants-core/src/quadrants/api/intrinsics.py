"""Names that mean something special in compiled code and also work in the interpreter."""

from __future__ import annotations

from typing import SupportsIndex


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
