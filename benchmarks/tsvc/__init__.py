"""The test suite for vectorising compilers (D. Callahan, J. Dongarra, D. Levine, 1988; TSVC, S. Maleki et al., 2011) in Python.

`LOOPS` are the functions by name, `inputs` makes the arguments of one. `python -m benchmarks.tsvc` says which loops compute with
packed arithmetic, and how much faster they are than our own scalar code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.tsvc import dependence, memory, reductions, scalars

#: What other loops call; not loops themselves.
CALLEES = frozenset({"s151s", "s152s", "f471", "f4121"})

#: name -> function
LOOPS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        name: function
        for module in (dependence, scalars, reductions, memory)
        for name, function in vars(module).items()
        if inspect.isfunction(function) and name not in CALLEES
    }
)

#: The suite's numbers. `half`: how much of an array the convolution takes.
_NUMBERS = {"s1": 1.5, "s2": -0.25, "t": 0.75, "n1": 1, "n3": 1, "inc": 1, "k": 2, "m": 1}
_TABLES = ("aa", "bb", "cc")


def inputs(name: str, dtype: str, length: int, side: int) -> list[Any]:
    """New arguments of a loop, the same at every call.

    Args:
        name: of the loop.
        dtype: of the arrays: float64 or float32.
        length: of the arrays of one dimension, at least 128.
        side: of those of two.
    """
    random = np.random.default_rng(7)

    def made(parameter: str) -> Any:
        if parameter in _TABLES:
            return random.uniform(-1, 1, (side, side)).astype(dtype)
        if parameter == "flat":
            return random.uniform(-1, 1, max(length, side * side) + 64).astype(dtype)
        if parameter == "ip":
            return random.permutation(length)
        if parameter == "choice":
            return random.integers(0, 4, length)
        if parameter == "half":
            return length // 16
        if parameter in _NUMBERS:
            return _NUMBERS[parameter]
        return random.uniform(-1, 1, length).astype(dtype)

    return [made(parameter) for parameter in inspect.signature(LOOPS[name]).parameters]
