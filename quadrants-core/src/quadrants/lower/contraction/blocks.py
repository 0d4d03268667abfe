"""How large the blocks of a product are: tiles of registers, panels of caches.

Takes a kind of numbers and the vector registers of the target; gives `Blocks`. A tile takes as many accumulators as leave room for
a row of the right factor and an element of the left one. A strip of the right factor, `depth` long, stays in the
first-level cache, a block of the left one in the second, a panel of the right one in the last.
"""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.lower.contraction import Number

#: (bits of a vector register, whether there are 32 of them) -> rows of a tile, vectors of a row.
_TILES = {(512, True): (12, 2), (256, False): (4, 3), (128, False): (4, 2), (128, True): (12, 2)}
#: Where a product of 64-bit integers takes several instructions and registers.
_SMALL_TILE = (4, 2)
_DEPTH_BYTES = 2048
_HEIGHT = 96
_WIDTH_BYTES = 16384


@frozen
class Blocks:
    """The sizes.

    Args:
        lanes: elements of a vector.
        rows, vectors: of a tile.
        depth: terms of a block.
        height: rows of a block of the left factor.
        width: columns of a panel of the right factor.
    """

    lanes: int
    rows: int
    vectors: int
    depth: int
    height: int
    width: int

    @property
    def columns(self) -> int:
        """Columns of a tile."""
        return self.lanes * self.vectors


def blocks_for(number: Number, vector_bits: int, many: bool) -> Blocks:
    """The blocks for a target.

    Args:
        number: the kind of numbers.
        vector_bits: the size of its vector registers.
        many: whether it has 32 of them, not 16.
    """
    known = (vector_bits, many) in _TILES
    rows, vectors = _TILES[vector_bits, many] if known else _TILES[128, False]
    if number == Number(64, False) and vector_bits < 512:
        rows, vectors = _SMALL_TILE
    lanes = (vector_bits if known else 128) // number.bits
    columns = lanes * vectors
    width = _WIDTH_BYTES // number.size // columns * columns
    return Blocks(lanes, rows, vectors, _DEPTH_BYTES // number.size, _HEIGHT // rows * rows, width)
