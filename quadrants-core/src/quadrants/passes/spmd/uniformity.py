"""Which values differ from lane to lane, and where lanes part, when the turns of a loop run side by side.

Takes the body of a loop and the values that differ to begin with (its index); changes nothing. A value that is not
`varying` is the same in all lanes that are at that point: it stays a scalar. A labelled op is `divergent` if some lanes
may leave it, or go on to its next turn, where others do not: then its exits go by masks. All lanes that take part in a loop
are at the same turn of it, so that what a loop carries is uniform as long as every turn makes it from uniform values;
seen from behind a divergent loop it is not, lanes having left at different turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Region, Value
from quadrants.passes.structure import LABELLED, LOOPS


@record
class Facts:
    """What is known of a region that runs in lanes.

    Args:
        varying: the values that differ from lane to lane.
        divergent: the `block`s, `loop`s and `for`s in which lanes part.
        private: arrays of which every lane has its own, and their parts.
    """

    varying: set[Value] = field(default_factory=set)
    divergent: set[Op] = field(default_factory=set)
    private: set[Value] = field(default_factory=set)

    def uniform(self, values: Iterable[Value]) -> bool:
        """Whether all of them are the same in all lanes."""
        return self.varying.isdisjoint(values)


def analyse(loop: Op, seeds: Iterable[Value]) -> Facts:
    """The facts of a loop's body; the loop itself counts as divergent. Repeats until nothing changes: facts only grow."""
    analysis = _Analysis(Facts(set(seeds), {loop}))
    before = -1
    while before != (size := len(analysis.facts.varying) + len(analysis.facts.divergent)):
        before = size
        analysis.region(loop.regions[0], (loop,))
    return analysis.facts


#: What surrounds an op, from the outside in: labelled ops, and `if`s.
_Around = tuple[Op, ...]


@record
class _Analysis:
    facts: Facts
    ends: dict[Op, list[Op]] = field(default_factory=dict)  # labelled op -> the jumps that name it
    crossed: dict[Op, list[Op]] = field(default_factory=dict)  # jump -> the loops that it leaves
    inside: dict[Op, set[Value]] = field(default_factory=dict)  # loop -> the values defined in it

    def region(self, region: Region, around: _Around) -> None:
        for op in region.ops:
            rule = _RULES.get(op.name, _Analysis.plain)
            rule(self, op, around)

    def mark(self, value: Value, varying: bool) -> None:
        if varying:
            self.facts.varying.add(value)

    def differ(self, values: list[Value]) -> bool:
        """Whether what comes from one of several places, by lane, differs from lane to lane."""
        return any(value is not values[0] for value in values[1:]) or not self.facts.uniform(values)

    def plain(self, op: Op, around: _Around) -> None:
        varying = not self.facts.uniform(op.operands)
        for result in op.results:
            self.mark(result, varying)

    def alloc(self, op: Op, around: _Around) -> None:
        self.facts.private.add(op.result)

    def view(self, op: Op, around: _Around) -> None:
        if op.operands[0] in self.facts.private:
            self.facts.private.add(op.result)
        self.plain(op, around)

    def load(self, op: Op, around: _Around) -> None:
        self.mark(op.result, op.operands[0] in self.facts.private or not self.facts.uniform(op.operands))

    def branch(self, op: Op, around: _Around) -> None:
        for region in op.regions:
            self.region(region, (*around, op))
        ends = [region.ops[-1] for region in op.regions if region.ops[-1].name == "yield"]
        parts = op.operands[0] in self.facts.varying
        for index, result in enumerate(op.results):
            values = [end.operands[index] for end in ends]
            self.mark(result, self.differ(values) if parts else not self.facts.uniform(values))

    def jump(self, op: Op, around: _Around) -> None:
        """Mark what the jump leaves in some lanes only; what stands between a divergent op and a jump to it is left too."""
        target = next((other for other in around if other.attrs.get("label") == op.attrs["label"]), None)
        if target is None:
            return  # it leaves the loop that is looked at, which is refused
        ends = self.ends.setdefault(target, [])
        if op not in ends:
            ends.append(op)
            left = around[around.index(target) + (op.name == "continue") :]
            self.crossed[op] = [other for other in left if other.name in LOOPS]
        start = around.index(target)
        crossed = [other for other in around[start:] if other.name in LABELLED]
        parted = any(map(self.parts, around[start + 1 :])) or target in self.facts.divergent
        if parted:
            self.facts.divergent.update(crossed)

    def parts(self, op: Op) -> bool:
        """Whether not all lanes around an op are inside of it at a time."""
        return op in self.facts.divergent or (op.name == "if" and op.operands[0] in self.facts.varying)

    def block(self, op: Op, around: _Around) -> None:
        self.region(op.regions[0], (*around, op))
        ends = [end for end in self.ends.get(op, ()) if end.name == "break"]
        if op.regions[0].ops[-1].name == "yield":
            ends.append(op.regions[0].ops[-1])
        self.merge(op.results, ends, op in self.facts.divergent)

    def merge(self, results: list[Value], ends: list[Op], divergent: bool) -> None:
        for index, result in enumerate(results):
            values = [end.operands[index] for end in ends]
            differ = self.differ(values) if divergent else not self.facts.uniform(values)
            self.mark(result, differ or any(map(self.left_apart, ends, values)))

    def left_apart(self, end: Op, value: Value) -> bool:
        """Whether a jump takes a value out of a loop at different turns."""
        return any(loop in self.facts.divergent and value in self.defined(loop) for loop in self.crossed.get(end, ()))

    def defined(self, loop: Op) -> set[Value]:
        """The values that a loop defines."""
        if loop not in self.inside:
            found = self.inside[loop] = set(loop.regions[0].args)
            for op in loop.regions[0].walk():
                found.update(op.results)
                for region in op.regions:
                    found.update(region.args)
        return self.inside[loop]

    def loop(self, op: Op, around: _Around) -> None:
        body = op.regions[0]
        self.carried(op, body.args, op.operands, around)
        breaks = [end for end in self.ends.get(op, ()) if end.name == "break"]
        self.merge(op.results, breaks, op in self.facts.divergent)

    def counted(self, op: Op, around: _Around) -> None:
        start, stop, step = op.operands[:3]
        body = op.regions[0]
        self.mark(body.args[0], not self.facts.uniform((start, step)))
        if not self.facts.uniform((start, stop, step)):
            self.facts.divergent.add(op)
        self.carried(op, body.args[1:], op.operands[3:], around)
        divergent = op in self.facts.divergent
        ends = self.ends.get(op, [])
        for index, result in enumerate(op.results):
            values = [op.operands[3 + index], *(end.operands[index] for end in ends)]
            self.mark(result, self.differ(values) if divergent else not self.facts.uniform(values))
            self.mark(body.args[1 + index], not divergent and result in self.facts.varying)  # they have one type

    def carried(self, op: Op, args: list[Value], inits: list[Value], around: _Around) -> None:
        """The arguments of a loop, and its body."""
        for arg, init in zip(args, inits):
            self.mark(arg, init in self.facts.varying)
        self.region(op.regions[0], (*around, op))
        continues = [end for end in self.ends.get(op, ()) if end.name == "continue"]
        self.merge(args, continues, op in self.facts.divergent)


_RULES = {
    "if": _Analysis.branch,
    "block": _Analysis.block,
    "loop": _Analysis.loop,
    "for": _Analysis.counted,
    "break": _Analysis.jump,
    "continue": _Analysis.jump,
    "alloc": _Analysis.alloc,
    "view": _Analysis.view,
    "load": _Analysis.load,
}
