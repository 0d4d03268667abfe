"""The loops over the elements of maps, which `expand_maps` puts where `fuse_maps` wants them.

Takes the maps of a loop, whose shapes have been checked; emits loops that compute and store. Memory is accessed unchecked: the
checks have shown that every index is inside. Elements are read at the loop's own indices, or through views of rank 1 if
all arrays are contiguous. Where sizes may differ by broadcasting, or what is read may share memory with what is
written, the loop stands behind a test; otherwise each map has a loop of its own that reads by strides of 0, and goes through a
new array into its target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_region
from quadrants.passes.broadcast import Dims, Shaper, by_columns
from quadrants.passes.fuse_maps import arrays, inputs
from quadrants.passes.map_views import Views
from quadrants.passes.structure import mark_cold
from quadrants.types import I64, ArrayType

#: Gives the element of an array that is computed now.
Reader = Callable[[Value], Value]


@record(eq=False)
class MapLoops:
    """Emits loops through a builder. `fused`: the maps without arrays, by their results."""

    builder: Builder
    shaper: Shaper
    views: Views
    label: int
    fused: dict[Value, Op] = field(default_factory=dict)

    def leaves(self, ops: Sequence[Op]) -> dict[Value, Dims]:
        """The arrays that are read, with their sizes: through fused maps, without what the maps themselves make."""
        found: dict[Value, Dims] = {}
        own = {op.result for op in ops if op.name == "map"}
        work = [value for op in reversed(ops) for value in reversed(arrays(op))]
        while work:
            value = work.pop()
            if value in self.fused:
                work += reversed(arrays(self.fused[value]))
            elif value not in found and value not in own:
                found[value] = self.shaper.dims(value)
        return found

    def emit(self, ops: Sequence[Op], dims: Dims) -> None:
        """The loop of several maps of one rank; `dims` are the sizes of the last one."""
        b = self.builder
        leaves = self.leaves(ops)
        if ops[-1].name == "map_into" and ops[-1].operands[0] in leaves:
            leaves[ops[-1].operands[0]] = dims
        tests = [
            b.value("cmp", size, whole, pred="eq")
            for op in ops[:-1]
            for size, whole in zip(self.shaper.dims(op.result), dims)
            if not self.shaper.equal(size, whole)
        ]
        tests += [
            b.value("cmp", size, whole, pred="eq")
            for own in leaves.values()
            for size, whole in self.uncertain(own, dims)
        ]
        apart = self.apart(ops[-1], leaves)
        if apart is not None and self.is_near(ops[-1], leaves):
            self.either(
                tests, lambda: self.either([apart], *self.both(ops, dims, leaves)), lambda: self.each(ops, dims)
            )
        else:
            self.either(
                tests if apart is None else [*tests, apart],
                lambda: self.direct(ops, dims, leaves),
                lambda: self.each(ops, dims),
            )

    def both(
        self, ops: Sequence[Op], dims: Dims, leaves: dict[Value, Dims]
    ) -> tuple[Callable[[], None], Callable[[], None]]:
        """The loop that stores into the target, and the one that goes through a new array."""
        return (
            lambda: self.direct(ops, dims, leaves),
            lambda: self.through(ops[-1], dims, lambda made: self.direct(ops, dims, leaves, made)),
        )

    def either(self, tests: list[Value], usual: Callable[[], None], other: Callable[[], None]) -> None:
        """One thing if all tests hold, else the other."""
        if not tests:
            usual()
            return
        b = self.builder
        condition = tests[0]
        for test in tests[1:]:
            condition = b.value("and", condition, test)
        regions = (Region(), Region())
        for region, emit in zip(regions, (usual, other)):
            with b.into(region):
                emit()
                b.op("yield")
        b.op("if", condition, regions=regions)

    # What has to be tested

    def uncertain(self, own: Dims, dims: Dims) -> list[tuple[Value, Value]]:
        """The axes that may be of size 1 where the result's are not."""
        pairs = zip(own, dims[len(dims) - len(own) :])
        return [(d, whole) for d, whole in pairs if not self.shaper.equal(d, whole) and not self.shaper.is_one(d)]

    def apart(self, op: Op, leaves: Mapping[Value, Dims]) -> Value | None:
        """Whether what is read is the target itself, element by element, or shares no element with it; None if that is known."""
        if op.name == "map":
            return None
        b, target, result = self.builder, op.operands[0], None
        for leaf in leaves:
            if leaf is target or self.views.roots.distinct(leaf, target):
                continue
            fine = b.value("not", b.value("overlap", target, leaf))
            if leaf.type == target.type:
                fine = b.value("or", fine, b.value("same", target, leaf))
            interleaved = self.interleaved(target, leaf)
            if interleaved is not None:
                fine = b.value("or", fine, interleaved)
            result = fine if result is None else b.value("and", result, fine)
        return result

    def is_near(self, op: Op, leaves: Mapping[Value, Dims]) -> bool:
        """Whether other parts of the target's own array are read."""
        target = op.operands[0]
        return any(
            leaf is not target and self.views.roots.root(leaf) is self.views.roots.root(target) for leaf in leaves
        )

    def interleaved(self, target: Value, leaf: Value) -> Value | None:
        """Whether two views of one array with the same strides lie between each other: columns of a table. None: not to be seen.

        The first axis has the largest step s; what one step of it holds reaches over e bytes. They are apart if their
        distance modulo s is at least e from 0 and from s.
        """
        left, right = (self.views.roots.makers.get(value) for value in (target, leaf))
        if left is None or right is None or left.name != "view" or right.name != "view":
            return None
        rank = len(left.operands) // 2 - 1
        strides = left.operands[2 + rank :]
        same = len(left.operands) == len(right.operands) and all(
            map(self.shaper.equal, strides, right.operands[2 + rank :])
        )
        if left.operands[0] is not right.operands[0] or not same or rank == 0:
            return None
        b = self.builder
        assert isinstance(target.type, ArrayType)
        step, zero = strides[0], b.i64(0)
        gap = b.value("mod", b.value("sub", right.operands[1], left.operands[1]), step)
        result = b.value("cmp", step, zero, pred="gt")
        for view in (left, right):
            reach = b.i64(target.type.dtype.itemsize)
            for size, stride in zip(view.operands[3 : 2 + rank], strides[1:]):
                reach = b.value("add", reach, b.value("mul", b.value("sub", size, b.i64(1)), stride))
                result = b.value("and", result, b.value("cmp", stride, zero, pred="gt"))
            room = gap if view is left else b.value("sub", step, gap)
            result = b.value("and", result, b.value("cmp", room, reach, pred="ge"))
        return result

    # The loops

    def each(self, ops: Sequence[Op], last: Dims) -> None:
        """Loops for the rare case, one a map."""
        for op in ops:
            dims = last if op is ops[-1] else self.shaper.dims(_target(op))
            before = len(self.builder.region.ops)
            if op.name == "map":
                self.stretched(op, dims, op.result)
            else:
                self.through(op, dims, lambda made, op=op, dims=dims: self.stretched(op, dims, made))  # type: ignore[misc]
            for rare in self.builder.region.ops[before:]:
                mark_cold(rare)

    def through(self, op: Op, dims: Dims, fill: Callable[[Value], None]) -> None:
        """Compute into a new array, and copy that into the target."""
        type = op.operands[0].type
        assert isinstance(type, ArrayType)
        made = self.builder.value(
            "alloc", *dims, type=ArrayType(type.dtype, type.ndim, "F" if type.layout == "F" else "C")
        )
        fill(made)
        target = op.operands[0]
        self.nest(dims, lambda at: self.store(self.load(made, at), target, at), [target], by_columns([made]))

    def direct(self, ops: Sequence[Op], dims: Dims, leaves: Mapping[Value, Dims], made: Value | None = None) -> None:
        """Every axis that is read is as long as the result's, or of size 1 by its definition. `made` replaces the last target."""
        targets = [_target(op) for op in ops]
        if made is not None:
            targets[-1] = made
        if self.is_flat(dims, targets, leaves):
            count = dims[0]
            for size in dims[1:]:
                count = self.builder.value("mul", count, size)
            targets = [self.flat(target, count) for target in targets]
            views = {leaf: self.flat(leaf, count) for leaf in leaves}
            read = lambda at: lambda leaf: self.load(views[leaf], at)  # noqa: E731
            self.nest([count], lambda at: self.elements(ops, targets, at, read(at)), targets)
            return
        self.nest(
            dims,
            lambda at: self.elements(ops, targets, at, lambda leaf: self.read(leaf, leaves[leaf], dims, at)),
            targets,
            by_columns([*targets, *leaves]),
        )

    def read(self, array: Value, own: Dims, dims: Dims, at: Sequence[Value]) -> Value:
        """The element of an array with the sizes `own` for an element of a result with the sizes `dims`."""
        missing = len(dims) - len(own)
        indices = [
            self.builder.i64(0) if self.shaper.is_one(d) and not self.shaper.equal(d, whole) else index
            for d, whole, index in zip(own, dims[missing:], at[missing:])
        ]
        return self.load(array, indices)

    def is_flat(self, dims: Dims, targets: Sequence[Value], leaves: Mapping[Value, Dims]) -> bool:
        """Whether all arrays are contiguous in the same way, with all axes."""
        layouts = set()
        for array in (*targets, *leaves):
            assert isinstance(array.type, ArrayType)
            layouts.add(array.type.layout if array.type.ndim == len(dims) else "A")
        stretched = any(
            self.shaper.is_one(d) and not self.shaper.equal(d, whole)
            for own in leaves.values()
            for d, whole in zip(own, dims)
        )
        if self.shaper.is_small(dims):
            return False
        return len(dims) > 1 and len(layouts) == 1 and "A" not in layouts and not stretched

    def flat(self, array: Value, count: Value) -> Value:
        """A view of rank 1 of a contiguous array."""
        assert isinstance(array.type, ArrayType)
        type = replace(array.type, ndim=1, layout="C")
        b = self.builder
        return b.value("view", array, b.i64(0), count, b.i64(type.dtype.itemsize), type=type)

    def stretched(self, op: Op, dims: Dims, target: Value) -> None:
        """Any axis that is read may be of size 1: it is read with a stride of 0."""
        views = {leaf: self.stretch(leaf, own, dims) for leaf, own in self.leaves([op]).items()}
        self.nest(dims, lambda at: self.elements([op], [target], at, lambda leaf: self.load(views[leaf], at)), [target])

    def stretch(self, array: Value, own: Dims, dims: Dims) -> Value:
        """The view of an array with the sizes of the result."""
        b = self.builder
        zero, missing = b.i64(0), len(dims) - len(own)
        strides = [zero] * missing
        for axis, (size, whole) in enumerate(zip(own, dims[missing:])):
            fits = b.value("cmp", size, whole, pred="eq")
            strides.append(b.value("select", fits, b.value("stride", array, axis=axis), zero))
        assert isinstance(array.type, ArrayType)
        type = replace(array.type, ndim=len(dims), layout="A", readonly=True)
        return b.value("view", array, zero, *dims, *strides, type=type)

    def nest(
        self, dims: Dims, body: Callable[[list[Value]], object], targets: Sequence[Value], by_columns: bool = False
    ) -> None:
        """Nested loops over the sizes, the last axis innermost (the first, `by_columns`). No turn needs what another one stores."""
        order = list(range(len(dims)))
        independent = all(map(self.views.is_injective, targets))
        self._nest(dims, order[::-1] if by_columns else order, {}, body, independent)

    def _nest(
        self,
        dims: Dims,
        order: list[int],
        at: dict[int, Value],
        body: Callable[[list[Value]], object],
        independent: bool,
    ) -> None:
        if not order:
            body([at[axis] for axis in range(len(dims))])
            return
        b = self.builder
        region = region_with_args([I64])
        label = self.label
        self.label += 1
        with b.into(region):
            self._nest(dims, order[1:], {**at, order[0]: region.args[0]}, body, independent)
            b.op("continue", label=label)
        b.op("for", b.i64(0), dims[order[0]], b.i64(1), regions=[region], label=label, independent=independent)

    # The elements

    def load(self, array: Value, indices: Sequence[Value]) -> Value:
        return self.builder.value("load", array, *indices, checked=False, wrap=False)

    def store(self, value: Value, array: Value, indices: Sequence[Value]) -> None:
        self.builder.op("store", value, array, *indices, checked=False, wrap=False)

    def elements(self, ops: Sequence[Op], targets: Sequence[Value], at: Sequence[Value], read: Reader) -> None:
        """Compute one element of each map and store them, all loads before all stores."""
        done: dict[Value, Value] = {}
        values = []
        for op in ops:
            values.append(self.compute(op, read, done))
            done.update(dict.fromkeys(op.results, values[-1]))
        for value, target in zip(values, targets):
            self.store(value, target, at)

    def compute(self, op: Op, read: Reader, done: dict[Value, Value]) -> Value:
        """The value of the map's region for the current element."""
        values: dict[Value, Value] = {}
        for arg, value in zip(op.regions[0].args, inputs(op)):
            if value not in done:
                if value in self.fused:
                    done[value] = self.compute(self.fused[value], read, done)
                else:
                    done[value] = read(value) if isinstance(value.type, ArrayType) else value
            values[arg] = done[value]
        body = clone_region(op.regions[0], values, {})
        self.builder.region.ops.extend(body.ops[:-1])
        return body.ops[-1].operands[0]


def _target(op: Op) -> Value:
    """Where a map's elements go."""
    return op.operands[0] if op.name == "map_into" else op.result
