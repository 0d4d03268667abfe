"""What threads do together, on devices, against the interpreter of device code: atomics, barriers, subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_vulkan_scalars import FLOATS, INTS, samples, skip_absent
from vulkan_harness import Bench

from quadrants.ir.ops.device import ATOMICS
from quadrants.ir.parser import parse_module
from quadrants.ir.simt import run_grid
from quadrants.ir.threads import Geometry
from quadrants.types.dtypes import dtype_of
from quadrants.types.scalar import SCALARS

HEAD = 'qir 1\nentry @k\n\nfunc @k({params}) -> () from "k.py" "k" 1 with {{kernel=true, level="device"}} {{\n'
INDEX = """  %tx = thread.index {axis=0} : i32
  %t = cast %tx {type=i64}
"""
COUNT = 24


def kernel(params: str, body: str) -> str:
    return HEAD.format(params=params) + INDEX + body + "\n  return\n}\n"


def same(device: Bench, text: str, args: list[Any], block: int = COUNT, shared_bytes: int = 0) -> None:
    """A kernel leaves in its arrays what the interpreter leaves there."""
    width = device.backend.capabilities(device.backend.target_of(device.device)).subgroup_width
    expected, found = [[np.copy(arg) for arg in args] for _ in range(2)]
    geometry = Geometry((1, 1, 1), (block, 1, 1), shared_bytes, subgroup=width)
    with np.errstate(all="ignore"):
        run_grid(parse_module(text), expected, geometry)
    device.run(text, found, block=(block, 1, 1), shared_bytes=shared_bytes)
    for position, (a, b) in enumerate(zip(found, expected)):
        alike = (a == b) | ((a != a) & (b != b))
        assert np.all(alike), (position, a[~alike], b[~alike], np.flatnonzero(~alike))


def atomics(types: tuple[str, ...]) -> list[tuple[str, str]]:
    bitwise = ("and", "or", "xor", "inc", "dec")
    return [(what, type) for type in types for what in ATOMICS if type in INTS or what not in bitwise]


def skip_atomic(device: Bench, what: str, type: str) -> None:
    skip_absent(device, type)
    if not device.backend.capabilities(device.backend.target_of(device.device)).supports_atomic(what, type):
        pytest.skip(f"{device.name} has no atomic {what} of {type}")


def operands(type: str) -> list[np.ndarray]:
    made = [samples(SCALARS[type], seed, COUNT * 2)[:COUNT] for seed in (1, 2)]
    if type in FLOATS:
        for array in made:  # plain numbers: subnormal ones are not kept by all, and NaNs not told apart
            array[:] = (np.random.default_rng(3).standard_normal(COUNT) * 5).astype(array.dtype)
        made[1][::3] = made[0][::3]
    return made


@pytest.mark.parametrize(("what", "type"), atomics((*INTS, *FLOATS)))
def test_atomics_on_neighbours_in_global_memory(device: Bench, what: str, type: str) -> None:
    skip_atomic(device, what, type)
    body = f"""  %v = load %x, %t {{checked=false, wrap=false}}
  %o = atomic %v, %y, %t {{checked=false, op="{what}", wrap=false}}
  store %o, %old, %t {{checked=false, wrap=false}}"""
    x, y = operands(type)
    arrays = f"array<{type}, 1, C>"
    same(device, kernel(f"%x: {arrays}, %y: {arrays}, %old: {arrays}", body), [x, y, np.zeros_like(y)])


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("type", [*INTS, *FLOATS])
def test_atomics_on_neighbours_in_shared_memory(device: Bench, type: str, dynamic: bool) -> None:
    for what in ("add", "max", "exchange"):
        skip_atomic(device, what, type)
    shared = f"array<{type}, 1, C, shared>"
    made = (
        f"shared.dynamic {{type={shared}}}"
        if dynamic
        else f"shared.array {{shape=[{COUNT}], type={shared}}} : {shared}"
    )
    body = f"""  %s = {made}
  %v = load %x, %t {{checked=false, wrap=false}}
  %w = load %y, %t {{checked=false, wrap=false}}
  store %w, %s, %t {{checked=false, wrap=false}}
  barrier
  %a = atomic %v, %s, %t {{checked=false, op="add", wrap=false}}
  %b = atomic %v, %s, %t {{checked=false, op="max", wrap=false}}
  %c = atomic %b, %s, %t {{checked=false, op="exchange", wrap=false}}
  %d = atomic.cas %b, %a, %s, %t {{checked=false, wrap=false}}
  barrier
  %f = load %s, %t {{checked=false, wrap=false}}
  store %c, %x, %t {{checked=false, wrap=false}}
  store %f, %y, %t {{checked=false, wrap=false}}"""
    x, y = operands(type)
    arrays = f"array<{type}, 1, C>"
    bytes_ = COUNT * x.itemsize if dynamic else 0
    same(device, kernel(f"%x: {arrays}, %y: {arrays}", body), [x, y], shared_bytes=bytes_)


@pytest.mark.parametrize("type", [*INTS, "f32", "f64"])
def test_sums_of_all_threads_in_one_element(device: Bench, type: str) -> None:
    skip_atomic(device, "add", type)
    body = f"""  %zero = const 0 : i64
  %v = cast %tx {{type={type}}}
  atomic %v, %x, %zero {{checked=false, op="add", wrap=false}}
  %o = atomic %v, %x, %zero {{checked=false, op="add", wrap=false}}"""
    body = body.replace("  atomic", "  %first = atomic")
    x = np.zeros(3, dtype_of(SCALARS[type]))
    device.run(kernel(f"%x: array<{type}, 1, C>", body), [x], block=(64, 1, 1))
    expected = np.array([2 * sum(range(64)), 0, 0]).astype(x.dtype)
    assert x.tolist() == expected.tolist()


@pytest.mark.parametrize("type", [*INTS, *FLOATS])
def test_compare_and_swap_compares_bits(device: Bench, type: str) -> None:
    skip_atomic(device, "cas", type)
    body = """  %e = load %x, %t {checked=false, wrap=false}
  %d = load %y, %t {checked=false, wrap=false}
  %o = atomic.cas %e, %d, %z, %t {checked=false, wrap=false}
  store %o, %x, %t {checked=false, wrap=false}"""
    x, y = operands(type)
    z = x.copy()
    z[::2] = y[::2]
    if type in FLOATS:
        x[:2], z[:2] = 0.0, -0.0
    arrays = f"array<{type}, 1, C>"
    same(device, kernel(f"%x: {arrays}, %y: {arrays}, %z: {arrays}", body), [x, y, z])


def test_barriers_that_count(device: Bench) -> None:
    body = """  %v = load %x, %t {checked=false, wrap=false}
  %zero = const 0 : i32
  %p = cmp %v, %zero {pred="gt"}
  %n = barrier.count %p
  %a = barrier.all %p
  %o = barrier.any %p
  %a32 = cast %a {type=i32}
  %o32 = cast %o {type=i32}
  %two = const 2 : i32
  %ten = const 10 : i32
  %f = mul %a32, %ten
  %g = add %f, %o32
  %h = mul %n, %two
  %hundred = const 100 : i32
  %i = mul %h, %hundred
  %r = add %i, %g
  store %r, %x, %t {checked=false, wrap=false}"""
    for x in (np.arange(-5, COUNT - 5), np.ones(COUNT), np.zeros(COUNT)):
        same(device, kernel("%x: array<i32, 1, C>", body), [x.astype(np.int32)])


#: The others go the way of one of the first.
SUBGROUP_TYPES = [
    *("bool", "i32", "u64", "f32"),
    *(pytest.param(type, marks=pytest.mark.slow) for type in ("i8", "u16", "f16", "f64")),
]
#: What the lanes of a subgroup compute with the value of each, and the type of that ("": its own).
TOGETHER = [
    ('shuffle %v, %n {mode="index"}', ""),
    ('shuffle %v, %n {mode="up"}', ""),
    ('shuffle %v, %n {mode="down"}', ""),
    ('shuffle %v, %n {mode="xor"}', ""),
    ("lane.first %v", ""),
    ('vote %v {mode="equal"}', "bool"),
    ("lane.match %v", "u64"),
    ("lane.active", "u64"),
    ("lane.elect", "bool"),
    *[
        (f'{name} %v {{op="{what}"{more}}}', "")
        for name, more in (
            ("subgroup.reduce", ""),
            ("subgroup.scan", ", inclusive=true"),
            ("subgroup.scan", ", inclusive=false"),
        )
        for what in ("add", "min", "max")
    ],
]


@pytest.mark.parametrize("parted", [False, True], ids=["all", "some"])
@pytest.mark.parametrize(("op", "result"), TOGETHER)
@pytest.mark.parametrize("type", SUBGROUP_TYPES)
def test_subgroups(device: Bench, op: str, result: str, type: str, parted: bool) -> None:
    """In all lanes, and in some: lanes that a branch has parted do not take part."""
    skip_absent(device, type)
    if type == "bool" and "subgroup" in op:
        return
    result = result or type
    inside = f"""    %n = load %lanes, %t {{checked=false, wrap=false}}
    %r = {op}
    store %r, %out, %t {{checked=false, wrap=false}}
    yield"""
    body = f"""  %v = load %x, %t {{checked=false, wrap=false}}
  %c = load %chosen, %t {{checked=false, wrap=false}}
  if %c {{
{inside}
  }} else {{
    yield
  }}"""
    rng = np.random.default_rng(4)
    dtype = dtype_of(SCALARS[type])
    x = rng.integers(0, 6, 16).astype(dtype) if type != "bool" else rng.integers(0, 2, 16).astype(bool)
    chosen = rng.integers(0, 2, 16).astype(bool) if parted else np.ones(16, bool)
    lanes = rng.integers(0, 4, 16).astype(np.int32)
    out = np.zeros(16, dtype_of(SCALARS[result]))
    params = (
        f"%x: array<{type}, 1, C>, %chosen: array<bool, 1, C>, %lanes: array<i32, 1, C>, %out: array<{result}, 1, C>"
    )
    same(device, kernel(params, body), [x, chosen, lanes, out], block=16)
