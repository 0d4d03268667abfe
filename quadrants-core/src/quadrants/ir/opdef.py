"""What an operation is: one definition holds its type rule, its effects, its semantics and its verifier rule."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quadrants.ir.core import Op, Region
    from quadrants.types import Type


class Effect(enum.Flag):
    """What an op does besides computing its results."""

    NONE = 0
    READS = enum.auto()
    WRITES = enum.auto()
    ALLOCATES = enum.auto()
    RAISES = enum.auto()
    HOST = enum.auto()  # calls back into Python: only on the host
    CONTROL = enum.auto()


#: (operand types, attributes, regions) -> result types. Raises TypeError with a message if they do not fit.
TypeRule = Callable[["Sequence[Type]", "dict[str, Any]", "Sequence[Region]"], "tuple[Type, ...]"]


@dataclass(frozen=True, slots=True, eq=False)
class OpDef:
    """The definition of an operation.

    Args:
        name: as in the text form, for example "add" or "math.sin".
        type_rule: gives the result types.
        effects: see `Effect`; `may_raise` refines RAISES for one op (a checked load raises, an unchecked one does not).
        terminator: whether it ends a region.
        reference: the semantics in plain Python: (op, operand values) -> result values; None for control flow, which the
            interpreter runs itself.
        verify: further rules: op -> message of what is wrong, or None.
        doc: one sentence of meaning, with the undefined cases and who guards them.
        derivative: how it is differentiated, or the reason why it is not.
    """

    name: str
    type_rule: TypeRule
    effects: Effect = Effect.NONE
    terminator: bool = False
    reference: Callable[[Op, tuple[Any, ...]], tuple[Any, ...]] | None = None
    verify: Callable[[Op], str | None] | None = None
    may_raise: Callable[[Op], bool] | None = None
    doc: str = ""
    derivative: str = ""

    def raises(self, op: Op) -> bool:
        """Whether this op can raise."""
        if not self.effects & Effect.RAISES:
            return False
        return self.may_raise is None or self.may_raise(op)
