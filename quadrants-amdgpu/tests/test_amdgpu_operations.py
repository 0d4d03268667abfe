"""Every operation, as an AMD GPU's LLVM IR, on a simulated device against the reference interpreters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from amdgpu_simulator import Simulated

from quadrants.ir.ops import OPS
from quadrants.ir.ops.device import ATOMICS
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.simt import run_grid
from quadrants.ir.spec import verify
from quadrants.ir.threads import Geometry
from quadrants.lower import softmath
from quadrants.lower.gpu.kernel import launch_words, lower
from quadrants.lower.gpu.refusals import UNSUPPORTED
from quadrants.lower.gpu.table import emitters
from quadrants.types import Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.scalar import SCALARS
from quadrants_amdgpu.codegen import to_object
from quadrants_amdgpu.primitives import primitives

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "f32", "f64")
REALS = INTS + FLOATS
COUNT = 96
WAVES = {32: "gfx1100", 64: "gfx90a"}

Box = tuple[int, int, int]


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


def arguments(values: Sequence[Any]) -> bytes:
    """The argument block of arrays of this process."""
    words: list[int] = []
    for array in values:
        words += [array.ctypes.data, *array.shape, *(step // array.itemsize for step in array.strides)]
    return np.array(words, np.int64).tobytes()


def run(text: str, args: Sequence[Any], block: int, wave: int, shared_bytes: int = 0) -> None:
    """Run a kernel of one block on a simulated device; its code is made too."""
    module = parse_module(text)
    verify(module)
    ir, _ = lower(clone_module(module), primitives(wave))
    to_object(ir, WAVES[wave])
    shape = (block, 1, 1)
    words = arguments(args) + launch_words((1, 1, 1), shape, (0, 0, 0), shared_bytes, 0)
    Simulated(ir, wave).launch(words, (1, 1, 1), shape)


def same(text: str, args: Sequence[Any], block: int = COUNT, wave: int = 32, shared_bytes: int = 0) -> None:
    """A kernel leaves in its arrays what the interpreter of device code leaves there, NaNs being alike."""
    expected, found = [[np.copy(arg) for arg in args] for _ in range(2)]
    with np.errstate(all="ignore"):
        run_grid(parse_module(text), expected, Geometry((1, 1, 1), (block, 1, 1), shared_bytes))
    run(text, found, block, wave, shared_bytes)
    for position, (a, b) in enumerate(zip(found, expected)):
        alike = (a == b) | ((a != a) & (b != b))
        if a.dtype.kind == "f":
            alike &= (np.signbit(a) == np.signbit(b)) | (a != a)
        assert np.all(alike), (position, np.flatnonzero(~alike), a[~alike], b[~alike], [arg[~alike] for arg in args])


def kernel(params: str, body: str) -> str:
    return f"""qir 1
entry @k

