"""NumPy's functions on arrays of every dtype: value, dtype, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from differential.outcome import run
from differential.running import check, difference, function_of

UNARY = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt floor ceil"
    " trunc rint fix deg2rad rad2deg absolute fabs sign negative positive invert square reciprocal conjugate isnan isinf isfinite"
    " signbit logical_not"
).split()
BINARY = (
    "add subtract multiply divide floor_divide remainder power maximum minimum fmax fmin arctan2 hypot copysign nextafter logical_and"
    " logical_or logical_xor less equal greater_equal bitwise_and left_shift fmod float_power logaddexp heaviside gcd lcm"
).split()
REDUCTIONS = "sum prod mean std var min max any all argmin argmax ptp count_nonzero cumsum cumprod median".split()
DTYPES = ("f8", "f4", "i8", "i4", "u1", "?", "c16", "i2", "u8", "f2")


def array(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    numbers = np.random.default_rng(1).integers(0, 9, shape)
    if dtype in ("?", "u1", "u8"):
        return numbers.astype(dtype)
    return ((numbers - 4) / 2 if dtype[0] == "f" else numbers - 4).astype(dtype)


def check_or_refuse(source: str, *args: object) -> None:
    """As `check`; what NumPy refuses by a TypeError the compiler may refuse too."""
    if isinstance(run(function_of(source), args).error, TypeError):
        found = difference(source, args, texts=False)
        assert found is None or "QD599" not in found, found
        return
    check(source, *args)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    source = f"lambda a: np.{name}(a)"
    for dtype in ("f8", "i4", "c16"):
        check_or_refuse(source, array(dtype, (5,)))
    check_or_refuse(source, np.array([np.inf, -np.inf, np.nan, 0.0, -0.0]))
    check_or_refuse(source, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_unary_of_every_dtype(name):
    for dtype in DTYPES:
        if (name, dtype) == ("reciprocal", "u8"):
            continue  # of zero: what the C compiler's conversion of infinity gives
        check_or_refuse(f"lambda a: np.{name}(a)", array(dtype, (5,)))
        check_or_refuse(f"lambda a: np.{name}(a)", array(dtype, (5,))[1])
        check_or_refuse(f"lambda a: np.{name}(a)", array(dtype, (3, 4)).T)


PAIRS = ("f8 f8", "i4 f4", "u1 i2", "? ?", "u8 i8", "c16 f8", "f4 f8", "i8 i8", "f2 f2", "i8 u1")


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    source = f"lambda a, b: np.{name}(a, b)"
    for pair in PAIRS[:2]:
        check_or_refuse(source, *(array(dtype, (5,)) for dtype in pair.split()))
    check_or_refuse(source, 2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", BINARY)
def test_binary_of_every_pair(name):
    source = f"lambda a, b: np.{name}(a, b)"
    for pair in PAIRS:
        left, right = (array(dtype, (5,)) for dtype in pair.split())
        check_or_refuse(source, left, right)
        check_or_refuse(source, left[0], right[2])
    check_or_refuse(source, array("f8", (3, 4)), array("f8", (3, 4))[:, :1])
    check_or_refuse(source, array("i4", (5,)), 3)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    table = array("f8", (3, 4))
    check_or_refuse(f"lambda a: np.{name}(a)", table)
    check_or_refuse(f"lambda a: np.{name}(a, axis=0)", table)
    check_or_refuse(f"lambda a: np.{name}(a)", array("i4", (5,)))
    check_or_refuse(f"lambda a: np.{name}(a)", np.array([1.0, np.nan, 3.0]))


@pytest.mark.slow
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_every_dtype(name):
    for dtype in DTYPES:
        for shape in ((5,), (3, 4), (), (0,)):
            if (name, dtype, shape) == ("median", "c16", (0,)) or (name, dtype) == ("ptp", "?"):
                continue  # a NaN without parts; subtraction of Booleans, which an empty array does not reach
            check_or_refuse(f"lambda a: np.{name}(a)", array(dtype, shape))
    for dtype in ("f8", "i4"):
        for shape in ((3, 4), (2, 3, 2), (0, 3)):
            for axis in range(-1, len(shape)):
                made = array(dtype, shape)
                for view in (made, np.asfortranarray(made), made[::-1]):
                    check_or_refuse(f"lambda a: np.{name}(a, axis={axis})", view)
                if name not in ("argmin", "argmax", "cumsum", "cumprod"):
                    check_or_refuse(f"lambda a: np.{name}(a, axis={axis}, keepdims=True)", made)


CREATION = (
    "np.arange(5)", "np.arange(2, 9, 3)", "np.arange(0, 1, 0.25)", "np.arange(5, 0, -2)", "np.linspace(0, 1, 5)", "np.eye(2, 3, k=1)",
    "np.linspace(0, 10, 4, endpoint=False)", "np.identity(2)", "np.zeros(3)", "np.ones((2, 3), np.int8)", "np.full((2, 2), 7)",
    "np.full(3, 2.5, np.float32)", "np.array([1, 2, 3])", "np.array([[1, 2.5], [3, 4]])", "np.array(5)", "np.zeros((2, 3), order='F')",
    "np.array([1, 2], dtype=np.uint8)", "np.empty((0, 3)).shape", "np.logspace(0, 2, 3)", "np.indices((2, 3))",
)  # fmt: skip
FUNCTIONS = (
    "np.sort(a)", "np.argsort(a)", "np.unique(a)", "np.diff(a)", "np.flip(a)", "np.roll(a, 2)", "np.repeat(a, 2)", "np.tile(a, 2)",
    "np.concatenate((a, a))", "np.stack((a, a))", "np.hstack((a, a))", "np.vstack((a, a))", "np.append(a, 1)", "np.clip(a, 0, 1)",
    "np.nonzero(a)", "np.argwhere(a > 0)", "np.zeros_like(a)", "np.full_like(a, 3)", "np.atleast_2d(a)", "np.expand_dims(a, 0)",
    "np.isclose(a, a)", "np.allclose(a, a)", "np.percentile(a, 30)", "np.quantile(a, 0.3)", "np.average(a)", "np.searchsorted(a, 0.5)",
    "np.round(a, 1)", "np.dot(a, a)", "np.outer(a, a)", "np.cross(a[:3], a[:3])", "np.linalg.norm(a)", "np.trapezoid(a)",
    "np.histogram(a, bins=4)", "np.take(a, np.array([0, 1]))", "np.convolve(a, a)", "np.gradient(a)", "np.diag(a)", "np.cov(a)",
    "np.meshgrid(a, a)", "np.kron(a, a)", "np.triu(np.outer(a, a))", "np.trace(np.outer(a, a))", "a.astype('f4')", "a.item(0)",
)  # fmt: skip


@pytest.mark.parametrize("expression", CREATION)
def test_creation(expression):
    check(f"lambda x: {expression}", 1)


@pytest.mark.parametrize("expression", FUNCTIONS)
def test_function(expression):
    for dtype in ("f8", "i8"):
        check(f"lambda a: {expression}", array(dtype, (5,)))
