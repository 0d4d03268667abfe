"""Attributes of values: arrays, numbers, named tuples, dtypes, modules."""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quadrants.diagnostics import Code
from quadrants.infer import texts
from quadrants.infer.dicts import DictDisplay
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.habits import array_hint, suggestion
from quadrants.infer.values import (
    Abstract,
    Arr,
    Const,
    List,
    ListDisplay,
    Method,
    Num,
    Sequence_,
    SliceValue,
    Tup,
)
from quadrants.ir import Value
from quadrants.types import PYBOOL, PYINT, ArrayType
from quadrants.types.dtypes import dtype_of
from quadrants.types.objects import attribute_place
from quadrants.types.structs import Struct
from quadrants.types.vectors import TensorArg
from quadrants.types.vectors import Value as HostValue


def get_attr(w: Emitter, value: Abstract, name: str) -> Abstract:
    """`value.name`."""
    value = w.unwrap(value, f"'NoneType' object has no attribute '{name}'", AttributeError)
    if isinstance(value, Const):
        return _constant_attr(w, value.value, name)
    if isinstance(value, Method) and value.name == "flags" and isinstance(value.owner, Arr):
        return _flag(value.owner.array, name)
    if texts.is_foreign(value):
        return texts.attribute(w, value, name)
    if texts.is_text(value) and hasattr(str, name):
        return Method(value, name)
    if (
        isinstance(value, Tup)
        and value.named is not None
        and issubclass(value.named[1], (HostValue, TensorArg, Struct))
    ):
        found = w.portable_attribute(value, name)  # type: ignore[attr-defined]
        if found is not None:
            return found  # type: ignore[no-any-return]
    if isinstance(value, Sequence_) and value.kind == "range" and name in ("start", "stop", "step"):
        return value.parts[("start", "stop", "step").index(name)]
    handler = _TABLES.get(type(value), {}).get(name)
    if handler is not None and not _only_numpys(w, value, name):
        return handler(w, value)
    if isinstance(value, Tup) and value.named is not None:
        found = _named_attr(w, value, name)
        if found is not None:
            return found
    if _has_method(value, name):
        return Method(value, name)
    if isinstance(value, (List, ListDisplay)) and hasattr(list, name):
        return Method(value, name)
    if isinstance(value, DictDisplay) and hasattr(dict, name):
        return Method(value, name)
    fail(
        Code.NO_ATTRIBUTE,
        f"{describe(value)} has no attribute '{name}'" + ("" if not _exists(value, name) else " that is supported"),
        types=[("value", value.type)],
        hint=(array_hint(name) if isinstance(value, Arr) else None)
        or ("It is a number, not an array." if isinstance(value, Num) and hasattr(np.ndarray, name) else None)
        or suggestion(name, (known for known in _known_names(value) if known != name)),
    )


def _only_numpys(w: Emitter, value: Abstract, name: str) -> bool:
    """Whether NumPy's numbers have an attribute that this one, which is Python's, has not. (The library takes all alike.)"""
    if not isinstance(value, Num) or not value.scalar.weak or w.options.kernel or w.ref.internal:  # type: ignore[attr-defined]
        return False
    return not _exists(value, name)


def _known_names(value: Abstract) -> list[str]:
    """The attributes that a value may have been meant to be asked for."""
    names = [
        *_TABLES.get(type(value), {}),
        *(name for name in dir(_prototype(value) or object) if name[0] != "_"),
    ]
    if texts.is_text(value):
        names += [name for name in dir(str) if name[0] != "_"]
    if isinstance(value, Tup) and value.named is not None:
        names += [*value.named[0], *(name for name in vars(value.named[1]) if name[0] != "_")]
    return names


#: Methods that every class of named tuples has.
_GENERATED = frozenset(("_replace", "_asdict", "_make"))

_PROTOTYPE: dict[type, type] = {Arr: np.ndarray, Num: np.float64, Tup: tuple}


def _prototype(value: Abstract) -> type | None:
    """A class whose attributes the value has in the interpreter."""
    if isinstance(value, Num) and value.scalar.weak:
        return (bool, int, int, float, complex)[value.scalar.kind.value]
    return _PROTOTYPE.get(type(value))


def _exists(value: Abstract, name: str) -> bool:
    prototype = _prototype(value)
    return prototype is not None and hasattr(prototype, name)


def _has_method(value: Abstract, name: str) -> bool:
    """Whether Python has such a method; whether it is supported shows when it is called."""
    if isinstance(value, Tup) and name in ("count", "index", "_replace", "_asdict"):
        return True
    return _exists(value, name) and callable(getattr(_prototype(value), name))


