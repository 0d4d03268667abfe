"""Calls: what a callable value is, and the code that calls it.

In order: functions made in the kernel, bound methods, builtins and NumPy functions that the walk knows, classes, functions of
the library that stand for a Python or NumPy function, and any other Python function, which is compiled too.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import types as pytypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from quadrants.diagnostics import Code, CompileError
from quadrants.infer import attributes, closures, dicts, lists, modes, operators, sequences, texts
from quadrants.infer import convert as conversions
from quadrants.infer.binding import bind, title
from quadrants.infer.builtins import BUILTINS, Builtin
from quadrants.infer.closures import leaving
from quadrants.infer.dicts import DictDisplay
from quadrants.infer.emitter import ABOUT, NeverReturns, describe, fail, scalar_type
from quadrants.infer.engine import Dependency, FunctionRef, Specialisation
from quadrants.infer.habits import call_hint, module_name
from quadrants.infer.listtypes import outermost
from quadrants.infer.merge import Promote, convert, generalise, with_floats
from quadrants.infer.names import Parameter
from quadrants.infer.portable import dispatch, references, structs, vectors
from quadrants.infer.values import (
    Abstract,
    Arr,
    Closure,
    Const,
    Functions,
    Generator,
    List,
    ListDisplay,
    Method,
    NewExc,
    Num,
    Sequence_,
    Tup,
    rebuild,
)
from quadrants.ir import Value
from quadrants.library import overloads, registry
from quadrants.types.annotations import annotations_of

if TYPE_CHECKING:
    from quadrants.infer.instructions import InstructionWalk

Args = tuple[Abstract, ...]
Keywords = dict[str, Abstract]


def flatten(value: Abstract) -> list[Abstract]:
    """The items of nested tuples."""
    return [x for item in value.items for x in flatten(item)] if isinstance(value, Tup) else [value]


def call(w: InstructionWalk, callee: Abstract, args: Args, keywords: Keywords) -> Abstract:
    """Call any value."""
    callee = w.unwrap(callee, "'NoneType' object is not callable")
    if isinstance(callee, Closure):
        return _call_closure(w, callee, args, keywords)
    if isinstance(callee, modes.Leave):
        return modes.call(w)
    if isinstance(callee, Functions):
        return _call_one_of(w, callee, args, keywords, 0)
    if isinstance(callee, Method):
        return _call_method(w, callee, args, keywords)
    if isinstance(callee, Const):
        return _call_object(w, callee.value, args, keywords)
    function = attributes.class_function(callee, "__call__")
    if function is not None:
        return _call_object(w, function, (callee, *args), keywords)
    fail(Code.NOT_CALLABLE, f"{describe(callee)} cannot be called", types=[("callee", callee.type)])


def _call_one_of(w: InstructionWalk, callee: Functions, args: Args, keywords: Keywords, first: int) -> Abstract:
    """Call the chosen one of several functions, which is not before the first."""
    if first == len(callee.items) - 1:
        return call(w, callee.items[first], args, keywords)

    def then() -> None:
        _push_result(w, lambda: call(w, callee.items[first], args, dict(keywords)))

    def otherwise() -> None:
        _push_result(w, lambda: _call_one_of(w, callee, args, keywords, first + 1))

    w.branch(w.b.value("cmp", callee.chosen, w.b.i64(first), pred="eq"), then, otherwise)
    if w.env is None:
        raise NeverReturns
    return w.pop()


def _push_result(w: InstructionWalk, make: Callable[[], Abstract]) -> None:
    try:
        w.push(make())
    except NeverReturns:
        w.b.op("unreachable")
        w.env = None


def _call_object(w: InstructionWalk, target: object, args: Args, keywords: Keywords) -> Abstract:
    if hasattr(type(target), "__quadrants_device__"):
        return _call_device(w, target, args, keywords)
    if any(isinstance(arg, List) for arg in (*args, *keywords.values())) and _is_numpys(target):
        args = tuple(operators.without_lists(w, arg) for arg in args)
        keywords = {name: operators.without_lists(w, arg) for name, arg in keywords.items()}
    given = overloads.find(target)
    if given is not None:
        w.engine.depend(Dependency(vars(overloads), given[0], None, given[1]))
        return call_python(w, given[1], args, keywords)
    if w.options.portable and not w.ref.internal:
        found = dispatch.call(w, target, args, keywords)
        if found is not None:
            return found
    known = (_kernel_math(target) if w.options.kernel else None) or _known(target)
    if known is not None:
        return known(w, args, dict(keywords))
    if isinstance(target, type):
        return _call_class(w, target, args, keywords)
    scalar = conversions.scalar_class(target)
    if scalar is not None:
        return conversions.to_sized(w, scalar, args)
    key = registry.key_of(target) if callable(target) else None  # type: ignore[arg-type]
    implementation = registry.lookup(key) if key is not None else None
    if implementation is not None:
        assert key is not None
        return _call_implementation(w, key, implementation, args, keywords)
    function = python_function(target)
    if function is not None:
        raw = _raw(function)
        return raw(w, args, keywords) if raw is not None else call_python(w, function, args, keywords)
    if isinstance(target, pytypes.MethodType) and python_function(target.__func__) is not None:
        try:
            return _call_object(w, target.__func__, (w.from_python(target.__self__), *args), keywords)
        except CompileError:
            if not _draws(target):
                raise
    if isinstance(target, functools.partial):
        return _call_partial(w, target, args, keywords)
    _refuse_call(target)


def _call_partial(w: InstructionWalk, target: functools.partial[object], args: Args, keywords: Keywords) -> Abstract:
    """Call what `functools.partial` made: its arguments are constants of the code."""
    if not all(_is_constant(value) for value in (*target.args, *target.keywords.values())):
        fail(
            Code.UNSUPPORTED_CALL,
            "functools.partial with an array, or another object that changes, cannot be called from compiled code",
            hint="Write a function, or a lambda, that reads the array as a global or an argument.",
        )
    first = tuple(map(w.from_python, target.args))
    named = {name: w.from_python(value) for name, value in target.keywords.items()}
    return _call_object(w, target.func, (*first, *args), {**named, **keywords})


def _is_constant(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (int, float, complex, str, np.generic)) or callable(value)


def _is_numpys(target: object) -> bool:
    """Whether a function is NumPy's, which takes lists as arrays."""
    module = getattr(target, "__module__", None) or type(target).__module__
    return str(module).partition(".")[0] == "numpy"


