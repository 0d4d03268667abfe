"""From a Python value to its type.

Takes an argument of a call as `coerce` leaves it; gives the exact interface type: weak scalars for Python's own numbers,
sized ones for NumPy's, arrays with layout and mutability, tuples item by item, and literal types for functions, classes,
modules and dtypes. Anything else is `QD206`, which names the argument, says what it is, and what to pass instead.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types import (
    NONE,
    PYBOOL,
    PYCOMPLEX,
    PYFLOAT,
    PYINT,
    STR,
    ArrayType,
    LiteralType,
    NamedTupleType,
    Scalar,
    TupleType,
    Type,
)
from quadrants.types.dtypes import scalar_of

#: Items of a tuple argument, at most: each is compiled as a parameter of its own.
MAX_TUPLE = 1000
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

#: Values of these types (and of subclasses of `type`, and dtypes) stand for themselves at compile time.
LITERAL_CLASSES: tuple[type, ...] = (
    types.FunctionType,
    types.ModuleType,
    np.ufunc,
    np.dtype,
    type,
    type(np.sum),
)

_HEAP_TYPE = 1 << 9  # the flag of classes that were made by a class statement
_DTYPE_NAMES = {
    "O": "object",
    "V": "structured",
    "S": "bytes",
    "U": "string",
    "M": "datetime64",
    "m": "timedelta64",
    "T": "string",
}
_NUMPY_SCALARS: dict[type, Scalar | None] = {}


def typeof(value: object, where: str = "the value") -> Type:
    """The type of `value`; `where` is what errors call it."""
    rule = _EXACT.get(type(value))
    return rule(value, where) if rule is not None else _typeof_other(value, where)


def is_literal(value: object) -> bool:
    """Whether a value is one that compiled code knows by identity."""
    if isinstance(value, types.BuiltinFunctionType):  # also the type of "abc".upper, a new object each time
        return isinstance(value.__self__, (types.ModuleType, type(None)))
    return (
        isinstance(value, LITERAL_CLASSES)
        or hasattr(type(value), "__quadrants_dispatcher__")
        or hasattr(type(value), "__quadrants_literal__")
    )


def is_namedtuple(cls: type) -> bool:
    """Whether a subclass of tuple was made by `namedtuple` or `NamedTuple` (or derives from one)."""
    fields = getattr(cls, "_fields", None)
    return isinstance(fields, tuple) and all(isinstance(name, str) for name in fields) and hasattr(cls, "_make")


def array_type(value: np.ndarray, where: str = "the value") -> ArrayType:
    """The type of an exact ndarray."""
    dtype = scalar_of(value.dtype)
    flags = value.flags
    if dtype is None or not flags.aligned:
        raise _bad_array(value, where)
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return ArrayType(dtype, value.ndim, layout, readonly=not flags.writeable)


def _typeof_int(value: Any, where: str) -> Type:
    if not INT64_MIN <= value <= INT64_MAX:
        raise OverflowError(
            f"{where} is {_shorten(value)}, which does not fit into 64 bits; integers are int64 in compiled code"
        )
    return PYINT


def _typeof_tuple(value: Any, where: str) -> Type:
    if len(value) > MAX_TUPLE:
        raise QuadrantsError(
            Code.TOO_LARGE,
            f"{where} is a tuple of {len(value)} items; compiled code takes up to {MAX_TUPLE}, each as a parameter",
            hint="pass a NumPy array: np.array(values)",
        )
    return TupleType(tuple(typeof(item, f"{where}[{index}]") for index, item in enumerate(value)))


def _typeof_namedtuple(value: Any, where: str) -> Type:
    cls = type(value)
    items = tuple(typeof(item, f"{where}.{name}") for name, item in zip(cls._fields, value, strict=True))
    return NamedTupleType(items, cls._fields, cls)


def _typeof_numpy_scalar(value: np.generic, where: str) -> Type:
    cls = type(value)
    if cls not in _NUMPY_SCALARS:
        _NUMPY_SCALARS[cls] = scalar_of(value.dtype)
    scalar = _NUMPY_SCALARS[cls]
    if scalar is None:
        raise unsupported(value, where)
    return scalar


def _typeof_other(value: object, where: str) -> Type:
    """Types that are recognised by a base class."""
    if is_literal(value):
        return LiteralType(value)
    if isinstance(value, np.generic):
        return _typeof_numpy_scalar(value, where)
    if isinstance(value, tuple) and is_namedtuple(type(value)):
        return _typeof_namedtuple(value, where)
    raise unsupported(value, where)


_EXACT: dict[type, Callable[[Any, str], Type]] = {
    bool: lambda value, where: PYBOOL,
    int: _typeof_int,
    float: lambda value, where: PYFLOAT,
    complex: lambda value, where: PYCOMPLEX,
    np.ndarray: array_type,
    tuple: _typeof_tuple,
    type(None): lambda value, where: NONE,
    str: lambda value, where: STR,
}


# Errors


def unsupported(value: object, where: str, reason: str = "", hint: str | None = None) -> QuadrantsError:
    """The error for a value that has no type."""
    name = type_name(type(value))
    return QuadrantsError(
        Code.UNSUPPORTED_TYPE,
        f"{where} is of type {name}, which {reason or 'compiled code cannot take'}",
        types=[(where, name)],
        hint=hint or hint_for(type(value)),
    )


def type_name(cls: type) -> str:
    """`list`, `pandas.Series`: the name that users know a class by."""
    module = cls.__module__
    return cls.__qualname__ if module in ("builtins", "__main__") else f"{module.split('.')[0]}.{cls.__qualname__}"


def hint_for(cls: type) -> str:
    """What to pass instead of an object of a class, by the nearest of its bases that the table knows."""
    for base in cls.__mro__:
        hint = _HINTS.get(f"{base.__module__}.{base.__qualname__}") or _PACKAGE_HINTS.get(base.__module__.split(".")[0])
        if hint:
            return hint
    if cls.__flags__ & _HEAP_TYPE:
        return "pass its data: numbers and NumPy arrays as arguments, or together in a named tuple"
    return "pass numbers, NumPy arrays, or tuples of them"


_HINTS = {
    "builtins.list": "pass a NumPy array, np.array(values), or a tuple",
    "builtins.dict": "pass the values as separate arguments, as a named tuple, or as arrays of keys and values",
    "builtins.set": "pass a sorted NumPy array: np.array(sorted(values))",
    "builtins.frozenset": "pass a sorted NumPy array: np.array(sorted(values))",
    "builtins.bytes": "pass np.frombuffer(data, dtype=np.uint8)",
    "builtins.bytearray": "pass np.frombuffer(data, dtype=np.uint8)",
    "builtins.memoryview": "pass np.asarray(view)",
    "array.array": "pass np.asarray(values), which shares the memory",
    "builtins.range": "pass its bounds as integers, or np.arange(start, stop, step)",
    "builtins.slice": "pass its bounds as integers",
    "builtins.generator": "pass np.fromiter(values, dtype=np.float64)",
    "builtins.builtin_function_or_method": "pass a function of your own that calls it",
    "builtins.method": "pass the plain function, and the object's data as arguments",
    "builtins.tuple": "pass tuple(values)",
    "builtins.int": "pass int(value)",
    "builtins.float": "pass float(value)",
    "builtins.complex": "pass complex(value)",
    "builtins.str": "pass str(value)",
    "decimal.Decimal": "pass float(value)",
    "fractions.Fraction": "pass float(value)",
    "functools.partial": "pass the function, and its bound arguments as arguments",
    "numpy.matrix": "pass np.asarray(value); `*` of arrays is element-wise, `@` multiplies matrices",
    "numpy.ma.MaskedArray": "pass value.filled(fill) or value.data, and the mask as another array",
    "numpy.ma.core.MaskedArray": "pass value.filled(fill) or value.data, and the mask as another array",
    "numpy.longdouble": "pass np.float64(value)",
    "numpy.clongdouble": "pass np.complex128(value)",
    "numpy.datetime64": "pass value.astype(np.int64)",
    "numpy.timedelta64": "pass value.astype(np.int64)",
}

_PACKAGE_HINTS = {
    "pandas": "pass value.to_numpy()",
    "polars": "pass value.to_numpy()",
    "xarray": "pass value.to_numpy()",
    "pyarrow": "pass value.to_numpy()",
    "scipy": "pass its arrays (for a sparse matrix: .data, .indices, .indptr), or value.toarray()",
    "torch": "pass value.detach().cpu()",
    "tensorflow": "pass value.numpy()",
    "jax": "pass np.asarray(value)",
    "jaxlib": "pass np.asarray(value)",
    "h5py": "pass dataset[...], which reads it into an array",
}


def _bad_array(value: np.ndarray, where: str) -> QuadrantsError:
    """The error for an array whose elements compiled code cannot read."""
    dtype = value.dtype
    if dtype.kind in _DTYPE_NAMES:
        kind = _DTYPE_NAMES[dtype.kind]
        reason, hint = (
            f"has {kind} elements (dtype {dtype})",
            _DTYPE_HINTS.get(dtype.kind, "convert it to a numeric dtype"),
        )
    elif not dtype.isnative:
        reason = f"has the byte order of another machine (dtype {dtype})"
        hint = "convert it: value.astype(value.dtype.newbyteorder('='))"
    elif scalar_of(dtype) is None:
        reason, hint = (
            f"has elements wider than this compiler's (dtype {dtype})",
            "convert it: value.astype(np.float64)",
        )
    else:
        reason, hint = "has elements at unaligned addresses", "pass value.copy()"
    return QuadrantsError(
        Code.UNSUPPORTED_TYPE, f"{where} is an array that {reason}", types=[(where, f"ndarray of {dtype}")], hint=hint
    )


_DTYPE_HINTS = {
    "O": "convert it to a numeric dtype: value.astype(np.float64)",
    "V": "pass its fields as separate arrays: value['name']",
    "M": "pass value.view(np.int64)",
    "m": "pass value.view(np.int64)",
    "S": "pass value.view(np.uint8)",
}


def _shorten(value: int) -> str:
    """An integer as text; a huge one by its size."""
    return str(value) if value.bit_length() < 200 else f"an integer of {value.bit_length()} bits"
