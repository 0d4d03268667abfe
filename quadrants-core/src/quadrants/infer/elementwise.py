"""Element-wise expressions on arrays: `map` ops that broadcast, and assignment into arrays (`map_into`).

The body of a map is made by the same functions that serve numbers, with the operands' NumPy types, so nothing in it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from quadrants.diagnostics import Code, CompileTypeError
from quadrants.infer import scalars
from quadrants.infer.emitter import Emitter, NeverReturns, describe, fail, scalar_type
from quadrants.infer.values import Abstract, Arr, Const, ListDisplay, Num, Opt, Text, Tup
from quadrants.ir import Value
from quadrants.ir.core import Op, Region
from quadrants.ir.ops import OPS
from quadrants.types import BOOL, F64, I8, I64, PYINT, ArrayType, FormatHole, FormatType, Kind, Scalar
from quadrants.types.dtypes import dtype_of
from quadrants.types.promotion import promote, representable

#: A scalar computation: (emitter, operands) -> result.
Body = Callable[..., Abstract]
_SIZED = {Kind.BOOL: BOOL, Kind.INT: I64, Kind.FLOAT: F64}


def strong(scalar: Scalar, dtypes: Sequence[Scalar]) -> Scalar:
    """The NumPy type that a weak operand takes beside arrays (and numbers) of the dtypes."""
    if not scalar.weak:
        return scalar
    others = [dtype for dtype in dtypes if not dtype.weak]
    if not others:
        return scalar.machine
    if scalar.is_bool:
        return BOOL
    common = others[0]
    for dtype in others[1:]:
        common = promote(common, dtype)
    result = promote(common, scalar)
    return result.part if result.is_complex and not scalar.is_complex else result


def map_scalars(w: Emitter, operands: Sequence[Abstract], body: Body, wide: bool = False) -> Num:
    """`body` of numbers and 0-d arrays: a NumPy scalar."""
    loaded = [
        Num(op.array.dtype, w.b.value("load", op.value, checked=False, wrap=False)) if isinstance(op, Arr) else op
        for op in operands
    ]
    values, element_types = _inputs(w, loaded, wide)
    result = body(w, *(Num(type_, value) for type_, value in zip(element_types, values)))
    scalar = scalar_type(result)
    assert scalar is not None
    return Num(scalar.machine, w.cast(result, scalar.machine))


def map_arrays(w: Emitter, operands: Sequence[Abstract], body: Body, wide: bool = False) -> Abstract:
    """A new array of `body` over the broadcast operands; a scalar when none of them is an array of rank 1 or more.

    `wide`: Python ints need not fit the integer types that they meet.
    """
    if not any(isinstance(operand, Arr) and operand.array.ndim for operand in operands):
        return map_scalars(w, operands, body, wide)
    inputs, element_types = _inputs(w, operands, wide)
    region, result = _body(w, element_types, body)
    with w.b.into(region):
        scalar = scalar_type(result)
        assert scalar is not None
        dtype = scalar.machine
        w.b.op("yield", w.cast(result, dtype))
    ndim = max((operand.array.ndim for operand in operands if isinstance(operand, Arr)), default=0)
    array = ArrayType(dtype, ndim, "C")
    op = Op(OPS["map"], inputs, [Value(array)], {"dtype": dtype, "ndim": ndim}, [region], w.b.loc)
    w.b.region.ops.append(op)
    return Arr(array, op.result)


def _inputs(w: Emitter, operands: Sequence[Abstract], wide: bool = False) -> tuple[list[Value], list[Scalar]]:
    """The registers of the operands, and the type of an element of each; weak numbers become strong."""
    operands = [w.unwrap(operand) if isinstance(operand, Opt) else operand for operand in operands]
    dtypes = [operand.array.dtype if isinstance(operand, Arr) else scalar_type(operand) for operand in operands]
    for operand, dtype in zip(operands, dtypes):
        if dtype is None:
            fail(
                Code.BAD_OPERAND,
                f"{describe(operand)} cannot take part in an array expression",
                hint=_hint(operand),
                at=operand,
            )
    known = [dtype for dtype in dtypes if dtype is not None]
    values, types = [], []
    for operand, dtype in zip(operands, known):
        if isinstance(operand, Arr):
            values.append(operand.value)
            types.append(dtype)
            continue
        element = strong(dtype, [d for d in known if d is not dtype])
        if dtype == PYINT and element.is_integer and element != I64:
            if not wide:
                operand = scalars.fit_weak(w, operand, dtype, element)
            elif not (isinstance(operand, Const) and representable(operand.value, element)):  # type: ignore[arg-type]
                element = I64
        values.append(w.cast(operand, element))
        types.append(element)
    return values, types


def _hint(operand: Abstract) -> str | None:
    if isinstance(operand, ListDisplay):
        return "Make it an array first: np.array([...])."
    return None


def _body(w: Emitter, element_types: Sequence[Scalar], body: Body) -> tuple[Region, Abstract]:
    region = w.new_region(element_types)
    try:
        with w.b.into(region):
            result = body(w, *(Num(type_, arg) for type_, arg in zip(element_types, region.args)))
    except NeverReturns:  # of any element: in front of the loop, where what follows is unreachable
        body(w, *(Num(type_, w.b.const(0, type_.machine)) for type_ in element_types))
        raise
    return region, result


def binary(w: Emitter, symbol: str, x: Abstract, y: Abstract) -> Abstract:
    """`x symbol y` where one is an array."""
    if symbol == "**" and isinstance(y, Const):
        if (
            isinstance(x, Arr) and x.array.dtype == BOOL and y.value == 2
        ):  # NumPy takes the square, which has no loop for bool
            return map_arrays(w, [x], lambda w, a: Num(I8, w.cast(a, I8)))
        return map_arrays(w, [x], lambda w, a: scalars.binary(w, symbol, a, y))
    if symbol in ("<", "<=", "==", "!=", ">", ">="):
        if isinstance(y, Const):
            return map_arrays(w, [x], lambda w, a: scalars.compare(w, symbol, a, y))
        if isinstance(x, Const):
            return map_arrays(w, [y], lambda w, b: scalars.compare(w, symbol, x, b))
        return map_arrays(w, [x, y], lambda w, a, b: scalars.compare(w, symbol, a, b), wide=True)
    try:
        return map_arrays(w, [x, y], lambda w, a, b: scalars.binary(w, symbol, a, b), wide=symbol == "/")
    except CompileTypeError as error:
        if error.code is not Code.BAD_OPERAND:
            raise
        hint = error.hint
    # The failure speaks of the elements, already converted to one type: the operands are what the program shows.
    fail(
        Code.BAD_OPERAND,
        f"unsupported operand types for {symbol}: {describe(x)} and {describe(y)}",
        types=[("left", x.type), ("right", y.type)],
        hint=hint,
    )


def unary(w: Emitter, symbol: str, x: Arr) -> Abstract:
    """`symbol x` of an array."""
    return map_arrays(w, [x], lambda w, a: scalars.unary(w, symbol, a))


#: (emitter, number, type) -> the number in the type.
Conversion = Callable[[Emitter, Abstract, Scalar], Value]


def assign_into(w: Emitter, target: Arr, value: Abstract, convert: Conversion = scalars.sized) -> None:
    """`target[...] = value`: broadcast; arrays are converted by wrapping around, a number by `convert`."""
    check_writeable(w, target, "assignment destination is read-only")
    if isinstance(value, (ListDisplay, Tup)):
        into = target.array.dtype
        value = w.call_library("creation:array", value, *[Const(dtype_of(into))] if into.is_integer else [])
    if isinstance(value, Opt):
        value = w.unwrap(value)
    dtype = target.array.dtype
    source = value.array.dtype if isinstance(value, Arr) else scalar_type(value)
    if source is None:
        fail(Code.BAD_CONVERSION, f"{describe(value)} cannot be assigned to elements of an array of {describe(dtype)}")
    if source.is_complex and not dtype.is_complex:
        fail(
            Code.BAD_CONVERSION,
            f"complex numbers cannot be stored in an array of {describe(dtype)}",
            hint="Use .real or np.abs.",
        )
    if isinstance(value, Arr) and value.array.ndim > target.array.ndim:
        value = _without_leading(w, value, target)
    input_ = value.value if isinstance(value, Arr) else convert(w, value, dtype)
    element = source if isinstance(value, Arr) else dtype
    region = w.new_region([element])
    with w.b.into(region):
        w.b.op("yield", w.cast(Num(element, region.args[0]), dtype))
    _map_into(w, target, [input_], region)


def message(*parts: str | list[Value]) -> Text:
    """A text with shapes in it, as NumPy prints them."""
    pieces: list[str | FormatHole] = []
    values: list[Value] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
            continue
        for k, size in enumerate(part):
            pieces += ["," if k else "(", FormatHole(PYINT)]
            values.append(size)
        pieces.append("()" if not part else ",)" if len(part) == 1 else ")")
    return Text(FormatType(tuple(pieces)), tuple(values))


def _without_leading(w: Emitter, value: Arr, target: Arr) -> Arr:
    """The view without the leading axes that the target lacks; their size has to be 1."""
    v, extra = w.b.value, value.array.ndim - target.array.ndim
    dims = [v("dim", value.value, axis=axis) for axis in range(value.array.ndim)]
    strides = [v("stride", value.value, axis=axis) for axis in range(value.array.ndim)]
    into = [v("dim", target.value, axis=axis) for axis in range(target.array.ndim)]
    text = message("could not broadcast input array from shape ", dims, " into shape ", into)
    for dim in dims[:extra]:
        w.check(v("cmp", dim, w.b.i64(1), pred="eq"), ValueError, text)
    layout = "C" if value.array.layout == "C" or target.array.ndim == 0 else "A"
    array = replace(value.array, ndim=target.array.ndim, layout=layout)
    return Arr(array, v("view", value.value, w.b.i64(0), *dims[extra:], *strides[extra:], type=array))


def _map_into(w: Emitter, target: Arr, inputs: list[Value], region: Region) -> None:
    w.b.region.ops.append(Op(OPS["map_into"], [target.value, *inputs], [], {}, [region], w.b.loc))


def check_same_kind(x: Arr, source: Scalar, name: str, instead: str) -> None:
    """Refuse a result that NumPy's rule "same_kind" does not let into the array."""
    if not np.can_cast(dtype_of(source), dtype_of(x.array.dtype), "same_kind"):
        fail(
            Code.BAD_CONVERSION,
            f"the result of {name} has type {describe(source)} and cannot be stored in an array of {describe(x.array.dtype)}",
            types=[("array", x.array)],
            hint=f"Use an array of {describe(source)}, or write `{instead}` to convert.",
        )