def _call_implementation(
    w: InstructionWalk, key: str, function: pytypes.FunctionType, args: Args, keywords: Keywords
) -> Abstract:
    """Call the library's function for one of NumPy's or Python's, to which a list means what a tuple means."""
    args = tuple(_plain(w, arg) for arg in args)
    keywords = {name: _plain(w, arg) for name, arg in keywords.items()}
    try:
        return call_python(w, function, args, keywords)
    except CompileError as error:
        if not w.ref.internal and error.location in (None, w.location()):
            _in_callers_words(error, key, function, args, keywords)
        raise


def _in_callers_words(
    error: CompileError, key: str, function: pytypes.FunctionType, args: Args, keywords: Keywords
) -> None:
    """An error inside of the library's function, said of NumPy's: with its name, and the types of the arguments."""
    name = key.replace(":", ".").replace("builtins.", "")
    own = function.__name__.rstrip("_") + "()"
    if error.code is Code.BAD_ARGUMENTS and error.message.startswith(own):
        error.message = name.rpartition(".")[2] + "()" + error.message.removeprefix(own)
        return
    if error.code is not Code.NOT_CONSTANT:
        given = [*((f"argument {k}", arg) for k, arg in enumerate(args, 1)), *keywords.items()]
        error.types = [(what, describe(arg)) for what, arg in given]
        meant = [arg for (_, arg), (_, text) in zip(given, error.types) if text in error.message]
        if len(meant) == 1:
            vars(error)[ABOUT] = meant[0]  # the one that the message names
        error.hint = error.hint if error.code is Code.BAD_DTYPE else None
    error.message = f"{name}(): {error.message}"


