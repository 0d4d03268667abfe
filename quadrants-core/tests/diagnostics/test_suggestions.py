"""Hints that name what was probably meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import quadrants as qd


class State(NamedTuple):
    position: float
    velocity: float


SCALES = (1.0, 2.0)


@pytest.mark.parametrize(
    ("function", "argument", "hint"),
    [
        (lambda a: a.shpe, np.ones(3), "Did you mean 'shape'?"),
        (lambda a: np.sqroot(a), np.ones(3), "Did you mean 'sqrt'?"),
        (lambda a: a * SCALE[0], 1.0, "Did you mean 'SCALES'?"),  # type: ignore[name-defined]  # noqa: F821
        (lambda a: np.sum(a, axes=0), np.ones(3), "Did you mean 'axis'?"),  # type: ignore[call-overload]
        (lambda a: np.full(3, fil_value=a), 1.0, "Did you mean 'fill_value'?"),  # type: ignore[call-overload]
        (lambda s: s.positon, State(1.0, 2.0), "Did you mean 'position'?"),
        (lambda a: np.random.multivariate_normal(a, a) * a, 1.0, "Draw them in Python"),
        (lambda a: np.random.binomial(3, a) * a, 1.0, "Draw them in Python"),
    ],
)
def test_hints(function: Callable[[Any], Any], argument: object, hint: str) -> None:
    with pytest.raises(qd.QuadrantsError, match=f"hint: .*{hint.replace('?', '[?]')}"):
        qd.njit(function)(argument)


def test_unlike_names_get_no_suggestion() -> None:
    with pytest.raises(qd.QuadrantsError, match="no attribute 'zzzzzz'") as info:
        qd.njit(lambda a: a.zzzzzz)(np.ones(3))
    assert "Did you mean" not in str(info.value)


@pytest.mark.parametrize("shape", [(2, 2), (7,), (1, 2, 5)])
def test_reshape_says_the_sizes(shape: tuple[int, ...]) -> None:
    def reshaped(a: Any, shape: Any) -> Any:
        return a.reshape(shape)

    with pytest.raises(ValueError, match="cannot reshape") as expected:
        reshaped(np.ones(3), shape)
    with pytest.raises(ValueError, match="cannot reshape") as info:
        qd.njit(reshaped)(np.ones(3), shape)
    assert str(info.value) == str(expected.value)
