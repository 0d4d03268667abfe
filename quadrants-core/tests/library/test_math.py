"""`math`, `cmath` and scalar arithmetic against the interpreter, with its exceptions."""

from __future__ import annotations

import cmath
import math
import operator
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library.modes import check

from quadrants.library import complex_ufuncs, complexes, integers, pymath, raw, registry, rounding, scalars

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.0, 2.0, 3.0, 10.0, 1e-300, -1e-300, 5e-324, 1e300, -1e300, 710.0, -710.0,
    1e16, 172.0, -170.5, 0.1, math.inf, -math.inf, math.nan, 1e308, 0.7, 1000.0,
)  # fmt: skip

UNARY = (
    "sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt erf erfc "
    "gamma lgamma fabs isnan isinf isfinite floor ceil trunc degrees radians modf frexp ulp"
).split()
BINARY = "atan2 pow copysign nextafter fmod remainder hypot log isclose".split()

floats = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize("name", UNARY)
def test_unary(mode, name):
    original = getattr(math, name)
    for x in SPECIAL:
        if name in ("floor", "ceil", "trunc") and 2.0**63 <= abs(x) < math.inf:
            continue  # integers have 64 bits
        check(mode, original, x, rtol=4e-15)


@pytest.mark.parametrize("name", BINARY)
def test_binary(mode, name):
    original = getattr(math, name)
    values = SPECIAL if mode == "python" else SPECIAL[::5]
    for x in values:
        for y in values:
            check(mode, original, x, y, rtol=4e-15)


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=60, deadline=None)
@given(x=floats)
def test_unary_property(name, x):
    if not (name in ("floor", "ceil", "trunc") and 2.0**63 <= abs(x) < math.inf):
        check("python", getattr(math, name), x, rtol=1e-14)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=60, deadline=None)
@given(x=floats, y=floats)
def test_binary_property(name, x, y):
    check("python", getattr(math, name), x, y, rtol=1e-13)


@settings(max_examples=200, deadline=None)
@given(x=floats, i=st.integers(-2200, 2200))
def test_ldexp(x, i):
    check("python", math.ldexp, x, i, rtol=0.0)


def test_ldexp_edges(mode):
    for x in (0.0, 1.0, -0.75, 5e-324, 1e308, math.inf, math.nan, 1.9999999999999998):
        for i in (0, 1, -1, 1023, 1024, -1022, -1074, -1075, -1076, 2098, -2098, 5000, -5000):
            check(mode, math.ldexp, x, i, rtol=0.0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=6))
def test_hypot_of_many(values):
    assert pymath.hypot(*values) == pytest.approx(math.hypot(*values), rel=3e-16)


def test_hypot_special():
    assert pymath.hypot() == 0.0 and pymath.hypot(-3) == 3.0
    assert pymath.hypot(1.0, math.nan, math.inf) == math.inf
    assert math.isnan(pymath.hypot(1.0, math.nan, 2.0))
    assert pymath.hypot(5e-324, 5e-324, 5e-324) == math.hypot(5e-324, 5e-324, 5e-324)


@settings(max_examples=200, deadline=None)
@given(st.lists(floats, max_size=30))
def test_fsum(values):
    check("python", math.fsum, tuple(values), rtol=0.0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-400, 400), min_size=1, max_size=40))
def test_fsum_cancelling(exponents):
    values = [math.ldexp(1.0 + 2.0**-52 * k, e) * (-1) ** k for k, e in enumerate(exponents)]
    assert pymath.fsum(tuple(values)) == math.fsum(values)


def test_dist_prod(mode):
    check(mode, math.dist, (1.0, 2.0, 3.0), (4.0, 6.5, -3.0))
    check(mode, math.dist, (1.0, 2.0), (3.0,))
    check(mode, math.prod, (1, 2, 3))
    check(mode, math.prod, (1.5, 2, 3), start=2)
    if hasattr(math, "sumprod"):
        check(mode, math.sumprod, (1, 2.5), (3, 4))
        check(mode, math.sumprod, (1, 2), (3,))
    if hasattr(math, "fma"):
        for triple in ((2.0, 3.0, 4.0), (1e300, 1e300, 1.0), (math.inf, 0.0, 1.0), (0.1, 10.0, -1.0), (0.0, -1.0, 0.0)):
            check(mode, math.fma, *triple, rtol=0.0)


