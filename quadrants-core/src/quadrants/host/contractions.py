"""The kernels of products of matrices (`lower.contraction`), compiled when compiled code first comes to a large one.

Takes a name; gives the address of what compiled code calls, `qd_contract(context, number, words)`: the kernel of that kind of
numbers (see `lower.contraction`), which is made first if it is not there. Without words it is only made. A worker of the thread
pool, which cannot ask Python, is refused until it is. Kernels are kept in the cache, one for all functions of a machine.

What is raised while one is made, by a signal's handler above all, is raised by the compiled code: its poll would not see that
signal again.
"""

from __future__ import annotations

import ctypes
import functools

from quadrants.host import support, symbols
from quadrants.host.target import host_target
from quadrants.lower.abi import CTX_THREAD, NO_POLLS
from quadrants.lower.contraction import DONE, NUMBERS, REFUSED, SYMBOL

_ENTRY = f"""
@kernels = global [{len(NUMBERS)} x ptr] zeroinitializer
@makers = global [{len(NUMBERS)} x ptr] zeroinitializer
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyEval_SaveThread()
declare ptr @PyObject_CallObject(ptr, ptr)
declare void @Py_DecRef(ptr)
define i32 @qd_contract(ptr %context, i32 %number, ptr %words) {{
entry:
  %at = getelementptr [{len(NUMBERS)} x ptr], ptr @kernels, i32 0, i32 %number
  %known = load atomic ptr, ptr %at acquire, align 8
  %there = icmp ne ptr %known, null
  br i1 %there, label %run, label %ask
ask:
  %thread.at = getelementptr i8, ptr %context, i64 {CTX_THREAD}
  %thread = load ptr, ptr %thread.at
  %thread.word = ptrtoint ptr %thread to i64
  switch i64 %thread.word, label %attach [ i64 0, label %create i64 {NO_POLLS}, label %refused ]
attach:
  call void @PyEval_RestoreThread(ptr %thread)
  br label %create
create:
  %maker.at = getelementptr [{len(NUMBERS)} x ptr], ptr @makers, i32 0, i32 %number
  %maker = load ptr, ptr %maker.at
  %result = call ptr @PyObject_CallObject(ptr %maker, ptr null)
  %raised = icmp eq ptr %result, null
  br i1 %raised, label %keep, label %created
keep:
  store ptr null, ptr %thread.at
  ret i32 -1
created:
  call void @Py_DecRef(ptr %result)
  %attached = icmp ne ptr %thread, null
  br i1 %attached, label %detach, label %made
detach:
  %again = call ptr @PyEval_SaveThread()
  br label %made
made:
  %new = load atomic ptr, ptr %at acquire, align 8
  br label %run
run:
  %kernel = phi ptr [ %known, %entry ], [ %new, %made ]
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


class Contractions:
    """The entry, and the kernels that were made so far.

    Args:
        addresses: by symbol.
    """

    def __init__(self, addresses: dict[str, int]) -> None:
        self.addresses = addresses
        self._makers = [functools.partial(self._make, number) for number in range(len(NUMBERS))]
        for number, maker in enumerate(self._makers):  # compiled code has their addresses
            ctypes.c_uint64.from_address(addresses["makers"] + 8 * number).value = id(maker)

    def _make(self, number: int) -> None:
        """Make a kernel, once."""
        with support.lock():
            place = ctypes.c_uint64.from_address(self.addresses["kernels"] + 8 * number)
            if not place.value:
                place.value = load(number)


def load(number: int) -> int:
    """The address of a new copy of a kernel."""
    return support.load_text(f"contraction{number}", functools.partial(text, number), quick=False)[SYMBOL]


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
        return Contractions(support.load_text("contract", lambda: _ENTRY))


def address_of(name: str) -> int:
    """The address of the entry. Raises `UndefinedSymbol`."""
    address = contractions().addresses.get(name)
    if address is None:
        raise symbols.UndefinedSymbol(name)
    return address
