"""Where an element of an array is: indices, their checks, and addresses.

Contiguous arrays are addressed by their dims, with the element size as the constant inner stride, which LLVM can follow;
the others by their strides in bytes. Products and sums do not wrap: an index is inside its axis by the time it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir.core import Op, Value
from quadrants.lower.abi import memory_text
from quadrants.lower.analysis import INDEX_ERROR
from quadrants.lower.emit import FunctionEmitter, Parts, Text
from quadrants.lower.errors import raise_in
from quadrants.lower.nodes import LIKELY
from quadrants.types import PYINT, ArrayType, FormatHole, FormatType, LiteralType, TupleType, Type


def array_type(value: Value) -> ArrayType:
    """The type of an array value."""
    assert isinstance(value.type, ArrayType)
    return value.type


def dims(parts: Parts, type: ArrayType) -> Parts:
    """The dims of an array value."""
    return parts[2 : 2 + type.ndim]


def strides(parts: Parts, type: ArrayType) -> Parts:
    """The strides of an array value, in bytes."""
    return parts[2 + type.ndim :]


def element_text(type: ArrayType) -> str:
    """The LLVM type that an address counts in."""
    if type.dtype.is_complex:
        part = memory_text(type.dtype.part)
        return f"{{ {part}, {part} }}"
    return memory_text(type.dtype)


def wrapped(e: FunctionEmitter, index: Text, size: Text) -> Text:
    """A negative index counts from the end."""
    if index[0] != "%" and index[0] != "-":
        return index
    negative = e.let(f"icmp slt i64 {index}, 0")
    from_end = e.let(f"add nsw i64 {index}, {size}")
    return e.let(f"select i1 {negative}, i64 {from_end}, i64 {index}")


def message(axis: int, of_tuple: bool) -> Type:
    """The arguments of the IndexError: leaves are the index and the size, or none."""
    if of_tuple:
        return TupleType((LiteralType("tuple index out of range"),))
    middle = f" is out of bounds for axis {axis} with size "
    return TupleType((FormatType(("index ", FormatHole(PYINT), middle, FormatHole(PYINT))),))


def checked(e: FunctionEmitter, op: Op, indices: Sequence[Text], sizes: Sequence[Text]) -> list[Text]:
    """The positions of the indices of a load, a store or an `index`, checked and wrapped as its attributes say."""
    attrs = op.attrs
    from_end = attrs.get("wrap", True) and len(indices) == 1 and indices[0][0] in "%-"
    if from_end and attrs.get("checked", True):
        return [_checked_from_end(e, op, indices[0], sizes[0])]
    places = [wrapped(e, i, n) for i, n in zip(indices, sizes)] if attrs.get("wrap", True) else list(indices)
    if not attrs.get("checked", True) or not indices:
        return places
    fits = [e.let(f"icmp ult i64 {place}, {size}") for place, size in zip(places, sizes)]
    every = fits[0]
    for other in fits[1:]:
        every = e.let(f"and i1 {every}, {other}")
    failing = e.branch(every, "range")
    first = attrs.get("axis", 0)
    assert isinstance(first, int)
    for position, (index, size) in enumerate(zip(indices, sizes)):
        args = message(first + position, bool(attrs.get("tuple")))
        payload = () if attrs.get("tuple") else (("i64", index), ("i64", size))
        if position + 1 < len(fits):
            here, failing_next = e.label("range"), e.label("range")
            e.cold += (f"{failing}:", f"  br i1 {fits[position]}, label %{failing_next}, label %{here}")
            raise_in(e, here, op, INDEX_ERROR, args, payload)
            failing = failing_next
        else:
            raise_in(e, failing, op, INDEX_ERROR, args, payload)
    return places


def _checked_from_end(e: FunctionEmitter, op: Op, index: Text, size: Text) -> Text:
    """An index that may count from the end: the hot path has one comparison, what is not in [0, n) is looked at aside."""
    inside, aside, failing = e.label("inside"), e.label("aside"), e.label("range")
    direct = e.let(f"icmp ult i64 {index}, {size}")
    hot = e.block
    e.lines.append(f"  br i1 {direct}, label %{inside}, label %{aside}, {LIKELY}")
    with e.cold_block(aside):
        from_end = e.let(f"add i64 {index}, {size}")
        # By signs: LLVM takes a comparison of the sum with a summand for a test of overflow, and walks the function once for each.
        turned = e.let(f"xor i64 {from_end}, -1")
        signs = e.let(f"and i64 {index}, {turned}")
        fits = e.let(f"icmp slt i64 {signs}, 0")
        e.lines.append(f"  br i1 {fits}, label %{inside}, label %{failing}")
    axis = op.attrs.get("axis", 0)
    assert isinstance(axis, int)
    of_tuple = bool(op.attrs.get("tuple"))
    payload = () if of_tuple else (("i64", index), ("i64", size))
    raise_in(e, failing, op, INDEX_ERROR, message(axis, of_tuple), payload)
    e.begin(inside)
    return e.let(f"phi i64 [ {index}, %{hot} ], [ {from_end}, %{aside} ]")


def _linear(e: FunctionEmitter, places: Sequence[Text], sizes: Sequence[Text]) -> Text:
    """The position in row-major order: Horner's rule over the dims."""
    position = places[0]
    for place, size in zip(places[1:], sizes[1:]):
        row = e.let(f"mul nuw nsw i64 {position}, {size}")
        position = e.let(f"add nuw nsw i64 {row}, {place}")
    return position


def address(e: FunctionEmitter, parts: Parts, type: ArrayType, places: Sequence[Text]) -> Text:
    """The address of an element; the places are inside the dims."""
    data = parts[0]
    if not places:
        return data
    if type.contiguous:
        sizes = dims(parts, type)
        if type.layout == "F":
            places, sizes = tuple(places)[::-1], sizes[::-1]
        position = _linear(e, places, sizes)
        return e.let(f"getelementptr inbounds nuw {element_text(type)}, ptr {data}, i64 {position}")
    offset = ""
    for place, stride in zip(places, strides(parts, type)):
        step = e.let(f"mul nsw i64 {place}, {stride}")
        offset = e.let(f"add nsw i64 {offset}, {step}") if offset else step
    return e.let(f"getelementptr inbounds i8, ptr {data}, i64 {offset}")
