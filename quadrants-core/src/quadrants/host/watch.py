"""Watches the globals that compiled code depends on.

Takes (dict, name, address of a valid word); from then on any change of that name clears the word, by a native callback of
CPython's dict watchers (3.12 and later; about 5 ns for a change that concerns nobody). So does a change of a function's code or
defaults, by its function watchers. 3.11 has no watchers: there the entries compare dict versions (`version_table`).
"""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from collections.abc import Sequence
from types import FunctionType

from quadrants.host import layout
from quadrants.host.flags import WATCH_SLOT
from quadrants.host.spec import MISSING, GlobalDependency
from quadrants.host.support import support

_FIRST_CAPACITY = 64
_WORD = 8


class Watcher:
    """The watched names of this process. An open-addressing table that only this class writes and only the callback reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, list[tuple[int, int]]] = {}  # address of a valid word -> (dict, hash)
        self._capacity = _FIRST_CAPACITY
        self._used = 0
        self._table = self._empty(self._capacity)
        add = ctypes.pythonapi["PyDict_AddWatcher"]
        add.argtypes = (ctypes.c_void_p,)
        self._id: int = add(support().addresses["qd_watch"])
        self._watch = ctypes.pythonapi["PyDict_Watch"]
        self._watch.argtypes = (ctypes.c_int, ctypes.py_object)
        add_function = ctypes.pythonapi["PyFunction_AddWatcher"]
        add_function.argtypes = (ctypes.c_void_p,)
        add_function(support().addresses["qd_watch_function"])
        support().set_watch_table(ctypes.addressof(self._table))

    def add(self, dependencies: Sequence[GlobalDependency], functions: Sequence[FunctionType], word: int) -> None:
        """Clear `word` when one of the names, or the code or the defaults of one of the functions, changes."""
        with self._lock:
            rows = [(id(d.namespace), hash(d.key)) for d in dependencies]
            rows += [(id(function), 0) for function in dict.fromkeys(functions)]
            known = self._rows.get(word)
            if known != rows:
                self._rows[word] = rows
                self._rebuild()
        for namespace in {id(d.namespace): d.namespace for d in dependencies}.values():
            self._watch(self._id, namespace)

    def drop(self, word: int) -> None:
        """Forget a valid word; its slots go when the table is made again."""
        self._rows.pop(word, None)

    def _rebuild(self) -> None:
        """A fresh table of the live rows: one store makes it the one in use."""
        rows = [(dict_, hash_, word) for word, pairs in list(self._rows.items()) for dict_, hash_ in pairs]
        while 2 * len(rows) > self._capacity:
            self._capacity *= 2
        table = self._empty(self._capacity)
        for dict_, hash_, word in rows:
            at = (hash_ ^ (dict_ >> 4)) & (self._capacity - 1)
            while table[1 + 3 * at]:
                at = (at + 1) & (self._capacity - 1)
            table[1 + 3 * at : 4 + 3 * at] = [dict_, hash_ & (2**64 - 1), word]
        previous, self._table = self._table, table
        support().set_watch_table(ctypes.addressof(table))
        _reference("Py_DecRef", previous)

    @staticmethod
    def _empty(capacity: int) -> ctypes.Array[ctypes.c_uint64]:
        """A table without rows, kept by a reference of its own: dicts still change when this module is already gone at exit."""
        table = (ctypes.c_uint64 * (1 + capacity * WATCH_SLOT // _WORD))(capacity - 1)
        _reference("Py_IncRef", table)
        return table


def _reference(change: str, obj: object) -> None:
    function = ctypes.pythonapi[change]
    function.restype, function.argtypes = None, (ctypes.py_object,)
    function(obj)


@functools.cache
def watcher() -> Watcher:
    """The watcher of this process (3.12 and later)."""
    return Watcher()


def watch(
    owner: object, dependencies: Sequence[GlobalDependency], functions: Sequence[FunctionType], word: int
) -> None:
    """Clear `word` when a name or a function changes, as long as `owner` lives."""
    first = word not in watcher()._rows
    watcher().add(dependencies, functions, word)
    if first:
        weakref.finalize(owner, watcher().drop, word).atexit = False


def version_table(dependencies: Sequence[GlobalDependency]) -> ctypes.Array[ctypes.c_uint64]:
    """3.11: what `qd_revalidate` and the entry compare: (dict, version) pairs, a count, (dict, key, value) rows."""
    namespaces = {id(d.namespace): d.namespace for d in dependencies}
    pairs = [part for at in namespaces for part in (at, int(layout.read(at + layout.DICT_VERSION, "Q")))]
    rows = [part for d in dependencies for part in (id(d.namespace), id(d.key), _address(d.value))]
    words = (*pairs, len(dependencies), *rows)
    return (ctypes.c_uint64 * len(words))(*words)


def _address(value: object) -> int:
    return 0 if value is MISSING else id(value)