def _plain(w: InstructionWalk, value: Abstract) -> Abstract:
    if isinstance(value, (Tup, ListDisplay)) and not (isinstance(value, Tup) and value.named):
        return Tup(tuple(_plain(w, item) for item in value.items))
    flat = sequences.flat_of(value)
    if flat is not None:
        return sequences.flat_array(w, flat)
    if isinstance(value, Sequence_) and value.kind == "range":
        return call_library(w, "creation:arange", value.parts, {})
    return value


def _draws(target: object) -> bool:
    """Whether a bound method is one of a random generator's, whose state compiled code does not have."""
    owner = getattr(target, "__self__", None)
    return type(owner).__module__ in ("random", "numpy.random.mtrand", "numpy.random._generator")


def _refuse_call(target: object) -> NoReturn:
    """The error for what cannot be called in compiled code."""
    if _draws(target):
        fail(
            Code.UNSUPPORTED_CALL,
            f"compiled code does not draw these random numbers: {getattr(target, '__name__', target)}()",
            hint="Draw them in Python, and pass the array; or use np.random.seed and np.random.normal, uniform, randint, ...",
        )
    if isinstance(target, pytypes.MethodType):
        fail(Code.UNSUPPORTED_CALL, f"the bound method {target.__qualname__} cannot be called from compiled code")
    if not callable(target):
        fail(Code.NOT_CALLABLE, f"{describe(Const(target))} cannot be called")
    name = getattr(target, "__qualname__", getattr(target, "__name__", None))
    module = getattr(target, "__module__", None) if name else None
    name = name or repr(target)
    builtin = module == "builtins" or getattr(builtins, name, None) is target
    prefix = f"{module_name(module)}." if isinstance(module, str) and not builtin else ""
    hint = "Write it in Python (any plain function compiles), or call it outside and pass its result."
    fail(Code.UNSUPPORTED_CALL, f"{prefix}{name}() is not known to the compiler", hint=call_hint(target) or hint)


def _known(target: object) -> Builtin | None:
    try:
        hash(target)
    except TypeError:
        return None
    target = getattr(target, "__quadrants_builtin__", target)
    if isinstance(target, str) and target.startswith("portable:"):
        return dispatch.names()[target.removeprefix("portable:")]
    return BUILTINS.get(target) or _numpy_function(target)


# The tables of NumPy and of the library's own operations are large: they are loaded by the first call that looks there.


def _numpy_function(target: object) -> Builtin | None:
    from quadrants.infer.numpy_arrays import NUMPY
    from quadrants.infer.ufuncs import UFUNCS

    return UFUNCS.get(target) or NUMPY.get(target)


def _kernel_math(target: object) -> Builtin | None:
    from quadrants.infer import kernelmath

    return kernelmath.find(target)


def _call_device(w: InstructionWalk, target: object, args: Args, keywords: Keywords) -> Abstract:
    """A function of the explicit language."""
    from quadrants.infer import device
    from quadrants.simt.names import Name

    assert isinstance(target, Name)
    return device.call(w, target, args, keywords)


def _array_method(name: str) -> Callable[..., Abstract] | None:
    from quadrants.infer.numpy_arrays import METHODS

    return METHODS.get(name)


def _raw(function: pytypes.FunctionType) -> Callable[..., Abstract] | None:
    if function.__module__ != "quadrants.library.raw":
        return None
    from quadrants.infer.rawops import RAW

    return RAW.get(function)


def python_function(target: object) -> pytypes.FunctionType | None:
    """The plain Python function behind a callable: itself, or a dispatcher's `py_func`."""
    if isinstance(target, pytypes.FunctionType):
        return target
    wrapped = None if isinstance(target, pytypes.MethodType) else getattr(target, "py_func", None)
    return wrapped if isinstance(wrapped, pytypes.FunctionType) else None


