"""What a loop carries from turn to turn, and what becomes of it when turns run side by side.

A reduction is a value that turns only add to (or multiply, or fold by another kind of op), on any way through branches and inner
loops: each lane folds its own, and the lanes are folded together at the end. That changes the order: for floats only where
the function allows it. A value that turns set but never read is that of the last turn.
"""

from __future__ import annotations

import enum
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Region, Value
from quadrants.types import Scalar

_KINDS = {"add": "add", "sub": "add", "mul": "mul", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}


class Role(enum.Enum):
    """What a carried value is."""

    REDUCTION = "a reduction"
    LAST = "the value of the last turn"


@frozen
class Carried:
    """A carried value. `kind`: of the reduction, as `lanes.reduce` has it."""

    role: Role
    kind: str = ""


def classify(loop: Op, position: int, strict: bool) -> Carried | None:
    """What the carried value at a position is; None if turns depend on it in another way."""
    body = loop.regions[0]
    arg = body.args[1 + position]
    uses = _Uses()
    uses.collect(body, loop)
    if arg not in uses.of:
        return Carried(Role.LAST)
    if not isinstance(arg.type, Scalar) or arg.type.is_complex:
        return None
    kind = _Reduction(uses, loop, position).kind(arg)
    if kind is None or (strict and arg.type.is_float):
        return None
    return Carried(Role.REDUCTION, kind)


def neutral(kind: str, type: Scalar) -> bool | int | float | None:
    """The value that changes nothing; None where there is none: then lanes begin with the initial value."""
    if kind == "add":
        return -0.0 if type.is_float else 0
    if kind == "mul":
        return 1
    if kind in ("min", "max"):
        return None
    if type.is_bool:
        return kind == "and"
    if kind == "and":
        return -1 if type.is_signed else (1 << type.bits) - 1
    return 0


@record
class _Uses:
    """Who uses each value, and what is around each op."""

    of: dict[Value, list[tuple[Op, int]]] = field(default_factory=dict)
    parents: dict[Op, Op] = field(default_factory=dict)
    labels: dict[object, Op] = field(default_factory=dict)

    def collect(self, region: Region, parent: Op) -> None:
        self.labels.setdefault(parent.attrs.get("label"), parent)
        for op in region.ops:
            self.parents[op] = parent
            for index, operand in enumerate(op.operands):
                self.of.setdefault(operand, []).append((op, index))
            for nested in op.regions:
                self.collect(nested, op)


class _Reduction:
    """Follows a carried value through a turn."""

    def __init__(self, uses: _Uses, loop: Op, position: int) -> None:
        self.uses = uses
        self.loop = loop
        self.position = position
        self.members: set[Value] = set()
        self.work: list[Value] = []
        self.merges: list[tuple[Op, int]] = []
        self.kinds: set[str] = set()

    def kind(self, arg: Value) -> str | None:
        self.add(arg)
        while self.work:
            for op, index in self.uses.of.get(self.work.pop(), ()):
                if not self.follow(op, index):
                    return None
        ends = [op.operands[self.position] for op in self._jumps(self.loop, "continue")]
        complete = all(end in self.members for end in ends) and all(self.is_complete(*merge) for merge in self.merges)
        return next(iter(self.kinds)) if complete and len(self.kinds) == 1 else None

    def add(self, value: Value) -> None:
        if value not in self.members:
            self.members.add(value)
            self.work.append(value)

    def follow(self, op: Op, index: int) -> bool:
        """One use of a value that is on the way; whether a reduction may have it."""
        if op.name in _KINDS:
            return self.fold(op, index)
        if op.name == "yield":
            return self.merge(self.uses.parents[op], index)
        if op.name in ("break", "continue"):
            target = self.uses.labels[op.attrs["label"]]
            if target is self.loop:
                return op.name == "continue" and index == self.position
            return self.merge(target, index)
        if op.name in ("for", "loop"):
            return (
                self.merge(op, index - 3)
                if op.name == "for" and index >= 3
                else op.name == "loop" and self.merge(op, index)
            )
        return False

    def fold(self, op: Op, index: int) -> bool:
        other = op.operands[1 - index]
        if other in self.members or (op.name == "sub" and index == 1):
            return False
        type = op.result.type
        if op.name in ("min", "max") and index == 0 and isinstance(type, Scalar) and type.is_float:
            return False  # the other way round it would take a NaN from what is folded in
        self.kinds.add(_KINDS[op.name])
        self.add(op.result)
        return True

    def merge(self, op: Op, index: int) -> bool:
        """A value that comes together with others, in a branch, a block or a loop."""
        self.merges.append((op, index))
        if op.name in ("for", "loop"):
            args = op.regions[0].args
            self.add(args[1 + index] if op.name == "for" else args[index])
            if op.name == "loop":
                return True
        self.add(op.results[index])
        return True

    def is_complete(self, op: Op, index: int) -> bool:
        """Whether everything that comes together there is on the way."""
        values = [end.operands[index] for region in op.regions if (end := region.ops[-1]).name == "yield"]
        if op.name in ("for", "loop"):
            values.append(op.operands[index + (3 if op.name == "for" else 0)])
            values += [end.operands[index] for end in self._jumps(op, "continue")]
        if op.name in ("for", "block"):
            values += [end.operands[index] for end in self._jumps(op, "break")]
        return all(value in self.members for value in values)

    def _jumps(self, op: Op, name: str) -> list[Op]:
        label = op.attrs["label"]
        return [inner for inner in op.regions[0].walk() if inner.name == name and inner.attrs["label"] == label]
