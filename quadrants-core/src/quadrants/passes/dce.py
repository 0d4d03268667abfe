"""Removes ops whose results nobody needs, and the results and carried values of control flow that nobody reads.

Takes and gives QIR. Always legal: what is kept is everything that has an effect or can raise, the loops that may not
end, and what those need. Liveness begins there and spreads backwards, so that values which only feed each other around
a loop go too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Value
from quadrants.passes.context import PassContext
from quadrants.passes.structure import Exits

_LEAVES = frozenset({"return", "raise", "reraise", "unreachable"})
_MAPS = frozenset({"map", "map_into"})
_JUMPS = frozenset({"break", "continue"})
#: How many operands of a loop come before the carried values; also: the arguments of its body, less two.
_HEAD = {"for": 3, "loop": 0}


def run(function: Function, context: PassContext | None = None) -> None:
    """Remove what is dead in the function."""
    liveness = _Liveness()
    liveness.collect(function.body, None, {})
    liveness.solve()
    _sweep(function.body, liveness)


@record
class _Liveness:
    """Which ops and values are needed."""

    live: set[Op] = field(default_factory=set)
    needed: set[Value] = field(default_factory=set)
    parent: dict[Op, Op | None] = field(default_factory=dict)
    exits: dict[Op, Exits] = field(default_factory=dict)
    makers: dict[Value, tuple[Op, int]] = field(default_factory=dict)
    arguments: dict[Value, tuple[Op, int]] = field(default_factory=dict)
    work: list[Value | Op] = field(default_factory=list)

    def collect(self, region: Region, owner: Op | None, targets: dict[object, Exits]) -> None:
        """Record who defines what, and begin with the ops that must stay."""
        for op in region.ops:
            self.parent[op] = owner
            for index, result in enumerate(op.results):
                self.makers[result] = (op, index)
            if op.name in _JUMPS:
                target = targets[op.attrs["label"]]
                (target.breaks if op.name == "break" else target.continues).append(op)
            elif op.regions:
                inner = targets
                if "label" in op.attrs:
                    self.exits[op] = Exits()
                    inner = {**targets, op.attrs["label"]: self.exits[op]}
                for nested in op.regions:
                    for index, arg in enumerate(nested.args):
                        self.arguments[arg] = (op, index)
                    self.collect(nested, op, inner)
            if self._essential(op):
                self.work.append(op)

    def _essential(self, op: Op) -> bool:
        """Whether the op stays even if nobody reads its results."""
        if op.name in _LEAVES or op.name == "loop":
            return True
        if op.name == "alloc":  # without a reader, all that it could do is refuse a negative dimension
            return not all(self._is_size(operand) for operand in op.operands)
        return op.defn.writes or op.can_raise

    def _is_size(self, value: Value) -> bool:
        """Whether the value is known not to be negative by its definition."""
        made = self.makers.get(value)
        if made is None:
            return False
        constant = made[0].attrs.get("value", -1)
        return made[0].name == "dim" or (made[0].name == "const" and isinstance(constant, int) and constant >= 0)

    def solve(self) -> None:
        """Spread liveness until nothing changes."""
        while self.work:
            item = self.work.pop()
            if isinstance(item, Op):
                self._op(item)
            elif item not in self.needed:
                self.needed.add(item)
                self._value(item)

    def _op(self, op: Op) -> None:
        if op in self.live:
            return
        self.live.add(op)
        owner = self.parent[op]
        if owner is not None:
            self.work.append(owner)
        if op.name in _HEAD:
            self.work.extend(op.operands[: _HEAD[op.name]])
        elif op.name not in _JUMPS and op.name != "yield":
            self.work.extend(op.operands)
        if op.name in _MAPS:
            self.work.extend(op.regions[0].ops[-1].operands)
        if op in self.exits:
            self.work.extend(self.exits[op].breaks)
            self.work.extend(self.exits[op].continues)
        for region in op.regions:
            if (end := region.terminator) is not None and end.name == "yield":
                self.live.add(end)

    def _value(self, value: Value) -> None:
        if (made := self.makers.get(value)) is not None:
            op, index = made
            self.work.append(op)
            if op.regions and op.name != "map":
                self._result(op, index)
        elif (argument := self.arguments.get(value)) is not None:
            op, index = argument
            self.work.append(op)
            if op.name == "loop":
                self._carried(op, index)
            elif op.name == "for" and index > 0:
                self._result(op, index - 1)

    def _result(self, op: Op, index: int) -> None:
        """What a result of control flow is made from."""
        for region in op.regions:
            end = region.terminator
            if end is not None and end.name == "yield":
                self.work.append(end.operands[index])
        if op in self.exits:
            self.work.extend(jump.operands[index] for jump in self.exits[op].breaks)
        if op.name == "for":
            self.work.append(op.regions[0].args[index + 1])
            self._carried(op, index)

    def _carried(self, op: Op, index: int) -> None:
        self.work.append(op.operands[_HEAD[op.name] + index])
        self.work.extend(jump.operands[index] for jump in self.exits[op].continues)


def _sweep(region: Region, liveness: _Liveness) -> None:
    region.ops[:] = [op for op in region.ops if op in liveness.live or op.defn.terminator]
    for op in region.ops:
        if op.regions and op.name not in _MAPS:
            _prune(op, liveness)
        for nested in op.regions:
            _sweep(nested, liveness)


def _prune(op: Op, liveness: _Liveness) -> None:
    """Drop the results and the carried values that are not needed."""
    exits = liveness.exits.get(op, Exits())
    if op.name == "loop":
        _keep(op.regions[0].args, [arg in liveness.needed for arg in op.regions[0].args], op, exits.continues, 0)
    if op.name == "for":
        keep = [arg in liveness.needed for arg in op.regions[0].args[1:]]
        if not all(keep):
            _keep(op.results, keep, None, exits.breaks, 0)
            _keep(op.regions[0].args, [True, *keep], op, exits.continues, 3)
        return
    keep = [result in liveness.needed for result in op.results]
    if all(keep):
        return
    _keep(op.results, keep, None, exits.breaks, 0)
    if op.name == "loop":
        op.attrs["result_types"] = tuple(result.type for result in op.results)
    for region in op.regions:
        if (end := region.terminator) is not None and end.name == "yield":
            end.operands[:] = _chosen(end.operands, keep)


def _keep(values: list[Value], keep: list[bool], op: Op | None, jumps: list[Op], head: int) -> None:
    """Keep some of the values, of the initial values of the loop `op`, and of what the jumps carry."""
    if all(keep):
        return
    values[:] = _chosen(values, keep)
    carried = keep[1:] if head else keep
    if op is not None:
        op.operands[head:] = _chosen(op.operands[head:], carried)
    for jump in jumps:
        jump.operands[:] = _chosen(jump.operands, carried)


def _chosen(values: Sequence[Value], keep: list[bool]) -> list[Value]:
    return [value for value, kept in zip(values, keep, strict=True) if kept]
