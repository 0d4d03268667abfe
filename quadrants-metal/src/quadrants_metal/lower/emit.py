"""The emitter of one function: its text so far, and the expressions of its values.

The emitters of the ops (see `table`) call it. QIR's regions are MSL's blocks: a name is visible where its value is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from quadrants.ir.core import Function, Op, Region, Value
from quadrants.types import ArrayType, Scalar, Type
from quadrants_metal.lower.names import parts_of

if TYPE_CHECKING:
    from quadrants_metal.lower.module import ModuleEmitter

Parts = tuple[str, ...]
Emitter = Callable[["FunctionEmitter", Op], None]

#: Metal's compiler takes 256 blocks inside each other.
_DEEPEST = 250
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


class FunctionEmitter:
    """See the module's docstring."""

    def __init__(self, module: ModuleEmitter, function: Function) -> None:
        self.module = module
        self.function = function
        self.lines: list[str] = []
        self.declared: list[str] = []  # at the head of the function
        self.parts: dict[Value, Parts] = {}
        self.constants: dict[Value, object] = {}
        self.breaks: dict[int, Parts] = {}
        self.continues: dict[int, Parts] = {}
        self.yields: list[Parts] = []
        self.raises = module.raising(function)
        self.result = module.result_type(function)
        self._depth = 1
        self._names = 0

    # Text

    def name(self, hint: str = "") -> str:
        """A name that the function does not have yet."""
        self._names += 1
        return f"{hint if _WORD.match(hint) else 'v'}_{self._names}"

    def do(self, text: str) -> None:
        """Append a statement."""
        self.lines.append("  " * self._depth + text)

    def let(self, type: str, expression: str, hint: str = "") -> str:
        """Append the definition of a name; gives the name."""
        name = self.name(hint)
        self.do(f"{type} {name} = {expression};")
        return name

    def declare(self, type: str, initial: str = "") -> str:
        """Append a variable that holds nothing yet, or what an initialiser says."""
        name = self.name()
        self.do(f"{type} {name}{initial};")
        return name

    @contextmanager
    def nested(self, head: str, tail: str = "}") -> Iterator[None]:
        """Append a block of statements."""
        self.do(f"{head} {{")
        self._depth += 1
        if self._depth > _DEEPEST:
            what = f"control flow that is nested more than {_DEEPEST} levels deep"
            self.module.refuse(
                self.function, None, what, "take a part of it into a function, or use an array as a table"
            )
        yield
        self._depth -= 1
        self.do(tail)

    # Values

    def get(self, value: Value) -> Parts:
        return self.parts[value]

    def one(self, value: Value) -> str:
        """The only part of a value."""
        (part,) = self.parts[value]
        return part

    def all(self, values: Iterable[Value]) -> Parts:
        """The parts of several values, one after the other."""
        return tuple(part for value in values for part in self.parts[value])

    def same(self, op: Op, *parts: str) -> None:
        """The parts of an op's only result, which are names or constants that there are already."""
        self.parts[op.result] = parts

    def set(self, op: Op, *expressions: str) -> None:
        """The parts of an op's only result, each computed by an expression."""
        value = op.result
        self.parts[value] = tuple(self.let(t, x, value.hint) for t, x in zip(parts_of(value.type), expressions))

    def define(self, values: Sequence[Value], parts: Parts) -> None:
        """Give each of the values its share of the parts."""
        start = 0
        for value in values:
            end = start + len(parts_of(value.type))
            self.parts[value] = parts[start:end]
            start = end

    # Variables that several places assign

    def variables(self, types: Iterable[Type], initial: str = "") -> Parts:
        """Variables for the parts of values of the types."""
        return tuple(self.declare(part, initial) for type in types for part in parts_of(type))

    def assign(self, targets: Parts, values: Parts) -> None:
        """Assign all at once: a value may be a name that is a target."""
        moves = [(target, value) for target, value in zip(targets, values) if target != value]
        if any(value in targets for _, value in moves[1:]):
            moves = [(target, self._copied(value)) for target, value in moves]
        for target, value in moves:
            self.do(f"{target} = {value};")

    def _copied(self, value: str) -> str:
        name = self.name()
        self.do(f"auto {name} = {value};")
        return name

    # Regions

    def region(self, region: Region) -> None:
        """The ops of a region."""
        for op in region.ops:
            self.module.emitter(self, op)(self, op)

    def region_yielding(self, region: Region, targets: Parts) -> None:
        """A region whose `yield` assigns the targets."""
        self.yields.append(targets)
        self.region(region)
        self.yields.pop()


def scalar(value: Value) -> Scalar:
    """The type of a value that is a number."""
    assert isinstance(value.type, Scalar)
    return value.type


def array_type(value: Value) -> ArrayType:
    """The type of a value that is an array."""
    assert isinstance(value.type, ArrayType)
    return value.type
