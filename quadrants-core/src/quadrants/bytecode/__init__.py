"""CPython bytecode -> region trees of canonical stack operations, the same on every supported Python version.

`regions(code)` takes a code object and gives a `Function`. Legal on any code object of the running interpreter; what no
Python compiler would make raises `BytecodeError`. Nothing else in the project looks at bytecode.

The stages, one module each: `raw` reads instructions, `v311` ... `v314` say what they mean, `blocks` makes basic blocks of
canonical operations, `copies` undoes the copying of loop tests, `graph` finds dominators and loops, `regions` decides
where each block goes, `structure` builds the tree, `protect` adds the `try` nodes, `simplify` drops needless jumps and
`finish` adds liveness. `nodes` and `opcode` define the result.
"""

from __future__ import annotations

import types
from functools import lru_cache

from .decode import function_of, table_for
from .error import BytecodeError
from .nodes import Block, Code, Continue, Exit, For, If, Loop, Node, Raise, Reraise, Return, Seq, Try
from .opcode import Inst, Loc, Opcode, effect
from .raw import read
from .tree import Function, Params

__all__ = [
    "Block",
    "BytecodeError",
    "Code",
    "Continue",
    "Exit",
    "For",
    "Function",
    "If",
    "Inst",
    "Loc",
    "Loop",
    "Node",
    "Opcode",
    "Params",
    "Raise",
    "Reraise",
    "Return",
    "Seq",
    "Try",
    "effect",
    "format",
    "regions",
]


class _Key:
    """A code object by identity: equal code objects may differ in file name and position."""

    __slots__ = ("code",)

    def __init__(self, code: types.CodeType) -> None:
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.code is other.code


def regions(code: types.CodeType) -> Function:
    """The region tree of a code object. Cached; may be called from any thread."""
    return _regions(_Key(code))


@lru_cache(maxsize=4096)
def _regions(key: _Key) -> Function:
    return function_of(read(key.code), table_for(), key.code)


def format(function: Function) -> str:
    """The text form of a function: an indented tree with source lines."""
    return str(function)
