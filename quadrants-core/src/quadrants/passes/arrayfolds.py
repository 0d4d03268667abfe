"""Arrays that a loop only folds into (`counts[k] += 1`, `total += row`): each chunk of a parallel loop gets a copy of its own.

Takes the accesses of a loop (see `dependence`) and the uses of its function; `find` gives the arrays of which every element is only
read to be combined, by one operation that may be done in any order, and stored back where it was. Such an array is contiguous and
is reached through itself, or through views that turns take of it. `private` and `combine` emit what a chunk begins with, and what
comes after all chunks: copies are combined in the order of the chunks, so that the result does not depend on chance.
"""

from __future__ import annotations

from collections.abc import Iterable

from quadrants._frozen import frozen
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.passes.dependence import Verdict
from quadrants.passes.folds import Flow
from quadrants.passes.neutral import neutral, together
from quadrants.passes.structure import free_values
from quadrants.passes.subscripts import Access
from quadrants.types import I64, ArrayType, Scalar

#: The most copies of an array, as a power of two.
COPIES_SHIFT = 4
COPIES = 1 << COPIES_SHIFT
_MOST_RANK = 3
#: Copies pay if the loop has so many turns an element of them (as a power of two), and the array is no larger than this.
_TURNS_SHIFT = 1
_MOST_DIM = 1 << 20
_KINDS = frozenset({"add", "sub", "mul", "min", "max", "and", "or", "xor"})
_QUIET = frozenset({"dim", "stride", "view", "same", "overlap", "load", "store"})


@frozen(eq=False)
class ArrayFold:
    """An array, and the op that combines two parts of an element."""

    array: Value
    kind: str
    ops: tuple[Op, ...] = ()


def find(loop: Op, verdict: Verdict, flow: Flow, *, strict: bool) -> list[ArrayFold]:
    """The arrays with conflicts that are only folded into."""
    found = []
    places = {access.op: access for access in verdict.accesses}
    chains = _Chains(flow, places)
    outside = [value for value in free_values(loop.regions[0]) if isinstance(value.type, ArrayType)]
    for root in dict.fromkeys(conflict.first.root for conflict in verdict.conflicts):
        accesses = [access for access in verdict.accesses if access.root is root]
        fold = _fold(root, accesses, chains)
        if fold is not None and root in outside and _fits(root, strict) and _alone(loop, fold, accesses, chains):
            found.append(fold)
    return found


def _fits(root: Value, strict: bool) -> bool:
    type = root.type
    assert isinstance(type, ArrayType)
    inexact = type.dtype.is_float
    if type.dtype.is_complex or type.layout != "C" or not 1 <= type.ndim <= _MOST_RANK:
        return False
    return not (inexact and strict)


def _fold(root: Value, accesses: list[Access], chains: _Chains) -> ArrayFold | None:
    """One kind of fold for every element, if each read belongs to a store."""
    kind: str | None = None
    ops: list[Op] = []
    loads = {access.op for access in accesses if access.op.name == "load"}
    for store in dict.fromkeys(access.op for access in accesses if access.writes):
        chain = chains.of(store) if store.name == "store" else None
        if chain is None or chain[0] not in loads:
            return None
        load, steps, name = chain
        loads.discard(load)
        if kind not in (None, name):
            return None
        kind = name
        ops += steps
    return ArrayFold(root, kind, tuple(ops)) if kind is not None and not loads else None


@frozen(eq=False)
class _Chains:
    """From stores back to the reads of the same elements."""

    flow: Flow
    places: dict[Op, Access]

    def of(self, store: Op) -> tuple[Op, list[Op], str] | None:
        """The read of the element that is stored, the ops between, and their kind."""
        kind: str | None = None
        steps: list[Op] = []
        value = store.operands[0]
        while True:
            maker = self.flow.makers.get(value)
            if maker is None or len(self.flow.uses.get(value, ())) != 1:
                return None
            if maker.name == "load":
                return (maker, steps, kind) if self.same(maker, store) and kind is not None else None
            name = "add" if maker.name == "sub" else maker.name
            if maker.name not in _KINDS or kind not in (None, name):
                return None
            kind = name
            steps.append(maker)
            sides = [k for k, side in enumerate(maker.operands) if self.reads(side, store)]
            inexact = isinstance(value.type, Scalar) and value.type.is_float
            if len(sides) != 1 or (maker.name == "sub" and sides[0] != 0):
                return None
            if name in ("min", "max") and inexact and sides[0] != 1:
                return None  # it forgets a NaN
            value = maker.operands[sides[0]]

    def reads(self, value: Value, store: Op, depth: int = 4) -> bool:
        """Whether a value is made from the element that is stored."""
        maker = self.flow.makers.get(value)
        if maker is None or depth == 0:
            return False
        if maker.name == "load":
            return self.same(maker, store)
        return maker.name in _KINDS and any(self.reads(side, store, depth - 1) for side in maker.operands)

    def same(self, load: Op, store: Op) -> bool:
        """Whether a read and a store are of one element."""
        if load.operands == store.operands[1:]:
            return True
        first, second = self.places.get(load), self.places.get(store)
        if first is None or second is None or first.root is not second.root or first.axes is None:
            return False
        return first.axes == second.axes and None not in first.axes


