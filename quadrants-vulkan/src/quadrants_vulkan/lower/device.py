"""The place of a thread, barriers and fences."""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants_vulkan.lower import launch
from quadrants_vulkan.lower.control import guarded
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter
from quadrants_vulkan.lower.parts import Part
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import BuiltIn, Capability, Scope, Semantics, StorageClass
from quadrants_vulkan.spirv.grammar import Op as Code


def _built_in(e: FunctionEmitter, which: BuiltIn, axis: int) -> Id:
    """A component of a built-in vector of three words."""
    vector = e.asm.vector(e.word_type, 3)
    variable = e.asm.built_in(which, vector)
    pointer = e.asm.pointer(StorageClass.INPUT, e.word_type)
    return e.let(Code.LOAD, e.word_type, e.let(Code.ACCESS_CHAIN, pointer, variable, e.word(axis)))


def thread_index(e: FunctionEmitter, axis: int) -> Id:
    return _built_in(e, BuiltIn.LOCAL_INVOCATION_ID, axis)


def block_index(e: FunctionEmitter, axis: int) -> Id:
    here = _built_in(e, BuiltIn.WORKGROUP_ID, axis)
    return e.w(Code.I_ADD, here, launch.pushed(e, launch.FIRST + axis))


def block_size(e: FunctionEmitter, axis: int) -> Id:
    return e.asm.specialised(axis, 1)


def grid_size(e: FunctionEmitter, axis: int) -> Id:
    return launch.pushed(e, launch.GRID + axis)


def _axis(pick: Callable[[FunctionEmitter, int], Id]) -> Emitter:
    def emit(e: FunctionEmitter, op: Op) -> None:
        e.set(op, pick(e, int(op.attr("axis"))))

    return emit


# Barriers


def semantics(e: FunctionEmitter) -> Id:
    """What a barrier orders: all accesses to global and shared memory."""
    bits = Semantics.ACQUIRE_RELEASE | Semantics.UNIFORM | Semantics.WORKGROUP
    if e.module.vulkan_memory:
        bits |= Semantics.AVAILABLE | Semantics.VISIBLE
    return e.word(bits)


def wait(e: FunctionEmitter) -> None:
    """Wait for the threads of the block."""
    e.do(Code.CONTROL_BARRIER, e.word(Scope.WORKGROUP), e.word(Scope.WORKGROUP), semantics(e))


def _barrier(e: FunctionEmitter, op: Op) -> None:
    wait(e)


def _counted(e: FunctionEmitter, condition: Id) -> Id:
    """Wait, and count the threads for which the condition holds: in a word of the block's memory."""
    if e.module.counter is None:
        e.module.counter = e.asm.variable(StorageClass.WORKGROUP, e.word_type)
    counter = e.module.counter
    access = (0x20,) if e.module.vulkan_memory else ()
    index = e.let(Code.LOAD, e.word_type, e.asm.built_in(BuiltIn.LOCAL_INVOCATION_INDEX, e.word_type))
    first = e.test(Code.I_EQUAL, index, e.word(0))
    guarded(e, first, lambda: e.do(Code.STORE, counter, e.word(0), *access))
    wait(e)
    one = e.select(condition, Part.WORD, e.word(1), e.word(0))
    e.let(Code.ATOMIC_I_ADD, e.word_type, counter, e.word(Scope.WORKGROUP), e.word(Semantics.RELAXED), one)
    wait(e)
    total = e.let(Code.LOAD, e.word_type, counter, *access)
    wait(e)
    return total


def _barrier_count(e: FunctionEmitter, op: Op) -> None:
    e.set(op, _counted(e, e.one(op.operands[0])))


def _barrier_any(e: FunctionEmitter, op: Op) -> None:
    e.set(op, e.test(Code.I_NOT_EQUAL, _counted(e, e.one(op.operands[0])), e.word(0)))


def _barrier_all(e: FunctionEmitter, op: Op) -> None:
    fails = e.test(Code.LOGICAL_NOT, e.one(op.operands[0]))
    e.set(op, e.test(Code.I_EQUAL, _counted(e, fails), e.word(0)))


_SCOPES = {"block": Scope.WORKGROUP, "device": Scope.DEVICE, "system": Scope.DEVICE}


def _fence(e: FunctionEmitter, op: Op) -> None:
    scope = _SCOPES[str(op.attrs["scope"])]
    if scope is Scope.DEVICE and e.module.vulkan_memory:
        e.asm.capability(Capability.VULKAN_MEMORY_MODEL_DEVICE_SCOPE)
    e.do(Code.MEMORY_BARRIER, e.word(scope), semantics(e))


EMITTERS: dict[str, Emitter] = {
    "thread.index": _axis(thread_index),
    "block.index": _axis(block_index),
    "block.size": _axis(block_size),
    "grid.size": _axis(grid_size),
    "barrier": _barrier,
    "barrier.count": _barrier_count,
    "barrier.all": _barrier_all,
    "barrier.any": _barrier_any,
    "fence": _fence,
}
