"""Types as a user would say them, for the texts of errors.

Takes a type; gives `float` for what came as a Python float, `float64` for the NumPy type, `array(float64, 2d, C)`,
`tuple(int, bool)`, `int or None`. (`str(type)` is the type's text in QIR.)
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable

from quadrants.infer.values import ClosureType, ConflictType, DisplayType, FunctionsType, MaybeType, SequenceType
from quadrants.types import (
    ArrayType,
    ChoiceType,
    ExcType,
    FormatType,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    ObjectType,
    OptionalType,
    RefType,
    Scalar,
    SliceType,
    StrType,
    TupleType,
    Type,
    UnionType,
)
from quadrants.types.names import SCALAR_NAMES


def type_name(type_: Type) -> str:
    """The type in a user's words."""
    rule = _RULES.get(type(type_))
    return rule(type_) if rule else str(type_)


def _scalar(type_: Scalar) -> str:
    return str(type_)[2:] if type_.weak else SCALAR_NAMES[type_]


def _array(type_: ArrayType) -> str:
    layout = {"C": ", C", "F": ", F", "A": ", strided"}[type_.layout] if type_.ndim else ""
    return f"array({_scalar(type_.dtype)}, {type_.ndim}d{layout}{', read-only' if type_.readonly else ''})"


def _literal(type_: LiteralType) -> str:
    value = type_.value
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, pytypes.ModuleType):
        return f"the module {value.__name__}"
    if callable(value):
        return f"the function {getattr(value, '__qualname__', value)!s}"
    return type(value).__name__


def _names(types: tuple[Type, ...]) -> str:
    return ", ".join(map(type_name, types))


_RULES: dict[type[Type], Callable[..., str]] = {
    Scalar: _scalar,
    ArrayType: _array,
    LiteralType: _literal,
    TupleType: lambda t: f"tuple({_names(t.items)})",
    NamedTupleType: lambda t: (
        f"{t.cls.__name__}({', '.join(f'{n}: {type_name(i)}' for n, i in zip(t.fields, t.items))})"
    ),
    NoneType: lambda t: "None",
    OptionalType: lambda t: f"{type_name(t.item)} or None",
    StrType: lambda t: "str",
    ListType: lambda t: f"list({type_name(t.item)})",
    UnionType: lambda t: " or ".join(map(type_name, t.items)),
    ChoiceType: lambda t: "str",
    ObjectType: lambda t: "an object of the interpreter",
    FormatType: lambda t: "str",
    SliceType: lambda t: "slice",
    ExcType: lambda t: "an exception",
    RefType: lambda t: type_name(t.item),
    DisplayType: lambda t: f"list({_names(t.items)})" if t.items else "an empty list",
    SequenceType: lambda t: f"a {t.kind.partition(':')[2]} object" if ":" in t.kind else f"a {t.kind} object",
    FunctionsType: lambda t: " or ".join(map(type_name, t.items)),
    ClosureType: lambda t: f"the function {t.code.co_qualname}",
    MaybeType: lambda t: f"{type_name(t.item)}, or not bound",
    ConflictType: lambda t: " or ".join(map(type_name, t.kinds)),
}
