"""Vectors and matrices as values: tuples of numbers in registers, a matrix a tuple of its rows.

Takes abstract values; gives abstract values: every operation is one on the elements. Assignment copies, so that a local can be
changed in place: a store into an element makes a new value, which takes the place of the old one in the local that holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import quadrants.infer.operators as operators
import quadrants.infer.sequences as sequences
from quadrants._frozen import frozen
from quadrants.diagnostics import Code
from quadrants.infer import scalars
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.merge import convert, generalise, join_types, with_floats
from quadrants.infer.values import Abstract, ConflictType, Const, ListDisplay, Num, SliceValue, Tup
from quadrants.ir import Value
from quadrants.types import PYBOOL, Scalar
from quadrants.types.vectors import MatrixValue, VectorValue, matrix_class, vector_class
from quadrants.types.vectors import Value as HostValue

#: Letters of swizzles -> the element.
LETTERS = {letter: k for letters in ("xyzw", "rgba", "stpq") for k, letter in enumerate(letters)}


@frozen(eq=False)
class Origin:
    """Where a vector was loaded from: the tensor, the checked positions, and the indices into the element."""

    tensor: Abstract
    places: tuple[Value, ...]
    path: tuple[Abstract, ...] = ()


def is_value(value: Abstract) -> bool:
    """Whether this is a vector or a matrix."""
    return isinstance(value, Tup) and value.named is not None and issubclass(value.named[1], HostValue)


def is_vector(value: Abstract) -> bool:
    """Whether this is a vector."""
    return isinstance(value, Tup) and value.named is not None and issubclass(value.named[1], VectorValue)


def is_matrix(value: Abstract) -> bool:
    """Whether this is a matrix."""
    return isinstance(value, Tup) and value.named is not None and issubclass(value.named[1], MatrixValue)


def vector(items: Sequence[Abstract], origin: object = None) -> Tup:
    """The vector of the items."""
    cls = vector_class(len(items))
    return Tup(tuple(items), (cls._fields, cls), origin)


def matrix(rows: Sequence[Abstract], origin: object = None) -> Tup:
    """The matrix of the rows."""
    cls = matrix_class(len(rows))
    return Tup(tuple(rows), (cls._fields, cls), origin)


def items_of(value: Abstract) -> tuple[Abstract, ...]:
    """The items of a vector or what stands for one."""
    assert isinstance(value, (Tup, ListDisplay))
    return value.items


def as_value(value: Abstract) -> Abstract:
    """A tuple or a list of numbers as a vector, of those as a matrix; anything else as it is."""
    if is_value(value) or not isinstance(value, (Tup, ListDisplay)) or (isinstance(value, Tup) and value.named):
        return value
    items = tuple(map(as_value, value.items))
    if items and all(is_vector(item) for item in items):
        return matrix(items)
    return vector(items) if items and all(scalar_type(item) is not None for item in items) else value


def flat(value: Abstract) -> tuple[Abstract, ...]:
    """The numbers of a value, row by row."""
    if isinstance(value, (Tup, ListDisplay)):
        return tuple(x for item in value.items for x in flat(item))
    return (value,)


def shape(value: Abstract) -> tuple[int, ...]:
    """The shape of a number, a vector or a matrix."""
    if is_matrix(value):
        return (len(items_of(value)), len(items_of(items_of(value)[0])))
    return (len(items_of(value)),) if is_vector(value) else ()


def shaped(items: Sequence[Abstract], like: tuple[int, ...]) -> Abstract:
    """Numbers as a value of a shape."""
    if not like:
        return items[0]
    if len(like) == 1:
        return vector(items)
    return matrix([vector(items[k * like[1] : (k + 1) * like[1]]) for k in range(like[0])])


def elementwise(w: Emitter, operation: Callable[..., Abstract], *args: Abstract) -> Abstract:
    """The operation on the elements; numbers go with every element."""
    values = [as_value(w.unwrap(arg)) for arg in args]
    shapes = {shape(value) for value in values} - {()}
    if len(shapes) > 1:
        sizes = " and ".join(sorted(" x ".join(map(str, size)) for size in shapes))
        fail(
            Code.BAD_OPERAND,
            f"vectors and matrices of different sizes do not go together: {sizes}",
            types=[("operand", value.type) for value in values],
        )
    if not shapes:
        return operation(*values)
    (size,) = shapes
    count = len(flat(next(value for value in values if shape(value) == size)))
    columns = [flat(value) if shape(value) else (value,) * count for value in values]
    return shaped([operation(*parts) for parts in zip(*columns)], size)


def copied(value: Abstract) -> Abstract:
    """The value as an object of its own, so that it is known by where it is held."""
    if isinstance(value, Tup) and (is_value(value) or (value.named is not None and any(map(_held, value.items)))):
        return Tup(tuple(map(copied, value.items)), value.named)
    return value


def _held(value: Abstract) -> bool:
    return isinstance(value, Tup)


# Operators


def binary(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` where one is a vector or a matrix."""
    if symbol == "@":
        return matmul(w, as_value(x), as_value(y))
    return elementwise(w, lambda a, b: operators.binary(w, symbol, a, b), x, y)


