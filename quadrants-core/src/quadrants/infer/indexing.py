"""Subscripts of arrays: elements, and views made by integers, slices, newaxis and ellipsis; Boolean masks go to the library.

A view is pure arithmetic on dims and strides (`view` in QIR); the layout of its type is what can be proven here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

import numpy as np

from quadrants._frozen import record
from quadrants.diagnostics import Code
from quadrants.infer import scalars
from quadrants.infer.elementwise import assign_into, check_writeable
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.merge import Number
from quadrants.infer.values import Abstract, Arr, Const, List, ListDisplay, Num, SliceValue, Tup
from quadrants.ir import Value
from quadrants.types import BOOL, I64, ArrayType, Scalar

#: The classes of NumPy's objects that are made to be indexed -> the library's function of the index.
GRIDS: Mapping[type, str] = MappingProxyType(
    {
        type(np.mgrid): "grids:mgrid",
        type(np.ogrid): "grids:ogrid",
        type(np.r_): "grids:r_",
        type(np.c_): "grids:c_",
        type(np.s_): "grids:itself",
    }
)


def index_items(index: Abstract) -> tuple[Abstract, ...]:
    """The items between the brackets."""
    return index.items if isinstance(index, Tup) else (index,)


def get_item(w: Emitter, base: Arr, index: Abstract) -> Abstract:
    """`base[index]`."""
    items = _prepared(w, index)
    if any(_is_mask(item) for item in items):
        return _masked(w, base, items)
    if any(_is_index_array(item) for item in items):
        return _fancy(w, base, items)
    dots = any(_is_constant(item, Ellipsis) for item in items)
    items = _expand(w, base.array, items)
    if len(items) == base.array.ndim and all(_is_integer(item) for item in items) and not dots:
        return load(w, base, [w.integer(item) for item in items])
    return make_view(w, base, items, (base.value, index))


def _prepared(w: Emitter, index: Abstract) -> tuple[Abstract, ...]:
    """The items between the brackets: integer arrays of rank 0 as integers, masks among several items as index arrays."""
    items = tuple(
        load(w, item, []) if isinstance(item, Arr) and item.array.ndim == 0 and item.array.dtype.is_integer else item
        for item in (_listed(w, w.unwrap(item)) for item in index_items(index))
    )
    if len(items) == 1:
        return items
    prepared: list[Abstract] = []
    for item in items:
        if isinstance(item, Arr) and _is_mask(item) and item.array.ndim:
            found = w.call_library("searching:nonzero", item)
            assert isinstance(found, Tup)
            prepared += found.items
        else:
            prepared.append(item)
    return tuple(prepared)


def _listed(w: Emitter, item: Abstract) -> Abstract:
    """A list of Booleans as a mask, an empty list as an array of no integers."""
    if isinstance(item, ListDisplay) and not item.items:
        return w.call_library("creation:array", item, Const(np.dtype(np.int64)))
    if isinstance(item, ListDisplay) and all(map(_is_mask, item.items)):
        return w.call_library("creation:array", item)
    return item


def load(w: Emitter, base: Arr, indices: list[Value]) -> Num:
    """One element."""
    checked = w.options.boundscheck
    return Num(base.array.dtype, w.b.value("load", base.value, *indices, checked=checked, wrap=True))


def set_item(w: Emitter, base: Arr, index: Abstract, value: Abstract) -> None:
    """`base[index] = value`."""
    refuse_readonly(w, base)
    items = _prepared(w, index)
    if isinstance(value, Arr) and value.origin is not None and _same_place(value.origin, base, index):
        return  # `a[i:j] += x` has updated the view in place already
    if any(_is_mask(item) for item in items):
        _set_masked(w, base, items, value)
        return
    if any(_is_index_array(item) for item in items):
        w.call_library("indexing:set_fancy", base, _only(items), _as_operand(w, value))
        return
    items = _expand(w, base.array, items)
    if len(items) == base.array.ndim and all(_is_integer(item) for item in items):
        store(w, base, [w.integer(item) for item in items], value)
        return
    target = make_view(w, base, items, None)
    assign_into(w, target, value, scalars.item)


def refuse_readonly(w: Emitter, base: Arr) -> None:
    """The error for a store into an array that may not be written."""
    check_writeable(w, base, "assignment destination is read-only")


def store(w: Emitter, base: Arr, indices: list[Value], value: Abstract) -> None:
    """Write one element, converted as NumPy's assignment converts."""
    convert = scalars.sized if isinstance(value, Arr) else scalars.item  # arrays of rank 0 are converted as arrays are
    register = convert(w, _element(w, value, base.array.dtype), base.array.dtype)
    w.b.op("store", register, base.value, *indices, checked=w.options.boundscheck, wrap=True)