def _alone(loop: Op, fold: ArrayFold, accesses: list[Access], chains: _Chains) -> bool:
    """Whether nothing else looks at the array, and nothing comes between a read and its store."""
    touched = {access.op for access in accesses}
    family = {fold.array}
    for op in loop.regions[0].walk():
        if any(operand in family for operand in op.operands):
            if op.name not in _QUIET or (op.name in ("load", "store") and op not in touched):
                return False
            if op.name == "view":
                family.add(op.result)
    if any(access.op.operands[1 if access.writes else 0] not in family for access in accesses):
        return False
    return _in_order(loop.regions[0], touched, chains)


def _in_order(region: Region, touched: set[Op], chains: _Chains) -> bool:
    """Whether every read is followed by its own store before any other access."""
    pending: Op | None = None
    for op in region.ops:
        if op in touched and op.name == "load":
            if pending is not None:
                return False
            pending = op
        elif op in touched:
            chain = chains.of(op)
            if pending is None or chain is None or chain[0] is not pending:
                return False
            pending = None
        elif op.regions:
            inner = any(deep in touched for nested in op.regions for deep in nested.walk())
            if inner and (pending is not None or not all(_in_order(nested, touched, chains) for nested in op.regions)):
                return False
    return pending is None


# What is emitted


def pays(b: Builder, folds: Iterable[ArrayFold], turns: Value) -> Value | None:
    """Whether the arrays are small, compared with the number of turns."""
    whole: Value | None = None
    for fold in folds:
        type = fold.array.type
        assert isinstance(type, ArrayType)
        size: Value | None = None
        for axis in range(type.ndim):
            dim = b.value("min", b.value("dim", fold.array, axis=axis), b.i64(_MOST_DIM))
            size = dim if size is None else b.value("mul", size, dim)
        assert size is not None
        few = b.value("cmp", size, b.value("shr", turns, b.i64(COPIES_SHIFT + _TURNS_SHIFT)), pred="le")
        few = b.value("and", few, b.value("cmp", size, b.i64(0), pred="gt"))
        whole = few if whole is None else b.value("and", whole, few)
    return whole


def buffer(b: Builder, fold: ArrayFold) -> Value:
    """Memory for all copies of an array."""
    type = fold.array.type
    assert isinstance(type, ArrayType)
    dims = [b.value("dim", fold.array, axis=axis) for axis in range(type.ndim)]
    return b.value("alloc", b.i64(COPIES), *dims, type=ArrayType(type.dtype, type.ndim + 1))


def _flat(b: Builder, array: Value, offset: Value, nbytes: Value) -> tuple[Value, Value]:
    """So many bytes of an array, in a row, and how many elements those are."""
    assert isinstance(array.type, ArrayType)
    dtype = array.type.dtype
    size = b.value("floordiv", nbytes, b.i64(dtype.itemsize))
    return b.value("view", array, offset, size, b.i64(dtype.itemsize), type=ArrayType(dtype, 1)), size


def private(b: Builder, fold: ArrayFold, memory: Value, number: Value, label: int) -> Value:
    """The copy of a chunk, with what changes nothing in it."""
    type = fold.array.type
    assert isinstance(type, ArrayType) and isinstance(memory.type, ArrayType)
    nbytes = b.value("stride", memory, axis=0)
    offset = b.value("mul", number, nbytes)
    flat, size = _flat(b, memory, offset, nbytes)
    body = region_with_args([I64])
    with b.into(body):
        start = b.const(neutral(fold.kind, type.dtype), type.dtype)
        b.op("store", start, flat, body.args[0], checked=False, wrap=False)
        b.op("continue", label=label)
    b.op("for", b.i64(0), size, b.i64(1), regions=[body], label=label)
    axes = range(1, memory.type.ndim)
    dims = [b.value("dim", memory, axis=axis) for axis in axes]
    strides = [b.value("stride", memory, axis=axis) for axis in axes]
    return b.value("view", memory, offset, *dims, *strides, type=ArrayType(type.dtype, type.ndim))


def combine(b: Builder, fold: ArrayFold, memory: Value, count: Value, label: int) -> None:
    """Fold the copies into the array, in order."""
    nbytes = b.value("stride", memory, axis=0)
    target, size = _flat(b, fold.array, b.i64(0), nbytes)
    copies, elements = region_with_args([I64]), region_with_args([I64])
    with b.into(copies):
        part, _ = _flat(b, memory, b.value("mul", copies.args[0], nbytes), nbytes)
        with b.into(elements):
            place = elements.args[0]
            total = b.value("load", target, place, checked=False, wrap=False)
            more = b.value("load", part, place, checked=False, wrap=False)
            b.op("store", together(b, fold.kind, total, more), target, place, checked=False, wrap=False)
            b.op("continue", label=label + 1)
        b.op("for", b.i64(0), size, b.i64(1), regions=[elements], label=label + 1)
        b.op("continue", label=label)
    b.op("for", b.i64(0), count, b.i64(1), regions=[copies], label=label)
