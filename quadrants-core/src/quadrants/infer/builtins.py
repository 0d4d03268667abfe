"""Python's builtins as the walk knows them: each a function from abstract arguments to an abstract value.

`BUILTINS` maps the callable itself to its emitter. What can be written in the language is in `quadrants.library` instead.
"""

from __future__ import annotations

import builtins
import functools
import operator as python_operator
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType, UnionType
from typing import get_args

import numpy as np

from quadrants.diagnostics import Code
from quadrants.infer import convert, elementwise, lists, modes, operators, scalars, sequences, special, texts
from quadrants.infer.attributes import is_callable
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.merge import Number, generalise, join_types
from quadrants.infer.merge import convert as convert_value
from quadrants.infer.values import (
    Abstract,
    Arr,
    Choice,
    ConflictType,
    Const,
    Exc,
    Generator,
    List,
    ListDisplay,
    NewExc,
    Num,
    Object,
    Opt,
    Sequence_,
    SliceValue,
    Str,
    Text,
    Tup,
    rebuild,
)
from quadrants.ir import Value
from quadrants.types import NONE, OBJECT, PYBOOL, PYFLOAT, PYINT, STR, Scalar, Type
from quadrants.types.dtypes import dtype_of

Args = tuple[Abstract, ...]
Keywords = dict[str, Abstract]
Builtin = Callable[[Emitter, Args, Keywords], Abstract]


def _no_keywords(name: str, keywords: Keywords) -> None:
    if keywords:
        fail(Code.BAD_ARGUMENTS, f"{name}() takes no keyword arguments")


