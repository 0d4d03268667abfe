"""Attributes of classes and objects: methods, properties and operators of named tuples; constants that change later."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import quadrants as qd


class Vec(NamedTuple):
    x: float
    y: float = 0.0
    DIMENSION = 2  # type: ignore[misc]

    def dot(self, other: Vec) -> float:
        return self.x * other.x + self.y * other.y

    @property
    def norm(self) -> float:
        return math.sqrt(self.dot(self))

    @staticmethod
    def unit() -> Vec:
        return Vec(1.0)

    @classmethod
    def polar(cls, radius: float, angle: float) -> Vec:
        return cls(radius * math.cos(angle), radius * math.sin(angle))

    @qd.njit
    def scaled(self, factor: float) -> float:
        return self.x * factor

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Vec):
            return Vec(self.x + other.x, self.y + other.y)
        return NotImplemented

    def __sub__(self, other: Vec) -> Vec:
        return Vec(self.x - other.x, self.y - other.y)

    def __isub__(self, other: Vec) -> Vec:
        return Vec(self.x - 2.0 * other.x, self.y)

    def __mul__(self, factor: Any) -> Vec:
        return Vec(self.x * factor, self.y * factor)

    def __rmul__(self, factor: Any) -> Vec:
        return Vec(self.x * factor, self.y * factor)

    def __matmul__(self, other: Vec) -> float:
        return self.dot(other)

    def __neg__(self) -> Vec:
        return Vec(-self.x, -self.y)

    def __abs__(self) -> float:
        return self.norm

    def __bool__(self) -> bool:
        return self.x != 0.0 or self.y != 0.0

    def __call__(self, t: float) -> float:
        return self.x + t * self.y

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return self.norm < other[0]

    def __contains__(self, item: object) -> bool:
        return item == self.x


class Weighted(Vec):
    WEIGHT = 3.0

    def weighted(self) -> float:
        return self.dot(self) * self.WEIGHT

    def __radd__(self, other: Any) -> float:
        return -1.0


class Odd(NamedTuple):
    a: int
    b: int

    def __eq__(self, other: object) -> bool:
        return False

    def __getitem__(self, index: Any) -> Any:
        return index * 10

    def __len__(self) -> int:
        return 7


EXPRESSIONS: list[Callable[[Vec], Any]] = [
    lambda v: (v.dot(v), v.norm, v.DIMENSION, v._fields, Vec.DIMENSION),
    lambda v: (Vec.unit(), v.unit(), Vec.polar(2.0, 0.5), v.polar(1.0, 1.0)),
    lambda v: (v.scaled(2.0), Vec.dot(v, v), Vec.scaled(v, 3.0)),
    lambda v: (v + v, v - v, v * 2.0, 2 * v, v @ v, -v, abs(v)),
    lambda v: (v(0.5), v < (100.0,), v > (3.0,), 3.0 in v, 4.0 in v),
    lambda v: (1 if v else 0, not v, bool(Vec(0.0))),
    lambda v: (v._replace(x=1.0), v.index(4.0), v.count(3.0), v[0], len(v), v == v, v != v),
    lambda v: v + Weighted(1.0, 2.0),
    lambda v: (Weighted(v.x, v.y).weighted(), Weighted(1.0).norm),
    lambda v: (Odd(1, 2) == Odd(1, 2), Odd(1, 2) != Odd(1, 2), Odd(3, 4)[5], len(Odd(1, 2))),
    lambda v: sum((v, v), Vec(0.0)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_named_tuples_have_their_methods(expression: Callable[[Vec], Any]) -> None:
    given = Vec(3.0, 4.0)
    expected, result = expression(given), qd.njit(expression)(given)
    assert repr(result) == repr(expected)


def test_in_place_operators() -> None:
    def reduced(v: Vec) -> Vec:
        v -= Vec(1.0, 1.0)
        v *= 2.0
        return v

    assert qd.njit(reduced)(Vec(5.0, 6.0)) == reduced(Vec(5.0, 6.0)) == Vec(6.0, 12.0)


def test_constants_of_classes_are_noticed_when_they_change() -> None:
    class Settings:
        STEPS = 2

        class Inner:
            SCALE = 1.5

        @staticmethod
        def shifted(x: float) -> float:
            return x + 1.0

    @qd.njit
    def f(x: float) -> float:
        return Settings.shifted(x) * Settings.STEPS + Settings.Inner.SCALE

    assert f(1.0) == 5.5
    Settings.STEPS = 3
    assert f(1.0) == 7.5
    Settings.Inner.SCALE = 2.0
    assert f(1.0) == 8.0
    Settings.shifted = staticmethod(lambda x: x)  # type: ignore[assignment]
    assert f(1.0) == 5.0


def test_arrays_in_classes_are_read_at_each_call() -> None:
    class Tables:
        weights = np.arange(3.0)

    @qd.njit
    def f(i: int) -> float:
        return Tables.weights[i]

    assert f(2) == 2.0
    Tables.weights[2] = 5.0
    assert f(2) == 5.0
    Tables.weights = np.arange(3.0) * 10.0
    assert f(2) == 20.0


def test_namespaces_are_noticed_when_they_change() -> None:
    settings = types.SimpleNamespace(steps=4)

    @qd.njit
    def f() -> int:
        return settings.steps

    assert f() == 4
    settings.steps = 5
    assert f() == 5


def test_attributes_of_objects_are_refused_since_changes_go_unnoticed() -> None:
    class Model:
        RATE = 2.0

        def __init__(self) -> None:
            self.size = 3

        def doubled(self, x: float) -> float:
            return x * self.RATE

    class Slotted:
        __slots__ = ("size",)

    model, slotted = Model(), Slotted()
    slotted.size = 3

    @qd.njit
    def method(x: float) -> float:
        return model.doubled(x)

    assert method(4.0) == 8.0
    Model.RATE = 3.0
    assert method(4.0) == 12.0
    for read in (qd.njit(lambda: model.size), qd.njit(lambda: slotted.size)):
        with pytest.raises(qd.QuadrantsError, match="QD309.*'size' of an object of the class .* may change unnoticed"):
            read()
