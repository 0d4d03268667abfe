"""Every operation on scalars, at every type, on edge cases, against the reference semantics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from lower.execution import Program

from quadrants.host.target import target_for
from quadrants.ir import Function, Module, Region, Scope, Value
from quadrants.ir.builder import Builder
from quadrants.ir.interp import run as interpret
from quadrants.ir.ops.math import BINARY, UNARY
from quadrants.ir.values import canonical
from quadrants.lower.module import LowerOptions
from quadrants.types import BOOL, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Scalar

SIGNED, UNSIGNED, FLOATS, COMPLEXES = (I8, I16, I32, I64), (U8, U16, U32, U64), (F16, F32, F64), (C64, C128)
INTEGERS = (*SIGNED, *UNSIGNED)
SCALARS = (BOOL, *INTEGERS, *FLOATS, *COMPLEXES)

_REALS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    -2.5,
    3.0,
    1e-8,
    1e-320,
    -6e-8,
    65504.0,
    1e30,
    -1e300,
    math.inf,
    -math.inf,
    math.nan,
)


def samples(type: Scalar) -> list[Any]:
    """Values of the type that are worth trying."""
    if type.is_bool:
        return [False, True]
    if type.is_integer:
        low = -(1 << (type.bits - 1)) if type.is_signed else 0
        high = low + (1 << type.bits) - 1
        near = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 8, type.bits - 1, type.bits, 100, high // 2, high // 3}
        if type.is_signed:
            near |= {-1, -2, -3, -7, -8, -100, low // 2}
        return sorted(near)
    if type.is_float:
        return list(_REALS)
    return [
        complex(re, im) for re, im in itertools.product((0.0, -1.5, math.nan, math.inf), (0.0, -0.0, 2.0, math.nan))
    ]


def function_of(name: str, types: Sequence[Scalar], **attrs: Any) -> Module:
    """A module whose entry applies one op."""
    params = [Value(type) for type in types]
    body = Region()
    builder = Builder(body)
    result = builder.value(name, *params, **attrs)
    builder.op("return", result)
    return Module({"f": Function("f", params, (result.type,), body, Scope("f.py", "f", 1), {"fp": "strict"})}, "f")


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Equal bit for bit (any NaN equals any), or within a relative error."""
    if isinstance(a, (complex, np.complexfloating)):
        return same(a.real, b.real, tolerance) and same(a.imag, b.imag, tolerance)
    if isinstance(a, (float, np.floating)):
        if np.isnan(a) or np.isnan(b):
            return bool(np.isnan(a) and np.isnan(b))
        if a == b:
            return bool(np.signbit(a) == np.signbit(b))
        if not tolerance or not (np.isfinite(a) and np.isfinite(b)):
            return False
        return bool(abs(float(a) - float(b)) <= tolerance * max(abs(float(a)), float(np.finfo(type(a)).tiny)))
    return bool(a == b)


def compare(module: Module, inputs: Iterable[tuple[Any, ...]], tolerance: float = 0.0, **load: Any) -> None:
    """Compiled and interpreted results agree on every input."""
    program = Program.load(module, **load)
    with np.errstate(all="ignore"):  # numbers that a narrow type cannot hold are converted to it
        for args in inputs:
            (expected,) = interpret(module, args)
            (found,) = program(args)
            assert same(expected, found, tolerance), f"{args}: expected {expected!r}, found {found!r}"


def pairs(type: Scalar) -> Iterable[tuple[Any, Any]]:
    return itertools.product(samples(type), samples(type))


@pytest.mark.parametrize("type", (*INTEGERS, *FLOATS), ids=str)
@pytest.mark.parametrize("name", ("add", "sub", "mul", "min", "max"))
def test_binary(name: str, type: Scalar) -> None:
    compare(function_of(name, (type, type)), pairs(type))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ("floordiv", "mod", "and", "or", "xor", "shl", "shr"))
def test_integers(name: str, type: Scalar) -> None:
    compare(function_of(name, (type, type)), pairs(type))


@pytest.mark.parametrize("type", (I8, I64, U8, U64), ids=str)
@pytest.mark.parametrize("name", ("floordiv", "mod", "shl", "shr"))
def test_by_a_constant(name: str, type: Scalar) -> None:
    divisors = [value for value in samples(type) if abs(value) < 128]
    params = [Value(type)]
    body = Region()
    builder = Builder(body)
    results = [builder.value(name, params[0], builder.const(divisor, type)) for divisor in divisors]
    builder.op("return", *results)
    module = Module({"f": Function("f", params, (type,) * len(results), body, Scope("f.py", "f", 1))}, "f")
    program = Program.load(module)
    for value in samples(type):
        assert program((value,)) == interpret(module, (value,)), value


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("name", ("div", "rem"))
def test_float_division(name: str, type: Scalar) -> None:
    compare(function_of(name, (type, type)), pairs(type))


@pytest.mark.parametrize("type", (*INTEGERS, *FLOATS), ids=str)
@pytest.mark.parametrize("name", ("neg", "abs"))
def test_unary(name: str, type: Scalar) -> None:
    compare(function_of(name, (type,)), ((value,) for value in samples(type)))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ("not", "popcount", "clz", "ctz", "bitreverse", "bswap"))
