"""Every operation on numbers, with every type that Metal has, against the reference interpreter."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from metal_harness import Bench, needed
from test_vulkan_scalars import BINARY, UNARY, agree, kernel, samples

from quadrants._frozen import frozen
from quadrants.ir.interp import run
from quadrants.ir.parser import parse_module
from quadrants.types.dtypes import dtype_of
from quadrants.types.scalar import SCALARS

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "f32")
REALS = INTS + FLOATS


@frozen
class Case:
    """An operation on numbers of some types."""

    op: str
    operands: tuple[str, ...]
    result: str
    attrs: str = ""

    @property
    def name(self) -> str:
        return "-".join([self.op, *self.operands[:1], self.result, *self.attrs.split('"')[1:2]])


def _cases() -> list[Case]:
    made = [Case(op, (type, type), type) for op, type in BINARY if type != "f64"]
    made += [Case(op, (type,), type) for op, type in UNARY if type != "f64"]
    made += [Case("div", (type, type), type) for type in FLOATS]
    made += [Case("math.fma", (type,) * 3, type) for type in FLOATS]
    made += [
        Case("cmp", (type, type), "bool", f'{{pred="{pred}"}}')
        for type in (*REALS, "bool")
        for pred in ("eq", "ne", "lt", "le", "gt", "ge")
    ]
    made += [Case("select", ("bool", type, type), type) for type in (*REALS, "bool", "c64")]
    made += [Case("cast", (a,), b, f"{{type={b}}}") for a in (*REALS, "bool") for b in (*REALS, "bool")]
    for sign in "iu":
        for bits in (16, 32):
            whole, real = f"{sign}{bits}", f"f{bits}"
            made += [Case("bitcast", (real,), whole, f"{{type={whole}}}")]
            made += [Case("bitcast", (whole,), real, f"{{type={real}}}")]
    made += [Case("complex", ("f32", "f32"), "c64"), Case("real", ("c64",), "f32"), Case("imag", ("c64",), "f32")]
    return made + [Case("cmp", ("c64", "c64"), "bool", f'{{pred="{pred}"}}') for pred in ("eq", "ne")]


CASES = {case.name: case for case in _cases()}


@cache
def prepared() -> Bench:
    """The device, with all the kernels built."""
    device = needed()
    device.prepare(kernel(case.op, case.operands, case.result, case.attrs)[1] for case in CASES.values())
    return device


def inputs_of(case: Case) -> list[np.ndarray]:
    inputs = [samples(SCALARS[type], seed) for seed, type in enumerate(case.operands, 1)]
    first = inputs[0]
    if case.op in ("shl", "shr"):
        inputs[1][::2] = inputs[1][::2] % SCALARS[case.result].bits
    if case.op in ("min", "max", "math.fmin", "math.fmax"):
        some = (first != 0) | (inputs[1] != 0)  # the sign of a zero is not told apart
        inputs = [x[some] for x in inputs]
    if case.op == "cmp":
        inputs[1][::5] = first[::5]
    if case.op == "math.fma":
        rng = np.random.default_rng(3)
        inputs = [rng.standard_normal(200).astype(x.dtype) for x in inputs]
        inputs[2] = -(inputs[0] * inputs[1])  # what is left is what the product was rounded by
    if case.op == "bitcast" and case.operands[0] in FLOATS:
        inputs = [first[~np.isnan(first)]]  # whose bits need not be kept
    if case.op == "cast" and case.operands[0] in FLOATS:
        with np.errstate(all="ignore"):
            first[:40] = (np.random.default_rng(1).standard_normal(40) * 2.0 ** np.arange(30, 70)).astype(first.dtype)
    return inputs


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str) -> None:
    case, device = CASES[name], prepared()
    inputs = inputs_of(case)
    expected = np.zeros(len(inputs[0]), dtype_of(SCALARS[case.result]))
    found = np.zeros_like(expected)
    loop, threads = kernel(case.op, case.operands, case.result, case.attrs)
    with np.errstate(all="ignore"):
        run(parse_module(loop), [expected, *[x.copy() for x in inputs]])
    device.run(threads, [found, *[x.copy() for x in inputs]], ((len(found) + 63) // 64, 1, 1), (64, 1, 1))
    for part in ("real", "imag") if SCALARS[case.result].is_complex else ("real",):
        agree(getattr(found, part), getattr(expected, part), inputs, 0)


ELEMENTARY = {
    "exp": (2, np.exp, (-80, 80)),
    "log": (2, np.log, (0, 1e30)),
    "sin": (3, np.sin, (-1e5, 1e5)),
    "cos": (3, np.cos, (-1e5, 1e5)),
    "tanh": (3, np.tanh, (-9, 9)),
    "atan": (2, np.arctan, (-50, 50)),
    "cbrt": (2, np.cbrt, (-1e9, 1e9)),
}


def elementary(name: str) -> str:
    return kernel(f"math.{name}", ["f32"], "f32")[1]


@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_functions(name: str) -> None:
    """Within the errors that the documentation says, against NumPy in float64."""
    device = needed()
    device.prepare(map(elementary, ELEMENTARY))
    most, function, (low, high) = ELEMENTARY[name]
    x = np.random.default_rng(5).uniform(low, high, 1000).astype(np.float32)
    found = np.zeros_like(x)
    device.run(elementary(name), [found, x], (16, 1, 1), (64, 1, 1))
    exact = function(x.astype(np.float64))
    ulp = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(found - exact) / ulp) <= most
