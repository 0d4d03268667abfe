"""The threads of a device as the reference semantics see them.

A launch is a grid of blocks, a block a box of threads; threads are numbered with x fastest, and `SUBGROUP` consecutive ones are a
subgroup, of which a thread is a lane. The last subgroup of a block may be smaller.
"""

from __future__ import annotations

from typing import Any

from quadrants._frozen import frozen, record
from quadrants.ir.values import InterpArray

Box = tuple[int, int, int]

#: Lanes of a subgroup, where the device does not say otherwise.
SUBGROUP = 32


@frozen
class Geometry:
    """The shape of a launch.

    Args:
        grid: how many blocks, along x, y and z.
        block: how many threads in each, likewise.
        shared_bytes: the size of the dynamic shared memory of a block.
        subgroup: lanes of a subgroup.
    """

    grid: Box
    block: Box
    shared_bytes: int = 0
    subgroup: int = SUBGROUP

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        x, y, z = self.grid
        return x * y * z


@record(eq=False)
class BlockMemory:
    """What the threads of a block share: the arrays of its `shared.array` ops, and the dynamic buffer."""

    arrays: dict[int, InterpArray]
    dynamic: InterpArray


@frozen(eq=False)
class Thread:
    """One thread: its place, and the memory of its block.

    Args:
        geometry: of the launch.
        block: the index of its block.
        index: its index in the block.
        number: the same as one number, x fastest.
        memory: of its block.
    """

    geometry: Geometry
    block: Box
    index: Box
    number: int
    memory: BlockMemory

    @property
    def lane(self) -> int:
        """Its place in its subgroup."""
        return self.number % self.geometry.subgroup

    @property
    def subgroup(self) -> int:
        """The number of its subgroup in the block."""
        return self.number // self.geometry.subgroup

    def __str__(self) -> str:
        return f"block {self.block}, thread {self.index}"


@frozen(eq=False)
class Group:
    """The threads that arrive at an op together, and the values of its operands for each."""

    threads: tuple[Thread, ...]
    values: tuple[tuple[Any, ...], ...]

    def column(self, index: int = 0) -> list[Any]:
        """One operand, for every thread."""
        return [values[index] for values in self.values]

    def mask(self, chosen: list[bool] | None = None) -> int:
        """The lanes as bits: of all threads, or of those that are chosen."""
        chosen = [True] * len(self.threads) if chosen is None else chosen
        return sum(1 << thread.lane for thread, here in zip(self.threads, chosen) if here)


def unlinear(number: int, shape: Box) -> Box:
    """The index in a box of what is numbered with x fastest."""
    x, y, _ = shape
    return number % x, number // x % y, number // (x * y)
