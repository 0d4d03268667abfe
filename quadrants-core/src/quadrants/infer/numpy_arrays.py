"""NumPy's array creation and shape changes that the walk does itself: what needs `alloc` or `view`.

Everything else that NumPy has is in `quadrants.library`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.exceptions import AxisError

from quadrants.diagnostics import Code
from quadrants.infer import attributes, convert, elementwise, reshaping, scalars, sequences, texts
from quadrants.infer.allocation import Args, Keywords, allocate, arguments, copy, given, order_of, shape_of
from quadrants.infer.builtins import Builtin
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type
from quadrants.infer.values import Abstract, Arr, Const, ListDisplay, Num, Sequence_, Tup
from quadrants.types import F64, I64, PYINT, Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.promotion import integer_range


def _creation(name: str, fill: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        bound = arguments(name, ("shape", "dtype", "order"), args, keywords)
        dtype = convert.as_dtype(bound["dtype"]) if given(bound["dtype"]) else F64
        result = allocate(w, shape_of(w, bound["shape"]), dtype, fill == "zeros", order_of(w, bound["order"]))
        if fill == "ones":
            elementwise.assign_into(w, result, Const(1))
        return result

    return call


def _full(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    bound = arguments("full", ("shape", "fill_value", "dtype", "order"), args, keywords, 2)
    value = w.unwrap(bound["fill_value"])
    if given(bound["dtype"]):
        dtype = convert.as_dtype(bound["dtype"])
    else:
        scalar = value.array.dtype if isinstance(value, Arr) else scalar_type(value)
        if scalar is None:
            fail(Code.BAD_ARGUMENTS, f"{describe(value)} cannot be an element of an array")
        dtype = scalar.machine
    result = allocate(w, shape_of(w, bound["shape"]), dtype, False, order_of(w, bound["order"]))
    elementwise.assign_into(w, result, value)
    return result


def _like(name: str, fill: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        names = ("a", "fill_value", "dtype", "order", "subok", "shape")
        parameters = names if fill == "full" else (names[0], *names[2:])
        bound = arguments(name, parameters, args, keywords, 2 if fill == "full" else 1)
        model = w.unwrap(bound["a"])
        if isinstance(model, (Tup, ListDisplay)):
            model = w.call_library("creation:array", model)
        scalar = model.array.dtype if isinstance(model, Arr) else scalar_type(model)
        if scalar is None:
            fail(Code.BAD_ARGUMENTS, f"np.{name} does not take {describe(model)}")
        dtype = convert.as_dtype(bound["dtype"]) if given(bound["dtype"]) else scalar.machine
        dims = attributes.dims(w, model) if isinstance(model, Arr) else []
        layout = "F" if isinstance(model, Arr) and model.array.layout == "F" else "C"
        if given(bound["shape"]):
            dims = shape_of(w, bound["shape"])
        result = allocate(w, dims, dtype, fill == "zeros", layout)
        if fill in ("ones", "full"):
            elementwise.assign_into(w, result, Const(1) if fill == "ones" else bound["fill_value"])
        return result

    return call


# methods and functions that give views or copies


def _transpose(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    axes = keywords.get("axes")
    parts: Args = args if axes is None else (axes,)
    if len(parts) == 1 and not scalar_type(parts[0]):
        parts = () if not given(parts[0]) else sequences.as_items(w, parts[0])
    ndim = value.array.ndim
    if not parts:
        return attributes.transposed(w, value, tuple(reversed(range(ndim))))
    axes_ = [_constant_int(part, "an axis") for part in parts]
    types, hint = [("array", value.array)], "Name each axis once: they count from 0 to ndim - 1."
    if len(axes_) != ndim:
        w.wrong(ValueError, "axes don't match array", Code.BAD_AXIS, types=types, hint=hint)
    for axis in axes_:
        if not -ndim <= axis < ndim:
            text = f"axis {axis} is out of bounds for array of dimension {ndim}"
            w.wrong(AxisError, text, Code.BAD_AXIS, types=types, hint=hint)
    order = tuple(axis % ndim for axis in axes_)
    if len(set(order)) != ndim:
        w.wrong(ValueError, "repeated axis in transpose", Code.BAD_AXIS, types=types, hint=hint)
    return attributes.transposed(w, value, order)


def _constant_int(value: Abstract, what: str) -> int:
    if isinstance(value, Const) and isinstance(value.value, int):
        return int(value.value)
    fail(Code.NOT_CONSTANT, f"{what} has to be a constant integer")


def _astype(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    bound = arguments("astype", ("dtype", "order", "casting", "subok", "copy"), args, keywords)
    dtype = convert.as_dtype(bound["dtype"])
    copy_ = bound["copy"]
    if dtype == value.array.dtype and isinstance(copy_, Const) and copy_.value is False:
        return value
    return convert.astype(w, value, dtype)


def _copy_call(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    bound = arguments("copy", ("order",), args, keywords, 0)
    keep = value.array.layout == "F" and isinstance(bound["order"], Const) and bound["order"].value in ("F", "A", "K")
    return copy(w, value, "F" if keep else order_of(w, bound["order"]))


def _fill(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    bound = arguments("fill", ("value",), args, keywords)
    elementwise.assign_into(w, value, bound["value"], scalars.item)
    return Const(None)


ArrayMethod = Callable[[Emitter, Arr, Args, Keywords], Abstract]
#: Methods of arrays by name.
METHODS: Mapping[str, ArrayMethod] = MappingProxyType(
    {
        "copy": _copy_call,
        "reshape": reshaping.reshape_call,
        "ravel": reshaping.ravel,
        "flatten": reshaping.flatten,
        "transpose": _transpose,
        "astype": _astype,
        "fill": _fill,
        "item": reshaping.item,
        "view": reshaping.view,
        "conj": lambda w, a, args, keywords: w.call_value(Const(np.conjugate), [a], {}),  # type: ignore[attr-defined]
        "conjugate": lambda w, a, args, keywords: w.call_value(Const(np.conjugate), [a], {}),  # type: ignore[attr-defined]
        "clip": lambda w, a, args, keywords: _clip(w, (a, *args), keywords),
    }
)


def _clip(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    bound = arguments("clip", ("a", "a_min", "a_max", "out", "min", "max"), args, keywords)
    result = bound["a"]
    low = bound["a_min"] if given(bound["a_min"]) else bound["min"]
    high = bound["a_max"] if given(bound["a_max"]) else bound["max"]
    dtype = result.array.dtype if isinstance(result, Arr) else scalar_type(result)
    for limit, function, side in ((low, np.maximum, 0), (high, np.minimum, 1)):
        if given(limit) and dtype is not None:
            limit = _within(w, limit, dtype, side)
        if given(limit):
            result = w.call_value(Const(function), [result, limit], {})  # type: ignore[attr-defined]
    if result is bound["a"]:
        result = w.call_value(Const(np.positive), [result], {})  # type: ignore[attr-defined]
    out = bound["out"]
    if isinstance(out, Arr):
        elementwise.check_writeable(w, out)
        elementwise.assign_into(w, out, result)
        return out
    return result


def _within(w: Emitter, limit: Abstract, dtype: Scalar, side: int) -> Abstract:
    """The limit of a clip; one that is a Python int beyond all integers of the array's type is none, as in NumPy."""
    scalar = scalar_type(limit)
    if scalar != PYINT or not dtype.is_integer or dtype.weak:
        return limit
    bound = integer_range(dtype)[side]
    if isinstance(limit, Const):
        beyond = limit.value < bound if side == 0 else limit.value > bound  # type: ignore[operator]
        return Const(None) if beyond else limit
    if abs(bound) > 2**63 - 1:
        return limit
    name = "max" if side == 0 else "min"
    return Num(PYINT, w.b.value(name, w.cast(limit, I64), w.b.i64(bound)))