def _call_class(w: InstructionWalk, cls: type, args: Args, keywords: Keywords) -> Abstract:
    if cls is dict and (not args or (len(args) == 1 and isinstance(args[0], DictDisplay))):
        return dicts.made([*(dicts.pairs_of(args[0]) if args else ()), *keywords.items()])  # type: ignore[arg-type]
    if issubclass(cls, BaseException):
        if keywords:
            text = f"exceptions take no keyword arguments in compiled code, {cls.__name__}() neither"
            fail(Code.BAD_ARGUMENTS, text, hint="Give the arguments by position.")
        return NewExc(cls, args)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _call_namedtuple(cls, args, keywords)
    scalar = conversions.scalar_class(cls)
    if scalar is not None:
        if keywords or len(args) > 1:
            fail(Code.BAD_ARGUMENTS, f"{cls.__name__}() takes one argument")
        return conversions.to_sized(w, scalar, args)
    fail(
        Code.UNSUPPORTED_CALL,
        f"objects of the class {cls.__qualname__} cannot be made in compiled code",
        hint=call_hint(cls) or "Make it a named tuple (typing.NamedTuple): its objects and their methods are compiled.",
    )


def _call_namedtuple(cls: type, args: Args, keywords: Keywords) -> Abstract:
    fields: tuple[str, ...] = tuple(cls._fields)  # type: ignore[attr-defined]
    defaults: dict[str, object] = getattr(cls, "_field_defaults", {})
    if len(args) > len(fields):
        fail(Code.BAD_ARGUMENTS, f"{cls.__name__} has {len(fields)} fields ({len(args)} values given)")
    bound = dict(zip(fields, args))
    for name, value in keywords.items():
        if name not in fields or name in bound:
            fail(Code.BAD_ARGUMENTS, f"{cls.__name__}() got an unexpected or repeated field '{name}'")
        bound[name] = value
    for name in fields:
        if name not in bound:
            if name not in defaults:
                fail(Code.BAD_ARGUMENTS, f"{cls.__name__}() misses the field '{name}'")
            bound[name] = Const(defaults[name])
    return Tup(tuple(bound[name] for name in fields), (fields, cls))


# methods


def _call_method(w: InstructionWalk, method: Method, args: Args, keywords: Keywords) -> Abstract:
    owner, name = method.owner, method.name
    if vectors.is_value(owner) or structs.is_struct(owner):
        return dispatch.method(w, owner, name, args, keywords)
    function = attributes.class_function(owner, name)
    if function is not None:
        return _call_object(w, function, (owner, *args), keywords)
    if isinstance(owner, Arr):
        known = _array_method(name)
        if known is not None:
            return known(w, owner, args, dict(keywords))
        implementation = registry.lookup(f"ndarray.{name}")
        if implementation is not None:
            return _call_implementation(w, f"ndarray.{name}", implementation, (owner, *args), keywords)
    if isinstance(owner, List) or (isinstance(owner, ListDisplay) and name not in lists.READING):
        return lists.method(w, owner, name, args, keywords)
    if isinstance(owner, DictDisplay):
        return dicts.method(owner, name, args)
    handler = _METHODS.get((type(owner), name))
    if handler is not None:
        return handler(w, owner, args, keywords)
    if isinstance(owner, Num) and not owner.scalar.weak:
        implementation = registry.lookup(f"ndarray.{name}")
        if implementation is not None:
            return call_python(w, implementation, (owner, *args), keywords)
    if texts.is_text(owner):
        parts = tuple(_walked(w, arg) for arg in args) if name == "join" else args
        return texts.method(w, texts.as_string(w, owner), name, parts, keywords)
    if isinstance(owner, Const) and all(isinstance(arg, Const) for arg in args) and not keywords:
        return w.from_python(getattr(owner.value, name)(*(arg.value for arg in args if isinstance(arg, Const))))
    fail(
        Code.NO_ATTRIBUTE,
        f"the method '{name}' of {describe(owner)} is not supported",
        types=[("value", owner.type)],
    )


