"""What people probably meant: hints for names that exist elsewhere, by the habits of Python, NumPy and Numba."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from quadrants.infer.values import Abstract, Arr, Choice, Const, Str, Text, Tup

#: Usual short names of modules.
_ALIASES: Mapping[str, str] = MappingProxyType(
    {"np": "numpy as np", "qd": "quadrants as qd", "plt": "matplotlib.pyplot as plt", "nb": "numba as nb"}
)

#: Attributes that arrays do not have -> what they have instead.
_OF_ARRAYS: Mapping[str, str] = MappingProxyType(
    {
        "length": "Use len(a), or a.size for all elements.",
        "len": "Use len(a), or a.size for all elements.",
        "append": "Arrays do not grow: fill one of the final size by index, or collect the items in a list.",
        "extend": "Arrays do not grow: fill one of the final size by index, or use np.concatenate.",
        "pop": "Arrays do not shrink: use a slice, a[:-1].",
        "push": "Arrays do not grow: fill one of the final size by index, or collect the items in a list.",
        "map": "Call the function on the array, or write a loop.",
        "apply": "Call the function on the array, or write a loop.",
        "to_numpy": "It is an array already.",
        "numpy": "It is an array already.",
        "cpu": "It is an array on the CPU already.",
    }
)

#: What to do instead of assigning these attributes of arrays.
_ASSIGNED: Mapping[str, str] = MappingProxyType(
    {
        "shape": "Use b = a.reshape(...).",
        "dtype": "Use a.view(dtype) or a.astype(dtype).",
        "T": "Write a.T[...] = b.",
    }
)

UNPACK = "Name as many targets as there are values; `*rest` takes what is left."

#: Classes and functions of Python that compiled code does not have -> what it has instead.
_INSTEAD: Mapping[object, str] = MappingProxyType(
    {
        set: "Use an array of flags, np.unique, or a sorted array and np.searchsorted.",
        frozenset: "Use an array of flags, np.unique, or a sorted array and np.searchsorted.",
        dict: "Use arrays indexed by number, or a named tuple where the keys are known.",
        bytes: "Use an array of np.uint8.",
        bytearray: "Use an array of np.uint8.",
        memoryview: "Use the array itself.",
        object: "Use a named tuple: typing.NamedTuple.",
        super: "Call the function of the base class by its name.",
        open: "Read the file in Python, and pass what is in it.",
        input: "Ask in Python, and pass the answer.",
        eval: "Write the expression as a function.",
        next: "Write a for loop.",
        id: "Compare the values, or number the objects yourself.",
        hash: "Compute it in Python, and pass it.",
        globals: "Pass the values as arguments.",
        locals: "Name the variables.",
        setattr: "Make a new named tuple: p._replace(x=1.0).",
        vars: "Name the attributes.",
        dir: "Name the attributes.",
    }
)

#: Modules that the interpreter keeps under another name.
_PUBLIC: Mapping[str, str] = MappingProxyType({"posix": "os", "nt": "os", "_io": "io", "_operator": "operator"})


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that names what was probably meant."""
    import difflib  # only errors need it, and it takes milliseconds to import

    close = difflib.get_close_matches(name, candidates, 1, 0.72)
    return f"Did you mean '{close[0]}'?" if close else None


def import_hint(name: str) -> str | None:
    """For a name that is not defined: how modules of this name are imported."""
    if name in _ALIASES or name in sys.stdlib_module_names:
        return f"Import it at the top of the file: import {_ALIASES.get(name, name)}."
    return None


def array_hint(name: str) -> str | None:
    """For an attribute that arrays do not have: what they have, or NumPy's function of the name."""
    if name in _OF_ARRAYS:
        return _OF_ARRAYS[name]
    return f"Did you mean np.{name}(a, ...)?" if name[0] != "_" and callable(getattr(np, name, None)) else None


def assignment_hint(owner: Abstract, name: str) -> str | None:
    """For an attribute that cannot be assigned."""
    if isinstance(owner, Tup) and owner.named is not None:
        return f"Named tuples cannot be changed: make a new one, p = p._replace({name}=...)."
    return _ASSIGNED.get(name) if isinstance(owner, Arr) else None


def item_hint(owner: Abstract) -> str | None:
    """For an item that cannot be assigned."""
    if isinstance(owner, Tup):
        return "Tuples cannot be changed: build a new one, or use an array."
    text = isinstance(owner, (Str, Text, Choice)) or (isinstance(owner, Const) and isinstance(owner.value, str))
    return "Strings cannot be changed: build a new one." if text else None


def call_hint(target: object) -> str | None:
    """For something that compiled code cannot call: what to use instead."""
    try:
        known = _INSTEAD.get(target)
    except TypeError:  # not hashable
        return None
    if known is None and hasattr(target, "__enter__"):
        return "Write the with statement in Python, around the call of the compiled function."
    return known


def module_name(module: str) -> str:
    """A module by the name that programs use."""
    return _PUBLIC.get(module, module)
