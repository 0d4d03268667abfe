"""Between Python values and the machine values that they are flattened into, for the reference interpreter.

A weak scalar is a Python number, another one a NumPy scalar; formatted strings are formatted here.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from quadrants.ir.values import InterpArray, canonical, zero
from quadrants.types import (
    ArrayType,
    ChoiceType,
    FormatHole,
    FormatType,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    OptionalType,
    Scalar,
    SliceType,
    TupleType,
    Type,
    UnionType,
)
from quadrants.types.dtypes import dtype_of

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "s": str, "r": repr, "a": ascii}


def resolve(name: str) -> Any:
    """The object called "module:qualname". Raises LookupError when there is none."""
    module_name, _, qualname = name.partition(":")
    try:
        module = sys.modules.get(module_name) or importlib.import_module(module_name)
        return reduce(getattr, qualname.split("."), module)
    except (ImportError, AttributeError) as error:
        raise LookupError(f"there is no {name}: {error}") from None


def name_of(cls: type) -> str:
    """The name that `resolve` takes."""
    return f"{cls.__module__}:{cls.__qualname__}"


def box(type: Type, leaves: Iterator[Any]) -> Any:
    """The Python value of the type, from the next of its leaves."""
    match type:
        case NoneType():
            return None
        case LiteralType():
            return type.value
        case TupleType():
            return tuple(box(item, leaves) for item in type.items)
        case NamedTupleType():
            return type.cls(*(box(item, leaves) for item in type.items))
        case OptionalType():
            present = next(leaves)
            value = box(type.item, leaves)
            return value if present else None
        case SliceType():
            return slice(box(type.start, leaves), box(type.stop, leaves), box(type.step, leaves))
        case ListType():
            columns = [next(leaves).items for _ in type.cells()]
            return [box(type.item, iter([column[k] for column in columns])) for k in range(len(columns[0]))]
        case UnionType():
            position = next(leaves)
            return [box(item, leaves) for item in type.items][position]
        case ChoiceType():
            return type.texts[next(leaves)]
        case FormatType():
            return "".join(_part(part, leaves) for part in type.parts)
        case Scalar():
            return _scalar(type, next(leaves))
    return next(leaves)


def _scalar(type: Scalar, value: Any) -> Any:
    if not type.weak:
        return dtype_of(type).type(value)
    return value if isinstance(value, (bool, int)) else value.item()


def _part(part: str | FormatHole, leaves: Iterator[Any]) -> str:
    if isinstance(part, str):
        return part
    value = box(part.type, leaves)
    if isinstance(value, InterpArray):
        value = value.numpy()
    return format(_CONVERSIONS[part.conversion](value), part.spec)


def unbox(type: Type, value: Any) -> tuple[Any, ...]:
    """The leaves of a Python value. Raises TypeError when it is not of the type."""
    match type:
        case NoneType() | LiteralType():
            return ()
        case TupleType() | NamedTupleType():
            if not isinstance(value, tuple) or len(value) != len(type.items):
                raise TypeError(f"{value!r} is not a {type}")
            return tuple(leaf for item, part in zip(type.items, value) for leaf in unbox(item, part))
        case OptionalType():
            if value is None:
                return (False, *(zero(leaf) for leaf in type.item.leaves()))
            return (True, *unbox(type.item, value))
        case SliceType():
            parts = ((type.start, value.start), (type.stop, value.stop), (type.step, value.step))
            return tuple(leaf for item, part in parts for leaf in unbox(item, part))
        case Scalar():
            if not isinstance(value, (bool, int, float, complex, np.generic)):
                raise TypeError(f"{value!r} is not a {type}")
            return (canonical(type.machine, value),)
        case ArrayType() if not isinstance(value, InterpArray):
            raise TypeError(f"{value!r} is not an {type}")
    return (value,)
