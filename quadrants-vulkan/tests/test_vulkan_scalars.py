"""Every operation on numbers, with every type, against the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from vulkan_harness import Bench

from quadrants.ir.interp import run
from quadrants.ir.parser import parse_module
from quadrants.types import Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.scalar import SCALARS

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "f32", "f64")
REALS = INTS + FLOATS
COUNT = 400


def samples(type: Scalar, seed: int, count: int = COUNT) -> np.ndarray:
    """Numbers of the type: random bits, small ones, and the ends of its range."""
    rng = np.random.default_rng(seed)
    dtype = dtype_of(type)
    if type.is_bool:
        return rng.integers(0, 2, count).astype(bool)
    if type.is_complex:
        parts = [samples(type.part, seed + i, count) for i in (0, 1)]
        return (parts[0] + 1j * parts[1]).astype(dtype)
    if type.is_integer:
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        wide[: count // 3] = wide[: count // 3] % 13 - (6 if type.is_signed else 0)
        ends = [0, 1, info.max, info.min, info.max - 1, info.min + 1, info.bits - 1, info.bits, 3]
        wide[-len(ends) :] = np.array(ends, dtype=object).astype(dtype)
        return rng.permutation(wide)
    bits = rng.integers(0, 1 << type.bits, count, dtype=np.uint64).astype(f"u{type.bits // 8}").view(dtype)
    bits[: count // 2] = (rng.standard_normal(count // 2) * 4).astype(dtype)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny, 0.5, 2.5, -1.5]
    bits[-len(special) :] = np.array(special, dtype)
    return rng.permutation(bits)


def kernel(op: str, operands: Sequence[str], result: str, attrs: str = "") -> tuple[str, str]:
    """Functions that apply the op to every element of arrays: a loop for the interpreter, and a kernel of a thread an element."""
    names = [f"x{index}" for index in range(len(operands))]
    params = ", ".join(f"%{name}: array<{type}, 1, C>" for name, type in zip(names, operands))
    loads = "\n".join(f"    %v{name} = load %{name}, %i {{checked=false, wrap=false}}" for name in names)
    values = ", ".join(f"%v{name}" for name in names)
    head = f"""qir 1
entry @k

