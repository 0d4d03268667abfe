"""The best of all turns, and what belongs to it: `if value > best: best, where = value, i`.

Takes a loop that goes upward; finds carried values of that kind. Every lane keeps the best of its own turns, what belongs to
it, and the turn; behind the chunks the lanes are compared one after the other. Of equal ones the first turn counts (for `>=` the
last), as in the loop; a value that is no number is never better. So the result is exact, for floats too.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants._frozen import frozen
from quadrants.ir import Op, Value
from quadrants.ir.builder import Builder, region_with_args
from quadrants.ir.ops import OPS
from quadrants.types import I64, Scalar

_TURNED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}
_FOLDS = {"gt": "max", "lt": "min"}
#: The turn of what the lanes begin with: before all others.
_BEFORE = -(1 << 63)


@frozen(eq=False)
class Extreme:
    """A best value, by its place among the carried ones.

    Args:
        best: the place of the value.
        pred: how a better one compares with it.
        others: the places of what belongs to it.
        test: the comparison.
    """

    best: int
    pred: str
    others: tuple[int, ...]
    test: Op

    @property
    def places(self) -> tuple[int, ...]:
        return (self.best, *self.others)


def find(loop: Op, uses: Mapping[Value, list[Op]]) -> list[Extreme]:
    """The best values that a loop carries."""
    body = loop.regions[0]
    label = loop.attrs["label"]
    ends = [op for op in body.walk() if op.name == "continue" and op.attrs["label"] == label]
    if ends != [body.ops[-1]]:
        return []
    makers = {result: op for op in body.ops for result in op.results}
    args, following = body.args[1:], ends[0].operands
    found = []
    for place, arg in enumerate(args):
        tests = [op for op in uses.get(arg, ()) if op.name == "cmp" and op in body.ops]
        if len(tests) != 1 or not isinstance(arg.type, Scalar) or arg.type.is_complex or arg.type.is_bool:
            continue
        test = tests[0]
        value, pred = test.operands[0], str(test.attrs["pred"])
        if value is arg:
            value, pred = test.operands[1], _TURNED.get(pred, "")
        chosen = _choice(following[place], makers, test, pred)
        if pred not in _TURNED or chosen is None or chosen[:2] != (value, arg) or uses[arg] != [test, chosen[2]]:
            continue
        others = []
        for other, candidate in enumerate(args):
            choice = _choice(following[other], makers, test, "")
            if other != place and choice is not None and choice[1] is candidate and uses[candidate] == [choice[2]]:
                others.append(other)
        found.append(Extreme(place, pred, tuple(others), test))
    return found


def _choice(value: Value, makers: Mapping[Value, Op], test: Op, pred: str) -> tuple[Value, Value, Op] | None:
    """What a value is where the test holds, what it is else, and the op that hands on the latter."""
    op = makers.get(value)
    if op is None:
        return None
    if op.name == _FOLDS.get(pred):
        return op.operands[0], op.operands[1], op
    if op.name not in ("select", "if") or op.operands[0] is not test.result:
        return None
    if op.name == "select":
        return op.operands[1], op.operands[2], op
    yes, no = (region.ops[-1] for region in op.regions)
    if yes.name != "yield" or no.name != "yield":
        return None
    index = op.results.index(value)
    return yes.operands[index], no.operands[index], no


def add_turn(code: Op, extreme: Extreme) -> None:
    """Let a copy of the loop carry the turn of the best value, too."""
    body = code.regions[0]
    end = body.ops[-1]
    when = Value(I64, "when")
    made = Op(OPS["select"], [extreme.test.result, body.args[0], when], [Value(I64)], {}, [], extreme.test.loc)
    body.args.append(when)
    body.ops.insert(len(body.ops) - 1, made)
    end.operands.append(made.result)


def before(b: Builder) -> Value:
    """The turn that the lanes begin with."""
    return b.i64(_BEFORE)


def fold(b: Builder, extreme: Extreme, inits: list[Value], lanes: list[Value], count: int, label: int) -> list[Value]:
    """The best value of all lanes and what belongs to it. `inits`: what the lanes began with; `lanes`: also the turns."""
    region = region_with_args([I64, *(init.type for init in inits), I64])
    lane, best, *_, when = region.args
    with b.into(region):
        own = [b.value("lanes.extract", value, lane) for value in lanes]
        strict = extreme.pred in ("gt", "lt")
        better = b.value("cmp", own[0], best, pred=extreme.pred if strict else extreme.pred.replace("e", "t"))
        equal = b.value("cmp", own[0], best, pred="eq")
        first = b.value("cmp", own[-1], when, pred="lt" if strict else "gt")
        better = b.value("or", better, b.value("and", equal, first))
        chosen = [b.value("select", better, new, old) for new, old in zip(own, region.args[1:])]
        b.op("continue", *chosen, label=label)
    found = b.op("for", b.i64(0), b.i64(count), b.i64(1), *inits, before(b), regions=[region], label=label)
    return found.results[:-1]
