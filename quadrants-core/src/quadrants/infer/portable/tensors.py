"""Tensors and arrays in the portable language: loads and stores of numbers, vectors and matrices, and updates in place.

An index may be made of integers, vectors and lists of them; `x[None]` is the element of a tensor of rank 0. `x[i] += v` is one
atomic step for each number where several threads may do it.
"""

from __future__ import annotations

from collections.abc import Callable

from quadrants.diagnostics import Code
from quadrants.infer import attributes, indexing, scalars
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.portable import vectors
from quadrants.infer.portable.vectors import Origin
from quadrants.infer.values import Abstract, Arr, Const, Num, SliceValue, Tup
from quadrants.ir import Value
from quadrants.types import PYINT, Scalar
from quadrants.types.vectors import TensorArg

#: What an operator in place is as an atomic step.
ATOMIC = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}


def is_tensor(value: Abstract) -> bool:
    """Whether this is a tensor of vectors or matrices."""
    return isinstance(value, Tup) and value.named is not None and value.named[1] is TensorArg


def array_of(value: Abstract) -> Arr:
    """The memory of a tensor."""
    found = value.items[0] if isinstance(value, Tup) else value
    assert isinstance(found, Arr)
    return found


def element_shape(value: Abstract) -> tuple[int, ...]:
    """The shape of an element."""
    if not isinstance(value, Tup):
        return ()
    return tuple(len(part.items) for part in value.items[1:] if isinstance(part, Tup))


def rank(value: Abstract) -> int:
    """How many indices an element has."""
    return array_of(value).array.ndim - len(element_shape(value))


def dims(w: Emitter, value: Abstract) -> tuple[Value, ...]:
    """The sizes of the shape."""
    array = array_of(value)
    return tuple(w.b.value("dim", array.value, axis=axis) for axis in range(rank(value)))


def plain_index(w: Emitter, base: Abstract, index: Abstract) -> tuple[Abstract, ...] | None:
    """The integers of an index that selects one element of a tensor or an array; None for slices, masks and the like."""
    items = vectors.index_items(index)
    if rank(base) == 0 and len(items) == 1 and isinstance(items[0], Const) and items[0].value is None:
        return ()
    for item in items:
        scalar = scalar_type(item)
        if scalar is None or not scalar.is_integer:
            return None
    return items


def _places(w: Emitter, tensor: Abstract, index: Abstract) -> tuple[Value, ...]:
    """The checked positions of an element."""
    items = plain_index(w, tensor, index)
    if items is None or len(items) != rank(tensor):
        given = vectors.index_items(index)
        wanted = f"{rank(tensor)} integer{'' if rank(tensor) == 1 else 's'}"
        wrong = [item for item in given if (kind := scalar_type(item)) is None or not kind.is_integer]
        fail(
            Code.BAD_INDEX,
            f"a tensor of rank {rank(tensor)} takes {wanted} as its index, not {describe(wrong[0]) if wrong else len(given)}",
            types=[("tensor", tensor.type)],
        )
    array = array_of(tensor)
    return tuple(place(w, array, axis, item) for axis, item in enumerate(items))


def place(w: Emitter, array: Arr, axis: int, item: Abstract) -> Value:
    """A checked position along an axis."""
    size = w.b.value("dim", array.value, axis=axis)
    return w.b.value("index", w.integer(item), size, axis=axis, checked=w.options.boundscheck, wrap=True)


def origin_of(w: Emitter, value: Abstract) -> Origin | None:
    """Where a value was loaded from."""
    if isinstance(value, Tup):
        return value.origin if isinstance(value.origin, Origin) else None
    known = w.loaded.get(id(value))  # type: ignore[attr-defined]
    return None if known is None else known[1]()


def origin_in(w: Emitter, base: Arr, items: tuple[Abstract, ...]) -> Origin:
    """An element of an array as a place, its indices checked."""
    return Origin(base, tuple(place(w, base, axis, item) for axis, item in enumerate(items)))


def get_item(w: Emitter, tensor: Abstract, index: Abstract) -> Abstract:
    """`tensor[index]`: a vector or a matrix, which knows where it comes from."""
    places = _places(w, tensor, index)
    return load(w, Origin(tensor, places))


def load(w: Emitter, origin: Origin) -> Abstract:
    """The element at a place."""
    array, size = array_of(origin.tensor), element_shape(origin.tensor)
    items: list[Abstract] = []
    for offsets in _offsets(size):
        at = (*origin.places, *(w.b.i64(k) for k in offsets))
        items.append(Num(array.array.dtype, w.b.value("load", array.value, *at, checked=False, wrap=False)))
    if len(size) == 1:
        return vectors.vector(items, origin)
    return vectors.matrix([vectors.vector(items[k * size[1] : (k + 1) * size[1]]) for k in range(size[0])], origin)


def _offsets(size: tuple[int, ...]) -> list[tuple[int, ...]]:
    if len(size) == 1:
        return [(k,) for k in range(size[0])]
    return [(i, j) for i in range(size[0]) for j in range(size[1])]