def test_bits(name: str, type: Scalar) -> None:
    compare(function_of(name, (type,)), ((value,) for value in samples(type)))


def test_logic() -> None:
    for name in ("and", "or", "xor"):
        compare(function_of(name, (BOOL, BOOL)), pairs(BOOL))
    compare(function_of("not", (BOOL,)), [(False,), (True,)])


@pytest.mark.parametrize("type", SCALARS, ids=str)
@pytest.mark.parametrize("pred", ("eq", "ne", "lt", "le", "gt", "ge"))
def test_cmp(pred: str, type: Scalar) -> None:
    if type.is_complex and pred not in ("eq", "ne"):
        return
    compare(function_of("cmp", (type, type), pred=pred), pairs(type))


@pytest.mark.parametrize("type", SCALARS, ids=str)
def test_select(type: Scalar) -> None:
    inputs = [(c, a, b) for c in (False, True) for a, b in itertools.islice(pairs(type), 40)]
    compare(function_of("select", (BOOL, type, type)), inputs)


@pytest.mark.parametrize("source", SCALARS, ids=str)
def test_cast(source: Scalar) -> None:
    targets = [target for target in SCALARS if target.is_complex == source.is_complex]
    values = samples(source)
    if source.is_float:
        values += [
            127.9,
            -128.9,
            255.5,
            2.0**31,
            -(2.0**31) - 1,
            2.0**63,
            -(2.0**63),
            1.8e19,
            2.0**64,
            -0.9,
            -1.0,
            40000.0,
            2049.0,
        ]
    for target in targets:
        compare(function_of("cast", (source,), type=target), ((value,) for value in values))


@pytest.mark.parametrize(
    "value",
    (1.0009765625 * 1.00048828125, 1.00048828125 + 2.0**-40, 65519.999999, 65520.0, 2.0**-25, 2.0**-25 * 1.0000001),
)
def test_double_to_half_rounds_once(value: float) -> None:
    compare(function_of("cast", (F64,), type=F16), [(value,), (-value,)])


@pytest.mark.parametrize("target", ((I16, F16), (U32, F32), (I64, F64), (F16, U16), (F32, I32), (F64, U64)), ids=str)
def test_bitcast(target: tuple[Scalar, Scalar]) -> None:
    source, result = target
    compare(function_of("bitcast", (source,), type=result), ((value,) for value in samples(source)))


@pytest.mark.parametrize("type", COMPLEXES, ids=str)
def test_complex_parts(type: Scalar) -> None:
    compare(function_of("complex", (type.part, type.part)), itertools.islice(pairs(type.part), 30))
    for name in ("real", "imag"):
        compare(function_of(name, (type,)), ((value,) for value in samples(type)))


#: Relative error that two C libraries, or one and a correctly rounded result, may differ by; f16 is rounded from f32.
_TOLERANCE = {F16: 2**-10, F32: 4 * 2**-23, F64: 8 * 2**-52}
_ARGUMENTS = (*_REALS, 0.3, -0.7, 0.999, 10.0, -4.0, 20.5, 170.0, -1.25)


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_elementary(name: str, type: Scalar) -> None:
    # Near its zeros, lgamma of the C library is accurate in absolute terms only.
    tolerance = _TOLERANCE[type] * (64 if name == "lgamma" else 1)
    compare(function_of(f"math.{name}", (type,)), ((value,) for value in _ARGUMENTS), tolerance)


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_elementary_of_two(name: str, type: Scalar) -> None:
    inputs = list(itertools.product(_ARGUMENTS, _ARGUMENTS))
    if name in ("fmin", "fmax") or (name == "nextafter" and type == F16):  # which of two zeros is left open
        inputs = [(a, b) for a, b in inputs if canonical(type, a) != 0 or canonical(type, b) != 0]
    compare(
        function_of(f"math.{name}", (type, type)),
        inputs,
        0.0 if name in ("nextafter", "copysign") else _TOLERANCE[type],
    )


@pytest.mark.parametrize("type", (F32, F64), ids=str)
def test_fma(type: Scalar) -> None:
    values = (0.1, -3.0, 1e10, 1.0 + 2**-20, math.inf, math.nan, -0.0)
    compare(function_of("math.fma", (type,) * 3), itertools.product(values, repeat=3))


@pytest.mark.parametrize("op", ("mul", "cmp", "cast", "to"))
def test_half_without_instructions(op: str) -> None:
    """On a CPU without conversions of half floats, code of ours converts."""
    options, target = LowerOptions(native_f16=False), target_for("x86-64-v2")
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    if op == "to":
        compare(
            function_of("cast", (F16,), type=F32), ((value,) for value in every[::7]), options=options, target=target
        )
        return
    if op == "cast":
        values = [float(v) * factor for v in every[::97] if np.isfinite(v) for factor in (1.0, 1.0003, 0.9998)]
        for source in (F32, F64):
            compare(function_of("cast", (source,), type=F16), ((v,) for v in values), options=options, target=target)
        return
    attrs = {"pred": "lt"} if op == "cmp" else {}
    compare(function_of(op, (F16, F16), **attrs), pairs(F16), options=options, target=target)
