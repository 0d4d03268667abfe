"""The whole way from raw instructions to a `Function`, and the choice of the version table.

Takes a `RawCode` (of the running interpreter, or recorded on another) and the table of its version. Legal on any input;
raises `BytecodeError` on what no compiler makes.
"""

from __future__ import annotations

import sys
import types
from importlib import import_module

from .blocks import build
from .error import BytecodeError
from .finish import finish
from .graph import lower_loops, make
from .protect import protect
from .raw import CO_VARARGS, CO_VARKEYWORDS, RawCode, is_generator
from .regions import place, unfit_loops
from .rules import Table
from .simplify import simplify
from .structure import structure
from .tree import Function, Params

VERSIONS = {(3, 11): "v311", (3, 12): "v312", (3, 13): "v313", (3, 14): "v314"}


def table_for(version: tuple[int, int] = sys.version_info[:2]) -> Table:
    """The instruction table of a Python version (only that one is loaded)."""
    module = VERSIONS.get(version)
    if module is None:
        raise BytecodeError(f"the bytecode of Python {version[0]}.{version[1]} is not supported")
    table: Table = import_module(f".{module}", __package__).TABLE
    return table


def function_of(code: RawCode, table: Table, origin: types.CodeType | None = None) -> Function:
    """The region tree of raw code."""
    try:
        graph = make(build(code, table))
        layout = place(graph)
        unfit = unfit_loops(graph, layout)
        if unfit:
            graph = lower_loops(graph, unfit)
            layout = place(graph)
        items = simplify(protect(graph, structure(graph, layout)))
        body = finish(items, graph, code.slots, code.cells)
    except RecursionError:
        raise BytecodeError("the code is nested too deeply", None, code.firstlineno) from None
    params = Params(
        code.argcount,
        code.posonly,
        code.kwonly,
        bool(code.flags & CO_VARARGS),
        bool(code.flags & CO_VARKEYWORDS),
    )
    return Function(origin, params, code.slots, body, is_generator(code.flags), code.name, code.filename)
