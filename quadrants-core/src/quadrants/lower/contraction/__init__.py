"""Products of matrices at the speed of a good BLAS, as LLVM text: what the op `contract` calls.

Takes the kind of numbers and what the target has; gives a module with one function, `SYMBOL`. It adds a product to a
matrix, each element in the order of the sum: blocks that stay in the caches are packed (`pack`) so that the innermost
loop (`tile`) reads them in a row, and keeps a tile of the result in vector registers. `blocks` has the sizes.

The function takes the context of the kernel and the words of a `Word` each; it gives `DONE`, `REFUSED` if there is no memory
(nothing has happened then), or the status of a poll that wants the kernel to end.
"""

from __future__ import annotations

import enum

from quadrants._frozen import frozen

SYMBOL = "qd_contraction"
DONE = 0
REFUSED = 1


class Word(enum.IntEnum):
    """The arguments, 64 bits each: addresses, strides in bytes, and how many rows, columns and terms there are."""

    C = 0
    C_ROW = 1
    C_COLUMN = 2
    A = 3
    A_ROW = 4
    A_TERM = 5
    B = 6
    B_TERM = 7
    B_COLUMN = 8
    ROWS = 9
    COLUMNS = 10
    TERMS = 11
    NEGATE = 12  # 1: the product is subtracted
    CLEAR = 13  # 1: the result is 0 before


@frozen
class Number:
    """A kind of numbers.

    Args:
        bits: their width.
        is_float: whether they are floats.
        fused: whether a product and a sum may be rounded once.
    """

    bits: int
    is_float: bool
    fused: bool = False

    @property
    def text(self) -> str:
        """LLVM's name."""
        return {32: "float", 64: "double"}[self.bits] if self.is_float else f"i{self.bits}"

    @property
    def size(self) -> int:
        return self.bits // 8


#: Kernels by number. (Integers wrap: signed or not, they are the same.)
NUMBERS: tuple[Number, ...] = (
    Number(32, True, fused=True),
    Number(64, True, fused=True),
    Number(32, True),
    Number(64, True),
    Number(32, False),
    Number(64, False),
)
