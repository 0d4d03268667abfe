"""Other shapes of the same elements: reshape, ravel, flatten, view, item.

A reshaped array is a view wherever NumPy gives one. That is known when compiling for C order and for one axis; for other
arrays the strides decide at run time (`library.reshaping`).
"""

from __future__ import annotations

from dataclasses import replace

from quadrants.diagnostics import Code
from quadrants.infer import attributes, convert, indexing, sequences
from quadrants.infer.allocation import Args, Keywords, arguments, copy, given, unknown_order
from quadrants.infer.emitter import Emitter, fail, scalar_type
from quadrants.infer.values import Abstract, Arr, Const, Num, Text, Tup
from quadrants.ir import Value
from quadrants.types import PYINT, FormatHole, FormatType

#: The message about a shape of more dimensions does not say it.
_MOST_DIMS_IN_TEXT = 8


def _negative(part: Abstract) -> bool:
    return isinstance(part, Const) and isinstance(part.value, int) and part.value < 0


def _mismatch(total: Value, dims: list[Value], parts: list[Abstract]) -> Abstract:
    """The message for sizes that differ. As in NumPy's, unknown dimensions at the front are left out."""
    if len(dims) > _MOST_DIMS_IN_TEXT:
        return Const("cannot reshape array: the sizes differ")
    number = FormatHole(PYINT)
    pieces: list[str | FormatHole] = ["cannot reshape array of size ", number, " into shape ("]
    values = [total]
    for dim, part in zip(dims, parts):
        if _negative(part) and len(values) == 1:
            continue
        if len(values) > 1:
            pieces.append(",")
        pieces.append("newaxis" if _negative(part) else number)
        if not _negative(part):
            values.append(dim)
    pieces.append(",)" if len(dims) == 1 else ")")
    return Text(FormatType(tuple(pieces)), tuple(values))


def known_dims(w: Emitter, total: Value, parts: list[Abstract]) -> list[Value]:
    """The dimensions, an unknown one (negative) computed from the others; checks that they hold `total` elements."""
    v, zero, one = w.b.value, w.b.i64(0), w.b.i64(1)
    dims = [w.integer(part, "a dimension") for part in parts]
    if sum(map(_negative, parts)) > 1:
        hint = "Write the sizes of the other axes as numbers."
        w.wrong(ValueError, "can only specify one unknown dimension", Code.BAD_SHAPE, hint=hint)
    open_ = [k for k, part in enumerate(parts) if _negative(part) or not isinstance(part, Const)]
    unknown = {k: v("cmp", dims[k], zero, pred="lt") for k in open_}
    count, known = zero, one
    for k, dim in enumerate(dims):
        if k in unknown:
            count = v("add", count, v("select", unknown[k], one, zero))
        known = v("mul", known, v("select", unknown[k], one, dim) if k in unknown else dim)
    if len(open_) > 1:
        w.check(v("cmp", count, one, pred="le"), ValueError, "can only specify one unknown dimension")
    found = v("floordiv", total, v("max", known, one))
    result = [v("select", unknown[k], found, dim) if k in unknown else dim for k, dim in enumerate(dims)]
    product = one
    for dim in result:
        product = v("mul", product, dim)
    fits = v("cmp", product, total, pred="eq")
    if open_:  # nothing times zero gives the size
        undecided = v("and", v("cmp", known, zero, pred="eq"), v("cmp", count, zero, pred="gt"))
        fits = v("and", fits, v("not", undecided))
    w.check(fits, ValueError, _mismatch(total, dims, parts))
    return result


def reshape(w: Emitter, value: Arr, parts: list[Abstract], order: str = "C") -> Arr:
    """The array with the dimensions `parts`, one of which may be -1."""
    if order == "F":
        flipped = reshape(w, attributes.transposed(w, value, _reversed(value)), parts[::-1])
        return attributes.transposed(w, flipped, _reversed(flipped))
    dims = known_dims(w, attributes.size(w, value), parts)
    if value.array.layout == "C":
        return attributes.contiguous_view(w, value, dims)
    if value.array.ndim == 1:
        step = w.b.value("stride", value.value, axis=0)
        return attributes.strided_view(w, value, dims, step, "A")
    shape = Tup(tuple(Num(PYINT, dim) for dim in dims))
    result = w.call_library("reshaping:reshaped", value, shape)
    assert isinstance(result, Arr)
    return result


def _reversed(value: Arr) -> tuple[int, ...]:
    return tuple(reversed(range(value.array.ndim)))


