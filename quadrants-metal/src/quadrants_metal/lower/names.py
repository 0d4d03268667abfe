"""What values of QIR are in the Metal Shading Language (MSL).

A value is a tuple of expressions, one a part: a number is one, a complex number two, an array a pointer to the element with all
indices 0, its dims, and its strides in bytes unless the layout implies them. MSL has no float64: such a value is its bits, of which
only conversions are made. Truth values are bytes in memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from quadrants.ir.values import canonical
from quadrants.types import ArrayType, RefType, Scalar, Type

#: The types of registers.
REGISTERS: Mapping[str, str] = MappingProxyType(
    {
        "bool": "bool",
        "i8": "char",
        "i16": "short",
        "i32": "int",
        "i64": "long",
        "u8": "uchar",
        "u16": "ushort",
        "u32": "uint",
        "u64": "ulong",
        "f16": "half",
        "f32": "float",
        "f64": "ulong",
    }
)
SPACES: Mapping[str, str] = MappingProxyType({"global": "device", "shared": "threadgroup", "local": "thread"})


def register(type: Scalar) -> str:
    """The type of a number that is not complex."""
    return REGISTERS[str(type)]


def unsigned(type: Scalar) -> str:
    """The type in which integers of a type are computed, where nothing is undefined."""
    return "ulong" if type.bits == 64 else "uint"


def bits_type(type: Scalar) -> str:
    """The unsigned integer as wide as a number."""
    return {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[type.itemsize]


def stored(type: Scalar) -> str:
    """The type of an element, or of each of its two parts, in memory."""
    return "uchar" if type.is_bool else register(type.part)


def space(type: ArrayType) -> str:
    return SPACES[type.space]


def pointer(type: ArrayType) -> str:
    return f"{space(type)} {stored(type.dtype)}*"


def as_pointer(type: str, pointer: str) -> str:
    """A pointer as one of another type of element; of another address space is an error of the compiler."""
    return f"reinterpret_cast<{type}>({pointer})"


@cache
def parts_of(type: Type) -> tuple[str, ...]:
    """The types of the parts of a value."""
    if isinstance(type, Scalar):
        return (register(type.part),) * (2 if type.is_complex else 1)
    if isinstance(type, RefType):
        return parts_of(type.item)
    assert isinstance(type, ArrayType), type
    return (pointer(type), *("long",) * (type.ndim * (1 if type.contiguous else 2)))


# Constants


def number(type: Scalar, value: complex) -> tuple[str, ...]:
    """The parts of a constant."""
    if type.is_complex:
        value = complex(value)
        return (*number(type.part, value.real), *number(type.part, value.imag))
    if type.is_bool:
        return ("true" if value else "false",)
    if type.is_integer:
        assert isinstance(value, int)
        return (integer(type, value),)
    assert isinstance(value, (int, float))
    return (real(type, value),)


def integer(type: Scalar, value: int) -> str:
    """A constant of an integer type."""
    name = register(type)
    if type.bits == 64:
        bits = f"{value & (1 << 64) - 1:#x}ul"
        return f"{value}l" if 0 <= value < 1 << 63 and type.is_signed else f"{name}({bits})"
    if type.bits == 32:
        return f"{value}" if 0 <= value < 1 << 31 and type.is_signed else f"{name}({value & 0xFFFFFFFF:#x}u)"
    return f"{name}({value})"


def real(type: Scalar, value: float) -> str:
    """A constant of a float type, rounded to it; of float64, its bits."""
    with np.errstate(over="ignore"):
        exact = float(canonical(type, value))
    if type.bits == 64:
        return f"{np.float64(exact).view(np.uint64):#x}ul"
    if math.isfinite(exact):
        single = f"{exact!r}f"
    else:
        single = f"as_type<float>({np.float32(exact).view(np.uint32):#x}u)"
    return f"half({single})" if type.bits == 16 else f"({single})" if exact < 0 else single
