"""What only code on a device has: the place of a thread, memory of a block and of a thread, barriers, fences, atomics.

Sizes and indices of the launch are i32. Arrays of a block (`shared`) and of a thread (`local`) hold nothing until they are
written. An atomic operation gives the value from before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.ops.memory import CHECKED, WRAP, _has_check, _places
from quadrants.ir.values import canonical, new_array
from quadrants.types import BOOL, I32, ArrayType, Scalar, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op
    from quadrants.ir.threads import Group, Thread

_NONE = "none: integers"
_AXIS = (Attr("axis", AttrKind.INT, choices=(0, 1, 2)),)
_SHAPED = (Attr("type", AttrKind.TYPE), Attr("shape", AttrKind.INTS))

#: Whose memory accesses a fence orders.
FENCE_SCOPES = ("block", "device", "system")


def _no_operands(result: Type) -> rules.TypeRule:
    def rule(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
        rules.count(types, 0)
        return (result,)

    return rule


def _nothing(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    return ()


def _predicate(result: Type) -> rules.TypeRule:
    def rule(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
        rules.match_types(types, (BOOL,), "the operand")
        return (result,)

    return rule


def _space_array(space: str, shaped: bool) -> rules.TypeRule:
    def rule(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
        rules.count(types, 0)
        array = rules.array(rules.attr_type(attrs, "type"), "attribute 'type'")
        if array.space != space or array.layout != "C" or array.readonly:
            raise TypeError(f"makes a C-contiguous array in {space} memory, not {array}")
        if shaped:
            shape = attrs.get("shape")
            if not isinstance(shape, tuple) or len(shape) != array.ndim or any(size < 1 for size in shape):
                raise TypeError(f"attribute 'shape' must be {array.ndim} positive ints, not {shape!r}")
        elif array.ndim != 1:
            raise TypeError(f"makes an array of rank 1, not {array}")
        return (array,)

    return rule


def _axis_of(
    pick: Callable[[Thread], tuple[int, int, int]],
) -> Callable[[Op, Thread, tuple[Any, ...]], tuple[Any, ...]]:
    return lambda op, thread, values: (pick(thread)[op.attr("axis")],)


def _shared_array(op: Op, thread: Thread, values: tuple[Any, ...]) -> tuple[Any, ...]:
    arrays = thread.memory.arrays
    if id(op) not in arrays:
        arrays[id(op)] = _fresh(op)
    return (arrays[id(op)],)


def _fresh(op: Op) -> Any:
    type, shape = op.attrs["type"], op.attrs["shape"]
    assert isinstance(type, ArrayType) and isinstance(shape, tuple)
    array = new_array(type, shape)
    assert array.block is not None
    array.block.external = True
    return array


def _dynamic(op: Op, thread: Thread, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    buffer, size = thread.memory.dynamic, type.dtype.itemsize
    return (type_view(buffer, type, (buffer.dims[0] // size,), (size,)),)


def type_view(array: Any, type: ArrayType, dims: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The memory of an array as one of another type."""
    from quadrants.ir.values import InterpArray

    return InterpArray(type, array.block, array.offset, dims, strides)


# Barriers


def _each(value: Callable[[Group], Any]) -> Callable[[Op, Group], list[tuple[Any, ...]]]:
    def run(op: Op, group: Group) -> list[tuple[Any, ...]]:
        result = value(group)
        return [(result,)] * len(group.threads)

    return run


def _release_all(op: Op, group: Group) -> list[tuple[Any, ...]]:
    return [()] * len(group.threads)


# Atomics

#: What an atomic read-modify-write may do. `min` and `max` of floats take a number rather than a NaN.
ATOMICS = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "inc", "dec")
_BITWISE = ("and", "or", "xor")
_UNSIGNED = ("inc", "dec")