def test_isclose_keywords(mode):
    check(mode, math.isclose, 1.0, 1.1, rel_tol=0.2)
    check(mode, math.isclose, 1.0, 1.1, abs_tol=0.01)
    check(mode, math.isclose, 1.0, 1.1, rel_tol=-1.0)


def test_integer_functions(mode):
    for n in (-1, 0, 1, 5, 12, 20):
        check(mode, math.factorial, n)
        check(mode, math.isqrt, n)
        for k in (-1, 0, 1, 3, 20):
            check(mode, math.comb, n, k)
            check(mode, math.perm, n, k)
            check(mode, math.gcd, n, k)
            check(mode, math.lcm, n, k)
    check(mode, math.comb, 60, 30)
    check(mode, math.perm, 7)
    check(mode, math.gcd, 12, -18, 30)
    check(mode, math.gcd)
    check(mode, math.lcm, 4, 6, 10)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_isqrt(n):
    for m in (n, n * n % 2**62, (n % 3037000499) ** 2 - 1):
        assert m < 0 or integers.isqrt(m) == math.isqrt(m)


# Scalars.


@settings(max_examples=300, deadline=None)
@given(x=floats, y=floats)
def test_python_float_division(x, y):
    if y != 0.0:
        same_float(scalars.float_mod(x, y), x % y)
        same_float(scalars.float_floordiv(x, y), x // y)


@settings(max_examples=300, deadline=None)
@given(x=floats, y=floats)
def test_numpy_float_division(x, y):
    with np.errstate(all="ignore"):
        same_float(scalars.numpy_float_mod(x, y), float(np.remainder(x, y)))
        same_float(scalars.numpy_float_floordiv(x, y), float(np.floor_divide(x, y)))


def test_float_division_of_special_values():
    for x in SPECIAL:
        for y in SPECIAL:
            if y != 0.0:
                same_float(scalars.float_mod(x, y), x % y)
                same_float(scalars.float_floordiv(x, y), x // y)
                for got, want in zip(scalars.float_divmod(x, y), divmod(x, y), strict=True):
                    same_float(got, want)
            with np.errstate(all="ignore"):
                same_float(scalars.numpy_float_mod(x, y), float(np.remainder(x, y)))
                same_float(scalars.numpy_float_floordiv(x, y), float(np.floor_divide(x, y)))


def same_float(got, want):
    assert struct.pack("d", got) == struct.pack("d", want) or (got != got and want != want), (got, want)


@settings(max_examples=200, deadline=None)
@given(base=st.integers(-(2**63), 2**63 - 1), exponent=st.integers(0, 200))
def test_int_pow(base, exponent):
    assert scalars.int_pow(base, exponent) == raw.wrap(base**exponent)


@settings(max_examples=100, deadline=None)
@given(x=st.floats(-1e3, 1e3), n=st.integers(-20, 20))
def test_float_pow_int(x, n):
    if abs(x) > 1e-10 or n >= 0:
        assert scalars.float_pow_int(x, n) == pytest.approx(x**n, rel=1e-15)


@settings(max_examples=300, deadline=None)
@given(x=floats, y=floats)
def test_python_float_pow(x, y):
    if x < 0.0 and math.isfinite(y) and y != math.floor(y):
        return  # a complex result
    try:
        want = x**y
    except (ZeroDivisionError, OverflowError) as error:
        with pytest.raises(type(error)) as caught:
            scalars.python_float_pow(x, y)
        assert caught.value.args == error.args
        return
    if isinstance(want, float):
        assert scalars.python_float_pow(x, y) == pytest.approx(want, rel=1e-15, nan_ok=True)


# Rounding.


@settings(max_examples=2000, deadline=None)
@given(
    x=st.one_of(floats, st.floats(-1e6, 1e6), st.integers(-(10**7), 10**7).map(lambda n: n / 1000)),
    n=st.integers(-22, 22),
)
def test_round_digits(x, n):
    same_round(x, n)


@settings(max_examples=500, deadline=None)
@given(x=floats, n=st.integers(-330, 330))
def test_round_many_digits(x, n):
    same_round(x, n)


@settings(max_examples=500, deadline=None)
@given(k=st.integers(-(2**20), 2**20), n=st.integers(0, 12))
def test_round_ties(k, n):
    same_round(k / 2.0**n, n - 1)
    same_round(k / 2.0, 0)
    same_round(k * 5.0 * 10.0**n, -n - 1)


@settings(max_examples=500, deadline=None)
@given(m=st.integers(2**51, 2**54), e=st.integers(-60, 40), n=st.integers(-20, 22))
def test_round_at_full_precision(m, e, n):
    same_round(math.ldexp(m, e), n)


def same_round(x, n):
    try:
        want = round(x, n)
    except OverflowError as error:
        with pytest.raises(OverflowError, match=str(error)):
            rounding.round_half_even_digits(x, n)
        return
    same_float(rounding.round_half_even_digits(x, n), want)


@settings(max_examples=300, deadline=None)
@given(x=st.integers(-(10**18), 10**18), n=st.integers(-20, 3))
def test_int_round(x, n):
    assert rounding.int_round_digits(x, n) == round(x, n)


def test_numpy_round(mode):
    for dtype in (np.float64, np.float32, np.int64, np.complex128):
        a = (np.arange(-20, 20) * 1.37).astype(dtype)
        for decimals in (0, 1, 3, -1):
            check(mode, np.round, a, decimals=decimals)


# Complex numbers.

complexes_ = st.builds(complex, st.one_of(floats, st.floats(-50, 50)), st.one_of(floats, st.floats(-50, 50)))
CMATH = "sqrt exp log log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh polar phase isnan isinf isfinite".split()
CORNERS = (0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e-310, 720.0, -720.0, 1e308, -1e308, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("name", CMATH)
def test_cmath_corners(name):
    for a in CORNERS:
        for b in CORNERS:
            same_cmath(name, complex(a, b))


@pytest.mark.parametrize("name", CMATH)
@settings(max_examples=150, deadline=None)
@given(z=complexes_)
def test_cmath_property(name, z):
    same_cmath(name, z)


def same_cmath(name, z):
    implementation = registry.lookup(f"cmath:{name}")
    try:
        want = getattr(cmath, name)(z)
    except (ValueError, OverflowError) as error:
        if name == "phase":
            return  # CPython passes on the C library's errno where the angle is subnormal
        with pytest.raises(type(error), match=str(error)):
            implementation(z)
        return
    got = implementation(z)
    assert type(got) is type(want), (name, z)
    for g, w in zip(parts(got), parts(want), strict=True):
        close = abs(g - w) <= 1e-13 * abs(w) + 1e-300 if math.isfinite(w) and math.isfinite(g) else g == w
        assert close or (g != g and w != w), (name, z, got, want)
        assert w != 0.0 or math.copysign(1.0, g) == math.copysign(1.0, w), (name, z, got, want)


def parts(x):
    return (x.real, x.imag) if isinstance(x, complex) else x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("name", ("mul", "truediv", "pow"))
@settings(max_examples=300, deadline=None)
@given(x=st.complex_numbers(max_magnitude=1e4), y=st.complex_numbers(max_magnitude=60))
def test_complex_arithmetic(name, x, y):
    implementation = {"mul": complexes.complex_mul, "truediv": complexes.complex_div, "pow": complexes.complex_pow}[
        name
    ]
    if name == "truediv" and y == 0:
        return
    try:
        want = getattr(operator, name)(x, y)
    except (ZeroDivisionError, OverflowError) as error:
        with pytest.raises(type(error), match=str(error)):
            implementation(x, y)
        return
    got = implementation(x, y)
    assert cmath.isnan(want) or cmath.isclose(got, want, rel_tol=1e-13), (got, want)


@settings(max_examples=300, deadline=None)
@given(x=complexes_, y=complexes_)
def test_numpy_complex_division(x, y):
    with np.errstate(all="ignore"):
        want = complex(np.complex128(x) / np.complex128(y))
    got = complexes.numpy_complex_div(x, y)
    for g, w in zip(parts(got), parts(want), strict=True):
        assert g == pytest.approx(w, rel=1e-12, abs=1e-300, nan_ok=True), (x, y, got, want)


def test_complex_division_by_zero_and_powers_of_zero():
    with pytest.raises(ZeroDivisionError) as want:
        1j / 0j
    with pytest.raises(ZeroDivisionError) as got:
        complexes.complex_div(1j, 0j)
    assert str(got.value) == str(want.value)
    for power in (1 + 2j, 2 + 0j, 0j, -1 + 0j, 1j):
        with np.errstate(all="ignore"):
            want_power = complex(np.complex128(0) ** np.complex128(power))
        got_power = complexes.numpy_complex_pow(0j, power)
        assert got_power == want_power or (cmath.isnan(got_power) and cmath.isnan(want_power))


def test_complex_abs():
    assert complexes.complex_abs(3 + 4j) == 5.0
    with pytest.raises(OverflowError, match="absolute value too large"):
        complexes.complex_abs(complex(1.5e308, 1.5e308))
    assert complexes.numpy_complex_abs(complex(1.5e308, 1.5e308)) == math.inf


def test_cmath_rect_and_log_base():
    for r in CORNERS:
        for phi in CORNERS:
            try:
                want = cmath.rect(r, phi)
            except ValueError:
                with pytest.raises(ValueError, match="math domain error"):
                    complexes.rect(r, phi)
                continue
            got = complexes.rect(r, phi)
            for g, w in zip(parts(got), parts(want), strict=True):
                assert g == pytest.approx(w, rel=1e-15, nan_ok=True), (r, phi, got, want)
    for z in (3 + 4j, 0j, 1 + 0j, complex(math.inf, 1)):
        for base in (2.0, 1j, 0j, 1.0):
            try:
                want = cmath.log(z, base)
            except (ValueError, ZeroDivisionError) as error:
                with pytest.raises(type(error), match=str(error)):
                    complexes.log(z, base)
                continue
            got = complexes.log(z, base)
            for g, w in zip(parts(got), parts(want), strict=True):
                assert g == pytest.approx(w, rel=1e-14, nan_ok=True), (z, base, got, want)


# NumPy's complex functions.

COMPLEX_UFUNCS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX_UFUNCS)
def test_complex_ufunc_corners(name):
    implementation = getattr(complex_ufuncs, COMPLEX_UFUNCS[name])
    for a in CORNERS:
        for b in CORNERS:
            z = complex(a, b)
            with np.errstate(all="ignore"):
                want = complex(getattr(np, name)(np.complex128(z)))
            got = implementation(z)
            if name in ("exp2", "expm1", "log1p", "log2", "log10") and not (cmath.isfinite(z) and cmath.isfinite(want)):
                continue  # NumPy composes these from others, and their nan and infinities with them
            for g, w in zip(parts(got), parts(want), strict=True):
                if cmath.isnan(want) and cmath.isinf(want):
                    g, w = abs(g), abs(w)  # C leaves the sign of the infinity open
                size = max(abs(part) for part in parts(want) if math.isfinite(part)) if math.isfinite(w) else 0.0
                close = abs(g - w) <= 1e-13 * size if math.isfinite(g) and math.isfinite(w) else g == w
                assert close or (g != g and w != w), (name, z, got, want)