def _arity(name: str, args: Args, least: int, most: int) -> None:
    if not least <= len(args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        fail(Code.BAD_ARGUMENTS, f"{name}() takes {wanted} argument{'s' if wanted != '1' else ''} ({len(args)} given)")


def simple(name: str, least: int, most: int, body: Callable[..., Abstract]) -> Builtin:
    """A builtin without keywords, with its arguments counted."""

    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        _no_keywords(name, keywords)
        _arity(name, args, least, most)
        return body(w, *args)

    return call


# sequences


def _prange(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    found = _range(w, args, keywords)
    assert isinstance(found, Sequence_)
    return Sequence_(found.kind, found.parts, parallel=True)


def _range(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    _no_keywords("range", keywords)
    _arity("range", args, 1, 3)
    bounds = [w.unwrap(arg) for arg in args]
    for bound in bounds:
        scalar = scalar_type(bound)
        if scalar is None or not (scalar.is_integer or scalar.is_bool):
            fail(
                Code.TYPE_MISMATCH,
                f"range() takes integers, not {describe(bound)}",
                hint="Convert it: range(int(x))." if scalar is not None else None,
                at=bound,
            )
    parts = [bound if isinstance(bound, Const) else Num(PYINT, w.cast(bound, PYINT)) for bound in bounds]
    start: Abstract = Const(0)
    step: Abstract = Const(1)
    if len(parts) == 1:
        stop = parts[0]
    else:
        start, stop = parts[0], parts[1]
        step = parts[2] if len(parts) == 3 else step
    if isinstance(step, Const):
        if step.value == 0:
            w.check(w.b.bool(False), ValueError, "range() arg 3 must not be zero")
            step = Const(1)
    else:
        nonzero = w.b.value("cmp", w.num(step).value, w.b.i64(0), pred="ne")
        w.check(nonzero, ValueError, "range() arg 3 must not be zero")
    return Sequence_("range", (start, stop, step))


def _part(w: Emitter, value: Abstract) -> Abstract:
    """What an iterator walks: of one that remembers what was taken, nothing is taken yet."""
    return value if sequences.pulls(value) else w.unwrap(value)


def _enumerate(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    start = keywords.get("start", args[1] if len(args) > 1 else Const(0))
    _arity("enumerate", args, 1, 2)
    return Sequence_("enumerate", (_part(w, args[0]), start))


def _zip(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    strict = keywords.pop("strict", Const(False))
    _no_keywords("zip", keywords)
    if not args:
        return Tup(())
    parts = tuple(_part(w, arg) for arg in args)
    if isinstance(strict, Const) and strict.value:
        counts = [sequences.count(w, part) for part in parts]
        for k, other in enumerate(counts[1:], 2):
            before = f"argument{f's 1-{k - 1}' if k > 2 else ' 1'}"
            for pred, word in (("ge", "shorter"), ("le", "longer")):
                fits = w.b.value("cmp", other, counts[0], pred=pred)
                w.check(fits, ValueError, f"zip() argument {k} is {word} than {before}")
    return Sequence_("zip", parts)


def _map(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    _no_keywords("map", keywords)
    if len(args) < 2:
        fail(Code.BAD_ARGUMENTS, "map() must have at least two arguments.")
    return Sequence_("map", (args[0], *(_part(w, arg) for arg in args[1:])))


def _filter(w: Emitter, function: Abstract, iterable: Abstract) -> Abstract:
    return w.call_library("sequences:filtered", function, iterable)


def _tuple(w: Emitter, *args: Abstract) -> Abstract:
    return Tup(sequences.as_items(w, args[0])) if args else Tup(())


def _list(w: Emitter, *args: Abstract) -> Abstract:
    value = w.unwrap(args[0]) if args else Tup(())
    items = sequences.known_items(w, value)
    return lists.of_items(w, value) if items is None else operators.new_display(w, items)


def _sorted(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    _arity("sorted", args, 1, 1)
    made = _list(w, w.unwrap(args[0]))
    made = lists.as_list(w, made) if isinstance(made, ListDisplay) else made
    w.call_library("lists:sort", made, **keywords)
    return made


def _slice(w: Emitter, *args: Abstract) -> Abstract:
    bounds = (Const(None), args[0], Const(None)) if len(args) == 1 else (*args, Const(None))[:3]
    return SliceValue(*bounds)


def _reduce(w: Emitter, function: Abstract, iterable: Abstract, *start: Abstract) -> Abstract:
    iterable = w.unwrap(iterable)
    items = sequences.static_items(w, iterable)
    if items is None:
        if start:
            return w.call_library("sequences:reduced", function, iterable, *start)
        return w.call_library("sequences:reduced_list", function, _list(w, iterable))
    items = (*start, *items)
    if not items:
        w.fails(TypeError, "reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
        total = w.call_value(function, [total, item], {})  # type: ignore[attr-defined]
    return total


def _iterators() -> ModuleType:
    """Iterators with a state, which few programs need."""
    from quadrants.infer import iterators

    return iterators


# numbers


def _abs(w: Emitter, value: Abstract) -> Abstract:
    value = w.unwrap(value)
    if isinstance(value, Arr):
        return elementwise.map_arrays(w, [value], _abs)
    found = special.call(w, "__abs__", value)
    if found is not None:
        return found
    if isinstance(value, Const) and isinstance(value.value, Number):
        return Const(abs(value.value))
    num = w.num(value)
    scalar = num.scalar
    if scalar.is_complex:
        target = "complex_abs" if scalar.weak else "numpy_complex_abs"
        result = w.call_library(f"complexes:{target}", num)
        return Num(scalar.part, w.cast(result, scalar.part))
    if scalar.is_bool:
        return Num(PYINT, w.cast(num, PYINT)) if scalar.weak else num
    return Num(scalar, w.b.value("abs", num.value))


def _extreme(name: str, symbol: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        default = keywords.pop("default", None)
        key = keywords.pop("key", None)
        _no_keywords(name, keywords)
        if not args:
            fail(Code.BAD_ARGUMENTS, f"{name} expected at least 1 argument, got 0")
        if default is not None and len(args) > 1:
            fail(Code.BAD_ARGUMENTS, f"Cannot specify a default for {name}() with multiple positional arguments")
        items, otherwise = args, () if default is None else (default,)
        suffix = "_or" if otherwise else ""
        if len(args) == 1:
            value = _walked(w, args[0])
            if isinstance(value, Arr) and key is None:
                return w.call_library(f"sequences:{name}_of_array{suffix}", value, *otherwise)
            value = value if sequences.known_items(w, value) is not None else _list(w, value)
            if isinstance(value, List):
                target = f"lists:{'smallest' if name == 'min' else 'largest'}{suffix}"
                return w.call_library(target, value, *otherwise, **({} if key is None else {"key": key}))
            items = sequences.as_items(w, value)
        if not items:
            if default is not None:
                return default
            reason = "iterable argument is empty" if sys.version_info >= (3, 12) else "arg is an empty sequence"
            w.fails(ValueError, f"{name}() {reason}")
        best = w.unwrap(items[0])
        for item in items[1:]:
            best = _better(w, symbol, best, w.unwrap(item), key)
        return best

    return call


def _better(w: Emitter, symbol: str, best: Abstract, item: Abstract, key: Abstract | None) -> Abstract:
    """`item if item < best else best`, as min() chooses."""
    left, right = item, best
    if key is not None:
        left, right = (w.call_value(key, [value], {}) for value in (item, best))  # type: ignore[attr-defined]
    test = operators.truth(w, operators.compare(w, symbol, left, right))
    if isinstance(test, bool):
        return item if test else best
    return select(w, test, item, best)


def select(w: Emitter, test: Value, x: Abstract, y: Abstract) -> Abstract:
    """`x if test else y` of values without side effects."""
    type_ = generalise(join_types(x.type, y.type))
    if isinstance(type_, ConflictType) or any(leaf.heap for leaf in type_.leaves()):
        fail(
            Code.CANNOT_UNIFY,
            f"{describe(x)} and {describe(y)} have no common type",
            types=[("one", x.type), ("other", y.type)],
        )
    pairs = zip(convert_value(w.b, x, type_).leaves, convert_value(w.b, y, type_).leaves)
    return rebuild(type_, iter([w.b.value("select", test, a, b) for a, b in pairs]))


def _walked(w: Emitter, value: Abstract) -> Abstract:
    """What a builtin walks, `a.flat` as an array."""
    value = w.unwrap(value)
    return sequences.flat_array(w, value) if isinstance(value, Sequence_) and value.kind == "flat" else value


def _sum(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    start = keywords.pop("start", args[1] if len(args) > 1 else Const(0))
    _no_keywords("sum", keywords)
    _arity("sum", args, 1, 2)
    value = _walked(w, args[0])
    if isinstance(value, Arr):
        return w.call_library("sequences:sum_of_array", value, start)
    if isinstance(value, Sequence_) and value.kind == "range" and sequences.constant_range(value) is None:
        return w.call_library("sequences:sum_of_range", *value.parts, start)
    if sequences.known_items(w, value) is None:
        xs = _list(w, value)
        assert isinstance(xs, List)
        return w.call_library("lists:total", xs, _start_of_sum(w, start, xs))
    total = start
    for item in sequences.as_items(w, value):
        total = operators.binary(w, "+", total, item)
    return total


def _start_of_sum(w: Emitter, start: Abstract, xs: List) -> Abstract:
    """The start as one of the type of the sum."""
    kind, item = scalar_type(start), xs.item
    if kind is None or not isinstance(item, Scalar):
        return start
    return convert_value(w.b, start, join_types(generalise(start.type), PYINT if item == PYBOOL else item))


def _every(name: str) -> Callable[[Emitter, Abstract], Abstract]:
    def call(w: Emitter, value: Abstract) -> Abstract:
        if isinstance(value, Generator):
            return w.consume(value, name)  # type: ignore[attr-defined, no-any-return]
        value = _walked(w, value)
        if isinstance(value, Arr):
            return w.call_library(f"sequences:{name}_of_array", value)
        if sequences.known_items(w, value) is None:
            target = f"lists:{name}_of" if isinstance(value, List) else f"sequences:{name}_of_items"
            return w.call_library(target, value)
        result: Abstract = Const(name == "all")
        for item in sequences.as_items(w, value):
            known = operators.truth(w, item)
            one = Const(known) if isinstance(known, bool) else Num(PYBOOL, known)
            result = operators._logical(w, "and" if name == "all" else "or", result, one)
        return result

    return call


def _round(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    digits = keywords.pop("ndigits", args[1] if len(args) > 1 else Const(None))
    _no_keywords("round", keywords)
    _arity("round", args, 1, 2)
    value = w.unwrap(args[0])
    if texts.is_text(digits):
        w.integer(digits, "the number of digits")
    if isinstance(value, Arr):
        hint = "Use np.round." if value.array.ndim else "Use np.round, or round(x.item())."
        fail(Code.BAD_OPERAND, "type numpy.ndarray doesn't define __round__ method", hint=hint)
    if isinstance(value, Const) and isinstance(digits, Const) and isinstance(value.value, (int, float)):
        return Const(convert.folded(w, round, value.value, digits.value))
    scalar = scalar_type(value)
    if scalar is None or scalar.is_complex:
        fail(Code.BAD_OPERAND, f"round() does not take {describe(value)}")
    if scalar.is_bool and not scalar.weak:
        fail(Code.BAD_OPERAND, "type numpy.bool doesn't define __round__ method", hint="Use int(x).")
    if not scalar.is_float:
        if _is_none(digits):
            return Num(PYINT, w.cast(value, PYINT))
        whole = w.call_library("rounding:int_round_digits", Num(PYINT, w.cast(value, PYINT)), digits)
        return whole if scalar.weak else Num(scalar, w.cast(whole, scalar))
    if _is_none(digits):
        rounded = Num(scalar, w.b.value("math.rint", w.num(value).value))
        return Num(PYINT, scalars.float_to_int(w, rounded))
    if scalar.weak:
        return w.call_library("rounding:round_half_even_digits", value, digits)
    return Num(scalar, w.cast(w.call_library("rounding:rounded", value, digits), scalar))


def _is_none(value: Abstract) -> bool:
    return isinstance(value, Const) and value.value is None


def _divmod(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    x, y = w.unwrap(x), w.unwrap(y)
    kinds = scalar_type(x), scalar_type(y)
    if all(kind is not None and kind.weak and not kind.is_complex for kind in kinds) and PYFLOAT in kinds:
        nonzero = w.b.value("cmp", w.cast(y, PYFLOAT), w.b.f64(0.0), pred="ne")
        w.check(nonzero, ZeroDivisionError, "float divmod()" if sys.version_info < (3, 14) else "division by zero")
    return Tup((operators.binary(w, "//", x, y), operators.binary(w, "%", x, y)))


def _pow(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    _no_keywords("pow", keywords)
    _arity("pow", args, 2, 3)
    if len(args) == 3 and not _is_none(args[2]):
        return w.call_library("scalars:int_pow_mod", *args)
    return operators.binary(w, "**", args[0], args[1])


# types


def _isinstance(w: Emitter, value: Abstract, classes: Abstract) -> Abstract:
    wanted = _classes(classes)
    if isinstance(value, Opt):
        inner = _is_one_of(w, value.item, wanted)
        if type(None) in wanted:
            return Const(True) if inner else operators.is_(w, value, Const(None), False)
        return operators.is_(w, value, Const(None), True) if inner else Const(False)
    if isinstance(value, Exc):
        names = tuple(f"{cls.__module__}:{cls.__qualname__}" for cls in wanted)
        return Num(PYBOOL, w.b.value("exc.match", value.value, classes=names))
    if isinstance(value, Object):
        return texts.is_instance(w, value, wanted)
    return Const(_is_one_of(w, value, wanted))


def _classes(value: Abstract) -> list[type]:
    """The classes that the second argument of `isinstance()` names: one, a tuple of them, or a union."""
    found: list[type] = []
    for item in _flatten(value):
        if not isinstance(item, Const):
            fail(Code.NOT_CONSTANT, "the classes of isinstance() have to be constants")
        for cls in get_args(item.value) if isinstance(item.value, UnionType) else (item.value,):
            if not isinstance(cls, type):
                fail(
                    Code.BAD_ARGUMENTS,
                    f"isinstance() arg 2 must be a type, a tuple of types, or a union, not {describe(item)}",
                )
            found.append(cls)
    return found


def _flatten(value: Abstract) -> list[Abstract]:
    return [x for item in value.items for x in _flatten(item)] if isinstance(value, Tup) else [value]


def _is_one_of(w: Emitter, value: Abstract, classes: list[type]) -> bool:
    return any(issubclass(python_class(value), cls) for cls in classes)


def python_class(value: Abstract) -> type:
    """The class of the object that the interpreter would have."""
    if isinstance(value, Const):
        return type(value.value)
    if isinstance(value, Num):
        if value.scalar.weak:
            return (bool, int, int, float, complex)[value.scalar.kind.value]
        return dtype_of(value.scalar).type
    if isinstance(value, Tup):
        return tuple if value.named is None else value.named[1]
    if isinstance(value, NewExc):
        return value.cls
    known = {Arr: np.ndarray, List: list, ListDisplay: list, Text: str, Str: str, Choice: str, SliceValue: slice}
    if isinstance(value, Sequence_):
        walked = value.parts[0] if value.kind == "iter" else value
        return sequences.CLASSES.get(walked.kind if isinstance(walked, Sequence_) else "", object)
    return known.get(type(value), object)


def _type(w: Emitter, value: Abstract) -> Abstract:
    value = w.unwrap(value)
    if texts.is_foreign(value):
        return texts.call(w, "builtins:type", [value], OBJECT)
    return Const(python_class(value))


def _hasattr(w: Emitter, value: Abstract, name: Abstract) -> Abstract:
    return Const(hasattr(python_class(value), name.value)) if isinstance(name, Const) else Const(False)  # type: ignore[arg-type]


def _getattr(w: Emitter, value: Abstract, name: Abstract) -> Abstract:
    if not (isinstance(name, Const) and isinstance(name.value, str)):
        fail(Code.NOT_CONSTANT, "the name of getattr() has to be a constant string")
    return w.get_attr(value, name.value)  # type: ignore[attr-defined]


# text


def _str(w: Emitter, *args: Abstract) -> Abstract:
    if not args:
        return Const("")
    return args[0] if texts.is_text(args[0]) else texts.formatted(w, args[0], "s", "")


def _format(w: Emitter, value: Abstract, spec: Abstract = Const("")) -> Abstract:  # noqa: B008  (constants never change)
    if isinstance(spec, Const) and isinstance(spec.value, str):
        return texts.formatted(w, value, "", spec.value)
    return texts.call(w, "builtins:format", [value, spec], STR)


def _by_interpreter(name: str, result: Type, least: int = 1, most: int = 1) -> Builtin:
    """A builtin for strings that the interpreter computes."""
    return simple(name, least, most, lambda w, *args: texts.operate(w, f"builtins:{name}", args, result))


def print_options(keywords: Keywords) -> tuple[tuple[str, object], ...]:
    """The keyword arguments of `print()`."""
    for name, value in keywords.items():
        if name not in ("sep", "end", "flush"):
            hint = "Print to the standard output, or return the values and print them in Python."
            fail(
                Code.BAD_ARGUMENTS,
                f"print() in compiled code takes sep, end and flush, not {name}",
                hint=hint,
                at=value,
            )
        if not isinstance(value, Const):
            fail(Code.NOT_CONSTANT, f"the {name} of print() has to be a constant", at=value)
    return tuple((name, value.value) for name, value in keywords.items() if isinstance(value, Const))


def _print(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    return texts.call(w, "builtins:print", args, NONE, print_options(keywords))


def _clock(name: str) -> Builtin:
    """A clock of `time`: floats in seconds, ints in nanoseconds."""
    result = PYINT if name.endswith("_ns") else PYFLOAT
    return simple(name, 0, 0, lambda w: texts.call(w, f"time:{name}", (), result))


_CLOCKS = (
    "time",
    "time_ns",
    "perf_counter",
    "perf_counter_ns",
    "monotonic",
    "monotonic_ns",
    "process_time",
    "process_time_ns",
)


def _operator(symbol: str) -> Builtin:
    return simple(symbol, 2, 2, lambda w, x, y: operators.binary(w, symbol, x, y))


def _comparison(symbol: str) -> Builtin:
    return simple(symbol, 2, 2, lambda w, x, y: operators.compare(w, symbol, x, y))


_OPERATOR_MODULE: dict[object, Builtin] = {
    **{
        getattr(python_operator, name): _operator(symbol)
        for name, symbol in {
            "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
            "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^",
        }.items()
    },
    **{
        getattr(python_operator, name): _comparison(symbol)
        for name, symbol in {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}.items()
    },
    python_operator.neg: simple("neg", 1, 1, lambda w, x: operators.unary(w, "-", x)),
    python_operator.pos: simple("pos", 1, 1, lambda w, x: operators.unary(w, "+", x)),
    python_operator.invert: simple("invert", 1, 1, lambda w, x: operators.unary(w, "~", x)),
    python_operator.not_: simple("not_", 1, 1, lambda w, x: operators.not_(w, x)),
    python_operator.truth: simple("truth", 1, 1, lambda w, x: convert.to_bool(w, (x,))),
    python_operator.abs: simple("abs", 1, 1, _abs),
    python_operator.getitem: simple("getitem", 2, 2, lambda w, x, k: w.get_item(x, k)),
}  # fmt: skip

#: The builtin itself -> its emitter.
BUILTINS: Mapping[object, Builtin] = MappingProxyType(
    {
        builtins.range: _range,
        "prange": _prange,
        "fp": modes.block,
        builtins.enumerate: _enumerate,
        builtins.zip: _zip,
        builtins.reversed: simple("reversed", 1, 1, lambda w, x: Sequence_("reversed", (w.unwrap(x),))),
        builtins.len: simple("len", 1, 1, sequences.length),
        builtins.map: _map,
        builtins.filter: simple("filter", 2, 2, _filter),
        builtins.tuple: simple("tuple", 0, 1, _tuple),
        builtins.list: simple("list", 0, 1, _list),
        builtins.sorted: _sorted,
        builtins.iter: simple("iter", 1, 1, lambda w, x: _iterators().make(w, x)),
        builtins.next: simple("next", 1, 2, lambda w, x, *default: _iterators().next_item(w, x, *default)),
        functools.reduce: simple("reduce", 2, 3, _reduce),
        builtins.slice: simple("slice", 1, 3, _slice),
        builtins.abs: simple("abs", 1, 1, _abs),
        builtins.min: _extreme("min", "<"),
        builtins.max: _extreme("max", ">"),
        builtins.sum: _sum,
        builtins.any: simple("any", 1, 1, _every("any")),
        builtins.all: simple("all", 1, 1, _every("all")),
        builtins.round: _round,
        builtins.divmod: simple("divmod", 2, 2, _divmod),
        builtins.pow: _pow,
        builtins.int: simple("int", 0, 2, lambda w, *args: convert.to_int(w, args)),
        builtins.float: simple("float", 0, 1, lambda w, *args: convert.to_float(w, args)),
        builtins.bool: simple("bool", 0, 1, lambda w, *args: convert.to_bool(w, args)),
        builtins.complex: simple("complex", 0, 2, lambda w, *args: convert.to_complex(w, args)),
        builtins.isinstance: simple("isinstance", 2, 2, _isinstance),
        builtins.type: simple("type", 1, 1, _type),
        builtins.hasattr: simple("hasattr", 2, 2, _hasattr),
        builtins.getattr: simple("getattr", 2, 2, _getattr),
        builtins.callable: simple("callable", 1, 1, is_callable),
        builtins.str: simple("str", 0, 1, _str),
        builtins.repr: simple("repr", 1, 1, lambda w, x: texts.formatted(w, x, "r", "")),
        builtins.ascii: simple("ascii", 1, 1, lambda w, x: texts.formatted(w, x, "a", "")),
        builtins.format: simple("format", 1, 2, _format),
        builtins.ord: _by_interpreter("ord", PYINT),
        builtins.chr: _by_interpreter("chr", STR),
        builtins.hex: _by_interpreter("hex", STR),
        builtins.oct: _by_interpreter("oct", STR),
        builtins.bin: _by_interpreter("bin", STR),
        builtins.print: _print,
        **{getattr(time, name): _clock(name) for name in _CLOCKS},
        **_OPERATOR_MODULE,
    }
)
