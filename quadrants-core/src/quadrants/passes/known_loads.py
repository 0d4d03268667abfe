"""Elements of arrays that were read or written before, and not changed since.

Kept by `simplify` on its walk. What is known in a region is known in the regions inside, but for the bodies of loops
that write: there a turn before may have changed it. A write makes everything unknown but the element that it wrote.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Value

Place = tuple[object, ...]


@record
class KnownLoads:
    """A stack of tables, one a region; `barriers` says which regions do not see what is around them."""

    tables: list[dict[Place, Value]] = field(default_factory=list)
    barriers: list[bool] = field(default_factory=list)

    def enter(self, barrier: bool) -> None:
        self.tables.append({})
        self.barriers.append(barrier)

    def leave(self) -> None:
        self.tables.pop()
        self.barriers.pop()

    def forget(self) -> None:
        """Something was written: anything may have changed."""
        for table in self.tables:
            table.clear()

    def read(self, op: Op) -> Value | None:
        """The element that a load gives, if it is known; else the load's result is, from now on."""
        place = _place(op, 0)
        for table, barrier in zip(reversed(self.tables), reversed(self.barriers)):
            if (known := table.get(place)) is not None:
                return known
            if barrier:
                break
        self.tables[-1][place] = op.result
        return None

    def written(self, op: Op) -> None:
        """A store: its element is known, all others are forgotten."""
        self.forget()
        self.tables[-1][_place(op, 1)] = op.operands[0]


def _place(op: Op, array: int) -> Place:
    """The element: array and indices. An access that was let through lets the next one with the same indices through."""
    return (op.attr("wrap"), *map(id, op.operands[array:]))
