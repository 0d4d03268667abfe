"""The least or greatest of what a loop sees, with what goes along with it: `if x < best: best = x; place = i`.

Takes a `for` and where its values come from and go to; `find` gives the carried values that are such extremes, and those that go
along. Only strict comparisons count: then the first of equal ones wins, in each piece of a loop and among the pieces in order, and
a piece that saw nothing better than the neutral value changes nothing. A NaN is never better. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants._frozen import frozen
from quadrants.ir import Op, Value
from quadrants.types import Scalar

#: The kinds of extremes, and the comparison by which a value is better.
PREDICATES: Mapping[str, str] = {"least": "lt", "greatest": "gt"}
_SWAPPED = {"lt": "gt", "gt": "lt"}
_SAME = {"lt": "min", "gt": "max"}


@frozen(eq=False)
class Extreme:
    """A carried value by its index. `kind`: of `PREDICATES`; `along`: the indices of those that are set with it."""

    index: int
    kind: str
    along: tuple[int, ...]


def find(loop: Op, makers: Mapping[Value, Op], uses: Mapping[Value, list[tuple[Op, int]]]) -> list[Extreme]:
    """The extremes of a loop whose body ends in its only `continue`."""
    body = loop.regions[0]
    end = body.terminator
    if end is None or end.name != "continue" or end.attrs["label"] != loop.attrs["label"]:
        return []
    args = body.args[1:]
    following = [makers.get(value) for value in end.operands]
    found = []
    for index, (arg, maker) in enumerate(zip(args, following)):
        condition = _condition(arg, maker, makers, uses)
        if condition is None or not isinstance(arg.type, Scalar) or arg.type.is_complex:
            continue
        test, pred = condition
        along = [
            other
            for other, (value, chosen) in enumerate(zip(args, following))
            if other != index and _goes_along(value, chosen, test, uses)
        ]
        users = {op for op, _ in uses[test.result]}
        allowed = {following[other] for other in (index, *along)}
        if along and users <= allowed and all(_only(end.operands[k], end, uses) for k in (index, *along)):
            kind = next(name for name, predicate in PREDICATES.items() if predicate == pred)
            found.append(Extreme(index, kind, tuple(along)))
    return found


def _condition(
    arg: Value, maker: Op | None, makers: Mapping[Value, Op], uses: Mapping[Value, list[tuple[Op, int]]]
) -> tuple[Op, str] | None:
    """The comparison by which the next value of an extreme is chosen, as `new pred old`."""
    users = [op for op, _ in uses.get(arg, ())]
    if maker is None or maker not in users or len(users) != 2:
        return None
    test = users[0] if users[1] is maker else users[1]
    if test.name != "cmp":
        return None
    pred = str(test.attrs["pred"])
    new, old = test.operands
    if new is arg:
        new, old, pred = old, new, _SWAPPED.get(pred, "")
    if old is not arg or new is arg or pred not in _SAME:
        return None
    if maker.name == _SAME[pred] and maker.operands == [new, arg]:
        return test, pred
    if maker.name == "select" and maker.operands == [test.result, new, arg]:
        return test, pred
    return None


def _goes_along(arg: Value, maker: Op | None, test: Op, uses: Mapping[Value, list[tuple[Op, int]]]) -> bool:
    """Whether a carried value is set exactly where the comparison holds, and looked at by nothing else."""
    return (
        maker is not None
        and maker.name == "select"
        and maker.operands[0] is test.result
        and maker.operands[2] is arg
        and maker.operands[1] is not arg
        and isinstance(arg.type, Scalar)
        and [op for op, _ in uses.get(arg, ())] == [maker]
    )


def _only(value: Value, end: Op, uses: Mapping[Value, list[tuple[Op, int]]]) -> bool:
    return [op for op, _ in uses.get(value, ())] == [end]
