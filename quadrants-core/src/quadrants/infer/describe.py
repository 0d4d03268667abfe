"""Types as a user would say them, for the texts of errors.

Takes a type; gives `float` for what came as a Python float, `float64` for the NumPy type, `array(float64, 2d, C)`,
`tuple(int, bool)`, `int or None`. (`str(type)` is the type's text in QIR.)
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Sequence

from quadrants.infer.dicts import DictType
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
from quadrants.types.vectors import MatrixValue, TensorArg, VectorValue


def type_name(type_: Type) -> str:
    """The type in a user's words."""
    rule = _RULES.get(type(type_))
    return rule(type_) if rule else str(type_)


def type_names(types: Sequence[Type]) -> list[str]:
    """The types in a user's words; those that differ only in where their named tuples come from say so."""
    names = [type_name(type_) for type_ in types]
    alike = {name for name, type_ in zip(names, types) if any(n == name and t != type_ for n, t in zip(names, types))}
    return [
        f"{name} of {', '.join(_modules(type_))}" if name in alike and _modules(type_) else name
        for name, type_ in zip(names, types)
    ]


def _modules(type_: Type) -> list[str]:
    """The modules of the named tuples in a type."""
    item = getattr(type_, "item", None)
    found = [type_.cls.__module__] if isinstance(type_, NamedTupleType) else []
    for part in (*((item,) if isinstance(item, Type) else ()), *(getattr(type_, "items", None) or ())):
        found += _modules(part)
    return list(dict.fromkeys(found))


def _scalar(type_: Scalar) -> str:
    return str(type_)[2:] if type_.weak else SCALAR_NAMES[type_]


def _array(type_: ArrayType) -> str:
    layout = {"C": ", C", "F": ", F", "A": ", strided"}[type_.layout] if type_.ndim else ""
    access = ", partly read-only" if type_.mixed else ", read-only" if type_.readonly else ""
    return f"array({_scalar(type_.dtype)}, {type_.ndim}d{layout}{access})"


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


def _named(type_: NamedTupleType) -> str:
    """A named tuple by its class and fields; vectors, matrices and tensors of them as they are made."""
    if issubclass(type_.cls, VectorValue):
        return f"vector({len(type_.items)}, {type_name(type_.items[0])})"
    if issubclass(type_.cls, MatrixValue):
        row = type_.items[0]
        assert isinstance(row, NamedTupleType)
        return f"matrix({len(type_.items)}, {len(row.items)}, {type_name(row.items[0])})"
    if type_.cls is TensorArg:
        array, *sizes = type_.items
        assert isinstance(array, ArrayType)
        shape = [len(size.items) for size in sizes if isinstance(size, TupleType)]
        element = f"{'vector' if len(shape) == 1 else 'matrix'}({', '.join(map(str, shape))}, {_scalar(array.dtype)})"
        return f"tensor({element}, {array.ndim - len(shape)}d)"
    return f"{type_.cls.__name__}({', '.join(f'{n}: {type_name(i)}' for n, i in zip(type_.fields, type_.items))})"


def _object(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} object"


_RULES: dict[type[Type], Callable[..., str]] = {
    Scalar: _scalar,
    ArrayType: _array,
    LiteralType: _literal,
    TupleType: lambda t: f"tuple({_names(t.items)})",
    NamedTupleType: _named,
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
    SequenceType: lambda t: _object(t.kind.rpartition(":")[2]),
    DictType: lambda t: f"dict({', '.join(f'{k}: {type_name(i)}' for k, i in zip(t.keys, t.items))})",
    FunctionsType: lambda t: " or ".join(map(type_name, t.items)),
    ClosureType: lambda t: f"the function {t.code.co_qualname}",
    MaybeType: lambda t: f"{type_name(t.item)}, or not bound",
    ConflictType: lambda t: " or ".join(map(type_name, t.kinds)),
}