def check_writeable(w: Emitter, x: Arr, message: str = "output array is read-only") -> None:
    """Raise what NumPy raises for a store into a read-only array."""
    if x.array.mixed:
        text = "the array is read-only on some of the paths that lead here"
        fail(Code.READONLY_ARRAY, text, types=[("array", x.array)], hint="Make a copy of it on that path: a.copy().")
    if x.array.readonly:
        hint = "Pass a writeable array, or make a copy with .copy()."
        w.wrong(ValueError, message, Code.READONLY_ARRAY, types=[("array", x.array)], hint=hint)


#: NumPy's texts for `@=` of a vector, and of stacks of matrices that the array cannot hold.
_NO_INPLACE_PRODUCT = (
    "inplace matrix multiplication requires the first operand to have at least one and the second at least two "
    "dimensions."
)
_NO_REDUCTION = (
    "output operand requires a reduction along dimension -1, but the reduction is not enabled. The dimension size of 1 does "
    "not match the expected output shape."
)


def inplace_matmul(w: Emitter, x: Arr, y: Abstract) -> Arr:
    """`x @= y`."""
    check_writeable(w, x)
    types = [("left", x.type), ("right", y.type)]
    if x.array.ndim and isinstance(y, Arr) and y.array.ndim == 1:
        w.wrong(ValueError, _NO_INPLACE_PRODUCT, Code.BAD_BROADCAST, types=types, hint="Write a = a @ b.")
    result = w.call_library("products:matmul", x, y)
    if not isinstance(result, Arr) or result.array.ndim != x.array.ndim:
        w.wrong(ValueError, _NO_REDUCTION, Code.BAD_BROADCAST, types=types, hint="Write a = a @ b.")
    check_same_kind(x, result.array.dtype, "@=", "a[...] = a @ b")
    assign_into(w, x, result)
    return x


