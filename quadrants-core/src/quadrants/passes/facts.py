"""What is known about integers at one point of a function: intervals, affine forms, and bounds of values by other
values.

A `Form` is a sum of values with integer coefficients, plus a constant. `Facts` gives each i64 value a form that equals
it modulo 2^64 and, where intervals show that nothing wraps, exactly. A bound says that a value is at least, or at most,
a form, in plain integers. `prove(form)` shows that a form is never negative by replacing values by their bounds. Bounds
are scoped: `mark` and `undo`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Op, Value
from quadrants.passes.fold import INVERSE
from quadrants.passes.forms import Form, constant, symbol
from quadrants.passes.intervals import I64_RANGE, Interval, range_of_dim, range_of_type, transfer
from quadrants.types import I64, ArrayType, Scalar

#: How many times a proof replaces a value by a bound, and how many bounds a value keeps on each side.
_DEPTH = 4
_BOUNDS = 8
_MAX_TERMS = 6
#: How many replacements one proof may try in all.
_FUEL = 20


def _array(value: Value) -> ArrayType:
    assert isinstance(value.type, ArrayType)
    return value.type


@record
class Facts:
    """The facts at a point. `trail` holds what undoes them."""

    intervals: dict[Value, Interval] = field(default_factory=dict)
    forms: dict[Value, Form] = field(default_factory=dict)
    lower: dict[Value, list[Form]] = field(default_factory=dict)
    upper: dict[Value, list[Form]] = field(default_factory=dict)
    makers: dict[Value, Op] = field(default_factory=dict)
    sizes: dict[tuple[Value, int], Value] = field(default_factory=dict)
    trail: list[Callable[[], object]] = field(default_factory=list)
    fuel: int = 0

    # Scopes

    def mark(self) -> int:
        return len(self.trail)

    def undo(self, mark: int) -> None:
        """Forget the bounds and the narrower intervals since the mark."""
        while len(self.trail) > mark:
            self.trail.pop()()

    # Questions

    def interval(self, value: Value) -> Interval | None:
        """The interval of an integer or boolean."""
        return self.intervals.get(value) or range_of_type(value.type)

    def range(self, value: Value) -> Interval:
        return self.interval(value) or I64_RANGE

    def span(self, form: Form) -> Interval:
        """The interval of a form, in plain integers."""
        lo = hi = form.const
        intervals = self.intervals
        for value, coefficient in form.terms.items():
            least, most = intervals.get(value) or self.range(value)
            if coefficient < 0:
                least, most = most, least
            lo += coefficient * least
            hi += coefficient * most
        return Interval(lo, hi)

    def exact(self, value: Value) -> Form:
        """A form that equals the value in plain integers."""
        form = self.forms.get(value)
        if form is not None and (not form.terms or self.span(form).within(I64_RANGE)):
            return form
        return symbol(value)

    def size(self, array: Value, axis: int) -> Form:
        """The array's size along an axis; a value of its own stands for it where its making does not tell."""
        maker = self.makers.get(array)
        if maker is not None and maker.name in ("alloc", "view"):
            return self.exact(maker.operands[axis if maker.name == "alloc" else 2 + axis])
        stand_in = self.sizes.get((array, axis))
        if stand_in is None:
            stand_in = self.sizes[array, axis] = Value(I64, "size")
            self.intervals[stand_in] = range_of_dim(_array(array))
        return symbol(stand_in)

    def prove(self, form: Form) -> bool:
        """Whether the form is never negative."""
        if self.span(form).lo >= 0:
            return True
        for depth in range(1, _DEPTH + 1):  # the shortest proof first: the search is wide
            self.fuel = _FUEL
            if self._prove(form, depth):
                return True
            if self.fuel == _FUEL:
                break
        return False

    def _prove(self, form: Form, depth: int) -> bool:
        if self.span(form).lo >= 0:
            return True
        if depth == 0 or not form.terms or len(form.terms) > _MAX_TERMS:
            return False
        for value, coefficient in form.terms.items():
            for bound in (self.lower if coefficient > 0 else self.upper).get(value, ()):
                better = form.replaced(value, bound)
                if len(better.terms) > len(form.terms):
                    continue
                self.fuel -= 1
                if self.fuel < 0:
                    return False
                if self._prove(better, depth - 1):
                    return True
        return False

    def decide(self, condition: Value) -> bool | None:
        """Whether the condition always holds, or never; None: not known."""
        span = self.range(condition)
        if span.lo == span.hi:
            return bool(span.lo)
        op = self.makers.get(condition)
        if op is None:
            return None
        if op.name == "not":
            inner = self.decide(op.operands[0])
            return None if inner is None else not inner
        if op.name in ("and", "or"):
            parts = [self.decide(operand) for operand in op.operands]
            settled = op.name == "or"
            return settled if settled in parts else None if None in parts else not settled
        if op.name != "cmp" or range_of_type(op.operands[0].type) is None:
            return None
        pred = str(op.attrs["pred"])
        if self._holds(pred, *op.operands):
            return True
        return False if self._holds(INVERSE[pred], *op.operands) else None

    def _holds(self, pred: str, left: Value, right: Value) -> bool:
        """Whether a comparison of integers always holds."""
        if pred in ("gt", "ge"):
            pred, left, right = pred.replace("g", "l"), right, left
        first, second = self.range(left), self.range(right)
        if pred == "ne" and (first.hi < second.lo or second.hi < first.lo):
            return True
        if left.type != I64:
            return {"lt": first.hi < second.lo, "le": first.hi <= second.lo}.get(
                pred, pred == "eq" and first.lo == first.hi == second.lo == second.hi
            )
        gap = self.exact(right).minus(self.exact(left))
        if pred == "eq":
            return not gap.terms and gap.const == 0
        if pred == "ne":
            return self.prove(gap.shift(-1)) or self.prove(gap.scale(-1).shift(-1))
        return self.prove(gap.shift(-1 if pred == "lt" else 0))

    def nonnegative(self, value: Value) -> bool:
        return self.range(value).lo >= 0 or self.prove(self.exact(value))

    # New facts

    def define(self, op: Op) -> None:
        """Record an op's result by its definition."""
        for result in op.results:
            self.makers[result] = op
        if len(op.results) != 1 or not isinstance(op.result.type, Scalar):
            return
        result = op.result
        if op.name == "const":
            value = op.attrs["value"]
            if isinstance(value, int):
                self.intervals[result] = Interval(int(value), int(value))
                self.forms[result] = constant(int(value))
        elif op.name == "dim":
            axis = op.attrs["axis"]
            assert isinstance(axis, int)
            self.forms[result] = self.size(op.operands[0], axis)
            self.intervals[result] = self.span(self.forms[result]).meet(range_of_dim(_array(op.operands[0])))
        else:
            found = transfer(op, [self.interval(operand) for operand in op.operands])
            if found is not None:
                self.intervals[result] = found
            if result.type == I64:
                self._define_form(op, result)

    def _define_form(self, op: Op, result: Value) -> None:
        form = self._form(op)
        if form is not None and len(form.terms) <= _MAX_TERMS:
            self.forms[result] = form
            span = self.span(form)
            if span.within(I64_RANGE):
                self.intervals[result] = self.range(result).meet(span)

    def _form(self, op: Op) -> Form | None:
        """The sum, difference or multiple as a form modulo 2^64."""
        if op.name not in ("add", "sub", "mul", "neg"):
            return None
        forms = [self.forms.get(operand) or symbol(operand) for operand in op.operands]
        if op.name == "neg":
            return forms[0].scale(-1)
        if op.name == "add":
            return forms[0].plus(forms[1])
        if op.name == "sub":
            return forms[0].minus(forms[1])
        for one, other in ((forms[0], forms[1]), (forms[1], forms[0])):
            if not one.terms and abs(one.const) < 1 << 32:
                return other.scale(one.const)
        return None

    def narrow(self, value: Value, interval: Interval) -> None:
        """The value is in the interval, from here on."""
        before = self.intervals.get(value)
        after = self.range(value).meet(interval)
        if after != before:
            self.intervals[value] = after
            self.trail.append(lambda: self._restore(value, before))

    def _restore(self, value: Value, before: Interval | None) -> None:
        if before is None:
            del self.intervals[value]
        else:
            self.intervals[value] = before

    def bound(self, value: Value, form: Form, *, above: bool) -> None:
        """The value is at most (`above`) or at least the form, from here on."""
        table = self.upper if above else self.lower
        bounds = table.setdefault(value, [])
        if value in form.terms or any(
            form.terms == other.terms and (form.const >= other.const if above else form.const <= other.const)
            for other in bounds
        ):
            return
        bounds.insert(0, form)
        dropped = bounds.pop() if len(bounds) > _BOUNDS else None
        self.trail.append(lambda: self._unbound(bounds, dropped))
        span = self.span(form)
        self.narrow(
            value, Interval(I64_RANGE.lo, max(span.hi, I64_RANGE.lo)) if above else Interval(span.lo, I64_RANGE.hi)
        )

    @staticmethod
    def _unbound(bounds: list[Form], dropped: Form | None) -> None:
        bounds.pop(0)
        if dropped is not None:
            bounds.append(dropped)

    def assume_nonnegative(self, form: Form) -> None:
        """The form is not negative, from here on: a bound for each of its values with the coefficient 1 or -1."""
        for value, coefficient in form.terms.items():
            rest = form.plus(symbol(value), -coefficient)
            if coefficient == 1:
                self.bound(value, rest.scale(-1), above=False)
            elif coefficient == -1:
                self.bound(value, rest, above=True)

    def assume_at_most(self, left: Value, right: Value, slack: int = 0) -> None:
        """`left + slack <= right`, from here on."""
        self.assume_nonnegative(self.exact(right).minus(self.exact(left)).shift(-slack))
        first, second = self.range(left), self.range(right)
        self.narrow(left, Interval(first.lo, max(second.hi - slack, first.lo)))
        self.narrow(right, Interval(min(first.lo + slack, second.hi), second.hi))

    def assume(self, condition: Value, holds: bool) -> None:
        """A condition holds, or does not, from here on."""
        op = self.makers.get(condition)
        if op is None:
            return
        if op.name == "not":
            self.assume(op.operands[0], not holds)
        elif op.name == ("and" if holds else "or"):
            self.assume(op.operands[0], holds)
            self.assume(op.operands[1], holds)
        elif op.name == "if":
            self._assume_branch(op, condition, holds)
        elif op.name == "cmp":
            pred = str(op.attrs["pred"])
            self._assume_cmp(pred if holds else INVERSE[pred], *op.operands)

    def _assume_branch(self, op: Op, condition: Value, holds: bool) -> None:
        """The condition is a result of an `if`: where only one branch can give it, that one was taken."""
        index = op.results.index(condition)
        ends = [region.terminator for region in op.regions]
        given = [end.operands[index] if end is not None and end.name == "yield" else None for end in ends]
        able = [value is not None and self.range(value) != Interval(int(not holds), int(not holds)) for value in given]
        if able.count(True) == 1:
            taken = able.index(True)
            self.assume(op.operands[0], taken == 0)
            value = given[taken]
            assert value is not None
            self.assume(value, holds)

    def _assume_cmp(self, pred: str, left: Value, right: Value) -> None:
        if range_of_type(left.type) is None:
            return
        if pred in ("gt", "ge"):
            pred, left, right = pred.replace("g", "l"), right, left
        if pred == "ne":
            for one, other in ((left, right), (right, left)):
                spot, whole = self.range(other), self.range(one)
                if spot.lo == spot.hi == whole.lo:
                    self.narrow(one, Interval(min(whole.lo + 1, whole.hi), whole.hi))
                elif spot.lo == spot.hi == whole.hi:
                    self.narrow(one, Interval(whole.lo, max(whole.hi - 1, whole.lo)))
            return
        if left.type == I64:
            self.assume_at_most(left, right, 1 if pred == "lt" else 0)
            if pred == "eq":
                self.assume_at_most(right, left)
            return
        first, second = self.range(left), self.range(right)
        slack = 1 if pred == "lt" else 0
        self.narrow(left, Interval(first.lo, max(second.hi - slack, first.lo)))
        self.narrow(right, Interval(min(first.lo + slack, second.hi), second.hi))
        if pred == "eq":
            self.narrow(left, second)
            self.narrow(right, first)
