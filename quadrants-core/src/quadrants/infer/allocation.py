"""New arrays, and what the functions that make them have in common: arguments by name, shapes, orders, copies."""

from __future__ import annotations

from typing import NoReturn

from quadrants.diagnostics import Code
from quadrants.infer import attributes, elementwise, sequences
from quadrants.infer.emitter import Emitter, fail
from quadrants.infer.habits import suggestion
from quadrants.infer.values import Abstract, Arr, Const, ListDisplay, Sequence_, Tup
from quadrants.ir import Value
from quadrants.types import ArrayType, Scalar

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
            hint = suggestion(key, parameters) or f"It takes {', '.join(parameters)}."
            fail(Code.BAD_ARGUMENTS, f"{name}() got an unexpected keyword argument '{key}'", hint=hint, at=value)
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
    if isinstance(value, Const) and isinstance(value.value, tuple):
        value = Tup(tuple(map(Const, value.value)))
    if isinstance(value, (Tup, ListDisplay)):
        return [w.integer(item, "a dimension") for item in value.items]
    if isinstance(value, Sequence_):
        return [w.integer(item, "a dimension") for item in sequences.as_items(w, value)]
    return [w.integer(value, "a dimension")]


def given(value: Abstract) -> bool:
    return not (isinstance(value, Const) and value.value is None)


def allocate(w: Emitter, dims: list[Value], dtype: Scalar, zero: bool, layout: str = "C") -> Arr:
    """A new array."""
    array = ArrayType(dtype, len(dims), layout if len(dims) > 1 else "C")
    return Arr(array, w.b.value("alloc", *dims, type=array, zero=zero))


def order_of(w: Emitter, value: Abstract) -> str:
    if not given(value):
        return "C"
    if isinstance(value, Const) and value.value in ("C", "F", "A", "K"):
        return "F" if value.value == "F" else "C"
    unknown_order(w, value)


def unknown_order(w: Emitter, value: Abstract) -> NoReturn:
    """The error for an order that is none of NumPy's, or not known."""
    if isinstance(value, Const) and isinstance(value.value, str):
        text = f"order must be one of 'C', 'F', 'A', or 'K' (got '{value.value}')"
        w.wrong(ValueError, text, Code.BAD_VALUE)
    fail(Code.NOT_CONSTANT, "order has to be the constant 'C', 'F', 'A' or 'K'", hint='Write it out: order="F".')


def copy(w: Emitter, value: Arr, order: str = "C") -> Arr:
    """A new array with the same elements."""
    result = allocate(w, attributes.dims(w, value), value.array.dtype, False, order)
    elementwise.assign_into(w, result, value)
    return result
