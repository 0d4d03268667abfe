"""What threads do together, in MSL, against the interpreter of device code: atomics, barriers, subgroups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from metal_harness import Bench, needed
from test_vulkan_threads import TOGETHER, atomics, kernel, operands

from quadrants._frozen import frozen
from quadrants.ir.parser import parse_module
from quadrants.ir.simt import run_grid
from quadrants.ir.threads import Geometry
from quadrants.types.dtypes import dtype_of
from quadrants.types.scalar import SCALARS

WORDS = ("i8", "i16", "i32", "u8", "u16", "u32")
FLOATS = ("f16", "f32")
COUNT = 24
LANES = 32


@frozen(eq=False)
class Case:
    """A kernel with its arguments."""

    text: str
    args: Sequence[Any]
    block: int = COUNT
    shared_bytes: int = 0


def _atomic(what: str, type: str) -> Case:
    body = f"""  %v = load %x, %t {{checked=false, wrap=false}}
  %o = atomic %v, %y, %t {{checked=false, op="{what}", wrap=false}}
  store %o, %old, %t {{checked=false, wrap=false}}"""
    x, y = operands(type)
    arrays = f"array<{type}, 1, C>"
    return Case(kernel(f"%x: {arrays}, %y: {arrays}, %old: {arrays}", body), [x, y, np.zeros_like(y)])


def _in_space(type: str, space: str) -> Case:
    """Atomic operations on neighbours in memory of the block or of the thread."""
    array = f"array<{type}, 1, C, {space}>"
    made = f"{space}.array {{shape=[{COUNT}], type={array}}} : {array}"
    if space == "dynamic":
        array = f"array<{type}, 1, C, shared>"
        made = f"shared.dynamic {{type={array}}}"
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
    bytes_ = COUNT * x.itemsize if space == "dynamic" else 0
    return Case(kernel(f"%x: {arrays}, %y: {arrays}", body), [x, y], shared_bytes=bytes_)


def _cas(type: str) -> Case:
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
    return Case(kernel(f"%x: {arrays}, %y: {arrays}, %z: {arrays}", body), [x, y, z])


BARRIERS = """  %v = load %x, %t {checked=false, wrap=false}
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
  fence {scope="block"}
  fence {scope="device"}
  store %r, %x, %t {checked=false, wrap=false}"""


def _together(op: str, type: str, result: str, some: bool) -> Case:
    """In all lanes of two subgroups, or in some: lanes that a branch has parted, or of a block that does not fill them."""
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
    size = 40 if some else 2 * LANES
    dtype = dtype_of(SCALARS[type])
    x = rng.integers(0, 6, size).astype(dtype) if type != "bool" else rng.integers(0, 2, size).astype(bool)
    chosen = rng.integers(0, 2, size).astype(bool) if some else np.ones(size, bool)
    lanes = rng.integers(0, 4, size).astype(np.int32)
    out = np.zeros(size, dtype_of(SCALARS[result]))
    params = (
        f"%x: array<{type}, 1, C>, %chosen: array<bool, 1, C>, %lanes: array<i32, 1, C>, %out: array<{result}, 1, C>"
    )
    return Case(kernel(params, body), [x, chosen, lanes, out], block=size)


def _cases() -> dict[str, Case]:
    made = {f"global-{what}-{type}": _atomic(what, type) for what, type in atomics((*WORDS, *FLOATS))}
    for type in (*WORDS, *FLOATS):
        made[f"cas-{type}"] = _cas(type)
        made |= {f"{space}-{type}": _in_space(type, space) for space in ("shared", "dynamic", "local")}
    made["local-u64"] = _in_space("u64", "local")
    for position, x in enumerate((np.arange(-5, COUNT - 5), np.ones(COUNT), np.zeros(COUNT))):
        made[f"barriers-{position}"] = Case(kernel("%x: array<i32, 1, C>", BARRIERS), [x.astype(np.int32)])
    for op, result in (*TOGETHER, ('subgroup.reduce %v {op="xor"}', ""), ('subgroup.reduce %v {op="mul"}', "")):
        for type in ("bool", "i8", "u16", "i32", "u64", "f16", "f32"):
            if "subgroup" in op and (
                type == "bool" or ("xor" in op and type in FLOATS) or ("mul" in op and type == "f16")
            ):
                continue
            for some in (False, True):
                made[f"{op}-{type}-{'some' if some else 'all'}"] = _together(op, type, result or type, some)
    return made


CASES = _cases()


@cache
def prepared() -> Bench:
    """The device, with all the kernels built."""
    device = needed()
    device.prepare(case.text for case in CASES.values())
    return device


@pytest.mark.parametrize("name", CASES)
def test_as_the_interpreter(name: str) -> None:
    """A kernel leaves in its arrays what the interpreter leaves there."""
    case, device = CASES[name], prepared()
    expected, found = ([np.copy(arg) for arg in case.args] for _ in range(2))
    with np.errstate(all="ignore"):
        run_grid(
            parse_module(case.text),
            expected,
            Geometry((1, 1, 1), (case.block, 1, 1), case.shared_bytes, subgroup=LANES),
        )
    device.run(case.text, found, block=(case.block, 1, 1), shared_bytes=case.shared_bytes)
    for position, (a, b) in enumerate(zip(found, expected)):
        alike = (a == b) | ((a != a) & (b != b))
        assert np.all(alike), (position, a[~alike], b[~alike], np.flatnonzero(~alike))


@pytest.mark.parametrize("type", [*WORDS, "f32"])
def test_sums_of_all_threads_in_one_element(type: str) -> None:
    body = f"""  %zero = const 0 : i64
  %v = cast %tx {{type={type}}}
  %first = atomic %v, %x, %zero {{checked=false, op="add", wrap=false}}
  %o = atomic %v, %x, %zero {{checked=false, op="add", wrap=false}}"""
    x = np.zeros(3, dtype_of(SCALARS[type]))
    needed().run(kernel(f"%x: array<{type}, 1, C>", body), [x], block=(64, 1, 1))
    expected = np.array([2 * sum(range(64)), 0, 0]).astype(x.dtype)
    assert x.tolist() == expected.tolist()
