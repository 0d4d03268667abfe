"""Strings, and objects of the interpreter: what is computed with them, and by whom.

Takes an operation and its operands. Constants fold; one of several known strings (`Choice`) gives one of several known results;
everything else is a call into Python, so that it means what it means there. Comparing a string with a constant needs no call.
Strings that an f-string, `str()` or `+` makes (`Text`) are formatted when something needs their characters, at the latest when
they leave the kernel.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from quadrants.diagnostics import Code
from quadrants.infer.dicts import DictDisplay, as_value, pairs_of
from quadrants.infer.emitter import Emitter, class_name, describe, fail
from quadrants.infer.merge import convert, materialised
from quadrants.infer.values import (
    Abstract,
    Choice,
    Closure,
    Const,
    Exc,
    Generator,
    ListDisplay,
    Method,
    Num,
    Object,
    Sequence_,
    Str,
    Text,
    Tup,
    rebuild,
)
from quadrants.ir import Value
from quadrants.types import (
    EXC,
    NONE,
    OBJECT,
    PYBOOL,
    PYFLOAT,
    PYINT,
    STR,
    ChoiceType,
    FormatHole,
    FormatType,
    Kind,
    LiteralType,
    Scalar,
    TupleType,
    Type,
)

#: The results of a known function of several strings are told apart up to so many.
MAX_CHOICES = 16

_COMPARISONS = {
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}


def is_text(value: Abstract) -> bool:
    """Whether a value is a string."""
    return isinstance(value, (Text, Str, Choice)) or (isinstance(value, Const) and isinstance(value.value, str))


def is_foreign(value: Abstract) -> bool:
    """Whether only the interpreter knows what a value is."""
    return isinstance(value, (Object, Exc))


def call(
    w: Emitter, target: str, args: Sequence[Abstract], result: Type, keywords: tuple[tuple[str, object], ...] = ()
) -> Abstract:
    """Call `module:qualname` in the interpreter; `keywords` are constants."""
    args = [as_objects(w, given(w, arg)) for arg in args]
    types = TupleType((*(arg.type for arg in args), LiteralType(repr(keywords))))
    leaves = [leaf for arg in args for leaf in arg.leaves]
    op = w.b.op("pycall", *leaves, target=target, args=types, result=result)
    return rebuild(result, iter(op.results))


def given(w: Emitter, value: Abstract) -> Abstract:
    """An argument of a call into the interpreter, or of an exception: a range is made one there; other iterators have no object."""
    if isinstance(value, Sequence_) and value.kind == "range":
        return call(w, "builtins:range", value.parts, OBJECT)
    if isinstance(value, (Sequence_, Generator)):
        text = f"{describe(value)} exists only in compiled code: Python cannot get it as an object, nor as text"
        fail(Code.UNSUPPORTED_GENERATOR, text, hint="Make a list or a tuple of its items: list(...).")
    if isinstance(value, (Closure, Method)):
        text = f"{describe(value)} exists only in compiled code: Python cannot get it as an object, nor as text"
        fail(Code.UNSUPPORTED_TYPE, text, hint="Name it in a text, or call it and pass the result.")
    if isinstance(value, (ListDisplay, Tup)):
        return replace(value, items=tuple(given(w, item) for item in value.items))
    return value


def as_objects(w: Emitter, value: Abstract) -> Abstract:
    """What the interpreter gets: lists and dicts that are written out become new ones of its own."""
    if isinstance(value, DictDisplay):
        pairs = tuple(Tup((as_value(key), as_objects(w, item))) for key, item in pairs_of(value))
        return call(w, "builtins:dict", [Tup(pairs)], OBJECT)
    parts = (ListDisplay, Tup, DictDisplay)
    if isinstance(value, (ListDisplay, Tup)) and any(isinstance(item, parts) for item in value.items):
        items = tuple(as_objects(w, item) for item in value.items)
        value = Tup(items, value.named) if isinstance(value, Tup) else ListDisplay(items)
    return call(w, "builtins:list", [Tup(value.items)], OBJECT) if isinstance(value, ListDisplay) else value


def operate(w: Emitter, target: str, args: Sequence[Abstract], result: Type) -> Abstract:
    """A pure function of the interpreter ("builtins:len", "builtins:str.upper"): folded where its arguments are known."""
    known = [arg.value for arg in args if isinstance(arg, Const)]
    choices = [k for k, arg in enumerate(args) if isinstance(arg, Choice)]
    function = _function(target)
    if len(known) == len(args) and result != OBJECT:
        try:
            return w.from_python(function(*known))  # type: ignore[attr-defined, no-any-return]
        except Exception:  # noqa: BLE001  (whatever the function raises, the call raises at run time)
            return call(w, target, args, result)
    if len(choices) == 1 and len(known) + 1 == len(args):
        lifted = _lift(w, function, args, choices[0])
        if lifted is not None:
            return lifted
    return call(w, target, args, result)


def _function(target: str) -> Callable[..., object]:
    module, _, path = target.partition(":")
    found: object = {"builtins": builtins, "operator": operator}[module]
    for part in path.split("."):
        found = getattr(found, part)
    return found  # type: ignore[return-value]


def _lift(w: Emitter, function: Callable[..., object], args: Sequence[Abstract], at: int) -> Abstract | None:
    """A function of one of several strings, once for each of them; None if that raises or gives too many results."""
    choice = args[at]
    assert isinstance(choice, Choice)
    values: list[object] = [arg.value if isinstance(arg, Const) else None for arg in args]
    results = []
    for text in choice.texts:
        values[at] = text
        try:
            results.append(function(*values))
        except Exception:  # noqa: BLE001  (the call raises it at run time)
            return None
    if all(isinstance(result, str) for result in results):
        texts = tuple(dict.fromkeys(results))
        if len(texts) == 1:
            return Const(texts[0])
        if len(texts) > MAX_CHOICES:
            return None
        return Choice(texts, _table(w, choice, [w.b.i64(texts.index(r)) for r in results]))  # type: ignore[arg-type]
    if all(type(result) is bool for result in results):
        return Num(PYBOOL, _table(w, choice, [w.b.bool(bool(result)) for result in results]))
    if all(type(result) is int for result in results):
        return Num(PYINT, _table(w, choice, [w.b.i64(result) for result in results]))  # type: ignore[arg-type]
    return None


def _table(w: Emitter, choice: Choice, values: list[Value]) -> Value:
    """The value at the position that the choice holds."""
    chosen = values[-1]
    for position in range(len(values) - 2, -1, -1):
        here = w.b.value("cmp", choice.value, w.b.i64(position), pred="eq")
        chosen = w.b.value("select", here, values[position], chosen)
    return chosen


# making strings


def parts_of(
    w: Emitter, value: Abstract, conversion: str = "", spec: str = ""
) -> tuple[list[str | FormatHole], tuple[Value, ...]]:
    """A value as a part of a string made at run time."""
    if not conversion and not spec:
        if isinstance(value, Const) and isinstance(value.value, str):
            return [value.value], ()
        if isinstance(value, Text):
            return list(value.format.parts), value.values
    value = as_objects(w, value)
    if any(leaf.heap or leaf == EXC for leaf in value.type.leaves()):  # its text now is not its text later
        names = {"": "str", "s": "str", "r": "repr", "a": "ascii"}
        value = call(w, f"builtins:{names[conversion]}", [value], STR)
        conversion = ""
    return [FormatHole(value.type, conversion, spec)], value.leaves


def formatted(w: Emitter, value: Abstract, conversion: str, spec: str) -> Abstract:
    """`f"{value!conversion:spec}"`."""
    if isinstance(value, Const) and isinstance(value.value, (int, float, complex, str, bool, type(None))):
        conversions: dict[str, Callable[[object], object]] = {"": lambda x: x, "s": str, "r": repr, "a": ascii}
        try:
            return Const(format(conversions[conversion](value.value), spec))
        except (ValueError, TypeError):
            return call(w, "builtins:format", [value, Const(spec)], STR)
    if isinstance(value, Num) and not conversion and value.scalar.weak:
        known: dict[Kind, object] = {Kind.BOOL: True, Kind.INT: 1, Kind.FLOAT: 0.5, Kind.COMPLEX: 0.5j}
        try:
            format(known[value.scalar.kind], spec)
        except ValueError as error:
            w.wrong(ValueError, str(error), Code.BAD_FORMAT_SPEC)
    parts, leaves = parts_of(w, given(w, value), conversion, spec)
    return Text(FormatType(tuple(parts)), leaves)


def concat(w: Emitter, pieces: list[Abstract]) -> Abstract:
    """The strings one after the other."""
    if all(isinstance(piece, Const) for piece in pieces):
        return Const("".join(str(piece.value) for piece in pieces if isinstance(piece, Const)))
    known = [piece for piece in pieces if isinstance(piece, Const)]
    if len(pieces) == 2 and len(known) == 1 and any(isinstance(piece, Choice) for piece in pieces):
        return operate(w, "operator:concat", pieces, STR)
    parts: list[str | FormatHole] = []
    values: tuple[Value, ...] = ()
    for piece in pieces:
        more, leaves = parts_of(w, piece)
        parts += more
        values += leaves
    return Text(FormatType(tuple(parts)), values)


def percent(w: Emitter, x: Abstract, y: Abstract) -> Abstract | None:
    """`text % values`."""
    if not is_text(x):
        return None
    if isinstance(y, DictDisplay):
        return _format_with_names(x, y)
    values = y.items if isinstance(y, Tup) else (y,)
    if isinstance(x, Const) and all(isinstance(value, Const) for value in values):
        plain = tuple(value.value for value in values if isinstance(value, Const))
        try:
            return Const(x.value % plain)  # type: ignore[operator]
        except (TypeError, ValueError):
            return call(w, "operator:mod", [x, y], STR)
    return call(w, "operator:mod", [x, y], STR)


def _format_with_names(x: Abstract, y: DictDisplay) -> Abstract | None:
    """`text % {name: constant}`: fills the literal parts of the text."""
    names = {key: item.value for key, item in zip(y.keys, y.items) if isinstance(item, Const)}
    if len(names) != len(y.items):
        return None
    if isinstance(x, Const):
        return Const(x.value % names)  # type: ignore[operator]
    if not isinstance(x, Text):
        return None
    return Text(FormatType(tuple(p % names if isinstance(p, str) else p for p in x.format.parts)), x.values)


# asking strings


def compare(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` where both are strings, or one is an object of the interpreter."""
    if symbol in ("==", "!=") and is_text(x) and is_text(y):
        equal = _equal(w, x, y)
        if equal is not None:
            return equal if symbol == "==" else _not(w, equal)
    return operate(w, f"operator:{_COMPARISONS[symbol]}", [x, y], PYBOOL)


