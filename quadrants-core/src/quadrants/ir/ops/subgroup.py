"""What the lanes of a subgroup do together: shuffles, votes, reductions, scans.

Only the lanes that arrive at the op together take part ("active"). A value from a lane that is not active, or past the end of the
subgroup, is the reader's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.ops.device import COMBINE
from quadrants.ir.ops.semantics import operand_scalar
from quadrants.ir.values import canonical
from quadrants.types import BOOL, I32, U64, Scalar, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op
    from quadrants.ir.threads import Group

SHUFFLES = ("index", "up", "down", "xor")
VOTES = ("all", "any", "equal")
#: What `subgroup.reduce` and `subgroup.scan` combine with.
REDUCTIONS = ("add", "mul", "min", "max", "and", "or", "xor")
_BITWISE = ("and", "or", "xor")
_NONE = "none: integers"
_TRUTH = "none: a truth value"

_REDUCE = Attr("op", AttrKind.STR, choices=REDUCTIONS)


def _scalar(type: Type) -> Scalar:
    if not rules.is_scalar(type) or not isinstance(type, Scalar) or type.is_complex:
        raise TypeError(f"takes a real number or a boolean, not {type}")
    return type


def _i32(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return (I32,)


def _shuffle(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    if types[1] != I32:
        raise TypeError(f"the lane must be i32, not {types[1]}")
    return (_scalar(types[0]),)


def _vote(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    if attrs.get("mode") != "equal" and types[0] != BOOL:
        raise TypeError(f"takes a boolean, not {types[0]}")
    _scalar(types[0])
    return (BOOL,)


def _mask(*operands: Callable[[Type], object]) -> rules.TypeRule:
    def rule(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
        rules.count(types, len(operands))
        for check, type in zip(operands, types):
            check(type)
        return (U64,)

    return rule


def _bool(type: Type) -> None:
    if type != BOOL:
        raise TypeError(f"takes a boolean, not {type}")


def _elect(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return (BOOL,)


def _same(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    return (_scalar(types[0]),)


def _combined(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    fits = rules.is_int if attrs.get("op") in _BITWISE else rules.is_number
    if not fits(types[0]):
        raise TypeError(f"{attrs.get('op')} does not combine {types[0]}")
    return (types[0],)


def _nothing(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return ()


# Semantics

#: (lane, operand, lanes of a subgroup) -> the lane that is read; outside of the subgroup: none.
SOURCES: dict[str, Callable[[int, int, int], int]] = {
    "index": lambda lane, operand, size: operand % size,
    "up": lambda lane, operand, size: lane - operand,
    "down": lambda lane, operand, size: lane + operand,
    "xor": lambda lane, operand, size: lane ^ operand,
}


def _do_shuffle(op: Op, group: Group) -> list[tuple[Any, ...]]:
    source = SOURCES[str(op.attrs["mode"])]
    held = {thread.lane: values[0] for thread, values in zip(group.threads, group.values)}
    size = group.threads[0].geometry.subgroup
    return [
        (held.get(source(thread.lane, values[1], size), values[0]),)
        for thread, values in zip(group.threads, group.values)
    ]


def _key(value: Any) -> Any:
    return value if isinstance(value, int) else value.tobytes()


def _do_vote(op: Op, group: Group) -> list[tuple[Any, ...]]:
    column = group.column()
    vote = {"all": all, "any": any, "equal": lambda c: len(set(map(_key, c))) == 1}[str(op.attrs["mode"])]
    return [(bool(vote(column)),)] * len(column)


def _do_ballot(op: Op, group: Group) -> list[tuple[Any, ...]]:
    return [(group.mask(group.column()),)] * len(group.threads)


def _do_match(op: Op, group: Group) -> list[tuple[Any, ...]]:
    keys = [_key(value) for value in group.column()]
    return [(group.mask([other == key for other in keys]),) for key in keys]


def combine(op: Op, a: Any, b: Any) -> Any:
    """Two values combined, rounded or wrapped to their type."""
    with np.errstate(all="ignore"):
        return canonical(operand_scalar(op), COMBINE[str(op.attrs["op"])](a, b))


def fold_halves(op: Op, lanes: dict[int, Any], size: int) -> Any:
    """The lanes combined as a butterfly does: with the one at distance size/2, then size/4, and so on to 1."""
    held = [lanes.get(lane) for lane in range(size)]
    while len(held) > 1:
        half = len(held) // 2
        pairs = zip(held[:half], held[half:])
        held = [b if a is None else a if b is None else combine(op, a, b) for a, b in pairs]
    return held[0]


def _do_reduce(op: Op, group: Group) -> list[tuple[Any, ...]]:
    lanes = {thread.lane: value for thread, value in zip(group.threads, group.column())}
    return [(fold_halves(op, lanes, group.threads[0].geometry.subgroup),)] * len(lanes)


def identity(op: Op) -> Any:
    """What leaves every other value as it is."""
    type = operand_scalar(op)
    what = str(op.attrs["op"])
    if what in ("min", "max"):
        if type.is_float:
            return canonical(type, np.inf if what == "min" else -np.inf)
        low = -(1 << (type.bits - 1)) if type.is_signed else 0
        return (low + (1 << type.bits) - 1) if what == "min" else low
    return canonical(type, {"mul": 1, "and": -1}.get(what, 0))


def _do_scan(op: Op, group: Group) -> list[tuple[Any, ...]]:
    column = group.column()
    results: list[tuple[Any, ...]] = []
    before = identity(op)
    for position, value in enumerate(column):
        after = value if position == 0 else combine(op, before, value)
        results.append((after if op.attrs["inclusive"] else before,))
        before = after
    return results


def _release_all(op: Op, group: Group) -> list[tuple[Any, ...]]:
    return [()] * len(group.threads)


_COLLECTIVE = Effect.COLLECTIVE

DEFS = (
    OpDef(
        "lane.index",
        _i32,
        on_thread=lambda op, thread, values: (thread.lane,),
        doc="The thread's place in its subgroup.",
        derivative=_NONE,
    ),
    OpDef(
        "lane.count",
        _i32,
        on_thread=lambda op, thread, values: (thread.geometry.subgroup,),
        doc="How many lanes a full subgroup has.",
        derivative=_NONE,
    ),
    OpDef(
        "shuffle",
        _shuffle,
        on_group=_do_shuffle,
        effects=_COLLECTIVE,
        attrs=(Attr("mode", AttrKind.STR, choices=SHUFFLES),),
        doc="The value of another lane: (value, n). `index`: of lane n modulo the size; `up`: lane - n; `down`: lane + n; `xor`: "
        "lane ^ n.",
        derivative="the transposed shuffle",
    ),
    OpDef(
        "vote",
        _vote,
        on_group=_do_vote,
        effects=_COLLECTIVE,
        attrs=(Attr("mode", AttrKind.STR, choices=VOTES),),
        doc="Whether the operand is true for `all` or `any` active lanes, or `equal` (bit for bit) in all of them.",
        derivative=_TRUTH,
    ),
    OpDef(
        "ballot",
        _mask(_bool),
        on_group=_do_ballot,
        effects=_COLLECTIVE,
        doc="The active lanes with a true operand, as bits.",
        derivative=_NONE,
    ),
    OpDef(
        "lane.match",
        _mask(_scalar),
        on_group=_do_match,
        effects=_COLLECTIVE,
        doc="The active lanes that hold the same value, bit for bit, as bits.",
        derivative=_NONE,
    ),
    OpDef(
        "lane.active",
        _mask(),
        on_group=lambda op, group: [(group.mask(),)] * len(group.threads),
        effects=_COLLECTIVE,
        doc="The active lanes, as bits.",
        derivative=_NONE,
    ),
    OpDef(
        "lane.elect",
        _elect,
        on_group=lambda op, group: [(thread is group.threads[0],) for thread in group.threads],
        effects=_COLLECTIVE,
        doc="True in the first active lane only.",
        derivative=_TRUTH,
    ),
    OpDef(
        "lane.first",
        _same,
        on_group=lambda op, group: [group.values[0]] * len(group.threads),
        effects=_COLLECTIVE,
        doc="The value of the first active lane.",
        derivative="the sum of the derivatives, in the first active lane",
    ),
    OpDef(
        "subgroup.reduce",
        _combined,
        on_group=_do_reduce,
        effects=_COLLECTIVE,
        attrs=(_REDUCE,),
        doc="The values of the active lanes combined, as a butterfly of shuffles does, in every lane. `min` and `max` of floats "
        "prefer a number to NaN.",
        derivative="for add: subgroup.reduce of the derivative; else none",
    ),
    OpDef(
        "subgroup.scan",
        _combined,
        on_group=_do_scan,
        effects=_COLLECTIVE,
        attrs=(_REDUCE, Attr("inclusive", AttrKind.BOOL)),
        doc="The values of the active lanes before this one combined, with its own if `inclusive`; in order (a device may "
        "associate otherwise). The first lane's exclusive result is what leaves every other value as it is.",
        derivative="for add: the reverse scan of the derivative; else none",
    ),
    OpDef(
        "subgroup.barrier",
        _nothing,
        on_group=_release_all,
        effects=Effect.READS | Effect.WRITES | Effect.COLLECTIVE,
        doc="Makes what the lanes of the subgroup have written visible to each other.",
        derivative="subgroup.barrier",
    ),
)
