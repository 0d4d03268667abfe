"""The type lattice: what the compiler knows about a value.

Takes nothing from the rest of the package; everything above (`ir`, `infer`, `lower`, `host`, `api`) speaks in these types.
"""

from __future__ import annotations

import importlib

from quadrants.types.compound import (
    ArrayType,
    CellsType,
    ChoiceType,
    ExcType,
    FormatHole,
    FormatType,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    ObjectType,
    OptionalType,
    RefType,
    SliceType,
    StrType,
    TupleType,
    UnionType,
)
from quadrants.types.lanes import LanesType
from quadrants.types.scalar import (
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
    PYBOOL,
    PYCOMPLEX,
    PYFLOAT,
    PYINT,
    U8,
    U16,
    U32,
    U64,
    Kind,
    Scalar,
    Type,
)

EXC = ExcType()
NONE = NoneType()
STR = StrType()
OBJECT = ObjectType()

__all__ = [
    "BOOL",
    "C128",
    "C64",
    "EXC",
    "F16",
    "F32",
    "F64",
    "I16",
    "I32",
    "I64",
    "I8",
    "NONE",
    "PYBOOL",
    "PYCOMPLEX",
    "PYFLOAT",
    "PYINT",
    "OBJECT",
    "STR",
    "U16",
    "U32",
    "U64",
    "U8",
    "ArrayType",
    "CellsType",
    "ChoiceType",
    "ExcType",
    "FormatHole",
    "FormatType",
    "Kind",
    "LanesType",
    "ListType",
    "LiteralType",
    "NamedTupleType",
    "NoneType",
    "ObjectType",
    "OptionalType",
    "RefType",
    "Scalar",
    "SliceType",
    "StrType",
    "TupleType",
    "Type",
    "UnionType",
]

#: What users find here: the types of the portable language. They are made by `quadrants.api`, which is loaded when they are used.
_PORTABLE = {
    "vector": ("quadrants.api.portable.values", "vector_type"),
    "matrix": ("quadrants.api.portable.values", "matrix_type"),
    "struct": ("quadrants.api.portable.structs", "struct"),
    "ndarray": ("quadrants.types.annotations", "ndarray"),
    "NDArray": ("quadrants.types.annotations", "ndarray"),
}


def __getattr__(name: str) -> object:
    if name in _PORTABLE:
        module, attribute = _PORTABLE[name]
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'quadrants.types' has no attribute {name!r}", name=name)
