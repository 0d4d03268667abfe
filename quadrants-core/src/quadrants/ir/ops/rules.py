"""Type rules, and the parts that they are made of. A rule raises TypeError with a message when the types do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Attr, AttrKind, TypeRule
from quadrants.types import I64, ArrayType, CellsType, ExcType, ObjectType, RefType, Scalar, StrType, Type
from quadrants.types.lanes import item_of

if TYPE_CHECKING:
    from quadrants.ir.core import Region

Types = Sequence[Type]
Attrs = dict[str, Any]
Regions = Sequence["Region"]

FAST = Attr("fast", AttrKind.STR, required=False, default="")
#: The floating-point mode of the op, where it is not that of its function.
MODE = Attr("fp", AttrKind.STR, required=False, default="", choices=("", "default", "strict", "fast"))
#: Which of the operands of a sum of two products to fuse with it, where products are fused: the first (1) or the second (2).
FUSED = Attr("fused", AttrKind.INT, required=False, default=0)
NOWRAP = Attr("nowrap", AttrKind.BOOL, required=False, default=False)


def is_scalar(type: Type) -> bool:
    """Whether it is a machine scalar."""
    return isinstance(type, Scalar) and not type.weak


def is_machine(type: Type) -> bool:
    """Whether a value of QIR may have the type."""
    if isinstance(type, ArrayType):
        return is_scalar(type.dtype)
    if isinstance(type, RefType):
        return not isinstance(type.item, RefType) and is_machine(type.item)
    if isinstance(type, CellsType):
        return is_scalar(type.dtype) or (isinstance(type.dtype, CellsType) and is_machine(type.dtype))
    return is_scalar(item_of(type)) or isinstance(type, (ExcType, ObjectType, StrType))


def is_int(type: Type) -> bool:
    return isinstance(type, Scalar) and not type.weak and type.is_integer


def is_float(type: Type) -> bool:
    return isinstance(type, Scalar) and not type.weak and type.is_float


def is_bool(type: Type) -> bool:
    return isinstance(type, Scalar) and not type.weak and type.is_bool


def is_complex(type: Type) -> bool:
    return isinstance(type, Scalar) and not type.weak and type.is_complex


def is_number(type: Type) -> bool:
    """Whether it is an integer or a float."""
    return is_int(type) or is_float(type)


def is_logical(type: Type) -> bool:
    """Whether it is an integer or a boolean."""
    return is_int(type) or is_bool(type)


def count(types: Types, expected: int) -> None:
    """Refuse another number of operands."""
    if len(types) != expected:
        raise TypeError(f"takes {expected} operand{'s' if expected != 1 else ''}, not {len(types)}")


def all_i64(types: Types, what: str) -> None:
    """Refuse anything but i64 among the operands called `what`."""
    for type in types:
        if type != I64:
            raise TypeError(f"{what} must be i64, not {type}")


def array(type: Type, what: str = "operand") -> ArrayType:
    """The type as an array type."""
    if not isinstance(type, ArrayType):
        raise TypeError(f"{what} must be an array, not {type}")
    return type


def attr_type(attrs: Attrs, name: str) -> Type:
    """The attribute as a type."""
    value = attrs.get(name)
    if not isinstance(value, Type):
        raise TypeError(f"attribute {name!r} must be a type, not {value!r}")
    return value


def attr_scalar(attrs: Attrs, name: str) -> Scalar:
    """The attribute as a machine scalar type."""
    value = attr_type(attrs, name)
    if not isinstance(value, Scalar) or value.weak:
        raise TypeError(f"attribute {name!r} must be a machine scalar type, not {value}")
    return value


def attr_types(attrs: Attrs, name: str) -> tuple[Type, ...]:
    """The attribute as a tuple of types."""
    value = attrs.get(name)
    if not isinstance(value, tuple) or not all(isinstance(item, Type) for item in value):
        raise TypeError(f"attribute {name!r} must be a tuple of types, not {value!r}")
    return value


def attr_int(attrs: Attrs, name: str) -> int:
    """The attribute as an int."""
    value = attrs.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"attribute {name!r} must be an int, not {value!r}")
    return value


def match_types(types: Types, expected: Types, what: str) -> None:
    """Refuse operand types that differ from the expected ones."""
    if tuple(types) != tuple(expected):
        raise TypeError(f"{what} must be ({', '.join(map(str, expected))}), not ({', '.join(map(str, types))})")


def same(arity: int, accepts: Callable[[Type], bool], words: str) -> TypeRule:
    """`arity` operands of one type, which `accepts`; the result has that type."""

    def rule(types: Types, attrs: Attrs, regions: Regions) -> tuple[Type, ...]:
        count(types, arity)
        if not accepts(types[0]):
            raise TypeError(f"takes {words}, not {types[0]}")
        for type in types[1:]:
            if type != types[0]:
                raise TypeError(f"operands must have one type, not {types[0]} and {type}")
        return (types[0],)

    return rule
