"""The state of the emission of one function: its text, its values, its blocks, and the ways out of it.

Takes QIR ops one at a time, through the tables of `lower.table`; gives the lines of an LLVM function. Hot code is written in
program order; code that runs only when something goes wrong goes to `cold`, which ends up behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from quadrants._frozen import record
from quadrants.ir.core import Function, Op, Region, Value
from quadrants.lower.abi import all_components
from quadrants.lower.aliasing import Aliasing
from quadrants.lower.context import ModuleContext
from quadrants.lower.nodes import CONTEXT, LIKELY
from quadrants.types import CellsType, RefType, Type

#: A component of a value: an LLVM operand such as "%t3", "7" or "0x7FF0000000000000".
Text = str
Parts = tuple[Text, ...]
Emitter = Callable[["FunctionEmitter", Op], None]


@record(eq=False)
class Join:
    """A block that several jumps reach with values: a phi a component.

    Args:
        label: its name.
        types: the LLVM types of the values.
        incoming: (values, block that they come from), an edge each.
        depth: how many handlers it is inside of.
        slot: where in the lines the phis go.
        phis: the names of the values inside the block.
        note: what a jump back to it says of the loop that it heads.
    """

    label: str
    types: tuple[str, ...]
    incoming: list[tuple[Parts, str]] = field(default_factory=list)
    depth: int = 0
    slot: int = -1
    phis: Parts = ()
    note: str = ""

    def phi_lines(self) -> str:
        """The phi instructions, all edges being known."""
        lines = []
        for index, (name, type) in enumerate(zip(self.phis, self.types)):
            edges = ", ".join(f"[ {values[index]}, %{block} ]" for values, block in self.incoming)
            lines.append(f"  {name} = phi {type} {edges}")
        return "\n".join(lines)


@record(eq=False)
class Handler:
    """Where exceptions go: the handler of a `try`, or the error return of the function.

    Args:
        join: takes the exception value.
        chains: what to release on the way, by the values still to release: filled by raises, emitted at the end of the `try`.
    """

    join: Join
    chains: dict[tuple[Value, ...], Join] = field(default_factory=dict)


class FunctionEmitter:
    """Writes one function.

    Args:
        module: what is shared by the functions of the module.
        function: the function.
        table: op name -> emitter.
    """

    def __init__(self, module: ModuleContext, function: Function, table: Mapping[str, Emitter]) -> None:
        self.module = module
        self.function = function
        self.table = table
        self.lines: list[str] = []
        self.cold: list[str] = []
        self.entry: list[str] = []  # allocas
        self.parts: dict[Value, Parts] = {}
        #: The factors of products of floats.
        self.products: dict[Value, tuple[Text, Text]] = {}
        self.aliasing = Aliasing(module.nodes, function.name in module.exceptions.allocating)
        self.block = "entry"
        self.flags = FLAGS[str(function.attrs.get("fp", "default"))]
        self.yields: list[Join] = []
        self.breaks: dict[int, Join] = {}
        self.continues: dict[int, Join] = {}
        #: The exceptions of the handlers that the current op is inside of, each with the number of records before its `try`.
        self.handling: list[tuple[Text, Text]] = []
        self.handlers: list[Handler] = [Handler(Join("raised", ("i32",)))]
        #: Writes the return of the components of the results.
        self.return_values: Callable[[Parts], None] = _no_return
        self._temps = 0
        self._labels = 0

    def inside(self) -> FunctionEmitter:
        """An emitter for a part of the function that becomes one of its own: it knows the values so far, by the same names."""
        inner = FunctionEmitter(self.module, self.function, self.table)
        inner.parts.update(self.parts)
        inner._temps = self._temps
        return inner

    # Values

    def temp(self) -> Text:
        """A fresh name."""
        self._temps += 1
        return f"%t{self._temps}"

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append("  " + text)

    def let(self, text: str) -> Text:
        """Append an instruction and return the name of its result."""
        self._temps += 1
        name = f"%t{self._temps}"
        self.lines.append(f"  {name} = {text}")
        return name

    def get(self, value: Value) -> Parts:
        """The components of a value."""
        return self.parts[value]

    def one(self, value: Value) -> Text:
        """The only component of a value."""
        return self.parts[value][0]

    def set(self, op: Op, text: Text) -> None:
        """Define the only result of an op, of one component."""
        self.parts[op.results[0]] = (text,)

    def all(self, values: Sequence[Value]) -> Parts:
        """The components of several values, in a row."""
        if len(values) == 1:
            return self.parts[values[0]]
        return tuple(part for value in values for part in self.parts[value])

    def define(self, values: Sequence[Value], parts: Sequence[Text]) -> None:
        """Give consecutive components to several values."""
        start = 0
        for value in values:
            end = start + self.module.width(value.type)
            self.parts[value] = tuple(parts[start:end])
            start = end

    # Blocks

    def label(self, hint: str) -> str:
        """A fresh block name."""
        self._labels += 1
        return f"{hint}{self._labels}"

    def begin(self, label: str) -> None:
        """Start a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def join(self, hint: str, types: Sequence[Type]) -> Join:
        """A block to be jumped to with values of the types."""
        return Join(self.label(hint), all_components(types), depth=len(self.handling))

    def jump(self, join: Join, parts: Parts = ()) -> None:
        """Go to a join with values; the handlers that are left on the way are done with their exceptions."""
        if len(self.handling) > join.depth:
            self.end_handling(join.depth)
        join.incoming.append((parts, self.block))
        self.lines.append(f"  br label %{join.label}{join.note}")

    def begin_join(self, join: Join, complete: bool = True) -> Parts:
        """Start the join's block; its values. With `complete`, all edges are known, else `finish_join` adds the rest later."""
        self.begin(join.label)
        if complete and not join.incoming:
            join.phis = ("poison",) * len(join.types)  # nothing comes here: the block is dead
            return join.phis
        if complete and len(join.incoming) == 1:
            join.phis = join.incoming[0][0]
            return join.phis
        join.phis = tuple(self.temp() for _ in join.types)
        join.slot = len(self.lines)
        self.lines.append("")
        if complete:
            self.finish_join(join)
        return join.phis

    def finish_join(self, join: Join) -> None:
        """Write the phis of a join whose edges are all known now."""
        if join.types and join.slot >= 0:
            self.lines[join.slot] = join.phi_lines()

    # Ops

    def region(self, region: Region) -> None:
        """Emit the ops of a region, terminator included."""
        table = self.table
        for op in region.ops:
            table[op.name](self, op)

    def region_yielding(self, region: Region, target: Join) -> None:
        """Emit a region whose `yield` goes to the join."""
        self.yields.append(target)
        self.region(region)
        self.yields.pop()

    # Ways out

    def branch(self, condition: Text, hint: str) -> str:
        """Go on if the condition holds, else to a cold block, whose label this returns."""
        good, bad = self.label("ok"), self.label(hint)
        self.lines.append(f"  br i1 {condition}, label %{good}, label %{bad}, {LIKELY}")
        self.begin(good)
        return bad

    @contextmanager
    def cold_block(self, label: str) -> Iterator[None]:
        """Write a cold block for the length of a `with`; it must end in a jump out of it."""
        hot, block = self.lines, self.block
        self.lines = self.cold
        self.begin(label)
        try:
            yield
        finally:
            self.lines, self.block = hot, block

    def leave(self, exception: Text, cleanup: tuple[Value, ...]) -> None:
        """Leave with an exception value: release `cleanup`, then the innermost handler."""
        join = self._chain(self.handlers[-1], cleanup)
        join.incoming.append(((exception,), self.block))
        self.lines.append(f"  br label %{join.label}")

    def end_handling(self, depth: int) -> None:
        """All handlers but the outer `depth` end normally; the records of their exceptions are free again."""
        if len(self.handling) > depth:
            self.line(f"store i32 {self.handling[depth][1]}, ptr %ctx, align 8, {CONTEXT}")
        if self.module.exceptions.python_errors:
            for exception, _ in self.handling[depth:]:
                self.swallow(exception)

    def swallow(self, exception: Text) -> None:
        """An exception is dealt with."""
        self.line(f"call void {self.module.runtime('qd_swallow')}(i32 {exception})")

    def _chain(self, handler: Handler, cleanup: tuple[Value, ...]) -> Join:
        """The join that releases the values, last first, and goes on to the handler."""
        if not cleanup:
            return handler.join
        join = handler.chains.get(cleanup)
        if join is None:
            join = handler.chains[cleanup] = Join(self.label("unwind"), ("i32",))
        return join

    def finish_chains(self, handler: Handler) -> None:
        """Write the cleanup of a handler, longest chains first, so that a shorter one has all of its edges."""
        while handler.chains:
            cleanup = max(handler.chains, key=len)
            join = handler.chains.pop(cleanup)
            join.phis = (self.temp(),)
            target = self._chain(handler, cleanup[:-1])
            target.incoming.append((join.phis, join.label))
            with self.cold_block(join.label):
                self.lines.append(join.phi_lines())
                release(self, cleanup[-1])
                self.lines.append(f"  br label %{target.label}")


#: The fast-math flags of each floating-point mode, with a space behind.
FLAGS = {"default": "contract ", "strict": "", "fast": "fast "}


def owner_of(e: FunctionEmitter, value: Value) -> Text:
    """The owner of an array or a list, or of what a variable holds."""
    type = value.type.item if isinstance(value.type, RefType) else value.type
    owner = e.parts[value][0 if isinstance(type, CellsType) else 1]
    return e.let(f"load ptr, ptr {owner}") if isinstance(value.type, RefType) else owner


def release(e: FunctionEmitter, value: Value) -> None:
    """Give up a reference to an array or a list, or to what a variable holds."""
    type = value.type.item if isinstance(value.type, RefType) else value.type
    function = "qd_list_release" if isinstance(type, CellsType) else "qd_release"
    owner = owner_of(e, value)
    e.line(f"call void {e.module.counting(function, f'ptr {owner}')}")


def _no_return(parts: Parts) -> None:
    raise TypeError("a return outside of a function")
