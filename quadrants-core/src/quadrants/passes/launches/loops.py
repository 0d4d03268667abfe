"""The kernel of a parallel loop, and what combines what its threads have found.

Takes a loop with its plan; gives the number of blocks, and ops for one thread behind the launch. A loop that carries nothing gets a
thread for each turn. One that folds gets a limited number of threads: each takes turns at a distance (of an extreme with what goes
along: turns in a row, so that the first of equal ones wins), a block combines its threads' parts in a tree, in shared memory, and
one thread those of the blocks, in order. So the result depends on the number of turns and on the width of a block alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.rewrite import max_label
from quadrants.passes.extremes import PREDICATES
from quadrants.passes.folds import ALONG, LAST, SAME, Fold
from quadrants.passes.forking import Plan
from quadrants.passes.launches.kernels import KernelMaker, Places
from quadrants.passes.neutral import neutral, together
from quadrants.passes.structure import free_values
from quadrants.types import I64, ArrayType, Scalar

#: The most blocks of a launch whose threads fold.
FOLDING_BLOCKS = 128
#: With so many blocks there is a thread for each turn of any loop.
ENOUGH_BLOCKS = 1 << 30


@record
class LoopLaunch:
    """The launch of one loop.

    Args:
        loop: the loop; its body moves into the kernel.
        plan: why it may be parallel, and its folds.
        block: threads of a block.
        most_blocks: of a grid.
        maker: builds the kernel.
        places: the scratch arrays.
        b: emits what the host does in front of the launch.
    """

    loop: Op
    plan: Plan
    block: int
    most_blocks: int
    maker: KernelMaker
    places: Places
    b: Builder
    folded: list[Fold] = field(default_factory=list)
    last: list[Fold] = field(default_factory=list)

    def emit(self) -> tuple[Value, list[Op]]:
        """The number of blocks, and the ops behind the launch."""
        folds = self.plan.folds
        self.folded = [fold for fold in folds if fold.kind not in (SAME, LAST)]
        self.last = [fold for fold in folds if fold.kind == LAST]
        if self.folded:
            self.block = 1 << (self.block.bit_length() - 1)
        turns, blocks = self.counts()
        parts = [self.places.reserve(_scalar(fold), FOLDING_BLOCKS) for fold in self.folded]
        ends = [self.places.reserve(_scalar(fold), 1) for fold in self.last]
        self.kernel(turns, parts, ends)
        return blocks, self.behind(turns, blocks, parts, ends)

    def counts(self) -> tuple[Value, Value]:
        """How many turns there are, and how many blocks."""
        b, step = self.b, self.plan.step
        start, stop = self.loop.operands[:2]
        length = b.value("sub", stop, start) if step > 0 else b.value("sub", start, stop)
        if abs(step) > 1:
            length = b.value("floordiv", b.value("add", length, b.i64(abs(step) - 1)), b.i64(abs(step)))
        turns = b.value("max", length, b.i64(0))
        blocks = b.value("floordiv", b.value("add", turns, b.i64(self.block - 1)), b.i64(self.block))
        most = min(FOLDING_BLOCKS, self.most_blocks) if self.folded else self.most_blocks
        blocks = b.value("min", blocks, b.i64(most))
        if self.folded:
            blocks = b.value("max", blocks, b.i64(1))
        self.maker.host.update(result for op in b.region.ops for result in op.results)
        return turns, blocks

    # The kernel

    def kernel(self, turns: Value, parts: list[tuple[Value, int]], ends: list[tuple[Value, int]]) -> None:
        """Build the kernel."""
        made, loop, body = self.maker, self.loop, self.loop.regions[0]
        b = made.b
        b.loc = loop.loc
        inits = loop.operands[3:]
        for fold in self.plan.folds:
            for op in fold.ops:
                op.attrs.pop("nowrap", None)  # parts of a sum may wrap where the whole does not
        same = [inits[fold.index] for fold in self.plan.folds if fold.kind == SAME]
        made.bring_all([*loop.operands[:2], turns, *same, *free_values(body)], loop)
        made.adopt(body)
        thread, threads = self.place(b)
        first, last, step = self.turns(b, thread, threads, made.inside[turns])
        carried = []
        for fold in self.plan.folds:
            value = made.inside[inits[fold.index]] if fold.kind == SAME else None
            carried.append(b.const(neutral(fold.kind, _scalar(fold)), _scalar(fold)) if value is None else value)
        attrs = {name: value for name, value in loop.attrs.items() if name not in ("parallel", "block")}
        begin, end, stride = self.bounds(b, first, last, step)
        inner = Op(loop.defn, [begin, end, stride, *carried], [], attrs, [body], loop.loc)
        inner.results = [Value(arg.type, arg.hint) for arg in body.args[1:]]
        b.region.ops.append(inner)
        self.keep_last(b, inner, self.ran_last(b, first, last, step, made.inside[turns]), ends)
        if self.folded:
            self.combine_block(b, inner, parts)

    def place(self, b: Builder) -> tuple[Value, Value]:
        """The number of the thread, and of all threads."""

        def wide(name: str) -> Value:
            return b.value("cast", b.value(name, axis=0), type=I64)

        size = wide("block.size")
        thread = b.value("add", b.value("mul", wide("block.index"), size), wide("thread.index"))
        return thread, b.value("mul", wide("grid.size"), size)

    @property
    def in_a_row(self) -> bool:
        """Whether each thread takes turns that follow each other."""
        return any(fold.kind == ALONG for fold in self.folded)

    def turns(self, b: Builder, thread: Value, threads: Value, turns: Value) -> tuple[Value, Value, Value | None]:
        """A thread's first turn, the one behind its last, and their distance (None: 1)."""
        if not self.folded and self.most_blocks >= ENOUGH_BLOCKS:
            return thread, b.value("min", b.value("add", thread, b.i64(1)), turns), None
        if self.in_a_row:
            each = b.value("floordiv", b.value("add", turns, b.value("sub", threads, b.i64(1))), threads)
            first = b.value("mul", thread, each)
            return first, b.value("min", b.value("add", first, each), turns), None
        return thread, turns, threads

    def bounds(self, b: Builder, first: Value, last: Value, step: Value | None) -> tuple[Value, Value, Value]:
        """The bounds of the loop of a thread, in the loop's own index."""
        start, by = self.maker.inside[self.loop.operands[0]], b.i64(self.plan.step)

        def index(turn: Value) -> Value:
            return b.value("add", start, b.value("mul", turn, by))

        if step is None:
            return index(first), index(last), by
        return index(first), index(last), b.value("mul", step, by)

    def ran_last(self, b: Builder, first: Value, last: Value, step: Value | None, turns: Value) -> Value | None:
        """Whether a thread has run the last turn of all."""
        if not self.last:
            return None
        some = b.value("cmp", first, last, pred="lt")
        if step is None:
            return b.value("and", some, b.value("cmp", last, turns, pred="eq"))
        at = b.value("mod", b.value("sub", turns, b.i64(1)), step, nonzero=True)
        return b.value("and", some, b.value("cmp", at, first, pred="eq"))

    def keep_last(self, b: Builder, inner: Op, ran: Value | None, ends: list[tuple[Value, int]]) -> None:
        """Keep what the last turn has left."""
        if ran is None:
            return
        then, other = Region(), Region()
        for fold, place in zip(self.last, ends):
            self.maker.array(place[0])
            with b.into(then):
                self.maker.store(inner.results[fold.index], place)
        for region in (then, other):
            with b.into(region):
                b.op("yield")
        b.op("if", ran, regions=(then, other))

    def combine_block(self, b: Builder, inner: Op, parts: Sequence[tuple[Value, int]]) -> None:
        """Combine the parts of a block's threads; its first thread keeps what they come to."""
        tiles = [
            b.value("shared.array", type=ArrayType(_scalar(fold), 1, "C", space="shared"), shape=(self.block,))
            for fold in self.folded
        ]
        thread = b.value("cast", b.value("thread.index", axis=0), type=I64)
        for fold, tile in zip(self.folded, tiles):
            b.op("store", inner.results[fold.index], tile, thread, checked=False, wrap=False)
        b.op("barrier")
        distance = 1
        while distance < self.block:
            at = b.value("mul", thread, b.i64(2 * distance))
            used = b.value("cmp", at, b.i64(self.block), pred="lt")
            then, other = Region(), Region()
            with b.into(then):
                beside = b.value("add", at, b.i64(distance))
                self.combine(b, tiles, at, beside)
                b.op("yield")
            with b.into(other):
                b.op("yield")
            b.op("if", used, regions=(then, other))
            b.op("barrier")
            distance *= 2
        self.keep_parts(b, thread, tiles, parts)

    def combine(self, b: Builder, tiles: Sequence[Value], at: Value, beside: Value) -> None:
        """Combine the parts at two places."""
        totals = [b.value("load", tile, at, checked=False, wrap=False) for tile in tiles]
        others = [b.value("load", tile, beside, checked=False, wrap=False) for tile in tiles]
        for tile, value in zip(tiles, self.both(b, totals, others)):
            b.op("store", value, tile, at, checked=False, wrap=False)

    def both(self, b: Builder, totals: Sequence[Value], parts: Sequence[Value]) -> list[Value]:
        """What two parts come to, the first being of earlier turns."""
        better = {
            fold.index: b.value("cmp", part, total, pred=PREDICATES[fold.kind])
            for fold, total, part in zip(self.folded, totals, parts)
            if fold.kind in PREDICATES
        }
        found = []
        for fold, total, part in zip(self.folded, totals, parts):
            chosen = better.get(fold.leader if fold.kind == ALONG else fold.index)
            if chosen is None:
                found.append(together(b, fold.kind, total, part))
            else:
                found.append(b.value("select", chosen, part, total))
        return found

    def keep_parts(self, b: Builder, thread: Value, tiles: Sequence[Value], parts: Sequence[tuple[Value, int]]) -> None:
        """The first thread stores what the block has found."""
        for array, _ in parts:
            self.maker.array(array)
        then, other = Region(), Region()
        with b.into(then):
            number = b.value("cast", b.value("block.index", axis=0), type=I64)
            for tile, (array, first) in zip(tiles, parts):
                value = b.value("load", tile, b.i64(0), checked=False, wrap=False)
                place = b.value("add", number, b.i64(first))
                b.op("store", value, self.maker.inside[array], place, checked=False, wrap=False)
            b.op("yield")
        with b.into(other):
            b.op("yield")
        b.op("if", b.value("cmp", thread, b.i64(0), pred="eq"), regions=(then, other))

    # Behind the launch

    def behind(
        self, turns: Value, blocks: Value, parts: list[tuple[Value, int]], ends: list[tuple[Value, int]]
    ) -> list[Op]:
        """The ops that give the results of the loop, for one thread."""
        b = Builder(Region())
        b.loc = self.loop.loc
        inits = self.loop.operands[3:]
        if self.folded:
            label = max_label(self.maker.entry.body) + 1000
            body = region_with_args([I64, *(inits[fold.index].type for fold in self.folded)])
            with b.into(body):
                number, *totals = body.args
                found = []
                for array, first in parts:
                    place = b.value("add", number, b.i64(first))
                    found.append(b.value("load", array, place, checked=False, wrap=False))
                b.op("continue", *self.both(b, totals, found), label=label)
            starts = [inits[fold.index] for fold in self.folded]
            made = b.op("for", b.i64(0), blocks, b.i64(1), *starts, regions=[body], label=label)
            made.results = [self.loop.results[fold.index] for fold in self.folded]
        for fold, (array, at) in zip(self.last, ends):
            ways = (Region(), Region())
            with b.into(ways[0]):
                b.op("yield", b.value("load", array, b.i64(at), checked=False, wrap=False))
            with b.into(ways[1]):
                b.op("yield", inits[fold.index])
            some = b.value("cmp", turns, b.i64(0), pred="gt")
            b.op("if", some, regions=ways).results = [self.loop.results[fold.index]]
        return b.region.ops


def _scalar(fold: Fold) -> Scalar:
    assert isinstance(fold.arg.type, Scalar)
    return fold.arg.type
