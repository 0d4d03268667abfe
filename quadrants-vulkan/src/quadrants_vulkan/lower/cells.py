"""Memory, element by element: pointers, loads and stores of numbers of every type.

Global memory is reached through physical addresses. An array of a block or of a thread is in a variable (see `parts.Place`):
one of its own, whose elements are registers, or a row of words that arrays of several types share. Numbers of 8 and 16 bits in a
row, or in global memory of a device that has no such accesses, are parts of words: a store exchanges the word.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants._frozen import frozen
from quadrants.ir import Value
from quadrants.types import I32, Scalar
from quadrants_vulkan.lower import integers
from quadrants_vulkan.lower.casts import widened
from quadrants_vulkan.lower.emit import FunctionEmitter, Parts
from quadrants_vulkan.lower.parts import Part, Place, scalar_parts
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Capability, MemoryAccess, Scope, Semantics, StorageClass
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.target import Feature

_NARROW = {
    1: (Feature.STORAGE8, Capability.STORAGE_BUFFER_8_BIT_ACCESS),
    2: (Feature.STORAGE16, Capability.STORAGE_BUFFER_16_BIT_ACCESS),
}


@frozen
class Cell:
    """A place in memory that one instruction reaches.

    Args:
        pointer: to it.
        type: what it holds.
        access: the operands of loads and stores.
        storage: the class of the pointer.
    """

    pointer: Id
    type: Id
    access: tuple[int, ...]
    storage: StorageClass

    def load(self, e: FunctionEmitter) -> Id:
        return e.let(Code.LOAD, self.type, self.pointer, *self.access)

    def store(self, e: FunctionEmitter, value: Id) -> None:
        e.do(Code.STORE, self.pointer, value, *self.access)


def _private(e: FunctionEmitter) -> int:
    """The bit that lets barriers order an access, in the Vulkan memory model."""
    return MemoryAccess.NON_PRIVATE if e.module.vulkan_memory else 0


def global_cell(e: FunctionEmitter, address: Id, type: Id, align: int) -> Cell:
    """What is at an address."""
    storage = StorageClass.PHYSICAL_STORAGE_BUFFER
    e.asm.capability(Capability.PHYSICAL_STORAGE_BUFFER_ADDRESSES)
    code = Code.CONVERT_U_TO_PTR if e.longs.native else Code.BITCAST
    pointer = e.let(code, e.asm.pointer(storage, type), address)
    return Cell(pointer, type, (MemoryAccess.ALIGNED | _private(e), align), storage)


def variable_cell(e: FunctionEmitter, place: Place, index: Id) -> Cell:
    """An element of a variable."""
    storage = StorageClass.FUNCTION if place.local else StorageClass.WORKGROUP
    type = e.type(place.part)
    pointer = e.let(Code.ACCESS_CHAIN, e.asm.pointer(storage, type), place.variable, index)
    access = () if place.local or not _private(e) else (_private(e),)
    return Cell(pointer, type, access, storage)


def in_words(e: FunctionEmitter, array: Value) -> bool:
    """Whether positions in an array are computed with words: outside of global memory, and without longs."""
    return e.place_of(array) is not None or not e.longs.native


def address_of(e: FunctionEmitter, base: Id, offset: Id) -> Id:
    """The address of an element of a global array; the offset is a word where `in_words`."""
    return e.longs.add(base, offset if e.longs.native else widened(e, I32, offset))


def moved(e: FunctionEmitter, position: Id, by: int, words: bool) -> Id:
    """A position some bytes further on."""
    return e.w(Code.I_ADD, position, e.word(by)) if words else e.longs.add(position, e.longs.const(by))


@frozen
class Spot:
    """The place of an element: its address in global memory, or its offset in bytes in a variable.

    Args:
        position: as a long in global memory, else as a word.
        place: the variable, if it is in one.
    """

    position: Id
    place: Place | None = None


# Access by parts


def load(e: FunctionEmitter, spot: Spot, dtype: Scalar) -> Parts:
    """The parts of a number in memory."""
    if spot.place is not None and not spot.place.words:
        cells = [variable_cell(e, spot.place, index) for index in _own_indices(e, spot.position, dtype)]
        return tuple(_from_variable(e, spot.place, dtype, cell.load(e)) for cell in cells)
    part = dtype.part
    return tuple(_load_part(e, at, part) for at in _part_spots(e, spot, dtype))


def store(e: FunctionEmitter, spot: Spot, dtype: Scalar, parts: Parts) -> None:
    """Write a number."""
    if spot.place is not None and not spot.place.words:
        for index, value in zip(_own_indices(e, spot.position, dtype), parts):
            variable_cell(e, spot.place, index).store(e, _to_variable(e, spot.place, dtype, value))
        return
    for at, value in zip(_part_spots(e, spot, dtype), parts):
        _store_part(e, at, dtype.part, value)


def own_index(e: FunctionEmitter, offset: Id, dtype: Scalar) -> Id:
    """The index of a number in a variable of its own type."""
    step = dtype.part.itemsize
    return offset if step == 1 else e.w(Code.SHIFT_RIGHT_LOGICAL, offset, e.word(step.bit_length() - 1))


def _own_indices(e: FunctionEmitter, offset: Id, dtype: Scalar) -> list[Id]:
    index = own_index(e, offset, dtype)
    return [index] if not dtype.is_complex else [index, e.w(Code.I_ADD, index, e.word(1))]


def _from_variable(e: FunctionEmitter, place: Place, dtype: Scalar, value: Id) -> Id:
    """What a variable's element holds, as a register."""
    if dtype.is_bool:
        return e.test(Code.I_NOT_EQUAL, value, e.word(0))
    part = scalar_parts(dtype)[0]
    return value if part is place.part else e.let(Code.BITCAST, e.type(part), value)


