"""Expands element-wise maps into shape checks, allocations and loops over elements, as `fuse_maps` plans them.

Takes QIR with `map` and `map_into`; gives QIR without. Every map checks its shapes where it stood, with NumPy's
messages, and its array is made there; its loop stands with the last map of its cluster (`map_loops`). What needs no array
is computed where its elements are used: in those loops, or in the place of loads. For the latter, an array that is
stretched by broadcasting, if that turns out when the program runs, is copied to its full size first.
"""

from __future__ import annotations

from dataclasses import field, replace

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.ops import OPS
from quadrants.passes import fuse_maps
from quadrants.passes.array_roots import Roots
from quadrants.passes.broadcast import Dims, Shaper, grown_message, into_message
from quadrants.passes.context import PassContext
from quadrants.passes.fuse_maps import MAPS, Plan
from quadrants.passes.map_loops import MapLoops
from quadrants.passes.map_views import Place, Views
from quadrants.passes.structure import mark_cold, new_label
from quadrants.types import I64, ArrayType

PASS = "expand_maps"


def run(function: Function, context: PassContext) -> None:
    """Expand every map of the function."""
    if any(op.name in MAPS for op in function.body.walk()):
        _Expander(function, context).region(function.body)
        context.changed.add(function.name)


@record(eq=False)
class _Source:
    """A map without an array whose elements are loaded, or a view of it in C order: the map, and the arrays to read for each of
    its leaves, with sizes."""

    op: Op
    dims: Dims
    arrays: dict[Value, tuple[Value, Dims]]


