"""The thread pool of this process: the code of `pool_ir`, loaded when the first parallel code is, and how many threads it uses.

The workers start with the first region that is large enough, and sleep between regions. They are threads of the system that never
touch the interpreter; the process may end while they sleep. A child process begins with a pool that has no workers yet.
"""

from __future__ import annotations

import ctypes
import functools
import os

from quadrants import config
from quadrants.diagnostics import Code, SettingError
from quadrants.host import pool_layout, support, symbols
from quadrants.host.os import system

#: What `set_num_threads` was given.
_chosen: int | None = None


class Pool:
    """The loaded functions.

    Args:
        addresses: by symbol.
    """

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses
        self.want(get_num_threads())

    def want(self, count: int) -> None:
        """Let regions that begin from now on have so many threads."""
        self._word(pool_layout.WANTED).value = count

    def started(self) -> int:
        """How many workers there are."""
        return self._word(pool_layout.STARTED).value

    def forget(self) -> None:
        """In a child process: no worker is here, and no region is running."""
        count = self._word(pool_layout.WANTED).value
        ctypes.memset(self.addresses["qd_pool"], 0, pool_layout.POOL_BYTES)
        self.want(count)

    def _word(self, offset: int) -> ctypes.c_int32:
        return ctypes.c_int32.from_address(self.addresses["qd_pool"] + offset)


def address_of(name: str) -> int:
    """The address of a function of the pool. Raises `UndefinedSymbol`."""
    address = pool().addresses.get(name)
    if address is None:
        raise symbols.UndefinedSymbol(name)
    return address


def pool() -> Pool:
    """The pool of this process."""
    with support.lock():
        return _pool()


@functools.cache
def _pool() -> Pool:
    return Pool(support.load_text("pool", _text))


def _text() -> str:
    from quadrants.host import pool_ir  # where it is not in the cache

    return pool_ir.text(system().threads_text())


def default_num_threads() -> int:
    """The setting QUADRANTS_NUM_THREADS, or the number of CPUs that this process may run on."""
    chosen = config.get(config.Config.NUM_THREADS)
    if chosen is None:
        allowed = getattr(os, "sched_getaffinity", None)  # not on every system
        chosen = len(allowed(0)) if allowed is not None else os.cpu_count() or 1
    return min(int(chosen), pool_layout.MAX_THREADS)


def get_num_threads() -> int:
    """How many threads a parallel loop may use: what `set_num_threads` was given last, else `QUADRANTS_NUM_THREADS`, else
    the number of CPUs that this process may run on.

    >>> import quadrants as qd
    >>> qd.set_num_threads(2)
    >>> qd.get_num_threads()
    2
    """
    return default_num_threads() if _chosen is None else _chosen


def set_num_threads(count: int) -> None:
    """Let parallel loops of this process use so many threads, the calling one included, from now on.

    >>> import quadrants as qd
    >>> qd.set_num_threads(1)  # parallel loops run in order, in the calling thread
    >>> qd.get_num_threads()
    1
    """
    global _chosen
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"the number of threads is an int, not {type(count).__name__}")
    if not 1 <= count <= pool_layout.MAX_THREADS:
        raise SettingError(
            Code.BAD_SETTING,
            f"set_num_threads({count}) is not possible: the number of threads is from 1 to {pool_layout.MAX_THREADS}",
        )
    _chosen = count
    if _pool.cache_info().currsize:
        _pool().want(count)


def _after_fork() -> None:
    """Only the thread that forked is in a child process."""
    if _pool.cache_info().currsize:
        _pool().forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
