"""Elementary functions over SIMD registers: loops that call sin, exp, log and their kin vectorise.

`variants` says, of a scalar call, which vector functions LLVM may put in its place when it vectorises the loop around it; the calls
that it made of that are found by `called`, and `definitions` is the module that defines those, linked and inlined behind LLVM's
passes. A loop that does not vectorise calls the C library as before.

Names: "qd.vec.sin.64.8" is sin of 8 lanes of float64, "qd.vec.sin.64.8m" the same where a mask says which lanes are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from quadrants._frozen import frozen

if TYPE_CHECKING:
    from quadrants.lower.vectormath.catalogue import ENABLED

__all__ = [
    "ENABLED",
    "KEPT",
    "NAMES",
    "PREFIX",
    "available",
    "called",
    "declarations",
    "definitions",
    "kept",
    "lanes",
    "variants",
]

PREFIX = "@qd.vec."
#: The functions that loops use, by name and bits: those of `catalogue.ENABLED`, which is loaded when one is called.
NAMES: frozenset[tuple[str, int]] = frozenset(
    (name, bits)
    for bits in (64, 32)
    for name in (
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "expm1"),
        *("log", "log2", "log10", "log1p", "pow", "cbrt", "hypot", "fmod", "erf", "erfc"),
    )
)
#: Keeps the declarations of vector functions until loops are vectorised.
KEPT = "llvm.compiler.used"
_CALL = r"\bcall [^@\n]*@(qd\.vec\.[a-z0-9]+\.\d+\.\d+m?)\("
#: Targets with vectors of this size fuse multiplications and additions.
_FUSED_BITS = 256
_TYPES = {64: "double", 32: "float"}


def __getattr__(name: str) -> Any:
    """`ENABLED`: the functions are loaded when one is called or asked for."""
    if name == "ENABLED":
        from quadrants.lower.vectormath.catalogue import ENABLED

        return ENABLED
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@frozen
class Declared:
    """A vector function: its name and its declaration."""

    name: str
    text: str


@cache
def lanes(bits: int, vector_bits: int) -> tuple[int, ...]:
    """How many lanes the vectors of a target may have, whose registers have so many bits."""
    return tuple(width // bits for width in (128, 256, 512) if width <= vector_bits)


@cache
def available(vector_bits: int) -> frozenset[tuple[str, int]]:
    """The functions that a target has whose vector registers have so many bits, by name and bits."""
    from quadrants.lower.vectormath.catalogue import ENABLED

    fuses = vector_bits >= _FUSED_BITS
    return frozenset(
        key for key, function in ENABLED.items() if vector_bits and (fuses or key[1] not in function.fused)
    )


@cache
def declarations(name: str, bits: int, arity: int, vector_bits: int) -> tuple[Declared, ...]:
    """The vector functions that stand for a scalar one. None where the function is not enabled."""
    if (name, bits) not in NAMES:
        return ()
    from quadrants.lower.vectormath.catalogue import ENABLED

    function = ENABLED[name, bits]
    if bits in function.fused and vector_bits < _FUSED_BITS:
        return ()
    found = []
    for count in lanes(bits, vector_bits):
        type = f"<{count} x {_TYPES[bits]}>"
        params = ", ".join([type] * arity)
        for mask, more in (("", ""), ("m", f", <{count} x i1>")):
            symbol = f"qd.vec.{name}.{bits}.{count}{mask}"
            attributes = "nounwind willreturn memory(none)"
            found.append(Declared(symbol, f"declare {type} @{symbol}({params}{more}) {attributes}"))
    return tuple(found)


@cache
def variants(symbol: str, name: str, bits: int, arity: int, vector_bits: int) -> str:
    """The attribute of a call of the scalar function `symbol`."""
    listed = ",".join(
        f"_ZGV_LLVM_{'M' if declared.name[-1] == 'm' else 'N'}{declared.name.split('.')[-1].rstrip('m')}"
        f"{'v' * arity}_{symbol}({declared.name})"
        for declared in declarations(name, bits, arity, vector_bits)
    )
    return f' "vector-function-abi-variant"="{listed}"'


def kept(names: Iterable[str]) -> str:
    """Says that the vector functions among the names are used."""
    found = [f"ptr {PREFIX}{name[len(PREFIX) - 1 :]}" for name in names if name.startswith(PREFIX[1:])]
    return f'@{KEPT} = appending global [{len(found)} x ptr] [{", ".join(found)}], section "llvm.metadata"'


def called(text: str) -> tuple[str, ...]:
    """The vector functions that the text of an optimised module calls."""
    return tuple(sorted(set(re.findall(_CALL, text))))


def definitions(names: Iterable[str]) -> str:
    """A module that defines vector functions, to be inlined: none of it is left where all of its calls are."""
    from quadrants.lower.vectormath.catalogue import definition

    whole: dict[str, str] = {}
    for full in names:
        _, _, name, bits, count = full.split(".")
        whole.update(definition(name, int(bits), int(count.rstrip("m")), masked=count.endswith("m")))
    return "\n".join(whole.values())
