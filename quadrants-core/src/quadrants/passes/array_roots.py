"""Which arrays may share memory, as far as their making tells; and which of them an op may write.

Takes a function as it is; changes nothing. An array is traced through views to its root. Two arrays have no element in common if
one of their roots is made in the function and the other is another array made there, or a parameter; or if one is made there
and never gets out of sight: nothing else can then refer to it.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import record
from quadrants.ir import Function, Module, Op, Value
from quadrants.passes.structure import CALLS
from quadrants.passes.written import TARGETS
from quadrants.types import ArrayType

_MAKING = frozenset({"alloc", "map"})
#: Ops that keep no array that is an operand.
_HARMLESS = frozenset({"load", "store", "dim", "stride", "same", "overlap", "map", "map_into"})


@record(eq=False)
class Roots:
    """What a function does with its arrays."""

    function: Function
    module: Module
    makers: dict[Value, Op] = field(default_factory=dict)
    readers: dict[Value, list[Op]] = field(default_factory=dict)
    parents: dict[Op, Op] = field(default_factory=dict)
    loops: dict[Value, Op] = field(default_factory=dict)  # the arguments of regions: whose they are
    writes: ParamWrites = field(init=False)
    confined: dict[Value, bool] = field(default_factory=dict)
    params: set[Value] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.writes = ParamWrites(self.module)
        self.params.update(self.function.params)
        for op in self.function.body.walk():
            for result in op.results:
                self.makers[result] = op
            for operand in op.operands:
                self.readers.setdefault(operand, []).append(op)
            for region in op.regions:
                self.loops.update(dict.fromkeys(region.args, op))
                for inner in region.ops:
                    self.parents[inner] = op

    def root(self, array: Value) -> Value:
        """What an array is a view of, in the end."""
        while (maker := self.makers.get(array)) is not None and maker.name == "view":
            array = maker.operands[0]
        return array

    def is_made(self, root: Value) -> bool:
        """Whether a root is a new array."""
        maker = self.makers.get(root)
        return maker is not None and maker.name in _MAKING

    def distinct(self, left: Value, right: Value) -> bool:
        """Whether two arrays have no element in common."""
        roots = self.root(left), self.root(right)
        if roots[0] is roots[1]:
            return False
        made = [self.is_made(root) for root in roots]
        if any(made) and all(here or root in self.params for here, root in zip(made, roots)):
            return True
        return any(here and self.is_confined(root) for here, root in zip(made, roots))

    def is_confined(self, array: Value) -> bool:
        """Whether nothing can keep an array, or a view of it: only this value, and those views, lead to it."""
        known = self.confined.get(array)
        if known is None:
            known = self.confined[array] = all(self._keeps_nothing(op) for op in self.readers.get(array, ()))
        return known

    def _keeps_nothing(self, op: Op) -> bool:
        if op.name == "view":
            return self.is_confined(op.result)
        if op.name in CALLS:
            return not any(result.type.heap for result in op.results)
        return op.name in _HARMLESS

    def written(self, op: Op) -> list[Value] | None:
        """The arrays that an op, or one inside it, may write; None if that is not known."""
        found = self.writes.written(op)
        if found is None:
            return None
        for region in op.regions:
            for inner in region.ops:
                more = self.written(inner)
                if more is None:
                    return None
                found += more
        return found

    def clobbers(self, op: Op, arrays: set[Value]) -> bool:
        """Whether an op may write an element of one of the arrays."""
        if not arrays:
            return False
        targets = self.written(op)
        if targets is None:
            return True
        return any(not self.distinct(target, array) for target in targets for array in arrays)


@record(eq=False)
class ParamWrites:
    """Which arrays functions write. What comes out of control flow, calls and variables may be any of the parameters."""

    module: Module
    known: dict[str, frozenset[int] | None] = field(default_factory=dict)

    def params(self, name: str) -> frozenset[int] | None:
        """The numbers of the parameters that a call may write; None if it may write other arrays, too."""
        if name not in self.known:
            self.known[name] = None  # in a cycle
            self.known[name] = self.find(self.module.functions[name])
        return self.known[name]

    def find(self, function: Function) -> frozenset[int] | None:
        every = frozenset(number for number, param in enumerate(function.params) if param.type.heap)
        if not all(isinstance(function.params[number].type, ArrayType) for number in every):
            return None
        sources = {param: frozenset((number,)) for number, param in enumerate(function.params)}
        found: set[int] = set()
        for op in function.body.walk():
            if op.name == "view":
                sources[op.result] = sources.get(op.operands[0], every)
            elif op.name in _MAKING:
                sources[op.result] = frozenset()
            written = self.written(op)
            if written is None:
                return None
            for value in written:
                found |= sources.get(value, every)
        return frozenset(found)

    def written(self, op: Op) -> list[Value] | None:
        if op.name == "call":
            numbers = self.params(str(op.attrs["callee"]))
            return None if numbers is None else [op.operands[number] for number in numbers]
        if op.name in TARGETS:
            return [op.operands[TARGETS[op.name]]]
        if op.name == "map_into":
            return [op.operands[0]]
        return None if op.defn.writes and op.name != "var.set" else []