def _element(w: Emitter, value: Abstract, dtype: Scalar) -> Abstract:
    if isinstance(value, Arr) and value.array.ndim == 0:
        return load(w, value, [])
    if isinstance(value, (Arr, Tup, ListDisplay, List)):
        types, hint = [("value", value.type)], f"The place holds one {describe(dtype)}: assign a number, or to a slice."
        w.wrong(ValueError, "setting an array element with a sequence.", Code.TYPE_MISMATCH, types=types, hint=hint)
    scalar = scalar_type(value)
    if scalar is None:
        value = w.num(value)
        scalar = value.scalar
    if scalar.is_complex and not dtype.is_complex:
        fail(
            Code.BAD_CONVERSION,
            f"a complex number cannot be stored in an array of {describe(dtype)}",
            hint="Store its .real or its abs().",
        )
    return value


def _same_place(origin: object, base: Arr, index: Abstract) -> bool:
    return isinstance(origin, tuple) and origin[0] is base.value and _same_index(origin[1], index)


def _same_index(first: object, second: Abstract) -> bool:
    """Whether two indices came out of one expression. CPython makes a slice twice from 3.12 on, of the same three parts."""
    if isinstance(first, SliceValue) and isinstance(second, SliceValue):
        parts = ((first.start, second.start), (first.stop, second.stop), (first.step, second.step))
        return all(map(_same_part, parts))
    return first is second


def _same_part(parts: tuple[Abstract, Abstract]) -> bool:
    one, other = parts
    if isinstance(one, Const) and isinstance(other, Const):
        return one.value == other.value
    return type(one) is type(other) and one.leaves == other.leaves


def _is_integer(item: Abstract) -> bool:
    scalar = scalar_type(item)
    return scalar is not None and scalar.is_integer


def _is_mask(item: Abstract) -> bool:
    if isinstance(item, Arr):
        return item.array.dtype == BOOL
    scalar = scalar_type(item)
    return scalar is not None and scalar.is_bool


def _is_index_array(item: Abstract) -> bool:
    return (isinstance(item, Arr) and item.array.dtype.is_integer and item.array.ndim > 0) or isinstance(
        item, ListDisplay
    )


def _only(items: tuple[Abstract, ...]) -> Abstract:
    return items[0] if len(items) == 1 else Tup(items)


def _as_operand(w: Emitter, value: Abstract) -> Abstract:
    return value if isinstance(value, Arr) else w.num(value)


def _masked(w: Emitter, base: Arr, items: tuple[Abstract, ...]) -> Abstract:
    return w.call_library("indexing:get_masked", base, _mask(w, base, items))


def _set_masked(w: Emitter, base: Arr, items: tuple[Abstract, ...], value: Abstract) -> None:
    w.call_library("indexing:set_masked", base, _mask(w, base, items), _as_operand(w, value))


def _mask(w: Emitter, base: Arr, items: tuple[Abstract, ...]) -> Abstract:
    if len(items) != 1 or not isinstance(items[0], Arr):
        fail(
            Code.BAD_INDEX,
            "a Boolean mask has to be an array and the only index",
            hint="Combine masks with &, or index in two steps: a[mask][:, j].",
        )
    if items[0].array.ndim > base.array.ndim:
        mask = items[0].array
        text = f"too many indices for array: array is {base.array.ndim}-dimensional, but {mask.ndim} were indexed"
        w.wrong(IndexError, text, Code.BAD_INDEX, types=[("array", base.array), ("mask", mask)])
    return items[0]


def _fancy(w: Emitter, base: Arr, items: tuple[Abstract, ...]) -> Abstract:
    return w.call_library("indexing:get_fancy", base, _only(items))


def _expand(w: Emitter, array: ArrayType, items: tuple[Abstract, ...]) -> tuple[Abstract, ...]:
    """The items with the ellipsis, and what is left out at the end, written out as full slices."""
    full = SliceValue(Const(None), Const(None), Const(None))
    for item in items:
        valid = (
            _is_integer(item)
            or isinstance(item, SliceValue)
            or _is_constant(item, None)
            or _is_constant(item, Ellipsis)
        )
        if not valid:
            fail(
                Code.BAD_INDEX,
                f"{describe(item)} cannot index an array",
                hint="Convert it with int(...)."
                if scalar_type(item) is not None
                else "Indices are integers, slices, None, ..., Boolean or integer arrays.",
                at=item,
            )
    used = sum(not _is_constant(item, None) and not _is_constant(item, Ellipsis) for item in items)
    if used > array.ndim:
        text = f"too many indices for array: array is {array.ndim}-dimensional, but {used} were indexed"
        w.wrong(IndexError, text, Code.BAD_INDEX, types=[("array", array)], hint="Use one index for each axis at most.")
    dots = [position for position, item in enumerate(items) if _is_constant(item, Ellipsis)]
    if len(dots) > 1:
        w.wrong(IndexError, "an index can only have a single ellipsis ('...')", Code.BAD_INDEX)
    at = dots[0] if dots else len(items)
    rest = items[at + 1 :] if dots else ()
    return (*items[:at], *[full] * (array.ndim - used), *rest)


def _is_constant(item: Abstract, value: object) -> bool:
    return isinstance(item, Const) and item.value is value


@record
class _ViewShape:
    """What a view is made of, axis by axis."""

    offset: Value
    dims: list[Value] = field(default_factory=list)
    strides: list[Value] = field(default_factory=list)
    kinds: list[str] = field(
        default_factory=list
    )  # of the base's axes, in order: "i", "full", "part", "step"; "n" is new


