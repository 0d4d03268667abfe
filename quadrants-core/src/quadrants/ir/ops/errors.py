"""Checks and exceptions. A class is named "module:qualname". A raising op leaves to the enclosing `try`, or out of the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.ir.boxing import box, resolve
from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.ops.memory import CHECKED, WRAP, element_index
from quadrants.ir.values import Raised
from quadrants.types import BOOL, EXC, I64, TupleType, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def _class_name(attrs: rules.Attrs) -> None:
    name = attrs.get("exc")
    if not isinstance(name, str) or name.count(":") != 1:
        raise TypeError(f"attribute 'exc' must be \"module:qualname\", not {name!r}")


def _arguments(types: rules.Types, attrs: rules.Attrs) -> None:
    _class_name(attrs)
    args = rules.attr_type(attrs, "args")
    if not isinstance(args, TupleType):
        raise TypeError(f"attribute 'args' must be a tuple type, not {args}")
    rules.match_types(types, args.leaves(), "the exception's arguments")


def _check(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not types or types[0] != BOOL:
        raise TypeError("the first operand must be bool")
    _arguments(types[1:], attrs)
    return ()


def _raise(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    _arguments(types, attrs)
    return ()


def _reraise(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.match_types(types, (EXC,), "the operand")
    return ()


def _match(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.match_types(types, (EXC,), "the operand")
    return (BOOL,)


def _index(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.match_types(types, (I64, I64), "the index and the size")
    return (I64,)


def _poll(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return ()


def _is_checked(op: Op) -> bool:
    return bool(op.attr("checked"))


def _exception(op: Op, leaves: tuple[Any, ...]) -> Raised:
    args, bases = op.attrs["args"], op.attrs.get("bases", ())
    assert isinstance(args, TupleType) and isinstance(bases, tuple)
    return Raised(str(op.attrs["exc"]), box(args, iter(leaves)), op.loc, bases)


def _do_check(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values[0]:
        raise _exception(op, values[1:])
    return ()


def _do_raise(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    raise _exception(op, values)


def _do_reraise(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    raise values[0]


def _do_index(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    index, size = values
    if not (op.attr("checked") or op.attr("wrap")):
        return (index,)
    axis = op.attr("axis")
    return (element_index(index, size, axis, op, "tuple index out of range" if op.attr("tuple") else ""),)


def _is_instance(exception: Raised, name: str) -> bool:
    """Whether an exception is one of the class called `name`."""
    if exception.cls == name or name in exception.bases:
        return True
    try:
        return issubclass(resolve(exception.cls), resolve(name))
    except (LookupError, TypeError):
        return False


def _do_match(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    (exception,) = values
    classes = op.attrs["classes"]
    assert isinstance(classes, tuple)
    return (exception is not None and any(_is_instance(exception, name) for name in classes),)


_EXC = Attr("exc", AttrKind.STR)
_ARGS = Attr("args", AttrKind.TYPE)

DEFS = (
    OpDef(
        "check",
        _check,
        reference=_do_check,
        effects=Effect.RAISES,
        attrs=(_EXC, _ARGS, Attr("note", AttrKind.STR, required=False, default="")),
        doc="Raises unless the first operand is true. The other operands are the leaves of the exception's arguments. `note` is "
        "added to the exception (`BaseException.add_note`).",
        derivative="kept as it is",
    ),
    OpDef(
        "raise",
        _raise,
        reference=_do_raise,
        effects=Effect.RAISES | Effect.CONTROL,
        terminator=True,
        attrs=(
            _EXC,
            _ARGS,
            Attr("bases", AttrKind.STRS, required=False, default=()),
            Attr("cause", AttrKind.STR, required=False, default=""),
        ),
        doc="Raises. The operands are the leaves of the exception's arguments. `bases`: the classes above its own, where that "
        "cannot be found by its name. `cause`: what the exception that is being handled is to it, "
        '"cause" (`raise x from e`) or "none" (`raise x from None`).',
        derivative="kept as it is",
    ),
    OpDef(
        "reraise",
        _reraise,
        reference=_do_reraise,
        effects=Effect.RAISES | Effect.CONTROL,
        terminator=True,
        doc="Raises a caught exception again.",
        derivative="kept as it is",
    ),
    OpDef(
        "index",
        _index,
        reference=_do_index,
        effects=Effect.RAISES,
        may_raise=_is_checked,
        attrs=(
            Attr("axis", AttrKind.INT, required=False, default=0),
            Attr("tuple", AttrKind.BOOL, required=False, default=False),
            CHECKED,
            WRAP,
        ),
        doc="Python's index into a size: (index, size). `checked`, `wrap` and their undefined cases as in load; `tuple` chooses "
        "the message of tuples.",
        derivative="none: integers",
    ),
    OpDef(
        "poll",
        _poll,
        reference=lambda op, values: (),
        effects=Effect.RAISES | Effect.HOST,
        doc="Raises KeyboardInterrupt if the user asked for it. Inserted late by a pass.",
        derivative="none: after differentiation",
    ),
    OpDef(
        "exc.match",
        _match,
        reference=_do_match,
        attrs=(Attr("classes", AttrKind.STRS),),
        doc="Whether the exception is an instance of one of the classes.",
        derivative="none: a truth value",
    ),
)
