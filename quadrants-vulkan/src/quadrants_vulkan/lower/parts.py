"""What values of QIR are made of in SPIR-V registers, and where arrays live.

A value is a tuple of ids, one a part. Integers of up to 32 bits are words (extended by their sign), those of 64 bits are longs
(a pair of words where the device has none), float16 is held as a float32 that is representable as a float16, and a complex number
is two floats. An array is a base, its dims, and its strides in bytes unless the layout implies them, all of them longs.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache

from quadrants._frozen import frozen
from quadrants.types import ArrayType, RefType, Scalar, Type


class Part(Enum):
    """The types of registers."""

    TRUTH = auto()
    WORD = auto()
    LONG = auto()
    SINGLE = auto()
    DOUBLE = auto()


#: Bytes that a part takes in memory of its own type; a truth value is stored as a word.
WIDTH = {Part.TRUTH: 4, Part.WORD: 4, Part.LONG: 8, Part.SINGLE: 4, Part.DOUBLE: 8}


@frozen
class Place:
    """Where an array of a block or of a thread lives: a variable, which the base is a byte offset into.

    Args:
        variable: its id.
        part: the type of its elements; each element of the array takes `count` of them.
        words: whether the variable is a row of words that arrays of several dtypes share, which are packed into it.
        local: whether each thread has its own.
        pointer: the type of the variable.
    """

    variable: int
    part: Part
    words: bool = False
    local: bool = False
    pointer: int = 0


def scalar_parts(type: Scalar) -> tuple[Part, ...]:
    """The parts of a number."""
    if type.is_bool:
        return (Part.TRUTH,)
    if type.is_integer:
        return (Part.LONG if type.bits == 64 else Part.WORD,)
    if type.is_float:
        return (Part.DOUBLE if type.bits == 64 else Part.SINGLE,)
    return scalar_parts(type.part) * 2


@cache
def parts_of(type: Type) -> tuple[Part, ...]:
    """The parts of a value of the type."""
    if isinstance(type, Scalar):
        return scalar_parts(type)
    if isinstance(type, RefType):
        return parts_of(type.item)
    assert isinstance(type, ArrayType), type
    return (Part.LONG,) * (1 + type.ndim * (1 if type.contiguous else 2))


def local_part(type: Scalar) -> Part:
    """What the elements of a thread's own array of the type are: registers, but words for truth values."""
    part = scalar_parts(type)[0]
    return Part.WORD if part is Part.TRUTH else part


def shared_part(type: Scalar) -> Part:
    """What the elements of a block's array of the type are: bits, which atomic operations can exchange."""
    return Part.LONG if type.part.itemsize == 8 else Part.WORD
