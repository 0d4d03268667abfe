"""Expands element-wise maps into shape checks, allocations and loops over elements, fused where `fuse_maps` allows it.

Takes QIR with `map` and `map_into`; gives QIR without. Every map checks its shapes where it stood, with NumPy's
messages. Loops access memory unchecked: the checks have shown that every index is inside. Where sizes are equal the
elements are read at the loop's own indices, or through views of rank 1 if all arrays are contiguous; a second version
of the loops, behind a comparison of the sizes, handles axes of size 1 by strides of 0. An input that overlaps the
target of a `map_into` otherwise than exactly is copied first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import clone_region
from quadrants.passes import fuse_maps
from quadrants.passes.broadcast import Dims, Shaper, by_columns, grown_message, into_message
from quadrants.passes.context import PassContext
from quadrants.passes.structure import SHORT, mark_cold, new_label
from quadrants.types import I64, ArrayType

PASS = "expand_maps"
#: Gives the element of an array for the current indices.
Reader = Callable[[Value], Value]


def run(function: Function, context: PassContext) -> None:
    """Expand every map of the function."""
    if any(op.name in fuse_maps.MAPS for op in function.body.walk()):
        _Expander(function, context).region(function.body)
        context.changed.add(function.name)


@record
class _Leaf:
    """An array that an expression reads, with its sizes; `view`: what replaces it (a copy)."""

    array: Value
    dims: Dims


@record
class _Expander:
    function: Function
    context: PassContext
    builder: Builder = field(init=False)
    shaper: Shaper = field(init=False)
    readers: dict[Value, list[Op]] = field(default_factory=dict)
    constants: dict[Value, object] = field(default_factory=dict)
    sizes: dict[Value, Value] = field(default_factory=dict)
    fused: dict[Value, Op] = field(default_factory=dict)
    labels: int = 0

    def __post_init__(self) -> None:
        self.builder = Builder(Region())
        self.shaper = Shaper(self.builder, self.constants)
        self.labels = new_label(self.function)
        for op in self.function.body.walk():
            if op.name == "const":
                self.constants[op.result] = op.attrs["value"]
            elif op.name in ("alloc", "view"):
                self.small(op)
            for operand in op.operands:
                self.readers.setdefault(operand, []).append(op)

    def small(self, op: Op) -> None:
        """Keep the sizes of a small array, if they are constants."""
        type = op.result.type
        assert isinstance(type, ArrayType)
        first = 2 if op.name == "view" else 0
        dims = op.operands[first : first + type.ndim]
        if self.is_small(dims):
            self.shaper.shapes[op.result] = dims

    def is_small(self, dims: Dims) -> bool:
        """Whether all sizes are small constants: loops over them are unrolled."""
        sizes = [self.constants.get(size) for size in dims]
        return all(isinstance(size, int) and size <= SHORT for size in sizes)

    def region(self, region: Region) -> None:
        """Expand the maps of a region, and of those inside it."""
        fused = fuse_maps.plan(region, self.readers)
        out = Region(region.args)
        with self.builder.into(out):
            for op in region.ops:
                if self.is_known_size(op):
                    continue
                self.builder.loc = op.loc
                if op.name in fuse_maps.MAPS:
                    self.known_sizes(op.regions[0])
                if op.name == "map":
                    self.map(op, op in fused)
                elif op.name == "map_into":
                    self.map_into(op)
                else:
                    for nested in op.regions:
                        self.region(nested)
                    out.ops.append(op)
        region.ops[:] = out.ops

    def is_known_size(self, op: Op) -> bool:
        """Use the sizes that were computed for a map, which may have no array. Gives whether the op was such a size."""
        op.operands[:] = [self.sizes.get(operand, operand) for operand in op.operands]
        if op.name != "dim" or op.operands[0] not in self.shaper.shapes:
            return False
        axis = op.attrs["axis"]
        assert isinstance(axis, int)
        self.sizes[op.result] = self.shaper.shapes[op.operands[0]][axis]
        return True

    def known_sizes(self, region: Region) -> None:
        """The same for the region of a map."""
        region.ops[:] = [op for op in region.ops if not self.is_known_size(op)]
        for op in region.ops:
            for nested in op.regions:
                self.known_sizes(nested)

    def map(self, op: Op, fused: bool) -> None:
        shapes = [self.shaper.dims(value) if isinstance(value.type, ArrayType) else [] for value in op.operands]
        dims = self.shaper.broadcast(shapes)
        self.shaper.shapes[op.result] = dims
        if fused:
            self.fused[op.result] = op
            self.note(op, "fused", "computed inside the expression that uses it, without an array of its own")
            return
        self.builder.region.ops.append(Op(OPS["alloc"], dims, [op.result], {"type": op.result.type}, [], op.loc))
        self.loops(op, dims, op.result)

    def map_into(self, op: Op) -> None:
        target = op.operands[0]
        dims = self.shaper.dims(target)
        inputs = op.operands[1:]
        shapes = [self.shaper.dims(value) if isinstance(value.type, ArrayType) else [] for value in inputs]
        message = into_message(op, dims, shapes)
        grown = grown_message(self.shaper, op, dims, shapes)
        for shape in shapes:
            self.shaper.broadcast_to(dims, shape, message, grown)
        self.loops(op, dims, target)

    def note(self, op: Op, code: str, text: str) -> None:
        self.context.note(PASS, DecisionKind.APPLIED, self.function, op, code, text)

    # The loops

    def leaves(self, op: Op, found: dict[Value, _Leaf]) -> None:
        """The arrays that the expression reads, through fused maps."""
        for value in op.operands[1:] if op.name == "map_into" else op.operands:
            if value in self.fused:
                self.leaves(self.fused[value], found)
            elif isinstance(value.type, ArrayType) and value not in found:
                found[value] = _Leaf(value, self.shaper.dims(value))

    def loops(self, op: Op, dims: Dims, target: Value) -> None:
        """Loops that store the expression into the target, of the given sizes."""
        found: dict[Value, _Leaf] = {}
        self.leaves(op, found)
        if op.name == "map_into":
            for leaf in found.values():
                if leaf.array is not target:
                    leaf.array = self.without_overlap(leaf, target)
        differing = [pair for leaf in found.values() for pair in self.uncertain(leaf, dims)]
        if not differing:
            self.direct(op, dims, target, found)
            return
        b = self.builder
        same = b.bool(True)
        for size, whole in differing:
            same = b.value("and", same, b.value("cmp", size, whole, pred="eq"))
        regions = (Region(), Region())
        with b.into(regions[0]):
            self.direct(op, dims, target, found)
            b.op("yield")
        with b.into(regions[1]):
            self.stretched(op, dims, target, found)
            for rare in regions[1].ops:
                mark_cold(rare)
            b.op("yield")
        b.op("if", same, regions=regions)

    def uncertain(self, leaf: _Leaf, dims: Dims) -> list[tuple[Value, Value]]:
        """The axes of a leaf that may be of size 1 where the result's are not."""
        pairs = zip(leaf.dims, dims[len(dims) - len(leaf.dims) :])
        return [(d, whole) for d, whole in pairs if not self.shaper.equal(d, whole) and not self.shaper.is_one(d)]

    def without_overlap(self, leaf: _Leaf, target: Value) -> Value:
        """The leaf, or a copy if it shares memory with the target and is not the same array."""
        b = self.builder
        type = leaf.array.type
        assert isinstance(type, ArrayType)
        shares = b.value("overlap", target, leaf.array)
        if target.type == type:
            shares = b.value("and", shares, b.value("not", b.value("same", target, leaf.array)))
        regions = (Region(), Region())
        with b.into(regions[0]):
            made = ArrayType(type.dtype, type.ndim, "F" if type.layout == "F" else "C")
            copy = b.value("alloc", *leaf.dims, type=made)
            self.nest(
                leaf.dims, lambda at: b.op("store", self.load(leaf.array, at), copy, *at, checked=False, wrap=False)
            )
            if made != type:
                strides = [b.value("stride", copy, axis=axis) for axis in range(type.ndim)]
                copy = b.value("view", copy, b.i64(0), *leaf.dims, *strides, type=type)
            b.op("yield", copy)
        with b.into(regions[1]):
            b.op("yield", leaf.array)
        return b.op("if", shares, regions=regions).result

    def load(self, array: Value, indices: list[Value]) -> Value:
        return self.builder.value("load", array, *indices, checked=False, wrap=False)

    def direct(self, op: Op, dims: Dims, target: Value, leaves: dict[Value, _Leaf]) -> None:
        """Every axis of a leaf is as long as the result's, or of size 1 by its definition."""
        b = self.builder
        arrays = {value: leaf.array for value, leaf in leaves.items()}
        if self.is_flat(dims, target, leaves):
            count = dims[0]
            for size in dims[1:]:
                count = b.value("mul", count, size)
            target = self.flat(target, count)
            arrays = {value: self.flat(array, count) for value, array in arrays.items()}
            self.nest([count], lambda at: self.element(op, target, at, lambda value: self.load(arrays[value], at)))
            return
        zero = b.i64(0)

        def read(value: Value, at: list[Value]) -> Value:
            leaf = leaves[value]
            own = at[len(at) - len(leaf.dims) :]
            indices = [
                zero if self.shaper.is_one(d) and not self.shaper.equal(d, whole) else index
                for d, whole, index in zip(leaf.dims, dims[len(dims) - len(leaf.dims) :], own)
            ]
            return self.load(arrays[value], indices)

        self.nest(
            dims,
            lambda at: self.element(op, target, at, lambda value: read(value, at)),
            by_columns([target, *(leaf.array for leaf in leaves.values())]),
        )

    def is_flat(self, dims: Dims, target: Value, leaves: dict[Value, _Leaf]) -> bool:
        """Whether all arrays are contiguous in the same way, with all axes."""
        layouts = set()
        for array in (target, *(leaf.array for leaf in leaves.values())):
            assert isinstance(array.type, ArrayType)
            layouts.add(array.type.layout if array.type.ndim == len(dims) else "A")
        stretched = any(
            self.shaper.is_one(d) and not self.shaper.equal(d, whole)
            for leaf in leaves.values()
            for d, whole in zip(leaf.dims, dims)
        )
        if self.is_small(dims):
            return False
        return len(dims) > 1 and len(layouts) == 1 and "A" not in layouts and not stretched

    def flat(self, array: Value, count: Value) -> Value:
        """A view of rank 1 of a contiguous array."""
        assert isinstance(array.type, ArrayType)
        type = replace(array.type, ndim=1, layout="C")
        b = self.builder
        return b.value("view", array, b.i64(0), count, b.i64(type.dtype.itemsize), type=type)

    def stretched(self, op: Op, dims: Dims, target: Value, leaves: dict[Value, _Leaf]) -> None:
        """Any axis of a leaf may be of size 1: it is read with a stride of 0."""
        b = self.builder
        zero = b.i64(0)
        views = {}
        for value, leaf in leaves.items():
            type = leaf.array.type
            assert isinstance(type, ArrayType)
            strides = []
            missing = len(dims) - type.ndim
            for axis, whole in enumerate(dims):
                if axis < missing:
                    strides.append(zero)
                    continue
                whole_axis = b.value("cmp", leaf.dims[axis - missing], whole, pred="eq")
                strides.append(b.value("select", whole_axis, b.value("stride", leaf.array, axis=axis - missing), zero))
            stretched = replace(type, ndim=len(dims), layout="A", readonly=True)
            views[value] = b.value("view", leaf.array, zero, *dims, *strides, type=stretched)
        self.nest(dims, lambda at: self.element(op, target, at, lambda value: self.load(views[value], at)))

    def nest(self, dims: Dims, body: Callable[[list[Value]], object], by_columns: bool = False) -> None:
        """Nested loops over the sizes, the last axis innermost (the first, `by_columns`)."""
        order = list(range(len(dims)))
        self._nest(dims, order[::-1] if by_columns else order, {}, body)

    def _nest(self, dims: Dims, order: list[int], at: dict[int, Value], body: Callable[[list[Value]], object]) -> None:
        if not order:
            body([at[axis] for axis in range(len(dims))])
            return
        b = self.builder
        region = region_with_args([I64])
        label = self.labels
        self.labels += 1
        with b.into(region):
            self._nest(dims, order[1:], {**at, order[0]: region.args[0]}, body)
            b.op("continue", label=label)
        b.op("for", b.i64(0), dims[order[0]], b.i64(1), regions=[region], label=label)

    def element(self, op: Op, target: Value, at: list[Value], read: Reader) -> None:
        """Compute one element and store it."""
        value = self.compute(op, read, {})
        self.builder.op("store", value, target, *at, checked=False, wrap=False)

    def compute(self, op: Op, read: Reader, done: dict[Value, Value]) -> Value:
        """The value of the map's region for the current element."""
        inputs = op.operands[1:] if op.name == "map_into" else op.operands
        values: dict[Value, Value] = {}
        for arg, value in zip(op.regions[0].args, inputs):
            if value not in done:
                if value in self.fused:
                    done[value] = self.compute(self.fused[value], read, done)
                else:
                    done[value] = read(value) if isinstance(value.type, ArrayType) else value
            values[arg] = done[value]
        body = clone_region(op.regions[0], values, {})
        self.builder.region.ops.extend(body.ops[:-1])
        return body.ops[-1].operands[0]
