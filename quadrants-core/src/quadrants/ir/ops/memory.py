"""Arrays: a value of an array type is base, owner, dims and strides (in bytes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.values import InterpArray, Raised, Undefined, new_array
from quadrants.types import BOOL, I64, ArrayType, Type

if TYPE_CHECKING:
    from quadrants.ir.core import Op

CHECKED = Attr("checked", AttrKind.BOOL, required=False, default=True)
WRAP = Attr("wrap", AttrKind.BOOL, required=False, default=True)


def _axis(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    array = rules.array(types[0])
    axis = rules.attr_int(attrs, "axis")
    if not 0 <= axis < array.ndim:
        raise TypeError(f"axis {axis} of {array}")
    return (I64,)


def _indices(array: ArrayType, types: rules.Types) -> None:
    if len(types) != array.ndim:
        raise TypeError(f"{array} takes {array.ndim} indices, not {len(types)}")
    rules.all_i64(types, "an index")


def _load(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if not types:
        raise TypeError("takes an array and its indices")
    array = rules.array(types[0], "the first operand")
    _indices(array, types[1:])
    return (array.dtype,)


def _store(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    if len(types) < 2:
        raise TypeError("takes a value, an array and its indices")
    array = rules.array(types[1], "the second operand")
    if types[0] != array.dtype:
        raise TypeError(f"stores {types[0]} into {array}")
    if array.readonly:
        raise TypeError(f"stores into {array}, which is read-only")
    _indices(array, types[2:])
    return ()


def _alloc(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    array = rules.array(rules.attr_type(attrs, "type"), "attribute 'type'")
    if array.layout not in ("C", "F"):
        raise TypeError(f"allocates a contiguous array, not {array}")
    rules.count(types, array.ndim)
    rules.all_i64(types, "a dimension")
    return (array,)


def _view(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    result = rules.array(rules.attr_type(attrs, "type"), "attribute 'type'")
    rules.count(types, 2 + 2 * result.ndim)
    source = rules.array(types[0], "the first operand")
    rules.all_i64(types[1:], "the offset, a dimension or a stride")
    if source.readonly and not result.readonly:
        raise TypeError(f"{result} would be a writable view of {source}")
    return (result,)


def _pair(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 2)
    for type in types:
        rules.array(type)
    return (BOOL,)


def _count_reference(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 1)
    if not types[0].heap:
        raise TypeError(f"counts references to arrays, not to {types[0]}")
    return ()


def _has_check(op: Op) -> bool:
    """An access to an array of rank 0 has no index to check."""
    return bool(op.attr("checked")) and op.operands[-1].type == I64


def element_index(index: int, size: int, axis: int, op: Op, message: str = "") -> int:
    """The index in [0, size) that an index with the attributes of `op` means; raises what the program raises."""
    checked, wraps = op.attr("checked"), op.attr("wrap")
    place = index + size if wraps and index < 0 else index
    if 0 <= place < size:
        return place
    if not checked:
        raise Undefined(f"the unchecked index {index} is outside of the size {size}")
    raise Raised(
        "builtins:IndexError", (message or f"index {index} is out of bounds for axis {axis} with size {size}",)
    )


def _places(op: Op, array: InterpArray, indices: tuple[int, ...]) -> list[int]:
    return [element_index(i, n, axis, op) for axis, (i, n) in enumerate(zip(indices, array.dims))]


def _load_element(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    array, *indices = values
    return (array.load(_places(op, array, tuple(indices))),)


def _store_element(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    value, array, *indices = values
    array.store(value, _places(op, array, tuple(indices)))
    return ()


def _allocate(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    array = new_array(type, values, zero=bool(op.attr("zero")))
    if op.attr("stack"):
        assert array.block is not None
        array.block.external = True
    return (array,)


def _may_fail(op: Op) -> bool:
    return not op.attr("stack")


def _make_view(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    type = op.attrs["type"]
    assert isinstance(type, ArrayType)
    source, offset, *rest = values
    dims, strides = tuple(rest[: type.ndim]), tuple(rest[type.ndim :])
    if any(dim < 0 for dim in dims):
        raise Undefined(f"a view with the dims {dims}")
    view = InterpArray(type, source.block, source.offset + offset, dims, strides)
    if 0 not in dims:
        low, high = view.bounds()
        if view.block is None or low < 0 or high > view.block.data.nbytes:
            raise Undefined("a view outside of its memory")
        if not layout_holds(view):
            raise Undefined(f"a view with dims {dims} and strides {strides} is not an {type}")
    return (view,)


def layout_holds(array: InterpArray) -> bool:
    """Whether the layout of the type is true of the strides (of those that matter: of dims above 1)."""
    if array.type.layout == "A" or 0 in array.dims:
        return True
    expected = array.type.dtype.itemsize
    axes = range(array.type.ndim)
    for axis in axes if array.type.layout == "F" else reversed(axes):
        if array.dims[axis] != 1 and array.strides[axis] != expected:
            return False
        expected *= array.dims[axis]
    return True


def _is_same(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    a, b = values
    key = [(x.block, x.offset, x.dims, x.strides, x.type.dtype) for x in (a, b)]
    return (key[0] == key[1],)


def _may_overlap(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    a, b = values
    (low_a, high_a), (low_b, high_b) = a.bounds(), b.bounds()
    empty = low_a == high_a or low_b == high_b
    return (a.block is b.block and not empty and low_a < high_b and low_b < high_a,)


def _retain(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    (array,) = (getattr(value, "value", value) for value in values)
    if array.block is not None:
        array.block.retain()
    return ()


def _release(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    (array,) = (getattr(value, "value", value) for value in values)
    if array.block is not None:
        array.block.release()
    return ()


_AXIS = (Attr("axis", AttrKind.INT),)
_INDEXED = (CHECKED, WRAP)

DEFS = (
    OpDef(
        "dim",
        _axis,
        reference=lambda op, values: (values[0].dims[op.attrs["axis"]],),
        attrs=_AXIS,
        doc="The size along an axis.",
        derivative="none: integers",
    ),
    OpDef(
        "stride",
        _axis,
        reference=lambda op, values: (values[0].strides[op.attrs["axis"]],),
        attrs=_AXIS,
        doc="The distance in bytes between neighbours along an axis.",
        derivative="none: integers",
    ),
    OpDef(
        "load",
        _load,
        reference=_load_element,
        effects=Effect.READS | Effect.RAISES,
        may_raise=_has_check,
        attrs=_INDEXED,
        doc="An element. `checked`: IndexError out of range (first failing axis), after negative indices wrap if `wrap`. "
        "Unchecked, an index is in [-n, n) if `wrap`, else in [0, n); outside, undefined: guarded by whoever cleared `checked`.",
        derivative="load from the derivative's array",
    ),
    OpDef(
        "store",
        _store,
        reference=_store_element,
        effects=Effect.WRITES | Effect.RAISES,
        may_raise=_has_check,
        attrs=_INDEXED,
        doc="Write an element: (value, array, indices). Indices as in load.",
        derivative="store into the derivative's array",
    ),
    OpDef(
        "alloc",
        _alloc,
        reference=_allocate,
        effects=Effect.ALLOCATES | Effect.RAISES,
        may_raise=_may_fail,
        attrs=(
            Attr("type", AttrKind.TYPE),
            Attr("zero", AttrKind.BOOL, required=False, default=False),
            Attr("stack", AttrKind.BOOL, required=False, default=False),
        ),
        doc="A new contiguous array. ValueError for a negative dimension or 2**63 bytes and more, MemoryError when there is no "
        "memory. Elements are 0 if `zero`, else "
        "undefined until written. In strides, a dimension of 0 counts as 1. `stack`: it is small, of constant size, and "
        "nothing refers to it once its function, or the turn of the loop around it, is over; references are not counted.",
        derivative="alloc of the derivative's array, zeroed",
    ),
    OpDef(
        "view",
        _view,
        reference=_make_view,
        attrs=(Attr("type", AttrKind.TYPE),),
        doc="Another view of the same memory: (array, offset in bytes, dims, strides). That every element lies inside the "
        "memory, and that the layout of the type is true, is promised by the maker.",
        derivative="the same view of the derivative's array",
    ),
    OpDef(
        "same",
        _pair,
        reference=_is_same,
        doc="Whether both are the same memory with the same dims and strides.",
        derivative="none: a truth value",
    ),
    OpDef(
        "overlap",
        _pair,
        reference=_may_overlap,
        doc="Whether the ranges of bytes of the two may have one in common; never false if they do.",
        derivative="none: a truth value",
    ),
    OpDef(
        "retain",
        _count_reference,
        reference=_retain,
        effects=Effect.WRITES,
        doc="One more reference to the memory of the array (or of the one in the variable). Inserted by the pass `ownership`.",
        derivative="none: after differentiation",
    ),
    OpDef(
        "release",
        _count_reference,
        reference=_release,
        effects=Effect.WRITES,
        doc="One reference less (to the array in the variable, for a variable); the last frees the memory. "
        "Inserted by the pass `ownership`.",
        derivative="none: after differentiation",
    ),
)
