"""The ops that stand for a nest that is a product of matrices: see `replace`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_op
from quadrants.passes.contractions.nest import Factor, Product, index_of
from quadrants.passes.contractions.places import Places, is_injective
from quadrants.passes.guards import Guard
from quadrants.passes.structure import mark_cold
from quadrants.types import I64, ArrayType

#: The fewest rows, columns or terms, and the fewest terms in all, for which a kernel pays.
_FEWEST = 1
_LEAST_WORK = 100
#: More turns of one loop than this are left alone; products of three do not wrap.
_MOST = 1 << 20


@record
class Emitter:
    """Emits one product.

    Args:
        product: see `find`.
        makers, constants: what is known of the function.
        fused: whether a product and a sum may be rounded once.
        label: one that the function does not use, nor those behind it.
    """

    product: Product
    makers: Mapping[Value, Op]
    constants: Mapping[Value, int]
    fused: bool
    label: int
    builder: Builder = field(default_factory=lambda: Builder(Region()))
    guard: Guard = field(init=False)
    places: Places = field(init=False)
    sizes: dict[Op, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.guard = Guard(self.product.subscripts.nest, {}, self.builder)
        self.builder.loc = self.product.nest[0].loc
        self.places = Places(self.guard, self.constants, self.sizes)

    # The whole

    def emit(self) -> list[Op]:
        """The ops."""
        made, b = self.product, self.builder
        for loop in made.nest:
            start, stop = (self.guard.value(bound) for bound in loop.operands[:2])
            self.sizes[loop] = stop if self.constants.get(loop.operands[0]) == 0 else b.value("sub", stop, start)
        done = self.either(self.is_large(), lambda: self.large())
        mark_cold(made.nest[0])
        left = Region([], [made.nest[0]])
        with b.into(Region()) as nothing:
            b.op("yield")
        with b.into(left):
            b.op("yield")
        b.op("if", done, regions=(nothing, left))
        return b.region.ops

    def either(self, condition: Value, body: Callable[[], Value]) -> Value:
        """The truth value that the body gives if the condition holds, else false."""
        b = self.builder
        regions = (Region(), Region())
        with b.into(regions[0]):
            b.op("yield", body())
        with b.into(regions[1]):
            b.op("yield", b.bool(False))
        return b.op("if", condition, regions=regions).result

    def all(self, parts: Iterable[Value]) -> Value:
        whole: Value | None = None
        for part in parts:
            whole = part if whole is None else self.builder.value("and", whole, part)
        return self.builder.bool(True) if whole is None else whole

    def is_large(self) -> Value:
        """Whether there is enough to do; then no bound is negative, and none so large that a product of them wraps."""
        b = self.builder
        parts = []
        work: Value | None = None
        for loop, size in self.sizes.items():
            if self.constants.get(loop.operands[0]) != 0:
                first = self.guard.value(loop.operands[0])
                parts.append(b.value("cmp", first, b.i64(0), pred="ge"))
                parts.append(b.value("cmp", first, b.i64(1 << 40), pred="lt"))
            parts.append(b.value("cmp", size, b.i64(_FEWEST), pred="ge"))
            parts.append(b.value("cmp", size, b.i64(_MOST), pred="lt"))
            work = size if work is None else b.value("mul", work, size)
        assert work is not None
        parts.append(b.value("cmp", work, b.i64(_LEAST_WORK), pred="ge"))
        return self.all(parts)

    def large(self) -> Value:
        """The conditions on memory, and the product behind them."""
        made, b = self.product, self.builder
        target = self.places.view(made.target, made.row, made.column)
        parts = [] if is_injective(made) else [self.places.apart(target)]
        written = made.target.root if made.prepared else target
        matrices: list[Value | None] = []
        for factor, loops in ((made.left, (made.row, made.term)), (made.right, (made.term, made.column))):
            matrix = self.places.view(factor.access, *loops) if factor.access is not None else None
            matrices.append(matrix)
            if matrix is None or factor.access is None or self.is_private(factor.access.root, made.target.root):
                continue
            clear = b.value("not", b.value("overlap", written, matrix))
            if factor.access.root is made.target.root and not made.prepared:
                clear = self.places.disjoint(made.target, factor.access, clear)
            parts.append(clear)
        for root in self.others():
            parts.append(b.value("not", b.value("overlap", written, root)))
        return self.either(self.all(parts), lambda: self.multiply(target, matrices))

    def others(self) -> list[Value]:
        """The arrays that are read beside plain factors and the element itself."""
        made = self.product
        plain = {factor.access.op for factor in (made.left, made.right) if factor.access is not None}
        used = self.product.needed(
            [made.left.value, made.right.value, *([made.init] if made.init else ()), *self.product.stored()]
        )
        used.update(self.product.preparing())
        used |= self.product.needed(operand for op in self.product.preparing() for operand in op.operands)
        roots = (access.root for access in made.subscripts.accesses if access.op in used - plain - made.own)
        return [root for root in dict.fromkeys(roots) if not self.is_private(root, made.target.root)]

    def is_private(self, one: Value, other: Value) -> bool:
        """Whether two arrays cannot overlap: one was allocated here, and the other is no view."""
        for new, old in ((one, other), (other, one)):
            maker, origin = self.makers.get(new), self.makers.get(old)
            if (
                new is not old
                and maker is not None
                and maker.name == "alloc"
                and (origin is None or origin.name == "alloc")
            ):
                return True
        return False

    def multiply(self, target: Value, matrices: list[Value | None]) -> Value:
        """The product; gives whether it was computed."""
        made, b = self.product, self.builder
        sums, clear = target, False
        if self.product.needs_buffer:
            sums = b.value("alloc", self.sizes[made.row], self.sizes[made.column], type=ArrayType(made.dtype, 2, "C"))
        init = self.makers.get(made.init) if made.init is not None else None
        if made.prepared:
            clear = self.clears()
            if not clear:
                self.prepare()
        elif self.product.begins_in_place and sums is target:
            pass
        elif is_zero(init):
            clear = True
        else:
            self.fill(sums)
        left = matrices[0] or self.copied(made.left, made.row, made.term)
        right = matrices[1] or self.copied(made.right, made.term, made.column)
        attrs = {"clear": clear, "negate": made.negate, "fused": self.fused}
        done = b.value("contract", sums, left, right, **{name: value for name, value in attrs.items() if value})
        if sums is target and self.product.is_plain:
            return done
        return self.either(done, lambda: self.finish(sums, target))

    # Loops beside the kernel

    def around(self, one: Op, other: Op, body: Callable[[Value, Value, dict[Value, Value]], None]) -> None:
        """Two loops: the body is given the places in a matrix, and the indices by those of the nest."""
        b = self.builder
        outer, inner = region_with_args([I64]), region_with_args([I64])
        zero, unit = b.i64(0), b.i64(1)
        with b.into(inner):
            at = (outer.args[0], inner.args[0])
            values = {index_of(loop): self.index(loop, place) for loop, place in zip((one, other), at)}
            body(*at, values)
            b.op("continue", label=self.label + 1)
        with b.into(outer):
            b.op("for", zero, self.sizes[other], unit, regions=[inner], label=self.label + 1, wide=True)
            b.op("continue", label=self.label)
        b.op("for", zero, self.sizes[one], unit, regions=[outer], label=self.label)

    def index(self, loop: Op, place: Value) -> Value:
        start = loop.operands[0]
        return place if self.constants.get(start) == 0 else self.builder.value("add", place, self.guard.value(start))

    def fill(self, sums: Value) -> None:
        """What the sums begin with."""
        made, b = self.product, self.builder
        init = made.init
        if init is None:
            init = next(op for op in made.own if op in made.inner).result

        def body(i: Value, j: Value, values: dict[Value, Value]) -> None:
            self.copy(self.product.needed([init]), values)
            b.op("store", values.get(init, init), sums, i, j, checked=False, wrap=False)

        self.around(made.row, made.column, body)

    def clears(self) -> bool:
        """Whether what is done to lines first is that they are cleared, as far as the product goes."""
        made = self.product
        other = made.nest[1] if made.nest[1] is not made.term else made.nest[2]
        if len(made.prepared) != 1 or made.prepared[0].operands[:2] != other.operands[:2]:
            return False
        loop = made.prepared[0]
        stores = [access for access in made.subscripts.accesses if access.writes and access.op in loop.regions[0].ops]
        if len(stores) != 1 or not is_zero(self.makers.get(stores[0].op.operands[0])):
            return False
        here, there = index_of(loop), index_of(other)
        axes = [
            None if poly is None else {tuple(there if v is here else v for v in term): n for term, n in poly.items()}
            for poly in stores[0].axes or ()
        ]
        return axes == list(made.target.axes or ()) and None not in axes

    def prepare(self) -> None:
        """What is done to lines first, for all of them."""
        made, b = self.product, self.builder
        outer = made.nest[0]
        body = region_with_args([I64])
        with b.into(body):
            values = {index_of(outer): self.index(outer, body.args[0])}
            self.copy(
                self.product.needed(operand for op in self.product.preparing() for operand in op.operands), values
            )
            for loop in made.prepared:
                bounds = {bound: self.guard.value(bound) for bound in loop.operands[:2]}
                b.region.ops.append(clone_op(loop, {**values, **bounds}))
            b.op("continue", label=self.label)
        b.op("for", b.i64(0), self.sizes[outer], b.i64(1), regions=[body], label=self.label)

    def copied(self, factor: Factor, one: Op, other: Op) -> Value:
        """A factor that is computed, as a matrix."""
        made, b = self.product, self.builder
        matrix = b.value("alloc", self.sizes[one], self.sizes[other], type=ArrayType(made.dtype, 2, "C"))

        def body(i: Value, j: Value, values: dict[Value, Value]) -> None:
            self.copy(self.product.needed([factor.value]), values)
            b.op("store", values[factor.value], matrix, i, j, checked=False, wrap=False)

        self.around(one, other, body)
        return matrix

    def finish(self, sums: Value, target: Value) -> Value:
        """What is done with the sums."""
        made, b = self.product, self.builder

        def body(i: Value, j: Value, values: dict[Value, Value]) -> None:
            total = b.value("load", sums, i, j, checked=False, wrap=False)
            if made.total is not None:
                values[made.total] = total
            elif sums is not target:
                b.op("store", total, target, i, j, checked=False, wrap=False)
            stores = {op for op in made.behind if op.name == "store"}
            self.copy(self.product.needed(self.product.stored()) | stores, values)

        self.around(made.row, made.column, body)
        return b.bool(True)

    def copy(self, chosen: set[Op], values: dict[Value, Value]) -> None:
        """Copy ops of the nest, in order."""
        made = self.product
        for op in (*made.before, *made.inner, *made.behind):
            if op in chosen:
                self.builder.region.ops.append(clone_op(op, values))


def is_zero(op: Op | None) -> bool:
    """Whether an op is the constant 0 that memory is cleared with."""
    return op is not None and op.name == "const" and str(op.attrs["value"]) in ("0", "0.0")
