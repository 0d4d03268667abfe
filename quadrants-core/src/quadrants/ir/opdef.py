"""What an operation is: one definition holds its type rule, its attributes, its effects, its semantics and its verifier rule."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from quadrants._frozen import frozen

if TYPE_CHECKING:
    from quadrants.ir.core import Op, Region
    from quadrants.ir.threads import Group, Thread
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
    COLLECTIVE = (
        enum.auto()
    )  # depends on what other threads do at the same place: only on a device, and never duplicated


class AttrKind(enum.Enum):
    """What an attribute holds."""

    INT = "an int"
    BOOL = "a bool"
    STR = "a string"
    NUMBER = "a bool, int, float or complex"
    TYPE = "a type"
    TYPES = "a tuple of types"
    STRS = "a tuple of strings"
    INTS = "a tuple of ints"


@frozen
class Attr:
    """An attribute of an op: required, or with the value that it has when absent.

    Args:
        name: as in the text form.
        kind: what it holds.
        required: whether it must be present.
        default: what its absence means.
        choices: the values that are allowed, if they are few.
    """

    name: str
    kind: AttrKind
    required: bool = True
    default: object = None
    choices: tuple[object, ...] = ()


#: (operand types, attributes, regions) -> result types. Raises TypeError with a message if they do not fit.
TypeRule = Callable[["Sequence[Type]", "dict[str, Any]", "Sequence[Region]"], "tuple[Type, ...]"]
Reference = Callable[["Op", "tuple[Any, ...]"], "tuple[Any, ...]"]
#: (op, the thread, operand values) -> result values: for an op whose meaning depends on which thread runs it.
ThreadReference = Callable[["Op", "Thread", "tuple[Any, ...]"], "tuple[Any, ...]"]
#: (op, the threads that arrive together with their operand values) -> the result values of each, in the same order.
GroupReference = Callable[["Op", "Group"], "list[tuple[Any, ...]]"]


@frozen(eq=False)
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
        may_raise: whether this op can raise, for an op with RAISES; None: always.
        attrs: the attributes that it takes; any other is an error.
        regions: how many regions it holds.
        doc: one sentence of meaning, with the undefined cases and who guards them.
        derivative: how it is differentiated, or the reason why it is not.
        on_thread: instead of `reference`, the semantics of an op that only a device has, for one thread.
        on_group: instead of `reference`, the semantics of an op with the effect COLLECTIVE, for the threads that arrive together.
    """

    name: str
    type_rule: TypeRule
    effects: Effect = Effect.NONE
    terminator: bool = False
    reference: Reference | None = None
    verify: Callable[[Op], str | None] | None = None
    may_raise: Callable[[Op], bool] | None = None
    attrs: tuple[Attr, ...] = ()
    regions: int = 0
    doc: str = ""
    derivative: str = ""
    on_thread: ThreadReference | None = None
    on_group: GroupReference | None = None
    #: Of the effects, what passes ask for at every op: whether it writes (or calls Python, which may), whether it may raise.
    writes: bool = field(init=False)
    raising: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "writes", bool(self.effects & (Effect.WRITES | Effect.HOST)))
        object.__setattr__(self, "raising", bool(self.effects & Effect.RAISES))

    def raises(self, op: Op) -> bool:
        """Whether this op can raise."""
        return self.raising and (self.may_raise is None or self.may_raise(op))

    def default(self, attr: str) -> object:
        """What the absence of the attribute means."""
        for spec in self.attrs:
            if spec.name == attr:
                return spec.default
        raise KeyError(f"{self.name} has no attribute {attr!r}")
