"""Dicts whose keys are known when the function is compiled: written out, made by `dict(a=1)`, or the `**keywords` of a call.

They are read, walked, passed on and spread into calls, but not changed; to the interpreter they go as new dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

from quadrants._frozen import frozen
from quadrants.diagnostics import Code
from quadrants.infer.values import Abstract, Const, Tup, rebuild
from quadrants.ir import Value
from quadrants.types import Type


@frozen
class DictType(Type):
    """The type of a `DictDisplay`: the keys in order, each with the type of its item."""

    keys: tuple[object, ...]
    items: tuple[Type, ...]

    def leaves(self) -> tuple[Type, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves())

    def rebuild(self, leaves: Iterator[Value]) -> Abstract:
        return DictDisplay(self.keys, tuple(rebuild(item, leaves) for item in self.items))

    def __str__(self) -> str:
        return f"dict<{', '.join(f'{key!r}: {item}' for key, item in zip(self.keys, self.items))}>"


@frozen(eq=False)
class DictDisplay(Abstract):
    """A dict whose keys are known."""

    keys: tuple[object, ...]
    items: tuple[Abstract, ...]

    @property
    def type(self) -> DictType:
        return DictType(self.keys, tuple(item.type for item in self.items))

    @property
    def leaves(self) -> tuple[Value, ...]:
        return tuple(leaf for item in self.items for leaf in item.leaves)

    def find(self, key: object) -> Abstract | None:
        """The item of a key."""
        try:
            return dict(zip(self.keys, self.items)).get(key)
        except TypeError:
            return None


def made(pairs: list[tuple[object, Abstract]]) -> DictDisplay:
    """The dict of the pairs, of which later ones replace earlier ones with the same key."""
    found = dict(pairs)
    return DictDisplay(tuple(found), tuple(found.values()))


def pairs_of(value: DictDisplay) -> list[tuple[object, Abstract]]:
    """Its keys and items."""
    return list(zip(value.keys, value.items))


def refuse(what: str) -> NoReturn:
    """The error for what only dicts of the interpreter do."""
    from quadrants.infer.emitter import fail  # which uses types of this module

    fail(
        Code.UNSUPPORTED_DICT,
        f"{what}: the keys of a dict are constants in compiled code, and it is only read",
        hint="Use an array that is indexed by number, a tuple or a named tuple.",
    )


def constant_key(value: Abstract) -> object:
    """The key that a value is."""
    if isinstance(value, Tup) and value.named is None:
        return tuple(constant_key(item) for item in value.items)
    if not isinstance(value, Const):
        refuse("a key that is not constant")
    try:
        hash(value.value)
    except TypeError:
        refuse("a key without a hash")
    return value.value


def as_value(key: object) -> Abstract:
    """A key as a value."""
    return Tup(tuple(map(as_value, key))) if isinstance(key, tuple) else Const(key)


def walked(value: DictDisplay) -> tuple[Abstract, ...]:
    """What a loop over it takes: the keys."""
    return tuple(map(as_value, value.keys))


def method(value: DictDisplay, name: str, args: tuple[Abstract, ...]) -> Abstract:
    """`value.name(*args)`."""
    rule = _METHODS.get((name, len(args)))
    if rule is None:
        refuse(f"the method '{name}' of a dict")
    return rule(value, *args)


def _get(value: DictDisplay, key: Abstract, *default: Abstract) -> Abstract:
    found = value.find(constant_key(key))
    return found if found is not None else default[0] if default else Const(None)


_METHODS: dict[tuple[str, int], Callable[..., Abstract]] = {
    ("get", 1): _get,
    ("get", 2): _get,
    ("keys", 0): lambda value: Tup(walked(value)),
    ("values", 0): lambda value: Tup(value.items),
    ("items", 0): lambda value: Tup(tuple(map(Tup, zip(walked(value), value.items)))),
    ("copy", 0): lambda value: value,
}