def _replace(w: InstructionWalk, owner: Abstract, args: Args, keywords: Keywords) -> Abstract:
    assert isinstance(owner, Tup) and owner.named is not None
    fields = owner.named[0]
    for name in keywords:
        if name not in fields:
            fail(Code.BAD_ARGUMENTS, f"Got unexpected field names: ['{name}']")
    items = tuple(keywords.get(name, item) for name, item in zip(fields, owner.items))
    return Tup(items, owner.named)


def _tuple_library(name: str) -> Callable[[InstructionWalk, Abstract, Args, Keywords], Abstract]:
    return lambda w, owner, args, keywords: call_library(w, f"sequences:{name}", (owner, *args), keywords)


def _number_method(name: str) -> Callable[[InstructionWalk, Abstract, Args, Keywords], Abstract]:
    return lambda w, owner, args, keywords: call_library(w, f"sequences:{name}", (owner, *args), keywords)


def _conjugate(w: InstructionWalk, owner: Abstract, args: Args, keywords: Keywords) -> Abstract:
    from quadrants.infer.ufuncs import conjugate

    scalar = scalar_type(owner)
    result = conjugate(w, owner)
    assert scalar is not None
    return Num(scalar, result.value) if isinstance(result, Num) else result


def _item(w: InstructionWalk, owner: Abstract, args: Args, keywords: Keywords) -> Abstract:
    assert isinstance(owner, Num)
    return conversions.to_python(w, owner)


def _astype(w: InstructionWalk, owner: Abstract, args: Args, keywords: Keywords) -> Abstract:
    return conversions.to_sized(w, conversions.as_dtype(args[0]), (owner,))


_METHODS: dict[tuple[type, str], Callable[[InstructionWalk, Abstract, Args, Keywords], Abstract]] = {
    (Tup, "_replace"): _replace,
    (Tup, "count"): _tuple_library("count_in"),
    (ListDisplay, "count"): _tuple_library("count_in"),
    (ListDisplay, "index"): _tuple_library("index_in"),
    (ListDisplay, "copy"): lambda w, owner, args, keywords: lists.promote(w, owner),
    (Tup, "index"): _tuple_library("index_in"),
    (Num, "conjugate"): _conjugate,
    (Num, "conj"): _conjugate,
    (Num, "item"): _item,
    (Num, "astype"): _astype,
    (Num, "copy"): lambda w, owner, args, keywords: owner,
    (Num, "bit_length"): _number_method("bit_length"),
    (Num, "bit_count"): _number_method("bit_count"),
    (Num, "is_integer"): _number_method("is_integer"),
}


# functions


def call_library(w: InstructionWalk, target: str, args: Sequence[Abstract], keywords: Keywords) -> Abstract:
    """Call `module:name` of the library."""
    module, _, name = target.partition(":")
    function = getattr(importlib.import_module(f"quadrants.library.{module}"), name)
    return call_python(w, function, tuple(args), keywords)


def reference(w: InstructionWalk, function: pytypes.FunctionType) -> FunctionRef:
    """A Python function as something to compile."""
    internal = function.__module__ is not None and function.__module__.startswith("quadrants.library")
    return FunctionRef(
        function.__code__,
        function.__globals__,
        function.__qualname__.rpartition("<locals>.")[2],
        function.__closure__ or (),
        tuple(w.from_python(value) for value in function.__defaults__ or ()),
        tuple((name, w.from_python(value)) for name, value in (function.__kwdefaults__ or {}).items()),
        (),
        internal,
        tuple(annotations_of(function).items()) if w.options.portable and not internal else (),
    )


def call_python(w: InstructionWalk, function: pytypes.FunctionType, args: Args, keywords: Keywords) -> Abstract:
    """Call a Python function: compiled for the types of the arguments, once."""
    ref = reference(w, function)
    w.left.clear()
    values = [leaving(w, value) for value in bind(ref, args, keywords)]
    found = call_ref(w, ref, values)
    changed = references.changed(ref, [value.type for value in values])
    return references.written_back(w, found, changed, values) if changed else found


