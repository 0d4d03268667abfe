"""Makes the function smaller without changing what it does.

Takes and gives QIR, in one walk: folds constants and identities (`fold`), shares common subexpressions of pure ops
between a region and those inside it, enters branches whose condition is known, opens blocks that nothing breaks out of,
drops what follows a jump, reads elements once (`known_loads`), and removes dead code (`dce`). Constants move to the
front of the function, one of each. Always legal; linear in the size of the function.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import evaluate
from quadrants.ir.values import canonical
from quadrants.passes import dce
from quadrants.passes.context import PassContext
from quadrants.passes.fold import RULES
from quadrants.passes.fold_env import Number
from quadrants.passes.known_loads import KnownLoads
from quadrants.passes.structure import LOOPS, Exits, breaks_of, exits_of, falls_through, is_pure, writes_memory
from quadrants.types import LanesType, Scalar, Type

_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor"})
#: Ops that may raise but give the same result when they come again, so that the first one stands for all.
_REPEATABLE = frozenset({"index", "check"})
#: Elementary functions that are the same everywhere; the others are left to the run time, whose library may round otherwise.
_FOLDED_MATH = frozenset(f"math.{name}" for name in ("sqrt", "floor", "ceil", "trunc", "rint", "copysign"))

Key = tuple[object, ...]


def run(function: Function, context: PassContext | None = None) -> None:
    """Simplify one function."""
    state = _Simplifier(set(function.params), exits_of(function))
    state.region(function.body)
    function.body.ops[:0] = state.constants
    dce.run(function)


def again(function: Function, context: PassContext) -> None:
    """Simplify the function if a pass before said that it changed it."""
    if function.name in context.changed:
        context.changed.discard(function.name)
        run(function, context)


@record
class _Simplifier:
    """One walk. `replaced` maps values to what stands for them; `shared` holds a table of known expressions a nesting
    level."""

    parameters: set[Value]
    exits: dict[Op, Exits]
    constants: list[Op] = field(default_factory=list)
    constant_of: dict[Key, Value] = field(default_factory=dict)
    numbers: dict[Value, Number] = field(default_factory=dict)
    makers: dict[Value, Op] = field(default_factory=dict)
    replaced: dict[Value, Value] = field(default_factory=dict)
    known: dict[Value, bool] = field(default_factory=dict)
    shared: list[dict[Key, list[Value]]] = field(default_factory=list)
    loads: KnownLoads = field(default_factory=KnownLoads)
    out: list[Op] = field(default_factory=list)
    origin: Op | None = None
    in_map: bool = False

    # What the rules of `fold` may ask

    def maker(self, value: Value) -> Op | None:
        return self.makers.get(value)

    def is_parameter(self, value: Value) -> bool:
        return value in self.parameters

    def number(self, value: Value) -> Number | None:
        found = self.numbers.get(value)
        return self.known.get(value) if found is None else found

    def const(self, value: Number, type: Scalar) -> Value:
        value = float(value) if type.is_float and not isinstance(value, complex) else value
        key = (type, repr(value))
        if key not in self.constant_of:
            made = Op(OPS["const"], [], [Value(type)], {"value": value, "type": type})
            self.constants.append(made)
            self.constant_of[key] = made.result
            self.numbers[made.result] = value
            self.makers[made.result] = made
        return self.constant_of[key]

    def emit(self, name: str, *operands: Value, **attrs: object) -> Value:
        """A new op, simplified itself, in front of the one that is looked at."""
        defn = OPS[name]
        types = defn.type_rule([operand.type for operand in operands], attrs, [])
        op = Op(
            defn, list(operands), [Value(type) for type in types], attrs, [], self.origin.loc if self.origin else None
        )
        result = op.result
        self.op(op, deque())
        return self.resolve(result)

    # The walk

    def resolve(self, value: Value) -> Value:
        """What stands for the value now."""
        while (other := self.replaced.get(value)) is not None:
            value = other
        return value

    def region(self, region: Region, assume: tuple[Value, bool] | None = None, barrier: bool = False) -> None:
        """Simplify a region in place. `assume`: a condition that holds, or not, inside it; `barrier`: see `KnownLoads`."""
        outer, self.out = self.out, []
        self.loads.enter(barrier)
        self.shared.append({})
        learnt = [] if assume is None else self.learn(*assume)
        pending = deque(region.ops)
        while pending:
            op = pending.popleft()
            learnt += self.op(op, pending)
            if self.out and self.out[-1].defn.terminator:
                break
        for value in learnt:
            del self.known[value]
        self.shared.pop()
        self.loads.leave()
        region.ops[:] = self.out
        self.out = outer

    def learn(self, condition: Value, holds: bool) -> list[Value]:
        """Remember that a condition holds, or does not, until the region ends. Gives what is new."""
        learnt = []
        while condition not in self.known and condition not in self.numbers:
            self.known[condition] = holds
            learnt.append(condition)
            maker = self.makers.get(condition)
            if maker is not None and maker.name == ("and" if holds else "or"):
                learnt += self.learn(maker.operands[0], holds)
                condition = maker.operands[1]
            elif maker is not None and maker.name == "not":
                condition, holds = maker.operands[0], not holds
        return learnt

    def op(self, op: Op, pending: deque[Op]) -> list[Value]:
        """Simplify one op and append what is left of it. Gives the conditions that hold behind it."""
        op.operands[:] = [self.resolve(operand) for operand in op.operands]
        if op.name == "zero" and isinstance(op.result.type, Scalar):
            self.replaced[op.result] = self.const(_zero(op.result.type), op.result.type)
            return []
        if op.name == "const":
            value = op.attrs["value"]
            assert isinstance(value, (bool, int, float, complex)) and isinstance(op.result.type, Scalar)
            self.replaced[op.result] = self.const(value, op.result.type)
            return []
        if op.regions:
            return self.control(op, pending)
        if op.name == "check":
            return self.check(op)
        before, self.origin = self.origin, op
        simpler = None if _has_lanes(op) else self.folded(op) or self.ruled(op)
        self.origin = before
        if simpler is None and (is_pure(op) or op.name in _REPEATABLE):
            simpler = self.common(op)
        elif op.name == "load" and (known := self.loads.read(op)) is not None:
            simpler = [known]
        elif op.name == "store":
            self.loads.written(op)
        elif op.defn.writes and op.name != "var.set":
            self.loads.forget()
        if simpler is not None:
            for result, value in zip(op.results, simpler):
                self.replaced[result] = value
            return []
        self.append(op)
        return []

    def append(self, op: Op) -> None:
        self.out.append(op)
        for result in op.results:
            self.makers[result] = op

    def folded(self, op: Op) -> list[Value] | None:
        """The results as constants, if all operands are."""
        if not op.operands or not is_pure(op) or op.defn.reference is None:
            return None
        if op.name.startswith("math.") and op.name not in _FOLDED_MATH:
            return None
        values = [self.number(operand) for operand in op.operands]
        if any(value is None for value in values):
            return None
        results = evaluate(op, [canonical(_scalar(of.type), value) for of, value in zip(op.operands, values)])
        if results is None:
            return None
        return [self.const(_plain(value), _scalar(result.type)) for value, result in zip(results, op.results)]

    def ruled(self, op: Op) -> list[Value] | None:
        rule = RULES.get(op.name)
        simpler = rule(op, self) if rule is not None else None
        return None if simpler is None else [self.resolve(simpler)]

    def common(self, op: Op) -> list[Value] | None:
        """The results of the same expression before, in this region or around it."""
        operands = [id(operand) for operand in op.operands]
        if op.name in _COMMUTATIVE:
            operands.sort()
        names = ["wrap"] if op.name == "index" else sorted(op.attrs)  # what one `index` let through, another will
        key = (op.name, *operands, *((name, op.attr(name)) for name in names))
        for table in reversed(self.shared):
            if (found := table.get(key)) is not None:
                return found
        self.shared[-1][key] = op.results
        return None

    def check(self, op: Op) -> list[Value]:
        """A check that holds goes; one that fails raises; behind any other its condition holds."""
        holds = self.number(op.operands[0])
        if holds is None:
            self.append(op)
            return self.learn(op.operands[0], True)
        if not holds and self.in_map:
            self.append(op)  # the body of a map gives a value: its loop will raise
        elif not holds:
            self.append(Op(OPS["raise"], op.operands[1:], [], dict(op.attrs), [], op.loc))
        return []

    def control(self, op: Op, pending: deque[Op]) -> list[Value]:
        """An op with regions: enter it, or put its only way in its place."""
        exits = self.exits.get(op, Exits())
        if op.name == "if" and (known := self.number(op.operands[0])) is not None:
            self.splice(op, op.regions[0 if known else 1], pending)
            return []
        if op.name == "block" and not exits.breaks:
            self.splice(op, op.regions[0], pending)
            return []
        if op.name in ("loop", "for"):
            self.drop_invariant(op, exits)
        barrier = op.name in LOOPS and writes_memory(op)
        outer, self.in_map = self.in_map, self.in_map or op.name in ("map", "map_into")
        for index, region in enumerate(op.regions):
            self.region(region, (op.operands[0], index == 0) if op.name == "if" else None, barrier)
        self.in_map = outer
        self.append(op)
        if op.name == "map_into":
            self.loads.forget()
        if op.name in ("map", "map_into"):
            return []
        if op.name == "if":
            self.merge_equal(op)
        if op.name != "loop" and not falls_through(op, breaks_of(op) if op.name == "block" else ()):
            op.results.clear()
            self.append(Op(OPS["unreachable"], [], [], {}, [], op.loc))
            return []
        if op.name == "if":
            leaves = [(end := region.terminator) is None or end.name != "yield" for region in op.regions]
            if any(leaves):
                return self.learn(op.operands[0], leaves[1])
        return []

    def splice(self, op: Op, region: Region, pending: deque[Op]) -> None:
        """Put a region's ops in the place of the op that holds it."""
        end = region.terminator
        if end is None or end.name != "yield":
            pending.clear()
            pending.extend(region.ops)
            return
        pending.extendleft(reversed(region.ops[:-1]))
        for result, value in zip(op.results, end.operands):
            self.replaced[result] = value

    def drop_invariant(self, op: Op, exits: Exits) -> None:
        """A carried value that is never changed is its initial value."""
        head = 3 if op.name == "for" else 0
        args = op.regions[0].args[1:] if head else op.regions[0].args
        for index, (arg, init) in enumerate(zip(args, op.operands[head:])):
            jumps = exits.continues + (exits.breaks if head else [])
            if all(self.resolve(jump.operands[index]) in (arg, init) for jump in jumps):
                self.replaced[arg] = init
                if head:
                    self.replaced[op.results[index]] = init

    def merge_equal(self, op: Op) -> None:
        """A result that every branch which comes out gives alike is that value, when it comes from outside."""
        ends = [end for region in op.regions if (end := region.terminator) is not None and end.name == "yield"]
        inside = {result for region in op.regions for inner in region.ops for result in inner.results}
        for index, result in enumerate(op.results):
            values = {end.operands[index] for end in ends}
            if len(values) == 1 and not (values & inside):
                self.replaced[result] = values.pop()


def _zero(type: Scalar) -> Number:
    return False if type.is_bool else 0 if type.is_integer else 0.0 if type.is_float else 0j


def _plain(value: object) -> Number:
    """A Python number from the reference semantics' value."""
    plain = value.item() if hasattr(value, "item") else value
    assert isinstance(plain, (bool, int, float, complex))
    return plain


def _scalar(type: Type) -> Scalar:
    assert isinstance(type, Scalar)
    return type


def _has_lanes(op: Op) -> bool:
    """Whether an op computes on lanes, which have no constants and no rules."""
    return any(type(value.type) is LanesType for value in (*op.operands, *op.results))
