"""Dispatcher objects: Python classes whose call is native.

Takes a Python class with the methods; gives a leaf type with two machine words more: the vectorcall function (the head of the
chain of entries) and the list of permutations for keywords and defaults. While the first word is 0, CPython calls `__call__`, which
switches the native path on; from then on no frame of ours is on the way of a call.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Collection
from typing import Any

from quadrants.diagnostics import Code, InternalError
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.host import layout, pytype
from quadrants.host.flags import MAX_ARGUMENTS, PERMUTATIONS, TYPE_VECTORCALL_OFFSET
from quadrants.host.parameters import Parameters, Permutation, apply, is_index
from quadrants.host.specialisation import Loaded, load_specialisation
from quadrants.host.support import Raise, Retry, support

_MAX_PERMUTATIONS = 64
#: Errors of `_miss` that concern the user's program, not the compiler: shown without the frames in between.
_USER_ERRORS = (QuadrantsError, OverflowError)


class DispatcherBase:
    """What a class passed to `make_dispatcher_type` inherits from. See `quadrants.host` for what it must provide."""

    __slots__ = ("__dict__", "__weakref__", "_entries", "_lock", "_parameters", "_permutations", "_retired")

    _parameters: Parameters
    _entries: list[Loaded]
    _retired: list[Loaded]
    _permutations: list[Permutation]
    _lock: threading.Lock

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = super().__new__(cls)
        self._entries = []
        self._retired = []
        self._permutations = []
        self._lock = threading.Lock()
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _inherit_vectorcall(cls)

    @property
    def __call__(self) -> Any:
        """The dispatcher itself, made ready: CPython looks this up for the first call only."""
        _activate(self)
        return self

    def _miss(self, arguments: tuple[Any, ...], retried: bool) -> object:
        raise InternalError(Code.INTERNAL, f"{type(self).__qualname__} does not say what to do with new argument types")

    def _slow(self, canonical: bool, retried: bool, names: tuple[str, ...] | None, *given: object) -> object:
        """The end of the chain: bind the arguments, then `_miss`. Never raises what can be told by `Raise`."""
        if not canonical:
            try:
                bound = self._bind(names or (), given)
            except TypeError as error:
                return Raise(error.with_traceback(None))
            if bound is not None:
                return Retry(bound)  # in this order the chain may take them
        try:
            answer = self._miss(given, retried)
            if retried and type(answer) is Retry:
                raise InternalError(Code.INTERNAL, "no compiled code takes the arguments that it was compiled for")
            return answer
        except _USER_ERRORS as error:
            return Raise(error.with_traceback(None))

    def _bind(self, names: tuple[str, ...], given: tuple[object, ...]) -> tuple[object, ...] | None:
        """The arguments in canonical order, None if they are in it. Calls of this form are permuted natively from now on."""
        count = len(given) - len(names)
        permutation = self._parameters.permutation(count, names)
        if not names and len(permutation) == count and self._parameters.direct:
            return None
        if layout.native_call_supported():
            interned = tuple(map(sys.intern, names))
            # The very tuple of the call, if it will do: it is found fastest.
            same = all(a is b for a, b in zip(names, interned))
            self._remember((names if same else interned) or None, count, permutation)
        return apply(permutation, given)

    def _remember(self, names: tuple[str, ...] | None, count: int, permutation: list[object]) -> None:
        """Add a permutation to the native list (see `support_call`)."""
        if len(permutation) >= MAX_ARGUMENTS or count + len(names or ()) >= MAX_ARGUMENTS:
            return
        with self._lock:
            if len(self._permutations) >= _MAX_PERMUTATIONS:
                return
            head = _word(self, PERMUTATIONS)
            sources = [int(s) if is_index(s) else id(s) for s in permutation]  # type: ignore[call-overload]
            node = Permutation(head.value, names, count, sources, permutation)
            self._permutations.append(node)
            head.value = node.address
            for loaded in self._entries:
                _offer(loaded, node)


def make_dispatcher_type(base: type[DispatcherBase]) -> Any:
    """The class to make dispatchers of: `base` with the call. It may be subclassed."""
    if not layout.native_call_supported():
        from quadrants.host import fallback  # the ctypes path

        names = {name: getattr(base, name) for name in ("__module__", "__qualname__", "__doc__")}
        return type(base.__name__, (base,), {"__slots__": (), "__call__": fallback.call, **names})
    offset = base.__basicsize__
    made: Any = pytype.make_type(
        f"{base.__module__}.{base.__name__}",
        offset + 16,
        pytype.TPFLAGS_DEFAULT | pytype.TPFLAGS_BASETYPE | pytype.TPFLAGS_HAVE_VECTORCALL,
        base=base,
        vectorcall_offset=offset,
    )
    if (
        layout.read(id(made) + TYPE_VECTORCALL_OFFSET, "q") != offset
        or not made.__flags__ & pytype.TPFLAGS_HAVE_VECTORCALL
    ):
        raise InternalError(Code.INTERNAL, "the vectorcall slot of a dispatcher type is not where it should be")
    made.__doc__ = base.__doc__
    made.__qualname__ = base.__qualname__
    return made


def install(dispatcher: DispatcherBase, loaded: Loaded, behind: Collection[Loaded] = ()) -> None:
    """Let calls that fit run the code. It comes first in the chain, but for code that it must stay behind."""
    with dispatcher._lock:
        loaded.belong_to(dispatcher)
        entries = dispatcher._entries
        index = max((number + 1 for number, other in enumerate(entries) if other in behind), default=0)
        entries.insert(index, loaded)
        if loaded.spec.native:
            for node in dispatcher._permutations:
                _offer(loaded, node)
            if index:
                loaded.set_next(entries[index - 1].next)
                entries[index - 1].set_next(loaded.entry)
                return
            head = _word(dispatcher)
            loaded.set_next(head.value or _tail())
            head.value = loaded.entry


def uninstall(dispatcher: DispatcherBase, loaded: Loaded) -> None:
    """Take code out of the chain. A call that runs it goes on; its objects live as long as the dispatcher."""
    with dispatcher._lock:
        loaded.invalidate()
        if loaded not in dispatcher._entries:
            return
        index = dispatcher._entries.index(loaded)
        if loaded.spec.native:
            if index:
                dispatcher._entries[index - 1].set_next(loaded.next)
            else:
                _word(dispatcher).value = loaded.next
        dispatcher._retired.append(dispatcher._entries.pop(index))


def _offer(loaded: Loaded, node: Permutation) -> None:
    """Let an entry take calls of this form itself, if it has as many arguments."""
    if node.total == len(loaded.spec.params):
        loaded.set_permutation(node)


def _activate(dispatcher: DispatcherBase) -> None:
    """Give the vectorcall word its first value."""
    with dispatcher._lock:
        head = _word(dispatcher)
        if not head.value:
            head.value = _tail()


@functools.cache
def _tail() -> int:
    return support().addresses["qd_tail"]


def _word(dispatcher: DispatcherBase, offset: int = 0) -> ctypes.c_uint64:
    """A machine word of a dispatcher: the vectorcall function, or at 8 the permutations."""
    return ctypes.c_uint64.from_address(id(dispatcher) + _vectorcall_offset(type(dispatcher)) + offset)


def _vectorcall_offset(cls: type) -> int:
    offset = int(layout.read(id(cls) + TYPE_VECTORCALL_OFFSET, "q"))
    if offset <= 0:
        raise InternalError(Code.INTERNAL, f"{cls.__qualname__} was not made by make_dispatcher_type")
    return offset


def _inherit_vectorcall(cls: type) -> None:
    """Set the flag that CPython does not pass on to Python subclasses: without `__call__` of their own they are called the same."""
    if not layout.native_call_supported():
        return
    leaf = next((c for c in cls.__mro__ if c.__flags__ & pytype.TPFLAGS_HAVE_VECTORCALL), None)
    if leaf is None or cls is leaf or any("__call__" in c.__dict__ for c in cls.__mro__[: cls.__mro__.index(leaf)]):
        return
    flags = ctypes.c_ulong.from_address(id(cls) + layout.TYPE_FLAGS)
    flags.value |= pytype.TPFLAGS_HAVE_VECTORCALL
    modified = ctypes.pythonapi["PyType_Modified"]
    modified.argtypes = (ctypes.py_object,)
    modified(cls)


__all__ = [
    "DispatcherBase",
    "Loaded",
    "Parameters",
    "Retry",
    "install",
    "load_specialisation",
    "make_dispatcher_type",
    "uninstall",
]