def set_item(w: Emitter, tensor: Abstract, index: Abstract, value: Abstract) -> None:
    """`tensor[index] = value`."""
    indexing.refuse_readonly(w, array_of(tensor))
    store(w, Origin(tensor, _places(w, tensor, index)), value)


def store(w: Emitter, origin: Origin, value: Abstract) -> None:
    """Store a whole element, or the part of it that the path leads to."""
    _each(w, origin, value, lambda array, at, item: _store(w, array, at, item))


def _store(w: Emitter, array: Arr, at: tuple[Value, ...], item: Abstract) -> None:
    register = scalars.sized(w, item, array.array.dtype)
    w.b.op("store", register, array.value, *at, checked=False, wrap=False)


def _each(
    w: Emitter, origin: Origin, value: Abstract, body: Callable[[Arr, tuple[Value, ...], Abstract], None]
) -> None:
    """Run `body` for each number of the element below the path, with that of the value."""
    array, size = array_of(origin.tensor), element_shape(origin.tensor)
    indexing.refuse_readonly(w, array)
    done = tuple(_element_place(w, item, n) for item, n in zip(origin.path, size))
    rest = size[len(done) :]
    found = vectors.as_value(w.unwrap(value))
    offsets = _offsets(rest) if rest else [()]
    if vectors.shape(found) not in ((), rest):
        fail(
            Code.TYPE_MISMATCH,
            f"{describe(value)} is put where {' x '.join(map(str, rest)) or 'a number'} goes",
            types=[("tensor", origin.tensor.type), ("value", found.type)],
        )
    numbers = vectors.flat(found) if vectors.shape(found) else (found,) * len(offsets)
    for offset, item in zip(offsets, numbers):
        if scalar_type(w.unwrap(item)) is None:
            fail(Code.TYPE_MISMATCH, f"{describe(item)} cannot be put into a tensor of {array.array.dtype}")
        body(array, (*origin.places, *done, *(w.b.i64(k) for k in offset)), w.unwrap(item))


def _element_place(w: Emitter, item: Abstract, n: int) -> Value:
    return w.b.value("index", w.integer(item), w.b.i64(n), axis=0, tuple=True, checked=True, wrap=True)


# Updates in place


def augment(w: Emitter, base: Abstract, index: Abstract, symbol: str, value: Abstract) -> bool:
    """`base[index] symbol= value` on memory that threads share, as atomic steps; False where it is no such thing."""
    what = ATOMIC.get(symbol)
    if what is None:
        return False
    if isinstance(base, Arr):
        items = plain_index(w, base, index)
        if items is None or len(items) != base.array.ndim:
            return False
        indexing.refuse_readonly(w, base)
        at = tuple(place(w, base, axis, item) for axis, item in enumerate(items))
        return _step(w, base, at, what, w.unwrap(value)) is not None
    if is_tensor(base):
        atomic(w, Origin(base, _places(w, base, index)), what, value)
        return True
    if isinstance(base, Tup) and isinstance(base.origin, Origin):
        items = vectors.index_items(index)
        if any(isinstance(item, SliceValue) for item in items):
            return False
        path = (*base.origin.path, *items)
        atomic(w, Origin(base.origin.tensor, base.origin.places, path), what, value)
        return True
    return False


def atomic(w: Emitter, origin: Origin, what: str, value: Abstract) -> Abstract:
    """One atomic step for each number; the values from before."""
    before: list[Abstract] = []

    def step(array: Arr, at: tuple[Value, ...], item: Abstract) -> None:
        found = _step(w, array, at, what, item)
        if found is None:
            fail(Code.BAD_DTYPE, f"an atomic {what} on {array.array.dtype} is not possible")
        before.append(found)

    _each(w, origin, value, step)
    rest = element_shape(origin.tensor)[len(origin.path) :]
    return vectors.shaped(before, rest)


def _step(w: Emitter, array: Arr, at: tuple[Value, ...], what: str, value: Abstract) -> Num | None:
    """An atomic step on one number; None where there is none for the type."""
    dtype: Scalar = array.array.dtype
    if dtype.is_bool or dtype.is_complex or scalar_type(value) is None:
        return None
    if dtype.is_float and what in ("and", "or", "xor"):
        return None
    register = scalars.sized(w, w.num(value), dtype)
    before = w.b.value("atomic", register, array.value, *at, op=what, checked=False, wrap=False)
    return Num(dtype, before)


# Attributes


def get_attr(w: Emitter, tensor: Abstract, name: str) -> Abstract | None:
    """`tensor.shape` and the like; None for another name."""
    size = element_shape(tensor)
    if name == "shape":
        return Tup(tuple(Num(PYINT, dim) for dim in dims(w, tensor)))
    if name in ("n", "m") and len(size) > "nm".index(name):
        return Const(size["nm".index(name)])
    if name == "dtype":
        return attributes.get_attr(w, array_of(tensor), "dtype")
    return None
