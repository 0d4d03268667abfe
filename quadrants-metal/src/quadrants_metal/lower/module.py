"""The emitter of one module: the functions that are called, memory of the block, and the places that tell the host something.

A function is emitted once, when it is first called, before its callers.
"""

from __future__ import annotations

import re

from quadrants import diagnostics
from quadrants._frozen import frozen
from quadrants.diagnostics import CompileError, SourceLocation
from quadrants.host.reports import Site
from quadrants.ir import Function, Module, Op, Value
from quadrants.passes.structure import integer_constants
from quadrants.types import F16, F32, F64, ArrayType, Scalar, Type
from quadrants_metal.lower import places
from quadrants_metal.lower.emit import Emitter, FunctionEmitter
from quadrants_metal.lower.names import parts_of

#: Static arrays of a block begin at multiples of this.
_ALIGNMENT = 16
_COUNTER_BYTES = 16


@frozen
class Callee:
    """A function as its callers see it: its name, the type that it gives, whether a member of that says that it raised."""

    name: str
    result: str
    raises: bool


class ModuleEmitter:
    """See the module's docstring. `most_shared` is the memory that a block has."""

    def __init__(self, module: Module, most_shared: int) -> None:
        self.module = module
        self.most_shared = most_shared
        self.sites: list[Site] = []
        self.texts: list[str] = []
        self.building: list[str] = []
        self.shared_bytes = 0
        self._starts: dict[int, int] = {}
        self._counter: int | None = None
        self._built: dict[str, Callee] = {}
        self._raising: dict[str, bool] = {}
        self._integers: dict[str, dict[Value, int]] = {}
        self._structs: dict[str, str] = {}

    # Refusals

    def refuse(self, function: Function, op: Op | None, what: str, hint: str) -> None:
        refuse(function, op, what, hint)

    def emitter(self, e: FunctionEmitter, op: Op) -> Emitter:
        """The emitter of an op."""
        from quadrants_metal.lower.table import (  # the table imports the emitters, which import this
            EMITTERS,
            UNSUPPORTED,
        )

        found = EMITTERS.get(op.name)
        if found is None:
            reason, hint = UNSUPPORTED.get(op.name, ("there is no code for it", "report this"))
            self.refuse(e.function, op, f"{op.name}: {reason}", hint)
        assert found is not None
        self._check_doubles(e, op)
        return found

    def _check_doubles(self, e: FunctionEmitter, op: Op) -> None:
        """Refuse an op on float64; but Python's floats, as bits, may be told to the host, and converted to other floats."""
        if op.name in ("const", "check", "raise", "pycall"):
            return
        if op.name == "cast" and op.operands[0].type == F64 and op.result.type in (F16, F32):
            return
        if any(_has_doubles(value.type) for value in (*op.operands, *op.results)):
            hint = "use float32, also in place of float(...) and of quotients of ints: no Metal device has float64"
            self.refuse(e.function, op, "float64", hint)

    def check_places(self, e: FunctionEmitter, op: Op) -> None:
        """Refuse to give back an array of the function's own, which is gone then."""
        made = [own.result for own in e.function.body.walk() if own.name in ("local.array", "alloc")]
        if made and not places.reached(e.function, made).isdisjoint(op.operands):
            self.refuse(
                e.function, op, "a function that gives back an array of its own", "make the array in the caller"
            )

    def site(self, function: Function, op: Op, exc: str, args: Type) -> int:
        """Register a place that raises, or prints; its number."""
        scope, loc = function.scope, op.loc
        place = (loc.line, loc.col, loc.end_line, loc.end_col) if loc is not None else ()
        self.sites.append(Site(exc, str(args), scope.filename, scope.qualname, scope.firstlineno, *place))
        return len(self.sites) - 1

    # Memory of the block

    def shared_bytes_at(self, e: FunctionEmitter, op: Op, nbytes: int) -> int:
        """Where the array of an op begins."""
        found = self._starts.get(id(op))
        if found is None:
            found = self._starts[id(op)] = self._take(e, op, nbytes)
        return found

    def counter_at(self, e: FunctionEmitter) -> int:
        """Where the word is that barriers count in."""
        if self._counter is None:
            self._counter = self._take(e, None, _COUNTER_BYTES)
        return self._counter

    def _take(self, e: FunctionEmitter, op: Op | None, nbytes: int) -> int:
        start = self.shared_bytes
        self.shared_bytes = (start + nbytes + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        if self.shared_bytes > self.most_shared:
            what = f"a block with {self.shared_bytes} bytes of shared memory: it has {self.most_shared}"
            self.refuse(e.function, op, what, "use smaller arrays or narrower types")
        return start

    # Functions

    def integers(self, function: Function) -> dict[Value, int]:
        """The values of a function that are integer constants."""
        found = self._integers.get(function.name)
        if found is None:
            found = self._integers[function.name] = integer_constants(function)
        return found

    def raising(self, function: Function) -> bool:
        """Whether the function may raise."""
        known = self._raising.get(function.name)
        if known is None:
            self._raising[function.name] = False  # a cycle is refused elsewhere
            known = self._raising[function.name] = any(self._op_raises(op) for op in function.body.walk())
        return known

    def _op_raises(self, op: Op) -> bool:
        if op.name == "call":
            return not op.attr("nothrow") and self.raising(self.module.functions[str(op.attrs["callee"])])
        return op.can_raise

    def callee(self, e: FunctionEmitter, op: Op) -> Callee:
        """The function that a call op calls."""
        name = str(op.attrs["callee"])
        if name in self.building:
            cycle = " -> ".join([*self.building[self.building.index(name) :], name])
            raise CompileError(
                diagnostics.Code.RECURSION_ON_TARGET,
                f"recursion cannot run on a Metal device: {cycle}",
                location_of(e.function, op),
                hint="use a loop, or the CPU, CUDA or AMDGPU backend",
            )
        found = self._built.get(name)
        if found is None:
            found = self._built[name] = self._build(self.module.functions[name])
        return found

    def result_type(self, function: Function) -> str:
        """The type that a function gives: nothing, or a struct of whether it raised, if it may, and the parts of its results."""
        if function.attrs.get("kernel"):
            return "void"
        parts = [part for type in function.result_types for part in parts_of(type)]
        members = [f"{part} r{index};" for index, part in enumerate(parts)]
        if self.raising(function):
            members.insert(0, "bool failed;")
        if not members:
            return "void"
        body = " ".join(members)
        if body not in self._structs:
            name = self._structs[body] = f"Result{len(self._structs)}"
            self.texts.append(f"struct {name} {{ {body} }};\n")
        return self._structs[body]

    def _build(self, function: Function) -> Callee:
        """Emit a function that others call."""
        self.building.append(function.name)
        e = FunctionEmitter(self, function)
        params = ["thread const Here& here"]
        for value in function.params:
            names = tuple(e.name(value.hint) for _ in parts_of(value.type))
            params += [f"{type} {name}" for type, name in zip(parts_of(value.type), names)]
            e.parts[value] = names
        e.region(function.body)
        self.building.pop()
        name = f"f{len(self._built)}_{re.sub('[^A-Za-z0-9]+', '_', function.name).strip('_')}"
        self.add(f"inline {e.result} {name}({', '.join(params)})", e)
        return Callee(name, e.result, e.raises)

    def add(self, head: str, e: FunctionEmitter) -> None:
        """Add the function of an emitter to the module."""
        self.texts.append("\n".join([f"{head} {{", *e.declared, *e.lines, "}\n"]))


def refuse(function: Function, op: Op | None, what: str, hint: str) -> None:
    """Raise the error that says what the device cannot do, and what to do instead."""
    raise CompileError(
        diagnostics.Code.UNSUPPORTED_CAPABILITY,
        f"the Metal device cannot run {what}",
        location_of(function, op),
        hint=hint,
    )


def _has_doubles(type: Type) -> bool:
    if isinstance(type, ArrayType):
        return False  # of which nothing is read: loads and stores have the element too
    return isinstance(type, Scalar) and type.part == F64


def location_of(function: Function, op: Op | None) -> SourceLocation:
    """Where an op is in the source."""
    scope = function.scope
    loc = op.loc if op is not None else None
    if loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    return SourceLocation(scope.filename, loc.line, loc.col, loc.end_line or None, loc.end_col or None, scope.qualname)
