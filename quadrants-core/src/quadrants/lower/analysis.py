"""What lowering must know of a module before it starts: which functions raise, and which exception classes there are.

Takes a module; gives `Exceptions`. Conservative: a function that is said not to raise does not.
"""

from __future__ import annotations

import builtins
import sys
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir.core import Function, Module, Op, Region
from quadrants.ir.opdef import Effect
from quadrants.ir.ops import OPS
from quadrants.lower.abi import STOPPED

INDEX_ERROR = "builtins:IndexError"
VALUE_ERROR = "builtins:ValueError"
MEMORY_ERROR = "builtins:MemoryError"
RECURSION_ERROR = "builtins:RecursionError"
BUILTIN = "builtins:"

#: The classes that an op raises by its nature, beside those in its attribute `exc`.
IMPLIED = {
    "index": (INDEX_ERROR,),
    "load": (INDEX_ERROR,),
    "store": (INDEX_ERROR,),
    "atomic": (INDEX_ERROR,),
    "atomic.cas": (INDEX_ERROR,),
    "alloc": (VALUE_ERROR, MEMORY_ERROR),
    "list.new": (MEMORY_ERROR,),
    "list.resize": (MEMORY_ERROR,),
}

#: Ops that may leave an error of Python's behind, under the class number PYTHON_ERROR.
_PYTHON = frozenset({"poll", "pycall", "fork", "contract"})


@record(eq=False)
class Exceptions:
    """Which functions raise, and the class table.

    Args:
        classes: "module:qualname" -> class number, from 1: those that are raised, and those of handlers that only the interpreter
            has.
        bases: the names of the classes above one, where that cannot be found by its name.
        raising: names of the functions that may return an exception.
        called: names of the functions that are called in the module.
        allocating: names of the functions that allocate arrays themselves.
        python_errors: whether an exception of the module may be an error that is set in the interpreter.
    """

    classes: dict[str, int] = field(default_factory=dict)
    bases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    raising: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    allocating: frozenset[str] = frozenset()
    python_errors: bool = False

    def number(self, name: str) -> int:
        """The class number of a class of the table."""
        return self.classes[name]

    def matching(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The numbers of the classes that are one of the named ones or below it."""
        wanted = [(name, find_class(name)) for name in names]
        return tuple(
            number
            for name, number in self.classes.items()
            if any(
                name == other or other in self.bases.get(name, ()) or _is_subclass(find_class(name), cls)
                for other, cls in wanted
            )
        )


#: The ops that raise, all or some of them.
_MAY_RAISE = frozenset(name for name, defn in OPS.items() if defn.effects & Effect.RAISES)


@record(eq=False)
class _Scan:
    """What one walk over the module gathers."""

    classes: dict[str, None] = field(default_factory=dict)
    bases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    raising: set[str] = field(default_factory=set)
    callers: dict[str, set[str]] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    allocating: set[str] = field(default_factory=set)
    python_errors: bool = False

    def function(self, name: str, function: Function) -> None:
        if function.attrs.get("recursive"):
            self.classes[RECURSION_ERROR] = None
            self.python_errors = True  # it polls
            self.raising.add(name)
        self.region(name, function.body, True)

    def region(self, function: str, region: Region, escapes: bool) -> None:
        """`escapes`: an exception would leave the function, not being in the body of a `try`."""
        for op in region.ops:
            name = op.name
            if name in _MAY_RAISE:
                self.may_raise(function, op, name, escapes)
            elif name == "exc.match":
                self.classes.update(dict.fromkeys(foreign_classes(op)))
            for index, inner in enumerate(op.regions):
                self.region(function, inner, escapes and not (name == "try" and index == 0))

    def may_raise(self, function: str, op: Op, name: str, escapes: bool) -> None:
        if name == "call":
            callee = str(op.attrs["callee"])
            self.called.add(callee)
            if escapes and not op.attrs.get("nothrow"):
                self.callers.setdefault(callee, set()).add(function)
            return
        if name == "fork":
            self.called.add(str(op.attrs["callee"]))
        if not op.defn.raises(op):
            return
        if escapes:
            self.raising.add(function)
        if name == "alloc":
            self.allocating.add(function)
        self.python_errors |= name in _PYTHON
        self.classes.update(dict.fromkeys(IMPLIED.get(name, ())))
        if (cls := op.attrs.get("exc")) is not None:
            self.classes[str(cls)] = None
            if bases := op.attrs.get("bases"):
                assert isinstance(bases, tuple)
                self.bases[str(cls)] = bases

    def propagate(self) -> None:
        """Callers of what raises raise."""
        work = list(self.raising)
        while work:
            for caller in self.callers.get(work.pop(), ()):
                if caller not in self.raising:
                    self.raising.add(caller)
                    work.append(caller)


def analyse(module: Module) -> Exceptions:
    """Look at every function of the module."""
    scan = _Scan()
    for name, function in module.functions.items():
        scan.function(name, function)
    scan.propagate()
    if len(scan.classes) >= STOPPED:
        raise ValueError(f"a module can raise at most {STOPPED - 1} exception classes")
    numbers = {name: number for number, name in enumerate(scan.classes, 1)}
    return Exceptions(
        numbers,
        scan.bases,
        frozenset(scan.raising),
        frozenset(scan.called),
        frozenset(scan.allocating),
        scan.python_errors,
    )


def foreign_classes(match: Op) -> tuple[str, ...]:
    """The classes of an `exc.match` that the interpreter does not export."""
    names = match.attrs["classes"]
    assert isinstance(names, tuple)
    return tuple(name for name in names if not name.startswith(BUILTIN))


def raises(exceptions: Exceptions, call: Op) -> bool:
    """Whether a call has to look at the status."""
    return call.attrs["callee"] in exceptions.raising and not call.attrs.get("nothrow")


def find_class(name: str) -> type | None:
    """The class "module:qualname" if its module is loaded; imports nothing."""
    module_name, _, qualname = name.partition(":")
    found: object = builtins if module_name == "builtins" else sys.modules.get(module_name)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _is_subclass(cls: type | None, base: type | None) -> bool:
    """Whether `cls` is below `base`; a class that cannot be found is taken for a direct subclass of Exception."""
    return base is not None and issubclass(Exception if cls is None else cls, base)
