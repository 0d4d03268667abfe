"""Recognises a product of matrices: `c[i, j] += a[i, k] * b[k, j]` in three loops inside one another, in any order.

Takes a loop and the definitions of the function's values; gives a `Product`, a `Refusal` for what looks like one and is none, or
None. The factors may be any expressions of the indices that only compute and read; each takes the index of the sum and
one of the others. The sum is a value that the innermost loop carries, or is kept in the array. Around the innermost loop,
where it is that of the sum, each element may be prepared and finished; a line of the result may be prepared in a loop of its own
(`for j: c[i, j] = 0.0`). Changes nothing.

The nest must be rectangular, and only store to places that the two outer indices of the product name. That these places are
all different, and that nothing else that is read is among them, is for `replace` to test when the program runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Value
from quadrants.passes.contractions.nest import Factor, Product, Refusal, computes, index_of, is_known, plain
from quadrants.passes.structure import constant_turns, use_counts_in
from quadrants.passes.subscripts import Access, Subscripts
from quadrants.types import ArrayType, LanesType, Scalar

#: A sum of at most so many terms, known when it is compiled, is better written out.
_FEW = 8


@record
class Finder:
    """Looks at one nest."""

    nest: tuple[Op, Op, Op]
    makers: Mapping[Value, Op]
    constants: Mapping[Value, int]
    before: list[Op] = field(default_factory=list)
    inner: list[Op] = field(default_factory=list)
    behind: list[Op] = field(default_factory=list)
    prepared: list[Op] = field(default_factory=list)
    depends: dict[Value, frozenset[Value]] = field(default_factory=dict)

    def find(self) -> Product | Refusal | None:
        """What the nest is."""
        if not self.straight():
            return None
        if len(self.nest[2].operands) == 4:
            return self.carried() if not self.prepared else None
        return self.in_place()

    def straight(self) -> bool:
        """Take the bodies apart. Whether they only compute, read and store."""
        first, second, last = self.nest
        for outer, inner in ((first, second), (second, last)):
            ops = outer.regions[0].ops
            at = ops.index(inner)
            self.before += ops[:at]
            self.behind += ops[at + 1 : -1]
        self.inner = last.regions[0].ops[:-1]
        self.prepared = [op for op in self.before if op.regions]
        self.before = [op for op in self.before if not op.regions]
        alone = [op for op in first.regions[0].ops if op.name == "store"]
        beside = [op for loop in self.prepared for op in loop.regions[0].ops[:-1]]
        ops = [*self.before, *self.inner, *self.behind, *beside]
        return not alone and all(computes(op) or (op.name == "store" and plain(op)) for op in ops)

    def indices(self, value: Value) -> frozenset[Value]:
        """The indices, and carried values, of the nest that a value depends on."""
        known = self.depends.get(value)
        if known is None:
            args = {arg for loop in self.nest for arg in loop.regions[0].args}
            results = {result for loop in self.nest for result in loop.results}
            op = self.makers.get(value)
            if value in args or value in results:
                known = frozenset((value,))
            elif op is None or op.regions:
                known = frozenset()
            else:
                known = frozenset().union(*map(self.indices, op.operands))
            self.depends[value] = known
        return known

    # The two forms

    def carried(self) -> Product | Refusal | None:
        """The innermost loop carries the sum, which is stored behind it."""
        last = self.nest[2]
        arg, end = last.regions[0].args[1], last.regions[0].ops[-1].operands[0]
        stores = [op for op in (*self.before, *self.inner, *self.behind) if op.name == "store"]
        if len(stores) != 1 or stores[0] not in self.behind:
            return None
        found = self.step(end, arg)
        counts = use_counts_in(last.regions[0])
        if found is None or counts.get(arg) != 1 or counts.get(end) != 1:
            return None
        return self.product(last, found, stores[0], last.operands[3], last.results[0])

    def in_place(self) -> Product | Refusal | None:
        """The sum is kept in the array."""
        stores = [op for op in self.inner if op.name == "store"]
        if len(stores) != 1:
            return None
        store = stores[0]
        step = self.makers.get(store.operands[0])
        reads = [op for op in self.inner if op.name == "load" and op.operands == store.operands[1:]]
        counts = use_counts_in(self.nest[2].regions[0])
        if step is None or len(reads) != 1 or counts.get(reads[0].result) != 1 or counts.get(step.result) != 1:
            return None
        found = self.step(store.operands[0], reads[0].result)
        place = frozenset().union(*map(self.indices, store.operands[1:]))
        terms = [loop for loop in self.nest if index_of(loop) not in place]
        if found is None or len(terms) != 1:
            return None
        begins = [op for op in self.before if op.name == "store"]
        others = [*begins, *(op for op in self.behind if op.name == "store")]
        if others and terms[0] is not self.nest[2]:
            return None
        if len(begins) > 1 or any(op.operands[1:] != store.operands[1:] for op in others):
            return None
        if begins and any(op.name == "load" for op in self.before[self.before.index(begins[0]) :]):
            return None  # it may read what was just stored
        made = self.product(terms[0], found, store, begins[0].operands[0] if begins else None, None)
        if not isinstance(made, Product):
            return made
        made.own.add(reads[0])
        made.prepared = self.prepared
        return made if all(self.prepares(loop, made) for loop in self.prepared) else None

    def prepares(self, loop: Op, made: Product) -> bool:
        """Whether a loop only stores to the line of the result that the turn of the outermost loop is about. So what it does may
        be done for all lines first."""
        outer, type = index_of(self.nest[0]), made.target.root.type
        axes = made.target.axes
        assert isinstance(type, ArrayType)
        if made.init is not None or made.term is self.nest[0] or axes is None or not type.contiguous:
            return False
        if not all(map(made.subscripts.nest.invariant, loop.operands[:2])):
            return False
        lines = [n for n, poly in enumerate(axes) if poly and any(outer in monomial for monomial in poly)]
        if len(lines) != 1 or set(axes[lines[0]] or ()) - {()} != {(outer,)}:
            return False
        for access in made.subscripts.accesses:
            if access.op in loop.regions[0].ops and access.writes:
                known = access.root is made.target.root and access.axes is not None
                if not known or access.axes[lines[0]] != axes[lines[0]]:  # type: ignore[index]
                    return False
        return True

    def step(self, value: Value, base: Value) -> tuple[Value, Value, bool] | None:
        """The factors of what is added to the base, and whether it is subtracted."""
        op = self.makers.get(value)
        if op is None or op.name not in ("add", "sub") or base not in op.operands:
            return None
        side = op.operands.index(base)
        if op.name == "sub" and side != 0:
            return None
        term = self.makers.get(op.operands[1 - side])
        if term is None or term.name != "mul" or term.operands[0] is base or term.operands[1] is base:
            return None
        return term.operands[0], term.operands[1], op.name == "sub"

    def product(
        self, term: Op, found: tuple[Value, Value, bool], store: Op, init: Value | None, total: Value | None
    ) -> Product | Refusal | None:
        """The product of two factors that take an index each beside that of the sum."""
        first, second, negate = found
        outer = [loop for loop in self.nest if loop is not term]
        k = index_of(term)
        pairs = [(self.indices(first), self.indices(second), first, second)]
        pairs.append((pairs[0][1], pairs[0][0], second, first))
        rows = {index_of(loop): loop for loop in outer}
        for left, right, a, b in pairs:
            row = [rows[i] for i in left if i in rows]
            column = [rows[i] for i in right if i in rows]
            if len(row) == len(column) == 1 and row != column and len(left) == len(right) == 2 and k in left & right:
                return self.complete((row[0], column[0], term), (a, b), (negate, store, init, total))
        return None

    def complete(
        self,
        loops: tuple[Op, Op, Op],
        values: tuple[Value, Value],
        rest: tuple[bool, Op, Value | None, Value | None],
    ) -> Product | Refusal | None:
        """Check what the product is made of."""
        negate, store, init, total = rest
        dtype = values[0].type
        subscripts = Subscripts(self.nest[0], self.makers)
        accesses = {access.op: access for access in subscripts.accesses}
        target = accesses.get(store)
        if isinstance(dtype, LanesType) or not isinstance(dtype, Scalar):
            return None
        problem = self.problem(loops, dtype, subscripts, target)
        if problem is not None:
            return problem
        assert target is not None
        if self.first_axis(target, loops[1], loops[0]):
            loops, values = (loops[1], loops[0], loops[2]), (values[1], values[0])
        factors = [Factor(value, self.access(value, accesses)) for value in values]
        made = Product(
            self.nest, *loops, factors[0], factors[1], dtype, store, target, init, total, negate, self.before, self.inner,
            self.behind, subscripts, self.makers,
        )  # fmt: skip
        return self.reads(made, accesses)

    def access(self, value: Value, accesses: Mapping[Op, Access]) -> Access | None:
        """Where a factor is read, if it is an element of an array at places that are known."""
        op = self.makers.get(value)
        found = accesses.get(op) if op is not None and op.name == "load" else None
        return found if found is not None and is_known(found) else None

    def problem(
        self, loops: tuple[Op, Op, Op], dtype: Scalar, subscripts: Subscripts, target: Access | None
    ) -> Refusal | None:
        """Why it is not replaced."""
        if not (dtype.bits in (32, 64) and (dtype.is_float or dtype.is_integer)):
            return Refusal("dtype", f"there is no kernel for products of {dtype}", self.nest[0])
        for loop in self.nest:
            if not all(map(subscripts.nest.invariant, loop.operands[:2])):
                return Refusal("not-rectangular", "the bounds of this loop change in the loops around it", loop)
        few = [loop for loop in loops if (turns := constant_turns(loop, self.constants)) is not None and turns <= _FEW]
        if few:
            return Refusal("few-turns", "this loop has few turns: it is written out", few[0])
        if target is None or not is_known(target):
            return Refusal("unknown-place", "it is not known where this stores to", subscripts.loop)
        return None

    def first_axis(self, target: Access, one: Op, other: Op) -> bool:
        """Whether the elements of `one` are further apart than those of the other, by the axes that they are along."""
        type = target.root.type
        assert isinstance(type, ArrayType)
        if target.axes is None:
            return False
        along = {
            loop: [
                axis for axis, poly in enumerate(target.axes) if poly and any(index_of(loop) in term for term in poly)
            ]
            for loop in (one, other)
        }
        if not along[one] or not along[other] or along[one] == along[other]:
            return False
        return (min(along[one]) < min(along[other])) != (type.layout == "F")

    def reads(self, made: Product, accesses: Mapping[Op, Access]) -> Product | Refusal | None:
        """Find the reads of the element itself; no other element of the array may be read around the factors."""
        place = made.store.operands[1:]
        for op in (*self.before, *self.behind):
            if op.name == "load" and op.operands == place:
                made.own.add(op)
        known = {accesses[op].root for op in made.own if op in accesses}
        return made if known <= {made.target.root} else None