def _refuse_growth(w: Emitter, x: Arr, y: Arr) -> NoReturn:
    """Raise what NumPy raises for an array that would have to get more axes in place."""
    own, other = ([w.b.value("dim", a.value, axis=axis) for axis in range(a.array.ndim)] for a in (x, y))
    v, one, lead = w.b.value, w.b.i64(1), y.array.ndim - x.array.ndim
    common = other[:lead]
    text = message("operands could not be broadcast together with shapes ", own, " ", other, " ", own, " ")
    for a, b in zip(own, other[lead:]):
        alone = v("cmp", a, one, pred="eq")
        fits = v("or", v("cmp", a, b, pred="eq"), v("cmp", b, one, pred="eq"))
        w.check(v("or", alone, fits), ValueError, text)
        common.append(v("select", alone, b, a))
    text = message("non-broadcastable output operand with shape ", own, " doesn't match the broadcast shape ", common)
    types, hint = [("left", x.type), ("right", y.type)], "The left side keeps its shape: write a = a + b, or index b."
    w.wrong(ValueError, text, Code.BAD_BROADCAST, types=types, hint=hint)


def inplace(w: Emitter, symbol: str, x: Arr, y: Abstract) -> Arr:
    """`x symbol= y`: updates the array and gives the same array."""
    check_writeable(w, x)
    if isinstance(y, Arr) and y.array.ndim > x.array.ndim:
        _refuse_growth(w, x, y)
    operands: list[Abstract] = [x] if symbol == "**" and isinstance(y, Const) else [x, y]
    inputs, element_types = _inputs(w, operands)
    exponent = y if len(operands) == 1 else None

    def body(w: Emitter, a: Abstract, b: Abstract | None = None) -> Abstract:
        return scalars.binary(w, symbol, a, exponent if b is None else b)  # type: ignore[arg-type]

    region, result = _body(w, element_types, body)
    source = scalar_type(result)
    assert source is not None
    check_same_kind(x, source.machine, f"{symbol}=", f"a[...] = a {symbol} b")
    with w.b.into(region):
        w.b.op("yield", w.cast(result, x.array.dtype))
    _map_into(w, x, inputs, region)
    return x
