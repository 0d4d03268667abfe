"""The walk of one function: the canonical stack operations, calls, and where Python objects become values."""

from __future__ import annotations

import importlib
import inspect
import types as pytypes
from collections.abc import Callable, Sequence

import numpy as np

from quadrants import bytecode
from quadrants.bytecode import nodes
from quadrants.bytecode.opcode import Inst, Opcode
from quadrants.diagnostics import Code, CompileError, SourceLocation
from quadrants.infer import attributes, calls, elementwise, indexing, operators, sequences
from quadrants.infer.emitter import class_name, describe, fail
from quadrants.infer.engine import Dependency, Engine, FunctionRef, Specialisation
from quadrants.infer.merge import convert, generalise, join_types
from quadrants.infer.returning import check_returnable
from quadrants.infer.values import (
    Abstract,
    Arr,
    Closure,
    Conflict,
    ConflictType,
    Const,
    DictDisplay,
    Exc,
    ListDisplay,
    Maybe,
    NewExc,
    Num,
    Sequence_,
    SliceValue,
    Text,
    Tup,
    rebuild,
)
from quadrants.infer.walk import ControlWalk, Fact
from quadrants.ir import Function, Region, Scope, Value
from quadrants.ir.builder import Builder
from quadrants.types import FormatHole, FormatType, LiteralType, TupleType, Type
from quadrants.types.dtypes import scalar_of
from quadrants.types.promotion import weak_of


class _Self:
    """Stands for the function itself among its own free variables (a recursive inner function)."""


SELF = _Self()
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
    """Whether an attribute of a module is a function that is compiled from its own code, which may be another one later."""
    function = getattr(value, "py_func", value)
    return isinstance(function, pytypes.FunctionType) and (function.__module__ or "").partition(".")[0] != "numpy"


