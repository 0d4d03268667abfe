"""Turns exits that leave several ops of control flow at once into exits of one level, for targets that know no others.

Takes QIR without exceptions that are handled; gives QIR in which every `break` and `continue` names the innermost
`block`, `loop` or `for` around it, and blocks that only fall through are gone. A `while` is a loop that leaves by
itself. SPIR-V and Metal have only such jumps. Always legal: before an op that is left by a farther exit, a variable
is set to 0; such an exit notes its number and values in variables, and leaves that op alone; behind it, a number that
is not 0 goes on with the exit from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quadrants.ir.builder import Builder
from quadrants.ir.core import Function, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import replace_uses
from quadrants.passes.structure import LABELLED
from quadrants.types import I32

_EXITS = frozenset({"break", "continue"})


@dataclass(slots=True)
class _Group:
    """The exits from inside an op that go to the same place.

    Args:
        kind: `break` or `continue`.
        label: of the op that they name.
        exits: each with the region that it ends.
        holders: the variables that carry its values.
    """

    kind: str
    label: int
    exits: list[tuple[Op, Region]]
    holders: list[Value] = field(default_factory=list)


def run(function: Function, context: object = None) -> None:
    """Rewrite one function."""
    _Exits().region(function.body)


class _Exits:
    """Rewrites regions, the innermost first."""

    def region(self, region: Region) -> None:
        ops: list[Op] = []
        for position, op in enumerate(region.ops):
            if op.name == "block":
                _adopt(op)
            for inner in op.regions:
                self.region(inner)
            if op.name not in LABELLED:
                ops.append(op)
                continue
            if op.name == "block" and is_transparent(op):
                self._splice(ops, op, Region([], region.ops[position + 1 :]))
                continue
            groups = _far_exits(op)
            ops += _prepared(op, groups)
            ops.append(op)
            if groups:
                ops += _resumed(op, groups)
        region.ops[:] = ops

    def _splice(self, ops: list[Op], op: Op, behind: Region) -> None:
        """Put the ops of a block in its place."""
        *inner, end = op.regions[0].ops
        ops += inner
        replace_uses(behind, dict(zip(op.results, end.operands)))


def _adopt(block: Op) -> None:
    """Where a block ends with a loop that only leaves by way of the block, as `while` does: let it leave by itself."""
    region = block.regions[0]
    if len(region.ops) < 2 or region.ops[-2].name != "loop":
        return
    loop, end = region.ops[-2:]
    if end.name not in ("yield", "unreachable") or any(exit.name == "break" for exit in exits_to(loop)):
        return
    for leaving in list(exits_to(block, loop)):
        leaving.attrs = {**leaving.attrs, "label": loop.attrs["label"]}
    loop.results = [Value(result.type, result.hint) for result in block.results]
    loop.attrs = {**loop.attrs, "result_types": tuple(result.type for result in block.results)}
    region.ops[-1] = Op(OPS["yield"], list(loop.results), [], loc=end.loc)


def is_transparent(block: Op) -> bool:
    """Whether a block is left at its end, and only there."""
    end = block.regions[0].terminator
    return end is not None and end.name == "yield" and not any(True for _ in exits_to(block))


def exits_to(op: Op, inside: Op | None = None) -> Iterator[Op]:
    """The exits inside an op (or inside another that is in it) that name it."""
    label = op.attrs["label"]
    return (
        inner
        for region in (inside or op).regions
        for inner in region.walk()
        if inner.name in _EXITS and inner.attrs["label"] == label
    )


def _far_exits(op: Op) -> list[_Group]:
    """The exits inside an op that name one around it, by where they go. Inside its labelled ops there are none any more."""
    groups: dict[tuple[str, int], _Group] = {}
    stack = list(op.regions)
    while stack:
        region = stack.pop()
        for inner in region.ops:
            if inner.name in _EXITS and inner.attrs["label"] != op.attrs["label"]:
                label = inner.attrs["label"]
                assert isinstance(label, int)
                group = groups.setdefault((inner.name, label), _Group(inner.name, label, []))
                group.exits.append((inner, region))
            elif inner.name not in LABELLED:
                stack += inner.regions
    return list(groups.values())


def _prepared(op: Op, groups: list[_Group]) -> list[Op]:
    """The variables before an op; its far exits are rewritten to set them and to break out of it alone."""
    if not groups:
        return []
    builder = Builder(Region())
    builder.loc = op.loc
    number = builder.value("var", builder.const(0, I32))
    for group in groups:
        first = group.exits[0][0]
        group.holders = [builder.value("var", builder.value("zero", type=value.type)) for value in first.operands]
    for index, group in enumerate(groups, 1):
        for end, region in group.exits:
            region.ops[-1:] = _noted(op, group, index, end, number)
    groups[0].holders.insert(0, number)
    return builder.region.ops


def _noted(op: Op, group: _Group, index: int, end: Op, number: Value) -> list[Op]:
    """What takes the place of a far exit."""
    builder = Builder(Region())
    builder.loc = end.loc
    builder.op("var.set", number, builder.const(index, I32))
    for holder, value in zip(group.holders, end.operands):
        builder.op("var.set", holder, value)
    nothing = [builder.value("zero", type=result.type) for result in op.results]
    builder.op("break", *nothing, label=op.attrs["label"])
    return builder.region.ops


def _resumed(op: Op, groups: list[_Group]) -> list[Op]:
    """Behind an op: go on with the exit whose number is noted."""
    number = groups[0].holders.pop(0)
    builder = Builder(Region())
    builder.loc = op.loc
    which = builder.value("var.get", number)
    for index, group in enumerate(groups, 1):
        chosen = builder.value("cmp", which, builder.const(index, I32), pred="eq")
        leave, stay = Region(), Region()
        with builder.into(leave):
            values = [builder.value("var.get", holder) for holder in group.holders]
            builder.op(group.kind, *values, label=group.label)
        with builder.into(stay):
            builder.op("yield")
        builder.op("if", chosen, regions=[leave, stay])
    return builder.region.ops
