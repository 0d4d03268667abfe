"""Types of lists in lists: what the items of a list are, and where a list is that another one holds.

A list that another one holds is always a run-time list. Of one that was written out empty nothing is known of the items until
something is put in; as long as that is so, they are `EMPTY`.
"""

from __future__ import annotations

from collections.abc import Iterator

from quadrants._frozen import frozen
from quadrants.infer.values import Abstract, Const
from quadrants.ir import Value
from quadrants.types import CellsType, ListType, Scalar, Type


@frozen
class EmptyType(Type):
    """The type of the items of a list that nothing was put into."""

    def leaves(self) -> tuple[Type, ...]:
        return ()

    def rebuild(self, leaves: Iterator[Value]) -> Abstract:
        return Const(None)

    def __str__(self) -> str:
        return "nothing"


EMPTY = EmptyType()


@frozen
class Within:
    """The site of the lists that the list of a site holds."""

    outer: object


@frozen
class Elsewhere:
    """The site of a list that a comprehension made, a function of its own up to Python 3.11: that function, and the site."""

    key: object
    site: object


def root_of(site: object) -> object:
    """The site of the outermost list that the list of a site is in."""
    while isinstance(site, Within):
        site = site.outer
    return site


def local(site: object) -> object:
    """The site as the function knows it that made the list."""
    if isinstance(site, Within):
        return Within(local(site.outer))
    return site.site if isinstance(site, Elsewhere) else site


def holds(item: Type) -> bool:
    """Whether lists hold items of the type."""
    return all(isinstance(leaf, (Scalar, CellsType)) for leaf in item.leaves())


def note(known: dict[object, Type], site: object, item: Type) -> None:
    """Note the type of the items of a site's list; for a list inside of another one that of the outer list."""
    site, item = outermost(site, item)
    known[site] = item


def outermost(site: object, item: Type) -> tuple[object, Type]:
    """The site of the outermost list that the list of a site is in, and its items if those of that list are of the type."""
    while isinstance(site, Within):
        site, item = site.outer, ListType(item)
    return site, item