class FunctionWalk(ControlWalk):
    """Walks one function for one signature.

    Args:
        engine: compiles the functions that are called.
        ref: the function.
        spec: the specialisation being made.
    """

    def __init__(self, engine: Engine, ref: FunctionRef, spec: Specialisation) -> None:
        self.body = Region()
        super().__init__(Builder(self.body), engine.options)
        self.engine = engine
        self.ref = ref
        self.spec = spec
        self.free: dict[str, Abstract] = {}

    # objects of the interpreter as values

    def from_python(self, value: object, name: str = "") -> Abstract:
        """The abstract value of an object that the program holds in a global, a cell or an attribute."""
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
        if isinstance(value, (list, dict, set)):
            fail(
                Code.UNSUPPORTED_CONSTANT,
                f"the global {name} is a {type(value).__name__}, which compiled code cannot use",
                hint="Use a tuple or a NumPy array, or pass it as an argument.",
            )
        return Const(value)

    def _hidden(self, array: np.ndarray) -> Arr:
        type_ = self.engine.hide(array)
        return Arr(type_, self.spec.hidden.setdefault(id(array), Value(type_, "hidden")))

    def from_module(self, module: pytypes.ModuleType, name: str, value: object) -> Abstract:
        """An attribute of a module."""
        if not self.ref.internal and (isinstance(value, (int, float, complex, str, tuple, np.ndarray)) or _is_users(value)):
            self.engine.depend(Dependency(vars(module), name, None, value))
        return self.from_python(value, f"{module.__name__}.{name}")

    # facts about optionals

    def note_presence(self, test: Value, optional: Abstract, present: bool, exact: bool) -> None:
        self.facts[test] = Fact(optional, present, exact)  # type: ignore[arg-type]

    def note_inverse(self, test: Value, inverse: Value) -> None:
        fact = self.facts.get(test)
        if fact is not None and fact.exact:
            self.facts[inverse] = Fact(fact.optional, not fact.present, True)

    # what ControlWalk needs

    def condition(self, value: Abstract) -> Value | bool:
        with _located(self):
            return operators.truth(self, self._readable(value, "the condition"))

    def loop_over(self, node: nodes.For, iterable: Abstract) -> None:
        with _located(self):
            sequences.loop_over(self, node, iterable)

    def raise_value(self, argc: int) -> None:
        with _located(self):
            if argc == 2:
                self.pop()  # the cause
            if argc == 0:
                if not self.live_env.handling:
                    self.check(self.b.bool(False), RuntimeError, "No active exception to reraise")
                    self.b.op("unreachable")
                    return
                self.b.op("reraise", self.live_env.handling[-1].value)
                return
            self._raise_object(self.pop())

    def _raise_object(self, value: Abstract) -> None:
        if isinstance(value, Const) and isinstance(value.value, type):
            value = NewExc(value.value, ())
        if isinstance(value, Const) and isinstance(value.value, BaseException):
            value = NewExc(type(value.value), tuple(Const(arg) for arg in value.value.args))
        if isinstance(value, Exc):
            self.b.op("reraise", value.value)
            return
        if not isinstance(value, NewExc) or not issubclass(value.cls, BaseException):
            fail(Code.BAD_EXCEPTION, f"exceptions must derive from BaseException, not {describe(value)}")
        args = tuple(self._exception_argument(arg) for arg in value.args)
        leaves = [leaf for arg in args for leaf in arg.leaves]
        self.b.op("raise", *leaves, exc=class_name(value.cls), args=TupleType(tuple(arg.type for arg in args)))

    def _exception_argument(self, value: Abstract) -> Abstract:
        if any(leaf.heap for leaf in value.type.leaves()):
            fail(
                Code.UNSUPPORTED_RAISE, "an array cannot be the argument of an exception", hint="Pass numbers or text."
            )
        return value

    # code

    def run_code(self, insts: Sequence[object]) -> None:
        with _located(self):
            for inst in insts:
                assert isinstance(inst, Inst)
                self.at(inst.loc)
                handler = _INSTS.get(inst.op)
                if handler is None:
                    _unsupported(inst, self.ref.code)
                assert handler is not None
                try:
                    handler(self, inst.arg)
                except calls.NeverReturns:
                    self.b.op("unreachable")
                    self.env = None
                    return

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
        self.push(self.live_env.locals.pop(name, None) or Const(UNDEF))

    def _store_local(self, name: str) -> None:
        value = self.pop()
        if isinstance(value, Const) and value.value is UNDEF:
            self.live_env.locals.pop(name, None)
            return
        for leaf in value.leaves:
            leaf.hint = leaf.hint or name
        self.store_local(name, value)

    def _delete_local(self, name: str) -> None:
        self._readable(self.live_env.locals.get(name), name)
        self.live_env.locals.pop(name, None)

    def _load_deref(self, name: str) -> None:
        if name in self.live_env.locals or name in self.ref.code.co_cellvars:
            self._load_local(name)
            return
        if name in self.free:
            value = self.free[name]
            self.push(self._own_closure() if isinstance(value, Const) and value.value is SELF else value)
            return
        cell = dict(zip(self.ref.code.co_freevars, self.ref.cells)).get(name)
        if cell is None:
            self.push(self._readable(None, name))
            return
        try:
            value_ = cell.cell_contents
        except ValueError:
            fail(Code.UNDEFINED_NAME, f"the free variable '{name}' has no value yet")
        if not self.ref.internal:
            self.engine.depend(Dependency(None, name, cell, value_))
        self.push(self.from_python(value_, name))

    def _own_closure(self) -> Closure:
        free = tuple((name, None if _is_self(value) else value) for name, value in self.free.items())
        return Closure(self.ref.code, self.ref.globals, self.ref.defaults, self.ref.kwdefaults, free, None)

    def _store_deref(self, name: str) -> None:
        if name in self.ref.code.co_freevars:
            fail(
                Code.UNSUPPORTED_NONLOCAL,
                f"'{name}' belongs to an outer function and cannot be assigned here",
                hint="Return the new value and assign it in the outer function.",
            )
        self._store_local(name)

    def _build_map(self, n: int) -> None:
        parts = self._take(2 * n)
        self._push_dict(parts[::2], parts[1::2])

    def _build_const_map(self, keys: tuple[object, ...]) -> None:
        self._push_dict(tuple(Const(key) for key in keys), self._take(len(keys)))

    def _push_dict(self, keys: tuple[Abstract, ...], items: tuple[Abstract, ...]) -> None:
        constants = tuple(key.value for key in keys if isinstance(key, Const))
        if not self._in_assertion or len(constants) != len(keys):
            fail(Code.UNSUPPORTED_DICT, "dicts cannot be used in compiled code", hint="Use a tuple or a named tuple.")
        self.push(DictDisplay(constants, items))

    @property
    def _in_assertion(self) -> bool:
        """Whether the function has `assert` statements that pytest has rewritten."""
        return "@pytest_ar" in self.ref.code.co_names

    def _load_global(self, name: str) -> None:
        namespace = self.ref.globals
        if name in ("@py_builtins", "@pytest_ar"):
            self.push(Const(importlib.import_module("quadrants.library.assertions")))
            return
        if name in namespace:
            value = namespace[name]
            if not self.ref.internal:
                self.engine.depend(Dependency(namespace, name, None, value))
            self.push(self.from_python(value, name))
            return
        builtins = namespace.get("__builtins__", {})
        table = vars(builtins) if isinstance(builtins, pytypes.ModuleType) else builtins
        if not isinstance(table, dict) or name not in table:
            fail(Code.UNDEFINED_NAME, f"name '{name}' is not defined")
        self.push(Const(table[name]))

    def _push(self, value: object) -> None:
        self.push(self.from_python(value))

    def _load_attr(self, name: str) -> None:
        self.push(self.get_attr(self.pop(), name))

    def get_attr(self, value: Abstract, name: str) -> Abstract:
        return attributes.get_attr(self, value, name)

    def _store_attr(self, name: str) -> None:
        owner = self.pop()
        value = self.pop()
        part = attributes.get_attr(self, owner, name) if name in ("real", "imag") and isinstance(owner, Arr) else None
        if isinstance(part, Arr):
            elementwise.assign_into(self, part, value)
            return
        fail(Code.NOT_ASSIGNABLE, f"the attribute '{name}' of {describe(owner)} cannot be assigned")

    def _subscr(self, _: object) -> None:
        index = self.pop()
        self.push(self.get_item(self.pop(), index))

    def get_item(self, base: Abstract, index: Abstract) -> Abstract:
        base = self.unwrap(base)
        index = self.unwrap(index)
        if isinstance(base, Arr):
            return indexing.get_item(self, base, index)
        if isinstance(base, Tup):
            return sequences.get_item(self, base.items, index, Tup)
        if isinstance(base, ListDisplay):
            return sequences.get_item(self, base.items, index, ListDisplay)
        if isinstance(base, Sequence_) and base.kind == "range" and not isinstance(index, SliceValue):
            position = self.integer(index)
            length = sequences.range_length(self, base)
            checked = self.b.value("index", position, length, axis=0, checked=True, wrap=True)
            return sequences.item(self, base, checked)
        if isinstance(base, Const) and isinstance(index, Const):
            return self._constant_item(base.value, index.value)
        fail(Code.NOT_SUBSCRIPTABLE, f"{describe(base)} cannot be indexed")

    def _constant_item(self, base: object, index: object) -> Abstract:
        try:
            return self.from_python(base[index])  # type: ignore[index]
        except (TypeError, LookupError) as error:
            fail(Code.NOT_SUBSCRIPTABLE, str(error))

    def _store_subscr(self, _: object) -> None:
        index, base, value = self.pop(), self.unwrap(self.pop()), self.pop()
        if not isinstance(base, Arr):
            hint = "Tuples cannot be changed: build a new one, or use an array." if isinstance(base, Tup) else None
            fail(Code.NOT_ASSIGNABLE, f"{describe(base)} does not support item assignment", hint=hint)
        indexing.set_item(self, base, self.unwrap(index), value)

    def _unary(self, symbol: str) -> None:
        self.push(operators.unary(self, symbol, self.pop()))

    def _binary(self, symbol: str) -> None:
        right = self.pop()
        self.push(operators.binary(self, symbol, self.pop(), right))

    def _inplace(self, symbol: str) -> None:
        right = self.pop()
        self.push(operators.inplace(self, symbol, self.pop(), right))

    def _compare(self, symbol: str) -> None:
        right = self.pop()
        self.push(operators.compare(self, symbol, self.pop(), right))

    def _is_op(self, invert: bool) -> None:
        right = self.pop()
        self.push(operators.is_(self, self.pop(), right, bool(invert)))

    def _contains(self, invert: bool) -> None:
        container = self.pop()
        self.push(operators.contains(self, self.pop(), container, bool(invert)))

    def _take(self, n: int) -> tuple[Abstract, ...]:
        stack = self.live_env.stack
        taken = tuple(stack[len(stack) - n :])
        del stack[len(stack) - n :]
        return taken

    def _build_slice(self, n: int) -> None:
        parts = self._take(n)
        self.push(SliceValue(*parts) if n == 3 else SliceValue(*parts, Const(None)))

    def _build_string(self, n: int) -> None:
        self.push(operators.concat(self, list(self._take(n))))

    def _convert(self, conversion: str) -> None:
        letter = {"str": "s", "repr": "r", "ascii": "a"}[conversion]
        self.push(_format(self.pop(), letter, ""))

    def _format(self, has_spec: bool) -> None:
        spec = self.pop() if has_spec else Const("")
        if not (isinstance(spec, Const) and isinstance(spec.value, str)):
            fail(Code.UNSUPPORTED_FORMAT, "a format spec has to be constant")
        value = self.pop()
        if isinstance(value, Text) and spec.value and len(value.format.parts) == 1:
            (part,) = value.format.parts
            if isinstance(part, FormatHole) and not part.spec:
                self.push(Text(FormatType((FormatHole(part.type, part.conversion, spec.value),)), value.values))
                return
        self.push(_format(value, "", spec.value))

    def _unpack(self, n: int) -> None:
        items = sequences.as_items(self, self.pop(), n)
        if len(items) != n:
            word = "too many" if len(items) > n else "not enough"
            got = "" if len(items) > n else f", got {len(items)}"
            fail(Code.BAD_UNPACK, f"{word} values to unpack (expected {n}{got})")
        for item in reversed(items):
            self.push(item)

    def _unpack_ex(self, counts: tuple[int, int]) -> None:
        before, after = counts
        items = sequences.as_items(self, self.pop())
        if len(items) < before + after:
            fail(Code.BAD_UNPACK, f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
        middle = len(items) - after
        for item in reversed(items[middle:]):
            self.push(item)
        self.push(ListDisplay(items[before:middle]))
        for item in reversed(items[:before]):
            self.push(item)

    def _list_extend(self, n: int) -> None:
        items = sequences.as_items(self, self.pop())
        self._grow_list(n, items)

    def _list_append(self, n: int) -> None:
        self._grow_list(n, (self.pop(),))

    def _grow_list(self, n: int, items: tuple[Abstract, ...]) -> None:
        stack = self.live_env.stack
        grown = stack[-n]
        assert isinstance(grown, ListDisplay)
        stack[-n] = ListDisplay((*grown.items, *items))

    def _copy(self, n: int) -> None:
        self.push(self.live_env.stack[-n])

    def _swap(self, n: int) -> None:
        stack = self.live_env.stack
        stack[-1], stack[-n] = stack[-n], stack[-1]

    # calls

    def _call(self, arg: tuple[int, tuple[str, ...]]) -> None:
        positional, names = arg
        values = self._take(positional + len(names))
        callee = self.pop()
        keywords = dict(zip(names, values[positional:]))
        self.push(self.call_value(callee, values[:positional], keywords))

    def _call_ex(self, has_keywords: bool) -> None:
        if has_keywords:
            fail(Code.UNSUPPORTED_KWARGS, "a call with ** cannot be compiled")
        args = sequences.as_items(self, self.pop())
        self.push(self.call_value(self.pop(), args, {}))

    def call_value(self, callee: Abstract, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> Abstract:
        """Call any value."""
        return calls.call(self, callee, tuple(args), keywords)

    def call_library(self, target: str, *args: Abstract, **kwargs: Abstract) -> Abstract:
        return calls.call_library(self, target, args, kwargs)

    def _make_function(self, flags: frozenset[str]) -> None:
        code = self.pop()
        assert isinstance(code, Const) and isinstance(code.value, pytypes.CodeType)
        free: tuple[tuple[str, Abstract | None], ...] = ()
        if "closure" in flags:
            cells = self.pop()
            assert isinstance(cells, Tup)
            names = [cell.name for cell in cells.items if isinstance(cell, Cell)]
            free = tuple((name, self.cell_value(name)) for name in names)
        for flag in ("annotate", "annotations"):
            if flag in flags:
                self.pop()
        kwdefaults = self.pop() if "kwdefaults" in flags else None
        defaults = self.pop() if "defaults" in flags else Tup(())
        assert isinstance(defaults, Tup) and kwdefaults is None
        self.push(Closure(code.value, self.ref.globals, defaults.items, (), free, self))

    def cell_value(self, name: str) -> Abstract | None:
        """What a cell of this function holds now; None while it is empty."""
        value = self.live_env.locals.get(name)
        if value is not None or name in self.ref.code.co_cellvars:
            return value
        depth = len(self.live_env.stack)
        self._load_deref(name)
        found = self.pop()
        assert len(self.live_env.stack) == depth
        return found

    # exceptions

    def _push_exc(self, _: object) -> None:
        exc = self.live_env.stack[-1]
        assert isinstance(exc, Exc)
        self.live_env.handling = (*self.live_env.handling, exc)

    def _pop_except(self, _: object) -> None:
        self.live_env.handling = self.live_env.handling[:-1]

    def _check_exc_match(self, _: object) -> None:
        classes = self.pop()
        exc = self.live_env.stack[-1]
        assert isinstance(exc, Exc)
        wanted = [item.value if isinstance(item, Const) else None for item in calls.flatten(classes)]
        bad = [cls for cls in wanted if not (isinstance(cls, type) and issubclass(cls, BaseException))]
        if bad:
            fail(Code.UNSUPPORTED_EXCEPT, "an except clause needs exception classes that are constants")
        names = tuple(class_name(cls) for cls in wanted if isinstance(cls, type))
        self.push(Num(weak_of(True), self.b.value("exc.match", exc.value, classes=names)))

    def location(self) -> SourceLocation:
        """Where the walk is."""
        loc, code = self.b.loc, self.ref.code
        if loc is None:
            return SourceLocation.of_code(code)
        return SourceLocation(code.co_filename, loc.line, loc.col, loc.end_line, loc.end_col, code.co_qualname)

    # the whole function

    def run(self, types: Sequence[Type], entry: bool) -> tuple[Function, Type | None]:
        """Walk the function for the parameter types; the IR function and the type of its result (None: never returns)."""
        code = self.ref.code
        if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            with _located(self):
                fail(Code.UNSUPPORTED_ASYNC, f"{self.ref.name}() is an async function, which cannot be compiled")
        tree = bytecode.regions(code)
        params = [Value(leaf) for type_ in types for leaf in type_.leaves()]
        leaves = iter(params)
        values = [rebuild(type_, leaves) for type_ in types]
        names = parameter_names(code)
        for name, value in zip(names, values):
            self.live_env.locals[name] = value
            for leaf in value.leaves:
                leaf.hint = name
        self.free = {name: value for (name, _), value in zip(self.ref.free, values[len(names) :])}
        self.walk(tree.body)
        result = self._finish(entry)
        result_types = () if result is None else result.leaves()
        scope = Scope(code.co_filename, code.co_qualname, code.co_firstlineno, self.ref.internal)
        attrs: dict[str, object] = {"fp": self.options.fp}
        return Function(self.spec.name, params, result_types, self.body, scope, attrs), result

    def _finish(self, entry: bool) -> Type | None:
        """Close the returns with the common type."""
        result: Type | None = None
        for end in self.returns:
            result = end.value.type if result is None else join_types(result, end.value.type)
        if result is None:
            return None
        if entry:
            result = generalise(result)
            self.b.loc = self.returns[-1].loc
            with _located(self):
                check_returnable(self.ref.name, result)
        if isinstance(result, ConflictType):
            with _located(self):
                fail(
                    Code.BAD_RETURN,
                    f"{self.ref.name}() returns values of types that do not unify",
                    types=[("returned", kind) for kind in result.kinds],
                    hint="Return the same type on every path.",
                )
        for end in self.returns:
            self.b.loc = end.loc
            with self.b.into(end.region):
                self.b.op("return", *convert(self.b, end.value, result).leaves)
        return result


def parameter_names(code: pytypes.CodeType) -> tuple[str, ...]:
    """The locals that hold arguments, in the order in which `binding.bind` gives them."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[: count + bool(code.co_flags & 0x04)]


def _is_self(value: Abstract) -> bool:
    return isinstance(value, Const) and value.value is SELF


def _format(value: Abstract, conversion: str, spec: str) -> Abstract:
    if isinstance(value, Const) and isinstance(value.value, (int, float, complex, str, bool, type(None))):
        text = {"": lambda x: x, "s": str, "r": repr, "a": ascii}[conversion](value.value)
        return Const(format(text, spec))
    if not conversion and not spec and isinstance(value, Text):
        return value
    return Text(FormatType((FormatHole(value.type, conversion, spec),)), value.leaves)


class _located:
    """Adds the present place to a compile error that has none, unless the code is the library's own."""

    __slots__ = ("walk",)

    def __init__(self, walk: FunctionWalk) -> None:
        self.walk = walk

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, CompileError) or self.walk.ref.internal:
            return
        if error.location is None:
            error.location = self.walk.location()


_UNSUPPORTED: dict[Opcode, tuple[Code, str]] = {
    Opcode.YIELD: (Code.UNSUPPORTED_YIELD, "a generator cannot be compiled"),
    Opcode.IMPORT_NAME: (Code.UNSUPPORTED_IMPORT, "an import inside a compiled function"),
    Opcode.BUILD_SET: (Code.UNSUPPORTED_SET, "sets cannot be used in compiled code"),
    Opcode.STORE_GLOBAL: (Code.UNSUPPORTED_GLOBAL_STORE, "a global cannot be assigned in compiled code"),
    Opcode.DELETE_SUBSCR: (Code.UNSUPPORTED_DELETE, "items cannot be deleted in compiled code"),
    Opcode.LOAD_BUILD_CLASS: (Code.UNSUPPORTED_CLASS, "a class cannot be defined in compiled code"),
    Opcode.LOAD_SPECIAL: (Code.UNSUPPORTED_WITH, "a with statement cannot be compiled"),
    Opcode.MATCH_CLASS: (Code.UNSUPPORTED_MATCH, "a match statement with class patterns cannot be compiled"),
    Opcode.MATCH_MAPPING: (Code.UNSUPPORTED_MATCH, "a match statement with mapping patterns cannot be compiled"),
    Opcode.GET_YIELD_FROM_ITER: (Code.UNSUPPORTED_YIELD, "a generator cannot be compiled"),
    Opcode.SET_ADD: (Code.UNSUPPORTED_SET, "sets cannot be used in compiled code"),
    Opcode.SET_UPDATE: (Code.UNSUPPORTED_SET, "sets cannot be used in compiled code"),
    Opcode.MAP_ADD: (Code.UNSUPPORTED_DICT, "dicts cannot be used in compiled code"),
    Opcode.DICT_UPDATE: (Code.UNSUPPORTED_DICT, "dicts cannot be used in compiled code"),
    Opcode.DICT_MERGE: (Code.UNSUPPORTED_KWARGS, "** in a call cannot be compiled: name the arguments"),
    Opcode.DELETE_ATTR: (Code.UNSUPPORTED_DELETE, "attributes cannot be deleted in compiled code"),
    Opcode.DELETE_GLOBAL: (Code.UNSUPPORTED_DELETE, "a global cannot be deleted in compiled code"),
    Opcode.MATCH_SEQUENCE: (Code.UNSUPPORTED_MATCH, "a match statement with sequence patterns cannot be compiled"),
    Opcode.CHECK_EG_MATCH: (Code.UNSUPPORTED_EXCEPT, "except* cannot be compiled"),
    Opcode.GET_AWAITABLE: (Code.UNSUPPORTED_ASYNC, "await cannot be compiled"),
}


def _unsupported(inst: Inst, where: pytypes.CodeType) -> None:
    code, text = _UNSUPPORTED.get(
        inst.op, (Code.UNSUPPORTED_SYNTAX, f"the operation {inst.op.value} cannot be compiled")
    )
    if inst.op is Opcode.YIELD and where.co_name == "<genexpr>":
        fail(Code.UNSUPPORTED_GENERATOR, "a generator expression cannot be used as a value", hint="Write the loop out.")
    fail(code, text)


def walk_function(
    engine: Engine, ref: FunctionRef, types: Sequence[Type], spec: Specialisation, entry: bool
) -> tuple[Function, Type | None]:
    """The `Walker` of the engine."""
    walk = FunctionWalk(engine, ref, spec)
    try:
        result = walk.run(types, entry)
    except bytecode.BytecodeError as error:
        raise CompileError(Code.UNSUPPORTED_BYTECODE, str(error), SourceLocation.of_code(ref.code)) from None
    engine.decisions.extend(walk.decisions)
    return result


_W = FunctionWalk
_INSTS: dict[Opcode, Callable[[FunctionWalk, object], None]] = {  # type: ignore[assignment]
    Opcode.PUSH: _W._push,
    Opcode.LOAD_LOCAL: _W._load_local,
    Opcode.LOAD_LOCAL_OR_UNDEF: _W._load_or_undef,
    Opcode.STORE_LOCAL: _W._store_local,
    Opcode.DELETE_LOCAL: _W._delete_local,
    Opcode.MAKE_CELL: lambda w, name: None,
    Opcode.LOAD_CELL: lambda w, name: w.push(Cell(str(name))),
    Opcode.LOAD_DEREF: _W._load_deref,
    Opcode.STORE_DEREF: _W._store_deref,
    Opcode.DELETE_DEREF: _W._delete_local,
    Opcode.LOAD_GLOBAL: _W._load_global,
    Opcode.LOAD_ATTR: _W._load_attr,
    Opcode.STORE_ATTR: _W._store_attr,
    Opcode.SUBSCR: _W._subscr,
    Opcode.STORE_SUBSCR: _W._store_subscr,
    Opcode.UNARY: _W._unary,
    Opcode.BINARY: _W._binary,
    Opcode.INPLACE: _W._inplace,
    Opcode.COMPARE: _W._compare,
    Opcode.IS_OP: _W._is_op,
    Opcode.CONTAINS_OP: _W._contains,
    Opcode.BUILD_SLICE: _W._build_slice,
    Opcode.BUILD_TUPLE: lambda w, n: w.push(Tup(w._take(n))),  # type: ignore[arg-type]
    Opcode.BUILD_LIST: lambda w, n: w.push(ListDisplay(w._take(n))),  # type: ignore[arg-type]
    Opcode.BUILD_MAP: _W._build_map,
    Opcode.BUILD_CONST_MAP: _W._build_const_map,
    Opcode.BUILD_STRING: _W._build_string,
    Opcode.CONVERT: _W._convert,
    Opcode.FORMAT: _W._format,
    Opcode.LIST_EXTEND: _W._list_extend,
    Opcode.LIST_APPEND: _W._list_append,
    Opcode.LIST_TO_TUPLE: lambda w, _: w.push(Tup(w.pop().items)),  # type: ignore[attr-defined]
    Opcode.UNPACK: _W._unpack,
    Opcode.UNPACK_EX: _W._unpack_ex,
    Opcode.GET_LEN: lambda w, _: w.push(sequences.length(w, w.live_env.stack[-1])),
    Opcode.CALL: _W._call,
    Opcode.CALL_EX: _W._call_ex,
    Opcode.MAKE_FUNCTION: _W._make_function,
    Opcode.POP_TOP: lambda w, _: w.live_env.stack.pop() and None,
    Opcode.COPY: _W._copy,
    Opcode.SWAP: _W._swap,
    Opcode.GET_ITER: lambda w, _: None,
    Opcode.PUSH_EXC: _W._push_exc,
    Opcode.POP_EXCEPT: _W._pop_except,
    Opcode.CHECK_EXC_MATCH: _W._check_exc_match,
}  # type: ignore[dict-item]