func @k({params}) -> () from "k.py" "k" 1 with {{kernel=true, level="device"}} {{
  %tx = thread.index {{axis=0}} : i32
  %t = cast %tx {{type=i64}}
{body}
  return
}}
"""


def elementwise(op: str, operands: Sequence[str], result: str, attrs: str = "") -> str:
    """A kernel that applies an op to every element, in a thread each."""
    params = ", ".join(f"%x{i}: array<{type}, 1, C>" for i, type in enumerate(operands))
    loads = "\n".join(f"  %v{i} = load %x{i}, %t {{checked=false, wrap=false}}" for i in range(len(operands)))
    values = ", ".join(f"%v{i}" for i in range(len(operands)))
    store = "  store %r, %out, %t {checked=false, wrap=false}"
    return kernel(f"%out: array<{result}, 1, C>, {params}", f"{loads}\n  %r = {op} {values} {attrs}\n{store}")


def check(op: str, operands: Sequence[str], result: str, inputs: Sequence[np.ndarray], attrs: str = "") -> None:
    out = np.zeros(len(inputs[0]), dtype_of(SCALARS[result]))
    same(elementwise(op, operands, result, attrs), [out, *inputs], len(out))


BINARY = [
    *[(op, type) for op in ("add", "sub", "mul", "min", "max") for type in REALS],
    *[(op, type) for op in ("floordiv", "mod", "shl", "shr") for type in INTS],
    *[(op, type) for op in ("and", "or", "xor") for type in (*INTS, "bool")],
    *[(op, type) for op in ("div", "rem", "math.copysign", "math.fmin", "math.fmax") for type in FLOATS],
]


@pytest.mark.parametrize(("op", "type"), BINARY)
def test_binary(op: str, type: str) -> None:
    a, b = (samples(SCALARS[type], seed) for seed in (1, 2))
    if op in ("shl", "shr"):
        b[::2] = b[::2] % SCALARS[type].bits
    if op in ("min", "max", "math.fmin", "math.fmax"):
        a, b = a[(a != 0) | (b != 0)], b[(a != 0) | (b != 0)]  # the sign of a zero is not told apart
    check(op, [type, type], type, [a, b])


UNARY = [
    *[(op, type) for op in ("neg", "abs") for type in REALS],
    *[("not", type) for type in (*INTS, "bool")],
    *[(op, type) for op in ("popcount", "clz", "ctz", "bitreverse", "bswap") for type in INTS],
    *[(f"math.{op}", type) for op in ("sqrt", "floor", "ceil", "trunc", "rint") for type in FLOATS],
]


@pytest.mark.parametrize(("op", "type"), UNARY)
def test_unary(op: str, type: str) -> None:
    check(op, [type], type, [samples(SCALARS[type], 5)])


@pytest.mark.parametrize("type", [*REALS, "bool"])
def test_comparisons_and_select(type: str) -> None:
    a, b = (samples(SCALARS[type], seed) for seed in (6, 7))
    b[::5] = a[::5]
    for pred in ("eq", "ne", "lt", "le", "gt", "ge"):
        check("cmp", [type, type], "bool", [a, b], f'{{pred="{pred}"}}')
    check("select", ["bool", type, type], type, [samples(SCALARS["bool"], 8), a, b])


@pytest.mark.parametrize("source", [*REALS, "bool"])
@pytest.mark.parametrize("target", [*REALS, "bool"])
@pytest.mark.slow
def test_cast(source: str, target: str) -> None:
    check("cast", [source], target, [samples(SCALARS[source], 8)], f"{{type={target}}}")


@pytest.mark.parametrize("name", sorted(name for name in softmath.WRITERS if name not in ("rem", "math.nextafter")))
@pytest.mark.parametrize("type", ["f32", "f64"])
def test_elementary_functions(name: str, type: str) -> None:
    """Close to what the host's library gives: the errors themselves are measured where the functions are tested."""
    count = {"math.fma": 3, "math.pow": 2, "math.atan2": 2, "math.hypot": 2}.get(name, 1)
    rng = np.random.default_rng(9)
    inputs = [rng.uniform(0.05, 0.95, 64).astype(dtype_of(SCALARS[type])) for _ in range(count)]
    if name == "math.acosh":
        inputs[0] += 1
    out, expected = np.zeros_like(inputs[0]), np.zeros_like(inputs[0])
    text = elementwise(name, [type] * count, type)
    run_grid(parse_module(text), [expected, *inputs], Geometry((1, 1, 1), (64, 1, 1)))
    run(text, [out, *inputs], 64, 32)
    size = np.maximum(np.abs(expected), 1 if name == "math.lgamma" else 0)  # which has zeros
    assert np.all(np.abs(out - expected) <= 8 * np.spacing(size.astype(out.dtype)))


def atomics() -> list[tuple[str, str]]:
    only_integers = ("and", "or", "xor", "inc", "dec")
    return [(what, type) for type in REALS for what in ATOMICS if type in INTS or what not in only_integers]


@pytest.mark.parametrize(("what", "type"), atomics())
def test_atomics(what: str, type: str) -> None:
    """On an element each of global memory, then of shared memory."""
    shared = f"array<{type}, 1, C, shared>"
    body = f"""  %s = shared.array {{shape=[{COUNT}], type={shared}}} : {shared}
  %v = load %x, %t {{checked=false, wrap=false}}
  %o = atomic %v, %y, %t {{checked=false, op="{what}", wrap=false}}
  store %o, %s, %t {{checked=false, wrap=false}}
  barrier
  %p = atomic %v, %s, %t {{checked=false, op="{what}", wrap=false}}
  %q = load %s, %t {{checked=false, wrap=false}}
  store %q, %old, %t {{checked=false, wrap=false}}"""
    rng = np.random.default_rng(3)
    x, y = (samples(SCALARS[type], seed) for seed in (1, 2))
    if type in FLOATS:
        x, y = ((rng.standard_normal(COUNT) * 5).astype(x.dtype) for _ in range(2))
    arrays = f"array<{type}, 1, C>"
    same(kernel(f"%x: {arrays}, %y: {arrays}, %old: {arrays}", body), [x, y, np.zeros_like(y)])


@pytest.mark.parametrize("type", REALS)
def test_compare_and_swap_compares_bits(type: str) -> None:
    body = """  %e = load %x, %t {checked=false, wrap=false}
  %d = load %y, %t {checked=false, wrap=false}
  %o = atomic.cas %e, %d, %z, %t {checked=false, wrap=false}
  store %o, %x, %t {checked=false, wrap=false}"""
    x, y = (samples(SCALARS[type], seed) for seed in (1, 2))
    z = x.copy()
    z[::2] = y[::2]
    if type in FLOATS:
        x[:2], z[:2] = 0.0, -0.0
    arrays = f"array<{type}, 1, C>"
    same(kernel(f"%x: {arrays}, %y: {arrays}, %z: {arrays}", body), [x, y, z])


