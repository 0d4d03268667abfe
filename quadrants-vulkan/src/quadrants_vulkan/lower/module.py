"""The emitter of one module: types, the functions that are called, helpers, and what a launch has to know of the result.

A function is emitted once for each combination of the places of its arrays (shared and local memory have no addresses), when it
is first called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cache

from quadrants import diagnostics
from quadrants._frozen import frozen, record
from quadrants.diagnostics import CompileError, SourceLocation
from quadrants.host.reports import Site
from quadrants.ir import Function, Module, Value
from quadrants.ir import Op as QirOp
from quadrants.ir.parser import parse_module
from quadrants.passes.structure import LOOPS, integer_constants
from quadrants.types import F16, F32, Type
from quadrants_vulkan.lower import helpers
from quadrants_vulkan.lower.emit import Emitter, FunctionEmitter
from quadrants_vulkan.lower.longs import Longs, NativeLongs, PairLongs
from quadrants_vulkan.lower.parts import Part, Place, parts_of
from quadrants_vulkan.spirv.assembler import Assembler, Id, Words, instruction
from quadrants_vulkan.spirv.grammar import Capability
from quadrants_vulkan.spirv.grammar import Op as Code
from quadrants_vulkan.target import Feature, Profile

Key = tuple[str, tuple[Place | None, ...]]


@frozen
class Callee:
    """A function as its callers see it.

    Args:
        id: of the function.
        result: the type that it gives.
        count: how many parts its results have.
        raises: whether the first member of what it gives says that it raised.
        places: where the arrays are that it gives: in the place of an argument, by its number, or in shared memory.
    """

    id: Id
    result: Id
    count: int
    raises: bool = False
    places: tuple[int | Place | None, ...] = ()


@record(eq=False)
class Shared:
    """The memory of a block: bytes of static arrays, where each begins in which variable (by op), and the dynamic buffer."""

    nbytes: int = 0
    starts: dict[int, tuple[Part, int]] = field(default_factory=dict)
    places: dict[int, tuple[Place, int]] = field(default_factory=dict)
    dynamic: Place | None = None
    dynamic_item: int = 0
    dynamic_length: Id = 0


class ModuleEmitter:
    """See the module's docstring."""

    def __init__(self, module: Module, profile: Profile) -> None:
        self.module = module
        self.profile = profile
        self.asm = Assembler()
        self.sites: list[Site] = []
        self.shared = Shared()
        self.built: dict[Key, Callee] = {}
        self.building: list[str] = []
        self.push: Id | None = None
        self.counter: Id | None = None
        self._helpers: dict[str, Callee] = {}
        self._raising: dict[str, bool] = {}
        self._integers: dict[str, dict[Value, int]] = {}
        native = profile.has(Feature.INT64)
        word = self.asm.int_type(32)
        if native:
            self.asm.capability(Capability.INT_64)
        self._longs: type[NativeLongs] | type[PairLongs] = NativeLongs if native else PairLongs
        self.types: dict[Part, Id] = {
            Part.TRUTH: self.asm.bool_type(),
            Part.WORD: word,
            Part.LONG: self.asm.int_type(64) if native else self.asm.vector(word, 2),
            Part.SINGLE: self.asm.float_type(32),
        }
        if profile.has(Feature.FLOAT64):
            self.asm.capability(Capability.FLOAT_64)
            self.types[Part.DOUBLE] = self.asm.float_type(64)

    def longs(self, e: FunctionEmitter) -> Longs:
        return self._longs(e)

    @property
    def vulkan_memory(self) -> bool:
        """Whether the module uses the Vulkan memory model."""
        return self.profile.has(Feature.MEMORY_MODEL)

    @property
    def cuts_loops(self) -> bool:
        """Whether the device may end loops too early, which code has to notice."""
        return self.profile.has(Feature.FEW_TURNS)

    # Refusals

    def refuse(self, function: Function, op: QirOp | None, what: str, hint: str) -> None:
        """Raise the error that says what the device cannot do, and what to do instead."""
        raise CompileError(
            diagnostics.Code.UNSUPPORTED_CAPABILITY,
            f"the Vulkan device cannot run {what}",
            location_of(function, op),
            hint=hint,
        )

    def need(self, e: FunctionEmitter, op: QirOp, feature: Feature, what: str, hint: str) -> None:
        """Refuse unless the target has the feature."""
        if not self.profile.has(feature):
            self.refuse(e.function, op, what, hint)

    def emitter(self, e: FunctionEmitter, op: QirOp) -> Emitter:
        """The emitter of an op."""
        from quadrants_vulkan.lower.table import (
            EMITTERS,
            UNSUPPORTED,
        )  # the table imports the emitters, which import this

        found = EMITTERS.get(op.name)
        if found is None:
            reason, hint = UNSUPPORTED.get(op.name, ("there is no code for it", "report this"))
            self.refuse(e.function, op, f"{op.name}: {reason}", hint)
        assert found is not None
        if Part.DOUBLE not in self.types:
            self._check_doubles(e, op)
        return found

    def _check_doubles(self, e: FunctionEmitter, op: QirOp) -> None:
        """Refuse an op on float64; but a Python float that is an argument may be converted to what the device has."""
        if op.name == "cast" and op.operands[0] in e.double_bits and op.result.type in (F16, F32):
            return
        if any(Part.DOUBLE in parts_of(value.type) for value in (*op.operands, *op.results)):
            self.refuse(e.function, op, "float64", "use float32, or a device that has shaderFloat64")

    def site(self, function: Function, op: QirOp, exc: str, args: Type) -> int:
        """Register a place that raises, or prints; its number."""
        scope, loc = function.scope, op.loc
        place = (loc.line, loc.col, loc.end_line, loc.end_col) if loc is not None else ()
        self.sites.append(Site(exc, str(args), scope.filename, scope.qualname, scope.firstlineno, *place))
        return len(self.sites) - 1

    # Functions

    def integers(self, function: Function) -> dict[Value, int]:
        """The values of a function that are integer constants."""
        found = self._integers.get(function.name)
        if found is None:
            found = self._integers[function.name] = integer_constants(function)
        return found

    def raising(self, function: Function) -> bool:
        """Whether the function may raise."""
        if function.scope.filename == helpers.ORIGIN:
            return False
        known = self._raising.get(function.name)
        if known is None:
            self._raising[function.name] = False  # a cycle is refused elsewhere
            known = self._raising[function.name] = any(self._op_raises(op) for op in function.body.walk())
        return known

    def _op_raises(self, op: QirOp) -> bool:
        if op.name == "call":  # also one that does not throw, where loops may be cut short
            callee = self.module.functions[str(op.attrs["callee"])]
            return (self.cuts_loops or not op.attr("nothrow")) and self.raising(callee)
        return op.can_raise or (self.cuts_loops and op.name in LOOPS)

    def callee(self, e: FunctionEmitter, op: QirOp) -> Callee:
        """The function that a call op calls, emitted for the places of the arguments."""
        name = str(op.attrs["callee"])
        if name in self.building:
            cycle = " -> ".join([*self.building[self.building.index(name) :], name])
            raise CompileError(
                diagnostics.Code.RECURSION_ON_TARGET,
                f"recursion cannot run on a Vulkan device: {cycle}",
                location_of(e.function, op),
                hint="use a loop, or the CPU, CUDA or AMDGPU backend",
            )
        places = tuple(canonical(e.place_of(value)) for value in op.operands)
        found = self.built.get((name, places))
        if found is None:
            found = self.built[name, places] = self._build(self.module.functions[name], places)
        return found

    def helper(self, name: str) -> Callee:
        """A function of `helpers`."""
        found = self._helpers.get(name)
        if found is None:
            function = _helper_function(name, self.profile.limit("subgroup_size"))
            found = self._helpers[name] = self._build(function, ())
        return found

    def members_of(self, function: Function) -> list[Id]:
        """What the function gives: whether it raised, if it may, and the parts of its results."""
        parts = [part for type in function.result_types for part in parts_of(type)]
        return [self.types[Part.TRUTH]] * self.raising(function) + [self.types[part] for part in parts]

    def _build(self, function: Function, places: Sequence[Place | None]) -> Callee:
        """Emit a function that others call."""
        self.building.append(function.name)
        parts = [part for type in function.result_types for part in parts_of(type)]
        e = FunctionEmitter(self, function, self.members_of(function))
        params = [
            pair for index, value in enumerate(function.params) for pair in self._parameter(e, value, index, places)
        ]
        kind = self.asm.function_type(e.result, [type for type, _ in params])
        made = self.asm.id()
        self.asm.name(made, function.name)
        head = [instruction(Code.FUNCTION, e.result, made, 0, kind)]
        head += [instruction(Code.FUNCTION_PARAMETER, type, param) for type, param in params]
        e.region(function.body)
        self.add(e, head)
        self.building.pop()
        given = [e.place_of(value) for value in function.params]
        ways = tuple(given.index(p) if p is not None and p.local and p in given else p for p in e.result_places)
        if any(isinstance(way, Place) and way.local for way in ways):
            self.refuse(
                function, None, "a function that gives back an array of its own", "make the array in the caller"
            )
        return Callee(made, e.result, len(parts), e.raises, ways)

    def _parameter(
        self, e: FunctionEmitter, value: Value, index: int, places: Sequence[Place | None]
    ) -> list[tuple[Id, Id]]:
        """The types and ids of what brings one argument; an array of the caller's own thread brings its variable too."""
        pairs = [(self.types[part], self.asm.id()) for part in parts_of(value.type)]
        e.parts[value] = tuple(id for _, id in pairs)
        place = places[index] if places else None
        if place is not None and place.local:
            place = replace(place, variable=self.asm.id())
            pairs.append((place.pointer, place.variable))
        if place is not None:
            e.places[value] = place
        return pairs

    def add(self, e: FunctionEmitter, head: list[Words]) -> None:
        """Add the function of an emitter, whose first block has no label yet, to the module."""
        label = instruction(Code.LABEL, e.first)
        self.asm.function([*head, label, *e.variables, *e.lines, instruction(Code.FUNCTION_END)])

    def result_type(self, members: Sequence[Id]) -> Id:
        """The type of a function that gives these members: nothing, one, or a struct."""
        if not members:
            return self.asm.void()
        return members[0] if len(members) == 1 else self.asm.struct(*members)


def location_of(function: Function, op: QirOp | None) -> SourceLocation:
    """Where an op is in the source."""
    scope = function.scope
    loc = op.loc if op is not None else None
    if loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    return SourceLocation(scope.filename, loc.line, loc.col, loc.end_line or None, loc.end_col or None, scope.qualname)


def canonical(place: Place | None) -> Place | None:
    """The place as far as a function depends on it, that an array in it is given to."""
    return replace(place, variable=0) if place is not None and place.local else place


@cache
def _helper_function(name: str, subgroup: int) -> Function:
    """A helper, from its text."""
    module = parse_module(helpers.text(name, subgroup))
    return module.functions[module.entry]
