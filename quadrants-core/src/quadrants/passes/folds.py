"""What a loop does with the values that it carries from turn to turn: which of them can be computed in pieces.

Takes a `for` and the definitions and uses of its function; gives a `Fold` for each carried value, or the first that is none. A
carried value is a fold if every turn only combines it, by one operation that may be done in any order (a sum, a product, a
minimum, a maximum, a bitwise and, or, exclusive or), and nothing else looks at it; inner loops and branches may lie between. A
value that no turn looks at is what the last turn left. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.ir import Function, Op, Region, Value
from quadrants.passes import extremes
from quadrants.passes.modes import STRICT, modes_of
from quadrants.passes.structure import Exits, definitions, exits_of
from quadrants.types import Scalar

SAME, LAST, SKIPPED, ALONG = "same", "last", "skipped", "along"
#: The ops that fold, and what they are in words.
WORDS = {
    "add": "the sum",
    "mul": "the product",
    "min": "the minimum",
    "max": "the maximum",
    "and": "the conjunction",
    "or": "the disjunction",
    "xor": "the exclusive or",
    LAST: "the last value of",
    "least": "the minimum",
    "greatest": "the maximum",
    ALONG: "with it",
}
_OPS = frozenset({"add", "sub", "mul", "min", "max", "and", "or", "xor"})
_PARTS = ("real", "imag")
#: A use: the op, and which operand.
Edge = tuple[Op, int]


@frozen(eq=False)
class Fold:
    """One carried value. `kind`: the op that combines two parts, `SAME` (it does not change) or `LAST`. `ops`: those that
    fold, in a turn. `leader`: of `ALONG`, the index of the extreme that it is set with.
    """

    index: int
    kind: str
    arg: Value
    ops: tuple[Op, ...] = ()
    leader: int = -1


@frozen(eq=False)
class Carried:
    """A carried value that cannot be computed in pieces, and an op that looks at it; None if it is only handed on."""

    index: int
    arg: Value
    reader: Op | None


@record
class Flow:
    """Where the values of a function come from and go to.

    Args:
        exits: the jumps that name an op.
        makers: the definitions.
        uses: where each value is used.
        targets: the op that a `yield`, `break` or `continue` hands its values to.
    """

    exits: Mapping[Op, Exits]
    makers: Mapping[Value, Op]
    uses: dict[Value, list[Edge]] = field(default_factory=dict)
    targets: dict[Op, Op] = field(default_factory=dict)

    @staticmethod
    def of(function: Function) -> Flow:
        flow = Flow(exits_of(function), definitions(function))
        for op in function.body.walk():
            for position, operand in enumerate(op.operands):
                flow.uses.setdefault(operand, []).append((op, position))
            for region in op.regions:
                end = region.terminator
                if end is not None and end.name == "yield":
                    flow.targets[end] = op
        for op, exits in flow.exits.items():
            flow.targets.update(dict.fromkeys((*exits.breaks, *exits.continues), op))
        return flow

    def dependent(self, base: Value) -> set[Value]:
        """The values that are made from the base, in straight code or through control flow."""
        found = {base}
        work = [base]
        while work:
            for op, position in self.uses.get(work.pop(), ()):
                for result in self.made(op, position):
                    if result not in found:
                        found.add(result)
                        work.append(result)
        return found

    def reader(self, base: Value, loop: Op) -> Op | None:
        """An op in the loop that looks at a value, not only hands it on."""
        found = {base, *loop.results}
        work = [base]
        while work:
            for op, position in self.uses.get(work.pop(), ()):
                hands_on = op in self.targets or (op.name == "for" and position >= 3) or op.name == "loop"
                if not hands_on and not (op.name == "select" and position > 0):
                    return op
                new = [result for result in self.made(op, position) if result not in found]
                found.update(new)
                work += new
        return None

    def made(self, op: Op, position: int) -> list[Value]:
        """What an operand goes into."""
        target = self.targets.get(op)
        if target is not None:
            if op.name == "continue":
                shift = 1 if target.name == "for" else 0
                values = [target.regions[0].args[position + shift]]
                return [*values, *target.results[position : position + 1]] if shift else values
            return target.results[position : position + 1]  # a loop that is being made may not have all of its results
        if op.name == "for" and position >= 3:
            return [op.results[position - 3], op.regions[0].args[position - 2]]
        if op.name == "loop":
            return [op.regions[0].args[position]]
        if op.regions:  # a condition, or the bounds of a loop: what is made inside hangs on it
            return [*op.results, *(arg for region in op.regions for arg in region.args)]
        return op.results


def folds(loop: Op, flow: Flow, *, mode: str, skip: Collection[int] = (), places: bool = False) -> list[Fold] | Carried:
    """The folds of a loop that nothing breaks out of. `mode`: the floating-point mode of
    the function. `skip`: the places of
    values that are not looked at. `places`: whether extremes that others go along with (see `extremes`) are folds."""
    found = []
    extreme = _extremes(loop, flow) if places else {}
    for index, arg in enumerate(loop.regions[0].args[1:]):
        if index in skip:
            found.append(Fold(index, SKIPPED, arg))
            continue
        if index in extreme:
            found.append(extreme[index])
            continue
        ends = [(jump, index) for jump in flow.exits[loop].continues]
        if all(jump.operands[index] is arg for jump, _ in ends):
            found.append(Fold(index, SAME, arg))
        elif not flow.uses.get(arg) and isinstance(arg.type, Scalar):
            found.append(Fold(index, LAST, arg))
        else:
            tracer = _Tracer(flow)
            kind = tracer.kind_of(arg, ends)
            if kind is None or not _allowed(arg, kind, STRICT in modes_of(tracer.ops, mode)):
                return Carried(index, arg, flow.reader(arg, loop))
            found.append(Fold(index, kind, arg, tuple(tracer.ops)))
    return found


def _extremes(loop: Op, flow: Flow) -> dict[int, Fold]:
    """The extremes of a loop and what goes along with them, by index."""
    args = loop.regions[0].args[1:]
    found: dict[int, Fold] = {}
    for extreme in extremes.find(loop, flow.makers, flow.uses):
        found[extreme.index] = Fold(extreme.index, extreme.kind, args[extreme.index])
        found.update((k, Fold(k, ALONG, args[k], leader=extreme.index)) for k in extreme.along)
    return found


def _allowed(arg: Value, kind: str, strict: bool) -> bool:
    """Whether the order of the operations may be changed."""
    if not isinstance(arg.type, Scalar):
        return False
    inexact = arg.type.is_float or arg.type.is_complex
    return not (strict and inexact) and not (arg.type.is_complex and kind != "add")


@record
class _Tracer:
    """Follows a value backwards from the ends of a turn to its beginning. `edges`: the uses that were followed."""

    flow: Flow
    kind: str | None = None
    ops: list[Op] = field(default_factory=list)
    part: str | None = None  # of a complex number, while it is followed by its parts
    edges: dict[Value, set[tuple[int, int]]] = field(default_factory=dict)

    def kind_of(self, arg: Value, ends: list[Edge]) -> str | None:
        """The op that folds `arg`; None if it is no fold."""
        inside = self.flow.dependent(arg)
        if not all(self.follow(edge, arg, inside) for edge in ends):
            return None
        whole = all(len(self.flow.uses.get(value, ())) == len(edges) for value, edges in self.edges.items())
        return self.kind if whole else None

    def follow(self, edge: Edge, base: Value, inside: set[Value]) -> bool:
        """Whether the value that an op uses is the base, folded. `inside`: the values that depend on the base."""
        op, position = edge
        value = op.operands[position]
        known = value in self.edges
        self.edges.setdefault(value, set()).add((id(op), position))
        if known or value is base:
            return True
        maker = self.flow.makers.get(value)
        if maker is None or value not in inside:
            return False
        if maker.name in _OPS:
            return self.combine(maker, base, inside)
        if maker.name in _PARTS:
            return self.part in (None, maker.name) and self.follow((maker, 0), base, inside)
        if maker.name == "complex":
            return self.parts(maker, base, inside)
        if maker.name == "select":
            return maker.operands[0] not in inside and all(self.follow((maker, k), base, inside) for k in (1, 2))
        index = maker.results.index(value)
        if maker.name == "if":
            return maker.operands[0] not in inside and self.ends(maker, index, base, inside)
        if maker.name in ("block", "try"):
            return self.ends(maker, index, base, inside)
        if maker.name == "loop":
            return self.around(maker, index, base, inside)
        return maker.name == "for" and self.through(maker, index, base, inside)

    def combine(self, op: Op, base: Value, inside: set[Value]) -> bool:
        name = "add" if op.name == "sub" else op.name
        if self.kind not in (None, name):
            return False
        self.kind = name
        sides = [k for k, operand in enumerate(op.operands) if operand in inside]
        if len(sides) != 1 or (op.name == "sub" and sides[0] != 0):
            return False
        if name in ("min", "max") and sides[0] != 1 and isinstance(base.type, Scalar) and base.type.is_float:
            return False  # it forgets a NaN that came before: its turns are not alike
        self.ops.append(op)
        return self.follow((op, sides[0]), base, inside)

    def parts(self, op: Op, base: Value, inside: set[Value]) -> bool:
        """A complex number whose real part is folded into the real part, and the imaginary part into that."""
        outer = self.part
        for position, name in enumerate(_PARTS):
            self.part = name
            if outer is not None or not self.follow((op, position), base, inside):
                return False
        self.part = outer
        return True

    def ends(self, op: Op, index: int, base: Value, inside: set[Value]) -> bool:
        """Through what the regions of an op yield, or break out with."""
        jumps = [end for region in op.regions if (end := _end(region)) is not None and end.name == "yield"]
        if op in self.flow.exits:
            jumps += self.flow.exits[op].breaks
        return bool(jumps) and all(self.follow((jump, index), base, inside) for jump in jumps)

    def through(self, op: Op, index: int, base: Value, inside: set[Value]) -> bool:
        """Through an inner loop: it begins with the value so far, and folds on."""
        if any(operand in inside for operand in op.operands[:3]) or not self.follow((op, 3 + index), base, inside):
            return False
        arg = op.regions[0].args[1 + index]
        self.edges.setdefault(arg, set())
        dependent = self.flow.dependent(arg)
        jumps = (*self.flow.exits[op].continues, *self.flow.exits[op].breaks)
        return all(self.follow((jump, index), arg, dependent) for jump in jumps)

    def around(self, op: Op, index: int, base: Value, inside: set[Value]) -> bool:
        """Through an inner `loop`, which hands the value on as one of its arguments, and breaks out with it."""
        handed = [k for k, operand in enumerate(op.operands) if operand in inside]
        if len(handed) != 1 or not self.follow((op, handed[0]), base, inside):
            return False
        arg = op.regions[0].args[handed[0]]
        self.edges.setdefault(arg, set())
        dependent = self.flow.dependent(arg)
        return all(self.follow((jump, index), arg, dependent) for jump in self.flow.exits[op].breaks) and all(
            self.follow((jump, handed[0]), arg, dependent) for jump in self.flow.exits[op].continues
        )


def _end(region: Region) -> Op | None:
    return region.terminator
