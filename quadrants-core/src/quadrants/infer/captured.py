"""What closures capture, as abstract values: boxes, variables of the frame that made them, and the closures around them.

A variable that an inner function assigns is kept in a box, which all the functions that know it share: memory, one piece a leaf.
A variable that only its own function assigns has no memory of its own. As long as a closure stays in the function that made it,
it has a `Late` in place of the value, for what the variable holds when the closure is called; see `closures`.
"""

from __future__ import annotations

from collections.abc import Iterator

from quadrants._frozen import frozen
from quadrants.infer.values import Abstract, rebuild
from quadrants.ir import Value
from quadrants.types import BOOL, ArrayType, Scalar, Type


@frozen
class LateType(Type):
    """The type of a `Late`."""

    name: str

    def leaves(self) -> tuple[Type, ...]:
        return ()

    def rebuild(self, leaves: Iterator[Value]) -> Abstract:
        return Late(self.name)


@frozen(eq=False)
class Late(Abstract):
    """A variable of the function that is being walked: what it holds when it is asked for."""

    name: str

    @property
    def type(self) -> LateType:
        return LateType(self.name)


@frozen
class UpType(Type):
    """The type of an `Up`."""

    level: int

    def leaves(self) -> tuple[Type, ...]:
        return ()

    def rebuild(self, leaves: Iterator[Value]) -> Abstract:
        return Up(self.level)


@frozen(eq=False)
class Up(Abstract):
    """Among what a closure has captured: the closure itself (level 0), or the one that many levels further out that holds it."""

    level: int

    @property
    def type(self) -> UpType:
        return UpType(self.level)


@frozen(eq=False)
class BoxType(Type):
    """The type of a box: of what it holds (None: nothing is ever put in), and whether a flag says that it is bound.

    `deleted`: whether it may be unbound again. The site says whose box it is, and is no part of the type.
    """

    item: Type | None
    flagged: bool
    deleted: bool
    site: tuple[object, str]

    def _key(self) -> tuple[object, ...]:
        return self.item, self.flagged, self.deleted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoxType) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def leaves(self) -> tuple[Type, ...]:
        return tuple(cell_type(leaf) for leaf in ((BOOL,) if self.flagged else ()) + self.parts())

    def parts(self) -> tuple[Type, ...]:
        """The leaves of what it holds."""
        return () if self.item is None else self.item.leaves()

    def rebuild(self, leaves: Iterator[Value]) -> Abstract:
        flag = next(leaves) if self.flagged else None
        return Box(self, flag, tuple(next(leaves) for _ in self.parts()))

    def __str__(self) -> str:
        return f"variable<{self.item}>"


@frozen(eq=False)
class Box(Abstract):
    """A variable that several functions share."""

    box: BoxType
    flag: Value | None
    cells: tuple[Value, ...]

    @property
    def type(self) -> BoxType:
        return self.box

    @property
    def leaves(self) -> tuple[Value, ...]:
        return ((self.flag,) if self.flag is not None else ()) + self.cells

    def load(self, take: Iterator[Value]) -> Abstract:
        """What it holds, of the leaves."""
        assert self.box.item is not None
        return rebuild(self.box.item, take)


def cell_type(leaf: Type) -> Type:
    """The memory for one leaf."""
    assert isinstance(leaf, Scalar)
    return ArrayType(leaf.machine, 0)
