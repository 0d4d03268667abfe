"""What can be seen of a run of a module, and when two runs are the same: for differential tests of passes and lowerings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadrants.ir.core import Module
from quadrants.ir.interp import run
from quadrants.ir.values import InterpArray, Raised


@dataclass(slots=True)
class Sample:
    """A module, and arguments for its entry (arrays may be written to)."""

    module: Module
    args: tuple[Any, ...]


@dataclass(slots=True)
class Observation:
    """What can be seen of a run: results or exception, and the arguments afterwards."""

    results: tuple[Any, ...] | None
    raised: tuple[str, tuple[object, ...]] | None
    line: int | None
    arrays: list[np.ndarray] = field(default_factory=list)


def observe(sample: Sample, module: Module | None = None, max_steps: int = 200_000) -> Observation:
    """Run the sample (or another module, with its arguments) in the reference interpreter, on copies of the arrays."""
    args = copy_args(sample.args)
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    try:
        results = run(module or sample.module, args, max_steps=max_steps)
    except Raised as error:
        return Observation(None, (error.cls, error.values), error.loc.line if error.loc else None, arrays)
    plain = tuple(value.numpy().copy() if isinstance(value, InterpArray) else value for value in results)
    return Observation(plain, None, None, arrays)


def copy_args(args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments with copies of the arrays, which have the same strides."""
    return tuple(_copy_array(arg) if isinstance(arg, np.ndarray) else arg for arg in args)


def _copy_array(array: np.ndarray) -> np.ndarray:
    low, high = np.lib.array_utils.byte_bounds(array)
    memory = np.zeros(max(high - low, 1), np.uint8)
    offset = array.__array_interface__["data"][0] - low
    copy: np.ndarray = np.ndarray(array.shape, array.dtype, memory, offset if array.size else 0, array.strides)
    copy[...] = array
    return copy


def agree(a: Observation, b: Observation) -> bool:
    """Whether two observations are the same; NaNs are equal, zeros of different sign are not."""
    if (a.results is None) != (b.results is None) or a.raised != b.raised or a.line != b.line:
        return False
    mine, other = (a.results or ()), (b.results or ())
    if len(mine) != len(other) or not all(map(same_value, mine, other)):
        return False
    return len(a.arrays) == len(b.arrays) and all(map(same_value, a.arrays, b.arrays))


def same_value(a: Any, b: Any) -> bool:
    """Whether two numbers or arrays are the same, in value, type and sign of zero."""
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind not in "fc":
        return bool((x == y).all())
    return all(_same_floats(*parts) for parts in ((x.real, y.real), (x.imag, y.imag)))


def _same_floats(x: np.ndarray, y: np.ndarray) -> bool:
    nan = np.isnan(x) & np.isnan(y)
    return bool((nan | ((x == y) & (np.signbit(x) == np.signbit(y)))).all())