def make_view(w: Emitter, base: Arr, items: tuple[Abstract, ...], origin: object) -> Arr:
    """The view that the expanded items select."""
    shape = _ViewShape(w.b.i64(0))
    axis = 0
    for item in items:
        if _is_constant(item, None):
            shape.dims.append(w.b.i64(1))
            shape.strides.append(w.b.i64(base.array.dtype.itemsize))
            shape.kinds.append("n")
            continue
        dim = w.b.value("dim", base.value, axis=axis)
        stride = w.b.value("stride", base.value, axis=axis)
        if isinstance(item, SliceValue):
            _slice_axis(w, shape, item, dim, stride)
        else:
            checked = w.options.boundscheck
            position = w.b.value("index", w.integer(item), dim, axis=axis, checked=checked, wrap=True)
            shape.offset = _advance(w, shape.offset, position, stride)
            shape.kinds.append("i")
        axis += 1
    layout = _view_layout(base.array, shape.kinds)
    array = replace(base.array, ndim=len(shape.dims), layout=layout)
    return Arr(array, w.b.value("view", base.value, shape.offset, *shape.dims, *shape.strides, type=array), origin)


def _advance(w: Emitter, offset: Value, steps: Value, stride: Value) -> Value:
    return w.b.value("add", offset, w.b.value("mul", steps, stride))


def _slice_axis(w: Emitter, shape: _ViewShape, item: SliceValue, dim: Value, stride: Value) -> None:
    if all(_is_constant(bound, None) for bound in (item.start, item.stop, item.step)):
        shape.dims.append(dim)
        shape.strides.append(stride)
        shape.kinds.append("full")
        return
    start, count, step, constant_step = slice_bounds(w, item, dim)
    shape.offset = _advance(w, shape.offset, start, stride)
    shape.dims.append(count)
    shape.strides.append(stride if constant_step == 1 else w.b.value("mul", stride, step))
    shape.kinds.append("part" if constant_step == 1 else "step")


def slice_bounds(w: Emitter, item: SliceValue, n: Value) -> tuple[Value, Value, Value, int | None]:
    """(start, count, step, the step if it is constant) of a slice of `n` items, as `slice.indices` gives them."""
    step_const = 1 if _is_constant(item.step, None) else item.step.value if isinstance(item.step, Const) else None
    if step_const == 0 and not isinstance(step_const, bool):
        w.check(w.b.bool(False), ValueError, "slice step cannot be zero")
    step = w.b.i64(step_const) if isinstance(step_const, int) else w.integer(item.step, "a slice step")
    if step_const is None:
        w.check(w.b.value("cmp", step, w.b.i64(0), pred="ne"), ValueError, "slice step cannot be zero")
    if step_const == 1:
        start = _clamp_up(w, item.start, n, w.b.i64(0))
        stop = _clamp_up(w, item.stop, n, n)
        count = w.b.value("max", w.b.value("sub", stop, start), w.b.i64(0))
        return start, count, step, 1
    start_none = Const(None) if _is_constant(item.start, None) else Num(I64, w.integer(item.start, "a slice bound"))
    stop_none = Const(None) if _is_constant(item.stop, None) else Num(I64, w.integer(item.stop, "a slice bound"))
    bounds = w.call_library("indexing:slice_bounds", start_none, stop_none, Num(I64, step), Num(I64, n))
    assert isinstance(bounds, Tup)
    return (
        w.integer(bounds.items[0]),
        w.integer(bounds.items[1]),
        step,
        step_const if isinstance(step_const, int) else None,
    )


def _clamp_up(w: Emitter, bound: Abstract, n: Value, default: Value) -> Value:
    """A bound of a slice with step 1: negative ones count from the end, then clipped to [0, n]."""
    if _is_constant(bound, None):
        return default
    v = w.b.value
    if isinstance(bound, Const) and isinstance(bound.value, Number):
        value = w.integer(bound, "a slice bound")
        if not isinstance(bound.value, int) or bound.value < 0:
            return v("max", v("add", n, value), w.b.i64(0))
        return default if bound.value == 0 and default is not n else v("min", value, n)
    value = w.integer(bound, "a slice bound")
    negative = v("cmp", value, w.b.i64(0), pred="lt")
    wrapped = v("select", negative, v("max", v("add", value, n), w.b.i64(0)), value)
    return v("min", wrapped, n)


def _view_layout(base: ArrayType, kinds: list[str]) -> str:
    """The layout that the view provably has.

    A C-contiguous base gives a C-contiguous view when, from the left, come integers, then at most one slice of step 1, then
    full slices; an F-contiguous base likewise from the right.
    """
    if base.layout == "A":
        return "A" if any(kind != "i" for kind in kinds) else "C"
    order = kinds if base.layout == "C" else kinds[::-1]
    seen_slice = False
    for kind in order:
        if kind == "n":
            return "A"
        if kind == "step" or (kind in ("i", "part") and seen_slice):
            return "A"
        seen_slice = seen_slice or kind in ("full", "part")
    rank = sum(kind != "i" for kind in kinds)
    return base.layout if rank > 1 else "C"
