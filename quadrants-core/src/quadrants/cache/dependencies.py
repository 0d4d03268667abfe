"""Dependencies: which globals and closure cells code was compiled against.

Takes live dependencies, (namespace, name) or (function's cell); gives their places in a form that another process can follow,
and follows them there. A namespace is that of a root function, of a loaded module, or of a class or object of the program.
Roots are the compiled function, the functions and classes among its arguments' types, and, in order, the functions, classes
and objects found as values of earlier dependencies.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from quadrants._frozen import frozen
from quadrants.cache.fingerprint import Uncacheable, value_key
from quadrants.types.objects import attributes_of, is_programs_class

#: ("global", namespace, name, live) or ("cell", root, index, live); namespace: a root's number, a module's name, or
#: ("owner", number) of a class or an object
Place = tuple[Any, ...]


class Absent:
    """The value of a global that is not defined, and of an empty cell."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@frozen(eq=False)
class GlobalRef:
    """A name in a namespace. `live`: the code reads it at every call, and depends on the type of its value only."""

    namespace: dict[str, Any] = field(repr=False)
    name: str
    live: bool = False

    @property
    def value(self) -> object:
        return self.namespace.get(self.name, ABSENT)


@frozen(eq=False)
class CellRef:
    """A closure cell; `live` as in `GlobalRef`."""

    cell: types.CellType
    live: bool = False

    @property
    def value(self) -> object:
        try:
            return self.cell.cell_contents
        except ValueError:
            return ABSENT


Ref = GlobalRef | CellRef


#: Packages whose functions stay what they are.
_FIXED = ("numpy", "quadrants")


def functions_of(value: object) -> list[types.FunctionType]:
    """The functions of the program in a dependency's value, whose code and defaults may be replaced."""
    if isinstance(value, tuple):
        return [function for item in value for function in functions_of(item)]
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    elif isinstance(value, functools.partial):
        return [function for part in (value.func, *value.args) for function in functions_of(part)]
    function = getattr(value, "py_func", None) if hasattr(type(value), "__quadrants_dispatcher__") else value
    if not isinstance(function, types.FunctionType) or (function.__module__ or "").partition(".")[0] in _FIXED:
        return []
    return [function]


class Roots:
    """What places are relative to: functions, and classes and objects of the program."""

    def __init__(self, roots: Iterable[object]) -> None:
        self.functions: list[types.FunctionType] = []
        self.owners: list[object] = []
        for root in roots:
            self.add(root)

    @property
    def all(self) -> list[object]:
        """The functions, then the classes and objects."""
        return [*self.functions, *self.owners]

    def _add_owner(self, owner: object) -> None:
        if not any(owner is known for known in self.owners):
            self.owners.append(owner)

    def add(self, value: object) -> None:
        """Add the functions, classes and objects in a dependency's value."""
        if isinstance(value, tuple):
            for item in value:
                self.add(item)
        if isinstance(value, type):
            for cls in filter(is_programs_class, value.__mro__):
                self._add_owner(cls)
            return
        if isinstance(value, (staticmethod, classmethod, property)):
            value = value.fget if isinstance(value, property) else value.__func__
        elif is_programs_class(type(value)) and not hasattr(type(value), "__quadrants_dispatcher__"):
            if attributes_of(value) is not None:
                self._add_owner(value)
            self.add(type(value))
            return
        function = getattr(value, "py_func", None) if hasattr(type(value), "__quadrants_dispatcher__") else value
        if isinstance(function, types.FunctionType) and not any(function is known for known in self.functions):
            self.functions.append(function)

    def place_of(self, ref: Ref) -> Place:
        """Where another process finds it."""
        if isinstance(ref, GlobalRef):
            return ("global", self._namespace_of(ref.namespace), ref.name, ref.live)
        for number, function in enumerate(self.functions):
            for index, cell in enumerate(function.__closure__ or ()):
                if cell is ref.cell:
                    return ("cell", number, index, ref.live)
        raise Uncacheable("a closure cell of a function that was made elsewhere")

    def _namespace_of(self, namespace: dict[str, Any]) -> int | str | tuple[str, int]:
        if namespace is self.functions[0].__globals__:
            return 0
        name = namespace.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and vars(module) is namespace:
            return str(name)
        for number, function in enumerate(self.functions):
            if function.__globals__ is namespace:
                return number
        for number, owner in enumerate(self.owners):
            if attributes_of(owner) is namespace:
                return ("owner", number)
        raise Uncacheable("a namespace that belongs to no module")

    def follow(self, place: Place) -> Ref:
        """The thing at a place in this process; LookupError if there is none."""
        kind, where, name, live = place
        if kind == "cell":
            return CellRef((self.functions[where].__closure__ or ())[name], live)
        namespace: dict[str, Any] | None
        if isinstance(where, tuple):
            namespace = attributes_of(self.owners[where[1]])
        else:
            namespace = self.functions[where].__globals__ if isinstance(where, int) else vars(_module(where))
        if namespace is None:
            raise LookupError(name)
        return GlobalRef(namespace, name, live)


def _module(name: str) -> types.ModuleType:
    """A module that is loaded, or one of the library, which another process has not loaded yet."""
    if name not in sys.modules and name.startswith("quadrants.library."):
        return importlib.import_module(name)
    return sys.modules[name]


def roots_after(refs: Iterable[Ref], first: Iterable[object]) -> Roots:
    """The roots once the values of dependencies are known."""
    roots = Roots(first)
    for ref in refs:
        roots.add(ref.value)
    return roots


def places_of(refs: Iterable[Ref], roots: Roots) -> tuple[Place, ...]:
    """The places of dependencies, in order; their functions become roots."""
    places = []
    for ref in refs:
        places.append(roots.place_of(ref))
        roots.add(ref.value)
    return tuple(places)


def follow_all(places: Iterable[Place], roots: Roots) -> list[Ref]:
    """The dependencies at the places, in this process; LookupError if one is not there. Their functions become roots."""
    refs = []
    for place in places:
        ref = roots.follow(place)
        roots.add(ref.value)
        refs.append(ref)
    return refs


def refs_key(refs: Sequence[Ref]) -> tuple[object, ...]:
    """What code compiled against these values depends on."""
    seen: dict[int, int] = {}
    return tuple(_ref_key(ref, seen) for ref in refs)


def _ref_key(ref: Ref, seen: dict[int, int]) -> object:
    if ref.value is ABSENT:
        return "absent"
    if ref.live and type(ref.value) in (bool, int, float, complex):
        return ("live", type(ref.value).__name__)
    return value_key(ref.value, seen)
