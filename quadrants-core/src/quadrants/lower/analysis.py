"""What lowering must know of a module before it starts: which functions raise, and which exception classes there are.

Takes a module; gives `Exceptions`. Conservative: a function that is said not to raise does not.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from quadrants.ir.core import Function, Module, Op, Region
from quadrants.lower.abi import PYTHON_ERROR

INDEX_ERROR = "builtins:IndexError"
VALUE_ERROR = "builtins:ValueError"
MEMORY_ERROR = "builtins:MemoryError"
RECURSION_ERROR = "builtins:RecursionError"

#: The classes that an op raises by its nature, beside those in its attribute `exc`.
IMPLIED = {
    "index": (INDEX_ERROR,),
    "load": (INDEX_ERROR,),
    "store": (INDEX_ERROR,),
    "alloc": (VALUE_ERROR, MEMORY_ERROR),
}

#: Ops that may leave an error of Python's behind, under the class number PYTHON_ERROR.
_PYTHON = frozenset({"poll", "pycall"})


@dataclass(eq=False, slots=True)
class Exceptions:
    """Which functions raise, and the class table.

    Args:
        raising: names of the functions that may return an exception.
        classes: "module:qualname", by class number - 1.
        allocating: names of the functions that allocate arrays themselves.
        python_errors: whether an exception of the module may be an error that is set in the interpreter.
    """

    raising: frozenset[str] = frozenset()
    classes: list[str] = field(default_factory=list)
    allocating: frozenset[str] = frozenset()
    python_errors: bool = False

    def number(self, name: str) -> int:
        """The class number of a class of the table."""
        return self.classes.index(name) + 1

    def matching(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The numbers of the classes that are one of the named ones or below it."""
        wanted = [(name, find_class(name)) for name in names]
        return tuple(
            number
            for number, name in enumerate(self.classes, 1)
            if any(name == other or _is_subclass(find_class(name), cls) for other, cls in wanted)
        )


def analyse(module: Module) -> Exceptions:
    """Look at every function of the module."""
    classes: dict[str, None] = {}
    allocating: set[str] = set()
    python_errors = False
    for function in module.functions.values():
        if function.attrs.get("recursive"):
            classes[RECURSION_ERROR] = None
        for op in function.body.walk():
            python_errors |= op.name in _PYTHON
            if op.name == "alloc":
                allocating.add(function.name)
            if (name := op.attrs.get("exc")) is not None:
                classes[str(name)] = None
            if op.name in IMPLIED and op.defn.raises(op):
                classes.update(dict.fromkeys(IMPLIED[op.name]))
    if len(classes) >= PYTHON_ERROR:
        raise ValueError(f"a module can raise at most {PYTHON_ERROR - 1} exception classes")
    return Exceptions(_raising(module), list(classes), frozenset(allocating), python_errors)


def escaping(region: Region) -> Iterator[Op]:
    """The ops whose exceptions would leave the region: all but those in the body of a `try`."""
    for op in region.ops:
        yield op
        regions = op.regions[1:] if op.name == "try" else op.regions
        for inner in regions:
            yield from escaping(inner)


def _raising(module: Module) -> frozenset[str]:
    """The functions that may return an exception: they raise, or call one that does, outside of a `try`."""
    raising: set[str] = set()
    callers: dict[str, set[str]] = {}
    for name, function in module.functions.items():
        if function.attrs.get("recursive"):
            raising.add(name)
        for op in escaping(function.body):
            if op.name == "call":
                if not op.attrs.get("nothrow"):
                    callers.setdefault(str(op.attrs["callee"]), set()).add(name)
            elif op.defn.raises(op):
                raising.add(name)
    work = list(raising)
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in raising:
                raising.add(caller)
                work.append(caller)
    return frozenset(raising)


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


def function_calls(function: Function) -> Iterator[str]:
    """The names of the functions that it calls."""
    for op in function.body.walk():
        if op.name == "call":
            yield str(op.attrs["callee"])
