"""How many turns run side by side: those that fill a register, or twice as many.

Takes a loop that is to run in lanes and its facts. Twice as many where the dearest of its inner loops makes each turn from the one
before by a chain of operations that wait for each other, longer than it takes to issue them all: the second register then
computes in the time that the first one waits. The figures are cycles of recent x86-64 processors, roughly.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.ir import Op, Region, Value
from quadrants.passes.spmd.uniformity import Facts
from quadrants.passes.structure import LOOPS, constant_turns
from quadrants.types import Scalar

#: A chain of so many times the time of issue is worth the second register.
_WAITING = 1.1
#: Op -> (cycles until its result is there, cycles until the next one can start), of a full register.
_CYCLES: dict[str, tuple[float, float]] = {
    "add": (4, 0.5),
    "sub": (4, 0.5),
    "mul": (4, 0.5),
    "div": (14, 10),
    "rem": (60, 60),
    "math.sqrt": (18, 12),
    "cast": (4, 1),
    "cmp": (3, 1),
    "select": (1, 0.5),
    "load": (0, 1),
    "store": (0, 1),
    "index": (0, 1),
    "check": (0, 1),
}
_FUNCTION = (45.0, 22.0)
_INTEGER = (1.0, 0.5)
_INSTRUCTION = (4.0, 1.0)
_INTEGER_DIVISION = (100.0, 100.0)
_GATHER = 10.0
_FREE = frozenset({"const", "dim", "stride", "yield", "break", "continue", "unreachable", "view", "zero"})
_MOST_TURNS = 8
_NEVER = float("-inf")


def registers(loop: Op, facts: Facts, constants: Mapping[Value, int], instructions: frozenset[str]) -> int:
    """How many registers a value of all lanes has: 1 or 2. `instructions`: functions that are instructions."""
    clock = _Clock(facts, constants, instructions)
    dearest = (0.0, 0.0)
    for op in loop.regions[0].walk():
        if clock.is_long(op) and not any(map(clock.is_long, op.regions[0].walk())):
            chain, issue = clock.turn(op)
            dearest = max(dearest, (issue, chain))
    if dearest == (0.0, 0.0):  # no loop inside: the loop itself makes folds
        chain, issue = clock.turn(loop)
        dearest = issue, chain
    issue, chain = dearest
    return 2 if issue and chain >= _WAITING * issue else 1


class _Clock:
    """Counts cycles."""

    def __init__(self, facts: Facts, constants: Mapping[Value, int], instructions: frozenset[str]) -> None:
        self.facts = facts
        self.constants = constants
        self.instructions = instructions
        self.ready: dict[Value, float] = {}

    def turns(self, op: Op) -> float:
        known = constant_turns(op, self.constants)
        return 1e9 if known is None else float(known)

    def is_long(self, op: Op) -> bool:
        """Whether it is a loop of more than a few turns."""
        return op.name in LOOPS and self.turns(op) > _MOST_TURNS

    def turn(self, op: Op) -> tuple[float, float]:
        """The longest chain from what a turn of a loop is handed to what it hands on, and the time of issue."""
        args = op.regions[0].args[1:] if op.name == "for" else op.regions[0].args
        self.ready = dict.fromkeys((*args, *self.facts.private), 0.0)
        issue = self.region(op.regions[0])
        ends = [
            end for end in op.regions[0].walk() if end.name == "continue" and end.attrs["label"] == op.attrs["label"]
        ]
        handed = [value for end in ends for value in end.operands]
        return max(map(self.at, (*handed, *self.facts.private)), default=_NEVER), issue

    def at(self, value: Value) -> float:
        """When a value is there, counted from the beginning of the turn; `_NEVER` if it does not wait for the turn before."""
        return self.ready.get(value, _NEVER)

    def region(self, region: Region) -> float:
        return sum(map(self.op, region.ops))

    def op(self, op: Op) -> float:
        """Note when the results of an op are there; gives its time of issue."""
        start = max(map(self.at, op.operands), default=_NEVER)
        if op.name == "store" and op.operands[1] in self.facts.private:
            self.ready[op.operands[1]] = start
        if op.regions:
            return self.control(op, start)
        if op.name in _FREE:
            return 0.0
        wait, issue = self.cycles(op)
        for result in op.results:
            self.ready[result] = start + wait
        return issue

    def control(self, op: Op, start: float) -> float:
        """The same for an op with regions."""
        if op.name in LOOPS:
            return self.inner(op)
        issue = sum(map(self.region, op.regions))
        ends = [region.ops[-1] for region in op.regions if region.ops[-1].name == "yield"]
        if op.name == "block":
            ends += [
                end for end in op.regions[0].walk() if end.name == "break" and end.attrs["label"] == op.attrs["label"]
            ]
        for index, result in enumerate(op.results):
            self.ready[result] = max([start, *(self.at(end.operands[index]) for end in ends)])
        return issue

    def inner(self, op: Op) -> float:
        """A loop inside: its chain as often as it turns."""
        first = 3 if op.name == "for" else 0
        args = op.regions[0].args[1:] if op.name == "for" else op.regions[0].args
        for arg, init in zip(args, op.operands[first:]):
            self.ready[arg] = self.at(init)
        begins = list(map(self.at, args))
        turns = min(self.turns(op), _MOST_TURNS)
        issue = self.region(op.regions[0]) * turns
        ends = [
            end for end in op.regions[0].walk() if end.name == "continue" and end.attrs["label"] == op.attrs["label"]
        ]
        grown = [
            begin + turns * max([0.0, *(self.at(end.operands[index]) - begin for end in ends)])
            if begin > _NEVER
            else _NEVER
            for index, begin in enumerate(begins)
        ]
        for index, result in enumerate(op.results):
            self.ready[result] = grown[index] if op.name == "for" else max(grown, default=_NEVER)
        return issue

    def cycles(self, op: Op) -> tuple[float, float]:
        if self.facts.uniform(op.results) and op.results:
            return (0.0, 0.0) if op.name in _FREE else (1.0, 0.25)
        if op.name in ("floordiv", "mod") and op.operands[1] not in self.constants:
            return _INTEGER_DIVISION
        if op.name.startswith("math.") and op.name not in _CYCLES:
            return _INSTRUCTION if op.name in self.instructions else _FUNCTION
        if op.name == "load" and op.operands[0] not in self.facts.private and len(op.operands) > 2:
            return 0.0, _GATHER
        known = _CYCLES.get(op.name, _INTEGER)
        types = [value.type for value in op.operands]
        whole = op.name in ("add", "sub") and any(isinstance(type, Scalar) and type.is_integer for type in types)
        return _INTEGER if whole else known
