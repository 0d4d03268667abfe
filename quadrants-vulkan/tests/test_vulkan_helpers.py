"""The helpers that emitted code calls, in the reference interpreter against Python and NumPy."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from quadrants.ir.interp import run
from quadrants.ir.parser import parse_module
from quadrants.ir.spec import verify
from quadrants_vulkan.lower import helpers

MODULES = {name: parse_module(helpers.text(name, 8)) for name in helpers.TEXTS}


def call(name: str, *args: object) -> tuple:
    return run(MODULES[name], args)


def words(value: int) -> tuple[int, int]:
    return value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF


def longs(seed: int, count: int = 150) -> list[int]:
    rng = random.Random(seed)
    return [rng.getrandbits(rng.choice([5, 32, 40, 64])) for _ in range(count)] + [0, 1, (1 << 64) - 1, 1 << 63]


@pytest.mark.parametrize("name", MODULES)
def test_helpers_are_valid(name: str) -> None:
    verify(MODULES[name])


def test_shifts() -> None:
    for value, count in zip(longs(1), [*range(70), *range(70), *range(70)]):
        signed = value - (1 << 64) if value >> 63 else value
        for name, expected in (
            ("shift_left", value << count),
            ("shift_right", value >> count),
            ("shift_right_signed", signed >> count),
        ):
            low, high = call(name, *words(value), count)
            assert low | high << 32 == expected & (1 << 64) - 1, (name, value, count)


def test_division() -> None:
    for a, b in zip(longs(2, 60), longs(3, 60)):
        q0, q1, r0, r1 = call("divide", *words(a), *words(b or 7))
        assert (q0 | q1 << 32, r0 | r1 << 32) == divmod(a, b or 7)


def test_pairs_and_floats() -> None:
    for value in longs(4):
        assert call("pair_to_single", *words(value)) == (np.float32(value),)
    rng = random.Random(5)
    for _ in range(150):
        x = np.float32(rng.random() * 2.0 ** rng.randrange(-3, 64))
        low, high = call("single_to_pair", x)
        assert low | high << 32 == int(x)


def test_halves() -> None:
    for bits in range(0, 65536, 13):
        value = np.float32(np.uint16(bits).view(np.float16))
        (made,) = call("from_half", bits)
        assert made == value or np.isnan(made) and np.isnan(value)
        if not np.isnan(value):
            assert call("to_half", value) == (bits,)


def singles(seed: int, count: int = 600) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    small = (rng.random(count) * 1e-4).astype(np.float32)
    ends = np.float32([65519.9, 65520, 65504, 6e-8, 2.9e-8, 3e-8, 0, -0.0, np.inf, -np.inf, 1e-5, 6.1e-5])
    return np.concatenate([wide[~np.isnan(wide)], small, ends])


def test_rounding_to_half() -> None:
    with np.errstate(over="ignore"):
        for x in singles(6):
            (y,) = call("round_half", x)
            assert y.tobytes() == np.float32(np.float16(x)).tobytes(), x


def test_doubles_to_singles() -> None:
    rng = np.random.default_rng(7)
    values = rng.standard_normal(300) * 10.0 ** rng.integers(-36, 39, 300)
    with np.errstate(over="ignore"):
        for x in [*values, 0.0, -0.0, np.inf, -np.inf, 1e300, -1e300, 1e-300, 0.1, 1 + 2**-24, 1 + 3 * 2**-24]:
            (y,) = call("double_to_single", *words(struct.unpack("<Q", struct.pack("<d", x))[0]))
            assert y.tobytes() == np.float32(x).tobytes(), x
    assert np.isnan(call("double_to_single", 1, 0x7FF80000)[0])
