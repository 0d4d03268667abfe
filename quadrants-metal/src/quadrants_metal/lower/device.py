"""The place of a thread, barriers and fences."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants_metal.lower.emit import Emitter, FunctionEmitter
from quadrants_metal.lower.names import as_pointer

#: What a barrier orders: all accesses to global and shared memory.
ALL_MEMORY = "mem_flags::mem_device | mem_flags::mem_threadgroup"


def _axis(member: str) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, f"int(here.{member}.{'xyz'[int(op.attr('axis'))]})")

    return emit


def _barrier(e: FunctionEmitter, op: Op) -> None:
    e.do(f"threadgroup_barrier({ALL_MEMORY});")


def _counted(e: FunctionEmitter, condition: str) -> str:
    """Wait, and count the threads for which the condition holds: in a word of the block's memory."""
    start = e.module.counter_at(e)
    return f"qd_count(here, {as_pointer('threadgroup atomic_uint*', f'here.shared + {start}')}, {condition})"


def _barrier_count(e: FunctionEmitter, op: Op) -> None:
    e.set(op, f"int({_counted(e, e.one(op.operands[0]))})")


def _barrier_any(e: FunctionEmitter, op: Op) -> None:
    e.set(op, f"{_counted(e, e.one(op.operands[0]))} != 0u")


def _barrier_all(e: FunctionEmitter, op: Op) -> None:
    e.set(op, f"{_counted(e, f'!{e.one(op.operands[0])}')} == 0u")


_SCOPES = {"block": "thread_scope_threadgroup", "device": "thread_scope_device", "system": "thread_scope_device"}


def _fence(e: FunctionEmitter, op: Op) -> None:
    scope = _SCOPES[str(op.attrs["scope"])]
    e.do(f"atomic_thread_fence({ALL_MEMORY}, memory_order_seq_cst, {scope});")


EMITTERS: dict[str, Emitter] = {
    "thread.index": _axis("thread_index"),
    "block.index": _axis("block"),
    "block.size": _axis("block_size"),
    "grid.size": _axis("grid"),
    "barrier": _barrier,
    "barrier.count": _barrier_count,
    "barrier.all": _barrier_all,
    "barrier.any": _barrier_any,
    "fence": _fence,
}