def _to_variable(e: FunctionEmitter, place: Place, dtype: Scalar, value: Id) -> Id:
    if dtype.is_bool:
        return e.select(value, Part.WORD, e.word(1), e.word(0))
    return value if scalar_parts(dtype)[0] is place.part else e.let(Code.BITCAST, e.type(place.part), value)


def _part_spots(e: FunctionEmitter, spot: Spot, dtype: Scalar) -> list[Spot]:
    if not dtype.is_complex:
        return [spot]
    further = moved(e, spot.position, dtype.part.itemsize, words=spot.place is not None)
    return [spot, Spot(further, spot.place)]


def _load_part(e: FunctionEmitter, spot: Spot, dtype: Scalar) -> Id:
    (part,) = scalar_parts(dtype)
    if dtype.itemsize < 4:
        return from_bits(e, dtype, _load_narrow(e, spot, dtype))
    if spot.place is None:
        return whole_cell(e, spot, part).load(e)
    low = _row_cell(e, spot, 0).load(e)
    if dtype.itemsize == 4:
        return low if part is Part.WORD else e.let(Code.BITCAST, e.type(part), low)
    both = e.longs.join(low, _row_cell(e, spot, 4).load(e))
    return both if part is Part.LONG else e.let(Code.BITCAST, e.type(part), both)


def _store_part(e: FunctionEmitter, spot: Spot, dtype: Scalar, value: Id) -> None:
    (part,) = scalar_parts(dtype)
    if dtype.itemsize < 4:
        _store_narrow(e, spot, dtype, to_bits(e, dtype, value))
    elif spot.place is None:
        whole_cell(e, spot, part).store(e, value)
    elif dtype.itemsize == 4:
        _row_cell(e, spot, 0).store(e, value if part is Part.WORD else e.let(Code.BITCAST, e.word_type, value))
    else:
        both = value if part is Part.LONG else e.let(Code.BITCAST, e.type(Part.LONG), value)
        _row_cell(e, spot, 0).store(e, e.longs.low(both))
        _row_cell(e, spot, 4).store(e, e.longs.high(both))


def whole_cell(e: FunctionEmitter, spot: Spot, part: Part) -> Cell:
    """The cell of a register's type, in global memory."""
    return global_cell(e, spot.position, e.type(part), 8 if part in (Part.LONG, Part.DOUBLE) else 4)


def _row_cell(e: FunctionEmitter, spot: Spot, further: int) -> Cell:
    """A word of a row."""
    assert spot.place is not None
    offset = e.w(Code.I_ADD, spot.position, e.word(further)) if further else spot.position
    return variable_cell(e, spot.place, e.w(Code.SHIFT_RIGHT_LOGICAL, offset, e.word(2)))


# Numbers of 8 and 16 bits: their bits, as a word


def from_bits(e: FunctionEmitter, dtype: Scalar, bits: Id) -> Id:
    if dtype.is_bool:
        return e.test(Code.I_NOT_EQUAL, bits, e.word(0))
    return e.call_helper("from_half", bits) if dtype.is_float else integers.wrapped(e, dtype, bits)


def to_bits(e: FunctionEmitter, dtype: Scalar, value: Id) -> Id:
    if dtype.is_bool:
        return e.select(value, Part.WORD, e.word(1), e.word(0))
    return e.call_helper("to_half", value) if dtype.is_float else value


