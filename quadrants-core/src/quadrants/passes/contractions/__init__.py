"""Products of matrices, however they are written: three nested loops in any order become one call of a kernel that is as fast as a
good BLAS (`lower.contraction`).

What is here only finds out whether there is a nest to look at: most functions have none, and do not pay for loading the rest.
"""

from __future__ import annotations

from quadrants.ir import Function, Op, Region
from quadrants.passes.context import PassContext

__all__ = ["run"]


def run(function: Function, context: PassContext) -> None:
    """Replace the products of one function."""
    if context.options.tile is None or function.attrs.get("level") == "device":
        return
    if _depth(function.body) >= 3:
        from quadrants.passes.contractions.replace import Replacer  # loaded for the first function with such loops

        Replacer(function, context).run()


def _depth(region: Region) -> int:
    """How many counted loops are inside one another, each the only one in the other."""
    deepest = 0
    for op in region.ops:
        if op.regions and not op.attrs.get("cold"):
            inner = max(map(_depth, op.regions))
            deepest = max(deepest, inner + _counts(op))
    return deepest


def _counts(op: Op) -> bool:
    return op.name == "for"
