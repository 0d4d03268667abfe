"""Lanes: one scalar for each of several turns of a loop that run side by side in a SIMD register."""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.types.scalar import Scalar, Type


@frozen
class LanesType(Type):
    """Several scalars of one type, one a lane.

    Args:
        item: the type of each.
        count: how many there are.
    """

    item: Scalar
    count: int

    @property
    def heap(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"lanes<{self.item}, {self.count}>"


def item_of(type: Type) -> Type:
    """The type of one lane; a type that has no lanes itself."""
    return type.item if isinstance(type, LanesType) else type


def count_of(type: Type) -> int:
    """How many lanes the type has; 0 for one that has none."""
    return type.count if isinstance(type, LanesType) else 0
