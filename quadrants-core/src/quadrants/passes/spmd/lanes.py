"""Values of a region that runs in lanes: which new value stands for which old one, and the ops that only compute.

A varying value is a value of lanes; of one that grows by a constant from lane to lane, the scalar of the first lane is kept
too: accesses to neighbours in memory need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_op
from quadrants.passes.spmd.uniformity import Facts
from quadrants.types import BOOL, I64, LanesType, Scalar, Type

#: Attributes that promise something of the lanes that are on; those that are off may break it.
PROMISES = ("nowrap", "nonzero")


@frozen
class Line:
    """A value that grows by `step` from lane to lane, from that of the first lane."""

    first: Value
    step: int


@record
class Lanes:
    """What stands for the values of the region.

    Args:
        b: the builder.
        count: how many lanes there are.
        facts: what is known of the region.
        constants: values that are integer constants.
        sizes: the sizes of arrays along axes, as far as they are constants.
        roots: the array that an access reaches, of accesses to arrays that are known not to overlap.
        buffers: arrays of each lane that are not in the frame.
        alive: the lanes that an array of each lane was made for.
    """

    b: Builder
    count: int
    facts: Facts
    constants: dict[Value, int]
    values: dict[Value, Value] = field(default_factory=dict)
    lines: dict[Value, Line] = field(default_factory=dict)
    sizes: Mapping[tuple[Value, int], int] = field(default_factory=dict)
    roots: Mapping[Op, Value] = field(default_factory=dict)
    buffers: set[Value] = field(default_factory=set)
    alive: dict[Value, Value] = field(default_factory=dict)
    splats: list[dict[Value, Value]] = field(default_factory=lambda: [{}])

    def varying(self, value: Value) -> bool:
        return value in self.facts.varying

    def type_of(self, value: Value) -> Type:
        """The type of what stands for a value."""
        return (
            LanesType(value.type, self.count) if self.varying(value) and isinstance(value.type, Scalar) else value.type
        )

    def get(self, value: Value) -> Value:
        """What stands for a value: lanes, or a scalar if it is uniform."""
        return self.values.get(value, value)

    def lanes(self, value: Value) -> Value:
        """The lanes of a value."""
        new = self.get(value)
        return new if isinstance(new.type, LanesType) else self.splat(new)

    def splat(self, scalar: Value) -> Value:
        """A new scalar in every lane; made once in a region and those inside."""
        for known in self.splats:
            if scalar in known:
                return known[scalar]
        made = self.splats[-1][scalar] = self.b.value("lanes.splat", scalar, count=self.count)
        return made

    def as_of(self, model: Value, value: Value) -> Value:
        """What stands for `value`, in lanes where `model` is varying."""
        return self.lanes(value) if self.varying(model) else self.get(value)

    @contextmanager
    def into(self, region: Region) -> Iterator[None]:
        """Emit into a region inside the current one."""
        self.splats.append({})
        with self.b.into(region):
            yield
        self.splats.pop()

    def none(self) -> Value:
        """The mask of no lane."""
        return self.b.value("zero", type=LanesType(BOOL, self.count))

    def nothing(self, value: Value) -> Value:
        """Some value of the type of what stands for `value`, where no lane needs it."""
        return self.b.value("zero", type=self.type_of(value))

    # Masks. A lane that is off may hold anything, so that it must not count: `select` looks at one side only.

    def both(self, mask: Value, condition: Value) -> Value:
        """The lanes of the mask in which the condition holds."""
        return self.b.value("select", mask, condition, self.none())

    def without(self, mask: Value, others: Value) -> Value:
        """The lanes of the mask that are not among others."""
        return self.b.value("select", others, self.none(), mask)

    def any(self, mask: Value) -> Value:
        return self.b.value("lanes.any", mask)

    # Ops that only compute

    def compute(self, op: Op) -> None:
        """Emit an op without effects: once if it is uniform, else in lanes."""
        if self.facts.uniform(op.results):
            self.uniform(op)
            return
        attrs: dict[str, Any] = {name: value for name, value in op.attrs.items() if name not in PROMISES}
        if attrs.get("fast") == "reassoc":
            del attrs["fast"]  # every lane keeps its own order
        if op.name == "zero":
            attrs["type"] = self.type_of(op.result)
        new = self.b.op(op.name, *map(self.lanes, op.operands), **attrs)
        for old, result in zip(op.results, new.results):
            result.hint = old.hint
            self.values[old] = result
        self.line(op)

    def uniform(self, op: Op) -> None:
        """Emit an op as it is."""
        copy = clone_op(op, self.values)
        for promise in PROMISES:
            copy.attrs.pop(promise, None)
        self.b.region.ops.append(copy)

    def line(self, op: Op) -> None:
        """Keep the first lane of a sum, difference or product that grows evenly."""
        if op.result.type != I64 or op.name not in ("add", "sub", "mul", "neg", "index"):
            return
        operands = op.operands[:1] if op.name == "index" else op.operands
        steps = [self.step(operand) for operand in operands]
        if None in steps:
            return
        step = self._combined(op, [step for step in steps if step is not None])
        if step is None:
            return
        firsts = [self.first(operand) for operand in operands]
        first = firsts[0] if op.name == "index" else self.b.value(op.name, *firsts)
        self.lines[op.result] = Line(first, step)

    def _combined(self, op: Op, steps: Sequence[int]) -> int | None:
        if op.name == "mul":
            for one, other in ((0, 1), (1, 0)):
                factor = self.constants.get(op.operands[other])
                if factor is not None:
                    return steps[one] * factor
            return None
        if len(steps) == 1:
            return -steps[0] if op.name == "neg" else steps[0]
        return steps[0] + steps[1] if op.name == "add" else steps[0] - steps[1]

    def step(self, value: Value) -> int | None:
        """By how much a value grows from lane to lane; None if not evenly."""
        if not self.varying(value):
            return 0
        line = self.lines.get(value)
        return None if line is None else line.step

    def first(self, value: Value) -> Value:
        """The value in the first lane, of one that grows evenly."""
        return self.lines[value].first if self.varying(value) else self.get(value)
