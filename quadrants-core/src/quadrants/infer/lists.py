"""Lists: growing, shared by reference, all items of one type.

A list that is written out and only read is a `ListDisplay`, known item by item. As soon as the program changes it, or its length
depends on the run, `promote` has the function walked again with that list made as a run-time list (`List`) from the start: each
place that makes a list has a site, and `InstructionWalk.lists` says of what type the items of a site's list are. What lists do is
written in the language, in `quadrants.library.lists`, on the few operations here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from quadrants.diagnostics import Code
from quadrants.infer.closures import names_variables
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.listtypes import EMPTY, Within, holds
from quadrants.infer.merge import Promote, as_item, convert, join_types
from quadrants.infer.values import (
    Abstract,
    Closure,
    ConflictType,
    Const,
    List,
    ListDisplay,
    Method,
    Num,
    SliceValue,
    rebuild,
)
from quadrants.ir import Region, Value
from quadrants.types import (
    F64,
    PYINT,
    CellsType,
    ChoiceType,
    FormatType,
    ListType,
    LiteralType,
    Scalar,
    StrType,
    TupleType,
    Type,
)

#: Methods of lists that do not change them.
READING = ("copy", "count", "index")


def make(w: Emitter, item: Type, items: Sequence[Abstract] = (), site: object = None) -> List:
    """A new list."""
    type_ = ListType(item)
    made = List(item, tuple(w.b.value("list.new", type=CellsType(cell)) for cell in type_.cells()), site)
    if items:
        resize(w, made, w.b.i64(len(items)))
    for k, value in enumerate(items):
        put(w, made, w.b.i64(k), value)
    return made


def promote(w: Emitter, display: Abstract, *more: Type, code: Code = Code.UNSUPPORTED_LIST) -> NoReturn:
    """Walk the function again with the list of a display made at run time, for its items and others of the types."""
    assert isinstance(display, (ListDisplay, List))
    types = [as_item(t) for t in more]
    types += [display.item] if isinstance(display, List) else [as_item(item.type) for item in display.items]
    if not types and display.site is None:
        fail(
            Code.UNSUPPORTED_LIST,
            "the type of the items of this empty list is not known",
            hint="Append to it in this function, or start it with an item.",
        )
    item: Type = EMPTY  # as long as the walk has not come to what puts something in
    for other in types:
        item = join_types(item, other)
    check_item(item, code, types)
    if display.site is None:
        fail(
            Code.UNSUPPORTED_LIST,
            f"a list of {describe(display.item) if isinstance(display, List) else 'constants'} cannot take {describe(item)} here",
            hint="Make the list in this function, with items of one type: [0.0], not [0].",
        )
    raise Promote(display.site, item)


def check_item(item: Type, code: Code = Code.UNSUPPORTED_LIST, parts: Sequence[Type] = ()) -> None:
    """Refuse items that lists do not hold: of a type that the parts were joined to."""
    if isinstance(item, ConflictType):
        fail(
            code,
            f"the items of a list that changes have one type, not {describe(item)}",
            hint="Use several lists, or a list of tuples.",
        )
    if names_variables(item):
        fail(
            code,
            "functions that know variables of the function around them are no items of a list that changes",
            hint="Take the values as defaults, lambda i=i: ..., or use a tuple of functions.",
        )
    if not holds(item):
        wrong = next((part for part in parts if not holds(part) or _is_text(part)), item)
        text = f"the items of a list that changes are numbers, lists and tuples of them, not {describe(wrong)}"
        hint = "Keep numbers in the list, and make texts of them where they are needed." if _is_text(wrong) else None
        fail(code, text, hint=hint)


def refuse_items(displays: Sequence[Type], more: Sequence[Abstract]) -> NoReturn:
    """Refuse a comprehension whose length depends on the run: no list that changes holds the items of these displays and more."""
    types = [item for display in displays for item in getattr(display, "items", ())] + [item.type for item in more]
    joined: Type = EMPTY
    for type_ in types:
        joined = join_types(joined, as_item(type_))
    check_item(joined, Code.UNSUPPORTED_COMPREHENSION, types)
    raise AssertionError(joined)


def _is_text(item: Type) -> bool:
    text = isinstance(item, LiteralType) and isinstance(item.value, str)
    return text or isinstance(item, (StrType, ChoiceType, FormatType))


def is_open(display: ListDisplay, index: Abstract) -> bool:
    """Whether it takes a run-time list to index: with bounds that are not known, or a list that may change among the items."""
    if isinstance(index, SliceValue):
        return not all(isinstance(part, Const) for part in _bounds(index))
    if isinstance(index, Const):
        return False
    return bool(display.items) and display.site is not None and isinstance(as_item(display.items[0].type), ListType)


def size(w: Emitter, xs: List) -> Value:
    """How many items there are."""
    return w.b.value("list.size", xs.cells[0])


def get(w: Emitter, xs: List, index: Value) -> Abstract:
    """An item; the index is in range."""
    if xs.item == EMPTY:
        w.fails(IndexError, "list index out of range")
    count = len(xs.item.leaves())
    item = rebuild(xs.item, iter([w.b.value("list.load", cells, index) for cells in xs.cells[:count]]))
    return List(item.item, item.cells, xs.site and Within(xs.site)) if isinstance(item, List) else item


def put(w: Emitter, xs: List, index: Value, value: Abstract) -> None:
    """Replace an item; the index is in range."""
    wanted = join_types(xs.item, as_item(value.type))
    if wanted != xs.item:
        promote(w, xs, value.type)
    for cells, leaf in zip(xs.cells, convert(w.b, value, xs.item).leaves):
        w.b.op("list.store", leaf, cells, index)


def resize(w: Emitter, xs: List, length: Value) -> None:
    """Let there be so many items; new ones are undefined."""
    for cells in xs.cells:
        w.b.op("list.resize", cells, length)


def append(w: Emitter, xs: List, value: Abstract) -> None:
    """`xs.append(value)`."""
    at = size(w, xs)
    resize(w, xs, w.b.value("add", at, w.b.i64(1)))
    put(w, xs, at, value)


def place(w: Emitter, xs: List, index: Abstract, message: str) -> Value:
    """The place that an index means, checked."""
    return checked(w, w.integer(index, "a list index"), size(w, xs), message)


def checked(w: Emitter, position: Value, length: Value, message: str) -> Value:
    """The place that a position, which counts from the end if it is negative, means in a sequence of a length."""
    v, zero = w.b.value, w.b.i64(0)
    position = v("select", v("cmp", position, zero, pred="lt"), v("add", position, length), position)
    inside = v("and", v("cmp", position, zero, pred="ge"), v("cmp", position, length, pred="lt"))
    w.check(inside, IndexError, message)
    return position


def get_item(w: Emitter, xs: List, index: Abstract) -> Abstract:
    """`xs[index]`."""
    if isinstance(index, SliceValue):
        return w.call_library("lists:part", xs, *_bounds(index))
    return get(w, xs, place(w, xs, index, "list index out of range"))


def set_item(w: Emitter, xs: List, index: Abstract, value: Abstract) -> None:
    """`xs[index] = value`."""
    if isinstance(index, SliceValue):
        w.call_library("lists:assign_slice", xs, *_bounds(index), _items_for(w, xs, value))
        return
    put(w, xs, place(w, xs, index, "list assignment index out of range"), value)


def delete_item(w: Emitter, xs: List, index: Abstract) -> None:
    """`del xs[index]`."""
    if isinstance(index, SliceValue):
        w.call_library("lists:delete_slice", xs, *_bounds(index))
        return
    w.call_library("lists:delete", xs, Num(PYINT, place(w, xs, index, "list assignment index out of range")))


def _items_for(w: Emitter, xs: List, value: Abstract) -> List:
    """The items of an iterable, in a new list with items of the type of `xs`."""
    value = w.unwrap(value)
    types = item_types(w, (value,))
    if any(join_types(xs.item, as_item(type_)) != xs.item for type_ in types):
        promote(w, xs, *types)
    if isinstance(value, ListDisplay):
        return make(w, xs.item, value.items)
    made = w.call_library("lists:extended", make(w, xs.item), value)
    assert isinstance(made, List)
    return made


def _bounds(index: SliceValue) -> tuple[Abstract, ...]:
    return index.start, index.stop, index.step


def method(w: Emitter, xs: Abstract, name: str, args: tuple[Abstract, ...], keywords: dict[str, Abstract]) -> Abstract:
    """`xs.name(*args)` of a run-time list, or of a display, which this makes one."""
    if isinstance(xs, ListDisplay):
        if name in ("append", "insert", "remove"):
            promote(w, xs, *(arg.type for arg in args[-1:]))
        if name == "extend":
            promote(w, xs, *item_types(w, args))
        promote(w, xs)
    assert isinstance(xs, List)
    if name == "append" and len(args) == 1 and not keywords:
        append(w, xs, args[0])
        return Const(None)
    if name == "insert" and len(args) == 2:
        args = (Num(PYINT, w.integer(args[0])), args[1])
        wanted = join_types(xs.item, as_item(args[1].type))
        if wanted != xs.item:
            promote(w, xs, args[1].type)
    return w.call_library(f"lists:{_NAMES.get(name, name)}", xs, *args, **keywords)


def item_types(w: Emitter, args: tuple[Abstract, ...]) -> list[Type]:
    """The types of the items of an iterable."""
    from quadrants.infer import sequences  # which uses this module

    found: list[Type] = []
    for arg in args:
        if sequences.pulls(arg):
            from quadrants.infer import iterators  # which few programs need

            found.append(iterators.item_type(w, arg))
            continue
        arg = w.unwrap(arg)
        items = sequences.static_items(w, arg)
        if items is not None:
            found += [item.type for item in items]
        elif isinstance(arg, List):
            found.append(arg.item)
        else:
            with w.b.into(Region()):  # there may be no items: what would take the first one is dropped
                found.append(sequences.item(w, arg, w.b.i64(0)).type)
    return found


#: Methods whose functions in the library have other names.
_NAMES = {"pop": "pop", "sort": "sort", "index": "index", "count": "count"}


def is_new(callee: Abstract) -> bool:
    """Whether a list that the call gives is new."""
    if isinstance(callee, Closure):
        return callee.code.co_name == "<listcomp>"
    if isinstance(callee, Method):
        return callee.name in ("copy", "tolist")
    return isinstance(callee, Const) and any(callee.value is maker for maker in (list, sorted))


def concatenated(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    """`x + y` where one is a run-time list."""
    first, second = (as_list(w, part) for part in (x, y))
    item = join_types(first.item, second.item)
    check_item(item)
    if item != first.item:
        return w.call_library("lists:extended", of_type(w, first, item), second)
    return w.call_library("lists:concatenated", first, second)


def of_type(w: Emitter, xs: List, item: Type) -> List:
    """A copy of a list, with items of a wider type."""
    made = w.call_library("lists:extended", make(w, item), xs)
    assert isinstance(made, List)
    return made


def as_list(w: Emitter, value: Abstract, item: Type | None = None) -> List:
    """A list as a run-time list; a display is copied into a new one, whose items are of the type or a wider one."""
    if isinstance(value, List):
        return value
    assert isinstance(value, ListDisplay)
    for other in (as_item(part.type) for part in value.items):
        item = other if item is None else join_types(item, other)
    if item is None:
        promote(w, value)
    check_item(item)
    return make(w, item, value.items)


def repeated(w: Emitter, x: Abstract, count: Abstract) -> Abstract:
    """`x * count`."""
    return w.call_library("lists:repeated", as_list(w, x), count)


def same_kind(w: Emitter, x: Abstract, y: Abstract) -> tuple[Abstract, Abstract]:
    """Both as run-time lists, an empty one with items of the type of the other."""
    known = next(value for value in (x, y) if isinstance(value, List))
    return as_list(w, x, known.item), as_list(w, y, known.item)


def of_items(w: Emitter, value: Abstract) -> Abstract:
    """`list(value)` of an iterable whose length is not known."""
    item = as_item(item_types(w, (value,))[0])
    check_item(item)
    return w.call_library("lists:extended", make(w, item), value)


#: The operations of `quadrants.library.raw` on lists.
RAW: dict[str, Callable[..., Abstract | None]] = {
    "list_size": lambda w, xs: Num(PYINT, size(w, xs)),
    "list_get": lambda w, xs, k: get(w, xs, w.integer(k)),
    "list_put": lambda w, xs, k, value: put(w, xs, w.integer(k), value),
    "list_resize": lambda w, xs, n: resize(w, xs, w.integer(n)),
    "list_like": lambda w, xs: make(w, xs.item),
    "list_dtype": lambda w, xs: Const(_dtype(xs)),
    "list_width": lambda w, xs: Const(_width(_innermost(xs.item)[1])),
    "list_depth": lambda w, xs: Const(_innermost(xs.item)[0]),
}


def _innermost(item: Type) -> tuple[int, Type]:
    """How many lists are in each other, that of the items included, and what the innermost ones hold."""
    depth = 1
    while isinstance(item, ListType):
        depth, item = depth + 1, item.item
    return depth, item


def _width(item: Type) -> int:
    """How many numbers the items have: 0 for numbers, -1 where nothing was ever put in."""
    if item == EMPTY:
        return -1
    return len(item.items) if isinstance(item, TupleType) else 0


def _dtype(xs: List) -> object:
    from quadrants.types.dtypes import dtype_of

    item = held = _innermost(xs.item)[1]
    if item == EMPTY:
        return dtype_of(F64)
    if isinstance(item, TupleType) and item.items:
        item = item.items[0]
        for other in held.items:  # type: ignore[attr-defined]
            item = join_types(item, other)
    if not isinstance(item, Scalar):
        fail(
            Code.UNSUPPORTED_LIST,
            f"a list of {describe(xs.item)} does not become an array",
            hint="Use one list a column.",
        )
    return dtype_of(item.machine)
