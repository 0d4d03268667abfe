"""A specialisation in this process: loaded code, the objects that it refers to, and what it depends on.

Takes object bytes with their `EntrySpec` and tables (fresh or from the cache) and the live objects of the hidden arguments and
dependencies; gives `Loaded`. An entry is valid while every dependency has the value that it was compiled against; it is armed when
that was checked, and native code clears or notices it from then on.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import CellType
from typing import Any

import numpy as np

from quadrants.host import loader, watch
from quadrants.host.layout import CELL_CONTENT, FUNCTION_PARTS, VERSION_TAGS
from quadrants.host.parameters import Permutation
from quadrants.host.raising import ExceptionClass, Handler
from quadrants.host.spec import (
    FUNCTION_ATTRIBUTES,
    MISSING,
    CellDependency,
    Dependency,
    EntrySpec,
    FunctionDependency,
    GlobalDependency,
    Slots,
    Source,
    has_permutation,
    slots_of,
    uses_dict_versions,
)
from quadrants.host.symbols import resolve
from quadrants.lower.abi import Site

#: Values that are the same if they look the same; of all others identity counts.
_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic)


class Loaded:
    """See the module's docstring. Made by `load_specialisation`.

    Args:
        spec: the interface.
        symbols: the addresses of the exported symbols.
        handler: the callable of the cold paths.
        hidden: the objects of the hidden arguments: an object, a closure cell, or a (dict, name) pair, as the source says.
    """

    __slots__ = (
        "__weakref__",
        "_dependencies",
        "_kept",
        "_owner",
        "_permutation",
        "_table",
        "_valid",
        "handler",
        "hidden",
        "slots",
        "spec",
        "symbols",
    )

    def __init__(self, spec: EntrySpec, symbols: dict[str, int], handler: Handler, hidden: Sequence[object]) -> None:
        self.spec = spec
        self.symbols = symbols
        self.handler = handler
        self.hidden = list(hidden)
        self.slots: Slots = slots_of(spec)
        self._dependencies: tuple[Dependency, ...] = ()
        self._valid = True
        self._owner: Callable[[], object] = lambda: None
        self._permutation: object = None
        self._table: object = None
        self._kept: list[object] = []
        if spec.native:
            for index, obj in enumerate((handler, *self.slots.literals)):
                self._set_slot(index, obj)
        for index, obj in enumerate(hidden):
            self.set_hidden(index, obj)

    @property
    def entry(self) -> int:
        """The address of the entry."""
        return self.symbols[self.spec.name]

    def set_next(self, address: int) -> None:
        """Where the entry sends calls that do not fit."""
        self._word("next").value = address

    @property
    def next(self) -> int:
        """Where the entry sends calls that do not fit."""
        return self._word("next").value

    def set_permutation(self, node: Permutation | None) -> None:
        """The form of calls by keywords or defaults that the entry takes itself (a node of `support_call`'s list)."""
        if has_permutation(self.spec):
            self._permutation = node
            self._word("permutation").value = 0 if node is None else node.address

    def belong_to(self, dispatcher: object) -> None:
        """Enter the chain of a dispatcher. Code is in one chain at a time: it knows its next entry and its callers' defaults."""
        owner = self._owner()
        if owner is not None and owner is not dispatcher:
            raise ValueError(f"{self!r} is installed in another dispatcher")
        if owner is None:
            self._owner = weakref.ref(dispatcher)
            self.set_permutation(None)

    def set_hidden(self, index: int, obj: object) -> None:
        """Change the object of a hidden argument; it is used from the next call on."""
        self.hidden[index] = obj
        where: Any = obj
        if not self.spec.native:
            return
        slot = self.slots.hidden[index]
        if self.spec.hidden[index].source is Source.GLOBAL:
            self._set_slot(slot, where[0])
            self._set_slot(slot + 1, where[1])
        else:
            self._set_slot(slot, obj)

    def _set_slot(self, index: int, obj: object) -> None:
        """Store an object in the table. It lives as long as this does: a running kernel may still use the one before."""
        self._kept.append(obj)
        ctypes.c_uint64.from_address(self.symbols[f"{self.spec.name}.objects"] + 8 * index).value = id(obj)

    def _word(self, suffix: str) -> ctypes.c_uint64:
        return ctypes.c_uint64.from_address(self.symbols[f"{self.spec.name}.{suffix}"])

    # Validity

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """What the code was compiled against."""
        return self._dependencies

    @property
    def valid(self) -> bool:
        """Whether calls may use the code now."""
        if not self._flag():
            return False
        return all(current(d) is d.value for d in self._dependencies)

    def _flag(self) -> bool:
        return bool(self._word("valid").value) if self.spec.native else self._valid

    def _set_flag(self, valid: bool) -> None:
        self._valid = valid
        if self.spec.native:
            self._word("valid").value = int(valid)

    def invalidate(self) -> None:
        """Send all calls on, until `revalidate`."""
        self._set_flag(False)

    def revalidate(self) -> bool:
        """Arm again if every dependency still has an equal value; whether it did."""
        renewed = []
        for dependency in self._dependencies:
            value = current(dependency)
            if not same_value(value, dependency.value):
                self._set_flag(False)
                return False
            renewed.append(_with_value(dependency, value))
        self.arm(renewed)
        return self.valid

    def arm(self, dependencies: Sequence[Dependency]) -> None:
        """Depend on these values from now on. The entry becomes valid unless one of them has changed meanwhile."""
        self._dependencies = tuple(dependencies)
        names = [d for d in dependencies if isinstance(d, GlobalDependency)]
        cells = [d for d in dependencies if isinstance(d, CellDependency)]
        functions = [d for d in dependencies if isinstance(d, FunctionDependency)]
        self._check_counts(names, cells, functions)
        if not self.spec.native:
            self._set_flag(self._all_current())
            return
        self._kept += [part for d in names for part in (d.namespace, d.key, d.value)]
        self._kept += [part for d in functions for part in (d.function, d.value)]
        self._kept += [part for d in cells for part in (d.cell, d.value)]
        pairs = [(id(d.cell), 0 if d.value is MISSING else id(d.value)) for d in cells]
        if VERSION_TAGS:  # parts of functions look like cells that begin somewhere inside of the function
            pairs += [_as_cell(d) for d in functions]
        for index, pair in enumerate(pairs):
            at = self.symbols[f"{self.spec.name}.cells"] + 16 * index
            (ctypes.c_uint64 * 2).from_address(at)[:] = list(pair)
        if uses_dict_versions(self.spec):
            table = watch.version_table(names)
            self._kept.append(table)
            self._word("dicts").value = ctypes.addressof(table)
        elif (names or functions) and not VERSION_TAGS:
            watch.watch(self, names, [d.function for d in functions], self.symbols[f"{self.spec.name}.valid"])
        # Valid first, then the check: a change in between is either seen by the check or clears the word after.
        self._set_flag(True)
        if not self._all_current():
            self._set_flag(False)

    def _all_current(self) -> bool:
        return all(current(d) is d.value for d in self._dependencies)

    def _check_counts(
        self,
        names: Sequence[GlobalDependency],
        cells: Sequence[CellDependency],
        functions: Sequence[FunctionDependency],
    ) -> None:
        dicts = len({id(d.namespace) for d in names})
        if dicts != self.spec.dicts or len(cells) != self.spec.cells:
            expected = f"{self.spec.dicts} dicts and {self.spec.cells} cells"
            raise ValueError(f"{self.spec.name} depends on {expected}, not on {dicts} and {len(cells)}")
        if len(functions) != len(FUNCTION_ATTRIBUTES) * self.spec.functions:
            raise ValueError(f"{self.spec.name} depends on {self.spec.functions} functions")

    def __repr__(self) -> str:
        return f"<code of {self.spec.name}>"


def _as_cell(dependency: FunctionDependency) -> tuple[int, int]:
    """The address that the entry takes for that of a cell, and what the cell holds."""
    offset = FUNCTION_PARTS[FUNCTION_ATTRIBUTES.index(dependency.attribute)]
    value = dependency.value
    return id(dependency.function) + offset - CELL_CONTENT, 0 if value is None else id(value)


def load_specialisation(
    data: bytes,
    spec: EntrySpec,
    sites: Sequence[Site] = (),
    classes: Sequence[ExceptionClass] = (),
    *,
    hidden: Sequence[object] = (),
    dependencies: Sequence[Dependency] = (),
) -> Loaded:
    """Load compiled code.

    Args:
        data: the object that was compiled from the lowered module and `emit_entry(spec)`.
        spec: its interface.
        sites: `Lowered.sites`.
        classes: `Lowered.classes`; a class itself where it cannot be found by name.
        hidden: for each hidden argument the object, the closure cell, or the (dict, name) pair.
        dependencies: the globals and cells that the code was compiled against, with their values then.

    Raises `BadObject` (damaged), `UndefinedSymbol` (not for this system).
    """
    if len(hidden) != len(spec.hidden):
        raise ValueError(f"{spec.name} has {len(spec.hidden)} hidden arguments, not {len(hidden)}")
    symbols = loader.load(data, resolve)
    needed = [spec.name, *(f"{spec.name}.{suffix}" for suffix in ("next", "valid", "objects") if spec.native)]
    missing = [name for name in needed if name not in symbols]
    if missing:
        raise loader.BadObject(f"the object does not define {', '.join(missing)}")
    known = _classes_of([dependency.value for dependency in dependencies])
    handler = Handler(sites, [known.get(name, name) for name in classes], spec.result)
    loaded = Loaded(spec, symbols, handler, hidden)
    loaded.arm(dependencies)
    return loaded


def _classes_of(values: Iterable[object]) -> dict[object, type[BaseException]]:
    """Exception classes among constants, by name: a class inside a function is found no other way."""
    found: dict[object, type[BaseException]] = {}
    for value in values:
        if isinstance(value, tuple):
            found |= _classes_of(value)
        elif isinstance(value, type) and issubclass(value, BaseException):
            found[f"{value.__module__}:{value.__qualname__}"] = value
    return found


def current(dependency: Dependency) -> object:
    """The value of a dependency in the live process."""
    if isinstance(dependency, GlobalDependency):
        return dependency.namespace.get(dependency.key, MISSING)
    if isinstance(dependency, FunctionDependency):
        return getattr(dependency.function, dependency.attribute)
    cell = dependency.cell
    assert isinstance(cell, CellType)
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def same_value(a: object, b: object) -> bool:
    """Whether compiled code cannot tell two constants apart."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(map(same_value, a, b))
    return isinstance(a, _PLAIN) and repr(a) == repr(b)


def _with_value(dependency: Dependency, value: object) -> Dependency:
    if isinstance(dependency, GlobalDependency):
        return GlobalDependency(dependency.namespace, dependency.key, value)
    if isinstance(dependency, FunctionDependency):
        return FunctionDependency(dependency.function, dependency.attribute, value)
    return CellDependency(dependency.cell, value)
