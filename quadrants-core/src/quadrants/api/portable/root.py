"""`qd.root`: fields are made without a shape, and placed in a tree of dense blocks.

Takes axes and sizes, level by level; gives fields their shape: along each axis the product of the sizes of the levels. Memory is
in the order of the axes.
"""

from __future__ import annotations

import itertools
from typing import Any

from quadrants._frozen import frozen
from quadrants.api.portable.tensors import Tensor
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError

_LETTERS = "ijkl"


@frozen
class Axes:
    """One or more axes: `qd.i`, `qd.ij`, ..."""

    axes: tuple[int, ...]


#: `i`, `j`, `k`, `l`, `ij`, ..., `ijkl`.
AXES: dict[str, Axes] = {
    "".join(_LETTERS[axis] for axis in chosen): Axes(chosen)
    for count in range(1, 5)
    for chosen in itertools.combinations(range(4), count)
}


def axes(*numbers: int) -> Axes:
    """Axes by their numbers."""
    return Axes(tuple(numbers))


@frozen
class Node:
    """A place in the tree; the shape of what is placed there, by axis."""

    sizes: tuple[tuple[int, int], ...] = ()

    def dense(self, axes: Axes, dimensions: Any) -> Node:
        """A block below this place: sizes along some axes.

        >>> import quadrants as qd
        >>> x = qd.field(float)
        >>> qd.root.dense(qd.ij, (4, 8)).place(x)
        >>> x.shape
        (4, 8)
        """
        given = dimensions if isinstance(dimensions, (tuple, list)) else (dimensions,) * len(axes.axes)
        if len(given) != len(axes.axes):
            raise QuadrantsError(Code.BAD_VALUE, f"dense() takes {len(axes.axes)} sizes for its axes, not {len(given)}")
        sizes = dict(self.sizes)
        for axis, size in zip(axes.axes, given):
            sizes[axis] = sizes.get(axis, 1) * int(size)
        return Node(tuple(sorted(sizes.items())))

    def place(self, *fields: Any, offset: Any = None) -> None:
        """Give fields the shape of this place."""
        shape = tuple(size for _, size in self.sizes)
        for field in fields:
            for one in field if isinstance(field, (tuple, list)) else (field,):
                if not isinstance(one, Tensor) or one.placed:
                    raise QuadrantsError(
                        Code.BAD_VALUE, f"{one!r} cannot be placed: it is no field that waits for a shape"
                    )
                one.put(shape)

    def lazy_grad(self) -> None:
        """Nothing: gradients are placed with their fields."""


root = Node()


def __getattr__(name: str) -> Any:
    if name in AXES:
        return AXES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
