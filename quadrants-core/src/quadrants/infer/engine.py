"""Compiles call trees: one IR function a Python function and signature, recursion by iteration from below.

Gives an `InferResult`: the module, the types at its boundary, and what the code depends on.
"""

from __future__ import annotations

import re
import types as pytypes
from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from quadrants._frozen import frozen, record
from quadrants.diagnostics import Code, CompileError, Decision
from quadrants.infer.emitter import Options, fail
from quadrants.infer.merge import join_types
from quadrants.infer.values import Abstract
from quadrants.ir import Effect, Function, Module, Op, Value
from quadrants.types import ArrayType, Scalar, Type
from quadrants.types.dtypes import layout_of, scalar_of
from quadrants.types.promotion import weak_of

MAX_RECURSION_ROUNDS = 16
MAX_WIDENED = 512
MAX_DEPTH = 200


@frozen
class Dependency:
    """A global or a closure cell whose value is part of the code.

    Args:
        namespace: the globals that hold it (None for a cell).
        name: its name.
        cell: the closure cell (None for a global).
        value: what it held.
    """

    namespace: dict[str, object] | None
    name: str
    cell: pytypes.CellType | None
    value: object

    @property
    def place(self) -> tuple[int, str]:
        """Identifies the global or the cell in this process."""
        return (id(self.namespace), self.name) if self.cell is None else (id(self.cell), "")


@frozen(eq=False)
class FunctionRef:
    """A function to compile: a Python function, or a closure made in a kernel (then `free` has its captured values)."""

    code: pytypes.CodeType
    globals: dict[str, object]
    name: str
    cells: tuple[pytypes.CellType, ...] = ()
    defaults: tuple[Abstract, ...] = ()
    kwdefaults: tuple[tuple[str, Abstract], ...] = ()
    free: tuple[tuple[str, Abstract], ...] = ()
    internal: bool = False
    annotations: tuple[tuple[str, object], ...] = ()  # of the parameters and the result, in the portable language
    generator: str = ""  # of a generator expression: what takes its items ("list", "any", "all", "next")


@record(eq=False)
class Specialisation:
    """A function compiled for a signature; `result` is None while no return is known."""

    name: str
    result: Type | None = None
    function: Function | None = None
    busy: bool = True
    recursive: bool = False
    pure: bool = False
    nothrow: bool = False
    fp: str = "default"  # the floating-point mode of what is called
    top: bool = False  # of the portable language: called outside of loops, so that its own loops are parallel
    hidden: dict[object, Value] = field(default_factory=dict)
    origin: object = None  # of a comprehension: where it makes the list that it gives


@record(eq=False)
class Found:
    """What walks find out about the walks of other functions: these begin with it when the call tree is compiled again.

    Args:
        boxes: by variable, what the box holds that it has, and whether that says that it is bound.
        lists: by function, the types of the items of the lists that are made at run time, by where they are made.
    """

    boxes: dict[object, tuple[Type | None, bool]] = field(default_factory=dict)
    lists: dict[object, dict[object, Type]] = field(default_factory=dict)


@frozen(eq=False)
class InferResult:
    """What inference gives.

    Args:
        module: the call tree; `module.entry` is the function that was asked for.
        param_types: the types of its parameters as given.
        result_type: the type of its result.
        dependencies: the globals and cells whose values are part of the code, in the order of their first use.
        hidden: what the entry takes as trailing parameters: global arrays, and the dependencies of numbers that change.
        hidden_types: their types.
        decisions: for `explain()`.
    """

    module: Module
    param_types: tuple[Type, ...]
    result_type: Type
    dependencies: tuple[Dependency, ...]
    hidden: tuple[np.ndarray | Dependency, ...]
    hidden_types: tuple[Type, ...]
    decisions: tuple[Decision, ...]


#: Walks a function: (engine, reference, parameter types, specialisation, is entry) -> (function, result type).
Walker = Callable[["Engine", FunctionRef, Sequence[Type], Specialisation, bool], "tuple[Function, Type | None]"]


