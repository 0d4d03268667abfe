"""Iterators that remember what was taken of them: `iter()`, `next()`, and what a variable holds that is read more than once.

An iterator is a `Sequence_` of the kind "iter": what it walks, and a list of one int, the place of its next item. All that refer to
the iterator share the list, as they share the iterator in Python. A generator expression with one `for` is as far as the iterator
that it walks: it is a `Generator` over an "iter", which starts anew for each item. One with several is made a list.

Most iterators are consumed where they are made, or from a variable that is read once; these need no place, and loops over them are
as fast as loops over what they walk. `in_variable` tells the two apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import quadrants.bytecode as bytecode
from quadrants.bytecode import nodes, uses
from quadrants.bytecode.opcode import Opcode
from quadrants.diagnostics import Code
from quadrants.infer import lists, scalars, sequences
from quadrants.infer.closures import mapped
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.values import Abstract, Const, Generator, List, Num, Opt, Sequence_, Tup
from quadrants.infer.walk import ControlWalk
from quadrants.ir import Region, Value
from quadrants.types import PYINT, Type

if TYPE_CHECKING:
    from quadrants.infer.names import ScopeWalk

#: More items than any list has: a loop that asks for the size of what it walks goes on.
_ENDLESS = 2**63 - 1

#: What becomes of the next item.
_Use = Callable[[Abstract], Abstract]


def make(w: Emitter, value: Abstract) -> Abstract:
    """`iter(value)`."""
    if (
        isinstance(value, Generator)
        and uses.loops_around(bytecode.regions(value.function.code).body, Opcode.YIELD) == 1
    ):
        return value if sequences.pulls(value) else Generator(value.function, make(w, value.iterable))
    value = w.unwrap(value)
    if isinstance(value, Sequence_) and value.kind == "iter":
        return value
    if not sequences.pulls(value):
        sequences.count(w, value)  # an error for what cannot be walked
    return Sequence_("iter", (value, lists.make(w, PYINT, (Const(0),))))


def kept(w: Emitter, value: Abstract) -> Abstract:
    """The value with its iterators as such that remember what was taken."""
    if isinstance(value, (Sequence_, Generator)):
        return make(w, value) if sequences.iterates(value) else value
    return mapped(value, lambda part: kept(w, part)) if sequences.iterates(value) else value


def in_variable(w: ScopeWalk, name: str | None, value: Abstract, parameter: bool = False) -> Abstract:
    """What a variable holds that is assigned a value with iterators: they remember what was taken if it is read again."""
    if w.ref.internal:
        return value
    code = w.ref.code
    if name is None or name in code.co_cellvars or not isinstance(value, (Sequence_, Generator)):
        return kept(w, value)
    return kept(w, value) if uses.reads_again(bytecode.regions(code).body, name, parameter) else value


def next_item(w: Emitter, iterator: Abstract, *default: Abstract) -> Abstract:
    """`next(iterator)`, `next(iterator, default)`."""
    if not isinstance(iterator, Generator):
        iterator = w.unwrap(iterator)
        if not isinstance(iterator, Sequence_) or iterator.kind not in (*sequences.ITERATORS, "iter"):
            fail(Code.NOT_ITERABLE, f"{describe(iterator)} is not an iterator", hint="Make one: it = iter(...).")
    found = pull(w, iterator, w.b.i64(0))
    if default:
        return w.call_library("sequences:first_or", found, *default)
    return w.call_library("sequences:first_of", found)


def pull(w: Emitter, value: Abstract, k: Value) -> Abstract:
    """The next item of what is walked, of which k were taken on this walk: a tuple with the item, or None."""
    return _taken(w, value, k, lambda item: Tup((item,)))


def item_type(w: Emitter, value: Abstract) -> Type:
    """The type of the items of what is walked."""
    with w.b.into(Region()):
        found = pull(w, value, w.b.i64(0))
    return _single(found).type


def _single(found: Abstract) -> Abstract:
    item = found.item if isinstance(found, Opt) else found
    return item.items[0] if isinstance(item, Tup) else Const(None)


def _taken(w: Emitter, value: Abstract, k: Value, use: _Use) -> Abstract:
    """`use(item)` of the next item, or None."""
    if isinstance(value, Generator):
        found = w.consume(value, "next")  # type: ignore[attr-defined]
        return _either(w, _present(w, found), lambda: use(_single(found)))
    if not sequences.pulls(value):
        return _either(
            w, w.b.value("cmp", k, sequences.count(w, value), pred="lt"), lambda: use(sequences.item(w, value, k))
        )
    assert isinstance(value, Sequence_)
    return _TAKEN[value.kind](w, value, k, use)


def _either(w: Emitter, test: Value, found: Callable[[], Abstract]) -> Abstract:
    """`found() if test else None`."""
    w.branch(test, lambda: w.push(found()), lambda: w.push(Const(None)))  # type: ignore[attr-defined]
    return w.pop()  # type: ignore[attr-defined, no-any-return]


def _taken_of_iterator(w: Emitter, value: Sequence_, _: Value, use: _Use) -> Abstract:
    walked, place = _parts(value)
    k = w.integer(lists.get(w, place, w.b.i64(0)))
    if not sequences.pulls(walked):
        return _either(w, _more(w, value), lambda: use(_take(w, value)))
    lists.put(w, place, w.b.i64(0), Num(PYINT, w.b.value("add", k, w.b.i64(1))))
    return _taken(w, walked, k, use)


def _taken_of_all(w: Emitter, parts: tuple[Abstract, ...], k: Value, use: _Use) -> Abstract:
    """An item of each: the first that has none ends it, and what was taken before is lost."""

    def after(done: tuple[Abstract, ...]) -> Abstract:
        if len(done) == len(parts):
            return use(Tup(done))
        return _taken(w, parts[len(done)], k, lambda item: after((*done, item)))

    return after(())


def _taken_of_enumerate(w: Emitter, value: Sequence_, k: Value, use: _Use) -> Abstract:
    walked, start = value.parts
    return _taken(w, walked, k, lambda item: use(Tup((scalars.binary(w, "+", start, Num(PYINT, k)), item))))


def _taken_of_map(w: Emitter, value: Sequence_, k: Value, use: _Use) -> Abstract:
    function, *parts = value.parts

    def call(items: Abstract) -> Abstract:
        assert isinstance(items, Tup)
        return use(w.call_value(function, items.items, {}))  # type: ignore[attr-defined]

    return _taken_of_all(w, tuple(parts), k, call)


_TAKEN: dict[str, Callable[[Emitter, Sequence_, Value, _Use], Abstract]] = {
    "iter": _taken_of_iterator,
    "zip": lambda w, value, k, use: _taken_of_all(w, value.parts, k, use),
    "enumerate": _taken_of_enumerate,
    "map": _taken_of_map,
}


def unpacked(w: Emitter, value: Abstract, n: int) -> tuple[Abstract, ...]:
    """The n items that there are left; any other number is an error, as in Python."""
    items: list[Abstract] = []
    for k in range(n):
        found = pull(w, value, w.b.i64(k))
        text = f"not enough values to unpack (expected {n}, got {k})"
        w.check(_present(w, found), ValueError, text)
        items.append(_single(found))
    more = w.b.value("not", _present(w, pull(w, value, w.b.i64(n))))
    w.check(more, ValueError, f"too many values to unpack (expected {n})")
    return tuple(items)


def _present(w: Emitter, found: Abstract) -> Value:
    return found.flag if isinstance(found, Opt) else w.b.bool(isinstance(found, Tup))


def _parts(iterator: Sequence_) -> tuple[Abstract, List]:
    place = iterator.parts[1]
    assert isinstance(place, List)
    return iterator.parts[0], place


def _more(w: Emitter, iterator: Sequence_) -> Value:
    """Whether there is another item."""
    walked, place = _parts(iterator)
    return w.b.value("cmp", w.integer(lists.get(w, place, w.b.i64(0))), sequences.count(w, walked), pred="lt")


def _take(w: Emitter, iterator: Sequence_) -> Abstract:
    """The next item, which there is."""
    walked, place = _parts(iterator)
    k = w.integer(lists.get(w, place, w.b.i64(0)))
    lists.put(w, place, w.b.i64(0), Num(PYINT, w.b.value("add", k, w.b.i64(1))))
    return sequences.item(w, walked, k)


def loop_over(w: ControlWalk, node: nodes.For, iterable: Abstract) -> None:
    """Walk a `for` over what is left of iterators."""
    if isinstance(iterable, Sequence_) and iterable.kind == "iter" and not sequences.pulls(iterable.parts[0]):
        _loop_over_left(w, node, iterable)
        return
    found: Abstract = Const(None)

    def size(k: Value) -> Value:
        nonlocal found
        found = pull(w, iterable, k)
        return w.b.value("select", _present(w, found), w.b.i64(_ENDLESS), w.b.i64(0))

    def turn(_: Value) -> None:
        if isinstance(found, Const):  # there never is an item
            w.b.op("unreachable")
            w.env = None
            return
        w.push(_single(found))
        w.walk(node.body)

    w.growing_loop(node, size, turn)


def _loop_over_left(w: ControlWalk, node: nodes.For, iterator: Sequence_) -> None:

    def size(_: Value) -> Value:
        return w.b.value("select", _more(w, iterator), w.b.i64(_ENDLESS), w.b.i64(0))

    def turn(_: Value) -> None:
        w.push(_take(w, iterator))
        w.walk(node.body)

    w.growing_loop(node, size, turn)
