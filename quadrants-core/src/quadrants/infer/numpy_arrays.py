"""NumPy's array creation and shape changes that the walk does itself: what needs `alloc` or `view`.

Everything else that NumPy has is in `quadrants.library`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from quadrants.diagnostics import Code
from quadrants.infer import attributes, convert, elementwise, indexing, sequences
from quadrants.infer.builtins import Builtin
from quadrants.infer.emitter import Emitter, describe, fail, scalar_type, suggestion
from quadrants.infer.values import Abstract, Arr, Const, ListDisplay, Num, Sequence_, Text, Tup
from quadrants.ir import Value
from quadrants.types import F64, I64, PYINT, ArrayType, FormatHole, FormatType, Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.promotion import weak_version

#: The message about a shape of more dimensions does not say it.
_MOST_DIMS_IN_TEXT = 8

Args = tuple[Abstract, ...]
Keywords = dict[str, Abstract]


def arguments(
    name: str, parameters: tuple[str, ...], args: Args, keywords: Keywords, needed: int = 1
) -> dict[str, Abstract]:
    """The arguments by name; None where absent. Raises CompileError like a wrong call."""
    if len(args) > len(parameters):
        fail(Code.BAD_ARGUMENTS, f"{name}() takes at most {len(parameters)} arguments ({len(args)} given)")
    bound = dict(zip(parameters, args))
    for key, value in keywords.items():
        if key not in parameters:
            hint = suggestion(key, parameters)
            fail(Code.BAD_ARGUMENTS, f"{name}() got an unexpected keyword argument '{key}'", hint=hint)
        if key in bound:
            fail(Code.BAD_ARGUMENTS, f"{name}() got multiple values for argument '{key}'")
        bound[key] = value
    for parameter in parameters[:needed]:
        if parameter not in bound:
            fail(Code.BAD_ARGUMENTS, f"{name}() missing required argument '{parameter}'")
    return {parameter: bound.get(parameter, Const(None)) for parameter in parameters}


def shape_of(w: Emitter, value: Abstract) -> list[Value]:
    """The registers of a shape argument: an integer, or a tuple of integers."""
    value = w.unwrap(value)
    if isinstance(value, (Tup, ListDisplay)):
        return [w.integer(item, "a dimension") for item in value.items]
    if isinstance(value, Sequence_):
        return [w.integer(item, "a dimension") for item in sequences.as_items(w, value)]
    return [w.integer(value, "a dimension")]


def _given(value: Abstract) -> bool:
    return not (isinstance(value, Const) and value.value is None)


def allocate(w: Emitter, dims: list[Value], dtype: Scalar, zero: bool, layout: str = "C") -> Arr:
    """A new array."""
    array = ArrayType(dtype, len(dims), layout if len(dims) > 1 else "C")
    return Arr(array, w.b.value("alloc", *dims, type=array, zero=zero))


def _order(value: Abstract) -> str:
    if not _given(value):
        return "C"
    if isinstance(value, Const) and value.value in ("C", "F", "A", "K"):
        return "F" if value.value == "F" else "C"
    fail(Code.NOT_CONSTANT, "order has to be the constant 'C' or 'F'")


def _creation(name: str, fill: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        given = arguments(name, ("shape", "dtype", "order"), args, keywords)
        dtype = convert.as_dtype(given["dtype"]) if _given(given["dtype"]) else F64
        result = allocate(w, shape_of(w, given["shape"]), dtype, fill == "zeros", _order(given["order"]))
        if fill == "ones":
            elementwise.assign_into(w, result, Const(1))
        return result

    return call


def _full(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    given = arguments("full", ("shape", "fill_value", "dtype", "order"), args, keywords, 2)
    value = w.unwrap(given["fill_value"])
    if _given(given["dtype"]):
        dtype = convert.as_dtype(given["dtype"])
    else:
        scalar = value.array.dtype if isinstance(value, Arr) else scalar_type(value)
        if scalar is None:
            fail(Code.BAD_ARGUMENTS, f"np.full does not fill with {describe(value)}")
        dtype = scalar.machine
    result = allocate(w, shape_of(w, given["shape"]), dtype, False, _order(given["order"]))
    elementwise.assign_into(w, result, value)
    return result


def _like(name: str, fill: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        names = ("a", "fill_value", "dtype", "order", "subok", "shape")
        parameters = names if fill == "full" else (names[0], *names[2:])
        given = arguments(name, parameters, args, keywords, 2 if fill == "full" else 1)
        model = w.unwrap(given["a"])
        if isinstance(model, (Tup, ListDisplay)):
            model = w.call_library("creation:array", model)
        scalar = model.array.dtype if isinstance(model, Arr) else scalar_type(model)
        if scalar is None:
            fail(Code.BAD_ARGUMENTS, f"np.{name} does not take {describe(model)}")
        dtype = convert.as_dtype(given["dtype"]) if _given(given["dtype"]) else scalar.machine
        dims = attributes.dims(w, model) if isinstance(model, Arr) else []
        layout = "F" if isinstance(model, Arr) and model.array.layout == "F" else "C"
        if _given(given["shape"]):
            dims = shape_of(w, given["shape"])
        result = allocate(w, dims, dtype, fill == "zeros", layout)
        if fill in ("ones", "full"):
            elementwise.assign_into(w, result, Const(1) if fill == "ones" else given["fill_value"])
        return result

    return call


# methods and functions that give views or copies


def copy(w: Emitter, value: Arr, order: str = "C") -> Arr:
    """A new array with the same elements."""
    result = allocate(w, attributes.dims(w, value), value.array.dtype, False, order)
    elementwise.assign_into(w, result, value)
    return result


def _reshape_text(total: Value, dims: list[Value]) -> Abstract:
    """The message for sizes that differ."""
    if len(dims) > _MOST_DIMS_IN_TEXT:
        return Const("cannot reshape array: the sizes differ")
    number = FormatHole(PYINT)
    parts: list[str | FormatHole] = ["cannot reshape array of size ", number, " into shape ("]
    for position, _ in enumerate(dims):
        parts += [number] if position == 0 else [",", number]
    parts.append(",)" if len(dims) == 1 else ")")
    return Text(FormatType(tuple(parts)), (total, *dims))


def reshape(w: Emitter, value: Arr, dims: list[Value], shape: list[Abstract]) -> Arr:
    """The array with another shape: a view of a C-contiguous array, else of a copy. One dimension may be -1."""
    v = w.b.value
    total = attributes.size(w, value)
    dims = _infer_dimension(w, total, dims, shape)
    product = w.b.i64(1)
    for dim in dims:
        product = v("mul", product, dim)
    w.check(v("cmp", product, total, pred="eq"), ValueError, _reshape_text(total, dims))
    if value.array.layout != "C":
        value = copy(w, value)
    strides: list[Value] = []
    step = w.b.i64(value.array.dtype.itemsize)
    for dim in reversed(dims):
        strides.insert(0, step)
        step = v("mul", step, dim)
    array = ArrayType(value.array.dtype, len(dims), "C", value.array.readonly)
    return Arr(array, v("view", value.value, w.b.i64(0), *dims, *strides, type=array))


def _infer_dimension(w: Emitter, total: Value, dims: list[Value], shape: list[Abstract]) -> list[Value]:
    unknown = [
        k for k, part in enumerate(shape) if isinstance(part, Const) and isinstance(part.value, int) and part.value < 0
    ]
    if len(unknown) > 1:
        fail(Code.BAD_SHAPE, "can only specify one unknown dimension")
    v = w.b.value
    for k, part in enumerate(shape):
        if not isinstance(part, Const):
            w.check(
                v("cmp", dims[k], w.b.i64(0), pred="ge"),
                ValueError,
                "a dimension of reshape is negative (-1 has to be a literal)",
            )
    if not unknown:
        return dims
    known = w.b.i64(1)
    for k, dim in enumerate(dims):
        if k != unknown[0]:
            known = v("mul", known, dim)
    found = v("floordiv", total, known)
    return [found if k == unknown[0] else dim for k, dim in enumerate(dims)]


def _reshape_call(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    keywords.pop("order", None)
    if "shape" in keywords:
        args = (keywords.pop("shape"),)
    if "newshape" in keywords:
        args = (keywords.pop("newshape"),)
    if keywords:
        fail(Code.BAD_ARGUMENTS, f"reshape() got an unexpected keyword argument '{next(iter(keywords))}'")
    parts: list[Abstract] = list(args)
    if len(args) == 1 and not scalar_type(w.unwrap(args[0])):
        parts = list(sequences.as_items(w, args[0]))
    return reshape(w, value, [w.integer(part, "a dimension") for part in parts], parts)


def _ravel(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    if value.array.ndim == 1 and value.array.layout == "C":
        return value
    minus_one = Const(-1)
    return reshape(w, value, [w.integer(minus_one)], [minus_one])


def _flatten(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    contiguous = copy(w, value)
    minus_one = Const(-1)
    return reshape(w, contiguous, [w.integer(minus_one)], [minus_one])


def _transpose(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    axes = keywords.get("axes")
    parts: Args = args if axes is None else (axes,)
    if len(parts) == 1 and not scalar_type(parts[0]):
        parts = () if not _given(parts[0]) else sequences.as_items(w, parts[0])
    ndim = value.array.ndim
    if not parts:
        return attributes.transposed(w, value, tuple(reversed(range(ndim))))
    order = tuple(_constant_int(part, "an axis") % ndim if ndim else 0 for part in parts)
    if sorted(order) != list(range(ndim)):
        fail(Code.BAD_AXIS, "axes don't match array")
    return attributes.transposed(w, value, order)


def _constant_int(value: Abstract, what: str) -> int:
    if isinstance(value, Const) and isinstance(value.value, int):
        return int(value.value)
    fail(Code.NOT_CONSTANT, f"{what} has to be a constant integer")


def _astype(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    given = arguments("astype", ("dtype", "order", "casting", "subok", "copy"), args, keywords)
    dtype = convert.as_dtype(given["dtype"])
    copy_ = given["copy"]
    if dtype == value.array.dtype and isinstance(copy_, Const) and copy_.value is False:
        return value
    return convert.astype(w, value, dtype)


def _copy_call(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    given = arguments("copy", ("order",), args, keywords, 0)
    keep = value.array.layout == "F" and isinstance(given["order"], Const) and given["order"].value in ("F", "A", "K")
    return copy(w, value, "F" if keep else _order(given["order"]))


def _fill(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    elementwise.assign_into(w, value, *args)
    return Const(None)


def _item(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    if value.array.ndim == 0 and not args:
        element = indexing.load(w, value, [])
    elif not args:
        flat = _ravel(w, value, (), {})
        assert isinstance(flat, Arr)
        one = w.b.value("cmp", w.b.value("dim", flat.value, axis=0), w.b.i64(1), pred="eq")
        w.check(one, ValueError, "can only convert an array of size 1 to a Python scalar")
        element = indexing.load(w, flat, [w.b.i64(0)])
    else:
        index = args[0] if len(args) == 1 else Tup(args)
        found = indexing.get_item(w, value, index)
        assert isinstance(found, Num)
        element = found
    weak = weak_version(element.scalar)
    return Num(weak, w.cast(element, weak))


def _view(w: Emitter, value: Arr, args: Args, keywords: Keywords) -> Abstract:
    if not args:
        return value
    dtype = convert.as_dtype(args[0])
    if dtype.itemsize != value.array.dtype.itemsize:
        fail(Code.BAD_DTYPE, "view() needs a dtype of the same size")
    array = ArrayType(dtype, value.array.ndim, value.array.layout, value.array.readonly)
    operands = [*attributes.dims(w, value), *attributes.strides(w, value)]
    return Arr(array, w.b.value("view", value.value, w.b.i64(0), *operands, type=array))


ArrayMethod = Callable[[Emitter, Arr, Args, Keywords], Abstract]
#: Methods of arrays by name.
METHODS: Mapping[str, ArrayMethod] = MappingProxyType(
    {
        "copy": _copy_call,
        "reshape": _reshape_call,
        "ravel": _ravel,
        "flatten": _flatten,
        "transpose": _transpose,
        "astype": _astype,
        "fill": _fill,
        "item": _item,
        "view": _view,
        "conj": lambda w, a, args, keywords: w.call_value(Const(np.conjugate), [a], {}),  # type: ignore[attr-defined]
        "conjugate": lambda w, a, args, keywords: w.call_value(Const(np.conjugate), [a], {}),  # type: ignore[attr-defined]
        "clip": lambda w, a, args, keywords: _clip(w, (a, *args), keywords),
    }
)


def _clip(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    given = arguments("clip", ("a", "a_min", "a_max", "out", "min", "max"), args, keywords)
    result = given["a"]
    low = given["a_min"] if _given(given["a_min"]) else given["min"]
    high = given["a_max"] if _given(given["a_max"]) else given["max"]
    for bound, function in ((low, np.maximum), (high, np.minimum)):
        if _given(bound):
            result = w.call_value(Const(function), [result, bound], {})  # type: ignore[attr-defined]
    out = given["out"]
    if isinstance(out, Arr):
        elementwise.assign_into(w, out, result)
        return out
    return result


def _as_function(method: ArrayMethod, name: str) -> Builtin:
    def call(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
        if not args:
            if "a" not in keywords:
                fail(Code.BAD_ARGUMENTS, f"np.{name}() missing required argument 'a'")
            args = (keywords.pop("a"),)
        value = w.unwrap(args[0])
        if not isinstance(value, Arr):
            array = w.call_library("creation:array", value)
            assert isinstance(array, Arr)
            value = array
        return method(w, value, args[1:], keywords)

    return call


def _broadcast_to(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    given = arguments("broadcast_to", ("array", "shape", "subok"), args, keywords, 2)
    value = w.unwrap(given["array"])
    if not isinstance(value, Arr):
        made = w.call_library("creation:array", value)
        assert isinstance(made, Arr)
        value = made
    dims = shape_of(w, given["shape"])
    for dim in dims:
        text = "all elements of broadcast shape must be non-negative"
        w.check(w.b.value("cmp", dim, w.b.i64(0), pred="ge"), ValueError, text)
    lead = len(dims) - value.array.ndim
    if lead < 0:
        fail(Code.BAD_BROADCAST, "input operand has more dimensions than allowed by the shape")
    v, strides = w.b.value, [w.b.i64(0)] * lead
    for axis in range(value.array.ndim):
        own, wanted = v("dim", value.value, axis=axis), dims[lead + axis]
        one = v("cmp", own, w.b.i64(1), pred="eq")
        fits = v("or", one, v("cmp", own, wanted, pred="eq"))
        w.check(fits, ValueError, "operands could not be broadcast together with the requested shape")
        strides.append(v("select", one, w.b.i64(0), v("stride", value.value, axis=axis)))
    array = ArrayType(value.array.dtype, len(dims), "A", True)
    return Arr(array, v("view", value.value, w.b.i64(0), *dims, *strides, type=array))


def _ndindex(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    shape = args[0] if len(args) == 1 else Tup(args)
    return Sequence_("ndindex", tuple(Num(I64, value) for value in shape_of(w, shape)))


def _result_type(w: Emitter, args: Args, keywords: Keywords) -> Abstract:
    stand_ins: list[object] = []
    for arg in args:
        arg = w.unwrap(arg)
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
        np.reshape: _as_function(_reshape_call, "reshape"),
        np.ravel: _as_function(_ravel, "ravel"),
        np.transpose: _as_function(_transpose, "transpose"),
        np.clip: _clip,
        np.broadcast_to: _broadcast_to,
        np.ndindex: _ndindex,
        np.result_type: _result_type,
        np.promote_types: _result_type,
        np.dtype: _dtype,
        np.issubdtype: _folded(np.issubdtype),
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
