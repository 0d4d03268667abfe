"""Operators on any values: dispatches to numbers, arrays, tuples, strings; comparison, identity, membership and truth."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable
from types import UnionType

from quadrants.diagnostics import Code
from quadrants.infer import dicts, elementwise, indexing, lists, scalars, special, texts
from quadrants.infer.dicts import DictDisplay
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.merge import Number
from quadrants.infer.portable import vectors
from quadrants.infer.values import (
    Abstract,
    Arr,
    Const,
    Exc,
    Generator,
    List,
    ListDisplay,
    Num,
    Object,
    Opt,
    Sequence_,
    Tup,
)
from quadrants.ir import Value
from quadrants.types import PYBOOL, STR

#: A list that is written out and repeated stays known item by item up to so many items.
MAX_DISPLAY = 64


def _operands(w: Emitter, text: str, x: Abstract, y: Abstract) -> tuple[Abstract, Abstract]:
    """Both operands, of which none may be None: that raises Python's TypeError."""
    if not (isinstance(x, Opt) or isinstance(y, Opt)):
        return w.unwrap(x), w.unwrap(y)
    names = [_class_name(value.item if isinstance(value, Opt) else value) for value in (x, y)]
    return w.unwrap(x, text.format("'NoneType'", names[1])), w.unwrap(y, text.format(names[0], "'NoneType'"))


def _class_name(value: Abstract) -> str:
    """The class of a value as messages of the interpreter name it."""
    if isinstance(value, Const):
        return f"'{type(value.value).__name__}'"
    if isinstance(value, Num):
        return f"'{'' if value.scalar.weak else 'numpy.'}{describe(value)}'"
    if isinstance(value, Tup):
        return f"'{'tuple' if value.named is None else value.named[1].__name__}'"
    return {Arr: "'numpy.ndarray'", List: "'list'", ListDisplay: "'list'"}.get(type(value), "'str'")


