"""Constants as LLVM operands."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from quadrants.types import Scalar

_HALF_MAX = 65520.0  # from here on, rounds to infinity
_FLOAT_MAX = 3.4028235677973366e38


def _double(value: float) -> str:
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return f"0x{bits:016X}"


def _float(value: float) -> str:
    """A float's value is written as that of a double."""
    if math.isfinite(value):
        value = math.copysign(math.inf, value) if abs(value) >= _FLOAT_MAX else _through("<f", value)
    return _double(value)


def _half(value: float) -> str:
    if math.isfinite(value) and abs(value) >= _HALF_MAX:
        value = math.copysign(math.inf, value)
    (bits,) = struct.unpack("<H", struct.pack("<e", value))
    return f"0xH{bits:04X}"


def _through(format: str, value: float) -> float:
    (rounded,) = struct.unpack(format, struct.pack(format, value))
    return float(rounded)


_FLOATS: dict[int, Callable[[float], str]] = {16: _half, 32: _float, 64: _double}


def float_text(value: float, bits: int) -> str:
    """A float constant, rounded to the width."""
    return _FLOATS[bits](_as_float(value))


def _as_float(value: float) -> float:
    """An int may be larger than any float."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def int_text(value: int, bits: int) -> str:
    """An integer constant, as LLVM's parser wants it: signed."""
    half = 1 << (bits - 1)
    return str((value + half) % (1 << bits) - half)


def scalar_parts(value: object, type: Scalar) -> tuple[str, ...]:
    """The components of a constant."""
    if type.is_bool:
        return ("true" if value else "false",)
    if type.is_integer:
        assert isinstance(value, int)
        return (int_text(value, type.bits),)
    if type.is_float:
        assert isinstance(value, (int, float))
        return (float_text(value, type.bits),)
    assert isinstance(value, (int, float, complex))
    bits = type.part.bits
    number = value if isinstance(value, complex) else complex(_as_float(value))
    return (float_text(number.real, bits), float_text(number.imag, bits))
