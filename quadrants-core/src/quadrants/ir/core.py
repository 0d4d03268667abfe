"""QIR: the data structures of the intermediate representation.

A `Module` holds functions; a `Function` has a body `Region`; a region is a list of `Op` that ends in a terminator; ops that
control the flow hold regions themselves. Everything is typed and in SSA form: a `Value` is defined once, as the result of an
op or as the argument of a region, and is visible in the rest of its region and in the regions inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from quadrants._frozen import record
from quadrants.ir.opdef import OpDef
from quadrants.ir.origin import Loc, Scope
from quadrants.types import Type

QIR_VERSION = 1


class Value:
    """An SSA value. `hint` is a name for reading (a local variable's), without meaning."""

    __slots__ = ("hint", "type")

    def __init__(self, type: Type, hint: str = "") -> None:
        self.type = type
        self.hint = hint

    def __repr__(self) -> str:
        return f"<Value {self.hint or hex(id(self))}: {self.type}>"


class Op:
    """An operation.

    Args:
        defn: its definition (name, type rule, effects, semantics).
        operands: the values it reads.
        results: the values it defines.
        attrs: compile-time attributes by name: int, float, complex, bool, str, Type, or tuples of them.
        regions: nested regions, for control flow.
        loc: where it comes from.
        cleanup: heap values to release when it raises, outermost first (set by the pass `ownership`).
    """

    __slots__ = ("attrs", "cleanup", "defn", "loc", "name", "operands", "regions", "results")

    def __init__(
        self,
        defn: OpDef,
        operands: list[Value],
        results: list[Value],
        attrs: dict[str, object] | None = None,
        regions: list[Region] | None = None,
        loc: Loc | None = None,
        cleanup: tuple[Value, ...] = (),
    ) -> None:
        self.defn = defn
        self.name = defn.name  # passes ask for it all the time
        self.operands = operands
        self.results = results
        self.attrs = {} if attrs is None else attrs
        self.regions = [] if regions is None else regions
        self.loc = loc
        self.cleanup = cleanup

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    def redefine(self, defn: OpDef) -> None:
        """Make it another operation, of the operands, results and attributes that it has."""
        self.defn, self.name = defn, defn.name

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    @property
    def can_raise(self) -> bool:
        """Whether this op itself can raise (an op of control flow cannot: the ops in its regions can)."""
        return self.defn.raises(self)

    def attr(self, name: str) -> Any:
        """The attribute, or what its absence means."""
        return self.attrs[name] if name in self.attrs else self.defn.default(name)


class Region:
    """A block of ops with arguments; the last op is a terminator."""

    __slots__ = ("args", "ops")

    def __init__(self, args: list[Value] | None = None, ops: list[Op] | None = None) -> None:
        self.args = [] if args is None else args
        self.ops = [] if ops is None else ops

    @property
    def terminator(self) -> Op | None:
        return self.ops[-1] if self.ops and self.ops[-1].defn.terminator else None

    def walk(self) -> Iterator[Op]:
        """Every op, nested ones included, in order (an op before the ops of its regions)."""
        stack = [iter(self.ops)]  # not recursion: a chain of `elif` nests as deep as it is long
        while stack:
            for op in stack[-1]:
                yield op
                if op.regions:
                    stack.append(inner for region in op.regions for inner in region.ops)
                    break
            else:
                stack.pop()


@record(eq=False)
class Function:
    """An IR function.

    Args:
        name: unique in its module.
        params: its parameters; those with an array type are borrowed from the caller.
        result_types: what `return` gives; heap values are owned by the caller.
        body: its body.
        scope: the Python function that it comes from.
        attrs: `recursive` (bool: check the stack in the prologue), `level` ("host" or "device"), `kernel`
            (a device function that the host launches: it returns nothing), `inline` ("always", "never" or
            absent), `fp` ("default", "strict" or "fast"), `sizes` (see the property; three numbers each).
    """

    name: str
    params: list[Value]
    result_types: tuple[Type, ...]
    body: Region
    scope: Scope
    attrs: dict[str, object] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[tuple[int, int, int], ...]:
        """What the caller promises of arrays: (number of a parameter, axis, size)."""
        flat: Any = self.attrs.get("sizes", ())
        return tuple(zip(flat[::3], flat[1::3], flat[2::3], strict=True))


@record(eq=False)
class Module:
    """A call tree: `functions[entry]` and everything that it calls, by name."""

    functions: dict[str, Function] = field(default_factory=dict)
    entry: str = ""
