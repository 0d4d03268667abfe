"""Fingerprints: of code, of values, of types and of this compiler.

Takes objects of the user's program; gives plain nested tuples (`*_key`) and hexadecimal digests of them. Equal digests mean
that the compiler would make the same code. A value that has no such key (an object known only by its identity) raises
`Uncacheable`.
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

try:
    from _blake2 import blake2b  # `hashlib` would load OpenSSL, which takes longer than a cached call
except ImportError:
    from hashlib import blake2b

from quadrants.types import LiteralType, NamedTupleType, OptionalType, TupleType, Type
from quadrants.types.names import TypeName

FORMAT = 1  # of the files; raise it when they change
_HEAP_TYPE = 1 << 9  # the flag of classes that were made by a class statement
_MARSHAL_VERSION = 2  # the last one whose output depends on the value alone, not on reference counts


class Uncacheable(Exception):
    """Something that code depends on has no fingerprint; the text says what."""


def digest(key: object) -> str:
    """The hexadecimal digest of a nested tuple of plain values."""
    return digest_bytes(_marshalled(key))


def digest_bytes(data: bytes) -> str:
    """The hexadecimal digest of bytes."""
    return blake2b(data, digest_size=20).hexdigest()


def _marshalled(key: Any) -> bytes:
    return marshal.dumps(key, _MARSHAL_VERSION)


# Code and values


def code_key(code: types.CodeType) -> tuple[object, ...]:
    """All of a code object except the name of its file, which does not change what it does."""
    return (
        code.co_name,
        code.co_qualname,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_code,
        tuple(map(_constant_key, code.co_consts)),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_exceptiontable,
        code.co_linetable,
        code.co_firstlineno,
    )


def _constant_key(value: object) -> object:
    """A constant of a code object, as something that marshals the same everywhere."""
    if isinstance(value, types.CodeType):
        return code_key(value)
    if isinstance(value, tuple):
        return ("tuple", *map(_constant_key, value))
    if isinstance(value, frozenset):
        return ("frozenset", *sorted(_marshalled(_constant_key(item)) for item in value))
    if isinstance(value, slice):
        return ("slice", *map(_constant_key, (value.start, value.stop, value.step)))
    return value


def value_key(value: object, seen: dict[int, int] | None = None) -> object:
    """What code compiled against a global, a closure cell or a literal argument depends on."""
    seen = {} if seen is None else seen
    rule = _RULES.get(type(value))
    if rule is not None:
        return rule(value, seen)
    for cls, by_class in _BASES:
        if isinstance(value, cls):
            return by_class(value, seen)
    if hasattr(type(value), "__quadrants_dispatcher__"):
        return ("dispatcher", function_key(value.py_func, seen), value.options.key())  # type: ignore[attr-defined]
    if hasattr(type(value), "__quadrants_tensor__"):  # its memory is an argument of the code
        return ("tensor", value_key(value.__quadrants_argument__, seen))  # type: ignore[attr-defined]
    if hasattr(type(value), "__quadrants_key__"):
        parts = value.__quadrants_key__()  # type: ignore[attr-defined]
        return ("keyed", type(value).__qualname__, *(value_key(part, seen) for part in parts))
    for mark in ("__quadrants_device__", "__quadrants_backend__"):  # names of kernels, and their namespaces
        if hasattr(type(value), mark):
            return (mark, getattr(value, mark))
    raise Uncacheable(f"an object of type {type(value).__qualname__}")


def function_key(function: types.FunctionType, seen: dict[int, int] | None = None) -> object:
    """A function's code, defaults and closure. The globals that it uses are dependencies of their own."""
    seen = {} if seen is None else seen
    if id(function) in seen:
        return ("seen", seen[id(function)])
    seen[id(function)] = len(seen)
    kwdefaults = sorted((function.__kwdefaults__ or {}).items())
    return (
        "function",
        code_key(function.__code__),
        tuple(value_key(item, seen) for item in function.__defaults__ or ()),
        tuple((name, value_key(item, seen)) for name, item in kwdefaults),
        tuple(_cell_key(cell, seen) for cell in function.__closure__ or ()),
    )


def type_key(type_: Type) -> object:
    """A type; literal values and the classes of named tuples by what they are, not by their text."""
    if isinstance(type_, LiteralType):
        return ("literal", value_key(type_.value))
    if isinstance(type_, NamedTupleType):
        return ("named", value_key(type_.cls), *map(type_key, type_.items))
    if isinstance(type_, TupleType):
        return ("tuple", *map(type_key, type_.items))
    if isinstance(type_, OptionalType):
        return ("optional", type_key(type_.item))
    return str(type_)


def _cell_key(cell: types.CellType, seen: dict[int, int]) -> object:
    try:
        return value_key(cell.cell_contents, seen)
    except ValueError:
        return ("empty",)


def _tuple_key(value: tuple[object, ...], seen: dict[int, int]) -> object:
    return (_name(type(value)), *(value_key(item, seen) for item in value))


