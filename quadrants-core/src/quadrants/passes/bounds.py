"""Proves checks away, with the facts of `ranges`.

Takes and gives QIR. An access, or an `index`, whose index is proven to be inside loses its check; what cannot be proven
becomes an `index` op of its own (one an axis) in front of an unchecked access, so that later passes see each check
alone. Comparisons that always come out the same become constants, `check`s that always hold go, divisors that are never
0 are marked, sums that never wrap are marked, and a remainder of what is at most one period off becomes comparisons.
Legal because facts hold whenever control is at the op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from quadrants._frozen import record
from quadrants.diagnostics import DecisionKind
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.rewrite import replace_uses
from quadrants.passes.context import PassContext
from quadrants.passes.facts import Facts
from quadrants.passes.forms import constant
from quadrants.passes.intervals import I64_RANGE, transfer
from quadrants.passes.ranges import Edit, walk
from quadrants.types import BOOL, I64, Scalar

PASS = "bounds"
_ACCESSES = {"load": 1, "store": 2}
#: Ops that may be marked as never wrapping.
_SUMS = frozenset({"add", "sub", "mul", "neg"})


def run(function: Function, context: PassContext) -> None:
    """Remove the checks of one function that cannot fail."""
    prover = _Prover(function, context)
    edits = walk(function, prover.visit)
    for edit in edits:
        edit()
    if edits:
        context.changed.add(function.name)
    prover.rebuild(function.body)
    replace_uses(function.body, prover.replaced)


@record
class _Prover:
    function: Function
    context: PassContext
    dropped: set[Op] = field(default_factory=set)
    before: dict[Op, list[Op]] = field(default_factory=dict)
    replaced: dict[Value, Value] = field(default_factory=dict)

    def visit(self, op: Op, facts: Facts) -> Iterable[Edit]:
        rule = _RULES.get(op.name)
        edit = rule(self, op, facts) if rule is not None else None
        return () if edit is None else (edit,)

    def access(self, op: Op, facts: Facts) -> Edit | None:
        """A load or store: which of its axes are inside, and which may be negative."""
        if not (op.attr("checked") or op.attr("wrap")):
            return None
        first = _ACCESSES[op.name]
        array = op.operands[first - 1]
        left = []
        for axis, position in enumerate(op.operands[first:]):
            inside, positive = self.inside(facts, position, array, axis, op)
            if not (inside and positive):
                left.append((axis, inside, positive))
        return lambda: self.expose(op, first, left)

    def inside(self, facts: Facts, position: Value, array: Value, axis: int, op: Op) -> tuple[bool, bool]:
        """Whether an index needs no check, and whether it is not negative."""
        form, size = facts.exact(position), facts.size(array, axis)
        positive = not op.attr("wrap") or facts.prove(form)
        if not op.attr("checked") or not self.context.options.bounds_checks:
            return True, positive
        low = facts.prove(form.plus(size) if op.attr("wrap") and not positive else form)
        return low and facts.prove(size.minus(form).shift(-1)), positive

    def expose(self, op: Op, first: int, left: list[tuple[int, bool, bool]]) -> None:
        """Make the checks that are left ops of their own."""
        new: list[Op] = []
        for axis, inside, positive in left:
            at = first + axis
            size = Op(OPS["dim"], [op.operands[first - 1]], [Value(I64)], {"axis": axis}, [], op.loc)
            attrs: dict[str, object] = {"axis": axis, "checked": not inside, "wrap": not positive}
            index = Op(OPS["index"], [op.operands[at], size.result], [Value(I64)], attrs, [], op.loc)
            op.operands[at] = index.result
            new += [size, index]
        if new:
            self.before[op] = new
        self.clear(op)

    @staticmethod
    def clear(op: Op) -> None:
        op.attrs["checked"] = op.attrs["wrap"] = False

    def index(self, op: Op, facts: Facts) -> Edit | None:
        form, size = facts.exact(op.operands[0]), facts.exact(op.operands[1])
        positive = not op.attr("wrap") or facts.prove(form)
        checked = bool(op.attr("checked")) and (self.context.options.bounds_checks or bool(op.attr("tuple")))
        if checked:
            low = facts.prove(form.plus(size) if not positive else form)
            checked = not (low and facts.prove(size.minus(form).shift(-1)))
        if checked == op.attr("checked") and positive != op.attr("wrap"):
            return None
        return lambda: op.attrs.update(checked=checked, wrap=not positive)

    def check(self, op: Op, facts: Facts) -> Edit | None:
        return (lambda: self.dropped.add(op)) if facts.decide(op.operands[0]) else None

    def compare(self, op: Op, facts: Facts) -> Edit | None:
        facts.define(op)
        known = facts.decide(op.result)
        return None if known is None else lambda: self.becomes(op, [], [(known, op.result)])

    def becomes(self, op: Op, new: list[Op], constants: list[tuple[bool, Value]]) -> None:
        """Constants stand for results."""
        for value, result in constants:
            made = Op(OPS["const"], [], [Value(BOOL)], {"value": value, "type": BOOL}, [], op.loc)
            self.before.setdefault(op, []).append(made)
            self.replaced[result] = made.result
        self.dropped.add(op)

    def divide(self, op: Op, facts: Facts) -> Edit | None:
        divisor = facts.interval(op.operands[1])
        nonzero = divisor is not None and not divisor.lo <= 0 <= divisor.hi
        if op.result.type == I64 and not nonzero:
            nonzero = facts.prove(facts.exact(op.operands[1]).shift(-1))
        if op.name == "mod" and op.result.type == I64 and nonzero:
            form, period = facts.exact(op.operands[0]), facts.exact(op.operands[1])
            small = facts.range(op.operands[1]).lo == facts.range(op.operands[1]).hi
            if not small and facts.prove(period.shift(-1)):
                low, high = facts.prove(form), facts.prove(period.minus(form).shift(-1))
                below, above = facts.prove(form.plus(period)), facts.prove(period.scale(2).minus(form).shift(-1))
                exact = facts.span(form.plus(period)).within(I64_RANGE)
                if (low or (below and exact)) and (high or above):
                    return lambda: self.near(op, low, high)
        if nonzero and not op.attr("nonzero"):
            return lambda: op.attrs.update(nonzero=True)
        return None

    def near(self, op: Op, low: bool, high: bool) -> None:
        """x mod n where x is in [-n, 2n): add or subtract n once, if at all."""
        new = self.before.setdefault(op, [])
        value, period = op.operands

        def emit(name: str, *operands: Value, **attrs: object) -> Value:
            types = OPS[name].type_rule([operand.type for operand in operands], attrs, [])
            new.append(Op(OPS[name], list(operands), [Value(types[0])], dict(attrs), [], op.loc))
            return new[-1].result

        result = value
        if not low:
            zero = emit("const", value=0, type=I64)
            wrapped = emit("add", value, period)
            result = emit("select", emit("cmp", value, zero, pred="lt"), wrapped, result)
        if not high:
            beyond = emit("cmp", value, period, pred="ge")
            result = emit("select", beyond, emit("sub", value, period), result)
        self.replaced[op.result] = result
        self.dropped.add(op)

    def sum(self, op: Op, facts: Facts) -> Edit | None:
        """Whether an i64 sum, difference or product stays in range."""
        if op.result.type != I64 or op.attr("nowrap"):
            return None
        found = transfer(op, [facts.interval(operand) for operand in op.operands])
        fits = found is not None and found != I64_RANGE
        if not fits and op.name in ("add", "sub"):
            forms = [facts.exact(operand) for operand in op.operands]
            total = forms[0].plus(forms[1], 1 if op.name == "add" else -1)
            top, bottom = constant(I64_RANGE.hi), constant(I64_RANGE.lo)
            fits = facts.prove(top.minus(total)) and facts.prove(total.minus(bottom))
        return (lambda: op.attrs.update(nowrap=True)) if fits else None

    def shift(self, op: Op, facts: Facts) -> Edit | None:
        """A count that is proven to be less than the width is masked, which shows that to whoever lowers the shift."""
        type = op.result.type
        count = facts.interval(op.operands[1])
        maker = facts.makers.get(op.operands[1])
        if not isinstance(type, Scalar) or count is None or not (0 <= count.lo and count.hi < type.bits):
            return None
        if maker is not None and maker.name in ("const", "and"):
            return None
        return lambda: self.mask(op, type)

    def mask(self, op: Op, type: Scalar) -> None:
        limit = Op(OPS["const"], [], [Value(type)], {"value": type.bits - 1, "type": type}, [], op.loc)
        masked = Op(OPS["and"], [op.operands[1], limit.result], [Value(type)], {}, [], op.loc)
        op.operands[1] = masked.result
        self.before.setdefault(op, []).extend((limit, masked))

    # Applying

    def rebuild(self, region: Region) -> None:
        """Insert and drop ops."""
        out: list[Op] = []
        for op in region.ops:
            out += self.before.get(op, ())
            if op not in self.dropped:
                out.append(op)
            for nested in op.regions:
                self.rebuild(nested)
        region.ops[:] = out


_RULES: dict[str, Callable[[_Prover, Op, Facts], Edit | None]] = {
    "load": _Prover.access,
    "store": _Prover.access,
    "index": _Prover.index,
    "check": _Prover.check,
    "cmp": _Prover.compare,
    "floordiv": _Prover.divide,
    "mod": _Prover.divide,
    "shl": _Prover.shift,
    "shr": _Prover.shift,
    **dict.fromkeys(_SUMS, _Prover.sum),
}


def report(function: Function, context: PassContext) -> None:
    """Note the checks that are left, for `explain`."""
    for op in function.body.walk():
        if op.name == "index" and op.attr("checked"):
            text = f"the index into axis {op.attr('axis')} is checked: it is not proven to be inside"
            context.note(PASS, DecisionKind.REMAINS, function, op, "bounds-check", text)
