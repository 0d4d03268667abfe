"""Emits a region for several turns of its loop at once: every turn is a lane, control flow is by masks.

`emit_region` takes the body of a loop, what is known of it (`uniformity`), the lanes of its index and the mask of the
turns to run; it appends to a builder what the turns do together. Which loop, and whether it may, is asked elsewhere
(`legality`, `select`). Results are those of the turns one by one, bit for bit: every lane computes what its turn would.

A branch that differs from lane to lane runs both sides, each under its mask and only if a lane wants it; small
sides are computed without a branch. A divergent loop turns until no lane is left in it; a jump takes the lanes of its mask
out of what follows, and puts their values where its target picks them up: in variables, which LLVM turns into registers.
What would raise leaves to `bail`: the caller runs the same turns one by one, so that the right one raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.passes.spmd import control, memory, private, rows
from quadrants.passes.spmd.lanes import Lanes
from quadrants.passes.structure import is_pure
from quadrants.types import LanesType

#: A branch of so many ops or fewer is computed in all lanes.
SMALL = 12
#: Behind a place where lanes leave, so many ops get a branch around them.
_LARGE = 24
#: Dear ops count as so many.
_WEIGHTS = {"div": 4, "rem": 16, "floordiv": 16, "mod": 16, "math.sqrt": 6}
_FUNCTION = 12


@record
class Ending:
    """How a region ends: the lanes that come to its end, None if there are none; what it yields."""

    mask: Value | None
    values: list[Value] = field(default_factory=list)


class Emitter:
    """Emits regions in lanes.

    Args:
        lanes: what stands for values.
        bail: emits the jump out, where a lane would raise.
        label: the first label that is free.
    """

    def __init__(self, lanes: Lanes, bail: Callable[[], object], label: int) -> None:
        self.lanes = lanes
        self.b = lanes.b
        self.bail = bail
        self.next_label = label
        self.labels: dict[object, int] = {}  # of what keeps its jumps
        self.targets: dict[object, control.Target] = {}  # of what is divergent
        self.results_of: dict[object, list[Value]] = {}  # what a break gives
        self.args_of: dict[object, list[Value]] = {}  # what a continue gives
        self.rest: tuple[Sequence[Op], int] = ((), 0)  # the region that is emitted, and how far it is
        self.loaded: set[Op] = set()  # loads that were emitted with an earlier one
        self.stored: dict[Op, rows.Group] = {}
        self.handed_on: dict[Op, tuple[rows.Group, int]] = {}  # loads of what a store of a group stores
        self.models: list[list[Value]] = []  # the results that a yield gives

    def fresh_label(self) -> int:
        self.next_label += 1
        return self.next_label - 1

    # Regions

    def ops(self, ops: Sequence[Op], mask: Value) -> Ending:
        """Emit the ops of a region from some op on, under a mask."""
        for index, op in enumerate(ops):
            self.b.loc = op.loc
            if op.defn.terminator:
                return _TERMINATORS[op.name](self, op, mask)
            self.rest = ops, index
            after = _OPS.get(op.name, Emitter.plain)(self, op, mask)
            if after is None:
                return Ending(None)
            if after is not mask and self.wants_branch(ops[index + 1 :]):
                return self.guarded(ops[index + 1 :], after)
            mask = after
        raise AssertionError("a region without a terminator")

    def guarded(self, ops: Sequence[Op], mask: Value) -> Ending:
        """The rest of a region, only if a lane is left."""
        rest, nothing = Region(), Region()
        with self.lanes.into(rest):
            ending = self.ops(ops, mask)
            if not self.ended:
                self.close(ending)
        with self.lanes.into(nothing):
            self.close(
                Ending(None if ending.mask is None else self.lanes.none(), [self.zero_of(v) for v in ending.values])
            )
        return self.opened(self.b.op("if", self.lanes.any(mask), regions=(rest, nothing)), ending)

    def zero_of(self, value: Value) -> Value:
        return self.b.value("zero", type=value.type)

    def close(self, ending: Ending) -> None:
        """End a new region with a yield of the values, and the mask, of an ending."""
        self.b.op("yield", *ending.values, *([] if ending.mask is None else [ending.mask]))

    def opened(self, op: Op, ending: Ending) -> Ending:
        """What comes out of an op whose regions were closed so."""
        if ending.mask is None:
            return Ending(None)
        return Ending(op.results[-1], op.results[:-1])

    def wants_branch(self, ops: Sequence[Op]) -> bool:
        """Whether the rest of a region must not, or should not, run where no lane is left."""
        return any(map(self.needs_lane, ops)) or sum(map(weight, ops)) >= _LARGE

    def needs_lane(self, op: Op) -> bool:
        """Whether an op relies on being run by some lane."""
        if op.name in ("load", "store"):
            array, *indices = op.operands[op.name == "store" :]
            fixed = array in self.lanes.facts.private and all(index in self.lanes.constants for index in indices)
            return not fixed and self.lanes.facts.uniform(indices)
        if op.name in ("loop", "for", "view", "check", "index", "raise"):
            return True
        return any(self.needs_lane(inner) for region in op.regions for inner in region.ops)

    # Straight code

    def plain(self, op: Op, mask: Value) -> Value:
        assert is_pure(op), op.name
        self.lanes.compute(op)
        return mask

    def load(self, op: Op, mask: Value) -> Value:
        if not rows.load(self, op, mask):
            memory.load(self.lanes, op, mask)
        return mask

    def store(self, op: Op, mask: Value) -> Value:
        if not rows.store(self, op, mask):
            memory.store(self.lanes, op, mask)
        return mask

    def alloc(self, op: Op, mask: Value) -> Value:
        if private.alloc(self.lanes, op, mask, self.next_label):
            self.next_label += 1
        return mask

    def view(self, op: Op, mask: Value) -> Value:
        if op.operands[0] not in self.lanes.facts.private:
            return self.plain(op, mask)
        private.view(self.lanes, op)
        return mask

    def stride(self, op: Op, mask: Value) -> Value:
        if op.operands[0] not in self.lanes.facts.private:
            return self.plain(op, mask)
        private.stride(self.lanes, op)
        return mask

    def bail_if(self, condition: Value) -> None:
        """Leave if a scalar condition holds."""
        away, on = Region(), Region()
        with self.lanes.into(away):
            self.bail()
        with self.lanes.into(on):
            self.b.op("yield")
        self.b.op("if", condition, regions=(away, on))

    def check(self, op: Op, mask: Value) -> Value:
        condition = op.operands[0]
        if self.lanes.varying(condition):
            self.bail_if(self.lanes.any(self.lanes.without(mask, self.lanes.get(condition))))
        else:
            self.bail_if(self.b.value("not", self.lanes.get(condition)))
        return mask

    def index(self, op: Op, mask: Value) -> Value:
        bad = memory.index(self.lanes, op)
        if bad is not None:
            self.bail_if(self.lanes.any(self.lanes.both(mask, bad)) if isinstance(bad.type, LanesType) else bad)
        return mask

    # Branches

    def branch(self, op: Op, mask: Value) -> Value | None:
        condition = op.operands[0]
        if not self.lanes.varying(condition):
            return self.uniform_branch(op, mask)
        test = self.lanes.get(condition)
        if all(self.is_small(region) for region in op.regions):
            self.small_branch(op, test, mask)
            return mask
        on, off = self.lanes.both(mask, test), self.lanes.without(mask, test)
        second = self.side(op, op.regions[1], off, None)
        first = self.side(op, op.regions[0], on, second)
        if first.mask is None and second.mask is None:
            return None
        values = first.values if first.mask is not None else second.values
        self.lanes.values.update(zip(op.results, values))
        ends = [region.ops[-1] for region in op.regions]
        for index, result in enumerate(op.results):
            if all(end.name == "yield" and end.operands[index] is ends[0].operands[index] for end in ends):
                self.lanes.values[result] = self.lanes.as_of(
                    result, ends[0].operands[index]
                )  # it is there on both sides
        if first.mask is on and second.mask is off:
            return mask
        if first.mask is None or second.mask is None:
            return second.mask if first.mask is None else first.mask
        return self.b.value("or", first.mask, second.mask)

    def is_small(self, region: Region) -> bool:
        """Whether a side is computed in all lanes without a branch."""
        if region.ops[-1].name != "yield" or sum(map(weight, region.ops)) > SMALL:
            return False
        return all(
            all(map(self.is_small, op.regions)) if op.name == "if" else is_pure(op) and op.name != "view"
            for op in region.ops[:-1]
        )

    def small_branch(self, op: Op, test: Value, mask: Value) -> None:
        sides = []
        for region in op.regions:
            self.models.append(op.results)
            sides.append(self.ops(region.ops, mask).values)
            self.models.pop()
        for result, yes, no in zip(op.results, *sides):
            same = yes is no or not self.lanes.varying(result)
            self.lanes.values[result] = yes if same else self.b.value("select", test, yes, no)

    def side(self, op: Op, region: Region, mask: Value, other: Ending | None) -> Ending:
        """One side of a branch that differs from lane to lane, if a lane wants it; blended with the other side."""
        self.models.append(op.results)
        try:
            if self.is_empty(region):
                return self.blended(op, self.ops(region.ops, mask), mask, other)
            inside, nothing = Region(), Region()
            with self.lanes.into(inside):
                ending = self.blended(op, self.ops(region.ops, mask), mask, other)
                moved = ending.mask is not None and ending.mask is not mask
                if not self.ended:
                    self.close(ending if moved else Ending(None, ending.values))
        finally:
            self.models.pop()
        with self.lanes.into(nothing):
            old = other.values if other is not None and other.mask is not None else map(self.zero_of, ending.values)
            values = [] if ending.mask is None else list(old)
            self.close(Ending(self.lanes.none() if moved else None, values))
        new = self.b.op("if", self.lanes.any(mask), regions=(inside, nothing))
        if ending.mask is None:
            return Ending(None)
        count = len(ending.values)
        return Ending(new.results[count] if moved else mask, new.results[:count])

    def is_empty(self, region: Region) -> bool:
        """Whether there is nothing to run but a jump by masks, or a yield."""
        end = region.ops[-1]
        masked = end.name == "yield" or (end.name in ("break", "continue") and end.attrs["label"] in self.targets)
        return masked and all(op.name == "const" for op in region.ops[:-1])

    def blended(self, op: Op, ending: Ending, mask: Value, other: Ending | None) -> Ending:
        """The values of this side in its lanes, those of the other in the rest."""
        if ending.mask is None or other is None or other.mask is None:
            return ending
        values = [
            new if new is old or not self.lanes.varying(result) else self.b.value("select", mask, new, old)
            for result, new, old in zip(op.results, ending.values, other.values)
        ]
        return Ending(ending.mask, values)

    def uniform_branch(self, op: Op, mask: Value) -> Value | None:
        regions, endings = [Region(), Region()], []
        for region, new in zip(op.regions, regions):
            with self.lanes.into(new):
                self.models.append(op.results)
                endings.append(self.ops(region.ops, mask))
                self.models.pop()
        left = [new.terminator is not None for new in regions]  # a jump of all lanes
        moved = any(not gone and ending.mask is not mask for gone, ending in zip(left, endings))
        for new, gone, ending in zip(regions, left, endings):
            if gone:
                continue
            with self.lanes.into(new):
                values = ending.values if ending.mask is not None else list(map(self.lanes.nothing, op.results))
                lanes = self.lanes.none() if ending.mask is None else ending.mask
                self.close(Ending(lanes if moved else None, values))
        branch = self.b.op("if", self.lanes.get(op.operands[0]), regions=regions)
        if all(left):
            self.b.op("unreachable")
        if all(ending.mask is None for ending in endings):
            return None
        self.lanes.values.update(zip(op.results, branch.results))
        return branch.results[-1] if moved else mask

    # Ends

    def yields(self, op: Op, mask: Value) -> Ending:
        return Ending(mask, [self.lanes.as_of(model, value) for model, value in zip(self.models[-1], op.operands)])

    def raises(self, op: Op, mask: Value) -> Ending:
        self.bail()
        return Ending(None)

    def unreachable(self, op: Op, mask: Value) -> Ending:
        return Ending(None)

    def jump(self, op: Op, mask: Value) -> Ending:
        """A jump of the lanes of the mask; of control itself, if the target is not divergent: then all lanes take it."""
        label, target = op.attrs["label"], self.targets.get(op.attrs["label"])
        models = (self.results_of if op.name == "break" else self.args_of)[label]
        if target is None:
            values = [self.lanes.as_of(model, value) for model, value in zip(models, op.operands)]
            self.b.op(op.name, *values, label=self.labels[label])
        elif op.name == "break":
            self.put_all(target.results, models, op.operands, None if target.once else mask)
            self.include(target.left, mask)
        else:
            self.put_all(target.carried, models, op.operands, None if target.one_way else mask)
            self.include(target.going, mask)
        return Ending(None)

    # Variables that jumps write

    def put_all(
        self, variables: list[Value], models: Sequence[Value], values: Sequence[Value], mask: Value | None
    ) -> None:
        """Let variables hold values in the lanes of a mask; in all lanes for None."""
        for variable, model, value in zip(variables, models, values):
            self.put_new([variable], [self.lanes.as_of(model, value)], mask)

    def put_new(self, variables: list[Value], values: Sequence[Value], mask: Value | None) -> None:
        """The same with values that stand for old ones."""
        for variable, new in zip(variables, values):
            if mask is not None and isinstance(new.type, LanesType):
                new = self.b.value("select", mask, new, self.read(variable))
            elif mask is not None:  # where no lane is, there is no value
                new = self.b.value("select", self.lanes.any(mask), new, self.read(variable))
            self.b.op("var.set", variable, new)

    def include(self, variable: Value | None, mask: Value) -> None:
        """Add lanes to the mask in a variable."""
        if variable is not None:
            self.b.op("var.set", variable, self.b.value("or", self.b.value("var.get", variable), mask))

    def read(self, variable: Value) -> Value:
        return self.b.value("var.get", variable)

    @property
    def ended(self) -> bool:
        """Whether control does not come to the end of what was emitted so far."""
        return self.b.region.terminator is not None


def weight(op: Op) -> int:
    """What an op costs, with those inside."""
    if op.name == "const" or op.defn.terminator:
        return 0
    own = _FUNCTION if op.name.startswith("math.") else 1
    return _WEIGHTS.get(op.name, own) + sum(weight(inner) for region in op.regions for inner in region.ops)


_TERMINATORS: dict[str, Callable[[Emitter, Op, Value], Ending]] = {
    "yield": Emitter.yields,
    "break": Emitter.jump,
    "continue": Emitter.jump,
    "raise": Emitter.raises,
    "unreachable": Emitter.unreachable,
}
_OPS: dict[str, Callable[[Emitter, Op, Value], Value | None]] = {
    "load": Emitter.load,
    "store": Emitter.store,
    "alloc": Emitter.alloc,
    "view": Emitter.view,
    "stride": Emitter.stride,
    "check": Emitter.check,
    "index": Emitter.index,
    "if": Emitter.branch,
    "block": control.block,
    "loop": control.loop,
    "for": control.counted,
}
