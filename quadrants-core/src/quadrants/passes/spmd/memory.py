"""Accesses to arrays by lanes.

One element for all lanes is read once. Neighbours (one index that grows evenly from lane to lane) are read and written
together; anything else gathers and scatters. Arrays of which every lane has its own are `private`.
"""

from __future__ import annotations

from quadrants.ir import Op, Value
from quadrants.ir.rewrite import clone_op
from quadrants.passes.spmd import private
from quadrants.passes.spmd.lanes import Lanes


def load(lanes: Lanes, op: Op, mask: Value) -> None:
    """Emit a load."""
    array, *indices = op.operands
    if array in lanes.facts.private:
        lanes.values[op.result] = private.load(lanes, array, indices, mask)
    elif lanes.facts.uniform(op.operands):
        lanes.b.region.ops.append(clone_op(op, lanes.values))
    else:
        place = _line(lanes, indices)
        if place is not None:
            lanes.values[op.result] = lanes.b.value(
                "lanes.load", mask, lanes.get(array), *place[0], axis=place[1], step=place[2]
            )
        else:
            lanes.values[op.result] = lanes.b.value("lanes.gather", mask, lanes.get(array), *map(lanes.get, indices))
    lanes.get(op.result).hint = op.result.hint


def store(lanes: Lanes, op: Op, mask: Value) -> None:
    """Emit a store; two lanes never write the same element."""
    value, array, *indices = op.operands
    values = lanes.lanes(value)
    if array in lanes.facts.private:
        private.store(lanes, values, array, indices, mask)
        return
    place = _line(lanes, indices)
    if place is not None:
        lanes.b.op("lanes.store", values, mask, lanes.get(array), *place[0], axis=place[1], step=place[2])
    else:
        lanes.b.op("lanes.scatter", values, mask, lanes.get(array), *map(lanes.get, indices))


def _line(lanes: Lanes, indices: list[Value]) -> tuple[list[Value], int, int] | None:
    """The indices of the first lane, and the axis and the step of the others; None if they are not on a line."""
    steps = [lanes.step(index) for index in indices]
    moving = [axis for axis, step in enumerate(steps) if step != 0]
    if len(moving) != 1 or (step := steps[moving[0]]) is None:
        return None
    return [lanes.first(index) for index in indices], moving[0], step


# Indices


def index(lanes: Lanes, op: Op) -> Value | None:
    """Emit an `index`; gives the lanes in which it would raise (a scalar if it is uniform), None if it never does."""
    if not (op.attr("checked") or op.attr("wrap")):
        position = op.operands[0]
        lanes.values[op.result] = lanes.get(position)
        if position in lanes.lines:
            lanes.lines[op.result] = lanes.lines[position]
        return None
    pick = lanes.lanes if lanes.varying(op.result) else lanes.get
    position, size = pick(op.operands[0]), pick(op.operands[1])
    zero = lanes.b.i64(0)
    if lanes.varying(op.result):
        zero = lanes.splat(zero)
    place = position
    if op.attr("wrap"):
        negative = lanes.b.value("cmp", position, zero, pred="lt")
        place = lanes.b.value("select", negative, lanes.b.value("add", position, size), position)
    elif op.operands[0] in lanes.lines:
        lanes.lines[op.result] = lanes.lines[op.operands[0]]
    lanes.values[op.result] = place
    if not op.attr("checked"):
        return None
    below, above = lanes.b.value("cmp", place, zero, pred="lt"), lanes.b.value("cmp", place, size, pred="ge")
    return lanes.b.value("or", below, above)