def _constant_attr(w: Emitter, owner: object, name: str) -> Abstract:
    if hasattr(type(owner), "__quadrants_device__"):
        return w.device_attribute(owner, name)  # type: ignore[attr-defined]
    try:
        found = getattr(owner, name)
    except AttributeError as error:
        fail(Code.NO_ATTRIBUTE, str(error), hint=suggestion(name, dir(owner)))
    if isinstance(owner, pytypes.ModuleType):
        return w.from_module(owner, name, found)  # type: ignore[attr-defined]
    if isinstance(owner, (int, float, complex, str)) and callable(found):
        return Method(Const(owner), name)
    place = None if isinstance(owner, type) else attribute_place(owner, name)
    if place is not None and isinstance(place[1], property):
        return _property(w, Const(owner), owner, name, place[1])
    return w.from_attribute(owner, name, found)  # type: ignore[attr-defined]


def _property(w: Emitter, value: Abstract, owner: object, name: str, found: property) -> Abstract:
    getter = w.from_attribute(owner, name, found.fget)  # type: ignore[attr-defined]
    return w.call_value(getter, (value,), {})  # type: ignore[attr-defined]


def _named_attr(w: Emitter, value: Tup, name: str) -> Abstract | None:
    """What the class of a named tuple has beside the fields: methods, properties, constants."""
    assert value.named is not None
    fields, cls = value.named
    if name in fields:
        return value.items[fields.index(name)]
    if name == "_fields":
        return w.from_python(fields)  # type: ignore[attr-defined]
    place = attribute_place(cls, name)
    if place is None or name in _GENERATED:
        return None
    if isinstance(place[1], property):
        return _property(w, value, cls, name, place[1])
    member = w.from_attribute(cls, name, getattr(cls, name))  # type: ignore[attr-defined]
    return member if class_function(value, name) is None else Method(value, name)


def class_function(value: Abstract, name: str) -> object | None:
    """The function that a method of a named tuple's class calls with the tuple; None if it is no such method."""
    if not isinstance(value, Tup) or value.named is None or name in _GENERATED:
        return None
    place = attribute_place(value.named[1], name)
    if place is None or isinstance(place[1], (staticmethod, classmethod)) or not callable(place[1]):
        return None
    return place[1]


def is_callable(w: Emitter, value: Abstract) -> Abstract:
    """`callable(value)`."""
    if texts.is_foreign(value):
        return texts.call(w, "builtins:callable", [value], PYBOOL)
    return Const(callable(value.value) if isinstance(value, Const) else not isinstance(value, (Num, Arr, Tup)))


#: The keys of an array's flags, `a.flags["W"]`, and their attributes.
FLAGS = {
    "C_CONTIGUOUS": "c_contiguous",
    "C": "c_contiguous",
    "CONTIGUOUS": "contiguous",
    "F_CONTIGUOUS": "f_contiguous",
    "F": "f_contiguous",
    "WRITEABLE": "writeable",
    "W": "writeable",
    "ALIGNED": "aligned",
    "A": "aligned",
}


def _flag(array: ArrayType, name: str) -> Abstract:
    """Flags that the type decides: contiguity that is not promised by the layout counts as absent."""
    flags = {
        "c_contiguous": array.layout == "C",
        "C_CONTIGUOUS": array.layout == "C",
        "f_contiguous": array.layout == "F" or (array.layout == "C" and array.ndim <= 1),
        "F_CONTIGUOUS": array.layout == "F" or (array.layout == "C" and array.ndim <= 1),
        "contiguous": array.layout == "C",
        "writeable": not array.readonly,
        "aligned": True,
    }
    if name == "writeable" and array.mixed:
        fail(Code.CANNOT_UNIFY, "the array is writeable on some of the paths that lead here only")
    if name not in flags:
        fail(Code.NO_ATTRIBUTE, f"an array's flags have no '{name}' that is supported")
    return Const(flags[name])


# arrays


def dims(w: Emitter, value: Arr) -> list[Value]:
    """The registers of the shape."""
    return [w.b.value("dim", value.value, axis=axis) for axis in range(value.array.ndim)]


def strides(w: Emitter, value: Arr) -> list[Value]:
    """The registers of the strides, in bytes."""
    return [w.b.value("stride", value.value, axis=axis) for axis in range(value.array.ndim)]


def size(w: Emitter, value: Arr) -> Value:
    """The register of the number of elements."""
    total = w.b.i64(1)
    for position, dim in enumerate(dims(w, value)):
        total = dim if position == 0 else w.b.value("mul", total, dim)
    return total


def _shape(w: Emitter, value: Arr) -> Abstract:
    return Tup(tuple(Num(PYINT, dim) for dim in dims(w, value)))


