"""Atomic operations: an instruction where there is one, else the cell is exchanged until nothing comes between.

Narrow numbers are parts of words, and floats are compared by their bits. An update that has no instruction needs a compare-and-swap
of the element's size: for 64 bits the device must have 64-bit atomics.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.ir.core import Op
from quadrants.types import U32, Scalar
from quadrants_vulkan.lower import arith, cells, integers, memory
from quadrants_vulkan.lower.cells import Cell, Spot
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter
from quadrants_vulkan.lower.parts import Part, scalar_parts
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Capability
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.target import Feature

#: (operation, signed) -> the instruction on whole cells of integers.
_INSTRUCTIONS: dict[tuple[str, bool], Code] = {
    ("min", True): Code.ATOMIC_S_MIN,
    ("min", False): Code.ATOMIC_U_MIN,
    ("max", True): Code.ATOMIC_S_MAX,
    ("max", False): Code.ATOMIC_U_MAX,
    **{("add", signed): Code.ATOMIC_I_ADD for signed in (True, False)},
    **{("sub", signed): Code.ATOMIC_I_SUB for signed in (True, False)},
    **{("and", signed): Code.ATOMIC_AND for signed in (True, False)},
    **{("or", signed): Code.ATOMIC_OR for signed in (True, False)},
    **{("xor", signed): Code.ATOMIC_XOR for signed in (True, False)},
    **{("exchange", signed): Code.ATOMIC_EXCHANGE for signed in (True, False)},
}


def _combined(e: FunctionEmitter, type: Scalar, what: str, old: Id, value: Id) -> Id:
    """The new value of an element."""
    if what == "exchange":
        return value
    if what in ("add", "sub", "mul"):
        if type.is_float:
            return arith.float_binary(e, type, what, "", old, value)
        return integers.binary(e, type, what, old, value)
    if what in ("min", "max"):
        better = arith.compared(e, type, "lt" if what == "min" else "gt", (old,), (value,))
        if type.is_float:  # a NaN loses
            better = e.test(Code.LOGICAL_OR, better, e.test(Code.F_UNORD_NOT_EQUAL, value, value))
        return e.select(better, scalar_parts(type)[0], old, value)
    if what in ("and", "or", "xor"):
        code = {"and": Code.BITWISE_AND, "or": Code.BITWISE_OR, "xor": Code.BITWISE_XOR}[what]
        return e.longs.bitwise(code, old, value) if integers.is_long(type) else e.w(code, old, value)
    return _stepped(e, type, what, old, value)


def _stepped(e: FunctionEmitter, type: Scalar, what: str, old: Id, value: Id) -> Id:
    """`inc` and `dec`, that turn over at the value."""
    zero, one = integers.constant(e, type, 0), integers.constant(e, type, 1)
    if what == "inc":
        over = integers.compared(e, type, "ge", old, value)
        return integers.chosen(e, type, over, zero, integers.binary(e, type, "add", old, one))
    none = integers.compared(e, type, "eq", old, zero)
    over = integers.compared(e, type, "gt", old, value)
    turns = e.test(Code.LOGICAL_OR, none, over)
    return integers.chosen(e, type, turns, value, integers.binary(e, type, "sub", old, one))


def _own_cell(e: FunctionEmitter, spot: Spot, type: Scalar, part: Part) -> Cell:
    """The cell of an element that has one of its own, as a register of the given type."""
    if spot.place is None:
        return cells.whole_cell(e, spot, part)
    index = cells.own_index(e, spot.position, U32 if spot.place.words else type)
    return cells.variable_cell(e, spot.place, index)


def _on_bits(e: FunctionEmitter, op: Op, spot: Spot, type: Scalar, update: Callable[[Id], Id]) -> Id:
    """Replace an element by a function of it; gives it as it was. By its bits, unless the cell holds integers as they are."""
    if spot.place is not None and spot.place.local:
        (old,) = cells.load(e, spot, type)
        cells.store(e, spot, type, (update(old),))
        return old
    if type.itemsize < 4 and (spot.place is None or spot.place.words):
        return _in_word(e, spot, type, update)
    part = Part.LONG if type.itemsize == 8 else Part.WORD
    if type.itemsize == 8:
        _need_long_atomics(e, op, spot, type)
    cell = _own_cell(e, spot, type, part)
    if not type.is_float:
        return cells.exchange(e, cell, update)
    float_part = scalar_parts(type)[0]
    bits = cells.exchange(
        e, cell, lambda old: e.let(Code.BITCAST, cell.type, update(e.let(Code.BITCAST, e.type(float_part), old)))
    )
    return e.let(Code.BITCAST, e.type(float_part), bits)


def _in_word(e: FunctionEmitter, spot: Spot, type: Scalar, update: Callable[[Id], Id]) -> Id:
    """The same for a number of 8 or 16 bits inside a word."""
    cell, shift = cells.word_around(e, spot)
    mask = e.word((1 << 8 * type.itemsize) - 1)

    def number(word: Id) -> Id:
        bits = e.w(Code.BITWISE_AND, e.w(Code.SHIFT_RIGHT_LOGICAL, word, shift), mask)
        return cells.from_bits(e, type, bits)

    old = cells.exchange(
        e, cell, lambda word: cells.merged(e, word, shift, type.itemsize, cells.to_bits(e, type, update(number(word))))
    )
    return number(old)


def _need_long_atomics(e: FunctionEmitter, op: Op, spot: Spot, type: Scalar) -> None:
    words = spot.place is not None and spot.place.words
    if words or not e.module.profile.has(Feature.ATOMIC_INT64):
        where = "a shared buffer of several types" if words else "this device"
        e.module.refuse(e.function, op, f"atomic operations on {type} in {where}", "use a type of 32 bits")
    e.asm.capability(Capability.INT_64_ATOMICS)


def _atomic(e: FunctionEmitter, op: Op) -> None:
    spot, array = memory.spot_of(e, op, 1)
    type, what, value = array.dtype, str(op.attrs["op"]), e.one(op.operands[0])
    direct = _instruction(e, op, spot, type, what, value)
    e.set(
        op,
        direct if direct is not None else _on_bits(e, op, spot, type, lambda old: _combined(e, type, what, old, value)),
    )


def _instruction(e: FunctionEmitter, op: Op, spot: Spot, type: Scalar, what: str, value: Id) -> Id | None:
    """One instruction for the operation, if there is one."""
    whole = type.itemsize >= 4 and not (spot.place is not None and (spot.place.local or spot.place.words))
    if not whole:
        return None
    if type.is_float:
        return _float_add(e, spot, type, what, value)
    code = _INSTRUCTIONS.get((what, type.is_signed))
    if code is None:
        return None
    if type.itemsize == 8:
        _need_long_atomics(e, op, spot, type)
    cell = _own_cell(e, spot, type, scalar_parts(type)[0])
    return e.let(code, cell.type, cell.pointer, *cells.scope_of(e, cell), value)


_FLOAT_ADDS = {
    32: (Feature.ATOMIC_FLOAT_ADD, Capability.ATOMIC_FLOAT_32_ADD),
    64: (Feature.ATOMIC_DOUBLE_ADD, Capability.ATOMIC_FLOAT_64_ADD),
}


def _float_add(e: FunctionEmitter, spot: Spot, type: Scalar, what: str, value: Id) -> Id | None:
    """A sum in global memory, of a device that has it."""
    if what not in ("add", "sub") or spot.place is not None:
        return None
    feature, capability = _FLOAT_ADDS[type.bits]
    if not e.module.profile.has(feature):
        return None
    e.asm.capability(capability)
    e.asm.extension("SPV_EXT_shader_atomic_float_add")
    part = scalar_parts(type)[0]
    cell = cells.whole_cell(e, spot, part)
    amount = e.let(Code.F_NEGATE, e.type(part), value) if what == "sub" else value
    return e.let(Code.ATOMIC_F_ADD, cell.type, cell.pointer, *cells.scope_of(e, cell), amount)


def _cas(e: FunctionEmitter, op: Op) -> None:
    """Compares bits, so that a NaN is found and zeros of both signs differ."""
    spot, array = memory.spot_of(e, op, 2)
    type = array.dtype
    expected, desired = (e.one(value) for value in op.operands[:2])
    part = scalar_parts(type)[0]
    bits = Part.LONG if type.itemsize == 8 else Part.WORD

    def as_bits(value: Id) -> Id:
        return e.let(Code.BITCAST, e.type(bits), value) if type.is_float else value

    narrow = type.itemsize < 4 and (spot.place is None or spot.place.words)
    if narrow or (spot.place is not None and spot.place.local):
        wanted = as_bits(expected)
        e.set(
            op,
            _on_bits(
                e,
                op,
                spot,
                type,
                lambda old: e.select(arith.compared_bits(e, bits, as_bits(old), wanted), part, desired, old),
            ),
        )
        return
    if type.itemsize == 8:
        _need_long_atomics(e, op, spot, type)
    cell = _own_cell(e, spot, type, bits)
    old = cells.compare_exchange(e, cell, as_bits(expected), as_bits(desired))
    e.set(op, e.let(Code.BITCAST, e.type(part), old) if type.is_float else old)


EMITTERS: dict[str, Emitter] = {"atomic": _atomic, "atomic.cas": _cas}