def _as_function(method: ArrayMethod, name: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        if not args:
            if "a" not in keywords:
                fail(Code.BAD_ARGUMENTS, f"np.{name}() missing required argument 'a'")
            args = (keywords.pop("a"),)
        return method(w, _operand(w, args[0]), args[1:], keywords)

    return call


def _operand(w: Emitter, value: Abstract) -> Arr:
    """An argument as an array."""
    value = w.unwrap(value)
    flat = sequences.flat_of(value)
    if flat is not None:
        return sequences.flat_array(w, flat)
    array = value if isinstance(value, Arr) else w.call_library("creation:array", value)
    assert isinstance(array, Arr)
    return array


def _broadcast_to(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    bound = arguments("broadcast_to", ("array", "shape", "subok"), args, keywords, 2)
    value = _operand(w, bound["array"])
    dims = shape_of(w, bound["shape"])
    for dim in dims:
        text = "all elements of broadcast shape must be non-negative"
        w.check(w.b.value("cmp", dim, w.b.i64(0), pred="ge"), ValueError, text)
    lead = len(dims) - value.array.ndim
    if lead < 0:
        text = (
            "input operand has more dimensions than allowed by the axis remapping"
            if dims
            else "cannot broadcast a non-scalar to a scalar array"
        )
        hint = "The shape needs as many axes as the array has, or more."
        w.wrong(ValueError, text, Code.BAD_BROADCAST, types=[("array", value.array)], hint=hint)
    v, strides = w.b.value, [w.b.i64(0)] * lead
    for axis in range(value.array.ndim):
        own, wanted = v("dim", value.value, axis=axis), dims[lead + axis]
        one = v("cmp", own, w.b.i64(1), pred="eq")
        fits = v("or", one, v("cmp", own, wanted, pred="eq"))
        w.check(fits, ValueError, "operands could not be broadcast together with the requested shape")
        strides.append(v("select", one, w.b.i64(0), v("stride", value.value, axis=axis)))
    array = replace(value.array, ndim=len(dims), layout="A", readonly=True)
    return Arr(array, v("view", value.value, w.b.i64(0), *dims, *strides, type=array))


def _ndindex(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    shape = args[0] if len(args) == 1 else Tup(args)
    return Sequence_("ndindex", tuple(Num(PYINT, value) for value in shape_of(w, shape)))


def _einsum(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    from quadrants.infer import einsum  # few programs need it

    return einsum.call(w, args, keywords)


def _walker(kind: str) -> Builtin:
    """`np.ndenumerate(a)` and `np.nditer(a)`."""

    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        if len(args) != 1 or keywords or (kind == "nditer" and isinstance(args[0], (Tup, ListDisplay))):
            fail(
                Code.BAD_ARGUMENTS,
                f"np.{kind} takes one array in compiled code, without flags",
                hint="Walk several arrays with np.ndindex, and write through the index.",
            )
        value = _operand(w, args[0])
        if kind == "nditer" and value.array.layout == "F":  # it goes in the order of memory
            value = attributes.transposed(w, value, tuple(reversed(range(value.array.ndim))))
        if kind == "nditer" and value.array.layout == "A" and value.array.ndim > 1:
            fail(
                Code.BAD_ARGUMENTS,
                "np.nditer of an array with any strides is not supported: its order depends on them",
                hint="Use a.flat, np.ndenumerate or np.ndindex, which go in C order.",
            )
        return Sequence_(kind, (value,))

    return call


def _result_type(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    stand_ins: list[object] = []
    for arg in args:
        arg = w.unwrap(arg)
        if texts.is_text(arg) and w.ref.internal:  # type: ignore[attr-defined]
            fail(
                Code.BAD_DTYPE,
                f"{describe(arg)} cannot be an element of an array",
                hint="Use numbers, or a tuple of strings.",
            )
        scalar = arg.array.dtype if isinstance(arg, Arr) else scalar_type(arg)
        if scalar is None:
            stand_ins.append(dtype_of(convert.as_dtype(arg)))
        elif scalar.weak:
            stand_ins.append((False, 0, 0, 0.0, 0j)[scalar.kind.value])
        else:
            stand_ins.append(dtype_of(scalar))
    return Const(np.result_type(*stand_ins))  # type: ignore[arg-type]


def _dtype(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    return Const(dtype_of(convert.as_dtype(args[0])))


def _folded(function: Callable[..., object]) -> Builtin:
    """A function of compile-time values only."""

    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        if keywords or not all(isinstance(arg, Const) for arg in args):
            fail(Code.NOT_CONSTANT, f"np.{function.__name__} needs compile-time arguments")
        return Const(function(*(arg.value for arg in args if isinstance(arg, Const))))

    return call


def _shape(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    value = w.unwrap(args[0])
    return attributes.get_attr(w, value, "shape") if isinstance(value, (Arr, Num)) else Tup(())


def _rank(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    value = w.unwrap(args[0])
    return Const(value.array.ndim if isinstance(value, Arr) else 0)


def _size(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    value = w.unwrap(args[0])
    if len(args) == 2 and isinstance(value, Arr):
        return sequences.get_item(w, attributes.get_attr(w, value, "shape").items, args[1], Tup)  # type: ignore[attr-defined]
    return attributes.get_attr(w, value, "size") if isinstance(value, Arr) else Const(1)


def _isscalar(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    return Const(scalar_type(args[0]) is not None)


def _part(name: str) -> Builtin:
    return lambda w, args, keywords: attributes.get_attr(w, w.num(args[0]) if scalar_type(args[0]) else args[0], name)


#: The NumPy function itself -> its emitter.
NUMPY: Mapping[object, Builtin] = MappingProxyType(
    {
        np.empty: _creation("empty", "empty"),
        np.zeros: _creation("zeros", "zeros"),
        np.ones: _creation("ones", "ones"),
        np.full: _full,
        np.empty_like: _like("empty_like", "empty"),
        np.zeros_like: _like("zeros_like", "zeros"),
        np.ones_like: _like("ones_like", "ones"),
        np.full_like: _like("full_like", "full"),
        np.reshape: _as_function(reshaping.reshape_call, "reshape"),
        np.ravel: _as_function(reshaping.ravel, "ravel"),
        np.transpose: _as_function(_transpose, "transpose"),
        np.clip: _clip,
        np.broadcast_to: _broadcast_to,
        np.einsum: _einsum,
        np.matrix_transpose: lambda w, args, keywords: attributes.get_attr(w, _operand(w, args[0]), "mT"),
        np.linalg.matrix_transpose: lambda w, args, keywords: attributes.get_attr(w, _operand(w, args[0]), "mT"),
        np.ndindex: _ndindex,
        np.ndenumerate: _walker("ndenumerate"),
        np.nditer: _walker("nditer"),
        np.result_type: _result_type,
        np.promote_types: _result_type,
        np.dtype: _dtype,
        np.issubdtype: _folded(np.issubdtype),
        np.can_cast: _folded(np.can_cast),
        np.min_scalar_type: _folded(np.min_scalar_type),
        np.iinfo: _folded(np.iinfo),
        np.finfo: _folded(np.finfo),
        np.shape: _shape,
        np.ndim: _rank,
        np.size: _size,
        np.isscalar: _isscalar,
        np.real: _part("real"),
        np.imag: _part("imag"),
    }
)
