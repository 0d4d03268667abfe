"""Classes and objects of the program, whose attributes compiled code may read: where those are kept, and whether they change."""

from __future__ import annotations

import gc
import types
from enum import EnumType
from typing import Any

_HEAP_TYPE = 1 << 9
_FIXED = ("numpy", "quadrants", "enum", "collections")


def is_programs_class(cls: type) -> bool:
    """Whether a class was made by a class statement of a program, so that its attributes may be other ones later."""
    return bool(cls.__flags__ & _HEAP_TYPE) and cls.__module__.partition(".")[0] not in _FIXED


def attributes_of(owner: object) -> dict[str, Any] | None:
    """The dict of the attributes of a class or an object, itself and not a view of it; None if there is none."""
    if isinstance(owner, type):
        return next((found for found in gc.get_referents(vars(owner)) if type(found) is dict), None)
    found = getattr(owner, "__dict__", None)
    return found if type(found) is dict else None


def changes_unnoticed(owner: object, namespace: dict[str, Any], raw: object) -> bool:
    """Whether an attribute can change with no way to notice: a slot, or an attribute of an object, whose place may be its body."""
    if isinstance(raw, types.MemberDescriptorType):
        return True
    return not isinstance(owner, type) and is_programs_class(type(owner)) and namespace is attributes_of(owner)


def attribute_place(owner: object, name: str) -> tuple[dict[str, Any], object] | None:
    """Where a program keeps an attribute of a class or an object, and what is there; None for attributes that never change."""
    cls = owner if isinstance(owner, type) else type(owner)
    if isinstance(cls, EnumType) or isinstance(owner, (types.FunctionType, types.ModuleType)):
        return None
    own = None if isinstance(owner, type) else attributes_of(owner)
    if own is not None and name in own:
        return own, own[name]
    for base in cls.__mro__:
        if name in vars(base):
            namespace = attributes_of(base) if is_programs_class(base) else None
            return None if namespace is None else (namespace, vars(base)[name])
    return None