def binary(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y`."""
    x, y = _operands(w, f"unsupported operand type(s) for {symbol}: {{}} and {{}}", x, y)
    if vectors.is_value(x) or vectors.is_value(y):
        return vectors.binary(w, symbol, x, y)
    if isinstance(x, Tup) or isinstance(y, Tup):
        special_result = special.binary(w, symbol, x, y)
        if special_result is not None:
            return special_result
    if symbol == "@" and (scalar_type(x) is None or scalar_type(y) is None):
        return w.call_library("products:matmul", x, y)
    if isinstance(x, Arr) or isinstance(y, Arr):
        return elementwise.binary(w, symbol, _as_array(w, x), _as_array(w, y))
    if scalar_type(x) is not None and scalar_type(y) is not None and symbol != "@":
        return scalars.binary(w, symbol, x, y)
    texts.refuse_arithmetic(symbol, x, y)
    handler = _SEQUENCES.get(symbol)
    result = handler(w, x, y) if handler is not None else None
    if result is not None:
        return result
    fail(
        Code.BAD_OPERAND,
        f"unsupported operand types for {symbol}: {describe(x)} and {describe(y)}",
        types=[("left", x.type), ("right", y.type)],
        hint="Tuples do not add element by element: make them arrays with np.array(...)."
        if isinstance(x, Tup)
        else None,
    )


def inplace(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol= y`: arrays are updated in place, everything else is `x symbol y`."""
    x, y = _operands(w, f"unsupported operand type(s) for {symbol}=: {{}} and {{}}", x, y)
    if isinstance(x, Arr) and symbol == "@":
        return elementwise.inplace_matmul(w, x, _as_array(w, y))
    if isinstance(x, Arr):
        return elementwise.inplace(w, symbol, x, _as_array(w, y))
    if symbol == "+" and isinstance(x, (List, ListDisplay)):
        lists.method(w, x, "extend", (y,), {})
        return x
    if symbol == "*" and isinstance(x, (List, ListDisplay)):
        fail(Code.UNSUPPORTED_LIST, "a list cannot be repeated in place in compiled code", hint="Write xs = xs * n.")
    return special.inplace(w, symbol, x, y) or binary(w, symbol, x, y)


def without_lists(w: Emitter, value: Abstract) -> Abstract:
    """A run-time list as an array, where NumPy takes lists as arrays; lists in tuples too."""
    if isinstance(value, Tup) and any(isinstance(item, List) for item in value.items):
        return Tup(tuple(without_lists(w, item) for item in value.items), value.named)
    return w.call_library("lists:to_array", value) if isinstance(value, List) else value


def _as_array(w: Emitter, value: Abstract) -> Abstract:
    """Tuples and lists beside an array are arrays."""
    value = without_lists(w, value)
    if isinstance(value, (Tup, ListDisplay)):
        return w.call_library("creation:array", value)
    return value


def _add_sequences(w: Emitter, x: Abstract, y: Abstract) -> Abstract | None:
    if isinstance(x, Tup) and isinstance(y, Tup):
        return Tup((*x.items, *y.items))
    if isinstance(x, ListDisplay) and isinstance(y, ListDisplay):
        return new_display(w, (*x.items, *y.items))
    if isinstance(x, (List, ListDisplay)) and isinstance(y, (List, ListDisplay)):
        return fresh(w, lists.concatenated(w, *lists.same_kind(w, x, y)))
    if texts.is_text(x) and texts.is_text(y):
        return texts.concat(w, [x, y])
    return None


def _repeat_sequence(w: Emitter, x: Abstract, y: Abstract) -> Abstract | None:
    sequence, count = (y, x) if isinstance(x, (Const, Num)) and not texts.is_text(x) else (x, y)
    if texts.is_text(sequence) and scalar_type(count) is not None and not isinstance(count, Const):
        return texts.call(w, "operator:mul", [sequence, count], STR)
    if texts.is_text(sequence) and not isinstance(sequence, Const) and isinstance(count, Const):
        return texts.operate(w, "operator:mul", [sequence, count], STR)
    if not isinstance(sequence, (Tup, List, ListDisplay)) and not (
        isinstance(sequence, Const) and texts.is_text(sequence)
    ):
        return None
    known = isinstance(count, Const) and isinstance(count.value, int)
    if isinstance(sequence, List) or (isinstance(sequence, ListDisplay) and not (known and _is_short(sequence, count))):
        return _repeat_list(w, sequence, count)
    if not (isinstance(count, Const) and isinstance(count.value, int)):
        fail(
            Code.NOT_CONSTANT,
            "a sequence can be repeated only a constant number of times",
            hint="Use np.full or np.tile.",
        )
    if isinstance(sequence, Const):
        return Const(sequence.value * count.value)  # type: ignore[operator]
    items = sequence.items * count.value
    return new_display(w, items) if isinstance(sequence, ListDisplay) else Tup(items)


def _is_short(sequence: ListDisplay, count: Abstract) -> bool:
    """Whether a repeated display is short enough to stay one."""
    return (
        isinstance(count, Const) and isinstance(count.value, int) and len(sequence.items) * count.value <= MAX_DISPLAY
    )


def _site(w: Emitter) -> object:
    """Identifies a list that an operator makes."""
    assert w.b.loc is not None
    return (w.ref.code, w.b.loc.offset)  # type: ignore[attr-defined]


def new_display(w: Emitter, items: tuple[Abstract, ...]) -> Abstract:
    """A new list of known items."""
    site = _site(w)
    item = w.lists.get(site)  # type: ignore[attr-defined]
    if item is not None:
        return lists.make(w, item, items, site)
    return ListDisplay(items, w.loop_depth, site)  # type: ignore[attr-defined]


def _repeat_list(w: Emitter, sequence: Abstract, count: Abstract) -> Abstract:
    """`sequence * count`, whose items may get another type later."""
    site = _site(w)
    item = w.lists.get(site)  # type: ignore[attr-defined]
    known = lists.as_list(w, sequence, item)
    if item is not None and known.item != item:
        known = lists.of_type(w, known, item)
    made = lists.repeated(w, known, count)
    assert isinstance(made, List)
    return List(made.item, made.cells, site)


def fresh(w: Emitter, made: Abstract) -> Abstract:
    """A list that nobody else has yet; its items may get another type later."""
    if not isinstance(made, List):
        return made
    site = _site(w)
    item = w.lists.get(site)  # type: ignore[attr-defined]
    if item is not None and item != made.item:
        made = lists.of_type(w, made, item)
    return List(made.item, made.cells, site)


def _union_of_classes(w: Emitter, x: Abstract, y: Abstract) -> Abstract | None:
    """`int | float`, as `isinstance()` takes it."""
    if not (isinstance(x, Const) and isinstance(y, Const)):
        return None
    if not any(isinstance(operand.value, (type, UnionType)) for operand in (x, y)):
        return None
    try:
        return Const(python_operator.or_(x.value, y.value))
    except TypeError:
        return None


_SEQUENCES: dict[str, Callable[[Emitter, Abstract, Abstract], Abstract | None]] = {
    "+": _add_sequences,
    "*": _repeat_sequence,
    "%": texts.percent,
    "|": _union_of_classes,
}


# comparison


def compare(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` of a comparison operator."""
    none = _compare_none(w, symbol, x, y)
    if none is not None:
        return none
    x, y = _operands(w, f"'{symbol}' not supported between instances of {{}} and {{}}", x, y)
    if vectors.is_value(x) or vectors.is_value(y):
        return vectors.compare(w, symbol, x, y)
    if isinstance(x, Tup) or isinstance(y, Tup):
        special_result = special.compare(w, symbol, x, y)
        if special_result is not None:
            return special_result
    if isinstance(x, Arr) or isinstance(y, Arr):
        return elementwise.binary(w, symbol, _as_array(w, x), _as_array(w, y))
    if scalar_type(x) is not None and scalar_type(y) is not None:
        return scalars.compare(w, symbol, x, y)
    if isinstance(x, (Tup, ListDisplay)) and type(x) is type(y):
        return _compare_tuples(w, symbol, x.items, y.items)  # type: ignore[attr-defined]
    if isinstance(x, (List, ListDisplay)) and isinstance(y, (List, ListDisplay)):
        return _compare_lists(w, symbol, *lists.same_kind(w, x, y))
    if isinstance(x, Const) and isinstance(y, Const):
        return _compare_constants(symbol, x, y)
    if (texts.is_text(x) and texts.is_text(y)) or texts.is_foreign(x) or texts.is_foreign(y):
        return texts.compare(w, symbol, x, y)
    if symbol in ("==", "!="):
        return Const(symbol == "!=")  # values of unlike kinds are never equal
    fail(
        Code.BAD_OPERAND,
        f"{symbol} does not compare {describe(x)} with {describe(y)}",
        types=[("left", x.type), ("right", y.type)],
    )


def _compare_none(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract | None:
    for value, other in ((x, y), (y, x)):
        if isinstance(value, Const) and value.value is None and symbol in ("==", "!="):
            return is_(w, other, Const(None), symbol == "!=")
    return None


def _compare_constants(symbol: str, x: Const, y: Const) -> Const:
    try:
        return Const(bool(scalars.FOLD[symbol](x.value, y.value)))
    except TypeError as error:
        fail(Code.BAD_OPERAND, str(error))


def _compare_tuples(w: Emitter, symbol: str, xs: tuple[Abstract, ...], ys: tuple[Abstract, ...]) -> Abstract:
    if symbol in ("==", "!="):
        if len(xs) != len(ys):
            return Const(symbol == "!=")
        equal: Abstract = Const(True)
        for x, y in zip(xs, ys):
            equal = _logical(w, "and", equal, _as_bool(w, compare(w, "==", x, y)))
        return equal if symbol == "==" else not_(w, equal)
    result: Abstract = scalars.compare(w, symbol, Const(len(xs)), Const(len(ys)))
    for x, y in reversed(list(zip(xs, ys))):
        strict = _as_bool(w, compare(w, symbol[0], x, y))
        same = _as_bool(w, compare(w, "==", x, y))
        result = _logical(w, "or", strict, _logical(w, "and", same, result))
    return result


def _compare_lists(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    if symbol in ("==", "!="):
        equal = w.call_library("lists:equal", x, y)
        return equal if symbol == "==" else not_(w, equal)
    if symbol in ("<", ">="):
        less = w.call_library("lists:less", x, y)
        return less if symbol == "<" else not_(w, less)
    less = w.call_library("lists:less", y, x)
    return less if symbol == ">" else not_(w, less)


def _as_bool(w: Emitter, value: Abstract) -> Abstract:
    known = truth(w, value)
    return Const(known) if isinstance(known, bool) else Num(PYBOOL, known)


def _logical(w: Emitter, name: str, x: Abstract, y: Abstract) -> Abstract:
    """`and` / `or` of two Booleans without side effects."""
    absorbing = name == "or"
    for value, other in ((x, y), (y, x)):
        if isinstance(value, Const):
            return value if bool(value.value) == absorbing else other
    return Num(PYBOOL, w.b.value(name, w.truth(x), w.truth(y)))


def is_(w: Emitter, x: Abstract, y: Abstract, invert: bool) -> Abstract:
    """`x is y`."""
    if isinstance(x, Object) or isinstance(y, Object):
        return texts.call(w, "operator:is_not" if invert else "operator:is_", (x, y), PYBOOL)
    for value, other in ((x, y), (y, x)):
        if isinstance(value, Const) and value.value is None:
            if isinstance(other, Opt):
                absent = w.b.value("not", other.flag)
                result = Num(PYBOOL, other.flag if invert else absent)
                w.note_presence(result.value, other, present=invert, exact=True)  # type: ignore[attr-defined]
                return result
            return Const((isinstance(other, Const) and other.value is None) != invert)
    if isinstance(x, Const) and isinstance(y, Const):
        same = x.type == y.type if isinstance(x.value, Number) else x.value is y.value
        return Const(same != invert)
    if isinstance(x, Arr) and isinstance(y, Arr):
        if x.array.dtype != y.array.dtype or x.array.ndim != y.array.ndim:
            return Const(invert)
        same_value = w.b.value("same", x.value, y.value)
        return Num(PYBOOL, w.b.value("not", same_value) if invert else same_value)
    if isinstance(x, List) and isinstance(y, List):
        if x.item != y.item or x.cells == y.cells:
            return Const((x.item == y.item) != invert)
        fail(Code.BAD_OPERAND, "whether two lists are the same is not known here", hint="Compare them with ==.")
    if scalar_type(x) is not None and scalar_type(y) is not None and scalar_type(x) == scalar_type(y):
        return scalars.compare(w, "!=" if invert else "==", x, y)
    return Const(invert)


def contains(w: Emitter, item: Abstract, container: Abstract, invert: bool) -> Abstract:
    """`item in container`."""
    found: Abstract
    container = w.unwrap(container)
    answer = special.call(w, "__contains__", container, item)
    if answer is not None:
        found = unary(w, "bool", answer)
    elif isinstance(container, (Tup, ListDisplay)):
        found = Const(False)
        for other in container.items:
            found = _logical(w, "or", found, _as_bool(w, compare(w, "==", item, other)))
    elif isinstance(container, DictDisplay):
        found = Const(dicts.constant_key(item) in container.keys)
    elif isinstance(container, List):
        found = w.call_library("lists:contains", container, item)
    elif texts.is_text(container) and texts.is_text(item):
        found = texts.operate(w, "operator:contains", [container, item], PYBOOL)
    elif texts.is_foreign(container):
        found = texts.call(w, "operator:contains", [container, item], PYBOOL)
    elif isinstance(container, Const) and isinstance(item, Const):
        try:
            found = Const(item.value in container.value)  # type: ignore[operator]
        except TypeError as error:
            fail(Code.BAD_OPERAND, str(error))
    elif isinstance(container, Arr):
        found = w.call_library("sequences:contains", container, item)
    elif isinstance(container, Sequence_) and container.kind == "range":
        found = w.call_library("sequences:in_range", item, *container.parts)
    elif isinstance(container, (Sequence_, Generator)):
        found = w.call_library("sequences:in_items", item, container)
    else:
        fail(Code.BAD_OPERAND, f"`in` does not search {describe(container)}")
    return not_(w, found) if invert else found


# truth


def truth(w: Emitter, value: Abstract) -> Value | bool:
    """What `if value:` tests: a register, or the answer when it is known."""
    if isinstance(value, Const):
        return bool(value.value)
    if vectors.is_value(value):
        fail(
            Code.BAD_CONDITION,
            f"the truth of {describe(value)} is not clear",
            types=[("condition", value.type)],
            hint="Write .all() or .any() behind the comparison.",
        )
    if isinstance(value, DictDisplay):
        return bool(value.keys)
    if isinstance(value, (Tup, ListDisplay)):
        answer = special.call(w, "__bool__", value)
        return bool(value.items) if answer is None else truth(w, answer)
    if isinstance(value, List):
        return w.b.value("cmp", lists.size(w, value), w.b.i64(0), pred="gt")
    if isinstance(value, Opt):
        return _optional_truth(w, value)
    if isinstance(value, Num):
        return w.truth(value)
    if isinstance(value, Arr):
        return _array_truth(w, value)
    if isinstance(value, Exc):
        return True
    if texts.is_text(value) or isinstance(value, Object):
        return texts.truth(w, value)
    fail(Code.BAD_CONDITION, f"{describe(value)} has no truth that is known here")


def _optional_truth(w: Emitter, value: Opt) -> Value | bool:
    inner = truth(w, value.item)
    if inner is False:
        return False
    test = value.flag if inner is True else w.b.value("and", value.flag, inner)
    if test is value.flag:
        test = w.b.value("and", value.flag, w.b.bool(True))
    w.note_presence(test, value, present=True, exact=inner is True)  # type: ignore[attr-defined]
    return test


def _array_truth(w: Emitter, value: Arr) -> Value:
    if value.array.ndim > 0:
        size = w.b.value("dim", value.value, axis=0)
        for axis in range(1, value.array.ndim):
            size = w.b.value("mul", size, w.b.value("dim", value.value, axis=axis))
        text = (
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
        )
        w.check(w.b.value("cmp", size, w.b.i64(0), pred="ne"), ValueError, text)
        text = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
        w.check(w.b.value("cmp", size, w.b.i64(1), pred="eq"), ValueError, text)
    return w.truth(indexing.load(w, value, [w.b.i64(0)] * value.array.ndim))


def not_(w: Emitter, value: Abstract) -> Abstract:
    """`not value`."""
    known = truth(w, value)
    if isinstance(known, bool):
        return Const(not known)
    result = Num(PYBOOL, w.b.value("not", known))
    w.note_inverse(known, result.value)  # type: ignore[attr-defined]
    return result


def unary(w: Emitter, symbol: str, value: Abstract) -> Abstract:
    """`-x`, `+x`, `~x`, `not x`; "bool" is the truth as a value."""
    if symbol == "not":
        return not_(w, value)
    if symbol == "bool":
        known = truth(w, value)
        return Const(known) if isinstance(known, bool) else Num(PYBOOL, known)
    value = w.unwrap(value, f"bad operand type for unary {symbol}: 'NoneType'")
    if isinstance(value, Arr):
        return elementwise.unary(w, symbol, value)
    if vectors.is_value(value):
        return vectors.unary(w, symbol, value)
    found = special.unary(w, symbol, value)
    if found is not None:
        return found
    if scalar_type(value) is None:
        fail(Code.BAD_OPERAND, f"bad operand type for unary {symbol}: {describe(value)}")
    return scalars.unary(w, symbol, value)
