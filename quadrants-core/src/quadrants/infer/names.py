"""The names of a function: its locals, cells and globals, and how the interpreter's objects become values.

`ScopeWalk` is the walk with names; the operations on values are in the class derived from it.
"""

from __future__ import annotations

import importlib
import sys
import types as pytypes
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quadrants._frozen import frozen
from quadrants.diagnostics import Code, CompileError, Decision, DecisionKind, SourceLocation
from quadrants.infer import boxes, closures, sequences, texts
from quadrants.infer.captured import Box, Late
from quadrants.infer.emitter import ABOUT, fail
from quadrants.infer.ends import Fact
from quadrants.infer.engine import Dependency, Engine, FunctionRef, Specialisation
from quadrants.infer.habits import import_hint, suggestion
from quadrants.infer.portable.holding import held
from quadrants.infer.values import (
    Abstract,
    Arr,
    Closure,
    Conflict,
    Const,
    Exc,
    Maybe,
    Num,
    SliceValue,
    Tup,
)
from quadrants.infer.walk import ControlWalk
from quadrants.ir import Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.origin import Loc
from quadrants.types import LiteralType, Type
from quadrants.types.dtypes import scalar_of
from quadrants.types.objects import attribute_place, changes_unnoticed


@frozen
class Parameter:
    """Stands for the place where the caller made a list that it passes: the argument's number."""

    index: int


UNDEF = object()