def _equal(w: Emitter, x: Abstract, y: Abstract) -> Abstract | None:
    """Equality without a call; None where that needs one."""
    for string, constant in ((x, y), (y, x)):
        if isinstance(string, Str) and isinstance(constant, Const):
            text = str(constant.value)
            if text.isascii() and "\0" not in text:
                return Num(PYBOOL, w.b.value("str.eq", string.value, text=text))
    if isinstance(x, Choice) and isinstance(y, Choice):
        type_ = ChoiceType(tuple(sorted({*x.texts, *y.texts})))
        a, b = convert(w.b, x, type_), convert(w.b, y, type_)
        return Num(PYBOOL, w.b.value("cmp", a.leaves[0], b.leaves[0], pred="eq"))
    return None


def _not(w: Emitter, value: Abstract) -> Abstract:
    return Const(not value.value) if isinstance(value, Const) else Num(PYBOOL, w.b.value("not", w.num(value).value))


def truth(w: Emitter, value: Abstract) -> Value | bool:
    """Whether a string is not empty, or an object is true."""
    answer = operate(w, "builtins:bool", [value], PYBOOL)
    return bool(answer.value) if isinstance(answer, Const) else w.num(answer).value


def as_string(w: Emitter, value: Abstract) -> Abstract:
    """A string whose characters are wanted: an object of the interpreter, unless it is a constant or one of several."""
    return materialised(w.b, value) if isinstance(value, Text) else value


