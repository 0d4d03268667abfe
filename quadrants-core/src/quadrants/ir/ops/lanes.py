"""Lanes: scalars of several turns of a loop side by side, and accesses to memory by all of them under a mask.

A mask is one truth value a lane. The lanes that are off access nothing: their indices may be anything, and what they load is 0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.values import InterpArray, Undefined, canonical, wrap
from quadrants.types import BOOL, I64, ArrayType, LanesType, Scalar, Type
from quadrants.types.lanes import item_of

if TYPE_CHECKING:
    from quadrants.ir.core import Op

#: More lanes than any processor has.
MOST = 256

REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "min": lambda a, b: a if a < b else b,
    "max": lambda a, b: a if a > b else b,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def _lanes(type: Type, what: str = "the operand") -> LanesType:
    if not isinstance(type, LanesType):
        raise TypeError(f"{what} must be lanes, not {type}")
    return type


def _count(attrs: rules.Attrs) -> int:
    count = rules.attr_int(attrs, "count")
    if not 1 <= count <= MOST:
        raise TypeError(f"attribute 'count' must be from 1 to {MOST}, not {count}")
    return count


def _splat(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    if not isinstance(types[0], Scalar) or not rules.is_scalar(types[0]):
        raise TypeError(f"takes a scalar, not {types[0]}")
    return (LanesType(types[0], _count(attrs)),)


def _index(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return (LanesType(I64, _count(attrs)),)


def _test(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    if _lanes(types[0]).item != BOOL:
        raise TypeError(f"takes truth values, not {types[0]}")
    return (BOOL,)


def _reduce(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    lanes = _lanes(types[0])
    kind = attrs.get("kind")
    if kind in ("and", "or", "xor"):
        fits = rules.is_logical(lanes.item)
    else:
        fits = kind in REDUCTIONS and rules.is_number(lanes.item)
    if not fits:
        raise TypeError(f"{kind!r} does not reduce {lanes}")
    if lanes.count & (lanes.count - 1):
        raise TypeError(f"reduces a power of 2 of lanes, not {lanes.count}")
    return (lanes.item,)


def _extract(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    rules.all_i64(types[1:], "the lane")
    return (_lanes(types[0]).item,)


def _pick(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not types or any(type != types[0] for type in types):
        raise TypeError("takes lanes of one type")
    lanes, places = _lanes(types[0]), attrs.get("places")
    if not isinstance(places, tuple) or len(places) != lanes.count:
        raise TypeError(f"attribute 'places' must be {lanes.count} places")
    if not all(isinstance(place, int) and 0 <= place < len(types) * lanes.count for place in places):
        raise TypeError("a place is behind the last lane")
    return (lanes,)


def _place(mask: Type, array: Type, indices: rules.Types) -> ArrayType:
    """The array of an access under a mask; the number of lanes is that of the mask."""
    lanes = _lanes(mask, "the mask")
    if lanes.item != BOOL:
        raise TypeError(f"the mask must be truth values, not {lanes}")
    found = rules.array(array)
    if len(indices) != found.ndim:
        raise TypeError(f"{found} takes {found.ndim} indices, not {len(indices)}")
    for index in indices:
        if item_of(index) != I64 or (isinstance(index, LanesType) and index.count != lanes.count):
            raise TypeError(f"an index must be i64, or {LanesType(I64, lanes.count)}, not {index}")
    return found


def _strided(array: ArrayType, attrs: rules.Attrs, indices: rules.Types) -> None:
    axis = rules.attr_int(attrs, "axis")
    rules.attr_int(attrs, "step")
    if not 0 <= axis < array.ndim:
        raise TypeError(f"axis {axis} of {array}")
    rules.all_i64(indices, "an index")


def _load(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    array = _gathered(types)
    _strided(array, attrs, types[2:])
    return (LanesType(array.dtype, _lanes(types[0]).count),)


def _gather(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    return (LanesType(_gathered(types).dtype, _lanes(types[0]).count),)


def _gathered(types: rules.Types) -> ArrayType:
    if len(types) < 2:
        raise TypeError("takes a mask, an array and its indices")
    return _place(types[0], types[1], types[2:])


def _store(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    _strided(_scattered(types), attrs, types[3:])
    return ()


def _scatter(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    _scattered(types)
    return ()


def _scattered(types: rules.Types) -> ArrayType:
    if len(types) < 3:
        raise TypeError("takes values, a mask, an array and its indices")
    array = _place(types[1], types[2], types[3:])
    expected = LanesType(array.dtype, _lanes(types[1]).count)
    if types[0] != expected:
        raise TypeError(f"stores {types[0]} into {array}, not {expected}")
    if array.readonly:
        raise TypeError(f"stores into {array}, which is read-only")
    return array


# Semantics


def fold(kind: str, item: Scalar, values: tuple[Any, ...]) -> Any:
    """The upper half onto the lower one, until one lane is left: the order of floating-point reductions."""
    combine = REDUCTIONS[kind]
    while len(values) > 1:
        half = len(values) // 2
        values = tuple(combine(a, b) for a, b in zip(values[:half], values[half:]))
        if item.is_integer:
            values = tuple(wrap(value, item) for value in values)
    return values[0]


def _fold(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    lanes = op.operands[0].type
    assert isinstance(lanes, LanesType)
    return (fold(str(op.attrs["kind"]), lanes.item, values[0]),)


def _one(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    lanes, index = values
    if not 0 <= index < len(lanes):
        raise Undefined(f"lane {index} of {len(lanes)}")
    return (lanes[index],)


def _picked(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    row = [lane for lanes in values for lane in lanes]
    return (tuple(row[place] for place in op.attrs["places"]),)  # type: ignore[attr-defined]


def _places(op: Op, mask: tuple[bool, ...], indices: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """The element of each lane."""
    places = []
    for lane in range(len(mask)):
        place = [index[lane] if isinstance(index, tuple) else index for index in indices]
        if "axis" in op.attrs:
            place[op.attrs["axis"]] += lane * op.attrs["step"]  # type: ignore[call-overload, operator]
        places.append(tuple(place))
    return places


def _read(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    mask, array, *indices = values
    assert isinstance(array, InterpArray)
    nothing = canonical(array.type.dtype, 0)
    places = _places(op, mask, tuple(indices))
    return (tuple(array.load(place) if on else nothing for on, place in zip(mask, places)),)


def _write(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    stored, mask, array, *indices = values
    for value, on, place in zip(stored, mask, _places(op, mask, tuple(indices))):
        if on:
            array.store(value, place)
    return ()


_COUNT = (Attr("count", AttrKind.INT),)
_STRIDED = (Attr("axis", AttrKind.INT), Attr("step", AttrKind.INT))
_LATE = "none: made after differentiation"

DEFS = (
    OpDef(
        "lanes.splat",
        _splat,
        reference=lambda op, values: (tuple(values) * op.attrs["count"],),  # type: ignore[operator]
        attrs=_COUNT,
        doc="The scalar in each of `count` lanes.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.index",
        _index,
        reference=lambda op, values: (tuple(range(op.attrs["count"])),),  # type: ignore[call-overload]
        attrs=_COUNT,
        doc="The number of each lane, from 0.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.any",
        _test,
        reference=lambda op, values: (any(values[0]),),
        doc="Whether it is true in some lane.",
        derivative="none: a truth value",
    ),
    OpDef(
        "lanes.all",
        _test,
        reference=lambda op, values: (all(values[0]),),
        doc="Whether it is true in every lane.",
        derivative="none: a truth value",
    ),
    OpDef(
        "lanes.reduce",
        _reduce,
        reference=_fold,
        attrs=(Attr("kind", AttrKind.STR, choices=tuple(REDUCTIONS)),),
        doc="All lanes combined: the upper half onto the lower one, until one is left. Integers wrap.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.extract",
        _extract,
        reference=_one,
        doc="One lane. There is a lane of that number: promised by the maker.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.pick",
        _pick,
        reference=_picked,
        attrs=(Attr("places", AttrKind.INTS),),
        doc="Of several lanes in a row, those at the `places` (as many as one has), counted from 0 over all of them.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.load",
        _load,
        reference=_read,
        effects=Effect.READS,
        attrs=_STRIDED,
        doc="(mask, array, indices): lane k reads the element at the indices with k times `step` added along `axis`. "
        "That they are in range in the lanes that are on is promised by the maker, here and below.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.store",
        _store,
        reference=_write,
        effects=Effect.WRITES,
        attrs=_STRIDED,
        doc="(values, mask, array, indices): as `lanes.load`. Of two lanes that write the same element the later one counts.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.gather",
        _gather,
        reference=_read,
        effects=Effect.READS,
        doc="(mask, array, indices): each lane reads an element of its own; an index may also be one for all lanes.",
        derivative=_LATE,
    ),
    OpDef(
        "lanes.scatter",
        _scatter,
        reference=_write,
        effects=Effect.WRITES,
        doc="(values, mask, array, indices): each lane writes an element of its own; of two that write the same the later counts.",
        derivative=_LATE,
    ),
)
