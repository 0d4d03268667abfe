"""What the interpreter of device code remembers of memory accesses, to find races and reads of what was not written.

Two threads race when both access an element, at least one writes it, not atomically, and no barrier lies between: of the
block, or of the subgroup for its lanes, or of the grid, or the end of the launch. Writes of the same value are not reported, nor
reads by another block of what a thread wrote before a fence. Elements in shared and local memory have to be written before they
are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from quadrants.ir.core import Op
from quadrants.ir.ops.memory import element_index
from quadrants.ir.threads import Thread
from quadrants.ir.values import InterpArray, InterpError, Raised

#: Op -> (which operand is the array, whether it reads, writes, is atomic).
_ACCESSES = {
    "load": (0, True, False, False),
    "store": (1, False, True, False),
    "atomic": (1, True, True, True),
    "atomic.cas": (2, True, True, True),
}


class Race(InterpError):
    """Two threads access an element without order, and one of them writes."""

    def __init__(self, message: str, op: Op, thread: Thread) -> None:
        super().__init__(message)
        self.op = op
        self.thread = thread


class Uninitialised(InterpError):
    """A read of shared or local memory that nothing was written to."""

    def __init__(self, message: str, op: Op, thread: Thread) -> None:
        super().__init__(message)
        self.op = op
        self.thread = thread


@dataclass(slots=True)
class _Access:
    """The last access of a kind: by whom, when, how."""

    thread: Thread
    epoch: int
    lane_epoch: int
    grid_epoch: int
    atomic: bool
    value: Any
    op: Op
    fences: int


@dataclass(slots=True)
class _Cell:
    """What is known of an element."""

    write: _Access | None = None
    reads: dict[Thread, _Access] = field(default_factory=dict)  # since that write, the last of each thread


@dataclass(slots=True)
class Shadow:
    """The accesses so far. `on`: whether they are kept and checked at all."""

    on: bool = False
    cells: dict[tuple[int, int], _Cell] = field(default_factory=dict)
    epochs: dict[object, int] = field(default_factory=dict)
    lane_epochs: dict[object, int] = field(default_factory=dict)
    fences: dict[object, int] = field(default_factory=dict)
    grid_epoch: int = 0
    kept: list[object] = field(default_factory=list)  # what the identities in the keys of `cells` belong to

    def barrier(self, thread: Thread) -> None:
        """The threads of a block have met."""
        self.epochs[thread.block] = self.epochs.get(thread.block, 0) + 1

    def subgroup_barrier(self, thread: Thread) -> None:
        key = (thread.block, thread.subgroup)
        self.lane_epochs[key] = self.lane_epochs.get(key, 0) + 1

    def grid_barrier(self) -> None:
        self.grid_epoch += 1

    def access(self, op: Op, values: tuple[Any, ...], thread: Thread) -> None:
        """Before the op happens: compare with what others did, and remember it."""
        if op.name == "fence":
            key = (thread.block, thread.number)
            self.fences[key] = self.fences.get(key, 0) + 1
        kind = _ACCESSES.get(op.name) if self.on else None
        if kind is None:
            return
        at, reads, writes, atomic = kind
        array: InterpArray = values[at]
        place = _byte(op, array, values[at + 1 :])
        if place is None or array.block is None:
            return  # the op itself raises
        cell = self._cell(array, place)
        if reads and cell.write is None and array.type.space != "global":
            raise Uninitialised(
                f"{thread} reads element {_indices(op, array, values[at + 1 :])} of {array.type.space} memory,"
                " which nothing was written to",
                op,
                thread,
            )
        if array.type.space == "local":
            cell.write = self._entry(op, thread, atomic, None)
            return
        self._compare(cell, op, thread, values, array, at, writes, atomic)

    def _compare(
        self,
        cell: _Cell,
        op: Op,
        thread: Thread,
        values: tuple[Any, ...],
        array: InterpArray,
        at: int,
        writes: bool,
        atomic: bool,
    ) -> None:
        value = _bits(values[0]) if writes and not atomic else None
        mine = self._entry(op, thread, atomic, value)
        others = [cell.write] if cell.write is not None else []
        others += cell.reads.values() if writes else []
        for other in others:
            if self._races(mine, other, writes):
                where = _indices(op, array, values[at + 1 :])
                did = "writes" if writes else "reads"
                had = "writes" if other is cell.write else "reads"
                raise Race(
                    f"race on element {where} of an array in {array.type.space} memory: {thread} {did} it,"
                    f" {other.thread} {had} it{_line(other.op)}, without a barrier between",
                    op,
                    thread,
                )
        if writes:
            cell.write = mine
            cell.reads.clear()
        else:
            cell.reads[thread] = mine

    def _races(self, mine: _Access, other: _Access, writes: bool) -> bool:
        if other.thread is mine.thread or other.grid_epoch != mine.grid_epoch:
            return False
        if not any(access.value is not None for access in (mine, other)):
            return False  # neither is a plain write: reads of what others change atomically are common, and mean to be
        if writes and mine.value is not None and mine.value == other.value:
            return False
        if other.thread.block != mine.thread.block:
            key = (other.thread.block, other.thread.number)
            return other.fences == self.fences.get(key, 0)
        return not self._ordered(other, mine)

    def _ordered(self, earlier: _Access, later: _Access) -> bool:
        """Whether a barrier lies between two accesses by threads of one block."""
        if earlier.epoch != later.epoch:
            return True
        same = earlier.thread.subgroup == later.thread.subgroup
        return same and earlier.lane_epoch != later.lane_epoch

    def _entry(self, op: Op, thread: Thread, atomic: bool, value: Any) -> _Access:
        key = (thread.block, thread.subgroup)
        return _Access(
            thread,
            self.epochs.get(thread.block, 0),
            self.lane_epochs.get(key, 0),
            self.grid_epoch,
            atomic,
            value,
            op,
            self.fences.get((thread.block, thread.number), 0),
        )

    def _cell(self, array: InterpArray, place: int) -> _Cell:
        key = (id(array.block), place)
        found = self.cells.get(key)
        if found is None:
            found = self.cells[key] = _Cell()
            self.kept.append(array.block)
        return found


def _bits(value: Any) -> Any:
    return value if isinstance(value, int) else value.tobytes()


def _byte(op: Op, array: InterpArray, indices: tuple[Any, ...]) -> int | None:
    """Where the element is in its block; None if an index is out of range."""
    place = array.offset
    for axis, (index, size) in enumerate(zip(indices, array.dims)):
        try:
            place += element_index(index, size, axis, op) * array.strides[axis]
        except (Raised, InterpError):
            return None
    return place


def _indices(op: Op, array: InterpArray, indices: tuple[Any, ...]) -> str:
    places = [element_index(index, size, axis, op) for axis, (index, size) in enumerate(zip(indices, array.dims))]
    return str(places[0]) if len(places) == 1 else f"({', '.join(map(str, places))})"


def _line(op: Op) -> str:
    return f" in line {op.loc.line}" if op.loc is not None else ""