class Cell(Abstract):
    """A cell on the stack, on its way into a closure."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def type(self) -> Type:
        return LiteralType(self)


def _is_users(value: object) -> bool:
    """Whether an attribute of a module is a function or class of a program, which may be another one later."""
    if isinstance(value, type):
        return bool(value.__flags__ & 1 << 9) and _package(value) not in _FIXED  # made by a class statement
    function = getattr(value, "py_func", value)
    return isinstance(function, pytypes.FunctionType) and _package(function) not in _FIXED


#: Packages whose functions and classes stay what they are. (Quadrants loads its own when they are first named.)
_FIXED = ("numpy", "quadrants")


def _package(value: type | pytypes.FunctionType) -> str:
    return (value.__module__ or "").partition(".")[0]


class ScopeWalk(ControlWalk):
    """The walk of one function, as far as names go.

    Args:
        engine: compiles the functions that are called.
        ref: the function.
        spec: the specialisation being made.
    """

    def __init__(self, engine: Engine, ref: FunctionRef, spec: Specialisation) -> None:
        self.body = Region()
        options = engine.options
        super().__init__(Builder(self.body), options if spec.fp == options.fp else replace(options, fp=spec.fp))
        self.engine = engine
        self.ref = ref
        self.spec = spec
        self.free: dict[str, Abstract] = {}
        self.portable = engine.options.portable and not ref.internal
        #: Numbers that were loaded from arrays, by their identity: the number, and what gives its place.
        self.loaded: dict[int, tuple[Abstract, Callable[[], object]]] = {}
        #: The type of the items of the lists that are made at run time, by where they are made.
        self.lists: dict[object, Type] = {}
        #: The variables that inner functions know: those with boxes, and the others.
        self.boxes: dict[str, Box] = {}
        self.late: frozenset[str] = frozenset()
        #: The variables whose values closures have taken along since the last call.
        self.left: set[str] = set()
        self._key: object = None

    # objects of the interpreter as values

    def device_value(self, name: object) -> Abstract:
        """A name of the explicit language. The derived class provides it."""
        raise AssertionError("provided by the derived class")

    def from_python(self, value: object, name: str = "") -> Abstract:
        """The abstract value of an object that the program holds in a global, a cell or an attribute."""
        if hasattr(type(value), "__quadrants_device__"):
            return self.device_value(value)
        if hasattr(type(value), "__quadrants_tensor__"):
            return self.from_python(value.__quadrants_argument__, name)  # type: ignore[attr-defined]
        if isinstance(value, np.generic):
            scalar = scalar_of(value.dtype)
            if scalar is None:
                fail(Code.UNSUPPORTED_CONSTANT, f"{name or 'a constant'} has the type {type(value).__name__}")
            return Num(scalar, self.b.const(value.item(), scalar))
        if isinstance(value, tuple):
            items = tuple(self.from_python(item, f"{name}[{k}]") for k, item in enumerate(value))
            fields = getattr(type(value), "_fields", None)
            return Tup(items, (tuple(fields), type(value)) if fields is not None else None)
        if isinstance(value, np.ndarray):
            return self._hidden(value)
        if isinstance(value, slice):
            return SliceValue(*(self.from_python(bound) for bound in (value.start, value.stop, value.step)))
        if isinstance(value, list) and self.options.portable:
            return self.from_python(tuple(value), name)
        if isinstance(value, (list, dict, set)):
            fail(
                Code.UNSUPPORTED_CONSTANT,
                f"the global {name} is a {type(value).__name__}, which compiled code cannot use",
                hint="Use a tuple or a NumPy array, or pass it as an argument.",
            )
        return Const(getattr(value, "__quadrants_alias__", value))  # `qd.float32` is NumPy's

    def _dependent(self, dependency: Dependency, name: str) -> Abstract:
        """The value of a global or a cell of the program."""
        self.engine.depend(dependency)
        scalar = self.engine.hide_number(dependency)
        if scalar is None:
            return self.from_python(dependency.value, name)
        return Num(scalar, self.spec.hidden.setdefault(dependency.place, Value(scalar.machine, "hidden")))

    def _hidden(self, array: np.ndarray) -> Arr:
        type_ = self.engine.hide(array)
        return Arr(type_, self.spec.hidden.setdefault(id(array), Value(type_, "hidden")))

    def from_module(self, module: pytypes.ModuleType, name: str, value: object) -> Abstract:
        """An attribute of a module."""
        if not self.ref.internal and (
            isinstance(value, (int, float, complex, str, tuple, np.ndarray)) or _is_users(value)
        ):
            return self._dependent(Dependency(vars(module), name, None, value), f"{module.__name__}.{name}")
        return self.from_python(value, f"{module.__name__}.{name}")

    def from_attribute(self, owner: object, name: str, value: object) -> Abstract:
        """An attribute of a class or of an object; those of a program may be other ones later."""
        label = f"{getattr(owner, '__qualname__', type(owner).__qualname__)}.{name}"
        found = None if self.ref.internal else attribute_place(owner, name)
        if found is None:
            return self.from_python(value, label)
        namespace, raw = found
        if changes_unnoticed(owner, namespace, raw) and not self.options.portable:
            fail(
                Code.UNSUPPORTED_CONSTANT,
                f"the attribute '{name}' of an object of the class {type(owner).__qualname__} may change unnoticed",
                hint="Pass its value as an argument, or use a named tuple.",
            )
        dependency = Dependency(namespace, name, None, raw)
        if raw is value:
            return self._dependent(dependency, label)
        self.engine.depend(dependency)
        return self.from_python(value, label)

    # facts about optionals

    def note_presence(self, test: Value, optional: Abstract, present: bool, exact: bool) -> None:
        self.facts[test] = Fact(optional, present, exact)  # type: ignore[arg-type]

    def note_inverse(self, test: Value, inverse: Value) -> None:
        fact = self.facts.get(test)
        if fact is not None and fact.exact:
            self.facts[inverse] = Fact(fact.optional, not fact.present, True)

    # locals, cells, globals

    def _readable(self, value: Abstract | None, name: str) -> Abstract:
        value = self.bound(value, name)
        if isinstance(value, Conflict):
            fail(
                Code.CANNOT_UNIFY,
                f"'{name}' has different types on the paths that lead here",
                types=[(f"{name} (one way)", kind) for kind in value.kinds],
                hint="Give every path the same type, or use two names.",
            )
        return value

    def _load_local(self, name: str) -> None:
        value = self.live_env.locals.get(name)
        readable = self._readable(value, name)
        if isinstance(value, Maybe):
            self.live_env.locals[name] = readable  # bound from here on
        self.push(readable)

    def _load_or_undef(self, name: str) -> None:
        value = self.live_env.locals.pop(name) if name in self.live_env.locals else None
        self.push(Const(UNDEF) if value is None else value)

    def _store_local(self, name: str) -> None:
        if name in self.late:
            closures.part_from(self, name)
        self._assign(name)

    def _assign(self, name: str) -> None:
        value = self.pop()
        if isinstance(value, Const) and value.value is UNDEF:
            self.live_env.locals.pop(name, None)
            return
        value = self.lasting(name, value)
        if isinstance(value, Exc) and any(other is value for other in self.live_env.locals.values()):
            value = texts.kept(self, value)  # a second name: it may outlive the handler
        if self.portable:
            value = held(self, value)
        for leaf in value.leaves:
            leaf.hint = leaf.hint or name
        self.store_local(name, value)

    def lasting(self, name: str | None, value: Abstract, parameter: bool = False) -> Abstract:
        """The value as a variable holds it, or as several places do (None): see `iterators.in_variable`."""
        if not sequences.iterates(value):
            return value
        from quadrants.infer import iterators  # which few programs need

        return iterators.in_variable(self, name, value, parameter)

    def _delete_local(self, name: str) -> None:
        self._readable(self.live_env.locals.get(name), name)
        self.live_env.locals.pop(name, None)

    def open_boxes(self, key: object) -> None:
        """Make the boxes of the function, whose parameters are bound."""
        self._key = key
        plan = closures.plan_of(self.ref.code)
        cells = self.ref.code.co_cellvars
        names = [name for name in cells if name in plan.shared or self.site_of(name) in self.engine.boxes]
        boxes.open_boxes(self, names, plan.deleted)
        self.late = frozenset(self.ref.code.co_cellvars) - self.boxes.keys()

    def site_of(self, name: str) -> tuple[object, str]:
        """Identifies a variable of this function."""
        return self._key, name

    def _load_deref(self, name: str) -> None:
        if name in self.boxes:
            self.push(boxes.load(self, name, self.boxes[name]))
            return
        if name in self.live_env.locals or name in self.ref.code.co_cellvars:
            self._load_local(name)
            return
        if name in self.free:
            value = self.free[name]
            found = boxes.load(self, name, value) if isinstance(value, Box) else closures.bound_free(self, name, value)
            self.push(self._readable(found, name))
            return
        cell = dict(zip(self.ref.code.co_freevars, self.ref.cells)).get(name)
        if cell is None:
            self.push(self._readable(None, name))
            return
        try:
            value_ = cell.cell_contents
        except ValueError:
            fail(Code.UNDEFINED_NAME, f"the free variable '{name}' has no value yet")
        internal = self.ref.internal
        self.push(
            self.from_python(value_, name) if internal else self._dependent(Dependency(None, name, cell, value_), name)
        )

    def own_closure(self) -> Closure:
        """The function itself, as inner functions know it."""
        return closures.own_closure(self)

    def _store_deref(self, name: str) -> None:
        box = self.boxes.get(name) or self.free.get(name)
        if isinstance(box, Box):
            self.left.clear()
            value = closures.leaving(self, self.lasting(name, self.pop()))
            for kept in sorted(self.left):
                closures.check_changing(self, kept)
            boxes.store(self, name, box, value)
            return
        if name in self.ref.code.co_freevars:
            fail(
                Code.UNSUPPORTED_NONLOCAL,
                f"'{name}' belongs to an outer function, which the interpreter runs, and cannot be assigned here",
                hint="Return the new value and assign it there, or compile the outer function too.",
            )
        self._assign(name)

    def _make_cell(self, name: str) -> None:
        """The variable is shared with inner functions: from the start, or, where the stack holds what it was before, in a
        comprehension that is a part of the function from Python 3.12 on. The latter has no box of its own here.
        """
        if name in self.boxes and self.live_env.stack:
            fail(
                Code.UNSUPPORTED_COMPREHENSION,
                f"'{name}' is a variable of a comprehension that functions know: after it has ended, or besides another '{name}'",
                hint=f"Take the value as a default, lambda {name}={name}: ..., or give the comprehension's variable another name.",
            )

    def _delete_deref(self, name: str) -> None:
        box = self.boxes.get(name) or self.free.get(name)
        if isinstance(box, Box):
            boxes.delete(self, name, box)
        else:
            self._delete_local(name)

    def _load_global(self, name: str) -> None:
        namespace = self.ref.globals
        if name in ("@py_builtins", "@pytest_ar"):
            self.push(Const(importlib.import_module("quadrants.library.assertions")))
            return
        if name in namespace:
            value = namespace[name]
            # The library's globals never change; its arrays (the states of random generators) are hidden arguments.
            internal = self.ref.internal and not isinstance(value, np.ndarray)
            dependency = Dependency(namespace, name, None, value)
            self.push(self.from_python(value, name) if internal else self._dependent(dependency, name))
            return
        builtins = namespace.get("__builtins__", {})
        table = vars(builtins) if isinstance(builtins, pytypes.ModuleType) else builtins
        if not isinstance(table, dict) or name not in table:
            known = (*self.ref.code.co_varnames, *self.ref.code.co_freevars, *namespace)
            hint = suggestion(name, known) or import_hint(name)
            fail(Code.UNDEFINED_NAME, f"name '{name}' is not defined", hint=hint)
        self.push(Const(table[name]))

    def _import(self, name: str) -> None:
        names, level = self.pop(), self.pop()
        if not isinstance(level, Const) or level.value:
            fail(Code.UNSUPPORTED_IMPORT, "a relative import inside a compiled function")
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            fail(Code.UNSUPPORTED_IMPORT, f"an import inside a compiled function failed: {error}")
        top = module if isinstance(names, Tup) else sys.modules[name.partition(".")[0]]
        self.push(Const(top))

    def cell_value(self, name: str) -> Abstract | None:
        """What an inner function captures of a variable."""
        if name in self.boxes:
            return boxes.captured(self, name)
        if name in self.late:
            return Late(name)
        if name in self.free:
            return closures.unfolded(self, self.free[name])
        depth = len(self.live_env.stack)
        self._load_deref(name)
        found = self.pop()
        assert len(self.live_env.stack) == depth
        return found

    def note_raise(self, text: str, hint: str | None) -> None:
        if self.ref.internal:
            return
        detail = (("hint", hint),) if hint else ()
        self.decisions.append(
            Decision("inference", DecisionKind.REMAINS, self.location(), "always-raises", text, detail)
        )

    def location(self) -> SourceLocation:
        """Where the walk is."""
        return self.location_of(self.b.loc)

    def location_of(self, loc: Loc | None) -> SourceLocation:
        """A place of the function's code."""
        code = self.ref.code
        if loc is None:
            return SourceLocation.of_code(code)
        return SourceLocation(code.co_filename, loc.line, loc.col, loc.end_line, loc.end_col, code.co_qualname)


class located:
    """Adds the present place, and the hint of its code, to a compile error that has none, unless the code is the library's own."""

    __slots__ = ("walk",)

    def __init__(self, walk: ScopeWalk) -> None:
        self.walk = walk

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, CompileError) or self.walk.ref.internal:
            return
        about = vars(error).pop(ABOUT, None)
        if error.location is None:
            place = None if about is None else self.walk.places.of(about)
            error.location = self.walk.location() if place is None else self.walk.location_of(place)
            error.hint = error.hint or error.code.entry.hint