func @k(%out: array<{result}, 1, C>, {params}) -> () from "k.py" "k" 1"""
    body = f"""{loads}
    %r = {op} {values} {attrs}
    store %r, %out, %i {{checked=false, wrap=false}}"""
    loop = f"""{head} {{
  %n = dim %out {{axis=0}} : i64
  %zero = const 0 : i64
  %one = const 1 : i64
  for %zero, %n, %one {{label=0}} (%i: i64) {{
{body}
    continue {{label=0}}
  }}
  return
}}
"""
    threads = f"""{head} with {{kernel=true, level="device"}} {{
  %t = thread.index {{axis=0}} : i32
  %b = block.index {{axis=0}} : i32
  %w = block.size {{axis=0}} : i32
  %s = mul %b, %w
  %p = add %s, %t
  %i = cast %p {{type=i64}}
  %n = dim %out {{axis=0}} : i64
  %inside = cmp %i, %n {{pred="lt"}}
  if %inside {{
{body}
    yield
  }} else {{
    yield
  }}
  return
}}
"""
    return loop, threads


def compare(device: Bench, texts: tuple[str, str], inputs: list[np.ndarray], result: str, ulps: int = 0) -> None:
    """Run a kernel on a device and in the interpreter; the results agree bit for bit, NaNs aside, or within some ulps."""
    expected = np.zeros(len(inputs[0]), dtype_of(SCALARS[result]))
    loop, threads = texts
    run(parse_module(loop), [expected, *[x.copy() for x in inputs]])
    if device.name == "swiftshader":  # which takes subnormal numbers for 0
        normal = ~np.any([subnormal(x) for x in (*inputs, expected)], axis=0)
        inputs, expected = [x[normal] for x in inputs], expected[normal]
    found = np.zeros_like(expected)
    device.run(threads, [found, *[x.copy() for x in inputs]], ((len(found) + 63) // 64, 1, 1), (64, 1, 1))
    for part in ("real", "imag") if SCALARS[result].is_complex else ("real",):
        agree(getattr(found, part), getattr(expected, part), inputs, ulps)


def subnormal(x: np.ndarray) -> np.ndarray:
    """Where numbers are so small that a device may take them for 0."""
    if x.dtype != np.float32 and x.dtype != np.complex64:
        return np.zeros(len(x), bool)
    parts = np.abs(np.ascontiguousarray(x).view(np.float32).reshape(len(x), -1))
    return np.any((parts > 0) & (parts < 2 * np.finfo(np.float32).tiny), axis=1)


def agree(found: np.ndarray, expected: np.ndarray, inputs: list[np.ndarray], ulps: int) -> None:
    raw = f"i{found.itemsize}"
    a, b = np.ascontiguousarray(found).view(raw), np.ascontiguousarray(expected).view(raw)
    same = a == b
    if found.dtype.kind == "f":
        same |= np.isnan(found) & np.isnan(expected)
        if ulps:
            same |= (np.abs(a.astype(object) - b.astype(object)) <= ulps) & (np.signbit(found) == np.signbit(expected))
    bad = np.flatnonzero(~same)
    assert not bad.size, "\n".join(f"{[x[i] for x in inputs]}: {found[i]!r}, not {expected[i]!r}" for i in bad[:8])


def skip_absent(device: Bench, *types: str) -> None:
    """Skip where the device says that it lacks a type."""
    has = device.backend.capabilities(device.backend.target_of(device.device)).dtypes
    lacking = [type for type in types if type not in has]
    if lacking:
        pytest.skip(f"{device.name} has no {lacking[0]}")


BINARY = [
    *[(op, type) for op in ("add", "sub", "mul", "min", "max") for type in REALS],
    *[(op, type) for op in ("floordiv", "mod", "shl", "shr") for type in INTS],
    *[(op, type) for op in ("and", "or", "xor") for type in (*INTS, "bool")],
    *[(f"math.{op}", type) for op in ("copysign", "fmin", "fmax") for type in FLOATS],
]


@pytest.mark.parametrize(("op", "type"), BINARY)
def test_binary(device: Bench, op: str, type: str) -> None:
    skip_absent(device, type)
    a, b = (samples(SCALARS[type], seed) for seed in (1, 2))
    if op in ("shl", "shr"):
        b[::2] = b[::2] % SCALARS[type].bits
    if op in ("min", "max", "math.fmin", "math.fmax"):
        a, b = a[(a != 0) | (b != 0)], b[(a != 0) | (b != 0)]  # the sign of a zero is not told apart
    compare(device, kernel(op, [type, type], type), [a, b], type)


@pytest.mark.parametrize("type", FLOATS)
def test_division(device: Bench, type: str) -> None:
    skip_absent(device, type)
    a, b = (samples(SCALARS[type], seed) for seed in (3, 4))
    compare(device, kernel("div", [type, type], type), [a, b], type)


UNARY = [
    *[(op, type) for op in ("neg", "abs") for type in REALS],
    *[("not", type) for type in (*INTS, "bool")],
    *[(op, type) for op in ("popcount", "clz", "ctz", "bitreverse", "bswap") for type in INTS],
    *[(f"math.{op}", type) for op in ("sqrt", "floor", "ceil", "trunc", "rint") for type in FLOATS],
]


@pytest.mark.parametrize(("op", "type"), UNARY)
def test_unary(device: Bench, op: str, type: str) -> None:
    skip_absent(device, type)
    compare(device, kernel(op, [type], type), [samples(SCALARS[type], 5)], type)


@pytest.mark.parametrize("pred", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("type", [*REALS, "bool"])
def test_comparison(device: Bench, pred: str, type: str) -> None:
    skip_absent(device, type)
    a, b = (samples(SCALARS[type], seed) for seed in (6, 7))
    b[::5] = a[::5]
    compare(device, kernel("cmp", [type, type], "bool", f'{{pred="{pred}"}}'), [a, b], "bool")


@pytest.mark.parametrize("type", [*REALS, "bool", "c64", "c128"])
def test_select(device: Bench, type: str) -> None:
    skip_absent(device, type)
    inputs = [samples(SCALARS[name], seed) for seed, name in enumerate(("bool", type, type))]
    compare(device, kernel("select", ["bool", type, type], type), inputs, type)


@pytest.mark.parametrize("source", [*REALS, "bool"])
@pytest.mark.parametrize("target", [*REALS, "bool"])
def test_cast(device: Bench, source: str, target: str) -> None:
    skip_absent(device, source, target)
    x = samples(SCALARS[source], 8)
    if SCALARS[source].is_float:
        with np.errstate(all="ignore"):
            x[:40] = (np.random.default_rng(1).standard_normal(40) * 2.0 ** np.arange(30, 70)).astype(x.dtype)
    inexact = device.name == "swiftshader" and source == "u32" and target == "f32"  # it rounds these twice
    compare(device, kernel("cast", [source], target, f"{{type={target}}}"), [x], target, ulps=int(inexact))


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("sign", ["i", "u"])
def test_bitcast(device: Bench, bits: int, sign: str) -> None:
    whole, float_type = f"{sign}{bits}", f"f{bits}"
    skip_absent(device, whole, float_type)
    x = samples(SCALARS[float_type], 9)
    x = x[~np.isnan(x)]  # whose bits need not be kept
    compare(device, kernel("bitcast", [float_type], whole, f"{{type={whole}}}"), [x], whole)
    compare(
        device,
        kernel("bitcast", [whole], float_type, f"{{type={float_type}}}"),
        [x.view(dtype_of(SCALARS[whole]))],
        float_type,
    )


@pytest.mark.parametrize("type", ["f16", "f32", "f64"])
def test_fused(device: Bench, type: str) -> None:
    skip_absent(device, type)
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal(200).astype(type.replace("f", "float")) for _ in range(3)]
    inputs[2] = -(inputs[0] * inputs[1])  # what is left is what the product was rounded by
    compare(device, kernel("math.fma", [type] * 3, type), inputs, type, 0)


@pytest.mark.parametrize("type", ["c64", "c128"])
def test_complex(device: Bench, type: str) -> None:
    part = {"c64": "f32", "c128": "f64"}[type]
    skip_absent(device, type)
    a, b = (samples(SCALARS[part], seed) for seed in (10, 11))
    compare(device, kernel("complex", [part, part], type), [a, b], type)
    z = samples(SCALARS[type], 12)
    for op in ("real", "imag"):
        compare(device, kernel(op, [type], part), [z], part)
    for pred in ("eq", "ne"):
        compare(device, kernel("cmp", [type, type], "bool", f'{{pred="{pred}"}}'), [z, z], "bool")
