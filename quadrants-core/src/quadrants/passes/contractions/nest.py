"""What is known of a nest that is a product of matrices: its loops, its factors, what an element begins and ends with.

Made by `find`; changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Op, Value
from quadrants.passes.structure import is_pure
from quadrants.passes.subscripts import Access, Subscripts
from quadrants.types import ArrayType, Scalar


@frozen(eq=False)
class Refusal:
    """Why a nest that looks like a product is none, and the op that this is about."""

    code: str
    text: str
    op: Op


@frozen(eq=False)
class Factor:
    """One side of the product: its value, and the read that it is if it is nothing else."""

    value: Value
    access: Access | None


@record(eq=False)
class Product:
    """A nest that is a product.

    Args:
        nest: its three loops, from the outside in.
        row, column, term: the loops of i, j and k.
        left, right: the factors: of i and k, of k and j.
        dtype: of the sum.
        store: where the sum goes.
        target: the place of the element.
        init: what the sum begins with; None: what is in the array.
        total: the sum behind the innermost loop; None: it is in the array.
        negate: whether the terms are subtracted.
        before: what the loops do in front of the innermost one.
        inner: what a turn of the innermost one does.
        behind: what is done with a sum that is complete.
        subscripts: the accesses of the nest.
        makers: the definitions of the function's values.
        own: the reads of the element itself.
        prepared: loops in front of the two inner ones that store to a line of the result.
    """

    nest: tuple[Op, Op, Op]
    row: Op
    column: Op
    term: Op
    left: Factor
    right: Factor
    dtype: Scalar
    store: Op
    target: Access
    init: Value | None
    total: Value | None
    negate: bool
    before: list[Op]
    inner: list[Op]
    behind: list[Op]
    subscripts: Subscripts
    makers: Mapping[Value, Op]
    own: set[Op] = field(default_factory=set)
    prepared: list[Op] = field(default_factory=list)

    @property
    def is_plain(self) -> bool:
        """Whether the sum goes into the array as it is."""
        if self.total is None:
            return not any(op.name == "store" for op in self.behind)
        return self.store.operands[0] is self.total

    @property
    def begins_in_place(self) -> bool:
        """Whether the sum begins with what the array holds."""
        if self.init is None:
            return True
        maker = self.makers.get(self.init)
        return self.is_plain and self.total is not None and maker in self.own and self.target_type.dtype == self.dtype

    @property
    def needs_buffer(self) -> bool:
        """Whether the sums must not be kept in the array."""
        if self.target_type.dtype != self.dtype:
            return True
        begins = set() if self.begins_in_place or self.init is None else self.needed([self.init])
        ends = set() if self.is_plain or self.total is None else self.needed(self.stored())
        return not self.own.isdisjoint(begins | ends)

    @property
    def target_type(self) -> ArrayType:
        type = self.target.root.type
        assert isinstance(type, ArrayType)
        return type

    def stored(self) -> list[Value]:
        return [operand for op in self.behind if op.name == "store" for operand in op.operands]

    def needed(self, values: Iterable[Value]) -> set[Op]:
        """The ops of the nest that values are made by."""
        wanted, found = set(values), set()
        for op in reversed([*self.before, *self.inner, *self.behind]):
            if any(result in wanted for result in op.results):
                wanted.update(op.operands)
                found.add(op)
        return found

    def problem(self) -> Refusal | None:
        """Why the product cannot be computed apart."""
        accesses = {access.op: access for access in self.subscripts.accesses}
        factors = {factor.access.op for factor in (self.left, self.right) if factor.access is not None}
        for op in (*self.before, *self.inner, *self.behind, *self.preparing()):
            if op.name != "load" or op in self.own or op in factors:
                continue
            if op not in accesses or accesses[op].root is self.target.root:
                return Refusal("reads-result", "this may read what other turns of the nest store", op)
        if self.total is None and not self.own.isdisjoint(self.needed(self.stored()) & set(self.before)):
            return Refusal("reads-result", "this is used behind the sum, which changes it", self.store)
        return None

    def preparing(self) -> list[Op]:
        return [op for loop in self.prepared for op in loop.regions[0].ops]


def index_of(loop: Op) -> Value:
    return loop.regions[0].args[0]


def nest_of(loop: Op, constants: Mapping[Value, int]) -> tuple[Op, Op, Op] | None:
    """The three loops, if nothing else runs in a nest than they, and loops by themselves in front of the two inner ones."""
    found = [loop]
    while len(found) < 3:
        inside = [op for op in found[-1].regions[0].ops if op.regions]
        if not inside or (len(inside) > 1 and len(found) > 1):
            return None
        if not all(_counts(op, 0, constants) for op in inside[:-1]):
            return None
        found.append(inside[-1])
    first, second, last = found
    fits = _counts(first, 0, constants, True) and _counts(second, 0, constants, True) and _counts(last, 1, constants)
    return (first, second, last) if fits else None


def _counts(op: Op, carried: int, constants: Mapping[Value, int], around: bool = False) -> bool:
    """Whether a loop counts by ones, in one piece, and carries so many values at most. `around`: others may be inside."""
    if op.name != "for" or op.attrs.get("cold") or constants.get(op.operands[2]) != 1 or len(op.operands) > 3 + carried:
        return False
    end = op.regions[0].terminator
    straight = around or not any(inner.regions for inner in op.regions[0].ops)
    return straight and end is not None and end.name == "continue" and end.attrs["label"] == op.attrs["label"]


def plain(op: Op) -> bool:
    return not (op.attr("checked") or op.attr("wrap"))


def computes(op: Op) -> bool:
    """Whether the op only computes, reads an element, or names a part of an array."""
    if op.name == "view":
        return True
    scalar = all(isinstance(result.type, Scalar) for result in op.results)
    return scalar and (is_pure(op) or (op.name == "load" and plain(op)))


def is_known(access: Access) -> bool:
    """Whether the place is known, along each axis or in memory."""
    return (access.axes is not None and None not in access.axes) or access.linear is not None
