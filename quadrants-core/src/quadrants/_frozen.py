"""Dataclasses that are quick to define.

`dataclasses.dataclass` writes and compiles source text for the methods of each class, about a third of a millisecond; a package
with a hundred of them feels that on every start. `@frozen` gives the same class (immutable, slots, equality, hash and repr by the
fields, `dataclasses.fields` and `replace` work) from shared methods in a tenth of the time; `@record` gives one that can be
changed. Takes and gives a class. What is made by the thousand (an operation, a region) writes its constructor itself or stays a
dataclass: the shared one is slower by half.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type)
_MISSING = dataclasses.MISSING
_FIELDS = "__dataclass_fields__"


@overload
def frozen(cls: _Class, /) -> _Class: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: Any = None, /, *, eq: bool = True) -> Any:
    """As `dataclass(frozen=True, slots=True, eq=eq)`. `InitVar` and `kw_only` are not supported; a field that
    is not for the constructor (`init=False`) has no default."""
    return _make(cls, eq) if cls is not None else lambda decorated: _make(decorated, eq)


@overload
def record(cls: _Class, /) -> _Class: ...
@overload
def record(*, eq: bool = True) -> Callable[[_Class], _Class]: ...
@dataclass_transform(field_specifiers=(dataclasses.field,))
def record(cls: Any = None, /, *, eq: bool = True) -> Any:
    """As `dataclass(slots=True, eq=eq)`, within the limits of `frozen`."""
    return _make(cls, eq, fixed=False) if cls is not None else lambda decorated: _make(decorated, eq, fixed=False)


def _make(cls: type, eq: bool, fixed: bool = True) -> type:
    namespace = dict(cls.__dict__)
    annotations = cls.__annotations__
    own = [name for name, kind in annotations.items() if not str(kind).startswith("ClassVar")]
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(getattr(base, _FIELDS, {}))
    for name in own:
        fields[name] = _field(name, namespace.pop(name, _MISSING), annotations[name])
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    for unwanted in ("__dict__", "__weakref__"):
        namespace.pop(unwanted, None)
    namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    namespace[_FIELDS] = fields
    namespace["__match_args__"] = tuple(fields)
    namespace.setdefault("__repr__", _repr)
    namespace.update(__getstate__=_getstate, __setstate__=_setstate)
    if fixed:
        namespace.update(__setattr__=_refuse, __delattr__=_refuse)
    compared = tuple(field.name for field in fields.values() if field.compare)
    if eq:
        key = _key_of(compared)
        namespace.setdefault("__eq__", _eq_for(key))
        if namespace.get("__hash__") is None:
            namespace["__hash__"] = _hash_for(key) if fixed else None
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    made.__init__ = _init_for(made, {name: field for name, field in fields.items() if field.init})  # type: ignore[misc]
    return made


def _field(name: str, default: Any, kind: Any) -> Any:
    field: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
    field.name, field.type = name, kind
    field._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    return field


def _init_for(cls: type, fields: dict[str, Any]) -> Callable[..., None]:
    """The constructor. The slots are set through their descriptors, which immutability does not concern."""
    setters = tuple(getattr(cls, name).__set__ for name in fields)
    names = tuple(fields)
    count = len(names)
    after = getattr(cls, "__post_init__", None)

    required = sum(field.default is _MISSING and field.default_factory is _MISSING for field in fields.values())
    defaults = tuple((s, f.default, f.default_factory) for s, f in zip(setters, fields.values()))

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = len(args)
        if kwargs or not required <= given <= count:
            args = _bind(cls, fields, names, args, kwargs)
            given = count
        for setter, value in zip(setters, args):
            setter(self, value)
        if given < count:
            for setter, value, make in defaults[given:]:
                setter(self, make() if value is _MISSING else value)
        if after is not None:
            after(self)

    return __init__


def _bind(
    cls: type, fields: dict[str, Any], names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The value of each field: given by position, by name, or its default."""
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}() takes {len(names)} values but {len(args)} were given")
    values = list(args)
    for name in names[len(args) :]:
        field = fields[name]
        if name in kwargs:
            values.append(kwargs.pop(name))
        elif field.default is not _MISSING:
            values.append(field.default)
        elif field.default_factory is not _MISSING:
            values.append(field.default_factory())
        else:
            raise TypeError(f"{cls.__name__}() misses the value of {name!r}")
    if kwargs:
        name = next(iter(kwargs))
        raise TypeError(f"{cls.__name__}() got {'several values for' if name in names else 'an unexpected'} {name!r}")
    return tuple(values)


def _key_of(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """The fields that count for equality, as one value."""
    return attrgetter(*names) if names else lambda self: ()


def _eq_for(key: Callable[[Any], Any]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        if self is other:
            return True
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash_for(key: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(key(self))

    return __hash__


def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, value: Any = None) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change {name!r} of a {type(self).__name__}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state):
        object.__setattr__(self, field.name, value)
