"""Elementary functions written as QIR, in the reference interpreter: accuracy against mpmath, special values against
the operations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from quadrants.ir.builder import Builder
from quadrants.ir.core import Function, Module, Region, Scope, Value
from quadrants.ir.interp import run
from quadrants.ir.spec import verify
from quadrants.lower import softmath
from quadrants.types import F16, F32, F64, Scalar
from quadrants.types.dtypes import dtype_of

NATIVE = ("math.sqrt", "math.trunc", "math.rint", "math.copysign")
#: The types, and whether the target has float64.
TARGETS = [(F64, True), (F32, True), (F32, False), (F16, False)]
#: The largest error in units of the last place.
BOUND = 2.5

Exact = Callable[..., mpmath.mpf]

#: op -> (the function, where to try it)
UNARY: dict[str, tuple[Exact, float, float]] = {
    "sin": (mpmath.sin, -1e5, 1e5),
    "cos": (mpmath.cos, -1e5, 1e5),
    "tan": (mpmath.tan, -100, 100),
    "exp": (mpmath.exp, -80, 80),
    "exp2": (lambda x: mpmath.power(2, x), -100, 100),
    "expm1": (mpmath.expm1, -5, 5),
    "log": (mpmath.log, 1e-30, 1e5),
    "log2": (lambda x: mpmath.log(x, 2), 1e-3, 100),
    "log10": (mpmath.log10, 1e-3, 100),
    "log1p": (mpmath.log1p, -0.9, 10),
    "asin": (mpmath.asin, -1, 1),
    "acos": (mpmath.acos, -1, 1),
    "atan": (mpmath.atan, -10, 10),
    "sinh": (mpmath.sinh, -80, 80),
    "cosh": (mpmath.cosh, -80, 80),
    "tanh": (mpmath.tanh, -5, 5),
    "asinh": (mpmath.asinh, -1e6, 1e6),
    "acosh": (mpmath.acosh, 1, 1e6),
    "atanh": (mpmath.atanh, -1, 1),
    "erf": (mpmath.erf, -7, 7),
    "erfc": (mpmath.erfc, -5, 9),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), -1e6, 1e6),
}
BINARY: dict[str, Exact] = {"pow": mpmath.power, "hypot": mpmath.hypot, "atan2": mpmath.atan2}


def module(op: str, type: Scalar, arity: int, doubles: bool, expanded: bool = True) -> Module:
    """A function that applies the op, expanded for a target that has little."""
    params = [Value(type) for _ in range(arity)]
    builder = Builder(Region())
    builder.op("return", builder.value(op, *params))
    made = Module({"f": Function("f", params, (type,), builder.region, Scope("f.py", "f", 1))}, "f")
    if expanded:
        softmath.expand(made, lambda name, type: name in NATIVE, doubles)
        verify(made)
        names = {op.name for function in made.functions.values() for op in function.body.walk()}
        assert not names & set(softmath.WRITERS) - set(NATIVE)
    return made


def ulps(found: np.floating, exact: mpmath.mpf) -> float:
    """The error in units of the last place of the exact result."""
    dtype = type(found)
    with np.errstate(over="ignore"):
        near = dtype(float(exact))
    if np.isinf(near) or np.isinf(found) or np.isnan(found):
        return 0.0 if near == found else math.inf
    unit = max(float(np.spacing(np.abs(near))), float(np.finfo(dtype).smallest_subnormal))
    return abs(float((mpmath.mpf(float(found)) - exact) / unit))


def samples(type: Scalar, low: float, high: float, count: int, seed: int) -> list[np.floating]:
    """Numbers of the type, many of them small."""
    rng = np.random.default_rng(seed)
    raw = rng.uniform(low, high, count)
    raw[::3] *= 2.0 ** -rng.integers(0, 20, len(raw[::3]))
    limit = float(np.finfo(dtype_of(type)).max)
    values = np.clip(raw, max(low, -limit), min(high, limit)).astype(dtype_of(type))
    return [value for value in values if low <= value <= high]


@pytest.mark.parametrize(("type", "doubles"), TARGETS, ids=["f64", "f32", "f32-alone", "f16"])
@pytest.mark.parametrize("name", UNARY)
def test_accuracy(name: str, type: Scalar, doubles: bool) -> None:
    exact, low, high = UNARY[name]
    made = module(f"math.{name}", type, 1, doubles)
    with mpmath.workprec(250):
        for x in samples(type, low, high, 25, 1):
            (found,) = run(made, [x])
            assert ulps(found, exact(mpmath.mpf(float(x)))) <= BOUND, (x, found)


@pytest.mark.parametrize(("type", "doubles"), TARGETS[:3], ids=["f64", "f32", "f32-alone"])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_angles_of_every_size(name: str, type: Scalar, doubles: bool) -> None:
    made = module(f"math.{name}", type, 1, doubles)
    rng = np.random.default_rng(2)
    top = 300 if type == F64 else 37
    worst = {F64: 6381956970095103 * 2.0**797, F32: 16367173 * 2.0**72}[type]  # nearest to a multiple of pi / 2
    angles = [worst, *(rng.standard_normal(25) * 10.0 ** rng.integers(0, top, 25)), float(np.finfo(dtype_of(type)).max)]
    with mpmath.workprec(1300):
        for angle in angles:
            x = dtype_of(type).type(angle)
            (found,) = run(made, [x])
            assert ulps(found, getattr(mpmath, name)(mpmath.mpf(float(x)))) <= BOUND, (x, found)


@pytest.mark.parametrize(("type", "doubles"), TARGETS, ids=["f64", "f32", "f32-alone", "f16"])
@pytest.mark.parametrize("name", BINARY)
def test_accuracy_of_two_operands(name: str, type: Scalar, doubles: bool) -> None:
    made = module(f"math.{name}", type, 2, doubles)
    first = samples(type, 0 if name == "pow" else -10, 50, 40, 3)
    with mpmath.workprec(250):
        for x, y in zip(first, samples(type, -8, 8, 40, 4)):
            (found,) = run(made, [x, y])
            expected = BINARY[name](mpmath.mpf(float(x)), mpmath.mpf(float(y)))
            assert ulps(found, expected) <= BOUND, (x, y, found)


@pytest.mark.parametrize(
    ("type", "doubles", "bound"), [(F64, True, 8), (F32, True, 1), (F32, False, 60)], ids=["f64", "f32", "f32-alone"]
)
def test_gamma(type: Scalar, doubles: bool, bound: float) -> None:
    made, logarithm = (module(f"math.{name}", type, 1, doubles) for name in ("gamma", "lgamma"))
    top = 170 if type == F64 else 34
    with mpmath.workprec(250):
        for x in [*samples(type, -20, top, 30, 7), *(dtype_of(type).type(n) for n in (1, 2, 3, 5, 20))]:
            exact = mpmath.mpf(float(x))
            assert ulps(run(made, [x])[0], mpmath.gamma(exact)) <= bound, x
            expected = mpmath.log(abs(mpmath.gamma(exact)))
            near = max(1.0, abs(float(exact)) * 4)
            error = abs(float(mpmath.mpf(float(run(logarithm, [x])[0])) - expected))
            assert error <= 16 * near * float(np.finfo(dtype_of(type)).eps), x


def edges(type: Scalar) -> list[np.floating]:
    info = np.finfo(dtype_of(type))
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 100.0, info.max, info.tiny, info.smallest_subnormal, math.inf]
    return [dtype_of(type).type(sign * float(value)) for value in values for sign in (1, -1)] + [
        dtype_of(type).type(math.nan)
    ]


def same(found: np.floating, expected: np.floating, within: float) -> bool:
    """Alike in sign, NaN and infinities, and within some units."""
    if np.isnan(expected) or np.isinf(expected):
        return bool(np.isnan(found) if np.isnan(expected) else found == expected)
    if np.signbit(found) != np.signbit(expected):
        return False
    return ulps(found, mpmath.mpf(float(expected))) <= within


@pytest.mark.parametrize(("type", "doubles"), TARGETS, ids=["f64", "f32", "f32-alone", "f16"])
@pytest.mark.parametrize("name", softmath.WRITERS)
def test_special_values(name: str, type: Scalar, doubles: bool) -> None:
    alone = (*UNARY, "gamma", "lgamma")
    arity = 3 if name == "math.fma" else 1 if name.removeprefix("math.") in alone else 2
    made, plain = module(name, type, arity, doubles), module(name, type, arity, doubles, expanded=False)
    values = edges(type)[::arity] if arity < 3 else edges(type)[::4]
    within = 60.0 if name.endswith("gamma") else 0.0 if name in ("rem", "math.nextafter") else BOUND + 1
    for args in itertools.product(values, repeat=arity):
        if name == "rem" and 0 < abs(args[1]) < 1 and 1e9 < abs(args[0]) < math.inf and type == F64:
            continue  # thousands of turns in the interpreter
        (found,), (expected,) = run(made, args), run(plain, args)
        if name == "math.gamma" and -1e-6 < args[0] < 0:
            continue  # the reference does not tell the signs of infinities apart
        if name == "math.fma" and _at_the_ends(args, expected):
            continue  # where a part overflows or is lost, it is rounded twice
        assert same(found, expected, within), (args, found, expected)


def _at_the_ends(args: tuple[np.floating, ...], expected: np.floating) -> bool:
    sizes = [abs(float(x)) for x in (*args, expected) if np.isfinite(x) and x != 0]
    info = np.finfo(type(expected))
    return any(size > float(info.max) / 4 or size < float(info.tiny) * 2 for size in sizes)


@pytest.mark.parametrize("type", [F16, F32, F64])
def test_remainders_are_exact(type: Scalar) -> None:
    made = module("rem", type, 2, True)
    rng = np.random.default_rng(5)
    for _ in range(120):
        a, b = (dtype_of(type).type(rng.standard_normal() * 2.0 ** rng.integers(-10, 12)) for _ in range(2))
        assert run(made, [a, b])[0] == np.fmod(a, b)


@pytest.mark.parametrize(("type", "doubles"), [(F64, True), (F32, True), (F32, False)])
def test_products_with_a_sum_are_rounded_once(type: Scalar, doubles: bool) -> None:
    made, plain = module("math.fma", type, 3, doubles), module("math.fma", type, 3, doubles, expanded=False)
    rng = np.random.default_rng(6)
    for _ in range(150):
        a, b = (dtype_of(type).type(rng.standard_normal()) for _ in range(2))
        c = -a * b if rng.random() < 0.5 else dtype_of(type).type(rng.standard_normal() * 2.0 ** rng.integers(-60, 5))
        assert run(made, [a, b, c]) == run(plain, [a, b, c])
