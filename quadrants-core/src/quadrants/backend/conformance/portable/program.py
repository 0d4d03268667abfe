"""What a program of the portable language is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quadrants._frozen import frozen

Rng = np.random.Generator
Found = list[tuple[Any, Any]]


@frozen(eq=False)
class Portable:
    """A program.

    Args:
        run: (the package, a random generator) -> pairs of what was found and what was expected.
        rtol: how far a float may be off, relative to the largest magnitude of its array; 0: not at all.
        dtypes: those that a device has to have.
    """

    run: Callable[[Any, Rng], Found]
    rtol: float = 0.0
    dtypes: tuple[str, ...] = ()


def program(rtol: float = 0.0, dtypes: tuple[str, ...] = ()) -> Callable[[Callable[[Any, Rng], Found]], Portable]:
    """Make a program of a function."""
    return lambda run: Portable(run, rtol, dtypes)


def floats(rng: Rng, *shape: int) -> np.ndarray:
    """Small multiples of a quarter: sums and products of them are exact."""
    return (rng.integers(-16, 17, shape) / 4).astype(np.float32)
