"""Types as users write them: `qd.float64`, `qd.f32`, `qd.float64[:, ::1]`, `qd.float64(qd.int64)`.

Takes nothing but types and dtypes; gives `TypeName`, the object behind each public name, and `Signature`. A name of a scalar
type is called like NumPy's: `qd.float32(x)` converts, also in compiled code. Called with types it makes a signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrants._frozen import frozen
from quadrants.types import (
    BOOL,
    C64,
    C128,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    NONE,
    U8,
    U16,
    U32,
    U64,
    ArrayType,
    NoneType,
    OptionalType,
    Scalar,
    TupleType,
    Type,
)
from quadrants.types.dtypes import dtype_of, scalar_of

_PYTHON_CLASSES: dict[object, Type] = {int: I64, float: F64, bool: BOOL, complex: C128, None: NONE, type(None): NONE}


@frozen
class Signature:
    """The types of the parameters and of the result; `result` is None where it is inferred."""

    params: tuple[Type, ...]
    result: Type | None = None

    def __str__(self) -> str:
        params = ", ".join(map(type_text, self.params))
        return f"{'' if self.result is None else type_text(self.result)}({params})"

    __repr__ = __str__


class TypeName:
    """A type that users can name, subscript (arrays), call with values (conversion) and call with types (signatures)."""

    __slots__ = ("type",)

    type: Type

    def __init__(self, type: Type) -> None:
        object.__setattr__(self, "type", type)

    @property
    def dtype(self) -> np.dtype:
        """NumPy's dtype, so that `np.zeros(3, qd.float32)` works."""
        if not isinstance(self.type, Scalar):
            raise AttributeError(f"{self!r} is not a scalar type: it has no dtype")
        return dtype_of(self.type)

    @property
    def __quadrants_alias__(self) -> object:
        """What compiled code takes it for: NumPy's class of the scalar."""
        return self.dtype.type if isinstance(self.type, Scalar) else self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self!r} is immutable")

    def __getitem__(self, index: Any) -> TypeName:
        """`t[:]` any layout, `t[::1]` and `t[:, ::1]` C-contiguous, `t[::1, :]` Fortran-contiguous, `t[()]` of rank 0."""
        if not isinstance(self.type, Scalar):
            raise TypeError(f"arrays of {self!r} do not exist: elements are scalars")
        return TypeName(array_of(self.type, index if isinstance(index, tuple) else (index,)))

    def __call__(self, *args: Any) -> Any:
        if all(isinstance(arg, (TypeName, Type, type)) for arg in args):
            return Signature(tuple(map(as_type, args)), self.type)
        if not isinstance(self.type, Scalar) or len(args) != 1:
            raise TypeError(f"{self!r} takes one value to convert, or types to make a signature")
        return self.dtype.type(args[0]) if np.ndim(args[0]) == 0 else np.asarray(args[0]).astype(self.dtype)

    def __eq__(self, other: object) -> bool:
        return self.type == other.type if isinstance(other, TypeName) else NotImplemented

    def __hash__(self) -> int:
        return hash((TypeName, self.type))

    def __repr__(self) -> str:
        return type_text(self.type)

    def __reduce__(self) -> tuple[Any, ...]:
        return TypeName, (self.type,)


def _is_hashable(value: object) -> bool:
    return type(value).__hash__ is not None


def array_of(dtype: Scalar, dims: Sequence[object]) -> ArrayType:
    """The array type of a subscript; ValueError says which part is not understood."""
    for dim in dims:
        if not (isinstance(dim, slice) and dim.start is None and dim.stop is None and dim.step in (None, 1)):
            raise ValueError("each axis is `:` or `::1`")
    units = [axis for axis, dim in enumerate(dims) if dim.step == 1]  # type: ignore[attr-defined]
    rank = len(dims)
    if len(units) > 1 or (units and units[0] not in (0, rank - 1)):
        raise ValueError("`::1` marks the contiguous axis: the last one (C) or the first one (Fortran)")
    layout = "C" if rank == 0 else "A" if not units else "C" if units[0] == rank - 1 else "F"
    return ArrayType(dtype, rank, layout)


def as_type(spec: Any) -> Type:
    """The type that an object names: a `TypeName`, a type, a Python class, a dtype or NumPy scalar class, a tuple of those."""
    if isinstance(spec, TypeName):
        return spec.type
    if isinstance(spec, Type):
        return spec
    if _is_hashable(spec) and spec in _PYTHON_CLASSES:
        return _PYTHON_CLASSES[spec]
    if isinstance(spec, tuple):
        return TupleType(tuple(map(as_type, spec)))
    if isinstance(spec, np.dtype) or (isinstance(spec, type) and issubclass(spec, np.generic)):
        scalar = scalar_of(np.dtype(spec))
        if scalar is not None:
            return scalar
    raise TypeError(f"{spec!r} does not name a type")


#: The long name of each sized scalar.
SCALAR_NAMES: dict[Scalar, str] = {
    BOOL: "bool",
    I8: "int8",
    I16: "int16",
    I32: "int32",
    I64: "int64",
    U8: "uint8",
    U16: "uint16",
    U32: "uint32",
    U64: "uint64",
    F16: "float16",
    F32: "float32",
    F64: "float64",
    C64: "complex64",
    C128: "complex128",
}

_DIMS = {
    "A": lambda rank: [":"] * rank,
    "C": lambda rank: [":"] * (rank - 1) + ["::1"] * (rank > 0),
    "F": lambda rank: ["::1", *[":"] * (rank - 1)],
}


def type_text(type_: Type) -> str:
    """A type as signatures write it: `float64[:, ::1]`, `Tuple(int64, bool)`; weak types by their Python names."""
    if isinstance(type_, Scalar):
        return str(type_)[2:] if type_.weak else SCALAR_NAMES[type_]
    if isinstance(type_, ArrayType):
        dims = ", ".join(_DIMS[type_.layout](type_.ndim)) or "()"
        return f"{type_text(type_.dtype)}[{dims}]{' (read-only)' if type_.readonly else ''}"
    if isinstance(type_, TupleType):
        return f"Tuple({', '.join(map(type_text, type_.items))})"
    if isinstance(type_, OptionalType):
        return f"Optional({type_text(type_.item)})"
    return "none" if isinstance(type_, NoneType) else str(type_)


#: The public names, attributes of `quadrants`. Short ones count bits, as in the portable language: `i8` is one byte.
PUBLIC: dict[str, TypeName] = {
    **{name: TypeName(scalar) for scalar, name in SCALAR_NAMES.items() if name != "bool"},
    **{f"{name[0]}{scalar.bits}": TypeName(scalar) for scalar, name in SCALAR_NAMES.items() if name != "bool"},
    **{name: TypeName(BOOL) for name in ("bool_", "boolean", "u1")},
    **{name: TypeName(I64) for name in ("intp", "int_", "long_")},
    "uintp": TypeName(U64),
    "void": TypeName(NONE),
    "none": TypeName(NONE),
}