def method(w: Emitter, owner: Abstract, name: str, args: Sequence[Abstract], keywords: dict[str, Abstract]) -> Abstract:
    """`text.name(*args)`."""
    result = METHODS.get(name)
    if result is None or keywords:
        fail(
            Code.NO_ATTRIBUTE,
            f"the method '{name}' of str is not supported" + (" with keywords" if result is not None else ""),
            hint="Compute the text in Python, and pass it.",
        )
    return operate(w, f"builtins:str.{name}", [owner, *args], result)


def item(w: Emitter, value: Abstract, index: Abstract) -> Abstract:
    """`text[index]`, with an integer or a slice, or an item of an object."""
    return operate(w, "operator:getitem", [value, index], OBJECT if is_foreign(value) else STR)


def attribute(w: Emitter, value: Abstract, name: str) -> Abstract:
    """An attribute of a caught exception or another object of the interpreter."""
    return call(w, "builtins:getattr", [value, Const(name)], OBJECT)


def number(w: Emitter, cls: str, value: Abstract) -> Abstract:
    """`int(value)` or `float(value)` of a string or an object."""
    return operate(w, f"builtins:{cls}", [value], PYINT if cls == "int" else PYFLOAT)


def is_instance(w: Emitter, value: Object, classes: Sequence[type]) -> Abstract:
    """`isinstance(value, classes)` of an object of the interpreter, which finds the classes by their names."""
    for cls in classes:
        if "<locals>" in cls.__qualname__:
            text = f"whether an object of Python is one of the class {cls.__name__}, which a function makes, is not known here"
            fail(Code.UNSUPPORTED_CALL, text, hint="Define the class in the module.")
    names = " ".join(class_name(cls) for cls in classes)
    return call(w, "quadrants.host.hostcall:is_instance", [value, Const(names)], PYBOOL)


