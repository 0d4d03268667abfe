"""The table of golden programs.

A golden program makes a kernel for a namespace and a dtype, and a case: the arguments, the shape of the launch, and what the
arrays hold afterwards, computed by NumPy. Sums of floats are compared within a tolerance that the case gives; everything else
is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from quadrants._frozen import frozen

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
WORDS = ("i32", "i64", "u32", "u64")
FLOATS = ("f32", "f64")
NUMBERS = (*INTEGERS, *FLOATS)


@frozen(eq=False)
class Case:
    """What to launch, and what has to come out.

    Args:
        args: the arguments. Arrays are changed by the launch.
        grid: blocks.
        block: threads of a block.
        expected: by the position of the argument, what the array holds afterwards.
        rtol: how far a float may be off, relative to the largest magnitude in its array; 0: not at all.
        shared_bytes: of dynamic shared memory.
    """

    args: tuple[Any, ...]
    grid: Any
    block: Any
    expected: Mapping[int, np.ndarray]
    rtol: float = 0.0
    shared_bytes: int = 0


@frozen(eq=False)
class Golden:
    """A golden program.

    Args:
        name: of the program.
        kernel: (namespace, dtype) -> the kernel.
        case: (random generator, dtype) -> a case.
        dtypes: those that it is for.
        needs: what a device may lack: names of the explicit language.
        atomics: the atomic operations that it uses on its dtype.
    """

    name: str
    kernel: Callable[[Any, np.dtype], Any]
    case: Callable[[np.random.Generator, np.dtype], Case]
    dtypes: tuple[str, ...] = NUMBERS
    needs: tuple[str, ...] = ()
    atomics: tuple[str, ...] = ()


def dtype_of(name: str) -> np.dtype:
    """NumPy's dtype of a name such as "u16"."""
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def data(rng: np.random.Generator, dtype: np.dtype, *shape: int, low: int = -50, high: int = 50) -> np.ndarray:
    """Numbers that are small integers in every dtype, so that sums of them are exact."""
    low = 0 if dtype.kind == "u" else low
    return rng.integers(low, high, shape).astype(dtype)


def _collect() -> Mapping[str, Golden]:
    from quadrants.backend.conformance import (  # each imports this module for its classes
        atomics,
        barriers,
        elementwise,
        functions,
        lanes,
        memory,
        numbers,
    )

    modules = (elementwise, memory, barriers, atomics, lanes, functions, numbers)
    programs = [program for module in modules for program in module.PROGRAMS]
    return {program.name: program for program in programs}


class _Lazy(Mapping[str, Golden]):
    """The table, collected when it is first read."""

    _found: Mapping[str, Golden] | None = None

    def _table(self) -> Mapping[str, Golden]:
        if self._found is None:
            self._found = MappingProxyType(_collect())
        return self._found

    def __getitem__(self, name: str) -> Golden:
        return self._table()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())


GOLDEN: Mapping[str, Golden] = _Lazy()