def transposed(w: Emitter, value: Arr, axes: tuple[int, ...]) -> Arr:
    """The view with its axes in another order."""
    if axes == tuple(range(value.array.ndim)):
        return value
    shape, steps = dims(w, value), strides(w, value)
    layout = value.array.layout
    if axes == tuple(reversed(range(value.array.ndim))):
        layout = {"C": "F", "F": "C", "A": "A"}[layout]
    else:
        layout = "A"
    array = replace(value.array, layout=layout)
    operands = [*(shape[a] for a in axes), *(steps[a] for a in axes)]
    return Arr(array, w.b.value("view", value.value, w.b.i64(0), *operands, type=array))


def contiguous_view(w: Emitter, value: Arr, dims: list[Value]) -> Arr:
    """The elements of a C-contiguous array with other dimensions."""
    return strided_view(w, value, dims, w.b.i64(value.array.dtype.itemsize), "C")


def strided_view(w: Emitter, value: Arr, dims: list[Value], step: Value, layout: str) -> Arr:
    """The elements of an array of one axis, `step` bytes apart, with other dimensions."""
    strides: list[Value] = []
    for dim in reversed(dims):
        strides.insert(0, step)
        step = w.b.value("mul", step, dim)
    array = replace(value.array, ndim=len(dims), layout=layout if dims else "C")
    return Arr(array, w.b.value("view", value.value, w.b.i64(0), *dims, *strides, type=array))


def _part(name: str) -> Callable[[Emitter, Arr], Abstract]:
    def part(w: Emitter, value: Arr) -> Abstract:
        dtype = value.array.dtype
        if not dtype.is_complex:
            if name == "real":
                return value
            return w.call_library("creation:zeros_like", value)
        array = replace(value.array, dtype=dtype.part, layout="A")
        offset = w.b.i64(0 if name == "real" else dtype.part.itemsize)
        return Arr(array, w.b.value("view", value.value, offset, *dims(w, value), *strides(w, value), type=array))

    return part


_ARRAY: dict[str, Callable[..., Abstract]] = {
    "shape": _shape,
    "ndim": lambda w, a: Const(a.array.ndim),
    "size": lambda w, a: Num(PYINT, size(w, a)),
    "dtype": lambda w, a: Const(dtype_of(a.array.dtype)),
    "itemsize": lambda w, a: Const(a.array.dtype.itemsize),
    "nbytes": lambda w, a: Num(PYINT, w.b.value("mul", size(w, a), w.b.i64(a.array.dtype.itemsize))),
    "strides": lambda w, a: Tup(tuple(Num(PYINT, s) for s in strides(w, a))),
    "T": lambda w, a: transposed(w, a, tuple(reversed(range(a.array.ndim)))),
    "mT": lambda w, a: transposed(w, a, (*range(a.array.ndim - 2), a.array.ndim - 1, a.array.ndim - 2)),
    "real": _part("real"),
    "imag": _part("imag"),
    "flags": lambda w, a: Method(a, "flags"),
    "flat": lambda w, a: Sequence_("flat", (a,)),
}


# numbers


def _number_part(name: str) -> Callable[[Emitter, Num], Abstract]:
    def part(w: Emitter, value: Num) -> Abstract:
        scalar = value.scalar
        if scalar.is_complex:
            return Num(scalar.part, w.b.value(name, value.value))
        if name == "real":
            return value
        return Num(scalar, w.b.const(0, scalar.machine))

    return part


def _ratio_part(value: Num, name: str) -> Abstract:
    if not (value.scalar.is_integer or value.scalar.is_bool):
        fail(Code.NO_ATTRIBUTE, f"{describe(value)} has no attribute '{name}'")
    return value if name == "numerator" else Const(1)


_NUMBER: dict[str, Callable[..., Abstract]] = {
    "real": _number_part("real"),
    "imag": _number_part("imag"),
    "dtype": lambda w, x: Const(dtype_of(x.scalar)),
    "numerator": lambda w, x: _ratio_part(x, "numerator"),
    "denominator": lambda w, x: _ratio_part(x, "denominator"),
    "ndim": lambda w, x: Const(0),
    "shape": lambda w, x: Tup(()),
    "size": lambda w, x: Const(1),
    "itemsize": lambda w, x: Const(x.scalar.itemsize),
    "nbytes": lambda w, x: Const(x.scalar.itemsize),
    "T": lambda w, x: x,
}

_SLICE: dict[str, Callable[..., Abstract]] = {
    "start": lambda w, x: x.start,
    "stop": lambda w, x: x.stop,
    "step": lambda w, x: x.step,
}

_TABLES: dict[type, dict[str, Callable[..., Abstract]]] = {Arr: _ARRAY, Num: _NUMBER, SliceValue: _SLICE}
