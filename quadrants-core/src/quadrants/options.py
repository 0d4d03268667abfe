"""How a function is compiled: its numerics and the options of its decorator.

Frozen values, part of every signature and of every cache key. Takes nothing from the rest of the package.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Self

from quadrants._frozen import frozen

#: The floating-point modes.
FP_MODES = ("default", "strict", "fast")


@frozen
class FpBlock:
    """What `qd.fp(mode)` gives: the mode of the block of a `with` in a compiled function. The interpreter does nothing with it."""

    mode: str

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


@frozen
class Numerics:
    """What arithmetic means.

    Args:
        weak_int: the type that a Python int materialises to.
        weak_float: the type that a Python float materialises to.
        division: "python" (ZeroDivisionError for Python numbers) or "ieee" (inf and nan for all floats).
        overflow: "wrap" or "raise" (OverflowError).
    """

    weak_int: str = "i64"
    weak_float: str = "f64"
    division: str = "python"
    overflow: str = "wrap"


#: The numerics of kernels and their functions: i32 and f32 are what Python's numbers become, and nothing raises.
KERNEL_NUMERICS = Numerics(weak_int="i32", weak_float="f32", division="ieee")


@frozen
class Options:
    """The options of one compiled function.

    Args:
        fp: "default" (reductions may be reordered, products and sums contracted), "strict" (bit for bit as the interpreter)
            or "fast" (any algebraic rewrite, no NaN or infinity).
        boundscheck: whether an index is checked.
        nogil: whether the global lock is released while the compiled code runs.
        parallel: whether loops that are declared parallel, or proven independent, run on several threads.
        parallel_work: nanoseconds of work that a loop must have for that.
        debug: exact state at errors, and overflow of integers raises.
        inline: "auto", "always" or "never".
        portable: whether this is the portable language: loops are parallel by declaration, vectors are values.
        simd: whether loops compute several elements at once.
        cache: whether the code is kept on disk. Not part of what the code means, so not of its key.
        numerics: what arithmetic means.
    """

    fp: str = "default"
    boundscheck: bool = True
    nogil: bool = False
    parallel: bool = False
    parallel_work: int = 20_000
    debug: bool = False
    inline: str = "auto"
    portable: bool = False
    simd: bool = True
    cache: bool = True
    numerics: Numerics = Numerics()

    def replace(self, **changes: object) -> Self:
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def key(self) -> str:
        """A text that is equal for options that compile to the same code."""
        parts = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.name != "cache"]
        return ";".join(parts)
