"""Elementary functions in loops: right to a few units in the last place, on every level of the instruction set."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import scipy.special  # type: ignore[import-untyped]
from lower.vectors import LEVELS, Case, agree, compute, errors, level, mapped, samples, special_values

import quadrants as qd
from quadrants.host import codegen
from quadrants.host.target import Target, architecture, target_for
from quadrants.library import raw
from quadrants.lower import vectormath

__all__ = ["level"]

_ANGLES = ((-1e-3, 1e-3), (-4.0, 4.0), (-100.0, 100.0), (-1e6, 1e6), (-1e9, 1e9))
_POWERS = ((0.5, 2.0), (0.9, 1.1), (1e-3, 1e3))
_LOGARITHMS = {64: (*_POWERS, (1e-310, 1e300)), 32: (*_POWERS, (1e-44, 1e38))}

CASES: dict[str, Case] = {
    "sin": Case(np.sin, mpmath.sin, 3.0, {64: _ANGLES, 32: _ANGLES}),
    "cos": Case(np.cos, mpmath.cos, 3.0, {64: _ANGLES, 32: _ANGLES}),
    "exp": Case(
        np.exp,
        mpmath.exp,
        1.5,
        {64: ((-1.0, 1.0), (-708.0, 709.7), (-745.0, -708.0)), 32: ((-1.0, 1.0), (-87.0, 88.7), (-103.0, -87.0))},
    ),
    "exp2": Case(
        np.exp2,
        lambda x: mpmath.mpf(2) ** x,
        1.5,
        {
            64: ((-1.0, 1.0), (-1022.0, 1023.9), (-1074.0, -1022.0)),
            32: ((-1.0, 1.0), (-126.0, 127.9), (-149.0, -126.0)),
        },
    ),
    "expm1": Case(
        np.expm1,
        mpmath.expm1,
        2.0,
        {64: ((-1e-3, 1e-3), (-2.0, 2.0), (-50.0, 709.7)), 32: ((-1e-3, 1e-3), (-2.0, 2.0), (-30.0, 88.7))},
    ),
    "tanh": Case(
        np.tanh, mpmath.tanh, 3.0, dict.fromkeys((64, 32), ((-1e-3, 1e-3), (-0.1, 0.1), (-1.0, 1.0), (-25.0, 25.0)))
    ),
    "log": Case(np.log, mpmath.log, 1.5, _LOGARITHMS),
    "log2": Case(np.log2, lambda x: mpmath.log(x, 2), 2.5, _LOGARITHMS),
    "log10": Case(np.log10, mpmath.log10, 2.5, _LOGARITHMS),
    "log1p": Case(
        np.log1p,
        mpmath.log1p,
        1.5,
        {
            64: ((-1e-3, 1e-3), (-0.5, 1.0), (-0.999999, 5.0), (1e-3, 1e300)),
            32: ((-1e-3, 1e-3), (-0.5, 1.0), (-0.9999, 5.0), (1e-3, 1e38)),
        },
    ),
    "atan": Case(
        np.arctan,
        mpmath.atan,
        2.5,
        dict.fromkeys((64, 32), ((-1e-3, 1e-3), (-0.5, 0.5), (0.41, 0.43), (-3.0, 3.0), (1e-3, 1e30))),
    ),
}

_BOTH_SIDES = ((-1e-3, 1e-3), (-1.0, 1.0), (0.49, 0.51), (0.99, 1.0), (-1.0, -0.99))
_HYPERBOLIC = {
    64: ((-1e-3, 1e-3), (-1.1, 1.1), (-30.0, 30.0), (-710.4, 710.4)),
    32: ((-1e-3, 1e-3), (-1.1, 1.1), (-89.4, 89.4)),
}
_ERRORS = ((-1e-3, 1e-3), (-1.0, 1.0), (0.9, 1.1), (-7.0, 9.0))

CASES |= {
    "tan": Case(np.tan, mpmath.tan, 3.5, {64: ((-0.8, 0.8), *_ANGLES), 32: ((-0.8, 0.8), *_ANGLES)}),
    "asin": Case(np.arcsin, mpmath.asin, 2.5, dict.fromkeys((64, 32), _BOTH_SIDES)),
    "acos": Case(np.arccos, mpmath.acos, 1.5, dict.fromkeys((64, 32), _BOTH_SIDES)),
    "sinh": Case(np.sinh, mpmath.sinh, 2.0, _HYPERBOLIC),
    "cosh": Case(np.cosh, mpmath.cosh, 1.5, _HYPERBOLIC),
    "cbrt": Case(
        np.cbrt,
        lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
        1.0,
        {64: ((-2.0, 2.0), (1e-3, 1e3), (1e-310, 1e300)), 32: ((-2.0, 2.0), (1e-3, 1e3), (1e-44, 1e38))},
    ),
    "erf": Case(scipy.special.erf, mpmath.erf, 1.5, dict.fromkeys((64, 32), _ERRORS), raw.erf),
    "erfc": Case(
        scipy.special.erfc, mpmath.erfc, 3.5, {64: (*_ERRORS, (9.0, 26.0)), 32: (*_ERRORS, (5.0, 9.1))}, raw.erfc
    ),
}

PARAMS = [(name, bits) for name in CASES for bits in (64, 32)]


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_results_are_near_the_exact_ones(name: str, bits: int, level: str) -> None:
    case = CASES[name]
    kernel = mapped(case.function)
    for low, high in case.ranges[bits]:
        x = samples(low, high, 512, bits)
        assert errors(case, compute(kernel, x), x).max() <= case.bound, (low, high)


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_special_values(name: str, bits: int, level: str) -> None:
    case = CASES[name]
    x = special_values(bits)
    y = compute(mapped(case.function), x)
    with np.errstate(all="ignore"):
        expected = case.ufunc(x)
    wrong = ~agree(y, expected, case.bound + 1)
    assert not wrong.any(), [*zip(x[wrong][:5], y[wrong], expected[wrong])]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_results_are_near_the_exact_ones(name: str, level: str) -> None:
    case = CASES[name]
    kernel = mapped(case.function)
    for low, high in case.ranges[64]:
        x = samples(low, high, 20_000, 64, seed=1)
        assert errors(case, compute(kernel, x), x).max() <= case.bound, (low, high)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_floats_of_every_exponent(name: str, level: str) -> None:
    """Every 61st of all float32 numbers; nan, infinities and zeros included."""
    case = CASES[name]
    kernel = mapped(case.function)
    for start in range(0, 1 << 32, 1 << 28):
        x = np.arange(start, start + (1 << 28), 61, dtype=np.uint64).astype(np.uint32).view(np.float32)
        y = compute(kernel, x)
        with np.errstate(all="ignore"):
            exact = case.ufunc(x.astype(np.float64))
            expected = exact.astype(np.float32)
            near = np.abs(y.astype(np.float64) - exact) <= case.bound * np.spacing(np.abs(expected))
        wrong = ~(near | (y == expected) | (np.isnan(y) & np.isnan(expected)))
        assert not wrong.any(), [*zip(x[wrong][:5], y[wrong], expected[wrong])]


def test_every_enabled_function_is_tested() -> None:
    pairs = ("pow", "atan2", "hypot", "fmod")
    assert set(vectormath.ENABLED) == {*PARAMS, *((name, bits) for name in pairs for bits in (64, 32))}


@pytest.mark.parametrize(("name", "bits"), PARAMS)
def test_loops_vectorise(name: str, bits: int, level: str) -> None:
    kernel = mapped(CASES[name].function)
    compute(kernel, np.ones(64, dtype=f"f{bits // 8}"))
    text = str(kernel.explain())
    assert "vectorised: " in text and "one element at a time" not in text


@pytest.mark.parametrize("bits", [64, 32])
def test_conditional_calls_vectorise(bits: int, level: str) -> None:
    def kernel(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.shape[0]):
            if x[i] > 1:
                out[i] = np.log(x[i])
            else:
                out[i] = -1

    compiled = qd.njit(cache=False)(kernel)
    x = samples(-5.0, 5.0, 500, bits)
    y = compute(compiled, x)
    with np.errstate(all="ignore"):
        expected = np.where(x > 1, np.log(x), -1).astype(x.dtype)
    assert agree(y, expected, 2).all()


@pytest.mark.parametrize("name", CASES)
def test_strict_code_calls_the_c_library(name: str) -> None:
    case = CASES[name]
    kernel = mapped(case.function, fp="strict")
    x = samples(*case.ranges[64][1], 100, 64)
    if hasattr(math, name):
        assert np.array_equal(compute(kernel, x), [getattr(math, name)(v) for v in x]) or name == "exp2"
    text = str(kernel.explain())
    assert "one element at a time by the C library, as fp='strict' asks for" in text


def test_code_without_loops_mentions_no_vector_function() -> None:
    compiled = qd.njit(cache=False)(lambda x: np.sin(x) + np.exp(x))
    compiled(1.0)
    assert "qd.vec" not in str(compiled.inspect_llvm())


def test_a_large_angle_among_small_ones_is_right(level: str) -> None:
    x = np.full(64, 0.5)
    x[13] = 1e22
    y = compute(mapped(np.sin), x)
    assert abs(y[13] - float(mpmath.sin(mpmath.mpf(10) ** 22))) < 1e-15
    assert np.allclose(np.delete(y, 13), math.sin(0.5), rtol=1e-15)


def test_definitions_exist_for_what_the_text_calls_only() -> None:
    text = "  %r = call <8 x double> @qd.vec.exp.64.8(<8 x double> %x)\n declare <4 x double> @qd.vec.exp.64.4(...)"
    assert vectormath.called(text) == ("qd.vec.exp.64.8",)
    defined = vectormath.definitions(vectormath.called(text))
    assert "@qd.vec.exp.64.8(" in defined and "qd.vec.exp.64.4" not in defined


def test_vectors_are_as_wide_as_the_registers() -> None:
    if architecture() == "x86_64":
        widths = {level: target_for(level).vector_bits for level in LEVELS}
        assert widths == {key: {"x86-64": 128, "x86-64-v3": 256, "x86-64-v4": 512}[key] for key in LEVELS}
    assert vectormath.lanes(64, 512) == (2, 4, 8) and vectormath.lanes(32, 128) == (4,)


ARM = Target("aarch64", "aarch64-unknown-linux-gnu", "armv8-a", True, "aarch64:armv8-a")


def test_the_names_are_those_of_the_functions() -> None:
    assert set(vectormath.ENABLED) == vectormath.NAMES


@pytest.mark.parametrize("name", sorted({name for name, _ in vectormath.ENABLED}))
def test_functions_are_inlined_on_arm64(name: str) -> None:
    """Nothing is called but the C library's function, for lanes out of range."""
    function = vectormath.ENABLED[name, 32]
    for declared in vectormath.declarations(name, 32, function.arity, 128):
        operands = ["<4 x float> %x"] * function.arity + ["<4 x i1> %k"] * declared.name.endswith("m")
        text = f"""{declared.text}
define void @f(ptr %p) {{
  %x = load <4 x float>, ptr %p
  %k = fcmp ogt <4 x float> %x, zeroinitializer
  %r = call <4 x float> @{declared.name}({", ".join(operands)})
  store <4 x float> %r, ptr %p
  ret void
}}
"""
        lines = codegen.assembly(text, target=ARM).splitlines()
        called = {line.split()[-1] for line in lines if line.strip().startswith("bl\t")}
        lanes = f"qd.vec.{name}.32.4.lanes"
        assert called == (set() if function.outside is None else {lanes, f"{name}f"})
