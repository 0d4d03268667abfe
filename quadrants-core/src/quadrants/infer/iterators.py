"""Iterators that the program makes and takes items from: `iter()`, `next()`, and a `for` over what is left.

An iterator is a `Sequence_` of the kind "iter": what it walks, and a list of one int, the place of its next item. All that refer to
the iterator share the list, as they share the iterator in Python.
"""

from __future__ import annotations

from quadrants.bytecode import nodes
from quadrants.diagnostics import Code
from quadrants.infer import lists, sequences
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.values import Abstract, Const, Generator, List, Num, Sequence_
from quadrants.infer.walk import ControlWalk
from quadrants.ir import Value
from quadrants.types import PYINT

#: More items than any list has: a loop that asks for the size of what it walks goes on.
_ENDLESS = 2**63 - 1

_STATELESS = ("enumerate", "zip", "reversed", "map", "flat", "ndenumerate", "ndindex", "nditer")


def make(w: Emitter, value: Abstract) -> Abstract:
    """`iter(value)`."""
    value = w.unwrap(value)
    if isinstance(value, Sequence_) and value.kind == "iter":
        return value
    sequences.count(w, value)  # an error for what cannot be walked
    return Sequence_("iter", (value, lists.make(w, PYINT, (Const(0),))))


def next_item(w: Emitter, iterator: Abstract, *default: Abstract) -> Abstract:
    """`next(iterator)`, `next(iterator, default)`."""
    if isinstance(iterator, Generator):
        found = w.consume(iterator, "next")  # type: ignore[attr-defined]
    else:
        value = w.unwrap(iterator)
        if isinstance(value, Sequence_) and value.kind in _STATELESS:
            fail(
                Code.UNSUPPORTED_CALL,
                f"next() of {describe(value)} is not compiled",
                hint=f"Make an iterator of it first: it = iter({value.kind}(...)).",
            )
        if not isinstance(value, Sequence_) or value.kind != "iter":
            fail(Code.NOT_ITERABLE, f"{describe(value)} is not an iterator", hint="Make one: it = iter(...).")
        found = _take_some(w, value)
    if default:
        return w.call_library("sequences:first_or", found, *default)
    return w.call_library("sequences:first_of", found)


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


def _take_some(w: Emitter, iterator: Sequence_) -> Abstract:
    """The next item, or None."""
    w.branch(  # type: ignore[attr-defined]
        _more(w, iterator),
        lambda: w.push(_take(w, iterator)),  # type: ignore[attr-defined]
        lambda: w.push(Const(None)),  # type: ignore[attr-defined]
    )
    return w.pop()  # type: ignore[attr-defined, no-any-return]


def loop_over(w: ControlWalk, node: nodes.For, iterator: Sequence_) -> None:
    """Walk a `for` over what is left of an iterator."""

    def size() -> Value:
        return w.b.value("select", _more(w, iterator), w.b.i64(_ENDLESS), w.b.i64(0))

    def turn(_: Value) -> None:
        w.push(_take(w, iterator))
        w.walk(node.body)

    w.growing_loop(node, size, turn)
