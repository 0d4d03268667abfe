"""Dependencies: which globals and closure cells code was compiled against.

Takes live dependencies, (namespace, name) or (function's cell); gives their places in a form that another process can follow,
and follows them there. A namespace is that of a root function or of a loaded module. Roots are the compiled function, the
functions among its literal arguments, and, in order, the functions found as values of earlier dependencies.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from quadrants._frozen import frozen
from quadrants.cache.fingerprint import Uncacheable, value_key

#: ("global", namespace, name, live) or ("cell", root, index, live); namespace: a root's number or a module's name
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


class Roots:
    """The functions that places are relative to."""

    def __init__(self, functions: Iterable[types.FunctionType]) -> None:
        self.functions: list[types.FunctionType] = list(functions)

    def add(self, value: object) -> None:
        """Add the functions in a dependency's value."""
        if isinstance(value, tuple):
            for item in value:
                self.add(item)
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

    def _namespace_of(self, namespace: dict[str, Any]) -> int | str:
        if namespace is self.functions[0].__globals__:
            return 0
        name = namespace.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and vars(module) is namespace:
            return str(name)
        for number, function in enumerate(self.functions):
            if function.__globals__ is namespace:
                return number
        raise Uncacheable("a namespace that belongs to no module")

    def follow(self, place: Place) -> Ref:
        """The thing at a place in this process; LookupError if there is none."""
        kind, where, name, live = place
        if kind == "cell":
            return CellRef((self.functions[where].__closure__ or ())[name], live)
        namespace = self.functions[where].__globals__ if isinstance(where, int) else vars(sys.modules[where])
        return GlobalRef(namespace, name, live)


def roots_after(refs: Iterable[Ref], functions: Iterable[types.FunctionType]) -> Roots:
    """The roots once the values of dependencies are known."""
    roots = Roots(functions)
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
