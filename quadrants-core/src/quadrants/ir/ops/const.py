"""Constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Attr, AttrKind, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.values import canonical, zero
from quadrants.types import RefType, Scalar, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def _const(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    scalar = rules.attr_scalar(attrs, "type")
    if (message := misfit(attrs.get("value"), scalar)) is not None:
        raise TypeError(message)
    return (scalar,)


def _zero(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    type = rules.attr_type(attrs, "type")
    if isinstance(type, RefType) or not rules.is_machine(type):
        raise TypeError(f"attribute 'type' must be a machine type, not {type}")
    return (type,)


def _const_value(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (canonical(op.attrs["type"], op.attrs["value"]),)  # type: ignore[arg-type]


def _zero_value(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (zero(op.attrs["type"]),)  # type: ignore[arg-type]


def misfit(value: object, type: Scalar) -> str | None:
    """Why `value` is no constant of the type, or None if it is one."""
    if type.is_bool:
        fits = isinstance(value, bool)
    elif type.is_integer:
        fits = isinstance(value, int) and not isinstance(value, bool)
        if fits and isinstance(value, int):
            low = -(1 << (type.bits - 1)) if type.is_signed else 0
            fits = low <= value < low + (1 << type.bits)
    elif type.is_float:
        fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    else:
        fits = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return None if fits else f"{value!r} is not a constant of type {type}"


DEFS = (
    OpDef(
        "const",
        _const,
        reference=_const_value,
        attrs=(Attr("value", AttrKind.NUMBER), Attr("type", AttrKind.TYPE)),
        doc="The value, rounded to the type. Ints are in the range of the type.",
        derivative="zero",
    ),
    OpDef(
        "zero",
        _zero,
        reference=_zero_value,
        attrs=(Attr("type", AttrKind.TYPE),),
        doc="The zero value of any machine type: 0, False, no exception, no string, or an array without memory, all dims 0.",
        derivative="zero",
    ),
)