@record(eq=False)
class _Expander:
    function: Function
    context: PassContext
    builder: Builder = field(init=False)
    shaper: Shaper = field(init=False)
    roots: Roots = field(init=False)
    views: Views = field(init=False)
    loops: MapLoops = field(init=False)
    constants: dict[Value, object] = field(default_factory=dict)
    sizes: dict[Value, Value] = field(default_factory=dict)
    sources: dict[Value, _Source] = field(default_factory=dict)
    places: dict[Value, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.builder = Builder(Region())
        self.roots = Roots(self.function, self.context.module)
        self.shaper = Shaper(self.builder, self.constants, self.roots.makers)
        self.views = Views(self.roots)
        self.loops = MapLoops(self.builder, self.shaper, self.views, new_label(self.function))
        for op in self.function.body.walk():
            if op.name == "const":
                self.constants[op.result] = op.attrs["value"]
            elif op.name in ("alloc", "view"):
                self.shaper.keep_small(op)

    def region(self, region: Region) -> None:
        """Expand the maps of a region, and of those inside it."""
        plan = fuse_maps.plan(region, self.roots, self.views)
        out = Region(region.args)
        with self.builder.into(out):
            for op in region.ops:
                if self.is_known_size(op):
                    continue
                self.builder.loc = op.loc
                if op.name in MAPS:
                    self.known_sizes(op.regions[0])
                    self.expand(op, plan)
                elif op.operands and op.operands[0] in self.places:
                    self.use(op)
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

    def expand(self, op: Op, plan: Plan) -> None:
        if op.name == "map_into":
            self.loops.emit(plan.loops[op], self.check_into(op))
        else:
            self.make(op, plan)
            if op in plan.loops:
                self.loops.emit(plan.loops[op], self.shaper.shapes[op.result])
        together = plan.loops.get(op, ())
        if len(together) > 1:
            self.note(op, "together", f"one loop computes {len(together)} arrays")

    def make(self, op: Op, plan: Plan) -> None:
        """The shape of a map, and its array if it has one."""
        shapes = [self.shaper.dims(value) if isinstance(value.type, ArrayType) else [] for value in op.operands]
        dims = self.shaper.broadcast(shapes)
        self.shaper.shapes[op.result] = dims
        if op not in plan.inline:
            self.builder.region.ops.append(Op(OPS["alloc"], dims, [op.result], {"type": op.result.type}, [], op.loc))
            if op in plan.kept and self.roots.is_confined(op.result):
                text = f"an array is made for a part of the expressions: {plan.kept[op]}"
                self.note(op, "temporary", text, DecisionKind.REMAINS)
            return
        self.loops.fused[op.result] = op
        readers = [reader.name for reader in self.roots.readers.get(op.result, ()) if reader.name not in ("dim", *MAPS)]
        if readers:
            place = self.views.place(op.result)
            assert place is not None
            self.places[op.result] = place
            ordered = op.result in self.views.ordered
            leaves = self.loops.leaves([op])
            arrays = {leaf: self.full(leaf, own, dims, ordered) for leaf, own in leaves.items()}
            self.sources[op.result] = _Source(op, dims, arrays)
        where = "where its elements are used" if readers else "inside the expression that uses it"
        self.note(op, "fused", f"computed {where}, without an array of its own")

    def check_into(self, op: Op) -> Dims:
        """The inputs of a map fit its target, whose sizes are given."""
        dims = self.shaper.dims(op.operands[0])
        shapes = [self.shaper.dims(value) if isinstance(value.type, ArrayType) else [] for value in op.operands[1:]]
        message = into_message(op, dims, shapes)
        grown = grown_message(self.shaper, op, dims, shapes)
        for shape in shapes:
            self.shaper.broadcast_to(dims, shape, message, grown)
        return dims

    def note(self, op: Op, code: str, text: str, kind: DecisionKind = DecisionKind.APPLIED) -> None:
        self.context.note(PASS, kind, self.function, op, code, text)

    # Elements that are loaded

    def full(self, array: Value, own: Dims, dims: Dims, ordered: bool) -> tuple[Value, Dims]:
        """An array as a map reads it, with its sizes: a copy if the program stretches an axis that need not be of size 1.
        `ordered`: also one that is of size 1 by its definition."""
        uncertain = self.loops.uncertain(own, dims)
        if ordered:
            uncertain = [pair for pair in zip(own, dims) if not self.shaper.equal(*pair)]
        if not uncertain:
            return array, own
        b = self.builder
        fits = b.bool(True)
        for pair in uncertain:
            fits = b.value("and", fits, b.value("cmp", *pair, pred="eq"))
        type = array.type
        assert isinstance(type, ArrayType)
        pairs = zip(own, dims[len(dims) - type.ndim :])
        whole = [size if self.shaper.is_one(size) and not ordered else every for size, every in pairs]
        regions = (Region(), Region())
        with b.into(regions[0]):
            b.op("yield", array)
        with b.into(regions[1]):
            made = ArrayType(type.dtype, type.ndim, "F" if type.layout == "F" else "C")
            copy = b.value("alloc", *whole, type=made)
            view = self.loops.stretch(array, own, whole)
            self.loops.nest(whole, lambda at: self.loops.store(self.loops.load(view, at), copy, at), [copy])
            if made != type:
                strides = [b.value("stride", copy, axis=axis) for axis in range(type.ndim)]
                copy = b.value("view", copy, b.i64(0), *whole, *strides, type=type)
            for rare in regions[1].ops:
                mark_cold(rare)
            b.op("yield", copy)
        chosen = b.op("if", fits, regions=regions).result
        return self.with_unit_stride(chosen, array, whole), whole

    def with_unit_stride(self, chosen: Value, array: Value, dims: Dims) -> Value:
        """The array that was chosen, known to have neighbours along the last axis if the original one has."""
        b, type = self.builder, array.type
        assert isinstance(type, ArrayType)
        maker = self.roots.makers.get(array)
        if type.layout != "A" or type.ndim == 0 or maker is None or maker.name != "view":
            return chosen
        known = self.constants.get(maker.operands[-1]) == type.dtype.itemsize or self.is_unit(maker.operands[-1])
        if not known:
            return chosen
        strides = [b.value("stride", chosen, axis=axis) for axis in range(type.ndim - 1)]
        return b.value("view", chosen, b.i64(0), *dims, *strides, b.i64(type.dtype.itemsize), type=type)

    def is_unit(self, stride: Value) -> bool:
        """Whether a stride is that of the last axis of an array in C order."""
        maker = self.roots.makers.get(stride)
        if maker is None or maker.name != "stride":
            return False
        type = maker.operands[0].type
        return isinstance(type, ArrayType) and type.layout == "C" and maker.attrs["axis"] == type.ndim - 1

    def use(self, op: Op) -> None:
        """What is done with an array that is not there: a size in bytes, a view, an element."""
        array = op.operands[0]
        if op.name == "stride":
            self.sizes[op.result] = self.stride(array, op)
        elif op.name == "view":
            self.view(op)
        else:
            assert op.name == "load"
            self.sizes[op.result] = self.element(op)

    def stride(self, array: Value, op: Op) -> Value:
        """The distance in bytes that the array would have. Views know theirs."""
        axis, b = op.attrs["axis"], self.builder
        assert isinstance(axis, int) and isinstance(array.type, ArrayType)
        maker = self.roots.makers[array]
        if maker.name == "view":
            return maker.operands[2 + array.type.ndim + axis]
        result = b.i64(array.type.dtype.itemsize)
        for size in self.shaper.shapes[array][axis + 1 :]:
            result = b.value("mul", size, result)
        return result

    def view(self, op: Op) -> None:
        """A view of a map's elements; one in C order is a view of each of the arrays that the map reads."""
        place = self.views.places[op.result]
        assert place is not None and isinstance(op.result.type, ArrayType)
        self.places[op.result] = place
        dims = op.operands[2 : 2 + op.result.type.ndim]
        self.shaper.shapes[op.result] = dims
        if place.source is not op.result:
            return
        b, old = self.builder, self.sources[op.operands[0]]
        arrays = {}
        for leaf, (array, _) in old.arrays.items():
            type = array.type
            assert isinstance(type, ArrayType)
            strides = [b.i64(type.dtype.itemsize)]
            for size in dims[:0:-1]:
                strides.insert(0, b.value("mul", size, strides[0]))
            shaped = replace(type, ndim=len(dims), layout="C")
            arrays[leaf] = (b.value("view", array, b.i64(0), *dims, *strides, type=shaped), dims)
        self.sources[op.result] = _Source(old.op, dims, arrays)

    def element(self, load: Op) -> Value:
        """The element that a load reads."""
        b = self.builder
        place = self.places[load.operands[0]]
        source = self.sources[place.source]
        sizes = self.shaper.shapes[load.operands[0]]
        own = [self.checked(load, axis, index, sizes[axis]) for axis, index in enumerate(load.operands[1:])]
        at = []
        for axis, starts in enumerate(place.starts):
            terms = [self.sizes.get(start, start) for start in starts]
            for index, (along, step) in zip(own, place.axes):
                if along == axis:
                    terms.append(index if step is None else b.value("mul", index, self.sizes.get(step, step)))
            total = terms[0] if terms else b.i64(0)
            for term in terms[1:]:
                total = b.value("add", total, term)
            at.append(total)
        arrays = source.arrays
        return self.loops.compute(
            source.op, lambda leaf: self.loops.read(arrays[leaf][0], arrays[leaf][1], source.dims, at), {}
        )

    def checked(self, load: Op, axis: int, index: Value, size: Value) -> Value:
        """An index of a load, with the check that the load has."""
        if not load.attr("checked") and not load.attr("wrap"):
            return index
        assert index.type == I64
        attrs = {"axis": axis, "checked": load.attr("checked"), "wrap": load.attr("wrap")}
        return self.builder.value("index", index, size, **attrs)
