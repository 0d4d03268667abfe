"""Structs as values, and fields of them.

A struct is a tuple with names; a field of structs is a tuple of tensors. An element of a field knows where it comes from, so that
`field[i].member = value` stores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants._frozen import frozen
from quadrants.diagnostics import Code
from quadrants.infer.emitter import describe, fail
from quadrants.infer.habits import suggestion
from quadrants.infer.portable import vectors
from quadrants.infer.portable.holding import rebind
from quadrants.infer.values import Abstract, Const, Method, Tup
from quadrants.types.structs import Struct, StructArg

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk


@frozen(eq=False)
class Element:
    """Where a struct was loaded from."""

    field: Tup
    index: Abstract


def is_struct(value: Abstract) -> bool:
    """Whether this is the value of a struct."""
    return isinstance(value, Tup) and value.named is not None and _is(value.named[1], Struct, StructArg)


def is_field(value: Abstract) -> bool:
    """Whether this is a field of structs."""
    return isinstance(value, Tup) and value.named is not None and _is(value.named[1], StructArg)


def _is(cls: type, base: type, but: type | None = None) -> bool:
    return issubclass(cls, base) and (but is None or not issubclass(cls, but))


def load(w: InstructionWalk, field: Tup, index: Abstract) -> Abstract:
    """`field[index]`."""
    assert field.named is not None
    cls: Any = field.named[1]
    element = cls.__quadrants_element__
    items = tuple(w.get_item(member, index) for member in field.items)
    return Tup(items, (element._fields, element), Element(field, index))


def store(w: InstructionWalk, field: Tup, index: Abstract, value: Abstract) -> None:
    """`field[index] = value`."""
    if not is_struct(value) or len(value.items) != len(field.items):  # type: ignore[attr-defined]
        fail(Code.TYPE_MISMATCH, f"{describe(value)} is put where {describe(field)} has its elements")
    for member, item in zip(field.items, value.items):  # type: ignore[attr-defined]
        w.set_item(member, index, item)


def get_attr(w: InstructionWalk, value: Tup, name: str) -> Abstract | None:
    """`value.member`, `value.method`; `field.shape`."""
    assert value.named is not None
    fields, cls = value.named
    if name in fields:
        return value.items[fields.index(name)]
    if is_field(value):
        return w.get_attr(value.items[0], name) if name == "shape" else None
    return Method(value, name) if hasattr(cls, name) else None


def set_attr(w: InstructionWalk, owner: Tup, name: str, value: Abstract) -> None:
    """`owner.name = value`."""
    assert owner.named is not None
    fields = owner.named[0]
    if name not in fields:
        fail(Code.NO_ATTRIBUTE, f"{describe(owner)} has no member '{name}'", hint=suggestion(name, fields))
    at = fields.index(name)
    if isinstance(owner.origin, Element):
        w.set_item(owner.origin.field.items[at], owner.origin.index, value)
        return
    old = owner.items[at]
    new = vectors.updated(w, old, (), value) if vectors.is_value(old) else value
    items = (*owner.items[:at], new, *owner.items[at + 1 :])
    rebind(w, owner, Tup(items, owner.named), f"a store into '{name}'")


def method(w: InstructionWalk, owner: Tup, name: str, args: tuple[Abstract, ...], keywords: Any) -> Abstract:
    """A call of a method of a struct; what it changes in `self` is put back (see `references`)."""
    assert owner.named is not None
    return w.call_value(Const(getattr(owner.named[1], name)), (owner, *args), keywords)


def construct(w: InstructionWalk, kind: Any, args: tuple[Abstract, ...], keywords: dict[str, Abstract]) -> Abstract:
    """A call of a type of structs."""
    if len(args) > len(kind.members):
        fail(Code.BAD_ARGUMENTS, f"{kind.__name__} has {len(kind.members)} members, and {len(args)} values were given")
    given = dict(zip(kind.members, args))
    for name, value in keywords.items():
        if name not in kind.members or name in given:
            fail(Code.BAD_ARGUMENTS, f"{kind.__name__} got an unexpected or repeated member '{name}'")
        given[name] = value
    items = tuple(_member(w, member, given.get(name)) for name, member in kind.members.items())
    return Tup(items, (kind.value_class._fields, kind.value_class))


def _member(w: InstructionWalk, kind: Any, given: Abstract | None) -> Abstract:
    from quadrants.infer.portable import names

    if hasattr(kind, "members"):
        return construct(w, kind, (), {}) if given is None else given
    value = Const(0) if given is None else given
    if hasattr(kind, "element_shape"):
        return names.element_type(w, kind, (value,))
    return vectors.cast(w, value, names.dtype_of(w, Const(kind)))
