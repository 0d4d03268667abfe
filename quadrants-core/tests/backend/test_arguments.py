"""The argument block of launches."""

from __future__ import annotations

import struct

import pytest

from quadrants.backend.arguments import DeviceArray, pack, words_of
from quadrants.types import BOOL, C64, F16, F32, F64, I8, I64, U8, U64, ArrayType


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        (I8, -1, b"\xff" * 8),
        (U8, 255, b"\xff" + b"\0" * 7),
        (I64, -(2**63), struct.pack("<q", -(2**63))),
        (U64, 2**64 - 1, b"\xff" * 8),
        (BOOL, True, b"\1" + b"\0" * 7),
        (F16, 1.5, struct.pack("<e", 1.5) + b"\0" * 6),
        (F32, 1.5, struct.pack("<f", 1.5) + b"\0" * 4),
        (F64, 0.1, struct.pack("<d", 0.1)),
    ],
)
def test_scalars(type, value, expected) -> None:
    assert pack([type], [value]) == expected
    assert words_of(type) == 1


def test_arrays() -> None:
    array = ArrayType(F32, 2, "A")
    block = pack([array, F32], [DeviceArray(0xFFFF_8000_0000_0000, (3, 4), (-16, 4)), 2.0])
    assert struct.unpack("<Qqqqqf4x", block) == (0xFFFF_8000_0000_0000, 3, 4, -16, 4, 2.0)
    assert len(block) == 8 * (words_of(array) + words_of(F32))


def test_what_does_not_fit() -> None:
    with pytest.raises(TypeError, match="cannot take a c64"):
        pack([C64], [1j])
    with pytest.raises(ValueError, match="longer|shorter"):
        pack([F32], [1.0, 2.0])