@pytest.mark.parametrize("wave", WAVES)
def test_barriers_that_count(wave: int) -> None:
    body = """  %v = load %x, %t {checked=false, wrap=false}
  %zero = const 0 : i32
  %p = cmp %v, %zero {pred="gt"}
  %n = barrier.count %p
  %a = barrier.all %p
  %o = barrier.any %p
  %a32 = cast %a {type=i32}
  %o32 = cast %o {type=i32}
  %ten = const 10 : i32
  %f = mul %a32, %ten
  %g = add %f, %o32
  %hundred = const 100 : i32
  %i = mul %n, %hundred
  %r = add %i, %g
  store %r, %x, %t {checked=false, wrap=false}"""
    for x in (np.arange(-5, COUNT - 5), np.ones(COUNT), np.zeros(COUNT)):
        same(kernel("%x: array<i32, 1, C>", body), [x.astype(np.int32)], wave=wave)


#: What the lanes of a subgroup compute with the value of each, and the type of that ("": its own).
TOGETHER = [
    *[(f'shuffle %v, %n {{mode="{mode}"}}', "") for mode in ("index", "up", "down", "xor")],
    ("lane.first %v", ""),
    ('vote %v {mode="equal"}', "bool"),
    ("lane.match %v", "u64"),
    ("lane.active", "u64"),
    ("lane.elect", "bool"),
    ("lane.index", "i32"),
    ("lane.count", "i32"),
    *[
        (f'{name} %v {{op="{what}"{more}}}', "")
        for name, more in (
            ("subgroup.reduce", ""),
            ("subgroup.scan", ", inclusive=true"),
            ("subgroup.scan", ", inclusive=false"),
        )
        for what in ("add", "mul", "min", "max", "xor")
    ],
]


def together() -> list[Any]:
    """The ops with the types that they take; one type is quick."""
    made = []
    for type in ("i32", "bool", "u8", "i64", "f16", "f64"):
        for op, result in TOGETHER:
            if "subgroup" in op and (type == "bool" or ("xor" in op and type in FLOATS)):
                continue
            marks = () if type == "i32" else pytest.mark.slow
            made.append(pytest.param(op, result, type, marks=marks, id=f"{op}-{type}"))
    return made


@pytest.mark.parametrize("wave", WAVES)
@pytest.mark.parametrize("parted", [False, True], ids=["all", "some"])
@pytest.mark.parametrize(("op", "result", "type"), together())
def test_subgroups(op: str, result: str, type: str, parted: bool, wave: int) -> None:
    """In all lanes, and in some: lanes that a branch has parted do not take part; the last subgroup is not full."""
    result = result or type
    body = f"""  %v = load %x, %t {{checked=false, wrap=false}}
  %c = load %chosen, %t {{checked=false, wrap=false}}
  if %c {{
    %n = load %lanes, %t {{checked=false, wrap=false}}
    %r = {op}
    store %r, %out, %t {{checked=false, wrap=false}}
    yield
  }} else {{
    yield
  }}"""
    rng = np.random.default_rng(4)
    count = 80
    x = rng.integers(0, 3, count).astype(dtype_of(SCALARS[type]))
    chosen = rng.integers(0, 2, count).astype(bool) if parted else np.ones(count, bool)
    lanes = rng.integers(-3, 40, count).astype(np.int32)
    out = np.zeros(count, dtype_of(SCALARS[result]))
    params = (
        f"%x: array<{type}, 1, C>, %chosen: array<bool, 1, C>, %lanes: array<i32, 1, C>, %out: array<{result}, 1, C>"
    )
    same(kernel(params, body), [x, chosen, lanes, out], block=count, wave=wave)


@pytest.mark.parametrize("mode", ["all", "any"])
@pytest.mark.parametrize("wave", WAVES)
def test_votes_and_ballots(mode: str, wave: int) -> None:
    body = f"""  %v = load %x, %t {{checked=false, wrap=false}}
  %r = vote %v {{mode="{mode}"}}
  %b = ballot %v
  subgroup.barrier
  store %r, %x, %t {{checked=false, wrap=false}}
  store %b, %bits, %t {{checked=false, wrap=false}}"""
    for x in (np.ones(80, bool), np.zeros(80, bool), np.arange(80) % 3 == 0):
        same(kernel("%x: array<bool, 1, C>, %bits: array<u64, 1, C>", body), [x, np.zeros(80, np.uint64)], 80, wave)


def test_dynamic_memory_has_the_size_of_the_launch() -> None:
    body = """  %s = shared.dynamic {type=array<f32, 1, C, shared>} : array<f32, 1, C, shared>
  %n = dim %s {axis=0} : i64
  %last = const 40 : i64
  %at = sub %last, %t
  %v = load %x, %t {checked=false, wrap=false}
  store %v, %s, %at {checked=false, wrap=false}
  barrier
  %w = load %s, %t {checked=false, wrap=false}
  %m = cast %n {type=f32}
  %r = add %w, %m
  store %r, %x, %t {checked=false, wrap=false}"""
    x = np.arange(41, dtype=np.float32)
    same(kernel("%x: array<f32, 1, C>", body), [x], block=41, shared_bytes=200)


def test_every_operation_is_lowered_or_has_a_reason() -> None:
    table = emitters(primitives(32))
    missing = [name for name in OPS if name not in table and name not in UNSUPPORTED and name not in softmath.WRITERS]
    assert missing == []
    assert not set(table) & set(UNSUPPORTED)
