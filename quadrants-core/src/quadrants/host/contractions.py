"""The kernels of products of matrices (`lower.contraction`), compiled when compiled code first comes to a large one.

Takes a name; gives the address of what compiled code calls, `qd_contract(context, number, words)`: the kernel of that kind of
numbers (see `lower.contraction`), which is made first if it is not there. Without words it is only made. A worker of the thread
pool, which cannot ask Python, is refused until it is. Kernels are kept in the cache, one for all functions of a machine.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import threading

from quadrants.host import support, symbols
from quadrants.host.target import host_target
from quadrants.lower.abi import CTX_THREAD, NO_POLLS
from quadrants.lower.contraction import DONE, NUMBERS, REFUSED, SYMBOL

_ENTRY = f"""
@kernels = global [{len(NUMBERS)} x ptr] zeroinitializer
@make = global ptr null
define i32 @qd_contract(ptr %context, i32 %number, ptr %words) {{
entry:
  %at = getelementptr [{len(NUMBERS)} x ptr], ptr @kernels, i32 0, i32 %number
  %known = load atomic ptr, ptr %at acquire, align 8
  %there = icmp ne ptr %known, null
  br i1 %there, label %run, label %ask
ask:
  %thread.at = getelementptr i8, ptr %context, i64 {CTX_THREAD}
  %thread = load i64, ptr %thread.at
  %worker = icmp eq i64 %thread, {NO_POLLS}
  br i1 %worker, label %refused, label %create
create:
  %function = load ptr, ptr @make
  call void %function(i32 %number)
  %made = load atomic ptr, ptr %at acquire, align 8
  %fine = icmp ne ptr %made, null
  br i1 %fine, label %run, label %refused
run:
  %kernel = phi ptr [ %known, %entry ], [ %made, %create ]
  %only = icmp eq ptr %words, null
  br i1 %only, label %ready, label %call
ready:
  ret i32 {DONE}
call:
  %status = call i32 %kernel(ptr %context, ptr %words)
  ret i32 %status
refused:
  ret i32 {REFUSED}
}}
"""

_lock = threading.RLock()


class Contractions:
    """The entry, and the kernels that were made so far.

    Args:
        addresses: by symbol.
    """

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses
        self._failed: set[int] = set()
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_int32)(self._make)
        make = ctypes.cast(self._callback, ctypes.c_void_p).value
        ctypes.c_uint64.from_address(addresses["make"]).value = make or 0

    def _make(self, number: int) -> None:
        """Make a kernel, once. Where that fails compiled code goes on without; an interruption is kept for its next poll."""
        with _lock:
            place = ctypes.c_uint64.from_address(self.addresses["kernels"] + 8 * number)
            if place.value or number in self._failed:
                return
            try:
                place.value = load(number)
            except KeyboardInterrupt:
                _thread.interrupt_main()
            except Exception:  # noqa: BLE001 - whatever is wrong, the loops themselves are there to run
                self._failed.add(number)


def load(number: int) -> int:
    """The address of a new copy of a kernel."""
    return support.load_text("contraction", text(number), quick=False)[SYMBOL]


def text(number: int) -> str:
    """The LLVM text of a kernel for this machine."""
    from quadrants.lower.contraction import blocks, driver  # only where a kernel is made

    target = host_target()
    kind = NUMBERS[number]
    return driver.module(
        kind, blocks.blocks_for(kind, target.vector_bits, target.many_registers), target.vector_bits >= 256
    )


@functools.cache
def contractions() -> Contractions:
    """Those of this process."""
    with support.lock():
        return Contractions(support.load_text("contract", _ENTRY))


def address_of(name: str) -> int:
    """The address of the entry. Raises `UndefinedSymbol`."""
    address = contractions().addresses.get(name)
    if address is None:
        raise symbols.UndefinedSymbol(name)
    return address
