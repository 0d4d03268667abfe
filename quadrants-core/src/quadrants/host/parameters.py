"""Binding of arguments as Python does it.

Takes a Python function; gives `Parameters`, which put the arguments of a call in canonical order (positional, keyword-only,
then the items of `*args`) with defaults filled in, and raise the interpreter's own TypeError for a call that does not fit.
"""

from __future__ import annotations

import ctypes
import inspect
import types
from collections.abc import Sequence
from typing import Any

from quadrants._frozen import frozen
from quadrants.host.flags import PERM_NAMES, PERM_TOTAL


def _counting(name: str) -> Any:
    """A function of CPython that changes the reference count of the object at an address; 0 is none."""
    function = ctypes.pythonapi[name]
    function.restype, function.argtypes = None, (ctypes.c_void_p,)
    return function


class Permutation:
    """A form of calls that native code puts in canonical order: a node of the list that `support_call` walks.

    Args:
        following: the address of the next node, or 0.
        names: the keywords of the call, interned; None if it has none. Native code exchanges the tuple for the equal one of
            the last call, since a call site is known fastest by its own: the node owns a reference to it.
        count: the number of positional arguments.
        sources: for each canonical argument its number in the call, or the address of the default.
        kept: what owns the defaults.
    """

    __slots__ = ("__weakref__", "_kept", "_words")

    # Of the class, so that they are still there when the interpreter ends.
    _hold = staticmethod(_counting("Py_IncRef"))
    _drop = staticmethod(_counting("Py_DecRef"))
    _names_word = PERM_NAMES // 8

    def __init__(
        self, following: int, names: tuple[str, ...] | None, count: int, sources: Sequence[int], kept: object
    ) -> None:
        words = (following, id(names) if names else 0, count, len(sources), *sources)
        self._kept = kept
        self._words = (ctypes.c_uint64 * len(words))(*words)
        if names:
            self._hold(id(names))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._words)

    @property
    def total(self) -> int:
        """How many arguments there are in canonical order."""
        return self._words[PERM_TOTAL // 8]

    def __del__(self) -> None:
        self._drop(self._words[self._names_word])


class _Index(int):
    """The number of an argument, told from a default value by its type."""


def _locals() -> dict[str, object]:
    return locals()


@frozen
class Parameters:
    """The parameters of a function.

    Args:
        binder: a function with the same parameters and defaults that returns its arguments by name.
        names: positional and keyword-only parameters, in order.
        variable: the name of the `*args` parameter, or "".
        direct: whether positional arguments come in canonical order.
    """

    binder: types.FunctionType
    names: tuple[str, ...]
    variable: str
    direct: bool

    @classmethod
    def of(cls, function: types.FunctionType) -> Parameters:
        """The parameters of a function, with its present defaults."""
        code = function.__code__
        fixed = code.co_argcount + code.co_kwonlyargcount
        count = fixed + bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        kept = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
        template = _locals.__code__
        body = template.replace(
            co_argcount=code.co_argcount,
            co_posonlyargcount=code.co_posonlyargcount,
            co_kwonlyargcount=code.co_kwonlyargcount,
            co_varnames=code.co_varnames[:count],
            co_nlocals=count,
            co_flags=template.co_flags & ~kept | code.co_flags & kept,
            co_name=code.co_name,
            co_qualname=code.co_qualname,
        )
        binder = types.FunctionType(body, {"locals": locals}, function.__name__, function.__defaults__)
        binder.__kwdefaults__ = function.__kwdefaults__  # type: ignore[assignment]
        binder.__qualname__ = function.__qualname__
        variable = code.co_varnames[fixed] if code.co_flags & inspect.CO_VARARGS else ""
        return cls(binder, code.co_varnames[:fixed], variable, not code.co_kwonlyargcount)

    def permutation(self, count: int, keywords: Sequence[str]) -> list[object]:
        """Where each canonical argument comes from: an `_Index` into (positional..., keyword values...), or a default."""
        positional = [_Index(i) for i in range(count)]
        bound: dict[str, Any] = self.binder(*positional, **{name: _Index(count + i) for i, name in enumerate(keywords)})
        return [*(bound[name] for name in self.names), *(bound[self.variable] if self.variable else ())]


def apply(permutation: Sequence[object], arguments: Sequence[object]) -> tuple[object, ...]:
    """The arguments in canonical order."""
    return tuple(arguments[source] if type(source) is _Index else source for source in permutation)


def is_index(source: object) -> bool:
    """Whether an element of a permutation is the number of an argument."""
    return type(source) is _Index
