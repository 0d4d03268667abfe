"""Operands and arguments that NumPy and Python refuse: refused here too, in terms of what the program shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd

A = np.arange(6.0).reshape(2, 3)

REFUSED: dict[str, Callable[[Any], Any]] = {
    "argmin of a tuple of axes": lambda a: np.argmin(a, axis=(0, 1)),
    "argmax of a tuple of axes": lambda a: np.argmax(a, axis=(0,), keepdims=True),
    "nanargmin of a tuple of axes": lambda a: np.nanargmin(a, axis=(0, 1)),
    "cumsum of a tuple of axes": lambda a: np.cumsum(a, axis=(0, 1)),
    "a float as an axis": lambda a: np.sum(a, axis=1.0),
    "a float in a tuple of axes": lambda a: np.sum(a, axis=(0, 1.0)),
    "a string as an axis": lambda a: np.mean(a, axis="x"),
    "a string as a class": lambda a: isinstance(a, "int"),
    "a number in a tuple of classes": lambda a: isinstance(a, (int, 3)),
    "None as a class": lambda a: isinstance(a, None),
    "shifted floats": lambda a: a << 2,
    "bits of floats": lambda a: a & 1,
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_type_error_as_in_the_interpreter(case: str) -> None:
    with pytest.raises(TypeError):
        REFUSED[case](A)
    with pytest.raises(TypeError):
        qd.njit(REFUSED[case])(A)


@pytest.mark.parametrize(
    ("function", "wanted"),
    (
        (lambda a: a << 2, "unsupported operand types for <<: array(float64, 2d, C) and the constant 2"),
        (lambda a: a // 1j, "unsupported operand types for //: array(float64, 2d, C) and the constant 1j"),
        (lambda a: np.dot(a, "x"), "numpy.dot(): the constant 'x' cannot be an element of an array"),
    ),
)
def test_the_message_names_the_operands_of_the_program(function: Callable[[Any], Any], wanted: str) -> None:
    with pytest.raises(qd.CompileTypeError) as caught:
        qd.njit(function)(A)
    assert wanted in str(caught.value)


def test_tolist_of_two_axes_is_refused() -> None:
    with pytest.raises(TypeError, match="lists of lists"):
        qd.njit(lambda a: a.tolist())(A)


@pytest.mark.parametrize("value", (1, 2.5, True, None, np.float32(1), 1j, A), ids=repr)
def test_unions_of_classes(value: object) -> None:
    def classes(x: object) -> tuple[bool, ...]:
        return (
            isinstance(x, int | float),
            isinstance(x, int | None),
            isinstance(x, (complex | np.ndarray, np.floating)),
            isinstance(x, int | float | complex),
        )

    assert qd.njit(classes)(value) == classes(value)
