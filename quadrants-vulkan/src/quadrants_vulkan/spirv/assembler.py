"""An assembler of SPIR-V modules.

Takes instructions, in any order of the sections that a module has; gives the words of the module, with the sections in the order
of the specification. Types, constants and imports are made once each. It checks nothing: `spirv-val` does, in the tests.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from quadrants_vulkan.spirv.grammar import (
    ADDRESSING_PHYSICAL_64,
    GENERATOR,
    MAGIC,
    MEMORY_GLSL_450,
    MEMORY_VULKAN,
    MODEL_GL_COMPUTE,
    VERSION,
    BuiltIn,
    Capability,
    Decoration,
    ExecutionMode,
    Op,
    StorageClass,
)

Id = int
Words = list[int]


def instruction(opcode: int, *operands: int) -> Words:
    """The words of one instruction."""
    return [(len(operands) + 1) << 16 | opcode, *operands]


def string(text: str) -> tuple[int, ...]:
    """A text as operands: UTF-8, with a terminating zero, padded to words."""
    raw = text.encode()
    raw += b"\0" * (4 - len(raw) % 4)
    return struct.unpack(f"<{len(raw) // 4}I", raw)


def split64(value: int) -> tuple[int, int]:
    """A 64-bit pattern as two words, the low one first."""
    return value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF


class Assembler:
    """A module that is being written."""

    def __init__(self) -> None:
        self._bound = 1
        self._made: dict[tuple[int, ...], Id] = {}
        self._capabilities: dict[int, None] = {Capability.SHADER: None}
        self._extensions: dict[str, None] = {}
        self._modes: list[Words] = []
        self._names: list[Words] = []
        self._decorations: list[Words] = []
        self._globals: list[Words] = []
        self._interface: list[Id] = []
        self._functions: list[list[Words]] = []
        self.glsl = self.id()

    def id(self) -> Id:
        """A new id."""
        self._bound += 1
        return self._bound - 1

    # Declarations

    def capability(self, capability: Capability) -> None:
        self._capabilities[capability] = None

    def extension(self, name: str) -> None:
        self._extensions[name] = None

    def mode(self, entry: Id, mode: ExecutionMode, *operands: int) -> None:
        self._modes.append(instruction(Op.EXECUTION_MODE, entry, mode, *operands))

    def name(self, target: Id, name: str) -> None:
        """A name for readers of the disassembly."""
        self._names.append(instruction(Op.NAME, target, *string(name)))

    def decorate(self, target: Id, decoration: Decoration, *operands: int) -> None:
        self._decorations.append(instruction(Op.DECORATE, target, decoration, *operands))

    def declare(self, opcode: Op, *operands: int, type: Id | None = None) -> Id:
        """A global instruction with a result, always a new one."""
        result = self.id()
        head = (result,) if type is None else (type, result)
        self._globals.append(instruction(opcode, *head, *operands))
        return result

    def unique(self, opcode: Op, *operands: int, type: Id | None = None) -> Id:
        """A global instruction with a result: the same one for the same operands."""
        key = (opcode, -1 if type is None else type, *operands)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self.declare(opcode, *operands, type=type)
        return found

    # Types

    def void(self) -> Id:
        return self.unique(Op.TYPE_VOID)

    def bool_type(self) -> Id:
        return self.unique(Op.TYPE_BOOL)

    def int_type(self, bits: int) -> Id:
        """An integer type; the sign is in the instructions."""
        return self.unique(Op.TYPE_INT, bits, 0)

    def float_type(self, bits: int) -> Id:
        return self.unique(Op.TYPE_FLOAT, bits)

    def vector(self, item: Id, count: int) -> Id:
        return self.unique(Op.TYPE_VECTOR, item, count)

    def struct(self, *members: Id) -> Id:
        """A struct without a layout."""
        return self.unique(Op.TYPE_STRUCT, *members)

    def array(self, item: Id, length: Id) -> Id:
        """An array without a layout; the length is the id of a constant."""
        return self.unique(Op.TYPE_ARRAY, item, length)

    def pointer(self, storage: StorageClass, item: Id) -> Id:
        return self.unique(Op.TYPE_POINTER, storage, item)

    def function_type(self, result: Id, params: Iterable[Id]) -> Id:
        return self.unique(Op.TYPE_FUNCTION, result, *params)

    def block(self, members: Sequence[tuple[Id, int]]) -> Id:
        """A struct with the layout of a block: (type, offset in bytes) a member."""
        made = self.declare(Op.TYPE_STRUCT, *(type for type, _ in members))
        self.decorate(made, Decoration.BLOCK)
        for position, (_, offset) in enumerate(members):
            self._decorations.append(instruction(Op.MEMBER_DECORATE, made, position, Decoration.OFFSET, offset))
        return made

    # Constants

    def u32(self, value: int) -> Id:
        return self.unique(Op.CONSTANT, value & 0xFFFFFFFF, type=self.int_type(32))

    def constant(self, type: Id, *words: int) -> Id:
        return self.unique(Op.CONSTANT, *words, type=type)

    def truth(self, value: bool) -> Id:
        return self.unique(Op.CONSTANT_TRUE if value else Op.CONSTANT_FALSE, type=self.bool_type())

    def null(self, type: Id) -> Id:
        return self.unique(Op.CONSTANT_NULL, type=type)

    def composite(self, type: Id, *items: Id) -> Id:
        return self.unique(Op.CONSTANT_COMPOSITE, *items, type=type)

    def specialised(self, number: int, default: int) -> Id:
        """A u32 that is chosen when the pipeline is made."""
        key = (-1, number)
        if key not in self._made:
            made = self._made[key] = self.declare(Op.SPEC_CONSTANT, default, type=self.int_type(32))
            self.decorate(made, Decoration.SPEC_ID, number)
        return self._made[key]

    # Variables

    def variable(self, storage: StorageClass, item: Id) -> Id:
        """A global variable."""
        made = self.declare(Op.VARIABLE, storage, type=self.pointer(storage, item))
        self._interface.append(made)
        return made

    def built_in(self, which: BuiltIn, item: Id) -> Id:
        """The variable of a built-in input."""
        key = (-2, which)
        if key not in self._made:
            made = self._made[key] = self.variable(StorageClass.INPUT, item)
            self.decorate(made, Decoration.BUILT_IN, which)
        return self._made[key]

    # The module

    def function(self, lines: list[Words]) -> None:
        """Add the instructions of a function, from OpFunction to OpFunctionEnd."""
        self._functions.append(lines)

    def finish(self, entries: Iterable[tuple[str, Id]], vulkan_memory: bool) -> bytes:
        """The module. `entries`: the names and ids of the entry points."""
        lines: list[Words] = [instruction(Op.CAPABILITY, capability) for capability in self._capabilities]
        lines += [instruction(Op.EXTENSION, *string(name)) for name in self._extensions]
        lines.append(instruction(Op.EXT_INST_IMPORT, self.glsl, *string("GLSL.std.450")))
        model = MEMORY_VULKAN if vulkan_memory else MEMORY_GLSL_450
        lines.append(instruction(Op.MEMORY_MODEL, ADDRESSING_PHYSICAL_64, model))
        for name, function in entries:
            lines.append(instruction(Op.ENTRY_POINT, MODEL_GL_COMPUTE, function, *string(name), *self._interface))
        lines += self._modes + self._names + self._decorations + self._globals
        for function_lines in self._functions:
            lines += function_lines
        words = [MAGIC, VERSION, GENERATOR, self._bound, 0]
        for line in lines:
            words += line
        return struct.pack(f"<{len(words)}I", *words)