def compare(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` of a comparison, element by element."""
    return elementwise(w, lambda a, b: operators.compare(w, symbol, a, b), x, y)


def unary(w: Emitter, symbol: str, value: Abstract) -> Abstract:
    """`-x`, `+x`, `~x`."""
    return elementwise(w, lambda a: operators.unary(w, symbol, a), value)


def total(w: Emitter, items: Sequence[Abstract], symbol: str = "+") -> Abstract:
    """The items put together by an operator."""
    result = items[0]
    for item in items[1:]:
        result = operators.binary(w, symbol, result, item)
    return result


def dot(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    """The sum of the products of the elements."""
    return total(w, flat(elementwise(w, lambda a, b: operators.binary(w, "*", a, b), x, y)))


def transposed(value: Abstract) -> Abstract:
    """Rows as columns."""
    if not is_matrix(value):
        fail(Code.BAD_OPERAND, f"transpose() is of matrices, not of {describe(value)}")
    return matrix([vector(column) for column in zip(*(items_of(row) for row in items_of(value)))])


def matmul(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    """`x @ y`."""
    left = [*items_of(x)] if is_matrix(x) else [x]
    right = [*items_of(transposed(y))] if is_matrix(y) else [y]
    inner = {len(items_of(value)) for value in (*left, *right) if is_vector(value)}
    if len(inner) != 1 or not all(is_vector(value) for value in (*left, *right)):
        fail(
            Code.BAD_OPERAND,
            f"@ does not multiply {describe(x)} and {describe(y)}",
            types=[("left", x.type), ("right", y.type)],
        )
    rows = [[dot(w, row, column) for column in right] for row in left]
    if is_matrix(x) and is_matrix(y):
        return matrix([vector(row) for row in rows])
    if is_matrix(x):
        return vector([row[0] for row in rows])
    return vector(rows[0]) if is_matrix(y) else rows[0][0]


def select(w: Emitter, condition: Abstract, x: Abstract, y: Abstract) -> Abstract:
    """`x` where the condition is true, else `y`: both are computed."""
    return elementwise(w, lambda c, a, b: _select(w, c, a, b), condition, x, y)


def _select(w: Emitter, condition: Abstract, x: Abstract, y: Abstract) -> Abstract:
    if isinstance(condition, Const):
        return x if condition.value else y
    type_ = with_floats(join_types(generalise(x.type), generalise(y.type)), w.floats)
    if isinstance(type_, ConflictType) or not isinstance(type_, Scalar):
        fail(Code.CANNOT_UNIFY, "select() chooses between two numbers", types=[("first", x.type), ("second", y.type)])
    chosen = w.b.value("select", w.truth(condition), w.cast(x, type_), w.cast(y, type_))
    return Num(type_, chosen)


# Elements


def index_items(index: Abstract) -> tuple[Abstract, ...]:
    """What stands between the brackets, vectors taken apart."""
    if isinstance(index, (Tup, ListDisplay)):
        return tuple(x for item in index.items for x in index_items(item))
    return (index,)


def get_item(w: Emitter, value: Tup, index: Abstract) -> Abstract:
    """`value[index]`."""
    items = index_items(index)
    if len(items) > len(shape(value)):
        fail(Code.BAD_INDEX, f"{describe(value)} has {len(shape(value))} axes, and {len(items)} indices were given")
    first, rest = items[0], items[1:]
    if isinstance(first, SliceValue):
        chosen = [value.items[k] for k in _positions(first, len(value.items))]
        parts = [get_item(w, item, Tup(rest)) if rest else item for item in chosen]  # type: ignore[arg-type]
        return _joined(parts)
    found = sequences.get_item(w, value.items, w.unwrap(first), Tup, "vector")
    if isinstance(found, Tup) and isinstance(value.origin, Origin):
        found = replace(found, origin=replace(value.origin, path=(*value.origin.path, first)))
    return get_item(w, found, Tup(rest)) if rest else found  # type: ignore[arg-type]


def _joined(parts: Sequence[Abstract]) -> Abstract:
    if not parts:
        fail(Code.BAD_INDEX, "a slice of a vector has no elements")
    return matrix(parts) if is_vector(parts[0]) else vector(parts)


def _positions(index: SliceValue, n: int) -> range:
    bounds = [part.value if isinstance(part, Const) else ... for part in (index.start, index.stop, index.step)]
    if ... in bounds:
        fail(Code.NOT_CONSTANT, "the bounds of a slice of a vector have to be constants")
    return range(*slice(*bounds).indices(n))  # type: ignore[arg-type]


def updated(w: Emitter, value: Abstract, items: tuple[Abstract, ...], new: Abstract) -> Abstract:
    """The value with the elements at the index replaced."""
    if not items:
        size = shape(value)
        fresh = as_value(new)
        if size and not shape(fresh):
            return shaped([fresh] * len(flat(value)), size)
        if shape(fresh) != size or (not size and scalar_type(w.unwrap(fresh)) is None):
            fail(Code.TYPE_MISMATCH, f"{describe(new)} is put where {describe(value)} is")
        return copied(fresh)
    if not isinstance(value, Tup):
        fail(Code.BAD_INDEX, f"{describe(value)} cannot be indexed")
    first, rest = items[0], items[1:]
    parts = list(value.items)
    if isinstance(first, SliceValue):
        _update_slice(w, parts, first, rest, as_value(new))
    elif isinstance(first, Const) and isinstance(first.value, int):
        if not -len(parts) <= first.value < len(parts):
            w.fails(IndexError, "vector index out of range")
        parts[first.value] = updated(w, parts[first.value], rest, new)
    else:
        count = w.b.i64(len(parts))
        at = w.b.value("index", w.integer(first), count, axis=0, tuple=True, checked=True, wrap=True)
        for k, part in enumerate(parts):
            here = Num(PYBOOL, w.b.value("cmp", at, w.b.i64(k), pred="eq"))
            parts[k] = select(w, here, updated(w, part, rest, new), part)
    return Tup(tuple(parts), value.named)


def _update_slice(
    w: Emitter, parts: list[Abstract], index: SliceValue, rest: tuple[Abstract, ...], new: Abstract
) -> None:
    places = _positions(index, len(parts))
    inner = items_of(new) if is_value(new) else (new,) * len(places)
    if len(inner) != len(places):
        fail(Code.TYPE_MISMATCH, f"{len(inner)} values are put into {len(places)} elements of a vector")
    for k, item in zip(places, inner):
        parts[k] = updated(w, parts[k], rest, item)


def swizzle(value: Tup, name: str) -> Abstract | None:
    """`v.x`, `v.zyx`: elements by their letters; None where the name is another one."""
    if not is_vector(value) or not name or any(letter not in LETTERS for letter in name):
        return None
    places = [LETTERS[letter] for letter in name]
    if max(places) >= len(value.items):
        return None
    items = [value.items[k] for k in places]
    return items[0] if len(items) == 1 else vector(items)


def cast(w: Emitter, value: Abstract, to: Scalar) -> Abstract:
    """The elements converted to a type."""

    def one(item: Abstract) -> Abstract:
        if scalar_type(item) is None:
            fail(Code.BAD_CONVERSION, f"{describe(item)} cannot be converted to {to}")
        if to.is_bool:
            return Num(to, w.truth(item))
        return Num(to, scalars.sized(w, item, to))

    return elementwise(w, one, value)


def materialised(w: Emitter, value: Abstract, to: Scalar) -> Abstract:
    """Python's floats that are computed here as the default type of floats: what a variable holds."""
    if isinstance(value, Num):
        return Num(to, w.cast(value, to)) if value.scalar.weak and value.scalar.is_float else value
    if isinstance(value, Tup) and value.leaves:
        items = tuple(materialised(w, item, to) for item in value.items)
        return value if all(a is b for a, b in zip(items, value.items)) else replace(value, items=items)
    return value


def as_common(w: Emitter, value: Abstract) -> Abstract:
    """A vector whose elements are all of one type."""
    type_ = generalise(flat(value)[0].type)
    for item in flat(value)[1:]:
        type_ = join_types(type_, generalise(item.type))
    return elementwise(w, lambda item: convert(w.b, item, type_), value)
