"""Loops of a few turns as straight code, for the part of a loop that runs in lanes.

Takes a region (a copy, which only lanes run); gives it without counted loops of few turns that nothing leaves early. Then the
places of `x[i, k]` are constants, so that items are read as a whole (`rows`) and small arrays stay in registers. Legal because the
turns run in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import clone_op, fresh_labels, replace_uses
from quadrants.passes.structure import constant_turns, size_of
from quadrants.types import I64

#: Turns of one loop, ops that it becomes, and ops that are added in all.
_MOST_TURNS = 8
_MOST_OPS = 64
_MOST_GROWTH = 300
_FOLDED = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}
_LIMIT = 1 << 62


def unroll(region: Region, constants: Mapping[Value, int], label: int) -> None:
    """Unroll the short loops of a region. Labels from `label` on are free."""
    unroller = _Unroller({**constants}, label)
    unroller.region(region)
    replace_uses(region, unroller.replaced)


def has_short_loops(region: Region, constants: Mapping[Value, int]) -> bool:
    """Whether there is anything to unroll."""
    return any((turns := constant_turns(op, constants)) is not None and turns <= _MOST_TURNS for op in region.walk())


class _Unroller:
    """Unrolls the loops of a region.

    Args:
        constants: the integer constants; those that are made are added.
        label: the first label that is free.
    """

    def __init__(self, constants: dict[Value, int], label: int) -> None:
        self.constants = constants
        self.label = label
        self.grown = 0
        self.replaced: dict[Value, Value] = {}  # results of loops that are gone -> what stands for them

    def region(self, region: Region) -> None:
        """Unroll from the outside in."""
        out: list[Op] = []
        waiting = list(reversed(region.ops))
        while waiting:
            op = waiting.pop()
            self.fold(op)
            turns = self.turns(op) if op.name == "for" else None
            if turns is not None:
                waiting += reversed(self.unrolled(op, turns))
                continue
            for nested in op.regions:
                self.region(nested)
            out.append(op)
        region.ops[:] = out

    def fold(self, op: Op) -> None:
        """Note what an op of constants gives."""
        if op.name == "const" and isinstance(value := op.attrs["value"], int) and not isinstance(value, bool):
            self.constants[op.result] = value
        if op.name in _FOLDED and op.result.type == I64:
            values = [number for operand in op.operands if (number := self.constants.get(operand)) is not None]
            if len(values) == len(op.operands):
                found = _FOLDED[op.name](*values)
                if abs(found) < _LIMIT:
                    self.constants[op.result] = found
                    op.redefine(OPS["const"])
                    op.operands, op.attrs = [], {"value": found, "type": I64}

    def turns(self, op: Op) -> range | None:
        """The turns of a loop that is unrolled."""
        bounds = [self.constants.get(operand) for operand in op.operands[:3]]
        start, stop, step = bounds
        if start is None or stop is None or not step:
            return None
        turns = range(start, stop, step)
        body = op.regions[0]
        size = size_of(body)
        if len(turns) > _MOST_TURNS or size * len(turns) > _MOST_OPS or self.grown + size * len(turns) > _MOST_GROWTH:
            return None
        own = [
            inner
            for inner in body.walk()
            if inner.name in ("break", "continue") and inner.attrs["label"] == op.attrs["label"]
        ]
        return turns if own == [body.ops[-1]] else None

    def unrolled(self, op: Op, turns: range) -> list[Op]:
        """The turns in a row."""
        body = op.regions[0]
        self.grown += size_of(body) * len(turns)
        out: list[Op] = []
        b = Builder(Region([], out))
        b.loc = op.loc
        carried = op.operands[3:]
        for turn in turns:
            values = dict(zip(body.args[1:], carried))
            values[body.args[0]] = index = b.i64(turn)
            self.constants[index] = turn
            labels = fresh_labels(body, [self.label])
            self.label = max(self.label, *labels.values()) + 1 if labels else self.label
            for inner in body.ops[:-1]:
                out.append(clone_op(inner, values, labels))
            carried = [values.get(value, value) for value in body.ops[-1].operands]
        self.replaced.update(zip(op.results, carried))
        return out