def _order(w: Emitter, value: Arr, given_: Abstract) -> str:
    """ "C" or "F" of an order argument; "A" and "K" by the layout."""
    if not given(given_):
        return "C"
    order = given_.value if isinstance(given_, Const) else None
    if order in ("A", "K"):
        if order == "K" and value.array.layout == "A" and value.array.ndim > 1:
            fail(Code.BAD_ARGUMENTS, "order='K' of an array with any strides is not supported", hint="Use 'C' or 'F'.")
        return "F" if value.array.layout == "F" else "C"
    if order in ("C", "F"):
        return str(order)
    unknown_order(w, given_)


def reshape_call(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    """`a.reshape(...)`."""
    order = keywords.pop("order", Const(None))
    for name in ("shape", "newshape"):
        if name in keywords:
            args = (keywords.pop(name), *args)
    if keywords:
        fail(Code.BAD_ARGUMENTS, f"reshape() got an unexpected keyword argument '{next(iter(keywords))}'")
    if args and isinstance(args[-1], Const) and isinstance(args[-1].value, str):
        *rest, order = args
        args = tuple(rest)
    parts: list[Abstract] = [w.unwrap(arg) for arg in args]
    if len(parts) == 1 and not scalar_type(parts[0]):
        parts = list(sequences.as_items(w, parts[0]))
    return reshape(w, value, parts, _order(w, value, order))


def ravel(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    """`a.ravel()`: a view where the elements are contiguous in the order."""
    order = _order(w, value, arguments("ravel", ("order",), args, keywords, 0)["order"])
    if order == "F":
        value = attributes.transposed(w, value, _reversed(value))
    if value.array.layout != "C":
        return w.call_library("reshaping:raveled", value)
    return attributes.contiguous_view(w, value, [attributes.size(w, value)])


def flatten(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    """`a.flatten()`: always a copy."""
    order = _order(w, value, arguments("flatten", ("order",), args, keywords, 0)["order"])
    if order == "F":
        value = attributes.transposed(w, value, _reversed(value))
    fresh = copy(w, value)
    return attributes.contiguous_view(w, fresh, [attributes.size(w, fresh)])


def item(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    """`a.item(...)`: one element, as a Python number."""
    if len(args) == 1 and isinstance(args[0], Tup):
        args = args[0].items
    if not args and value.array.ndim:
        one = w.b.value("cmp", attributes.size(w, value), w.b.i64(1), pred="eq")
        w.check(one, ValueError, "can only convert an array of size 1 to a Python scalar")
        args = (Const(0),) * value.array.ndim
    elif len(args) == 1 and value.array.ndim != 1:
        index = w.call_library(
            "reshaping:flat_place", Num(PYINT, w.integer(args[0])), attributes.get_attr(w, value, "shape")
        )
        assert isinstance(index, Tup)
        args = index.items
    if len(args) != value.array.ndim:
        types = [("array", value.array)]
        w.wrong(ValueError, "incorrect number of indices for array", Code.BAD_INDEX, types=types)
    return convert.to_python(w, indexing.load(w, value, [w.integer(arg) for arg in args]))


def view(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    """`a.view(dtype)`: the same bytes as elements of another type."""
    wanted = arguments("view", ("dtype",), args, keywords, 0)["dtype"]
    dtype = convert.as_dtype(wanted) if given(wanted) else value.array.dtype
    old, new = value.array.dtype.itemsize, dtype.itemsize
    dims, strides = attributes.dims(w, value), attributes.strides(w, value)
    layout = value.array.layout
    if new != old:
        if not dims:
            w.fails(ValueError, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        _resize_last(w, dims, strides, old, new)
        layout = "C" if layout == "C" or len(dims) == 1 else "A"
    array = replace(value.array, dtype=dtype, layout=layout)
    return Arr(array, w.b.value("view", value.value, w.b.i64(0), *dims, *strides, type=array))


def _resize_last(w: Emitter, dims: list[Value], strides: list[Value], old: int, new: int) -> None:
    """The last axis in elements of another size: it has to be contiguous."""
    v = w.b.value
    adjacent = v("cmp", strides[-1], w.b.i64(old), pred="eq")
    text = "To change to a dtype of a different size, the last axis must be contiguous"
    w.check(adjacent, ValueError, text)
    size = v("mul", dims[-1], w.b.i64(old))
    if new > old:
        whole = v("cmp", v("mod", size, w.b.i64(new)), w.b.i64(0), pred="eq")
        text = (
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of "
            "the array."
        )
        w.check(whole, ValueError, text)
    dims[-1] = v("floordiv", size, w.b.i64(new))
    strides[-1] = w.b.i64(new)
