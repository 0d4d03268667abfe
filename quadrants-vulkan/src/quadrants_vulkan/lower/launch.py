"""What reaches a kernel: the push constants, and the arguments behind the address in them.

The push constants are words: the address of the argument block, the address of the report of errors, the blocks of
the grid, and the first block of this dispatch (a grid with more blocks along an axis than a dispatch takes is several
dispatches). The argument block is that of `quadrants.backend.arguments`: words of 8 bytes.
"""

from __future__ import annotations

import struct

from quadrants.ir.core import Function
from quadrants.types import ArrayType, Scalar, Type
from quadrants_vulkan.lower import cells, integers
from quadrants_vulkan.lower.cells import Spot
from quadrants_vulkan.lower.emit import FunctionEmitter, Parts
from quadrants_vulkan.lower.parts import Part, scalar_parts
from quadrants_vulkan.spirv.assembler import Id
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.spirv.grammar import StorageClass

#: The members of the push constants.
PUSHED = struct.Struct("<QQ3I3I")
ARGUMENTS, REPORT, GRID, FIRST = 0, 2, 4, 7  # in words
_WORDS = 10


def pushed(e: FunctionEmitter, member: int) -> Id:
    """A word of the push constants."""
    module = e.module
    if module.push is None:
        block = e.asm.block([(e.word_type, 4 * position) for position in range(_WORDS)])
        module.push = e.asm.variable(StorageClass.PUSH_CONSTANT, block)
    pointer = e.asm.pointer(StorageClass.PUSH_CONSTANT, e.word_type)
    return e.let(Code.LOAD, e.word_type, e.let(Code.ACCESS_CHAIN, pointer, module.push, e.word(member)))


def pushed_long(e: FunctionEmitter, member: int) -> Id:
    return e.longs.join(pushed(e, member), pushed(e, member + 1))


def unpack(e: FunctionEmitter, function: Function) -> None:
    """Define the parameters of a kernel from the argument block."""
    if not function.params:
        return
    base = pushed_long(e, ARGUMENTS)
    position = 0
    for value in function.params:
        parts, count = _parameter(e, value.type, base, position)
        e.parts[value] = parts
        position += count


def _long(e: FunctionEmitter, base: Id, position: int) -> Id:
    address = e.longs.add(base, e.longs.const(8 * position)) if position else base
    return cells.whole_cell(e, Spot(address), Part.LONG).load(e)


def _parameter(e: FunctionEmitter, type: Type, base: Id, position: int) -> tuple[Parts, int]:
    """The parts of a parameter, and how many words of 8 bytes it took."""
    if isinstance(type, Scalar):
        parts = scalar_parts(type)
        return tuple(_scalar(e, type.part, base, position + i) for i in range(len(parts))), len(parts)
    assert isinstance(type, ArrayType)
    words = [_long(e, base, position + i) for i in range(1 + (2 - type.contiguous) * type.ndim)]
    if not type.contiguous:  # strides come in elements
        size = e.longs.const(type.dtype.itemsize)
        words[1 + type.ndim :] = [e.longs.mul(word, size) for word in words[1 + type.ndim :]]
    return tuple(words), 1 + 2 * type.ndim


def _scalar(e: FunctionEmitter, type: Scalar, base: Id, position: int) -> Id:
    long = _long(e, base, position)
    if integers.is_long(type):
        return long
    if type.is_float and type.bits == 64:
        if Part.DOUBLE not in e.module.types:
            return long  # its bits: all that a device without float64 does with them is to convert them
        return e.let(Code.BITCAST, e.type(Part.DOUBLE), long)
    word = e.longs.low(long)
    if type.is_bool:
        return e.test(Code.I_NOT_EQUAL, word, e.word(0))
    if type.is_integer:
        return integers.wrapped(e, type, word)
    return e.call_helper("from_half", word) if type.bits == 16 else e.let(Code.BITCAST, e.single_type, word)