def throw(w: Emitter, value: Abstract) -> None:
    """Raise an exception that is an object of the interpreter."""
    call(w, "quadrants.host.hostcall:throw", [value], NONE)


def kept(w: Emitter, value: Exc) -> Abstract:
    """A caught exception that outlives its handler."""
    return call(w, "quadrants.host.hostcall:same", [value], OBJECT)


def refuse_arithmetic(symbol: str, *values: Abstract) -> None:
    """The error for arithmetic with an object of the interpreter."""
    for value in values:
        if is_foreign(value):
            fail(
                Code.BAD_OPERAND,
                f"{symbol} does not take {describe(value)}: its type is only known at run time",
                hint="Convert it with int(), float() or str().",
            )


_STR_METHODS = (
    "upper lower strip lstrip rstrip capitalize title swapcase casefold replace zfill center ljust rjust removeprefix "
    "removesuffix expandtabs join format translate"
).split()
_BOOL_METHODS = (
    "startswith endswith isdigit isalpha isalnum isspace isupper islower isnumeric isdecimal isidentifier istitle isascii "
    "isprintable __contains__"
).split()
_OBJECT_METHODS = "split rsplit splitlines partition rpartition encode".split()
_INT_METHODS = "find rfind index rindex count __len__".split()

#: Method of str -> the type of its result.
METHODS: Mapping[str, Scalar | Type] = MappingProxyType(
    {
        **dict.fromkeys(_STR_METHODS, STR),
        **dict.fromkeys(_BOOL_METHODS, PYBOOL),
        **dict.fromkeys(_INT_METHODS, PYINT),
        **dict.fromkeys(_OBJECT_METHODS, OBJECT),
    }
)
