"""What the host needs to know about a specialisation, and about what it depends on.

`EntrySpec` is a frozen, picklable description of the interface of one compiled function: `emit_entry` makes the text of its
entry from it, `load_specialisation` the loaded code. A cached object goes with the spec that it was made from.
"""

from __future__ import annotations

import enum
from typing import Any

from quadrants._frozen import frozen
from quadrants.host.layout import VERSION_TAGS
from quadrants.types import ArrayType, LiteralType, NamedTupleType, OptionalType, Scalar, TupleType, Type, UnionType


class Source(enum.Enum):
    """Where the object of a hidden argument is found, at every call."""

    OBJECT = "object"  # in a slot of the entry; `Loaded.set_hidden` changes it (watch the global that it came from)
    CELL = "cell"  # in a closure cell; an empty cell is a miss
    GLOBAL = "global"  # under a name in a dict (about 10 ns a call, no watch needed); an absent name is a miss


#: Entries with more parameters leave all calls by keywords to the end of the chain.
_MAX_PERMUTED = 16


@frozen
class Hidden:
    """A hidden argument: a global or closure value that is passed to the kernel after the visible arguments.

    Its type is guarded at every call, as that of a visible argument.
    """

    type: Type
    source: Source = Source.OBJECT


@frozen
class EntrySpec:
    """The interface of one specialisation.

    Args:
        name: the symbol of the entry (any text; the data symbols are `<name>.next`, `<name>.valid`, ...).
        kernel: the symbol of the lowered entry function (`Lowered.entry_symbol`).
        params: the types of the visible arguments in canonical order: positional, keyword-only, then one by one the items of
            `*args`. The kernel takes their leaves.
        result: the (interface) type of the result.
        hidden: the hidden arguments; their leaves follow those of `params`.
        dicts: how many distinct dicts the global dependencies are in.
        cells: how many closure cells are dependencies.
        functions: how many functions are, each with all of `FUNCTION_ATTRIBUTES`.
        direct: whether the order of positional arguments in a call is the canonical one. False if the function has keyword-only
            parameters: then every call goes through the permuter.
        exact: whether an array must have the very layout of its parameter's type: with it an "A" parameter turns contiguous
            arrays away (they get a specialisation of their own). Without, it takes any (ahead-of-time signatures).
        nogil: whether the kernel runs without the GIL.
        parallel: whether it has parallel regions, which release the lock while they wait.
        recursive: whether the kernel compares the stack with the context's limit.
        calls_python: whether the kernel can run Python code, so that hidden objects must be held during the call.
        pin: whether that code may be anything (a call, not only a signal handler), so that arrays must not be resized meanwhile.
            Implied by `nogil`.
        native: whether the entry is a vectorcall function (else: the plain entry of the ctypes path).
        sizes: what arrays must have for the code to be right: (number of a leaf of `params`, axis, size).
    """

    name: str
    kernel: str
    params: tuple[Type, ...]
    result: Type
    hidden: tuple[Hidden, ...] = ()
    dicts: int = 0
    cells: int = 0
    functions: int = 0
    direct: bool = True
    exact: bool = True
    nogil: bool = False
    parallel: bool = False
    recursive: bool = False
    calls_python: bool = True
    pin: bool = False
    native: bool = True
    sizes: tuple[tuple[int, int, int], ...] = ()


class Missing:
    """The value of a global that must not exist (it would hide a builtin)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


@frozen(eq=False)
class GlobalDependency:
    """The code is right as long as `namespace[key]` is `value` (`MISSING`: absent)."""

    namespace: dict[str, object]
    key: str
    value: object


@frozen(eq=False)
class CellDependency:
    """The code is right as long as the closure cell holds `value` (`MISSING`: empty)."""

    cell: object
    value: object


#: What a function does is in these attributes of it.
FUNCTION_ATTRIBUTES = ("__code__", "__defaults__", "__kwdefaults__")


@frozen(eq=False)
class FunctionDependency:
    """The code is right as long as an attribute of a function (one of `FUNCTION_ATTRIBUTES`) is `value`."""

    function: Any  # declared as a function, it would read as a method
    attribute: str
    value: object


Dependency = GlobalDependency | CellDependency | FunctionDependency


@frozen
class Slots:
    """The layout of the object table `<name>.objects`: index of each thing in it.

    Args:
        literals: by identity of the type (its position in `constants_of`), the literal objects and the classes of named tuples.
        hidden: for each hidden argument its slot (a global: the dict; the key is in the next slot).
        count: the number of slots. Slot 0 is the handler.
    """

    literals: tuple[object, ...]
    hidden: tuple[int, ...]
    count: int

    def constant(self, value: object) -> int:
        """The slot of a literal object or a class."""
        for index, known in enumerate(self.literals):
            if known is value:
                return 1 + index
        raise LookupError(f"{value!r} is not an object of this entry")


def constants_of(type: Type) -> tuple[object, ...]:
    """The Python objects that guarding or boxing a type needs, in order."""
    if isinstance(type, LiteralType):
        return (type.value,)
    if isinstance(type, NamedTupleType):
        return (type.cls, *(c for item in type.items for c in constants_of(item)))
    if isinstance(type, (TupleType, UnionType)):
        return tuple(c for item in type.items for c in constants_of(item))
    if isinstance(type, OptionalType):
        return constants_of(type.item)
    return ()


def slots_of(spec: EntrySpec) -> Slots:
    """The layout of the object table of a specialisation."""
    literals: list[object] = []
    for type in (*spec.params, *(hidden.type for hidden in spec.hidden), spec.result):
        literals += [c for c in constants_of(type) if not any(c is known for known in literals)]
    at = 1 + len(literals)
    hidden_slots = []
    for hidden in spec.hidden:
        hidden_slots.append(at)
        at += 2 if hidden.source is Source.GLOBAL else 1
    return Slots(tuple(literals), tuple(hidden_slots), at)


def uses_dict_versions(spec: EntrySpec) -> bool:
    """Whether the entry compares dict versions (3.11; later versions clear `valid` instead)."""
    return VERSION_TAGS and spec.dicts > 0


def has_permutation(spec: EntrySpec) -> bool:
    """Whether the entry itself takes calls of one form by keywords or defaults (`<name>.permutation`), not only the chain's end."""
    return spec.native and 0 < len(spec.params) <= _MAX_PERMUTED


__all__ = [
    "MISSING",
    "ArrayType",
    "CellDependency",
    "Dependency",
    "EntrySpec",
    "FunctionDependency",
    "GlobalDependency",
    "Hidden",
    "Scalar",
    "Slots",
    "Source",
    "constants_of",
    "has_permutation",
    "slots_of",
    "uses_dict_versions",
]
