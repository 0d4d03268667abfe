"""How long a turn of a loop takes, roughly: what decides whether, and in which pieces, it is worth several threads.

Takes the body of a loop; gives picoseconds a turn, as far as they are known when the function is compiled, and emits the rest
as ops in front of the loop: how often inner loops run is asked where their bounds do not change. The figures are those of a
current processor at about 4 GHz, for data that are in its caches; only their order of magnitude matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.passes.guards import Guard
from quadrants.passes.polynomials import Nest
from quadrants.passes.structure import CALLS, constant_turns

#: Picoseconds an op; others take `_OP`.
_OP = 250
_COSTS = {
    **dict.fromkeys(("const", "dim", "stride", "yield", "continue", "break", "cast", "same"), 0),
    **dict.fromkeys(("load", "store"), 400),
    **dict.fromkeys(("div", "floordiv", "mod", "rem"), 2500),
    **dict.fromkeys(("math.sqrt",), 1500),
    **dict.fromkeys(("math.floor", "math.ceil", "math.trunc", "math.rint", "math.copysign", "math.fma"), 500),
    "alloc": 30_000,
    "call": 1_000,
}
_MATH = 6_000
#: Straight loops are vectorised.
_VECTOR_GAIN = 6
#: How often a loop runs of which nothing is known.
_UNKNOWN_TURNS = 256
_MOST = 1 << 34
_MOST_TURNS = 1 << 24
_MOST_DEPTH = 4


@record
class Cost:
    """Picoseconds: a number, and parts that are computed when the program runs. `guessed`: a loop in it may run any number of
    times.
    """

    known: int = 0
    parts: list[Value] = field(default_factory=list)
    guessed: bool = False


@record
class Coster:
    """Estimates the turns of one loop.

    Args:
        nest: the loop.
        functions: those of the module.
        constants: the values that are integer constants.
        builder: where ops go.
    """

    nest: Nest
    functions: Mapping[str, Function]
    constants: Mapping[Value, int]
    builder: Builder
    guard: Guard = field(init=False)

    def __post_init__(self) -> None:
        self.guard = Guard(self.nest, {}, self.builder)

    def turn(self) -> Cost:
        """What a turn of the loop takes."""
        return self.body(self.nest.loop, 0)

    def body(self, loop: Op, depth: int) -> Cost:
        """What a turn of a loop takes."""
        total = self.region(loop.regions[0], depth)
        if loop.name == "for" and not any(op.regions or op.name in CALLS for op in loop.regions[0].ops):
            total.known = max(total.known // _VECTOR_GAIN, 50)
        return total

    def region(self, region: Region, depth: int) -> Cost:
        total = Cost()
        for op in region.ops:
            inner = self.op(op, depth)
            total.known = min(total.known + inner.known, _MOST)
            total.parts += inner.parts
            total.guessed |= inner.guessed
        return total

    def op(self, op: Op, depth: int) -> Cost:
        if op.name in CALLS:
            return self.called(str(op.attrs["callee"]), depth)
        if op.name in ("for", "loop"):
            return self.loop(op, depth)
        total = Cost(_MATH if op.name.startswith("math.") and op.name not in _COSTS else _COSTS.get(op.name, _OP))
        for nested in op.regions:
            inner = self.region(nested, depth)
            total.known = min(total.known + inner.known, _MOST)
            total.parts += inner.parts
            total.guessed |= inner.guessed
        return total

    def loop(self, op: Op, depth: int) -> Cost:
        body = self.body(op, depth + 1)
        turns = constant_turns(op, self.constants) if op.name == "for" else None
        if turns is not None and not body.parts:
            return Cost(min(body.known * turns, _MOST), guessed=body.guessed)
        counted = self.turns(op) if op.name == "for" and depth < _MOST_DEPTH else None
        if counted is None:
            return Cost(min(body.known * _UNKNOWN_TURNS, _MOST), body.parts, True)
        b = self.builder
        each = self.total(body)
        whole = b.value("min", b.value("mul", counted, each), b.i64(_MOST))
        return Cost(_OP, [whole], body.guessed)

    def turns(self, op: Op) -> Value | None:
        """How often an inner loop runs, if that is known in front of the nest."""
        start, stop, step = op.operands[:3]
        by = self.constants.get(step)
        if not by or not (self.nest.invariant(start) and self.nest.invariant(stop)):
            return None
        b = self.builder
        first, last = self.guard.value(start), self.guard.value(stop)
        length = b.value("sub", last, first) if by > 0 else b.value("sub", first, last)
        if abs(by) > 1:
            length = b.value("floordiv", length, b.i64(abs(by)))
        return b.value("min", b.value("max", length, b.i64(0)), b.i64(_MOST_TURNS))

    def total(self, cost: Cost) -> Value:
        """The cost as one value; at most 2^36, so that it can be multiplied by a number of turns."""
        b = self.builder
        total = b.i64(cost.known)
        for part in cost.parts[:4]:
            total = b.value("add", total, part)
        return total

    def called(self, name: str, depth: int) -> Cost:
        """A function of the module; what it does inside is guessed from its text."""
        function = self.functions.get(name)
        if function is None or depth > _MOST_DEPTH:
            return Cost(_COSTS["call"], guessed=True)
        total = Cost(_COSTS["call"])
        for op in function.body.walk():
            if op.name in ("for", "loop"):
                total.known = min(total.known + _OP * _UNKNOWN_TURNS, _MOST)
                total.guessed = True
            elif op.name in CALLS:
                inner = self.called(str(op.attrs["callee"]), depth + 2)
                total.known = min(total.known + inner.known, _MOST)
                total.guessed |= inner.guessed
            else:
                total.known += _MATH if op.name.startswith("math.") else _COSTS.get(op.name, _OP)
        return total
