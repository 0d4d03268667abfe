"""What a call did, in the interpreter or compiled, and whether two outcomes are the same.

An outcome is the result or the exception, and what the call made of its arguments. Results have to agree in class, dtype,
shape and value; floats within a tolerance, because contraction to FMA is on by default.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: Relative tolerance by the size of a real part, in bytes.
TOLERANCE = {2: 4e-3, 4: 2e-5, 8: 1e-10}


@dataclass(frozen=True)
class Outcome:
    """The result or the exception of a call, its arguments afterwards, and the lines of the exception's traceback."""

    value: object
    error: BaseException | None
    args: tuple[object, ...]
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        return show(self.value) if self.error is None else f"{type(self.error).__name__}: {self.error}"


def show(value: object) -> str:
    """A value with its class and dtype."""
    if isinstance(value, np.ndarray):
        return f"array<{value.dtype}, {value.shape}> {np.array2string(value, threshold=20)}"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(map(show, value))})"
    return f"{type(value).__name__} {value!r}"


class Cloner:
    """Copies arguments: strides, flags and layout stay, and arrays that share memory share the memory of their copies."""

    def __init__(self) -> None:
        self.memory: dict[int, tuple[int, np.ndarray, object]] = {}

    def __call__(self, value: object) -> object:
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, tuple):
            items = [self(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        return value

    def array(self, array: np.ndarray) -> np.ndarray:
        if array.size == 0:
            window = np.empty_like(array)
        else:
            root = array
            while isinstance(root.base, np.ndarray):
                root = root.base
            start, memory, _ = self.memory.setdefault(id(root), self.copied(root))
            offset = array.__array_interface__["data"][0] - start
            window = np.ndarray(array.shape, array.dtype, memory.data, offset, array.strides)
        window.flags.writeable = array.flags.writeable
        return window

    def copied(self, root: np.ndarray) -> tuple[int, np.ndarray, object]:
        """The address of the memory that the root looks at, and a copy of the memory."""
        low, high = np.lib.array_utils.byte_bounds(root)
        memory = np.empty(high - low, np.uint8)
        offset = root.__array_interface__["data"][0] - low
        np.ndarray(root.shape, root.dtype, memory.data, offset, root.strides)[...] = root
        return low, memory, root


def run(function: Callable[..., object], args: tuple[object, ...]) -> Outcome:
    """Call on copies of the arguments; aliases and overlaps among them stay."""
    cloner = Cloner()
    same: dict[int, object] = {}
    own = tuple(same.setdefault(id(arg), cloner(arg)) for arg in args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(function(*own), None, own)
        except Exception as error:  # noqa: BLE001 - which exception it is, is what the tests compare
            return Outcome(None, error, own, lines_of(error, function))


def lines_of(error: BaseException, function: Callable[..., object]) -> tuple[int, ...]:
    """The lines of the program in the traceback, outermost first; many equal ones (recursion) count once."""
    name = inspect.unwrap(function).__code__.co_filename
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return tuple(dict.fromkeys(lines))


def same_outcome(expected: Outcome, actual: Outcome, texts: bool = True, exact: bool = False) -> str | None:
    """None, or how the outcomes differ."""
    if (expected.error is None) != (actual.error is None):
        return f"expected {expected}\n     got {actual}"
    if expected.error is not None and actual.error is not None:
        if type(expected.error) is not type(actual.error):
            return f"expected {expected}\n     got {actual}"
        if texts and str(expected.error) != str(actual.error):
            return f"expected {expected}\n     got {actual}"
        if expected.lines != actual.lines:
            return f"{expected}: expected on lines {expected.lines}\n     got lines {actual.lines}"
    elif (difference := same_value(expected.value, actual.value, exact)) is not None:
        return difference
    for position, (a, b) in enumerate(zip(expected.args, actual.args)):
        difference = same_value(a, b, exact)
        if difference is not None:
            return f"argument {position} afterwards: {difference}"
    return None


def same_value(expected: object, actual: object, exact: bool = False) -> str | None:
    """None, or how the values differ."""
    wrong = f"expected {show(expected)}\n     got {show(actual)}"
    if type(expected) is not type(actual):
        return wrong
    if isinstance(expected, tuple) and isinstance(actual, tuple):
        if len(expected) != len(actual):
            return wrong
        for position, (a, b) in enumerate(zip(expected, actual)):
            difference = same_value(a, b, exact)
            if difference is not None:
                return f"item {position}: {difference}"
        return None
    if isinstance(expected, (np.ndarray, np.generic)):
        assert isinstance(actual, (np.ndarray, np.generic))
        if expected.dtype != actual.dtype or expected.shape != actual.shape:
            return wrong
        return None if same_numbers(np.asarray(expected), np.asarray(actual), exact) else wrong
    if isinstance(expected, (float, complex)):
        return None if same_numbers(np.asarray(expected), np.asarray(actual), exact) else wrong
    return None if expected == actual else wrong


def same_numbers(a: np.ndarray, b: np.ndarray, exact: bool) -> bool:
    """Whether arrays of one dtype agree element by element; NaNs agree, and so do infinities of one sign."""
    if a.dtype.kind in "biu":
        return bool(np.array_equal(a, b))
    if a.dtype.kind == "c":
        # Where an operation overflows, which part is infinite and which is nan differs among NumPy's own loops.
        finite = np.isfinite(a) | np.isfinite(b)
        a, b = np.where(finite, a, 0), np.where(finite, b, 0)
        return same_numbers(a.real, b.real, exact) and same_numbers(a.imag, b.imag, exact)
    if exact:
        return bool(np.array_equal(a, b, equal_nan=True))
    tolerance = TOLERANCE[a.dtype.itemsize]
    x, y = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.isclose(y, x, rtol=tolerance, atol=tolerance * 1e-3, equal_nan=True)
    return bool(near.all())


def wraps(value: object) -> bool:
    """Whether the interpreter's result holds an int beyond 64 bits, where compiled code wraps."""
    if isinstance(value, tuple):
        return any(wraps(item) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return not -(2**63) <= value < 2**63
    return False
