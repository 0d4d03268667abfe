"""What the walk keeps of control flow that is not closed yet: open ends, returns, targets of jumps, variables of a `try`, tests."""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.infer.values import Abstract, Env, Opt
from quadrants.ir import Value
from quadrants.ir.core import Loc, Region
from quadrants.types import Type


@record
class Exit:
    """An open end of a region: its terminator is added when all ends that meet are known."""

    region: Region
    env: Env
    loc: Loc | None = None


@record
class Return:
    """A return: its region is open until the type of the result is known."""

    region: Region
    value: Abstract
    loc: Loc | None


@record
class Target:
    """Where `Exit` or `Continue` of a label go."""

    label: int
    exits: list[Exit] = field(default_factory=list)


@record
class Mirror:
    """The locals that a `try` keeps in variables for its handler; `types` collects what is stored on the trial."""

    types: dict[str, Type | None]
    refs: dict[str, list[Value]] = field(default_factory=dict)


@frozen
class Fact:
    """What a true test says about an optional: present or absent; `exact`: a false test says the opposite."""

    optional: Opt
    present: bool
    exact: bool


class Places:
    """Where each value was last put on the stack: the expression that gave it."""

    __slots__ = ("_found", "_last")

    def __init__(self) -> None:
        self._found: dict[int, Loc] = {}
        self._last = -1

    def note(self, value: Abstract, loc: Loc | None) -> None:
        """A value is put on the stack. Of several values of one instruction, only the first has the instruction's place."""
        if loc is None or loc.offset == self._last:
            self._found.pop(id(value), None)
        else:
            self._found[id(value)] = loc
            self._last = loc.offset

    def of(self, value: Abstract) -> Loc | None:
        """The place of a value that is still alive."""
        return self._found.get(id(value))