class Engine:
    """The specialisations of one call tree.

    Args:
        options: how everything is compiled.
        walker: walks one function.
        found: what earlier walks of the call tree have found.
    """

    def __init__(self, options: Options, walker: Walker, found: Found) -> None:
        self.options = options
        self.walker = walker
        self.boxes = found.boxes
        self.lists = found.lists
        self._widened = 0
        self.specialisations: dict[object, Specialisation] = {}
        self.dependencies: dict[object, Dependency] = {}
        self.hidden: dict[object, tuple[np.ndarray | Dependency, Type]] = {}
        self.unions = True
        self.dynamic: frozenset[tuple[int, str]] = frozenset()
        self.decisions: list[Decision] = []
        self._depth = 0
        self._count = 0

    def specialise(
        self, ref: FunctionRef, types: Sequence[Type], fp: str, entry: bool = False, top: bool = False
    ) -> Specialisation:
        """The function compiled for the parameter types (those of captured values last) and a floating-point mode."""
        key = (
            ref.code,
            id(ref.globals),
            tuple(map(id, ref.cells)),
            tuple(n for n, _ in ref.free),
            tuple(types),
            entry,
            ref.generator,
            fp,
            top,
        )
        known = self.specialisations.get(key)
        if known is not None:
            known.recursive = known.recursive or known.busy
            return known
        if self._depth >= MAX_DEPTH:
            fail(Code.RECURSION_TYPE, f"calls are nested more than {MAX_DEPTH} deep with ever new types in {ref.name}")
        self._count += 1
        spec = Specialisation(f"{_plain(ref.name)}.{self._count}", fp=fp, top=top)
        self.specialisations[key] = spec
        self._depth += 1
        try:
            self._walk_until_stable(ref, types, spec, entry)
        except BaseException:
            del self.specialisations[key]
            raise
        finally:
            self._depth -= 1
        return spec

    def _walk_until_stable(self, ref: FunctionRef, types: Sequence[Type], spec: Specialisation, entry: bool) -> None:
        for _ in range(MAX_RECURSION_ROUNDS):
            before = set(self.specialisations)
            spec.busy = True
            spec.hidden = {}
            function, result = self.walker(self, ref, types, spec, entry)
            spec.busy = False
            spec.function = function
            if not spec.recursive or (result is not None and result == spec.result):
                spec.result = result
                spec.pure = not spec.recursive and _is_pure(self, function)
                spec.nothrow = not spec.recursive and not any(op.defn.raises(op) for op in function.body.walk())
                if spec.recursive:
                    function.attrs["recursive"] = True
                return
            if result is None:
                fail(
                    Code.RECURSION_TYPE,
                    f"every path through {ref.name}() calls itself again: the type of its result cannot be known",
                    hint="Give it a branch that returns without recursion.",
                )
            spec.result = result
            for key in set(self.specialisations) - before:  # they were compiled under the old assumption
                del self.specialisations[key]
        fail(Code.RECURSION_TYPE, f"the type of the result of {ref.name}() does not settle")

    def widen_box(self, site: object, item: Type | None, flagged: bool) -> None:
        """From the next walk on the box of a variable holds values of the type too."""
        self._widened += 1
        if self._widened > MAX_WIDENED:
            fail(Code.NO_FIXPOINT, "the types of the variables that inner functions assign do not settle")
        known, was_flagged = self.boxes.get(site, (None, False))
        joined = item if known is None or item is None else join_types(known, item)
        self.boxes[site] = (known if joined is None else joined, flagged or was_flagged)

    def depend(self, dependency: Dependency) -> None:
        """Record that the code contains the value of a global or a cell."""
        where = id(dependency.cell) if dependency.cell is not None else id(dependency.namespace)
        self.dependencies.setdefault((where, dependency.name), dependency)

    def hide(self, array: np.ndarray) -> ArrayType:
        """Make a global array a hidden argument; its type."""
        dtype = scalar_of(array.dtype)
        if dtype is None or type(array) is not np.ndarray or not array.flags.aligned:
            fail(
                Code.UNSUPPORTED_TYPE,
                f"a global array of {array.dtype} ({type(array).__name__}) cannot be used in compiled code",
                hint="Plain, aligned, native-endian numeric arrays can.",
            )
        type_ = ArrayType(dtype, array.ndim, layout_of(array), not array.flags.writeable)
        self.hidden.setdefault(id(array), (array, type_))
        return type_

    def hide_number(self, dependency: Dependency) -> Scalar | None:
        """The type of a global or cell that holds a Python number and keeps changing, now a hidden argument; None for others."""
        if dependency.place not in self.dynamic or type(dependency.value) not in (bool, int, float, complex):
            return None
        type_ = weak_of(dependency.value)  # type: ignore[arg-type]
        self.hidden.setdefault(dependency.place, (dependency, type_))
        return type_

    def finish(self, entry: Specialisation) -> Module:
        """The module of everything that the entry reaches, hidden arguments passed along."""
        by_name = {spec.name: spec for spec in self.specialisations.values() if spec.function is not None}
        reached = _reachable(entry, by_name)
        _thread_hidden(entry, reached, self.hidden)
        functions = {spec.name: spec.function for spec in reached.values() if spec.function is not None}
        return Module(functions, entry.name)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)


