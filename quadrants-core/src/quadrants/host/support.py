"""The native functions that all entries share, loaded into this process on first use.

Takes `support_ir.text()`, compiled once and then kept in the cache as an object, so that a process with a warm cache loads
neither the text nor LLVM; gives addresses by name, after telling the code what it needs to know of this process: the types of
its answers, the method to ask, the type of buffers, the main thread's stack.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable

from quadrants.cache import fingerprint, store
from quadrants.host import layout, loader, pytype, symbols
from quadrants.host.elf import BadObject
from quadrants.host.os import system
from quadrants.host.target import host_target

#: What is left free of a stack for what a kernel calls: libm, the interpreter, raising.
_STACK_MARGIN = 256 << 10

_lock = threading.RLock()


class Retry(tuple):
    """The Python side's answer "dispatch again, with these arguments in canonical order"."""

    __slots__ = ()

    def __new__(cls, arguments: tuple[object, ...]) -> Retry:
        return super().__new__(cls, arguments)


class Raise(tuple):
    """The Python side's answer "raise this exception", so that no frame of ours is in its traceback."""

    __slots__ = ()

    def __new__(cls, error: BaseException) -> Raise:
        return super().__new__(cls, (error,))


class Support:
    """The loaded functions.

    Args:
        addresses: by symbol.
    """

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses
        self.buffer_type = _make_buffer_type(addresses["qd_buffer_dealloc"])
        self._name = sys.intern("_slow")
        self._set("qd_slow_name", id(self._name))
        self._set("qd_retry_type", id(Retry))
        self._set("qd_raise_type", id(Raise))
        self._set("qd_buffer_type", id(self.buffer_type))
        self._set("qd_main_thread", threading.main_thread().ident or 0)
        self._set("qd_other_limit", ctypes.cast(_LIMIT, ctypes.c_void_p).value or 0)

    def limit_here(self) -> int:
        """The stack limit of this thread. The main thread's, which is slow to find and never changes, is kept."""
        low, high = system().stack_bounds()
        limit = low + min(_STACK_MARGIN, (high - low) // 4) if low else 0
        if threading.current_thread() is threading.main_thread():
            self._set("qd_main_limit", limit)
            self._set("qd_main_low", low)
            self._set("qd_main_high", high)
        return limit

    def forget_thread(self) -> None:
        """In a child process, this thread is the main thread, and its stack is found anew."""
        self._set("qd_main_high", 0)
        self._set("qd_main_thread", threading.get_ident())

    def set_watch_table(self, address: int) -> None:
        """Switch to another table of watched names, by one store."""
        self._set("qd_watch_table", address)

    def _set(self, name: str, value: int) -> None:
        ctypes.c_uint64.from_address(self.addresses[name]).value = value


def address_of(name: str) -> int:
    """The address of a support function. Raises `UndefinedSymbol`."""
    address = support().addresses.get(name)
    if address is None:
        raise symbols.UndefinedSymbol(name)
    return address


def support() -> Support:
    """The support functions of this process."""
    with _lock:
        return _support()


@functools.cache
def _support() -> Support:
    return Support(load_text("support", _text))


def _text() -> str:
    from quadrants.host import support_ir  # where it is not in the cache

    return support_ir.text()


def lock() -> contextlib.AbstractContextManager[object]:
    """Held while code that all entries share is loaded."""
    return _lock


def load_text(name: str, text: Callable[[], str], quick: bool = True) -> dict[str, int]:
    """The symbols of a module of the host's own: out of the cache, or compiled and kept there. Its text, the same for one name,
    compiler, interpreter and machine, needs no passes; `quick`: instructions are selected fast, not well."""
    kept = store.current()
    file = _cache_name(name) if kept else ""
    if kept and kept.usable():
        data = kept.read(file)
        if data is not None:
            try:
                return loader.load(data, symbols.resolve)
            except BadObject:  # a cache of another machine: made anew below
                pass
    from quadrants.host.codegen import compile_ir  # loads LLVM

    data = (compile_ir(text(), opt_level=0) if quick else compile_ir("", text())).object_bytes
    if kept:
        kept.write(file, data)
    return loader.load(data, symbols.resolve)


def _cache_name(name: str) -> str:
    """By what the text is made from: it is quicker to find than the text is to make."""
    key = (fingerprint.compiler_key(), layout.fingerprint(), host_target().fingerprint)
    return f"{name}-{fingerprint.digest(key)}"


def _make_buffer_type(dealloc: int) -> type:
    """The owner of array memory that a kernel allocated: the base of the ndarray that it returned."""
    flags = pytype.TPFLAGS_DEFAULT | pytype.TPFLAGS_DISALLOW_INSTANTIATION
    made = pytype.make_type("quadrants.Buffer", layout.OBJECT_SIZE + 8, flags, slots=((pytype.SLOT_DEALLOC, dealloc),))
    made.__doc__ = "Memory of an array that compiled code allocated; freed with the last array that refers to it."
    return made


#: What the native code calls for the stack limit of a thread. Made here: the first call of a kernel waits for less.
_LIMIT = ctypes.PYFUNCTYPE(ctypes.c_int64)(lambda: _support().limit_here())


def _after_fork() -> None:
    """The only thread of a child process is its main thread, whichever it was in the parent; no other can hold the lock."""
    global _lock
    _lock = threading.RLock()
    if _support.cache_info().currsize:
        _support().forget_thread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