def _atomic(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    dtype = _atomic_target(types, 1, 1)
    what = attrs.get("op")
    if what in _BITWISE and not rules.is_int(dtype):
        raise TypeError(f"atomic {what} takes integers, not {dtype}")
    if what in _UNSIGNED and not rules.is_int(dtype):
        raise TypeError(f"atomic {what} takes integers, not {dtype}")
    return (dtype,)


def _cas(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    return (_atomic_target(types, 2, 2),)


def _atomic_target(types: rules.Types, at: int, values: int) -> Scalar:
    """The dtype of the array at `at`, behind `values` operands of that type and before the indices."""
    if len(types) <= at:
        raise TypeError(f"takes {values} values, an array and its indices")
    array = rules.array(types[at], f"operand {at}")
    if array.readonly:
        raise TypeError(f"writes into {array}, which is read-only")
    if not rules.is_number(array.dtype):
        raise TypeError(f"takes arrays of integers or floats, not {array}")
    if any(type != array.dtype for type in types[:at]):
        raise TypeError(f"takes values of {array.dtype} for {array}")
    if len(types) - at - 1 != array.ndim:
        raise TypeError(f"{array} takes {array.ndim} indices, not {len(types) - at - 1}")
    rules.all_i64(types[at + 1 :], "an index")
    return array.dtype


def _number(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A choice of two in which a NaN loses."""
    return lambda old, value: value if old != old else old if value != value else pick(old, value)


#: (old, value) -> new, before rounding or wrapping to the type.
COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "mul": lambda old, value: old * value,
    "min": _number(min),
    "max": _number(max),
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exchange": lambda old, value: value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
}


def _do_atomic(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    value, array, *indices = values
    place = _places(op, array, tuple(indices))
    old = array.load(place)
    with np.errstate(all="ignore"):
        array.store(canonical(array.type.dtype, COMBINE[str(op.attrs["op"])](old, value)), place)
    return (old,)


def _do_cas(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    expected, desired, array, *indices = values
    place = _places(op, array, tuple(indices))
    old = array.load(place)
    if _same_bits(old, expected):
        array.store(desired, place)
    return (old,)


def _same_bits(a: Any, b: Any) -> bool:
    return a == b if isinstance(a, int) else a.tobytes() == b.tobytes()


_ATOMIC_EFFECTS = Effect.READS | Effect.WRITES | Effect.RAISES
_BARRIER = Effect.READS | Effect.WRITES | Effect.COLLECTIVE
#: The most static shared or local memory that the type rule accepts, in bytes: more is an error of the program.
MOST_STATIC_BYTES = 1 << 30


def _verify_size(op: Op) -> str | None:
    type, shape = op.attrs["type"], op.attrs["shape"]
    assert isinstance(type, ArrayType) and isinstance(shape, tuple)
    nbytes = type.dtype.itemsize * math.prod(shape)
    return f"takes {nbytes} bytes of {type.space} memory" if nbytes > MOST_STATIC_BYTES else None


DEFS = (
    OpDef(
        "thread.index",
        _no_operands(I32),
        on_thread=_axis_of(lambda thread: thread.index),
        attrs=_AXIS,
        doc="The index of the thread in its block along an axis (0 is x).",
        derivative=_NONE,
    ),
    OpDef(
        "block.index",
        _no_operands(I32),
        on_thread=_axis_of(lambda thread: thread.block),
        attrs=_AXIS,
        doc="The index of the thread's block in the grid along an axis.",
        derivative=_NONE,
    ),
    OpDef(
        "block.size",
        _no_operands(I32),
        on_thread=_axis_of(lambda thread: thread.geometry.block),
        attrs=_AXIS,
        doc="How many threads a block has along an axis.",
        derivative=_NONE,
    ),
    OpDef(
        "grid.size",
        _no_operands(I32),
        on_thread=_axis_of(lambda thread: thread.geometry.grid),
        attrs=_AXIS,
        doc="How many blocks the grid has along an axis.",
        derivative=_NONE,
    ),
    OpDef(
        "shared.array",
        _space_array("shared", True),
        on_thread=_shared_array,
        effects=Effect.ALLOCATES,
        verify=_verify_size,
        attrs=_SHAPED,
        doc="The array of the block that belongs to this op: the same for all of its threads, and each time the op runs. Elements "
        "are undefined until written.",
        derivative="shared.array of the derivative's type, zeroed by the block",
    ),
    OpDef(
        "shared.dynamic",
        _space_array("shared", False),
        on_thread=_dynamic,
        attrs=(Attr("type", AttrKind.TYPE),),
        doc="The block's dynamic shared memory, whose size is part of the launch, as an array of rank 1. All such arrays are the "
        "same memory.",
        derivative="none: its size is given by the launch",
    ),
    OpDef(
        "local.array",
        _space_array("local", True),
        reference=lambda op, values: (_fresh(op),),
        effects=Effect.ALLOCATES,
        verify=_verify_size,
        attrs=_SHAPED,
        doc="A new array of the thread. Elements are undefined until written.",
        derivative="local.array of the derivative's type, zeroed",
    ),
    OpDef(
        "barrier",
        _nothing,
        on_group=_release_all,
        effects=_BARRIER,
        doc="Waits for all threads of the block, and makes what each has written before visible to the others. Reached by some "
        "only: undefined, an error where it is noticed.",
        derivative="barrier",
    ),
    OpDef(
        "barrier.count",
        _predicate(I32),
        on_group=_each(lambda group: sum(group.column())),
        effects=_BARRIER,
        doc="As barrier; gives for how many threads the operand is true.",
        derivative=_NONE,
    ),
    OpDef(
        "barrier.all",
        _predicate(BOOL),
        on_group=_each(lambda group: all(group.column())),
        effects=_BARRIER,
        doc="As barrier; gives whether the operand is true for every thread.",
        derivative="none: a truth value",
    ),
    OpDef(
        "barrier.any",
        _predicate(BOOL),
        on_group=_each(lambda group: any(group.column())),
        effects=_BARRIER,
        doc="As barrier; gives whether the operand is true for any thread.",
        derivative="none: a truth value",
    ),
    OpDef(
        "grid.barrier",
        _nothing,
        on_group=_release_all,
        effects=_BARRIER,
        doc="Waits for all threads of the grid, and makes what each has written visible to the others. Only where the device can "
        "run all blocks at once.",
        derivative="grid.barrier",
    ),
    OpDef(
        "fence",
        _nothing,
        reference=lambda op, values: (),
        effects=Effect.READS | Effect.WRITES,
        attrs=(Attr("scope", AttrKind.STR, choices=FENCE_SCOPES),),
        doc="Orders what the thread has written before it before what it writes after it, as seen by the scope.",
        derivative="fence",
    ),
    OpDef(
        "atomic",
        _atomic,
        reference=_do_atomic,
        effects=_ATOMIC_EFFECTS,
        may_raise=_has_check,
        attrs=(Attr("op", AttrKind.STR, choices=ATOMICS), CHECKED, WRAP),
        doc="Combines an element with a value in one step: (value, array, indices); gives the element from before. Integers wrap; "
        "`min` and `max` of floats prefer a number to NaN; `inc` is `0 if old >= value else old + 1`, `dec` is `value if old == 0 "
        "or old > value else old - 1`. Indices as in load.",
        derivative="for add and sub of floats: load from the derivative's array; else none",
    ),
    OpDef(
        "atomic.cas",
        _cas,
        reference=_do_cas,
        effects=_ATOMIC_EFFECTS,
        may_raise=_has_check,
        attrs=(CHECKED, WRAP),
        doc="Stores `desired` if the element is `expected`, bit for bit, in one step: (expected, desired, array, indices); gives "
        "the element from before. Indices as in load.",
        derivative="none: it is a choice",
    ),
)