def calls_of(function: Function) -> list[Op]:
    """The call ops of a function."""
    return [op for op in function.body.walk() if op.name == "call"]


def _is_pure(engine: Engine, function: Function) -> bool:
    """Whether calling the function does nothing but give its result."""
    by_name = {spec.name: spec for spec in engine.specialisations.values()}
    for op in function.body.walk():
        if op.name == "call":
            if not by_name[str(op.attrs["callee"])].pure:
                return False
        elif (
            op.name in ("loop", "for")
            or op.defn.raises(op)
            or op.defn.effects & ~(Effect.CONTROL | Effect.READS | Effect.RAISES)
        ):
            return False
    return True


def _reachable(entry: Specialisation, by_name: dict[str, Specialisation]) -> dict[str, Specialisation]:
    reached = {entry.name: entry}
    pending = [entry]
    while pending:
        spec = pending.pop()
        assert spec.function is not None
        for op in calls_of(spec.function):
            name = str(op.attrs["callee"])
            if name not in reached:
                reached[name] = by_name[name]
                pending.append(by_name[name])
    return reached


def _thread_hidden(
    entry: Specialisation,
    reached: dict[str, Specialisation],
    hidden: dict[object, tuple[np.ndarray | Dependency, Type]],
) -> None:
    """Add the hidden arguments that callees need to the parameters of their callers, and pass them in the calls."""
    if not hidden:
        return
    calls = {name: calls_of(spec.function) for name, spec in reached.items() if spec.function is not None}
    needs = {name: {key for key in hidden if key in spec.hidden} for name, spec in reached.items()}
    changed = True
    while changed:
        changed = False
        for name in reached:
            wanted = needs[name].union(*(needs[str(op.attrs["callee"])] for op in calls[name]))
            changed = changed or wanted != needs[name]
            needs[name] = wanted
    needs[entry.name] = set(hidden)
    for name, spec in reached.items():
        assert spec.function is not None
        for key, (_, type_) in hidden.items():
            if key in needs[name]:
                spec.function.params.append(spec.hidden.setdefault(key, Value(type_.leaves()[0], "hidden")))
    for name, spec in reached.items():
        for op in calls[name]:
            op.operands.extend(spec.hidden[key] for key in hidden if key in needs[str(op.attrs["callee"])])


def internal_error(error: Exception) -> CompileError:
    """A broken invariant of the compiler as an error that says so."""
    return CompileError(Code.BAD_IR, f"the compiler made code that does not hold together: {error}")
