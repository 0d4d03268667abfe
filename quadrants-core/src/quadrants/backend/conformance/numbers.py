"""Golden programs: arithmetic, bits, elementary functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quadrants.backend.conformance.golden import FLOATS, INTEGERS, WORDS, Case, Golden, data


def _floor_division(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def floor_division(x, y, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        if i < x.size:
            out[i, 0] = x[i] // y[i]
            out[i, 1] = x[i] % y[i]

    return floor_division


def _floor_division_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x, y = data(rng, dtype, 200), data(rng, dtype, 200, low=-7, high=8)
    y[y == 0] = 3
    return Case((x, y, np.zeros((200, 2), dtype)), 2, 128, {2: np.stack([x // y, x % y], axis=1)})


def _division_by_zero(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def division_by_zero(x, zero, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        out[i] = x[i] / zero[0]

    return division_by_zero


def _division_by_zero_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = np.array([1, -1, 0, 5], dtype)
    expected = np.array([np.inf, -np.inf, np.nan, np.inf], dtype)
    return Case((x, np.zeros(1, dtype), np.zeros(4, dtype)), 1, 4, {2: expected})


def _wrapping(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def wrapping(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        h = x[i]
        h ^= h >> 3
        h *= 37
        h += 1
        h ^= h << 2
        out[i] = ~h

    return wrapping


def _wrapping_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 64, dtype=dtype, endpoint=True)
    with np.errstate(over="ignore"):
        h = x ^ (x >> dtype.type(3))
        h = h * dtype.type(37) + dtype.type(1)
        h = h ^ (h << dtype.type(2))
    return Case((x, np.zeros(64, dtype)), 2, 32, {1: ~h})


def _bits(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def bits(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        out[i, 0] = ns.popc(x[i])
        out[i, 1] = ns.clz(x[i])
        out[i, 2] = ns.ffs(x[i])

    return bits


def _bits_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 32, dtype=dtype, endpoint=True)
    x[:2] = (0, 1)
    width = dtype.itemsize * 8
    words = [int(v) % (1 << width) for v in x]
    rows = [(w.bit_count(), width - w.bit_length(), (w & -w).bit_length()) for w in words]
    return Case((x, np.zeros((32, 3), np.int32)), 1, 32, {1: np.array(rows, np.int32)})


def _reversed(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def reversed_bits(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        out[i] = ns.brev(x[i])

    return reversed_bits


def _reversed_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = rng.integers(0, np.iinfo(dtype).max, 32, dtype=dtype)
    width = dtype.itemsize * 8
    expected = np.array([int(f"{int(v):0{width}b}"[::-1], 2) for v in x], np.dtype(f"u{dtype.itemsize}")).astype(dtype)
    return Case((x, np.zeros(32, dtype)), 1, 32, {1: expected})


def _fma(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def fma(x, y, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        out[i] = ns.fma(x[i], x[i], y[i])

    return fma


def _fma_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = (1 + rng.integers(1, 100, 32) * float(np.finfo(dtype).eps)).astype(dtype)
    y = -(x * x)
    from fractions import Fraction

    exact = [Fraction(float(a)) ** 2 + Fraction(float(b)) for a, b in zip(x, y)]
    return Case((x, y, np.zeros(32, dtype)), 1, 32, {2: np.array([float(v) for v in exact], dtype)})


_FUNCTIONS = ("sqrt", "sin", "cos", "exp", "log", "tanh", "atan", "floor", "exp2", "log2", "cbrt")


def _elementary(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def elementary(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        v = x[i]
        out[0, i] = math.sqrt(v)
        out[1, i] = math.sin(v)
        out[2, i] = math.cos(v)
        out[3, i] = math.exp(v)
        out[4, i] = math.log(v)
        out[5, i] = math.tanh(v)
        out[6, i] = math.atan(v)
        out[7, i] = math.floor(v)
        out[8, i] = np.exp2(v)
        out[9, i] = math.log2(v)
        out[10, i] = np.cbrt(v)

    return elementary


def _elementary_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = rng.uniform(0.1, 4.0, 64).astype(dtype)
    names = {"atan": "arctan"}
    wide = x.astype(np.float64)
    expected = np.stack([getattr(np, names.get(name, name))(wide) for name in _FUNCTIONS]).astype(dtype)
    rtol = 1e-6 if dtype == np.float32 else 1e-14
    return Case((x, np.zeros((len(_FUNCTIONS), 64), dtype)), 2, 32, {1: expected}, rtol=rtol)


def _powers(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def powers(x, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        out[i, 0] = x[i] ** 2
        out[i, 1] = x[i] ** 0.5
        out[i, 2] = math.pow(x[i], 1.5)
        out[i, 3] = abs(-x[i])
        out[i, 4] = math.hypot(x[i], 2.0)
        out[i, 5] = math.atan2(x[i], 3.0)

    return powers


def _powers_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = rng.uniform(0.1, 4.0, 32).astype(dtype)
    w = x.astype(np.float64)
    expected = np.stack([w**2, w**0.5, w**1.5, w, np.hypot(w, 2), np.arctan2(w, 3)], axis=1)
    return Case(
        (x, np.zeros((32, 6), dtype)), 1, 32, {1: expected.astype(dtype)}, rtol=1e-6 if dtype.itemsize == 4 else 1e-14
    )


def _conversions(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def conversions(x, integers, floats, own):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        integers[i] = int(x[i])
        floats[i] = float(x[i]) * 0.5
        own[i] = dtype.type(i) + x[i]

    return conversions


def _conversions_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x = data(rng, dtype, 32, high=40)
    args = (x, np.zeros(32, np.int32), np.zeros(32, np.float32), np.zeros(32, dtype))
    expected = {1: x.astype(np.int32), 2: x.astype(np.float32) / 2, 3: np.arange(32).astype(dtype) + x}
    return Case(args, 1, 32, expected)


def _mixed(ns: Any, dtype: np.dtype) -> Any:
    @ns.kernel
    def mixed(x, n, out):  # type: ignore[no-untyped-def]
        i = ns.grid(1)
        out[i] = x[i] * n[i] + i * x[i] / 2

    return mixed


def _mixed_case(rng: np.random.Generator, dtype: np.dtype) -> Case:
    x, n = data(rng, dtype, 32), rng.integers(0, 9, 32).astype(np.int32)
    return Case((x, n, np.zeros(32, dtype)), 1, 32, {2: (x * n + np.arange(32) * x / 2).astype(dtype)})


PROGRAMS = (
    Golden("floor_division", _floor_division, _floor_division_case, (*INTEGERS, *FLOATS)),
    Golden("division_by_zero", _division_by_zero, _division_by_zero_case, FLOATS),
    Golden("wrapping_integers", _wrapping, _wrapping_case, INTEGERS),
    Golden("bits", _bits, _bits_case, WORDS),
    Golden("reversed_bits", _reversed, _reversed_case, WORDS),
    Golden("fma", _fma, _fma_case, FLOATS),
    Golden("elementary", _elementary, _elementary_case, FLOATS),
    Golden("powers", _powers, _powers_case, FLOATS),
    Golden("conversions", _conversions, _conversions_case),
    Golden("mixed_types", _mixed, _mixed_case, FLOATS),
)
