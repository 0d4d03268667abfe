"""Arrays: their parts, access to elements, allocation, views, reference counts."""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir.core import Op, Value
from quadrants.ir.values import TOO_BIG
from quadrants.lower.abi import BLOCK_HEADER, memory_text
from quadrants.lower.address import address, array_type, checked, dims, strides
from quadrants.lower.analysis import MEMORY_ERROR, VALUE_ERROR
from quadrants.lower.emit import Emitter, FunctionEmitter, Parts, Text, owner_of, release
from quadrants.lower.errors import Word, raise_in, throw
from quadrants.lower.nodes import DATA
from quadrants.types import PYINT, ArrayType, FormatHole, FormatType, LiteralType, Scalar, TupleType, Type
from quadrants.types.dtypes import dtype_of

#: What LLVM asks of slots that hold vectors of 16 bytes: more would realign the frame. Arrays of whole cache lines, which may hold
#: vectors of 64 bytes, are worth that.
_FRAME_ALIGN = 16
_LINE = 64


def _dim(e: FunctionEmitter, op: Op) -> None:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    e.set(op, e.get(op.operands[0])[2 + axis])


def _stride(e: FunctionEmitter, op: Op) -> None:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    e.set(op, strides(e.get(op.operands[0]), array_type(op.operands[0]))[axis])


def element(e: FunctionEmitter, op: Op, first: int) -> tuple[Text, ArrayType]:
    """The address of the element of an access whose operand `first` is the array, followed by the indices."""
    type = array_type(op.operands[first])
    parts = e.get(op.operands[first])
    indices = [e.one(index) for index in op.operands[first + 1 :]]
    return address(e, parts, type, checked(e, op, indices, dims(parts, type))), type


def _imaginary(e: FunctionEmitter, at: Text, part: Scalar) -> Text:
    return e.let(f"getelementptr inbounds nuw i8, ptr {at}, i64 {part.itemsize}")


def load_at(e: FunctionEmitter, result: Value, at: Text, note: Text) -> None:
    """Load the element at an address."""
    assert isinstance(result.type, Scalar)
    part = result.type.part
    text, align = memory_text(part), part.itemsize
    value = e.let(f"load {text}, ptr {at}, align {align}, {note}")
    if result.type.is_complex:
        imaginary = _imaginary(e, at, part)
        e.parts[result] = (value, e.let(f"load {text}, ptr {imaginary}, align {align}, {note}"))
    else:
        e.parts[result] = (e.let(f"icmp ne i8 {value}, 0") if result.type.is_bool else value,)


def store_at(e: FunctionEmitter, stored: Value, at: Text, note: Text) -> None:
    """Store an element at an address."""
    assert isinstance(stored.type, Scalar)
    part = stored.type.part
    text, align = memory_text(part), part.itemsize
    parts = e.get(stored)
    value = e.let(f"zext i1 {parts[0]} to i8") if stored.type.is_bool else parts[0]
    e.line(f"store {text} {value}, ptr {at}, align {align}, {note}")
    if stored.type.is_complex:
        imaginary = _imaginary(e, at, part)
        e.line(f"store {text} {parts[1]}, ptr {imaginary}, align {align}, {note}")


def _load(e: FunctionEmitter, op: Op) -> None:
    at, _ = element(e, op, 0)
    load_at(e, op.results[0], at, DATA + e.aliasing.note(op.operands[0]))


def _store(e: FunctionEmitter, op: Op) -> None:
    at, _ = element(e, op, 1)
    store_at(e, op.operands[0], at, DATA + e.aliasing.note(op.operands[1]))


# Allocation


def _no_memory(type: ArrayType) -> Type:
    """The arguments of the MemoryError: the leaves are the dims."""
    parts: list[str | FormatHole] = ["unable to allocate an array with shape ("]
    for axis in range(type.ndim):
        parts += (FormatHole(PYINT), ", " if axis + 1 < type.ndim else ",)" if type.ndim == 1 else ")")
    if type.ndim == 0:
        parts.append(")")
    parts.append(f" and data type {dtype_of(type.dtype)}")
    return TupleType((FormatType(tuple(parts)),))


