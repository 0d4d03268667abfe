"""Structs as values: tuples with names, a class for each type of struct.

Takes the members of a struct, by name; gives a class whose objects are what compiled code takes and gives. `StructArg` is the
same for a field of structs: a tensor for each member.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


class Struct(tuple):
    """A struct; `struct_class` makes the class of a type."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *items: Any) -> Struct:
        return tuple.__new__(cls, items)

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Struct:
        return cls(*items)

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
        return f"{type(self).__name__}({members})"

    def to_dict(self) -> dict[str, Any]:
        """The members by name."""
        return dict(zip(self._fields, self))


class StructArg(Struct):
    """A field of structs, as compiled code takes it. `__quadrants_element__` is the class of its elements."""

    __slots__ = ()
    __quadrants_element__: type[Struct] = Struct


def struct_class(name: str, fields: tuple[str, ...], methods: dict[str, Any]) -> tuple[type[Struct], type[StructArg]]:
    """The class of the values of a struct, and that of its fields."""
    members: dict[str, Any] = {field: property(operator.itemgetter(k)) for k, field in enumerate(fields)}
    common = {"__slots__": (), "_fields": fields, "__module__": __name__}
    value = type(name, (Struct,), {**common, **members, **methods})
    arg = type(f"{name}Field", (StructArg,), {**common, "__quadrants_element__": value})
    return value, arg
