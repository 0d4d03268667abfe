"""What a variable of the portable language holds: vectors of its own, and floats of the default type.

Takes a value that is assigned; gives the value that the local holds. Values are known by their identity: a store into an element
of a vector finds the local that holds it, an atomic operation the place that a number was loaded from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quadrants.diagnostics import Code
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.merge import cast_value
from quadrants.infer.values import Abstract, Num, Tup

if TYPE_CHECKING:
    from quadrants.infer.names import ScopeWalk


def held(w: ScopeWalk, value: Abstract) -> Abstract:
    """The value as a local holds it: an object of its own, that is changed by stores into its elements."""
    if isinstance(value, Num):
        if value.scalar.weak and value.scalar.is_float:
            to = w.options.default_fp
            return Num(to, cast_value(w.b, value, to))
        return Num(value.scalar, value.value) if id(value) in w.loaded else value
    if isinstance(value, Tup) and value.leaves:
        return replace(value, items=tuple(held(w, item) for item in value.items), origin=None)
    return value


def replaced(value: Abstract, old: Abstract, new: Abstract) -> Abstract:
    """The value with a part of it, known by its identity, replaced."""
    if value is old:
        return new
    if not isinstance(value, Tup):
        return value
    items = tuple(replaced(item, old, new) for item in value.items)
    return value if all(a is b for a, b in zip(items, value.items)) else replace(value, items=items)


def rebind(emitter: Emitter, old: Abstract, new: Abstract, what: str) -> None:
    """Put a new value where a local, or a part of one, holds the old one."""
    w: ScopeWalk = emitter  # type: ignore[assignment]
    for name, value in w.live_env.locals.items():
        found = replaced(value, old, new)
        if found is not value:
            w.rebound.add(name)
            w.store_local(name, held(w, found))
            return
    fail(Code.NOT_ASSIGNABLE, f"{describe(old)} is in no variable, so that {what} has no effect")
