"""The floating-point modes of operations.

Takes an op, or code, and the mode of the function that it is in; says which mode holds, and whether anything keeps its order. An
op of a block with a mode of its own (`with qd.fp("strict"):`) has it as an attribute.
"""

from __future__ import annotations

from collections.abc import Iterable

from quadrants.ir import Function, Op
from quadrants.ir.ops.rules import MODE, is_float

STRICT = "strict"


def mode_of(function: Function) -> str:
    """The mode of a function."""
    return str(function.attrs.get("fp", "default"))


def modes_of(ops: Iterable[Op], around: str) -> set[str]:
    """The modes of operations on floats. `around`: that of their function."""
    return {str(op.attrs.get("fp") or around) for op in ops}


def any_strict(ops: Iterable[Op], around: str) -> bool:
    """Whether the function, or any of the operations, keeps the interpreter's order."""
    return around == STRICT or any(op.attrs.get("fp") == STRICT for op in ops)


def keep_mode(ops: Iterable[Op], own: str, around: str) -> None:
    """Let operations of a function keep their mode in another one."""
    if own != around:
        for op in ops:
            if MODE in op.defn.attrs and not op.attrs.get("fp") and is_float(op.operands[0].type):
                op.attrs["fp"] = own
