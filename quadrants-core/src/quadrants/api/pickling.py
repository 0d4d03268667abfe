"""Pickling of dispatchers.

Takes a dispatcher; gives what `pickle` needs. A dispatcher that an import finds again is pickled by reference. Any other (in
`__main__`, in a notebook, in a function) is pickled by value: its code, and the globals and closure cells that the code names.
Where it arrives, an equal dispatcher of the same name is used instead, if there is one.

By value works with plain `pickle` as well as with cloudpickle, which also carries the plain functions among the globals.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import marshal
import sys
import types
from typing import TYPE_CHECKING, Any

from quadrants.cache.codec import find
from quadrants.options import Options

if TYPE_CHECKING:
    from quadrants.api.dispatcher import Dispatcher


def reduce_dispatcher(dispatcher: Dispatcher) -> str | tuple[Any, ...]:
    """For `__reduce__`."""
    function = dispatcher.py_func
    module, name = function.__module__, function.__qualname__
    if module != "__main__" and isinstance(module, str) and find(module, name) is dispatcher:
        return name
    options, signatures = dispatcher.options, dispatcher.declared
    if module != "__main__" and find(module, name) is function:
        return rebuild_around, (function, options, signatures)
    shell = (marshal.dumps(function.__code__), function.__name__, name, module, len(function.__closure__ or ()))
    return rebuild_shell, (shell, options), function_state(dispatcher), None, None, restore


def rebuild_around(function: types.FunctionType, options: Options, signatures: tuple[Any, ...]) -> Dispatcher:
    """A dispatcher of a function that was found by reference."""
    from quadrants.api.dispatcher import Dispatcher

    return Dispatcher(function, options, signatures)


def rebuild_shell(shell: tuple[Any, ...], options: Options) -> Dispatcher:
    """The equal dispatcher that is here, or a new one without its globals (they may refer to it: `restore` adds them)."""
    from quadrants.api.dispatcher import Dispatcher

    data, name, qualname, module, cells = shell
    code = marshal.loads(data)
    here = find(module, qualname) if isinstance(module, str) else None
    if isinstance(here, Dispatcher) and here.py_func.__code__ == code and cells == 0 and here.options == options:
        return here
    closure = tuple(types.CellType() for _ in range(cells))
    function = types.FunctionType(code, {"__builtins__": builtins, "__name__": module}, name, None, closure)
    function.__qualname__, function.__module__ = qualname, module
    return Dispatcher(function, options)


def function_state(dispatcher: Dispatcher) -> dict[str, Any]:
    """What a function needs beside its code."""
    function = dispatcher.py_func
    names = set(_global_names(function.__code__))
    return {
        "globals": {n: _pack(v) for n, v in function.__globals__.items() if n in names},
        "cells": [_cell_state(cell) for cell in function.__closure__ or ()],
        "defaults": function.__defaults__,
        "kwdefaults": function.__kwdefaults__,
        "doc": function.__doc__,
        "annotations": _picklable_annotations(function),
        "signatures": dispatcher.declared,
    }


def restore(dispatcher: Dispatcher, state: dict[str, Any]) -> None:
    """Complete a dispatcher that `rebuild_shell` made; leave one alone that was there."""
    function = dispatcher.py_func
    if dispatcher.complete:
        return
    function.__globals__.update({name: _unpack(value) for name, value in state["globals"].items()})
    for cell, content in zip(function.__closure__ or (), state["cells"], strict=True):
        if content:
            cell.cell_contents = _unpack(content[0])
    function.__defaults__, function.__kwdefaults__ = state["defaults"], state["kwdefaults"]
    function.__doc__, function.__annotations__ = state["doc"], state["annotations"]
    dispatcher.finish(state["signatures"])


class ModuleRef:
    """A module, pickled by name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def _pack(value: object) -> object:
    return ModuleRef(value.__name__) if isinstance(value, types.ModuleType) else value


def _unpack(value: object) -> object:
    return importlib.import_module(value.name) if isinstance(value, ModuleRef) else value


def _cell_state(cell: types.CellType) -> tuple[object, ...]:
    try:
        return (_pack(cell.cell_contents),)
    except ValueError:
        return ()


def _global_names(code: types.CodeType) -> set[str]:
    """Every global that the code or code inside it looks up."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _picklable_annotations(function: types.FunctionType) -> dict[str, Any]:
    """Annotations that pickle by themselves: texts, and classes that an import finds."""
    found = function.__annotations__
    return {name: value for name, value in found.items() if isinstance(value, str) or _importable(value)}


def _importable(value: Any) -> bool:
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return (
        isinstance(value, type) and module in sys.modules and module != "__main__" and find(module, name or "") is value
    )
