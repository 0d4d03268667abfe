"""Iterables: how long they are, what their k-th item is, and how a `for` walks them.

Ranges become counted loops, tuples are unrolled (every item keeps its own type), arrays and the wrappers enumerate, zip and
reversed are indexed by a counter; ndindex, ndenumerate, flat and nditer are nests of loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quadrants.bytecode import nodes
from quadrants.diagnostics import Code
from quadrants.infer import attributes, dicts, indexing, lists, scalars, special, texts
from quadrants.infer.dicts import DictDisplay
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.listtypes import EMPTY
from quadrants.infer.merge import convert, join_types
from quadrants.infer.values import (
    Abstract,
    Arr,
    ConflictType,
    Const,
    Generator,
    List,
    ListDisplay,
    Maybe,
    Num,
    Object,
    Opt,
    Sequence_,
    SliceValue,
    Text,
    Tup,
    rebuild,
)
from quadrants.infer.walk import ControlWalk
from quadrants.ir import Value
from quadrants.types import PYINT, FormatHole, FormatType

#: Tuples longer than this are an error in a `for`: their loop would be written out that many times.
MAX_UNROLLED = 1024


#: The kinds of objects that are iterators: what was taken of them is gone.
ITERATORS = frozenset({"enumerate", "zip", "map", "reversed", "flat", "ndenumerate", "ndindex", "nditer"})


#: The classes of objects, by kind.
CLASSES = {"range": range, "enumerate": enumerate, "zip": zip, "reversed": reversed, "map": map}


def iterates(value: Abstract) -> bool:
    """Whether the value, or a part of it, is an iterator that does not remember what was taken (see `iterators`)."""
    if isinstance(value, Sequence_):
        return value.kind in ITERATORS
    if isinstance(value, (Tup, ListDisplay, DictDisplay)):
        return any(map(iterates, value.items))
    if isinstance(value, (Opt, Maybe)):
        return iterates(value.item)
    return isinstance(value, Generator) and not pulls(value)


def pulls(value: Abstract) -> bool:
    """Whether a walk of the value takes items from an iterator that remembers what was taken."""
    if isinstance(value, Generator):
        return pulls(value.iterable)
    if not isinstance(value, Sequence_):
        return False
    return value.kind == "iter" or (value.kind in _PULLING and any(map(pulls, value.parts)))


_PULLING = ("enumerate", "zip", "map")


def flat_of(value: Abstract) -> Sequence_ | None:
    """The value if it is `a.flat`, also where it remembers what was taken of it."""
    if isinstance(value, Sequence_) and value.kind == "iter":
        return flat_of(value.parts[0])
    return value if isinstance(value, Sequence_) and value.kind == "flat" else None


def static_items(w: Emitter, value: Abstract) -> tuple[Abstract, ...] | None:
    """The items of an iterable whose length is known, when it holds a tuple: these are unrolled. Else None."""
    if isinstance(value, (Tup, ListDisplay)):
        return value.items
    if isinstance(value, DictDisplay):
        return dicts.walked(value)
    if isinstance(value, List) and value.item == EMPTY:
        return ()
    if isinstance(value, Const) and isinstance(value.value, str):
        return tuple(Const(character) for character in value.value)
    if not isinstance(value, Sequence_):
        return None
    return _STATIC.get(value.kind, _no_static)(w, value)


def _no_static(w: Emitter, value: Sequence_) -> tuple[Abstract, ...] | None:
    return None


def _static_enumerate(w: Emitter, value: Sequence_) -> tuple[Abstract, ...] | None:
    items = static_items(w, value.parts[0])
    if items is None:
        return None
    return tuple(Tup((scalars.binary(w, "+", value.parts[1], Const(k)), item)) for k, item in enumerate(items))


def _static_reversed(w: Emitter, value: Sequence_) -> tuple[Abstract, ...] | None:
    items = static_items(w, value.parts[0])
    return None if items is None else items[::-1]


def _static_zip(w: Emitter, value: Sequence_) -> tuple[Abstract, ...] | None:
    parts = [static_items(w, part) for part in value.parts]
    if not parts or any(items is None for items in parts):
        return None
    return tuple(Tup(items) for items in zip(*(items for items in parts if items is not None)))


def _static_map(w: Emitter, value: Sequence_) -> tuple[Abstract, ...] | None:
    parts = _static_zip(w, Sequence_("zip", value.parts[1:]))
    if parts is None:
        return None
    return tuple(w.call_value(value.parts[0], part.items, {}) for part in parts)  # type: ignore[attr-defined]


_STATIC = {"map": _static_map, "enumerate": _static_enumerate, "reversed": _static_reversed, "zip": _static_zip}


def constant_range(value: Sequence_) -> range | None:
    """The range when all its bounds are constants."""
    bounds = [part.value for part in value.parts if isinstance(part, Const) and isinstance(part.value, int)]
    return range(*bounds) if len(bounds) == 3 and bounds[2] else None


def length(w: Emitter, value: Abstract) -> Abstract:
    """`len(value)`."""
    value = w.unwrap(value, "object of type 'NoneType' has no len()")
    if isinstance(value, (Tup, ListDisplay)):
        return special.call(w, "__len__", value) or Const(len(value.items))
    if isinstance(value, DictDisplay):
        return Const(len(value.keys))
    if isinstance(value, Const) and hasattr(value.value, "__len__") and not isinstance(value.value, type):
        return Const(len(value.value))
    if isinstance(value, List):
        return Num(PYINT, lists.size(w, value))
    if isinstance(value, Arr):
        if value.array.ndim == 0:
            fail(Code.BAD_OPERAND, "len() of unsized object: the array has rank 0")
        return Num(PYINT, w.b.value("dim", value.value, axis=0))
    if isinstance(value, Sequence_) and value.kind == "range":
        return Num(PYINT, range_length(w, value))
    flat = flat_of(value)
    if flat is not None:
        return Num(PYINT, _places(w, flat))
    if texts.is_text(value) or isinstance(value, Object):
        return texts.operate(w, "builtins:len", [value], PYINT)
    fail(
        Code.BAD_OPERAND,
        f"{describe(value)} has no len()",
        hint="Arrays, tuples, lists, ranges and strings have.",
        at=value,
    )


def _places(w: Emitter, value: Sequence_) -> Value:
    """How many places ndindex and its kin walk."""
    total = w.b.i64(1)
    for dim in _nest_dims(w, value):
        total = w.b.value("mul", total, w.b.value("max", w.integer(dim, "a dimension"), w.b.i64(0)))
    return total


def range_length(w: Emitter, value: Sequence_) -> Value:
    """The number of items of a range."""
    known = constant_range(value)
    if known is not None:
        return w.b.i64(len(known))
    start, stop, step = (w.integer(part) for part in value.parts)
    v, zero, one = w.b.value, w.b.i64(0), w.b.i64(1)
    step_part = value.parts[2]
    if isinstance(step_part, Const):
        distance = v("sub", stop, start) if int(step_part.value) > 0 else v("sub", start, stop)  # type: ignore[call-overload]
        stride = w.b.i64(abs(int(step_part.value)))  # type: ignore[call-overload]
    else:
        up = v("cmp", step, zero, pred="gt")
        distance = v("select", up, v("sub", stop, start), v("sub", start, stop))
        stride = v("abs", step)
    count = v("add", v("floordiv", v("sub", distance, one), stride), one)
    return v("select", v("cmp", distance, zero, pred="gt"), count, zero)


def count(w: Emitter, value: Abstract) -> Value:
    """The number of items that a loop over the value takes."""
    if isinstance(value, Sequence_):
        if value.kind in ("enumerate", "reversed"):
            return count(w, value.parts[0])
        if value.kind in _NESTS:
            return _places(w, value)
        if value.kind in ("zip", "map"):
            counts = [count(w, part) for part in (value.parts[1:] if value.kind == "map" else value.parts)]
            shortest = counts[0]
            for other in counts[1:]:
                shortest = w.b.value("min", shortest, other)
            return shortest
        if value.kind == "iter":
            fail(
                Code.UNSUPPORTED_CALL,
                "how many items are left of an iterator is not known before they are taken",
                hint="Make a list of it first: list(...).",
            )
    return w.integer(length(w, value))


def item(w: Emitter, value: Abstract, k: Value) -> Abstract:
    """The k-th item that a loop over the value takes; k is in range."""
    if isinstance(value, Arr):
        if value.array.ndim == 1:
            return Num(value.array.dtype, w.b.value("load", value.value, k, checked=False, wrap=False))
        full = SliceValue(Const(None), Const(None), Const(None))
        checks, w.options = w.options, replace(w.options, boundscheck=False)
        items: tuple[Abstract, ...] = (Num(PYINT, k), *[full] * (value.array.ndim - 1))
        view = indexing.make_view(w, value, items, None)
        w.options = checks
        return view
    if isinstance(value, (Tup, ListDisplay)):
        return pick(w, value.items, k)
    if isinstance(value, List):  # it may have changed since its length was taken
        return lists.get(w, value, lists.place(w, value, Num(PYINT, k), "list index out of range"))
    if texts.is_text(value) or isinstance(value, Object):
        return texts.item(w, value, Num(PYINT, k))
    if not isinstance(value, Sequence_):
        fail(Code.NOT_ITERABLE, f"{describe(value)} cannot be iterated over")
    return _ITEM[value.kind](w, value, k)


def _range_item(w: Emitter, value: Sequence_, k: Value) -> Abstract:
    start, step = w.integer(value.parts[0]), w.integer(value.parts[2])
    return Num(PYINT, w.b.value("add", start, w.b.value("mul", k, step)))


def _enumerate_item(w: Emitter, value: Sequence_, k: Value) -> Abstract:
    return Tup((scalars.binary(w, "+", value.parts[1], Num(PYINT, k)), item(w, value.parts[0], k)))


def _reversed_item(w: Emitter, value: Sequence_, k: Value) -> Abstract:
    last = w.b.value("sub", count(w, value.parts[0]), w.b.i64(1))
    return item(w, value.parts[0], w.b.value("sub", last, k))


def _zip_item(w: Emitter, value: Sequence_, k: Value) -> Abstract:
    return Tup(tuple(item(w, part, k) for part in value.parts))


def _map_item(w: Emitter, value: Sequence_, k: Value) -> Abstract:
    items = [item(w, part, k) for part in value.parts[1:]]
    return w.call_value(value.parts[0], items, {})  # type: ignore[attr-defined, no-any-return]


# what walks the places of an array: ndindex, ndenumerate, flat, nditer


def _nest_dims(w: Emitter, value: Sequence_) -> tuple[Abstract, ...]:
    array = value.parts[0] if value.kind != "ndindex" else None
    return tuple(Num(PYINT, dim) for dim in attributes.dims(w, array)) if isinstance(array, Arr) else value.parts


def _flat_view(w: Emitter, value: Sequence_) -> Arr | None:
    """`a.flat` as an array of one axis, where it can be a view."""
    array = value.parts[0] if value.kind == "flat" else None
    if not isinstance(array, Arr) or array.array.layout != "C":
        return None
    return attributes.contiguous_view(w, array, [attributes.size(w, array)])


def _element(w: Emitter, value: Sequence_, index: tuple[Abstract, ...]) -> Num:
    array = value.parts[0]
    assert isinstance(array, Arr)
    places = [w.integer(item) for item in index]
    return Num(array.array.dtype, w.b.value("load", array.value, *places, checked=False, wrap=False))


def _element_view(w: Emitter, value: Sequence_, index: tuple[Abstract, ...]) -> Abstract:
    array = value.parts[0]
    assert isinstance(array, Arr)
    view = indexing.make_view(w, array, index, None)
    type_ = replace(view.array, readonly=True)
    return Arr(type_, w.b.value("view", view.value, w.b.i64(0), type=type_))


#: The item at an index of each kind.
_NESTS: dict[str, Callable[[Emitter, Sequence_, tuple[Abstract, ...]], Abstract]] = {
    "ndindex": lambda w, value, index: Tup(index),
    "ndenumerate": lambda w, value, index: Tup((Tup(index), _element(w, value, index))),
    "flat": _element,
    "nditer": _element_view,
}


def _nest_item(w: Emitter, value: Sequence_, k: Value) -> Abstract:
    """The k-th item, counted in C order."""
    index = w.call_library("reshaping:unraveled", Num(PYINT, k), Tup(_nest_dims(w, value)))
    assert isinstance(index, Tup)
    return _NESTS[value.kind](w, value, index.items)


def flat_array(w: Emitter, value: Sequence_) -> Arr:
    """`a.flat` as an array of one axis: a view where that can be, else a copy."""
    array = _flat_view(w, value)
    if array is not None:
        return array
    result = w.call_library("sequences:flat_copy", value.parts[0])
    assert isinstance(result, Arr)
    return result


def get_flat(w: Emitter, value: Sequence_, index: Abstract) -> Abstract:
    """`a.flat[index]`: an element, or a copy of several."""
    scalar = scalar_type(index)
    if scalar is None or not scalar.is_integer:
        return indexing.get_item(w, flat_array(w, value), index)
    shape = Tup(_nest_dims(w, value))
    place = w.call_library("reshaping:flat_place", Num(PYINT, w.integer(index)), shape)
    assert isinstance(place, Tup)
    return _element(w, value, place.items)


_ITEM: dict[str, Callable[[Emitter, Sequence_, Value], Abstract]] = {
    "range": _range_item,
    "enumerate": _enumerate_item,
    "reversed": _reversed_item,
    "zip": _zip_item,
    "map": _map_item,
    **dict.fromkeys(("ndindex", "ndenumerate", "flat", "nditer"), _nest_item),
}


def pick(w: Emitter, items: tuple[Abstract, ...], k: Value) -> Abstract:
    """The k-th of several values of like type; k is in range."""
    if not items:
        return Const(None)
    type_ = items[0].type
    for other in items[1:]:
        type_ = join_types(type_, other.type)
    if isinstance(type_, ConflictType) or any(leaf.heap for leaf in type_.leaves()):
        fail(
            Code.CONSTANT_INDEX,
            "a tuple whose items have different types needs a constant index",
            types=[("items", t) for t in dict.fromkeys(i.type for i in items)],
            hint="Walk it with a for loop (it is unrolled), or index it with a literal.",
        )
    columns = [convert(w.b, value, type_).leaves for value in items]
    chosen = list(columns[-1])
    for position in range(len(items) - 2, -1, -1):
        here = w.b.value("cmp", k, w.b.i64(position), pred="eq")
        chosen = [w.b.value("select", here, a, b) for a, b in zip(columns[position], chosen)]
    return rebuild(type_, iter(chosen))


def get_item(
    w: Emitter, items: tuple[Abstract, ...], index: Abstract, make: Callable[..., Abstract], kind: str = "tuple"
) -> Abstract:
    """`sequence[index]` of a tuple or list display."""
    if isinstance(index, Const) and isinstance(index.value, int):
        if not -len(items) <= index.value < len(items):
            w.fails(IndexError, f"{kind} index out of range")
        return items[index.value]
    if isinstance(index, SliceValue):
        bounds = [part.value if isinstance(part, Const) else ... for part in (index.start, index.stop, index.step)]
        if ... in bounds:
            fail(Code.NOT_CONSTANT, "the bounds of a slice of a tuple have to be constants")
        if bounds[2] == 0:
            w.wrong(ValueError, "slice step cannot be zero", Code.BAD_VALUE)
        return make(items[slice(*bounds)])  # type: ignore[arg-type]
    position = w.integer(index, f"a {kind} index")
    if kind != "tuple":
        v = w.b.value
        low, high = (
            v("cmp", position, w.b.i64(-len(items)), pred="ge"),
            v("cmp", position, w.b.i64(len(items)), pred="lt"),
        )
        w.check(v("and", low, high), IndexError, f"{kind} index out of range")
    checked = w.b.value("index", position, w.b.i64(len(items)), axis=0, tuple=True, checked=True, wrap=True)
    return pick(w, items, checked)


# loops


def loop_over(w: ControlWalk, node: nodes.For, iterable: Abstract) -> None:
    """Walk a `for` over the iterable, which is on top of the stack."""
    if not pulls(iterable):
        iterable = w.unwrap(iterable, "'NoneType' object is not iterable")
    if pulls(iterable):
        from quadrants.infer import iterators  # which few programs need

        iterators.loop_over(w, node, iterable)
        return
    items = static_items(w, iterable)
    if items is not None:
        if len(items) > MAX_UNROLLED:
            fail(
                Code.TOO_LARGE, f"a loop over {len(items)} items of a tuple is too long to unroll", hint="Use an array."
            )
        w.unrolled_loop(node, items)
        return
    if isinstance(iterable, Sequence_) and iterable.kind == "range":
        _range_loop(w, node, iterable)
        return
    if isinstance(iterable, Sequence_) and iterable.kind in _NESTS:
        flat = _flat_view(w, iterable)
        if flat is None:
            _index_nest(w, node, iterable, _nest_dims(w, iterable), ())
            return
        iterable = flat
    if _grows(iterable):
        w.growing_loop(node, lambda _: count(w, iterable), lambda k: _body(w, node, item(w, iterable, k)))
        return
    iterable = texts.as_string(w, iterable)
    known = isinstance(iterable, (Arr, Object, Sequence_)) or texts.is_text(iterable)
    if not known or (isinstance(iterable, Arr) and iterable.array.ndim == 0):
        number = scalar_type(iterable)
        hint = "For a number, loop over range(n)." if number is not None and number.is_integer else None
        fail(Code.NOT_ITERABLE, f"{describe(iterable)} cannot be iterated over", hint=hint, at=iterable)
    bounds = (w.b.i64(0), count(w, iterable), w.b.i64(1))
    w.counted_loop(node, 0, bounds, lambda k: _body(w, node, item(w, iterable, k)))


def _grows(value: Abstract) -> bool:
    """Whether a loop over the value asks each time whether there is more: it may change on the way."""
    if isinstance(value, Sequence_) and value.kind in ("enumerate", "zip", "map"):
        return any(_grows(part) for part in value.parts)
    return isinstance(value, List)


def _body(w: ControlWalk, node: nodes.For, value: Abstract) -> None:
    w.push(value)
    w.walk(node.body)


def _range_loop(w: ControlWalk, node: nodes.For, value: Sequence_) -> None:
    bounds = tuple(w.integer(part, "a bound of range()") for part in value.parts)
    body = lambda i: _body(w, node, Num(PYINT, i))  # noqa: E731
    w.counted_loop(node, 0, bounds, body, parallel=value.parallel)  # type: ignore[arg-type]


def _index_nest(
    w: ControlWalk, node: nodes.For, value: Sequence_, dims: tuple[Abstract, ...], done: tuple[Abstract, ...]
) -> None:
    """The loops over `dims`, outermost first; `done` holds the indices of the loops around."""
    if not dims:
        item = _NESTS[value.kind](w, value, done)
        if not done:  # rank 0: one empty index
            w.unrolled_loop(node, (item,))
            return
        _body(w, node, item)
        return
    bounds = (w.b.i64(0), w.integer(dims[0], "a dimension"), w.b.i64(1))
    w.counted_loop(node, len(done), bounds, lambda i: _index_nest(w, node, value, dims[1:], (*done, Num(PYINT, i))))


def known_items(w: Emitter, value: Abstract) -> tuple[Abstract, ...] | None:
    """The items of an iterable whose length is known; else None."""
    items = static_items(w, value)
    if items is None and isinstance(value, Sequence_) and value.kind == "range":
        known = constant_range(value)
        items = None if known is None or len(known) > MAX_UNROLLED else tuple(Const(k) for k in known)
    return items


def is_constant_slice(index: SliceValue) -> bool:
    """Whether the bounds of a slice are known."""
    return all(isinstance(part, Const) for part in (index.start, index.stop, index.step))


def as_items(w: Emitter, value: Abstract, n: int | None = None) -> tuple[Abstract, ...]:
    """The items to unpack: of a tuple, or of an array whose length is checked."""
    if not pulls(value):
        value = w.unwrap(value, "cannot unpack non-iterable NoneType object")
    if n is not None and pulls(value):
        from quadrants.infer import iterators  # which few programs need

        return iterators.unpacked(w, value, n)
    items = known_items(w, value)
    if items is not None:
        return items
    value = texts.as_string(w, value)
    if (isinstance(value, (Arr, List, Sequence_, Object)) or texts.is_text(value)) and n is not None:
        total = count(w, value)
        few = w.b.value("cmp", total, w.b.i64(n), pred="ge")
        text = FormatType((f"not enough values to unpack (expected {n}, got ", FormatHole(PYINT, "", ""), ")"))
        w.check(few, ValueError, Text(text, (total,)))
        many = w.b.value("cmp", total, w.b.i64(n), pred="le")
        w.check(many, ValueError, f"too many values to unpack (expected {n})")
        return tuple(item(w, value, w.b.i64(k)) for k in range(n))
    if scalar_type(value) is not None:
        fail(
            Code.BAD_UNPACK,
            f"cannot unpack {describe(value)}, which has no items",
            hint="Unpack a tuple, a list or an array.",
        )
    if n is None:
        hint = "Tuples have a length that is known when compiling: keep a list, or make an array of it."
        fail(Code.BAD_UNPACK, f"{describe(value)} cannot become a tuple: its length is not known", hint=hint)
    fail(Code.BAD_UNPACK, f"{describe(value)} cannot be unpacked: its length is not known")
