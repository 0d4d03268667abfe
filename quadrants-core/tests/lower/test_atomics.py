"""Atomics as machine code, against the definitions of the ops."""

from __future__ import annotations

import numpy as np
import pytest
from lower.execution import Program

from quadrants.ir import interp
from quadrants.ir.ops.device import ATOMICS
from quadrants.ir.parser import parse_module
from quadrants.ir.spec import InvalidIR, verify
from quadrants.ir.values import Raised

DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def module(dtype: str, body: str):
    return parse_module(f"""
qir 1
entry @f

func @f(%v: {dtype}, %w: {dtype}, %x: array<{dtype}, 1, C>, %i: i64) -> ({dtype}) from "f.py" "f" 1 {{
  %old = {body} : {dtype}
  return %old
}}
""")


def values(dtype: np.dtype) -> list:
    if dtype.kind == "f":
        return [dtype.type(v) for v in (0.0, -0.0, 1.5, -2.25, np.inf, np.nan)]
    info = np.iinfo(dtype)
    return [dtype.type(v) for v in (0, 1, 5, info.max, info.min, info.max - 1)]


def same(a: object, b: object) -> bool:
    return a == b or (a != a and b != b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("what", ATOMICS)
def test_every_operation(what: str, dtype: str) -> None:
    program = module(dtype, f'atomic %v, %x, %i {{op="{what}"}}')
    try:
        verify(program)
    except InvalidIR:
        assert dtype[0] == "f" and what in ("and", "or", "xor", "inc", "dec")
        return
    compiled = Program.load(program)
    for old in values(numpy_dtype(dtype)):
        for value in values(numpy_dtype(dtype)):
            ours, theirs = np.array([7, old, 7], numpy_dtype(dtype)), np.array([7, old, 7], numpy_dtype(dtype))
            got, expected = compiled((value, value, ours, 1)), interp.run(program, (value, value, theirs, 1))
            assert same(got[0], expected[0]) and all(map(same, ours, theirs)), (old, value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_compare_and_swap(dtype: str) -> None:
    program = module(dtype, "atomic.cas %v, %w, %x, %i")
    compiled = Program.load(program)
    for old in values(numpy_dtype(dtype)):
        for expected in values(numpy_dtype(dtype)):
            ours, theirs = np.array([old], numpy_dtype(dtype)), np.array([old], numpy_dtype(dtype))
            got = compiled((expected, numpy_dtype(dtype).type(3), ours, 0))
            assert same(got[0], interp.run(program, (expected, numpy_dtype(dtype).type(3), theirs, 0))[0])
            assert ours.tobytes() == theirs.tobytes()


def test_indices_are_checked_and_wrap() -> None:
    program = module("i32", 'atomic %v, %x, %i {op="add"}')
    compiled = Program.load(program)
    x = np.array([1, 2, 3], np.int32)
    assert compiled((10, 0, x, -1)) == (3,) and x.tolist() == [1, 2, 13]
    with pytest.raises(Raised, match="index 3 is out of bounds for axis 0 with size 3"):
        compiled((10, 0, x, 3))