def _native_cell(e: FunctionEmitter, spot: Spot, size: int) -> Cell | None:
    """The cell of a narrow number, where the device reaches it."""
    feature, capability = _NARROW[size]
    if spot.place is not None or not e.module.profile.has(feature):
        return None
    e.asm.capability(capability)
    return global_cell(e, spot.position, e.asm.int_type(8 * size), size)


def _load_narrow(e: FunctionEmitter, spot: Spot, dtype: Scalar) -> Id:
    cell = _native_cell(e, spot, dtype.itemsize)
    if cell is not None:
        return e.let(Code.U_CONVERT, e.word_type, cell.load(e))
    cell, shift = word_around(e, spot)
    mask = e.word((1 << 8 * dtype.itemsize) - 1)
    return e.w(Code.BITWISE_AND, e.w(Code.SHIFT_RIGHT_LOGICAL, cell.load(e), shift), mask)


def _store_narrow(e: FunctionEmitter, spot: Spot, dtype: Scalar, bits: Id) -> None:
    cell = _native_cell(e, spot, dtype.itemsize)
    if cell is not None:
        cell.store(e, e.let(Code.U_CONVERT, cell.type, bits))
        return
    cell, shift = word_around(e, spot)
    if cell.storage is StorageClass.FUNCTION:
        cell.store(e, merged(e, cell.load(e), shift, dtype.itemsize, bits))
    else:
        exchange(e, cell, lambda old: merged(e, old, shift, dtype.itemsize, bits))


def word_around(e: FunctionEmitter, spot: Spot) -> tuple[Cell, Id]:
    """The word that holds a narrow number, and how far up the number is in it."""
    low = spot.position if spot.place is not None else e.longs.low(spot.position)
    shift = e.w(Code.SHIFT_LEFT_LOGICAL, e.w(Code.BITWISE_AND, low, e.word(3)), e.word(3))
    if spot.place is not None:
        return _row_cell(e, spot, 0), shift
    aligned = e.longs.bitwise(Code.BITWISE_AND, spot.position, e.longs.const(-4))
    return global_cell(e, aligned, e.word_type, 4), shift


def merged(e: FunctionEmitter, old: Id, shift: Id, size: int, bits: Id) -> Id:
    """A word with some of its bits replaced."""
    mask = e.word((1 << 8 * size) - 1)
    hole = e.let(Code.NOT, e.word_type, e.w(Code.SHIFT_LEFT_LOGICAL, mask, shift))
    new = e.w(Code.SHIFT_LEFT_LOGICAL, e.w(Code.BITWISE_AND, bits, mask), shift)
    return e.w(Code.BITWISE_OR, e.w(Code.BITWISE_AND, old, hole), new)


# Exchanging a whole cell


def scope_of(e: FunctionEmitter, cell: Cell) -> tuple[Id, Id]:
    """The scope and the semantics of an atomic instruction on a cell."""
    shared = cell.storage is StorageClass.WORKGROUP
    if not shared and e.module.vulkan_memory:
        e.asm.capability(Capability.VULKAN_MEMORY_MODEL_DEVICE_SCOPE)
    return e.word(Scope.WORKGROUP if shared else Scope.DEVICE), e.word(Semantics.RELAXED)


def compare_exchange(e: FunctionEmitter, cell: Cell, expected: Id, desired: Id) -> Id:
    """Stores `desired` if the cell holds `expected`, gives what it held."""
    scope, semantics = scope_of(e, cell)
    operands = (cell.pointer, scope, semantics, semantics, desired, expected)
    return e.let(Code.ATOMIC_COMPARE_EXCHANGE, cell.type, *operands)


def exchange(e: FunctionEmitter, cell: Cell, update: Callable[[Id], Id]) -> Id:
    """Replace what a cell holds by a function of it, in one step: tried until nothing comes between. Gives what it held."""
    scope, semantics = scope_of(e, cell)
    first = e.let(Code.ATOMIC_LOAD, cell.type, cell.pointer, scope, semantics)
    head, body, back, after = (e.label() for _ in range(4))
    before, got = e.block, e.asm.id()
    assert before is not None
    e.branch(head)
    e.begin(head)
    old = e.let(Code.PHI, cell.type, first, before, got, back)
    e.do(Code.LOOP_MERGE, after, back, 0)
    e.branch(body)
    e.begin(body)
    found = compare_exchange(e, cell, old, update(old))
    e.lines[-1][2] = got  # the phi names it before it is made
    equal = e.test(Code.I_EQUAL, got, old) if cell.type == e.word_type else e.longs.compare("eq", False, got, old)
    del found
    e.branch_if(equal, after, back)
    e.begin(back)
    e.branch(head)
    e.begin(after)
    return old
