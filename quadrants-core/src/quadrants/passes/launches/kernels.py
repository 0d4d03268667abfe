"""Builds one kernel: brings what its body uses into it, and stores what others need.

Takes ops of the host's function; gives a function of the device level, and the values of the host that its launch gives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from quadrants._frozen import record
from quadrants.diagnostics import Code, CompileError
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_op, replace_uses
from quadrants.passes.context import location_of
from quadrants.passes.structure import free_values
from quadrants.types import ArrayType, Scalar

PASS = "launches"
#: Ops of the host that a kernel does again instead of being given their results.
_REPEATED = frozenset({"const", "dim"})


@record
class Places:
    """Where values are kept between kernels: an array a type, and a place in it a value.

    Args:
        params: the arrays, by the type of their elements: parameters of the entry.
        sizes: how many elements they have.
        known: the place of each value.
        same: results of loops that are what the loop began with.
    """

    params: dict[Scalar, Value] = field(default_factory=dict)
    sizes: dict[Scalar, int] = field(default_factory=dict)
    known: dict[Value, tuple[Value, int]] = field(default_factory=dict)
    same: dict[Value, Value] = field(default_factory=dict)

    def resolve(self, value: Value) -> Value:
        """What a value is."""
        while value in self.same:
            value = self.same[value]
        return value

    def of(self, entry: Function, value: Value, op: Op) -> tuple[Value, int]:
        """The place of a value: an array, and the index."""
        if value not in self.known:
            if not isinstance(value.type, Scalar) or value.type.is_complex:
                what = "an array" if isinstance(value.type, ArrayType) else f"a value of the type {value.type}"
                raise CompileError(
                    Code.UNSUPPORTED_CAPABILITY,
                    f"{what} that is made outside of the parallel loops cannot be used in them on a device",
                    location_of(entry, op),
                    hint="make it before the kernel is called, and pass it as an argument",
                )
            self.known[value] = self.reserve(value.type, 1)
        return self.known[value]

    def reserve(self, dtype: Scalar, count: int) -> tuple[Value, int]:
        """Places for several values in a row."""
        if dtype not in self.params:
            self.params[dtype] = Value(ArrayType(dtype, 1), "scratch")
            self.sizes[dtype] = 0
        first = self.sizes[dtype]
        self.sizes[dtype] += count
        return self.params[dtype], first


@record
class KernelMaker:
    """Builds a kernel.

    Args:
        entry: the function that it is cut out of.
        name: of the kernel.
        makers: the definitions of the entry's values.
        host: what the host knows.
        places: where other values are.
    """

    entry: Function
    name: str
    makers: Mapping[Value, Op]
    host: set[Value]
    places: Places
    given: list[Value] = field(default_factory=list)
    params: list[Value] = field(default_factory=list)
    inside: dict[Value, Value] = field(default_factory=dict)
    b: Builder = field(default_factory=lambda: Builder(Region()))

    def body(self, ops: Sequence[Op]) -> None:
        """Move ops into the kernel; what they use comes before them."""
        moved = Region([], list(ops))
        self.bring_all(free_values(moved), ops[0])
        self.adopt(moved)
        self.b.region.ops += moved.ops

    def adopt(self, region: Region) -> None:
        """Use in a region what stands in the kernel for the values of the entry."""
        replace_uses(region, {old: new for old, new in self.inside.items() if old is not new})

    def bring_all(self, values: Sequence[Value], op: Op) -> None:
        """Have the kernel know values."""
        for value in values:
            self.bring(value, op)

    def bring(self, value: Value, op: Op) -> Value:
        """A value of the entry in the kernel: made again, read, or a parameter."""
        if value in self.inside:
            return self.inside[value]
        maker = self.makers.get(value)
        if maker is not None and (maker.name == "view" or (maker.name in _REPEATED and value in self.host)):
            for operand in maker.operands:
                self.bring(operand, op)
            copy = clone_op(maker, dict(self.inside))
            self.b.region.ops.append(copy)
            self.inside[value] = copy.result
        elif value in self.host or value in self.places.params.values():
            self.inside[value] = self.param(value)
        else:
            self.inside[value] = self.load(self.places.of(self.entry, value, op))
        return self.inside[value]

    def param(self, value: Value) -> Value:
        """A parameter for a value that the host knows."""
        self.given.append(value)
        self.params.append(Value(value.type, value.hint))
        return self.params[-1]

    def array(self, array: Value) -> Value:
        """A scratch array in the kernel."""
        if array not in self.inside:
            self.inside[array] = self.param(array)
        return self.inside[array]

    def load(self, place: tuple[Value, int]) -> Value:
        """A value from its place."""
        array = self.array(place[0])
        return self.b.value("load", array, self.b.i64(place[1]), checked=False, wrap=False)

    def store(self, value: Value, place: tuple[Value, int]) -> None:
        """Put a value of the kernel into its place."""
        self.b.op("store", value, self.array(place[0]), self.b.i64(place[1]), checked=False, wrap=False)

    def function(self) -> Function:
        """The kernel, when its body is there."""
        self.b.op("return")
        attrs: dict[str, object] = {"level": "device", "kernel": True}
        if "fp" in self.entry.attrs:
            attrs["fp"] = self.entry.attrs["fp"]
        return Function(self.name, self.params, (), self.b.region, self.entry.scope, attrs)
