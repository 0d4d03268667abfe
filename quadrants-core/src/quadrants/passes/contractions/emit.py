"""The ops that stand for a nest that is a product of matrices: see `replace`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_op
from quadrants.passes.contractions.find import Factor, Product, Refusal, index_of
from quadrants.passes.guards import Guard
from quadrants.passes.polynomials import Poly, as_const, split
from quadrants.passes.structure import mark_cold
from quadrants.passes.subscripts import Access
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
    sizes: dict[Op, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.guard = Guard(self.product.subscripts.nest, {}, self.builder)
        self.builder.loc = self.product.nest[0].loc

    # What is read and written

    @property
    def is_plain(self) -> bool:
        """Whether the sum goes into the array as it is."""
        made = self.product
        if made.total is None:
            return not any(op.name == "store" for op in made.behind)
        return made.store.operands[0] is made.total

    @property
    def begins_in_place(self) -> bool:
        """Whether the sum begins with what the array holds."""
        made = self.product
        if made.init is None:
            return True
        maker = self.makers.get(made.init)
        return self.is_plain and made.total is not None and maker in made.own and self.target_type.dtype == made.dtype

    @property
    def needs_buffer(self) -> bool:
        """Whether the sums must not be kept in the array."""
        made = self.product
        if self.target_type.dtype != made.dtype:
            return True
        begins = set() if self.begins_in_place or made.init is None else self.needed([made.init])
        ends = set() if self.is_plain or made.total is None else self.needed(self.stored())
        return not made.own.isdisjoint(begins | ends)

    @property
    def target_type(self) -> ArrayType:
        type = self.product.target.root.type
        assert isinstance(type, ArrayType)
        return type

    def stored(self) -> list[Value]:
        return [operand for op in self.product.behind if op.name == "store" for operand in op.operands]

    def needed(self, values: Iterable[Value]) -> set[Op]:
        """The ops of the nest that values are made by."""
        made = self.product
        wanted, found = set(values), set()
        for op in reversed([*made.before, *made.inner, *made.behind]):
            if any(result in wanted for result in op.results):
                wanted.update(op.operands)
                found.add(op)
        return found

    def problem(self) -> Refusal | None:
        """Why the product cannot be computed apart."""
        made = self.product
        accesses = {access.op: access for access in made.subscripts.accesses}
        plain = {factor.access.op for factor in (made.left, made.right) if factor.access is not None}
        for op in (*made.before, *made.inner, *made.behind):
            if op.name != "load" or op in made.own or op in plain:
                continue
            if op not in accesses or accesses[op].root is made.target.root:
                return Refusal("reads-result", "this may read what other turns of the nest store", op)
        if made.total is None and not made.own.isdisjoint(self.needed(self.stored()) & set(made.before)):
            return Refusal("reads-result", "this is used behind the sum, which changes it", made.store)
        return None

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
        target = self.view(made.target, made.row, made.column)
        parts = [] if self.is_injective() else [self.apart(target)]
        matrices: list[Value | None] = []
        for factor, loops in ((made.left, (made.row, made.term)), (made.right, (made.term, made.column))):
            matrix = self.view(factor.access, *loops) if factor.access is not None else None
            matrices.append(matrix)
            if matrix is not None and not self.is_private(factor.access.root, made.target.root):  # type: ignore[union-attr]
                parts.append(b.value("not", b.value("overlap", target, matrix)))
        for root in self.others():
            parts.append(b.value("not", b.value("overlap", target, root)))
        return self.either(self.all(parts), lambda: self.multiply(target, matrices))

    def others(self) -> list[Value]:
        """The arrays that are read beside plain factors and the element itself."""
        made = self.product
        plain = {factor.access.op for factor in (made.left, made.right) if factor.access is not None}
        used = self.needed([made.left.value, made.right.value, *([made.init] if made.init else ()), *self.stored()])
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
        if self.needs_buffer:
            sums = b.value("alloc", self.sizes[made.row], self.sizes[made.column], type=ArrayType(made.dtype, 2, "C"))
        init = self.makers.get(made.init) if made.init is not None else None
        if self.begins_in_place and sums is target:
            pass
        elif init is not None and init.name == "const" and str(init.attrs["value"]) in ("0", "0.0"):
            clear = True
        else:
            self.fill(sums)
        left = matrices[0] or self.copied(made.left, made.row, made.term)
        right = matrices[1] or self.copied(made.right, made.term, made.column)
        attrs = {"clear": clear, "negate": made.negate, "fused": self.fused}
        done = b.value("contract", sums, left, right, **{name: value for name, value in attrs.items() if value})
        if sums is target and self.is_plain:
            return done
        return self.either(done, lambda: self.finish(sums, target))

    # Places

    def view(self, access: Access, one: Op, other: Op) -> Value:
        """The matrix of what an access reaches in the turns of two loops."""
        b = self.builder
        type = access.root.type
        assert isinstance(type, ArrayType)
        item = type.dtype.itemsize
        pairs: list[tuple[Poly, Value | None]] = []
        if access.axes is not None and None not in access.axes:
            pairs += [(poly, b.value("stride", access.root, axis=n)) for n, poly in enumerate(access.axes) if poly]
        else:
            assert access.linear is not None
            pairs.append((access.linear, None))
        total: Value | None = None
        steps: list[Value | None] = [None, None]
        for poly, stride in pairs:
            unit = stride if stride is not None else b.i64(item)
            rest = poly
            for n, loop in enumerate((one, other)):
                parts = split(rest, index_of(loop))
                assert parts is not None
                factor, rest = parts
                if factor:
                    step = unit if as_const(factor) == 1 else b.value("mul", self.guard.poly(factor), unit)
                    steps[n] = self.plus(steps[n], step)
                    if self.constants.get(loop.operands[0]) != 0:
                        total = self.plus(total, b.value("mul", step, self.guard.value(loop.operands[0])))
            if rest:
                total = self.plus(total, b.value("mul", self.guard.poly(rest), unit))
        sizes = (self.sizes[one], self.sizes[other])
        known = [b.i64(0) if value is None else value for value in (total, *steps)]
        matrix = ArrayType(type.dtype, 2, "A", type.readonly)
        return b.value("view", access.root, known[0], *sizes, *known[1:], type=matrix)

    def plus(self, a: Value | None, b: Value) -> Value:
        return b if a is None else self.builder.value("add", a, b)

    def is_injective(self) -> bool:
        """Whether every row and column is an element of its own: they are along different axes of a contiguous array."""
        made = self.product
        if not self.target_type.contiguous or made.target.axes is None or None in made.target.axes:
            return False
        found = []
        for loop in (made.row, made.column):
            index = index_of(loop)
            axes = [n for n, poly in enumerate(made.target.axes) if poly and any(index in term for term in poly)]
            if len(axes) != 1:
                return False
            parts = split(made.target.axes[axes[0]] or {}, index)
            if parts is None or not as_const(parts[0]):
                return False
            found.append(axes[0])
        return found[0] != found[1]

    def apart(self, target: Value) -> Value:
        """Whether no two elements of a matrix overlap: from one line to the next it is further than a line is long."""
        b = self.builder
        steps = [b.value("abs", b.value("stride", target, axis=axis)) for axis in range(2)]
        sizes = [b.value("dim", target, axis=axis) for axis in range(2)]
        item = b.i64(self.target_type.dtype.itemsize)
        ways = []
        for long, short in ((0, 1), (1, 0)):
            clear = b.value("cmp", steps[short], item, pred="ge")
            far = b.value("cmp", steps[long], b.value("mul", steps[short], sizes[short]), pred="ge")
            ways.append(b.value("and", clear, far))
        return b.value("or", *ways)

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
            self.copy(self.needed([init]), values)
            b.op("store", values.get(init, init), sums, i, j, checked=False, wrap=False)

        self.around(made.row, made.column, body)

    def copied(self, factor: Factor, one: Op, other: Op) -> Value:
        """A factor that is computed, as a matrix."""
        made, b = self.product, self.builder
        matrix = b.value("alloc", self.sizes[one], self.sizes[other], type=ArrayType(made.dtype, 2, "C"))

        def body(i: Value, j: Value, values: dict[Value, Value]) -> None:
            self.copy(self.needed([factor.value]), values)
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
            self.copy(self.needed(self.stored()) | stores, values)

        self.around(made.row, made.column, body)
        return b.bool(True)

    def copy(self, chosen: set[Op], values: dict[Value, Value]) -> None:
        """Copy ops of the nest, in order."""
        made = self.product
        for op in (*made.before, *made.inner, *made.behind):
            if op in chosen:
                self.builder.region.ops.append(clone_op(op, values))
