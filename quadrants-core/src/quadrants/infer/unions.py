"""Results of several types: what an entry function returns when its paths do not agree.

Takes the types that are returned; gives one type for all of them, a union where they differ: the caller is the interpreter, which
takes a value of any type. (Inside compiled code a variable and a result have one type, see `merge`.)
"""

from __future__ import annotations

from collections.abc import Iterable

from quadrants.infer.merge import convert, generalise, is_text_type, join_types, zero
from quadrants.infer.values import Abstract, ConflictType
from quadrants.ir import Value
from quadrants.ir.builder import Builder
from quadrants.types import ArrayType, NoneType, OptionalType, Type, UnionType

#: More types than these are an error.
MAX_TYPES = 16


def union_of(types: Iterable[Type]) -> Type:
    """The type of a result that is of one of the types."""
    kinds: list[Type] = []
    for type_ in map(generalise, types):
        place = _place(kinds, type_)
        if place is None:
            kinds.append(type_)
        else:
            kinds[place] = join_types(kinds[place], type_)
    if len(kinds) == 2 and any(isinstance(kind, NoneType) for kind in kinds):
        (other,) = (kind for kind in kinds if not isinstance(kind, NoneType))
        return other if isinstance(other, OptionalType) else OptionalType(other)
    if len(kinds) == 1:
        return kinds[0]
    return UnionType(tuple(kinds)) if len(kinds) <= MAX_TYPES else ConflictType(tuple(kinds))


def _place(kinds: list[Type], type_: Type) -> int | None:
    """Which of the types one belongs to: itself, any string to strings, arrays to those of their dtype and rank."""
    for position, kind in enumerate(kinds):
        if kind == type_ or (is_text_type(kind) and is_text_type(type_)):
            return position
        if isinstance(kind, ArrayType) and isinstance(type_, ArrayType):
            if not isinstance(join_types(kind, type_), ConflictType):
                return position
    return None


def leaves_as(b: Builder, value: Abstract, result: Type) -> list[Value]:
    """The leaves of a returned value as one of the result's type."""
    if not isinstance(result, UnionType):
        return list(convert(b, value, result).leaves)
    chosen = _place(list(result.items), generalise(value.type))
    assert chosen is not None
    leaves = [b.i64(chosen)]
    for position, item in enumerate(result.items):
        part = convert(b, value, item) if position == chosen else zero(b, item)
        leaves += part.leaves
    return leaves