def _check_sizes(e: FunctionEmitter, op: Op, sizes: Sequence[Text]) -> None:
    """ValueError for a negative dimension."""
    unknown = [size for size in sizes if not size.isdigit()]
    if not unknown:
        return
    signs = unknown[0]
    for size in unknown[1:]:
        signs = e.let(f"or i64 {signs}, {size}")
    fits = e.let(f"icmp sgt i64 {signs}, -1")
    args = TupleType((LiteralType("negative dimensions are not allowed"),))
    raise_in(e, e.branch(fits, "negative"), op, VALUE_ERROR, args)


def _times(e: FunctionEmitter, a: Text, b: Text, overflow: Text) -> tuple[Text, Text]:
    """The product, and whether this one or an earlier one overflowed ("" if known not to have)."""
    if a.isdigit() and b.isdigit() and int(a) * int(b) < 1 << 63:
        return str(int(a) * int(b)), overflow
    if a == "1":
        return b, overflow
    both = e.let(f"call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {a}, i64 {b})")
    product = e.let(f"extractvalue {{ i64, i1 }} {both}, 0")
    new = e.let(f"extractvalue {{ i64, i1 }} {both}, 1")
    return product, e.let(f"or i1 {overflow}, {new}") if overflow else new


def _layout(e: FunctionEmitter, type: ArrayType, sizes: Sequence[Text]) -> tuple[Parts, Text]:
    """The strides of a new array, and its size in bytes (all ones if that overflows). Empty axes count as 1 in strides."""
    order = list(range(type.ndim)) if type.layout == "F" else list(range(type.ndim - 1, -1, -1))
    steps = [""] * type.ndim
    total, overflow, empty = str(type.dtype.itemsize), "", ""
    for axis in order:
        steps[axis] = total
        size = sizes[axis]
        if type.ndim > 1 and not (size.isdigit() and size != "0"):
            none = e.let(f"icmp eq i64 {size}, 0")
            empty = e.let(f"or i1 {empty}, {none}") if empty else none
            size = e.let(f"call i64 @llvm.umax.i64(i64 {size}, i64 1)")
        total, overflow = _times(e, total, size, overflow)
    if empty:
        total = e.let(f"select i1 {empty}, i64 0, i64 {total}")
    if overflow:  # as in NumPy, also when an axis is empty
        total = e.let(f"select i1 {overflow}, i64 -1, i64 {total}")
    return tuple(steps), total


def _alloc(e: FunctionEmitter, op: Op) -> None:
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    sizes = [e.one(size) for size in op.operands]
    if op.attr("stack"):
        _alloc_in_frame(e, op, type, sizes)
        return
    _check_sizes(e, op, sizes)
    steps, nbytes = _layout(e, type, sizes)
    allocate = e.module.counting("qd_alloc_zero" if op.attrs.get("zero") else "qd_alloc", f"i64 {nbytes}")
    owner = e.let(f"call ptr {allocate}")
    found = e.let(f"icmp ne ptr {owner}, null")
    _refuse(e, op, e.branch(found, "memory"), sizes, nbytes)
    data = e.let(f"getelementptr inbounds nuw i8, ptr {owner}, i64 {BLOCK_HEADER}")
    e.parts[op.results[0]] = (data, owner, *sizes, *steps)
    e.aliasing.allocated(op.results[0])


def _refuse(e: FunctionEmitter, op: Op, label: str, sizes: Sequence[Text], nbytes: Text) -> None:
    """The cold block for an array that was not made: ValueError where no machine could, as in NumPy, else MemoryError."""
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    payload: list[Word] = [("i64", size) for size in sizes]
    huge = ""
    with e.cold_block(label):
        if not nbytes.isdigit():
            huge = e.branch(e.let(f"icmp sgt i64 {nbytes}, -1"), "huge")
        throw(e, op, MEMORY_ERROR, _no_memory(type), payload)
    if huge:
        raise_in(e, huge, op, VALUE_ERROR, TupleType((LiteralType(TOO_BIG),)))


