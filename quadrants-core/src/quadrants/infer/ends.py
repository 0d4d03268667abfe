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
