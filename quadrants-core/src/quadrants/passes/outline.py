"""Takes the turns of a loop out of its function: builds the function that runs a chunk of them, and the `fork` that calls it.

Takes a `for` whose turns may run in any order, with its folds (see `folds`); gives the ops that stand for it and the values of
its results. The function of a chunk gets the numbers of the first turn and of the one behind the last, and what the body uses
of the values around it; what is constant, or the size of an array, it finds itself. Folds begin anew in each chunk, with the
value that changes nothing; what they come to goes into a buffer, a place for each chunk, and is combined in the order of the
chunks. How the turns are cut depends on their number and on the estimated cost alone, so that results do not depend on how
many threads there are, or on which was faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import clone_op, max_label, replace_uses
from quadrants.passes import arrayfolds, known_sizes
from quadrants.passes.arrayfolds import ArrayFold
from quadrants.passes.extremes import PREDICATES
from quadrants.passes.folds import ALONG, LAST, SAME, Fold
from quadrants.passes.neutral import neutral, together
from quadrants.passes.structure import free_values
from quadrants.types import I64, ArrayType, RefType, Scalar

#: The most chunks of a region.
CHUNKS = 256
_CHUNKS_SHIFT = 8
#: Ops that a chunk does again instead of sharing their results.
_REPEATED = frozenset({"const", "dim", "stride"})


@record
class Shape:
    """How the turns are cut, as values of the function."""

    turns: Value
    grain: Value
    work: Value


def escapes(loop: Op, makers: Mapping[Value, Op]) -> Value | None:
    """A value that the body uses and that cannot be shared: a variable, or an exception that is being handled."""
    for value in free_values(loop.regions[0]):
        if isinstance(value.type, RefType) or str(value.type) == "exc":
            return value
    return None


@record
class Outliner:
    """Builds one chunk function.

    Args:
        function: the function that the loop is in.
        loop: the loop. Its body moves; only the op and its operands stay.
        folds: of its carried values.
        makers: the definitions of the function's values.
        step: the constant step.
        name: of the new function.
        arrays: that are folded into.
    """

    function: Function
    loop: Op
    folds: Sequence[Fold]
    makers: Mapping[Value, Op]
    step: int
    name: str
    arrays: Sequence[ArrayFold] = ()
    shared: list[Value] = field(default_factory=list)  # what the chunks are given, in order
    places: list[tuple[Fold, Value]] = field(default_factory=list)  # a fold's buffer, in the calling function
    copies: list[tuple[ArrayFold, Value]] = field(default_factory=list)  # and that of an array

    def region(self, b: Builder, shape: Shape) -> tuple[list[Value], Function]:
        """Emit the region. Gives the results of the loop, and the new function."""
        b.loc = self.loop.loc
        for fold in self.folds:
            type = fold.arg.type
            if fold.kind != SAME:
                assert isinstance(type, Scalar)
                buffer = b.value("alloc", b.i64(CHUNKS), type=ArrayType(type, 1), stack=True)
                self.places.append((fold, buffer))
        self.copies += [(fold, arrayfolds.buffer(b, fold)) for fold in self.arrays]
        chunk = self.chunk(shape)
        b.op("fork", shape.turns, shape.grain, shape.work, *self.shared, callee=self.name)
        return self.results(b, shape), chunk

    # The chunk

    def chunk(self, shape: Shape) -> Function:
        """The function of a chunk. The values that it is given are noted in `shared`."""
        loop, body = self.loop, self.loop.regions[0]
        start, stop = loop.operands[:2]
        inits = loop.operands[3:]
        for fold in self.folds:
            if fold.kind == SAME:
                replace_uses(body, {fold.arg: inits[fold.index]})
        lo, hi = Value(I64, "lo"), Value(I64, "hi")
        made = Region()
        b = Builder(made)
        b.loc = loop.loc
        wanted = [start, *(() if abs(self.step) == 1 else (stop, shape.turns)), *free_values(body)]
        buffers = [buffer for _, buffer in (*self.places, *self.copies)]
        wanted += [shape.grain, *buffers] if buffers else []
        inside: dict[Value, Value] = {}
        for value in dict.fromkeys(wanted):
            self.bring(b, value, inside)
        place = b.value("floordiv", lo, inside[shape.grain]) if buffers else lo
        for array, memory in self.copies:
            copy = arrayfolds.private(b, array, inside[memory], place, max_label(body) + 1)
            replace_uses(body, {array.array: copy})
            for op in array.ops:
                op.attrs.pop("nowrap", None)
        carried = self.begin(b, inits, inside)
        replace_uses(body, {value: own for value, own in inside.items() if value is not own})
        first, last = self.bounds(b, inside, lo, hi, shape)
        attrs = {name: value for name, value in loop.attrs.items() if name != "parallel"}
        inner = Op(loop.defn, [first, last, b.i64(self.step), *carried], [], attrs, [body], loop.loc)
        inner.results = [Value(arg.type, arg.hint) for arg in body.args[1:]]
        made.ops.append(inner)
        for carry, buffer in self.places:
            b.op("store", inner.results[carry.index], inside[buffer], place, checked=False, wrap=False)
        b.op("return")
        kept = {name: value for name, value in self.function.attrs.items() if name in ("fp", "level")}
        params = [lo, hi, *(inside[value] for value in self.shared)]
        sizes = known_sizes.promised([lo, hi, *self.shared], known_sizes.sizes_of(self.function))
        kept |= {"sizes": sizes} if sizes else {}
        return Function(self.name, params, (), made, self.function.scope, kept)

    def bring(self, b: Builder, value: Value, inside: dict[Value, Value]) -> Value:
        """A value of the calling function in the chunk: made again, or a parameter."""
        if value in inside:
            return inside[value]
        op = self.makers.get(value)
        if op is not None and op.name in _REPEATED:
            for operand in op.operands:
                self.bring(b, operand, inside)
            copy = clone_op(op, dict(inside))
            b.region.ops.append(copy)
            inside[value] = copy.result
        else:
            inside[value] = Value(value.type, value.hint)
            self.shared.append(value)
        return inside[value]

    def begin(self, b: Builder, inits: Sequence[Value], inside: dict[Value, Value]) -> list[Value]:
        """What the carried values begin with in each chunk."""
        values = []
        for fold in self.folds:
            init = inits[fold.index]
            if fold.kind == SAME:
                values.append(self.bring(b, init, inside))
                continue
            for op in fold.ops:
                op.attrs.pop("nowrap", None)  # parts of a sum may wrap where the whole does not
            assert isinstance(init.type, Scalar)
            values.append(b.const(neutral(fold.kind, init.type), init.type))
        return values

    def bounds(
        self, b: Builder, inside: Mapping[Value, Value], lo: Value, hi: Value, shape: Shape
    ) -> tuple[Value, Value]:
        """The indices of the first turn, and of the one behind the last."""
        start, stop = self.loop.operands[:2]
        begin = inside[start]
        maker = self.makers.get(start)
        from_zero = maker is not None and maker.name == "const" and maker.attrs["value"] == 0
        if self.step == 1:
            return (lo, hi) if from_zero else (b.value("add", begin, lo), b.value("add", begin, hi))
        scaled = [b.value("mul", turn, b.i64(self.step)) for turn in (lo, hi)]
        first, last = (b.value("add", begin, part) for part in scaled)
        if self.step != -1:  # the last step may lead far beyond the end
            whole = b.value("cmp", hi, inside[shape.turns], pred="ge")
            last = b.value("select", whole, inside[stop], last)
        return first, last

    # The results

    def results(self, b: Builder, shape: Shape) -> list[Value]:
        """The results of the loop, from what the chunks came to."""
        inits = self.loop.operands[3:]
        found = {fold.index: inits[fold.index] for fold in self.folds}
        folded = [(fold, buffer) for fold, buffer in self.places if fold.kind != LAST]
        if not (self.places or self.copies):
            return list(found.values())
        count = b.value("floordiv", b.value("add", shape.turns, b.value("sub", shape.grain, b.i64(1))), shape.grain)
        label = max_label(self.function.body) + 1000
        for array, memory in self.copies:
            arrayfolds.combine(b, array, memory, count, label)
        if folded:
            values = self.combine(b, count, folded)
            found.update(zip((fold.index for fold, _ in folded), values))
        for fold, buffer in self.places:
            if fold.kind == LAST:
                found[fold.index] = self.last(b, count, inits[fold.index], buffer)
        return [found[index] for index in range(len(inits))]

    def combine(self, b: Builder, count: Value, folded: list[tuple[Fold, Value]]) -> list[Value]:
        """A loop over the chunks."""
        inits = [self.loop.operands[3 + fold.index] for fold, _ in folded]
        body = region_with_args([I64, *(init.type for init in inits)])
        label = max_label(self.function.body) + 1000
        with b.into(body):
            place, *totals = body.args
            parts = [b.value("load", buffer, place, checked=False, wrap=False) for _, buffer in folded]
            better = {
                fold.index: b.value("cmp", part, total, pred=PREDICATES[fold.kind])
                for (fold, _), part, total in zip(folded, parts, totals)
                if fold.kind in PREDICATES
            }
            following = []
            for (fold, _), part, total in zip(folded, parts, totals):
                chosen = better.get(fold.leader if fold.kind == ALONG else fold.index)
                if chosen is None:
                    following.append(together(b, fold.kind, total, part))
                else:
                    following.append(b.value("select", chosen, part, total))
            b.op("continue", *following, label=label)
        made = b.op("for", b.i64(0), count, b.i64(1), *inits, regions=[body], label=label, cold=True)
        return made.results

    @staticmethod
    def last(b: Builder, count: Value, init: Value, buffer: Value) -> Value:
        """What the last chunk left, if there was one."""
        ways = (Region(), Region())
        with b.into(ways[0]):
            b.op("yield", b.value("load", buffer, b.value("sub", count, b.i64(1)), checked=False, wrap=False))
        with b.into(ways[1]):
            b.op("yield", init)
        return b.op("if", b.value("cmp", count, b.i64(0), pred="gt"), regions=ways).result
