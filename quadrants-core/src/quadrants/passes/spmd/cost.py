"""How much a loop gains in lanes: a rough count of cycles, with and without.

Every turn of an inner loop counts as `_TURNS`, or as the constant number that it takes. What the loop costs as it is takes into
account that LLVM vectorises innermost loops by itself where nothing stands in the way. In lanes, an op that differs from lane
to lane costs as much as a scalar one for all of them, a uniform one is computed once, and an access costs what it is: one
for neighbours, one a lane for gathers.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.ir import Op, Region, Value
from quadrants.passes.spmd import rows
from quadrants.passes.spmd.uniformity import Facts
from quadrants.passes.structure import SHORT, constant_turns

_TURNS = 24
_WEIGHTS: dict[str, float] = {"div": 5, "rem": 30, "math.sqrt": 6, "math.pow": 30}
#: As it is, and in lanes (an element): integers are divided one by one.
_INTEGER_DIVISION = 8
_FUNCTION = 15
_FREE = frozenset({"const", "yield", "continue", "break", "unreachable", "dim", "stride", "cast", "view", "index"})
_BRANCH = 2.0
#: An access of one lane to an element of its own: such accesses keep registers and memory busy for much longer than scalar ones.
_GATHER = 2.5
_SCATTER = 5.0
#: A loop in which lanes part turns so many times more often than each of them asks for.
_IDLE = 1.75
#: An op on floats in a loop that makes each turn from the one before: it waits for its operands.
_LATENCY = 3.0
#: What it takes to begin and to end a loop in lanes.
_SETUP = 40.0
#: And one that LLVM vectorises: its last turns run one by one, its vectors are folded.
_BEGIN = 10.0
#: An array that is not in the frame.
_ALLOCATION = 60.0
#: Integers are quick one by one, too: four a cycle, against one or two vectors of them.
_INTEGERS = 2.0
#: Registers of fewer lanes have no instructions for products of large integers, or for their conversion to floats.
_FULL = 8
_EMULATED = 3.0
#: What LLVM leaves alone in an innermost loop.
_OBSTACLES = frozenset({"check", "loop", "for", "call", "alloc"})


def gain(
    loop: Op,
    facts: Facts,
    lanes: int,
    constants: Mapping[Value, int],
    vector_math: frozenset[str],
    sizes: Mapping[tuple[Value, int], int],
) -> float:
    """How many times faster the loop is in lanes. `sizes`: the sizes of arrays along axes, as far as they are constants."""
    model = _Model(loop, facts, lanes, constants, vector_math, sizes)
    turns = model.turns(loop)
    return turns * model.as_it_is(loop) / (_SETUP + turns * model.in_lanes(loop.regions[0]))


def llvm_may(loop: Op, constants: Mapping[Value, int], vector_math: frozenset[str]) -> bool:
    """Whether LLVM may vectorise the loop by itself, as far as its ops tell: short loops inside are unrolled first."""
    blocks = {op.attrs["label"] for op in loop.regions[0].walk() if op.name == "block"}
    for op in loop.regions[0].walk():
        if op.name == "break" and op.attrs["label"] not in blocks:
            return False
        if op.name == "for" and (constant_turns(op, constants) or SHORT) < SHORT:
            continue
        if op.name in _OBSTACLES or (op.name == "index" and op.attr("checked")):
            return False
        if op.name.startswith("math.") and op.name not in vector_math:
            return False
    return True


class _Model:
    def __init__(
        self,
        loop: Op,
        facts: Facts,
        lanes: int,
        constants: Mapping[Value, int],
        vector_math: frozenset[str],
        sizes: Mapping[tuple[Value, int], int],
    ) -> None:
        self.loop = loop
        self.facts = facts
        self.lanes = lanes
        self.constants = constants
        self.vector_math = vector_math
        self.sizes = sizes
        self.index = loop.regions[0].args[0]
        self.makers = {result: op for op in loop.regions[0].walk() for result in op.results}
        self.waiting = self.chains()
        self.indices = self.inner_indices()
        self.starts = {op.regions[0].args[0]: op.operands[0] for op in loop.regions[0].walk() if op.name == "for"}

    def own(self, op: Op) -> float:
        """What an op that computes costs."""
        if op.name in _FREE:
            return 0.25 if op.name in ("cast", "index") else 0.0
        if op.name == "alloc":
            return 1.0 if op.attr("stack") else _ALLOCATION
        if op.name in ("floordiv", "mod"):
            return 1.0 if self.shifts(op) else 3.0 if op.operands[1] in self.constants else float(_INTEGER_DIVISION)
        if op.name.startswith("math."):
            return _WEIGHTS.get(op.name, _FUNCTION)
        return _WEIGHTS.get(op.name, _LATENCY if op in self.waiting else 1.0)

    def shifts(self, op: Op) -> bool:
        """Whether a division is by a power of 2."""
        divisor = self.constants.get(op.operands[1], 0)
        return divisor > 0 and divisor & (divisor - 1) == 0

    def chains(self) -> set[Op]:
        """The sums and products of inner loops that hand on floats."""
        return {
            op
            for loop in self.loop.regions[0].walk()
            if loop.name in ("for", "loop")
            and any(getattr(arg.type, "is_float", False) for arg in loop.regions[0].args)
            for op in loop.regions[0].ops
            if op.name in ("add", "sub", "mul") and getattr(op.result.type, "is_float", False)
        }

    def inner_indices(self) -> set[Value]:
        """The indices of inner loops, and what is one more or less."""
        found = {op.regions[0].args[0] for op in self.loop.regions[0].walk() if op.name == "for"}
        for op in self.loop.regions[0].walk():
            if op.name in ("add", "sub") and not found.isdisjoint(op.operands):
                found.add(op.result)
        return found

    def turns(self, op: Op) -> float:
        """How often the body of an op runs."""
        if op.name == "for":
            turns = constant_turns(op, self.constants)
            if turns is None:  # those of a triangle are half as many
                return _TURNS / 2 if any(value in self.indices for value in op.operands[:2]) else _TURNS
            return float(min(turns, 4 * _TURNS))
        return _TURNS if op.name == "loop" else 1.0

    # As it is

    def scalar(self, region: Region) -> float:
        total = 0.0
        for op in region.ops:
            inner = sum(map(self.scalar, op.regions))
            if op.name == "for" and self.vectorises(op):
                total += _BEGIN + self.turns(op) * inner / max(1.0, self.lanes * self.friendly(op))
            else:
                total += self.own(op) + self.turns(op) * inner
        return total

    def as_it_is(self, op: Op) -> float:
        """What a turn of a counted loop costs."""
        cost = self.scalar(op.regions[0])
        return cost / max(1.0, self.lanes * self.friendly(op)) if self.vectorises(op) else cost

    def vectorises(self, op: Op) -> bool:
        """Whether LLVM vectorises an inner loop: no obstacle, no short count, nothing carried but what it can reorder."""
        turns = constant_turns(op, self.constants)
        if (turns is not None and turns < 2 * self.lanes) or not llvm_may(op, self.constants, self.vector_math):
            return False
        body = op.regions[0]
        if self.hands_on(op):
            return False
        makers = {result: inner for inner in body.ops for result in inner.results}
        for arg, following in zip(body.args[1:], body.ops[-1].operands):
            maker = makers.get(following)
            if maker is None or maker.name not in ("add", "sub", "mul", "min", "max", "and", "or", "xor"):
                return False
            if getattr(arg.type, "is_float", False) and not maker.attrs.get("fast"):
                return False
        return True

    def hands_on(self, op: Op) -> bool:
        """Whether turns of a loop may hand on to each other what they store."""
        body = op.regions[0]
        inside = {result: inner for inner in body.walk() for result in inner.results}
        read: dict[Value, list[list[Value]]] = {}
        for inner in body.walk():
            if inner.name == "load":
                read.setdefault(inner.operands[0], []).append(inner.operands[1:])
        for inner in body.walk():
            if inner.name == "store":
                array, *at = inner.operands[1:]
                if not any(_depends(index, body.args[0], inside) for index in at):
                    return True
                if any(other != at and _may_be_near(other, at, inside) for other in read.get(array, ())):
                    return True
        return False

    def friendly(self, op: Op) -> float:
        """How much of the lanes an inner loop makes use of: gathers take it away."""
        index, accesses, gathers = op.regions[0].args[0], 0, 0
        inside = {result: inner for inner in op.regions[0].walk() for result in inner.results}
        for access in op.regions[0].walk():
            if access.name in ("load", "store"):
                accesses += 1
                array, *indices = access.operands[access.name == "store" :]
                layout = getattr(array.type, "layout", "A")
                fast = (indices[-1] if layout == "C" else indices[0] if layout == "F" else None) if indices else None
                slow = [at for at in indices if at is not fast]
                gathers += any(_depends(at, index, inside) for at in slow) or layout == "A"
        return 1.0 / (1.0 + 3.0 * gathers) if accesses else 1.0

    # In lanes

    def in_lanes(self, region: Region) -> float:
        return sum(map(self.op_in_lanes, region.ops))

    def op_in_lanes(self, op: Op) -> float:
        inner = sum(map(self.in_lanes, op.regions))
        if op.name in ("load", "store"):
            return self.access(op)
        if op.regions:
            parts = op in self.facts.divergent or (op.name == "if" and op.operands[0] in self.facts.varying)
            idle = _IDLE if parts and op.name in ("for", "loop") else 1.0
            return (_BRANCH / self.lanes if parts else 0.1) + idle * self.turns(op) * inner
        if self.facts.uniform(op.results) and op.results:
            return self.own(op) / self.lanes
        if op.name in ("floordiv", "mod") and not self.shifts(op):
            return self.own(op) + 2
        if op.name.startswith("math.") and op.name not in self.vector_math:
            return self.own(op) + 2
        if op.name in ("check", "index"):
            return 2 / self.lanes
        whole = not any(getattr(value.type, "is_float", False) for value in op.operands)
        if whole and self.lanes < _FULL and op.name in ("mul", "cast"):
            return _EMULATED
        slower = _INTEGERS if whole else 1.0
        return slower * self.own(op) / self.lanes

    def access(self, op: Op) -> float:
        """The cost of an access, for one lane."""
        array, *indices = op.operands[op.name == "store" :]
        if array in self.facts.private or self.facts.uniform(indices):
            return 1.5 / self.lanes
        moving = [axis for axis, at in enumerate(indices) if at in self.facts.varying]
        layout = getattr(array.type, "layout", "A")
        fastest = len(indices) - 1 if layout == "C" else 0 if layout == "F" else -1
        if moving == [fastest] and self.even(indices[fastest]):
            return 1.5 / self.lanes
        if layout == "C" and len(moving) == 1 and self.even(indices[moving[0]]):
            item = self.item(array, indices, moving[0])
            if 2 <= item <= rows.MOST:
                return (1.0 + item) / self.lanes
        return _SCATTER if op.name == "store" else _GATHER

    def item(self, array: Value, indices: list[Value], axis: int) -> int:
        """How many elements the items of an array have that lie behind an axis, if places in it are constant; 0 if it is not
        known."""
        size = 1
        for inner in range(axis + 1, len(indices)):
            known = self.sizes.get((array, inner), 0)
            size *= known if indices[inner] in self.constants else 0
        return size

    def even(self, value: Value) -> bool:
        """Whether an index grows by 1 from lane to lane, as far as its form tells."""
        if value is self.index or value not in self.facts.varying:
            return value is not self.index or _step(self.loop, self.constants) in (1, -1)
        op = self.makers.get(value)
        if op is None:
            start = self.starts.get(value)  # of an inner loop whose index this is
            return start is not None and self.even(start)
        return op.name in ("add", "sub", "index") and all(map(self.even, op.operands[:2]))


def _may_be_near(one: list[Value], other: list[Value], makers: Mapping[Value, Op]) -> bool:
    """Whether two places of an array may be near each other: their indices are equal, but for those that are made in the loop."""
    return all(a is b or a in makers or b in makers for a, b in zip(one, other))


def _depends(value: Value, index: Value, makers: Mapping[Value, Op]) -> bool:
    if value is index:
        return True
    op = makers.get(value)
    return op is not None and any(_depends(operand, index, makers) for operand in op.operands)


def _step(loop: Op, constants: Mapping[Value, int]) -> int:
    """The step of a counted loop, 0 if it is not constant."""
    return constants.get(loop.operands[2], 0)
