"""Every operator on every pair of kinds of numbers, scalars and arrays: value, type, dtype (NEP 50), and exceptions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from differential.outcome import run
from differential.running import check, difference, function_of

import quadrants

BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")

PYTHON = {
    "int": (5, -7, 0),
    "float": (2.5, -3.25, 0.0),
    "bool": (True, False),
    "complex": (1 + 2j, 0j),
}
SIZED = {
    "bool_": (np.bool_(True), np.bool_(False)),
    "int8": (np.int8(5), np.int8(-128), np.int8(-1)),
    "int16": (np.int16(300), np.int16(-7)),
    "int32": (np.int32(-(2**31)), np.int32(11)),
    "int64": (np.int64(-(2**63)), np.int64(-1), np.int64(0)),
    "uint8": (np.uint8(200), np.uint8(0), np.uint8(3)),
    "uint16": (np.uint16(60000), np.uint16(2)),
    "uint32": (np.uint32(4000000000), np.uint32(3)),
    "uint64": (np.uint64(2**64 - 1), np.uint64(2)),
    "float16": (np.float16(1.5), np.float16(-2.25)),
    "float32": (np.float32(1.75), np.float32(-0.0), np.float32(np.inf)),
    "float64": (np.float64(-3.5), np.float64(np.nan), np.float64(2.0)),
    "complex64": (np.complex64(1 - 2j), np.complex64(0.5)),
    "complex128": (np.complex128(0.5 + 1j), np.complex128(-2)),
}
VALUES = {**PYTHON, **SIZED}
#: Pairs that between them meet every rule of promotion.
PAIRS = (
    ("int", "int"), ("int", "float"), ("bool", "bool"), ("bool", "int"), ("float", "float"), ("int", "int8"),
    ("uint8", "int"), ("float32", "float"), ("int8", "uint8"), ("uint64", "int64"), ("int32", "float32"),
    ("float64", "int"), ("bool_", "int16"), ("uint32", "int32"), ("int64", "int64"), ("float16", "float16"),
)  # fmt: skip


def refused_or_same(source: str, x: object, y: object) -> str | None:
    """None, or the difference; type errors of the interpreter may be refusals of the compiler."""
    expected = run(function_of(source), (x, y))
    if isinstance(expected.error, TypeError) or depends_on_values(source, x, y, expected.value):
        return None
    return difference(source, (x, y))


def depends_on_values(source: str, x: object, y: object, expected: object) -> bool:
    """Whether Python's power leaves the type that its operands' types determine."""
    if "**" not in source or isinstance(expected, (np.generic, np.ndarray)):
        return False
    whole = isinstance(x, int) and isinstance(y, int)
    return isinstance(expected, float) if whole else isinstance(expected, complex) and not isinstance(x, complex)


def check_all(source: str, pairs, values) -> None:
    found = []
    for a, b in pairs:
        for x, y in itertools.product(values[a], values[b]):
            difference_ = refused_or_same(source, x, y)
            if difference_ is not None:
                found.append(difference_)
    assert not found, "\n".join(found[:5])


@pytest.mark.parametrize("symbol", BINARY + COMPARISONS)
def test_numbers(symbol):
    """Some pairs, which differ from symbol to symbol."""
    first = (BINARY + COMPARISONS).index(symbol)
    pairs = [PAIRS[(first + 5 * k) % len(PAIRS)] for k in range(4)]
    check_all(f"lambda a, b: a {symbol} b", [p for p in pairs if symbol != "**" or p != ("int", "int")], VALUES)


@pytest.mark.slow
@pytest.mark.parametrize("symbol", BINARY + COMPARISONS)
def test_all_numbers(symbol):
    zero_power = symbol == "**"  # NumPy leaves powers of complex zeros and infinities to the C library
    kinds = [k for k in VALUES if not (zero_power and "complex" in k)]
    pairs = [pair for pair in itertools.product(kinds, kinds) if symbol != "**" or pair != ("int", "int")]
    pairs = [pair for pair in pairs if "complex" not in pair or symbol not in COMPARISONS]
    check_all(f"lambda a, b: a {symbol} b", pairs, VALUES)


def arrays() -> dict[str, tuple[np.ndarray, ...]]:
    """Arrays of the sized kinds, a 0-d and a 2-d one among them."""
    made = {}
    for name, values in SIZED.items():
        dtype = values[0].dtype
        items = np.array([values[k % len(values)] for k in range(5)], dtype)
        made[name] = (items, np.array(values[0]), items[:4].reshape(2, 2)[:, ::-1][:, :1])
    return made


@pytest.mark.parametrize("symbol", BINARY + COMPARISONS)
def test_arrays(symbol):
    first = (BINARY + COMPARISONS).index(symbol)
    pairs = [p for p in PAIRS if any(k in SIZED for k in p)]
    values = {**{k: v[:1] for k, v in PYTHON.items()}, **{k: v[first % 3 :][:1] for k, v in arrays().items()}}
    check_all(f"lambda a, b: a {symbol} b", [pairs[(first + 3 * k) % len(pairs)] for k in range(3)], values)


@pytest.mark.slow
@pytest.mark.parametrize("symbol", BINARY + COMPARISONS)
def test_all_arrays(symbol):
    values = {k: v[:1] for k, v in arrays().items() if "complex" not in k or symbol != "**"}
    values |= {k: v[:1] for k, v in PYTHON.items() if "complex" not in k or symbol != "**"}
    pairs = [(a, b) for a, b in itertools.product(values, values) if a in SIZED or b in SIZED]
    check_all(f"lambda a, b: a {symbol} b", pairs, values)


INPLACE = ("+=", "-=", "*=", "//=", "%=", "**=", "<<=", ">>=", "&=", "|=", "^=")


@pytest.mark.parametrize("symbol", (*INPLACE, "/="))
def test_in_place(symbol):
    source = f"def f(a, b):\n    v = a\n    a {symbol} b\n    return v is a, a"
    integers = symbol != "/="
    floats = symbol not in ("<<=", ">>=", "&=", "|=", "^=")
    if integers:
        check(source, np.arange(1, 6), 2)
        check(source, np.arange(6).reshape(2, 3)[:, ::-1], np.array([1, 2, 1]))
        check(source, np.arange(1, 6, dtype=np.uint8), np.uint8(3))
    if floats:
        check(source, np.linspace(1, 2, 5), np.float64(2.0))
        check(source, np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3), 2.0)


@pytest.mark.parametrize("value", [300, -1])
@pytest.mark.parametrize("symbol", ["+", "//", "&", "<", "==", "/"])
def test_ints_that_do_not_fit(symbol, value):
    source = f"lambda a, b: a {symbol} b"
    check(source, np.uint8(7), value)
    check(source, np.arange(3, dtype=np.uint8), value)
    check(f"lambda a: a {symbol} {value}", np.arange(3, dtype=np.uint8))
    check(f"lambda b: {value} {symbol} b", np.uint8(7))


@pytest.mark.parametrize("symbol", ["-", "+", "~", "not "])
def test_unary(symbol):
    for values in VALUES.values():
        for value in values[:2]:
            expected = run(function_of(f"lambda a: {symbol}a"), (value,))
            if not isinstance(expected.error, TypeError):
                check(f"lambda a: {symbol}a", value)
    if symbol != "not ":
        check(f"lambda a: {symbol}a", np.arange(-2, 4).reshape(2, 3)[:, ::2])


def test_integers_at_their_ends():
    """INT_MIN // -1, shifts past the width, division by zero: defined, and as NumPy has them."""
    ends = [-(2**63), 2**63 - 1, -1, 0, 1, 63, 64, 70]
    for symbol in ("//", "%", "<<", ">>"):
        for x, y in itertools.product(ends, ends):
            check(f"lambda a, b: a {symbol} b", np.int64(x), np.int64(y))
    for symbol in ("//", "%"):
        for dtype in (np.int8, np.int16, np.int32):
            low = np.iinfo(dtype).min
            check(f"lambda a, b: a {symbol} b", np.array([low, low, 5], dtype), np.array([-1, 0, 0], dtype))
    check("lambda a, b: a << b", np.array([5, 5, 5], np.int8), np.array([7, 8, 100], np.int8))


def test_chained_comparison():
    for values in ((1, 2, 3), (1, 3, 2), (1.0, 1, 1.5), (np.int8(1), np.int8(2), np.int8(2))):
        check("lambda x, y, z: x < y <= z", *values)
    check("lambda x, y, z: x < y != z >= x", 1, 3, 3)


def test_complex_numbers_are_python_floats_partners():
    """np.float64 is a float, so that a Python complex on the left takes it."""
    for symbol in ("+", "-", "*", "=="):
        check(f"lambda x, y: x {symbol} y", 1 + 2j, np.float64(2.0))
        check(f"lambda x, y: x {symbol} y", np.float64(2.0), 1 + 2j)
    for symbol in COMPARISONS:
        check(f"lambda x, y: x {symbol} y", np.complex128(1 + 2j), np.complex128(1 - 2j))


def test_negative_float_to_a_fraction():
    """Python gives a complex number; compiled code, whose type is float, refuses."""
    with pytest.raises(ValueError, match="complex"):
        quadrants.njit(lambda x, y: x**y)(-2.0, 0.5)
    check("lambda x, y: x ** y", np.float64(-2.0), np.float64(0.5))
