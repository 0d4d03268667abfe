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
    if any(map(is_reason, loops)):
        from quadrants.passes.spmd.select import Selector  # loaded for the first function with such a loop

        Selector(function, context).run()


def compares_carried(loop: Op) -> bool:
    """Whether a loop compares what it carries, as the search for a best value does."""
    carried = set(loop.regions[0].args[1:])
    return any(op.name == "cmp" and not carried.isdisjoint(op.operands) for op in loop.regions[0].ops)


def is_reason(loop: Op) -> bool:
    """Whether there is a reason to look at a loop: LLVM does not vectorise it by itself. Around loops that were arranged for
    LLVM (`interchange`) there is none."""
    inside = list(loop.regions[0].walk())
    if any(op.name == "for" and op.attrs.get("wide") for op in inside):
        return False
    return any(map(_stops_llvm, inside)) or compares_carried(loop)


def _stops_llvm(op: Op) -> bool:
    return op.name in ("for", "loop", "block", "check", "call") or (op.name == "index" and bool(op.attr("checked")))
