"""Runs the turns of loops side by side in the lanes of SIMD registers (`docs/contributing/spmd.md`).

What is here only finds out whether there is a loop to look at: most functions have none, and do not pay for loading the rest.
"""

from __future__ import annotations

from quadrants.ir import Function, Op
from quadrants.passes.context import PassContext

__all__ = ["is_reason", "run"]

#: Registers of fewer bits hold too few lanes.
FEWEST_BITS = 256


def run(function: Function, context: PassContext) -> None:
    """Transform the loops of one function that gain."""
    if context.options.vector_bits < FEWEST_BITS or function.attrs.get("level") == "device":
        return
    loops = (op for op in function.body.walk() if op.name == "for" and not op.attrs.get("cold"))
    if any(map(is_reason, (inner for loop in loops for inner in loop.regions[0].walk()))):
        from quadrants.passes.spmd.select import Selector  # loaded for the first function with such a loop

        Selector(function, context).run()


def is_reason(op: Op) -> bool:
    """Whether an op is a reason to look at the loop around it: LLVM does not vectorise that by itself."""
    return op.name in ("for", "loop", "block", "check", "call") or (op.name == "index" and bool(op.attr("checked")))
