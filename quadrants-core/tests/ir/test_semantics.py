"""The reference semantics against an independent evaluation: Python's exact integers and fractions, NumPy, mpmath."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from ir.observation import same_value

from quadrants.ir.builder import Builder
from quadrants.ir.core import Region, Value
from quadrants.ir.ops.math import BINARY, UNARY
from quadrants.ir.rewrite import constant, evaluate
from quadrants.ir.rounding import round_to
from quadrants.ir.values import canonical
from quadrants.types import BOOL, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Scalar
from quadrants.types.dtypes import dtype_of

INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (F16, F32, F64)


def compute(name: str, types: tuple[Scalar, ...], values: tuple[Any, ...], **attrs: Any) -> Any:
    """The result of one op on machine values."""
    op = Builder(Region()).op(name, *map(Value, types), **attrs)
    results = evaluate(op, [canonical(type, value) for type, value in zip(types, values)])
    assert results is not None
    return results[0]


def limits(type: Scalar) -> tuple[int, int]:
    low = -(1 << (type.bits - 1)) if type.is_signed else 0
    return low, low + (1 << type.bits) - 1


def integers(type: Scalar) -> st.SearchStrategy[int]:
    low, high = limits(type)
    edges = [low, low + 1, high - 1, high, 0, 1, type.bits - 1, type.bits] + ([-1, -2] if low else [])
    return st.one_of(st.sampled_from(edges), st.integers(low, high))


def floats(type: Scalar) -> st.SearchStrategy[float]:
    return st.floats(width=type.bits)  # type: ignore[arg-type]


@st.composite
def integer_pairs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[Scalar, int, int]:
    type = draw(st.sampled_from(INTEGERS))
    return type, draw(integers(type)), draw(integers(type))


def modulo(value: int, type: Scalar) -> int:
    low, high = limits(type)
    return (value - low) % (high - low + 1) + low


@given(integer_pairs())
@example((I8, -128, -1))
@example((I64, -(2**63), -1))
@example((I64, 5, 0))
@example((U64, 2**64 - 1, 2**64 - 1))
def test_integer_arithmetic(case: tuple[Scalar, int, int]) -> None:
    type, a, b = case
    exact = {"add": a + b, "sub": a - b, "mul": a * b}
    for name, value in exact.items():
        assert compute(name, (type, type), (a, b)) == modulo(value, type)
    assert compute("neg", (type,), (a,)) == modulo(-a, type)
    assert compute("abs", (type,), (a,)) == modulo(abs(a), type)
    assert compute("min", (type, type), (a, b)) == min(a, b)
    assert compute("max", (type, type), (a, b)) == max(a, b)
    quotient = math.floor(Fraction(a, b)) if b else 0
    assert compute("floordiv", (type, type), (a, b)) == modulo(quotient, type)
    assert compute("mod", (type, type), (a, b)) == (a - quotient * b if b else 0)


@given(integer_pairs())
def test_bits(case: tuple[Scalar, int, int]) -> None:
    type, a, b = case
    text = format(a % (1 << type.bits), f"0{type.bits}b")
    assert compute("popcount", (type,), (a,)) == text.count("1")
    assert compute("clz", (type,), (a,)) == len(text) - len(text.lstrip("0"))
    assert compute("ctz", (type,), (a,)) == len(text) - len(text.rstrip("0"))
    assert compute("bitreverse", (type,), (a,)) == modulo(int(text[::-1], 2), type)
    swapped = "".join(reversed([text[i : i + 8] for i in range(0, len(text), 8)]))
    assert compute("bswap", (type,), (a,)) == modulo(int(swapped, 2), type)
    dtype = dtype_of(type).type
    x, y = np.array([a], dtype), np.array([b], dtype)
    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        assert compute(name, (type, type), (a, b)) == function(x, y)[0]
    assert compute("not", (type,), (a,)) == (~x)[0]


@given(integer_pairs())
@example((I32, -5, 32))
@example((I32, -5, -1))
@example((U8, 200, 8))
def test_shifts(case: tuple[Scalar, int, int]) -> None:
    type, a, count = case
    inside = 0 <= count < type.bits
    assert compute("shl", (type, type), (a, count)) == (modulo(a * 2**count, type) if inside else 0)
    beyond = -1 if a < 0 else 0
    assert compute("shr", (type, type), (a, count)) == (math.floor(Fraction(a, 2**count)) if inside else beyond)


def _from_real(exact: Fraction, type: Scalar) -> float:
    """The correctly rounded float, found by bisection over the bit patterns: independent of `rounding`."""
    code = {16: "e", 32: "f", 64: "d"}[type.bits]
    whole = {16: "H", 32: "I", 64: "Q"}[type.bits]

    def at(pattern: int) -> Fraction:
        return Fraction(struct.unpack(code, struct.pack(whole, pattern))[0])

    infinity = int.from_bytes(struct.pack(f"<{code}", math.inf), "little")
    low, high, size = 0, infinity - 1, abs(exact)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if at(middle) <= size else (low, middle - 1)
    step = at(infinity - 1) - at(infinity - 2)
    above = at(low + 1) if low + 1 < infinity else at(infinity - 1) + step
    below_gap, above_gap = size - at(low), above - size
    up = above_gap < below_gap or (above_gap == below_gap and low % 2 == 1)
    pattern = low + 1 if up else low
    value = struct.unpack(code, struct.pack(whole, pattern))[0]
    return math.copysign(value, -1.0 if exact < 0 else 1.0)


@given(st.sampled_from(FLOATS), st.fractions())
@example(F16, Fraction(65519))
@example(F16, Fraction(65520))
@example(F32, Fraction(2**24 + 1))
@example(F16, Fraction(1, 2**25))
@example(F16, Fraction(3, 2**25))
def test_rounding(type: Scalar, value: Fraction) -> None:
    assert round_to(value, type.bits) == _from_real(value, type)


@st.composite
def float_pairs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[Scalar, float, float]:
    type = draw(st.sampled_from(FLOATS))
    return type, draw(floats(type)), draw(floats(type))


@given(float_pairs())
@example((F16, 65504.0, 65504.0))
@example((F32, 2.0**-149, 0.5))
@example((F64, 0.0, -0.0))
@example((F64, math.inf, math.inf))
@example((F32, math.nan, 1.0))
def test_float_arithmetic(case: tuple[Scalar, float, float]) -> None:
    type, a, b = case
    make = dtype_of(type).type
    if math.isfinite(a) and math.isfinite(b):
        x, y = Fraction(a), Fraction(b)
        exact = {"add": x + y, "sub": x - y, "mul": x * y} | ({"div": x / y} if b else {})
        for name, value in exact.items():
            if value:  # the sign of an exact zero is looked at below
                assert same_value(compute(name, (type, type), (a, b)), make(_from_real(value, type))), name
        if b:
            expected = make(math.fmod(a, b))
            assert same_value(compute("rem", (type, type), (a, b)), expected)
    with np.errstate(all="ignore"):
        p, q = np.array([a], make), np.array([b], make)
        for name, array in (
            ("add", p + q),
            ("sub", p - q),
            ("mul", p * q),
            ("div", p / q),
            ("neg", -p),
            ("abs", abs(p)),
        ):
            arity = 1 if name in ("neg", "abs") else 2
            assert same_value(compute(name, (type,) * arity, (a, b)[:arity]), array[0]), name
    assert same_value(compute("min", (type, type), (a, b)), make(a if a < b else b))
    assert same_value(compute("max", (type, type), (a, b)), make(a if a > b else b))
    ordered = not (math.isnan(a) or math.isnan(b))
    expected_order = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    for pred, truth in expected_order.items():
        assert compute("cmp", (type, type), (a, b), pred=pred) is truth
        assert ordered or truth is (pred == "ne")


@given(st.sampled_from(FLOATS), st.data())
def test_fma(type: Scalar, data: st.DataObject) -> None:
    a, b, c = (data.draw(floats(type)) for _ in range(3))
    found = compute("math.fma", (type,) * 3, (a, b, c))
    if not all(map(math.isfinite, (a, b, c))):
        with np.errstate(all="ignore"):
            if math.isfinite(a) and math.isfinite(b):
                assert same_value(found, dtype_of(type).type(c))
            else:
                assert same_value(found, dtype_of(type).type(np.float64(a) * np.float64(b) + np.float64(c)))
        return
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact and type.bits > 16:
        assert same_value(found, dtype_of(type).type(_from_real(exact, type)))
    elif exact:
        with np.errstate(over="ignore"):
            assert same_value(found, np.float16(np.float32(_from_real(exact, F32))))


@given(integer_pairs(), st.sampled_from((*INTEGERS, BOOL)))
def test_casts_of_integers(case: tuple[Scalar, int, int], target: Scalar) -> None:
    type, a, _ = case
    found = compute("cast", (type,), (a,), type=target)
    assert found == (a != 0 if target.is_bool else modulo(a, target))


@given(integer_pairs(), st.sampled_from(FLOATS))
@example((I64, 2**63 - 1, 0), F32)
@example((I64, 2**24 + 1, 0), F32)
@example((U64, 2**64 - 1, 0), F16)
@example((I32, 65519, 0), F16)
def test_casts_to_float(case: tuple[Scalar, int, int], target: Scalar) -> None:
    type, a, _ = case
    found = compute("cast", (type,), (a,), type=target)
    assert type_of(found) is target
    assert float(found) == (_from_real(Fraction(a), target) if a else 0.0)


def type_of(value: Any) -> Scalar:
    return {np.float16: F16, np.float32: F32, np.float64: F64}[type(value)]


@given(float_pairs(), st.sampled_from(INTEGERS))
@example((F64, 2.0**63, 0), I64)
@example((F64, -(2.0**63), 0), I64)
@example((F64, 2.0**64, 0), U64)
@example((F64, 2.0**63, 0), U64)
@example((F64, -1.0, 0), U64)
@example((F64, -0.5, 0), U64)
@example((F64, 300.7, 0), U8)
@example((F64, -1.0, 0), U8)
@example((F64, math.nan, 0), I32)
@example((F32, math.inf, 0), I64)
@example((F64, 1e300, 0), I8)
def test_casts_to_integer(case: tuple[Scalar, float, float], target: Scalar) -> None:
    type, a, _ = case
    low, high = (0, 2**64 - 1) if target is U64 else (-(2**63), 2**63 - 1)
    whole = int(a) if math.isfinite(a) else None
    expected = whole if whole is not None and low <= whole <= high else -(2**63)
    assert compute("cast", (type,), (a,), type=target) == modulo(expected, target)


@given(float_pairs(), st.sampled_from(FLOATS))
@example((F64, 65520.0, 0), F16)
@example((F64, 1e-8, 0), F16)
def test_casts_between_floats(case: tuple[Scalar, float, float], target: Scalar) -> None:
    type, a, _ = case
    found = compute("cast", (type,), (a,), type=target)
    if math.isfinite(a) and a:
        assert same_value(found, dtype_of(target).type(_from_real(Fraction(a), target)))
    else:
        assert same_value(found, dtype_of(target).type(a))
    assert compute("cast", (type,), (a,), type=BOOL) is (a != 0)
    assert same_value(compute("cast", (BOOL,), (True,), type=type), dtype_of(type).type(1))


@given(float_pairs())
def test_bitcasts(case: tuple[Scalar, float, float]) -> None:
    type, a, _ = case
    code, whole, integer = {16: ("e", "h", I16), 32: ("f", "i", I32), 64: ("d", "q", I64)}[type.bits]
    bits = struct.unpack(whole, struct.pack(code, a))[0]
    if not math.isnan(a):
        assert compute("bitcast", (type,), (a,), type=integer) == bits
    assert same_value(compute("bitcast", (integer,), (bits,), type=type), dtype_of(type).type(a))


@given(st.floats(), st.floats())
def test_complex_parts(re: float, im: float) -> None:
    value = compute("complex", (F64, F64), (re, im))
    assert same_value(value.real, np.float64(re)) and same_value(value.imag, np.float64(im))
    assert same_value(compute("imag", (C128,), (value,)), np.float64(im))
    assert same_value(compute("real", (C128,), (value,)), np.float64(re))
    assert compute("cmp", (C128, C128), (value, value), pred="eq") is (re == re and im == im)
    narrow = compute("cast", (C128,), (value,), type=C64)
    with np.errstate(all="ignore"):
        assert same_value(narrow.real, np.float32(re)) and same_value(narrow.imag, np.float32(im))


@given(st.booleans(), st.booleans())
def test_logic(a: bool, b: bool) -> None:
    assert compute("and", (BOOL, BOOL), (a, b)) is (a and b)
    assert compute("or", (BOOL, BOOL), (a, b)) is (a or b)
    assert compute("xor", (BOOL, BOOL), (a, b)) is (a != b)
    assert compute("not", (BOOL,), (a,)) is (not a)
    assert compute("cmp", (BOOL, BOOL), (a, b), pred="lt") is (a < b)
    assert compute("select", (BOOL, I8, I8), (a, 1, 2)) == (1 if a else 2)


#: name -> (mpmath's function, the range to try)
_SMOOTH: dict[str, tuple[Callable[..., Any], float, float]] = {
    "sqrt": (mpmath.sqrt, 0, 1e6),
    "sin": (mpmath.sin, -1e3, 1e3),
    "cos": (mpmath.cos, -1e3, 1e3),
    "tan": (mpmath.tan, -1.5, 1.5),
    "asin": (mpmath.asin, -1, 1),
    "acos": (mpmath.acos, -1, 1),
    "atan": (mpmath.atan, -1e3, 1e3),
    "sinh": (mpmath.sinh, -300, 300),
    "cosh": (mpmath.cosh, -300, 300),
    "tanh": (mpmath.tanh, -20, 20),
    "asinh": (mpmath.asinh, -1e3, 1e3),
    "acosh": (mpmath.acosh, 1, 1e3),
    "atanh": (mpmath.atanh, -0.999, 0.999),
    "exp": (mpmath.exp, -600, 600),
    "exp2": (lambda x: mpmath.power(2, x), -900, 900),
    "expm1": (mpmath.expm1, -30, 30),
    "log": (mpmath.log, 1e-9, 1e9),
    "log2": (lambda x: mpmath.log(x, 2), 1e-9, 1e9),
    "log10": (mpmath.log10, 1e-9, 1e9),
    "log1p": (mpmath.log1p, -0.999, 1e9),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), -1e6, 1e6),
    "erf": (mpmath.erf, -5, 5),
    "erfc": (mpmath.erfc, -5, 20),
    "gamma": (mpmath.gamma, 0.01, 150),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), 3, 1e3),
    "floor": (mpmath.floor, -1e6, 1e6),
    "ceil": (mpmath.ceil, -1e6, 1e6),
    "trunc": (lambda x: mpmath.floor(abs(x)) * mpmath.sign(x), -1e6, 1e6),
    "rint": (mpmath.nint, -1e6, 1e6),
}


@pytest.mark.parametrize("name", UNARY)
def test_elementary_functions(name: str) -> None:
    function, low, high = _SMOOTH[name]
    random = np.random.default_rng(5)
    with mpmath.workprec(200):
        for value in random.uniform(low, high, 60):
            exact = function(mpmath.mpf(float(value)))
            found = mpmath.mpf(float(compute(f"math.{name}", (F64,), (value,))))
            assert abs(found - exact) <= abs(exact) * mpmath.mpf(2) ** -49 + mpmath.mpf(2) ** -1070, (name, value)
            single = np.float32(value)
            if low <= single <= high:
                exact32 = float(function(mpmath.mpf(float(single))))
                if abs(exact32) > float(np.finfo(np.float32).max):
                    exact32 = math.copysign(math.inf, exact32)
                    assert compute(f"math.{name}", (F32,), (single,)) == exact32
                    continue
                assert (
                    abs(float(compute(f"math.{name}", (F32,), (single,))) - exact32)
                    <= abs(exact32) * 2.0**-23 + 2.0**-148
                )


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("sqrt", (-1.0,), math.nan),
        ("sqrt", (-0.0,), -0.0),
        ("log", (0.0,), -math.inf),
        ("log", (-1.0,), math.nan),
        ("log1p", (-1.0,), -math.inf),
        ("atanh", (1.0,), math.inf),
        ("exp", (1000.0,), math.inf),
        ("exp", (-math.inf,), 0.0),
        ("asin", (2.0,), math.nan),
        ("sin", (math.inf,), math.nan),
        ("gamma", (0.0,), math.inf),
        ("gamma", (-0.0,), -math.inf),
        ("gamma", (-1.0,), math.nan),
        ("gamma", (-math.inf,), math.nan),
        ("gamma", (172.0,), math.inf),
        ("lgamma", (-2.0,), math.inf),
        ("lgamma", (-math.inf,), math.inf),
        ("rint", (2.5,), 2.0),
        ("rint", (-0.4,), -0.0),
        ("floor", (-0.5,), -1.0),
        ("ceil", (-0.5,), -0.0),
        ("pow", (0.0, 0.0), 1.0),
        ("pow", (math.nan, 0.0), 1.0),
        ("pow", (-8.0, 1 / 3), math.nan),
        ("pow", (0.0, -1.0), math.inf),
        ("pow", (-2.0, 3.0), -8.0),
        ("atan2", (0.0, -1.0), math.pi),
        ("atan2", (-0.0, -0.0), -math.pi),
        ("hypot", (math.inf, math.nan), math.inf),
        ("hypot", (3 * 2.0**600, 4 * 2.0**600), 5 * 2.0**600),
        ("copysign", (3.0, -0.0), -3.0),
        ("nextafter", (0.0, 1.0), 5e-324),
        ("fmin", (math.nan, 1.0), 1.0),
        ("fmax", (1.0, math.nan), 1.0),
        ("fmin", (math.nan, math.nan), math.nan),
        ("fma", (math.inf, 0.0, 1.0), math.nan),
        ("fma", (1.0, 2.0, math.inf), math.inf),
        ("fma", (1.0, -0.0, -0.0), -0.0),
        ("fma", (1e308, 10.0, -1e308), math.inf),
    ],
)
def test_special_values(name: str, values: tuple[float, ...], expected: float) -> None:
    assert same_value(compute(f"math.{name}", (F64,) * len(values), values), np.float64(expected))


def test_functions_keep_the_width() -> None:
    for name in (*UNARY, *BINARY):
        values = (0.5,) * (2 if name in BINARY else 1)
        for type in FLOATS:
            if name != "acosh":
                assert type_of(compute(f"math.{name}", (type,) * len(values), values)) is type
    assert compute("math.nextafter", (F16, F16), (1.0, 2.0)) == np.float16(1.001)


def test_promises_are_checked() -> None:
    builder = Builder(Region())
    op = builder.op("add", Value(I8), Value(I8), nowrap=True)
    assert evaluate(op, (100, 27)) == (127,)
    assert evaluate(op, (100, 28)) is None
    op = builder.op("floordiv", Value(I8), Value(I8), nonzero=True)
    assert evaluate(op, (7, -2)) == (-4,)
    assert evaluate(op, (7, 0)) is None


@given(st.sampled_from((*INTEGERS, *FLOATS, BOOL, C64, C128)), st.integers(-(2**63), 2**64), st.floats())
def test_constants_keep_the_value(type: Scalar, whole: int, real: float) -> None:
    with np.errstate(over="ignore"):
        value = canonical(type, real if type.is_float or type.is_complex else whole)
    op = constant(value, type)
    results = evaluate(op, ())
    assert results is not None and same_value(results[0], value)
