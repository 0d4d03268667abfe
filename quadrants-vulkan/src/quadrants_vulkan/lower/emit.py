"""The emitter of one function: its instructions so far, and the ids of its values.

The emitters of the ops (see `table`) call it. Blocks are written in the order in which they are begun, which structured control
flow makes an order that SPIR-V accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from quadrants._frozen import record
from quadrants.ir.core import Function, Op, Region, Value
from quadrants.types import F16, ArrayType, Scalar, Type
from quadrants_vulkan.lower.parts import Part, Place, parts_of
from quadrants_vulkan.spirv.assembler import Id, Words, instruction
from quadrants_vulkan.spirv.grammar import Decoration, Glsl, StorageClass
from quadrants_vulkan.spirv.grammar import Op as Code

if TYPE_CHECKING:
    from quadrants_vulkan.lower.module import ModuleEmitter

Parts = tuple[Id, ...]
Emitter = Callable[["FunctionEmitter", Op], None]


@record(eq=False)
class Join:
    """A block that several others jump to with values: `incoming` has the values and the block of each."""

    label: Id
    types: tuple[Type, ...]
    incoming: list[tuple[Parts, Id]] = field(default_factory=list)
    places: list[Place | None] = field(default_factory=list)
    phis: list[Words] = field(default_factory=list)


class FunctionEmitter:
    """See the module's docstring."""

    def __init__(self, module: ModuleEmitter, function: Function, members: Sequence[Id]) -> None:
        self.module = module
        self.function = function
        self.asm = module.asm
        self.longs = module.longs(self)
        self.members = tuple(members)
        self.result = module.result_type(members)
        self.lines: list[Words] = []
        self.variables: list[Words] = []
        self.first: Id = self.asm.id()
        self.block: Id | None = self.first
        self.parts: dict[Value, Parts] = {}
        self.places: dict[Value, Place] = {}
        self.constants: dict[Value, object] = {}
        self.double_bits: set[Value] = set()  # arguments of float64 on a device that has none
        self.local_arrays: dict[int, tuple[Place, int]] = {}
        self.breaks: dict[int, Join] = {}
        self.continues: dict[int, Join] = {}
        self.leaving: dict[int, Any] = {}  # by label, see `control`
        self.yields: list[Join] = []
        self.raises = module.raising(function)
        self.result_places: list[Place | None] = [None] * len(function.result_types)

    # Instructions

    def let(self, code: int, type: Id, *operands: int) -> Id:
        """Append an instruction with a result."""
        result = self.asm.id()
        self.lines.append(instruction(code, type, result, *operands))
        return result

    def do(self, code: int, *operands: int) -> None:
        """Append an instruction without a result."""
        self.lines.append(instruction(code, *operands))

    def glsl(self, what: Glsl, type: Id, *operands: int) -> Id:
        """Append an instruction of the extended set."""
        return self.let(Code.EXT_INST, type, self.asm.glsl, what, *operands)

    def exact(self, code: int, type: Id, *operands: int) -> Id:
        """Append an instruction on floats that is not fused with others."""
        result = self.let(code, type, *operands)
        self.asm.decorate(result, Decoration.NO_CONTRACTION)
        return result

    def select(self, condition: Id, part: Part, a: Id, b: Id) -> Id:
        return self.let(Code.SELECT, self.type(part), condition, a, b)

    def local(self, item: Id) -> Id:
        """A variable of the function."""
        result = self.asm.id()
        pointer = self.asm.pointer(StorageClass.FUNCTION, item)
        self.variables.append(instruction(Code.VARIABLE, pointer, result, StorageClass.FUNCTION))
        return result

    # Types and constants

    def type(self, part: Part) -> Id:
        return self.module.types[part]

    @property
    def truth_type(self) -> Id:
        return self.module.types[Part.TRUTH]

    @property
    def word_type(self) -> Id:
        return self.module.types[Part.WORD]

    @property
    def single_type(self) -> Id:
        return self.module.types[Part.SINGLE]

    def word(self, value: int) -> Id:
        return self.asm.u32(value)

    def truth(self, value: bool) -> Id:
        return self.asm.truth(value)

    # Words

    def w(self, code: int, a: Id, b: Id) -> Id:
        """A binary instruction on words."""
        return self.let(code, self.word_type, a, b)

    def test(self, code: int, *operands: Id) -> Id:
        """An instruction that gives a truth value."""
        return self.let(code, self.truth_type, *operands)

    # Values

    def get(self, value: Value) -> Parts:
        return self.parts[value]

    def one(self, value: Value) -> Id:
        """The only part of a value."""
        (part,) = self.parts[value]
        return part

    def all(self, values: Iterable[Value]) -> Parts:
        """The parts of several values, one after the other."""
        return tuple(part for value in values for part in self.parts[value])

    def set(self, op: Op, *parts: Id) -> None:
        """The parts of an op's only result; a float16 is rounded by its maker."""
        self.parts[op.result] = parts

    def set_float(self, op: Op, part: Id) -> None:
        """The only result of an op on floats, computed in single precision where it is a float16."""
        self.parts[op.result] = (self.rounded(op.result.type, part),)

    def rounded(self, type: Type, part: Id) -> Id:
        """A single rounded to float16, if the type is that."""
        return self.call_helper("round_half", part) if type == F16 else part

    def define(self, values: Sequence[Value], parts: Parts, places: Sequence[Place | None] = ()) -> None:
        """Give each of the values its share of the parts."""
        start = 0
        for value in values:
            end = start + len(parts_of(value.type))
            self.parts[value] = parts[start:end]
            start = end
        for value, place in zip(values, places):
            if place is not None:
                self.places[value] = place

    def place_of(self, value: Value) -> Place | None:
        """Where an array lives, if it is an array of a block or of a thread."""
        return self.places.get(value)

    def call_helper(self, name: str, *operands: Id) -> Id:
        """Call a function of `helpers` with one result."""
        helper = self.module.helper(name)
        return self.let(Code.FUNCTION_CALL, helper.result, helper.id, *operands)

    def call_helper_pair(self, name: str, *operands: Id) -> tuple[Id, ...]:
        """Call a function of `helpers` with several results, all words."""
        helper = self.module.helper(name)
        packed = self.let(Code.FUNCTION_CALL, helper.result, helper.id, *operands)
        return tuple(self.let(Code.COMPOSITE_EXTRACT, self.word_type, packed, index) for index in range(helper.count))

    # Blocks

    def label(self) -> Id:
        return self.asm.id()

    def begin(self, label: Id) -> None:
        """Begin a block."""
        self.do(Code.LABEL, label)
        self.block = label

    def branch(self, label: Id) -> None:
        """End the block with a jump."""
        self.do(Code.BRANCH, label)
        self.block = None

    def branch_if(self, condition: Id, then: Id, other: Id) -> None:
        self.do(Code.BRANCH_CONDITIONAL, condition, then, other)
        self.block = None

    def join(self, types: Iterable[Type]) -> Join:
        """A block to come, that takes values."""
        types = tuple(types)
        return Join(self.label(), types, places=[None] * len(types))

    def jump(self, join: Join, values: Sequence[Value]) -> None:
        """End the block with a jump to a join with values."""
        for position, value in enumerate(values):
            self.place_at(join, position, self.places.get(value))
        self.jump_with(join, self.all(values))

    def jump_with(self, join: Join, parts: Parts) -> None:
        """The same with the parts of the values."""
        assert self.block is not None
        join.incoming.append((parts, self.block))
        self.branch(join.label)

    def place_at(self, join: Join, position: int, place: Place | None) -> None:
        """Note where the array lives that comes to a join: it has to be one place."""
        if place is None:
            return
        if join.places[position] not in (None, place):
            self.module.refuse(
                self.function, None, "an array that is in one of several places of shared or local memory", PLACES
            )
        join.places[position] = place

    def begin_join(self, join: Join) -> Parts:
        """Begin the block of a join; the parts of its values. What comes later is added by `finish_join`."""
        self.begin(join.label)
        parts = [part for type in join.types for part in parts_of(type)]
        ids = []
        for part in parts:
            result = self.asm.id()
            phi = [0, self.type(part), result]
            join.phis.append(phi)
            self.lines.append(phi)
            ids.append(result)
        return tuple(ids)

    def finish_join(self, join: Join) -> None:
        """Complete the phis, when all that jumps to the join is known."""
        for position, phi in enumerate(join.phis):
            for parts, block in join.incoming:
                phi += (parts[position], block)
            phi[0] = len(phi) << 16 | Code.PHI

    # Regions

    def region(self, region: Region) -> None:
        """The ops of a region."""
        for op in region.ops:
            if self.block is None:  # behind an op that nothing leaves
                return
            self.module.emitter(self, op)(self, op)

    def region_yielding(self, region: Region, join: Join) -> None:
        """A region whose `yield` goes to the join."""
        self.yields.append(join)
        self.region(region)
        self.yields.pop()


PLACES = "use one array, or decide outside of the kernel"


def scalar(value: Value) -> Scalar:
    """The type of a value that is a number."""
    assert isinstance(value.type, Scalar)
    return value.type


def array_type(value: Value) -> ArrayType:
    """The type of a value that is an array."""
    assert isinstance(value.type, ArrayType)
    return value.type