def _call_closure(
    w: InstructionWalk, closure: Closure, args: Args, keywords: Keywords, generator: str = ""
) -> Abstract:
    if closure.code.co_name == "<genexpr>" and not generator:
        return Generator(closure, args[0])
    w.left.clear()
    present = leaving(w, closure)
    assert isinstance(present, Closure)
    free = closures.parameters_of(present)
    internal = str(closure.globals.get("__name__", "")).startswith("quadrants.library")
    ref = FunctionRef(
        closure.code,
        closure.globals,
        closure.code.co_name,
        (),
        present.defaults,
        present.kwdefaults,
        free,
        internal,
        generator=generator,
    )
    values = [leaving(w, value) for value in bind(ref, args, keywords)]
    return call_ref(w, ref, [*values, *(value for _, value in free)])


def consume(w: InstructionWalk, generator: Generator, consumer: str) -> Abstract:
    """The items of a generator expression as a list, what `any()` or `all()` of it is, or for "next" the first or None."""
    return _call_closure(w, generator.function, (generator.iterable,), {}, consumer)


def _walked(w: InstructionWalk, value: Abstract) -> Abstract:
    """What has items only as it is walked, as a list of them."""
    value = w.unwrap(value)
    if not isinstance(value, Sequence_):
        return value
    items = sequences.known_items(w, value)
    return lists.of_items(w, value) if items is None else operators.new_display(w, items)


def call_ref(w: InstructionWalk, ref: FunctionRef, values: list[Abstract]) -> Abstract:
    """Call a function with its parameters bound: numbers lose their literal types unless the callee needs them.

    A comprehension (a function up to Python 3.11) and a generator expression are parts of their callers and keep them.
    """
    if ref.internal or ref.name in ("<listcomp>", "<genexpr>"):
        return _emit_call(w, ref, values)
    general = [_generalised(w, value) for value in values]
    try:
        return _emit_call(w, ref, general)
    except CompileError as error:
        literals = any(a is not b for a, b in zip(values, general))
        if error.code is not Code.NOT_CONSTANT or not literals:
            raise
    return _emit_call(w, ref, values)


def _generalised(w: InstructionWalk, value: Abstract) -> Abstract:
    type_ = with_floats(generalise(value.type), w.floats)
    return value if type_ == value.type else convert(w.b, value, type_)


def _emit_call(w: InstructionWalk, ref: FunctionRef, values: list[Abstract]) -> Abstract:
    loc = w.b.loc
    top = w.options.portable and w.spec.top and w.loop_depth == 0 and not ref.internal
    try:
        spec = w.engine.specialise(ref, [value.type for value in values], w.fp, top=top)
    except CompileError as error:
        if not w.ref.internal and error.location is not None:
            error.add_caller(w.location())
        raise
    except Promote as promotion:
        w.b.loc = loc
        site, item = outermost(promotion.site, promotion.item)
        if not isinstance(site, Parameter):
            raise
        lists.promote(w, values[site.index], item)
    w.b.loc = loc
    if w.left:
        closures.check_kept(w, values, spec.result)
    leaves = [leaf for value in values for leaf in value.leaves]
    if spec.result is None and ref.internal:
        w.note_raise(f"{title(ref)}() always raises here", None)
    return _call_specialisation(w, spec, leaves)


def _call_specialisation(w: InstructionWalk, spec: Specialisation, leaves: list[Value]) -> Abstract:
    result = spec.result
    if result is None:
        w.b.op("call", *leaves, callee=spec.name, result_types=())
        raise NeverReturns
    leaf_types = result.leaves()
    if not leaf_types and spec.pure:
        return _placed(rebuild(result, iter(())), spec)
    attrs = {"nothrow": True} if spec.nothrow else {}
    op = w.b.op("call", *leaves, callee=spec.name, result_types=leaf_types, regions=(), **attrs)
    return _placed(rebuild(result, iter(op.results)), spec)


def _placed(value: Abstract, spec: Specialisation) -> Abstract:
    """The list of a comprehension with where it was made."""
    if spec.origin is not None and isinstance(value, (List, ListDisplay)):
        return replace(value, site=spec.origin)
    return value
