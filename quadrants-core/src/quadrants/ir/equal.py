"""Structural equality of modules: the same up to the identity of values and their hints.

Numbers in attributes are equal if they have the same type and representation: 0.0 differs from -0.0 and equals no int, and
NaN equals itself.
"""

from __future__ import annotations

from quadrants.ir.core import Function, Module, Op, Region, Value
from quadrants.ir.text import plain_number


def equal(a: Module, b: Module) -> bool:
    """Whether the two modules are the same, the order of functions apart."""
    return difference(a, b) is None


def difference(a: Module, b: Module) -> str | None:
    """Where the two modules differ first, in words; None if they are equal."""
    if a.entry != b.entry:
        return f"entry: {a.entry!r} and {b.entry!r}"
    if a.functions.keys() != b.functions.keys():
        return f"functions: {sorted(a.functions)} and {sorted(b.functions)}"
    for name, function in a.functions.items():
        found = _Comparison().functions(function, b.functions[name])
        if found is not None:
            return f"{name}: {found}"
    return None


class _Comparison:
    """Compares two functions, and knows which value of the one is which of the other."""

    def __init__(self) -> None:
        self._other: dict[Value, Value] = {}

    def functions(self, a: Function, b: Function) -> str | None:
        for what in ("name", "result_types", "scope"):
            if getattr(a, what) != getattr(b, what):
                return f"{what}: {getattr(a, what)} and {getattr(b, what)}"
        if not _same_attributes(a.attrs, b.attrs):
            return f"attributes: {a.attrs} and {b.attrs}"
        if not self._define(a.params, b.params):
            return f"parameters: {a.params} and {b.params}"
        return self._regions(a.body, b.body)

    def _define(self, a: list[Value], b: list[Value]) -> bool:
        if [value.type for value in a] != [value.type for value in b]:
            return False
        self._other.update(zip(a, b))
        return True

    def _uses(self, a: list[Value] | tuple[Value, ...], b: list[Value] | tuple[Value, ...]) -> bool:
        return len(a) == len(b) and all(self._other.get(x) is y for x, y in zip(a, b))

    def _regions(self, a: Region, b: Region) -> str | None:
        if not self._define(a.args, b.args):
            return f"the arguments of a region: {a.args} and {b.args}"
        if len(a.ops) != len(b.ops):
            return f"a region of {len(a.ops)} ops and one of {len(b.ops)}: {_names(a)} and {_names(b)}"
        for x, y in zip(a.ops, b.ops):
            found = self._ops(x, y)
            if found is not None:
                return found
        return None

    def _ops(self, a: Op, b: Op) -> str | None:
        if a.defn is not b.defn:
            return f"{a.name} and {b.name}"
        where = f"{a.name} {a.loc or ''}".strip()
        if not self._uses(a.operands, b.operands):
            return f"{where}: the operands"
        if not _same_attributes(a.attrs, b.attrs):
            return f"{where}: the attributes {a.attrs} and {b.attrs}"
        if a.loc != b.loc:
            return f"{a.name}: the locations {a.loc} and {b.loc}"
        if not self._uses(a.cleanup, b.cleanup):
            return f"{where}: the values to clean up"
        if len(a.regions) != len(b.regions):
            return f"{where}: {len(a.regions)} and {len(b.regions)} regions"
        for x, y in zip(a.regions, b.regions):
            found = self._regions(x, y)
            if found is not None:
                return found
        if not self._define(a.results, b.results):
            return f"{where}: the results {a.results} and {b.results}"
        return None


def _names(region: Region) -> str:
    return " ".join(op.name for op in region.ops)


def _same_attributes(a: dict[str, object], b: dict[str, object]) -> bool:
    return a.keys() == b.keys() and all(same_attribute(value, b[name]) for name, value in a.items())


def same_attribute(a: object, b: object) -> bool:
    """Whether two values of an attribute are the same."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_attribute, a, b))
    x, y = plain_number(a), plain_number(b)
    if x is not None or y is not None:
        return type(x) is type(y) and repr(x) == repr(y)
    return type(a) is type(b) and a == b
