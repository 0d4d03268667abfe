from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import ClassVar

import pytest

from quadrants._frozen import frozen, record


class Base:
    __slots__ = ()

    def kind(self) -> str:
        return type(self).__name__


@frozen
class Point(Base):
    """Two numbers."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list, compare=False, repr=False)
    shared: ClassVar[int] = 7

    @property
    def total(self) -> int:
        return self.x + self.y


@frozen
class Point3(Point):
    z: int = 0


@frozen(eq=False)
class Token:
    name: str


@frozen
class Checked:
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("negative")


@frozen
class Empty:
    pass


@dataclasses.dataclass(frozen=True, slots=True)
class Reference:
    x: int
    y: int = 2


def test_construction() -> None:
    for made in (Point(1), Point(1, 2), Point(x=1), Point(y=2, x=1), Point(1, y=2)):
        assert (made.x, made.y, made.tags, made.total, made.kind()) == (1, 2, [], 3, "Point")
    assert Point(1, 2, ["a"]).tags == ["a"] and Point(1).tags is not Point(1).tags
    assert Point.shared == 7 and Point3(1, z=5).z == 5 and Point3(1).total == 3
    for args, names in (((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 1}), ((1,), {"w": 1})):
        with pytest.raises(TypeError):
            Point(*args, **names)  # type: ignore[arg-type]


def test_equality_and_hash_go_by_the_compared_fields() -> None:
    assert Point(1, 2, ["a"]) == Point(1, 2, ["b"]) != Point(1, 3)
    assert hash(Point(1, 2, ["a"])) == hash(Point(1, 2))
    assert Point(1) != Point3(1) and Point(1) != (1, 2) and Empty() == Empty()
    assert len({Point(1), Point(1), Point(2)}) == 2
    assert Token("a") != Token("a") and len({Token("a"), Token("a")}) == 2


def test_immutable_and_without_dict() -> None:
    point = Point(1)
    for change in (lambda: setattr(point, "x", 3), lambda: delattr(point, "x"), lambda: setattr(point, "w", 3)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert not hasattr(point, "__dict__") and not hasattr(Point3(1), "__dict__")


def test_after_construction() -> None:
    assert Checked(1).value == 1
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


def test_like_a_dataclass() -> None:
    point = Point3(1, 2, z=3)
    assert [field.name for field in dataclasses.fields(Point3)] == ["x", "y", "tags", "z"]
    assert dataclasses.is_dataclass(point)
    assert dataclasses.replace(point, y=9) == Point3(1, 9, z=3)  # type: ignore[type-var]
    assert repr(point) == "Point3(x=1, y=2, z=3)" and repr(Empty()) == "Empty()"
    assert repr(Point(1)).replace("Point", "") == repr(Reference(1)).replace("Reference", "")
    assert (
        Point.__doc__ == "Two numbers." and Point.__qualname__ == "Point" and Point.__match_args__ == ("x", "y", "tags")
    )


def test_copies() -> None:
    for value in (Point3(1, 2, ["a"], 3), Empty(), Checked(1)):
        assert pickle.loads(pickle.dumps(value)) == value == copy.copy(value) == copy.deepcopy(value)
    assert pickle.loads(pickle.dumps(Point(1, 2, ["a"]))).tags == ["a"]


@record
class Cell:
    """A box that can be changed."""

    item: int
    notes: list[str] = dataclasses.field(default_factory=list)
    late: int = dataclasses.field(init=False)


@record(eq=False)
class Node:
    name: str = "root"


def test_records_change() -> None:
    cell = Cell(1)
    cell.item = 2
    cell.late = 3
    assert cell.item == 2 and cell.notes == [] and cell.notes is not Cell(1).notes
    cell.notes.append("a")
    other = Cell(2, ["a"])
    other.late = 3
    assert cell == other and repr(cell) == "Cell(item=2, notes=['a'], late=3)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(cell)
    with pytest.raises(TypeError, match="misses"):
        Cell()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        cell.unknown = 1  # type: ignore[attr-defined]


def test_records_without_equality_are_told_apart() -> None:
    first, second = Node(), Node()
    assert first != second and len({first, second}) == 2 and second.name == "root"
