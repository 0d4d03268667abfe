"""Traceback entries for compiled code: frames that show the user's file, function, line and columns.

Takes places in the source; gives a chain of `types.TracebackType` as the interpreter would have made it. Each frame has a
code object of its own that is never run; its one location is the place.
"""

from __future__ import annotations

import ctypes
import functools
import os
import types
from collections.abc import Iterable

import quadrants
from quadrants.ir.origin import Loc, Scope

_LONG_FORM = 14  # kind of an entry of the location table: line, end line and columns as numbers
_LINE_FORM = 13  # a line without columns
_UNITS_AN_ENTRY = 8

#: The folder of this package: frames from here are ours, not the user's.
_OWN_FOLDER = os.path.dirname(os.path.abspath(quadrants.__file__ or "")) + os.sep


def _template() -> None:
    """The code of this function is the body of every synthetic frame."""


def build(
    places: Iterable[tuple[Scope, Loc | None]], inner: types.TracebackType | None = None
) -> types.TracebackType | None:
    """A traceback of places, the innermost first; `inner` is what lies further in. Frames of the library are left out."""
    found = inner
    for scope, loc in places:
        if not scope.internal:
            loc = loc or Loc(scope.firstlineno)
            found = types.TracebackType(found, _frame(scope, loc), 0, loc.line)
    return found


def without_own_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback less its outermost entries that are in this package."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
        traceback = traceback.tb_next
    return traceback


def _frame(scope: Scope, loc: Loc) -> types.FrameType:
    """A new frame, since a traceback keeps it and users may clear it."""
    code = _code(scope, loc)
    return _frame_maker()(_this_thread(), code, {"__name__": scope.qualname, "__builtins__": {}}, None)


@functools.cache
def _frame_maker() -> ctypes._FuncPointer:  # type: ignore[name-defined]
    make = ctypes.pythonapi["PyFrame_New"]
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    return make


def _this_thread() -> int | None:
    get = ctypes.pythonapi["PyThreadState_Get"]
    get.restype = ctypes.c_void_p
    state: int | None = get()
    return state


@functools.lru_cache(maxsize=1024)
def _code(scope: Scope, loc: Loc) -> types.CodeType:
    """A code object whose every instruction is at the place."""
    template = _template.__code__
    first = min(scope.firstlineno, loc.line)
    units = len(template.co_code) // 2
    return template.replace(
        co_filename=scope.filename,
        co_name=scope.qualname.rpartition(".")[2],
        co_qualname=scope.qualname,
        co_firstlineno=first,
        co_linetable=_line_table(loc, loc.line - first, units),
    )


def _line_table(loc: Loc, delta: int, units: int) -> bytes:
    """The location table: the same place for every code unit."""
    table = bytearray()
    while units > 0:
        length = min(units, _UNITS_AN_ENTRY)
        has_columns = loc.end_line >= loc.line and (loc.end_line > loc.line or loc.end_col > loc.col)
        kind = _LONG_FORM if has_columns else _LINE_FORM
        table.append(0x80 | kind << 3 | (length - 1))
        table += _signed(delta)
        if has_columns:
            table += _unsigned(loc.end_line - loc.line) + _unsigned(loc.col + 1) + _unsigned(loc.end_col + 1)
        units -= length
        delta = 0
    return bytes(table)


def _unsigned(value: int) -> bytes:
    """A number in groups of six bits, the lowest first."""
    parts = bytearray()
    while value >= 64:
        parts.append(64 | value & 63)
        value >>= 6
    parts.append(value)
    return bytes(parts)


def _signed(value: int) -> bytes:
    return _unsigned(-value << 1 | 1 if value < 0 else value << 1)
