"""Mutable variables inside one function: they carry what a `try` body assigned to its handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.values import Variable
from quadrants.types import RefType, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def _reference(type: Type) -> RefType:
    if not isinstance(type, RefType):
        raise TypeError(f"the first operand must be a variable, not {type}")
    return type


def _var(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    if isinstance(types[0], RefType) or not rules.is_machine(types[0]):
        raise TypeError(f"a variable holds a machine type, not {types[0]}")
    return (RefType(types[0]),)


def _get(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    return (_reference(types[0]).item,)


def _set(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    item = _reference(types[0]).item
    if types[1] != item:
        raise TypeError(f"sets a variable of {item} to {types[1]}")
    return ()


def _change(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    values[0].value = values[1]
    return ()


DEFS = (
    OpDef(
        "var",
        _var,
        reference=lambda op, values: (Variable(values[0]),),
        effects=Effect.ALLOCATES,
        doc="A new variable that holds the operand. It never leaves the function, and is neither yielded nor carried.",
        derivative="a variable for the derivative",
    ),
    OpDef(
        "var.get",
        _get,
        reference=lambda op, values: (values[0].value,),
        effects=Effect.READS,
        doc="What the variable holds.",
        derivative="var.get of the derivative",
    ),
    OpDef(
        "var.set",
        _set,
        reference=_change,
        effects=Effect.WRITES,
        doc="Let the variable hold the value.",
        derivative="var.set of the derivative",
    ),
)