def _class_key(value: type, seen: dict[int, int]) -> object:
    """A class by its name; one that a program defined also by its constants and functions, which code may read."""
    if id(value) in seen:
        return ("seen", seen[id(value)])
    seen[id(value)] = len(seen)
    fields = getattr(value, "_fields", None) if issubclass(value, tuple) else None
    if not value.__flags__ & _HEAP_TYPE:
        return ("class", _name(value), fields)
    members = tuple(
        (name, key) for name, item in sorted(vars(value).items()) if (key := _member_key(item, seen)) is not None
    )
    return ("class", _name(value), fields, members, tuple(_class_key(base, seen) for base in value.__bases__))


def _member_key(value: object, seen: dict[int, int]) -> object:
    """The key of a class's attribute if it can be part of compiled code."""
    value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    if not isinstance(value, (bool, int, float, complex, str, bytes, tuple, np.generic, types.FunctionType)):
        if not hasattr(type(value), "__quadrants_dispatcher__"):
            return None
    try:
        return value_key(value, seen)
    except Uncacheable:
        return None


def _array_key(value: np.ndarray, seen: dict[int, int]) -> object:
    """Arrays are arguments of compiled code, never constants of it: it depends on the type, and on which are the same array."""
    flags = value.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    number = seen.setdefault(id(value), len(seen))
    return ("array", value.dtype.str, value.ndim, layout, flags.writeable, flags.aligned, number)


def _named_key(value: Any, seen: dict[int, int]) -> object:
    """Functions written in C, known by name."""
    module = getattr(value, "__module__", None) or getattr(getattr(value, "__self__", None), "__name__", "")
    return (type(value).__name__, module, getattr(value, "__qualname__", None) or value.__name__)


def _name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _plain(value: object, seen: dict[int, int]) -> object:
    return value


def _wrapped_key(value: Any, seen: dict[int, int]) -> object:
    """A static method, a class method or a property, by the function in it."""
    function = value.fget if isinstance(value, property) else value.__func__
    return (type(value).__name__, value_key(function, seen))


_Rule = Callable[[Any, dict[int, int]], object]

_RULES: dict[type, _Rule] = {
    **dict.fromkeys((type(None), bool, int, float, complex, str, bytes, type(Ellipsis)), _plain),
    tuple: _tuple_key,
    frozenset: lambda value, seen: _constant_key(value),
    types.FunctionType: function_key,
    types.CodeType: lambda value, seen: code_key(value),
    types.BuiltinFunctionType: _named_key,
    types.ModuleType: lambda value, seen: ("module", value.__name__),
    np.ufunc: _named_key,
    np.ndarray: _array_key,
    type(np.sum): _named_key,
    **dict.fromkeys((staticmethod, classmethod, property), _wrapped_key),
    TypeName: lambda value, seen: ("type", repr(value)),
}

_BASES: tuple[tuple[type, _Rule], ...] = (
    (np.dtype, lambda value, seen: ("dtype", value.str)),
    (np.generic, lambda value, seen: ("scalar", value.dtype.str, value.tobytes())),
    (type, _class_key),
    (tuple, _tuple_key),
)


# The compiler


@functools.cache
def compiler_key() -> tuple[object, ...]:
    """This compiler: its version and sources, the interpreter, NumPy, and llvmlite (not imported)."""
    from quadrants._version import __version__

    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (
        FORMAT,
        __version__,
        _installation(root, __version__) or digest(tuple(sorted(_source_stats(root, "")))),
        sys.version,
        sys.implementation.cache_tag,
        np.__version__,
        _llvmlite_stats(),
    )


def _installation(root: str, version: str) -> tuple[int, int] | None:
    """The size and time of the record that an installer wrote beside the package; None where it works from a source tree,
    whose files are looked at one by one."""
    record = os.path.join(os.path.dirname(root), f"quadrants_core-{version}.dist-info", "RECORD")
    try:
        stat = os.stat(record)
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


@functools.cache
def package_key(module: str) -> str:
    """The sources of the package that a module belongs to: their sizes and times."""
    root = getattr(sys.modules[module.partition(".")[0]], "__file__", None) or ""
    return digest(tuple(sorted(_source_stats(os.path.dirname(os.path.abspath(root)), ""))))


def _source_stats(folder: str, prefix: str) -> list[str]:
    """Path, size and time of change of every Python file below a folder: as texts, which no collection of garbage looks at."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name  # asked first, as most entries are files: a cached call waits for this
            if name.endswith(".py"):
                stat = entry.stat()
                found.append(f"{prefix}{name} {stat.st_size} {stat.st_mtime_ns}")
            elif not name.startswith((".", "__pycache__")) and entry.is_dir():
                found += _source_stats(entry.path, f"{prefix}{name}/")
    return found


def _llvmlite_stats() -> tuple[object, ...]:
    """Identifies the installed llvmlite by the files that hold its version and its library."""
    for folder in sys.path:
        package = os.path.join(folder or ".", "llvmlite")
        try:
            version = os.stat(os.path.join(package, "_version.py"))
            with os.scandir(os.path.join(package, "binding")) as entries:
                libraries = sorted((e.name, e.stat().st_size) for e in entries if "llvmlite" in e.name)
        except OSError:
            continue
        return (version.st_size, version.st_mtime_ns, tuple(libraries))
    return ()