def _alloc_in_frame(e: FunctionEmitter, op: Op, type: ArrayType, sizes: Sequence[Text]) -> None:
    """A small array of constant size, in the function's frame: LLVM may keep its elements in registers."""
    steps, nbytes = _layout(e, type, sizes)
    align = _LINE if nbytes.isdigit() and int(nbytes) % _LINE == 0 else _FRAME_ALIGN
    slot = e.temp()
    e.entry.append(f"  {slot} = alloca [{nbytes} x i8], align {align}")
    if op.attr("zero"):
        e.line(f"call void @llvm.memset.p0.i64(ptr align {align} {slot}, i8 0, i64 {nbytes}, i1 false)")
    e.parts[op.results[0]] = (slot, "null", *sizes, *steps)


def _view(e: FunctionEmitter, op: Op) -> None:
    source = e.get(op.operands[0])
    offset = e.one(op.operands[1])
    # Not `inbounds`: an empty view may begin anywhere.
    data = source[0] if offset == "0" else e.let(f"getelementptr i8, ptr {source[0]}, i64 {offset}")
    e.parts[op.results[0]] = (data, source[1], *(e.one(value) for value in op.operands[2:]))
    e.aliasing.view(op.results[0], op.operands[0])


# Identity and overlap


def _same(e: FunctionEmitter, op: Op) -> None:
    """By data, dims and strides; arrays of different ranks are never the same."""
    a, b = (array_type(operand) for operand in op.operands)
    if a.ndim != b.ndim or a.dtype != b.dtype:
        e.set(op, "false")
        return
    first, second = e.get(op.operands[0]), e.get(op.operands[1])
    answer = e.let(f"icmp eq ptr {first[0]}, {second[0]}")
    for x, y in zip(first[2:], second[2:]):
        equal = e.let(f"icmp eq i64 {x}, {y}")
        answer = e.let(f"and i1 {answer}, {equal}")
    e.set(op, answer)


def _extent(e: FunctionEmitter, parts: Parts, type: ArrayType) -> tuple[Text, Text, Text]:
    """The first address, the one behind the last, and whether there is any element ("" if there always is)."""
    data = e.let(f"ptrtoint ptr {parts[0]} to i64")
    low, high, some = "", str(type.dtype.itemsize), ""
    if type.contiguous:
        for size in dims(parts, type):
            high = e.let(f"mul i64 {high}, {size}")
        return data, e.let(f"add i64 {data}, {high}"), e.let(f"icmp ne i64 {high}, 0") if type.ndim else ""
    for size, step in zip(dims(parts, type), strides(parts, type)):
        last = e.let(f"sub i64 {size}, 1")
        reach = e.let(f"mul i64 {last}, {step}")
        down = e.let(f"call i64 @llvm.smin.i64(i64 {reach}, i64 0)")
        low = e.let(f"add i64 {low}, {down}") if low else down
        up = e.let(f"call i64 @llvm.smax.i64(i64 {reach}, i64 0)")
        high = e.let(f"add i64 {high}, {up}")
        nonempty = e.let(f"icmp sgt i64 {size}, 0")
        some = e.let(f"and i1 {some}, {nonempty}") if some else nonempty
    begin = e.let(f"add i64 {data}, {low}") if low else data
    return begin, e.let(f"add i64 {data}, {high}"), some


def _overlap(e: FunctionEmitter, op: Op) -> None:
    (low1, high1, some1), (low2, high2, some2) = (
        _extent(e, e.get(operand), array_type(operand)) for operand in op.operands
    )
    answer = e.let(f"icmp ult i64 {low1}, {high2}")
    for condition in (e.let(f"icmp ult i64 {low2}, {high1}"), some1, some2):
        if condition:
            answer = e.let(f"and i1 {answer}, {condition}")
    e.set(op, answer)


def _retain(e: FunctionEmitter, op: Op) -> None:
    owner = owner_of(e, op.operands[0])
    e.line(f"call void {e.module.counting('qd_retain', f'ptr {owner}')}")


def _release(e: FunctionEmitter, op: Op) -> None:
    release(e, op.operands[0])


def _index(e: FunctionEmitter, op: Op) -> None:
    index, size = e.one(op.operands[0]), e.one(op.operands[1])
    (place,) = checked(e, op, [index], [size])
    e.set(op, place)


EMITTERS: dict[str, Emitter] = {
    "dim": _dim,
    "stride": _stride,
    "load": _load,
    "store": _store,
    "index": _index,
    "alloc": _alloc,
    "view": _view,
    "same": _same,
    "overlap": _overlap,
    "retain": _retain,
    "release": _release,
}
