"""Arguments against declared signatures.

Takes the types of a call and the signatures that the decorator was given; gives the converted arguments for the best one.

A declared scalar stands for the values that the interpreter would take for it: `float64` for Python floats and np.float64,
`int64` for Python ints and np.int64, and so on. Other numbers are converted if no value of their type is lost (an int to a float,
a float32 to a float64). A declared array stands for arrays of the same elements and rank; `[:]` takes every layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types import (
    NONE,
    ArrayType,
    LiteralType,
    NamedTupleType,
    NoneType,
    OptionalType,
    Scalar,
    TupleType,
    Type,
)
from quadrants.types.dtypes import dtype_of
from quadrants.types.names import Signature, type_text
from quadrants.types.promotion import promote, weak_version
from quadrants.types.scalar import C128, F64, I64

Match = tuple[int, Any]  # (how much is converted, the value)

_WIDEST = (I64, F64, C128)


def primary(type_: Type) -> Type:
    """The member of a declared type that is compiled ahead: Python's own number, the contiguous array."""
    if isinstance(type_, Scalar):
        return weak_version(type_) if type_.is_bool or type_ in _WIDEST else type_
    if isinstance(type_, ArrayType):
        return ArrayType(type_.dtype, type_.ndim, "C") if type_.layout == "A" else type_
    if isinstance(type_, TupleType):
        return TupleType(tuple(map(primary, type_.items)))
    return primary(type_.item) if isinstance(type_, OptionalType) else type_


def choose(signatures: Sequence[Signature], types: Sequence[Type], values: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments for the signature that needs the fewest conversions; None if they fit none."""
    best: tuple[int, tuple[Any, ...]] | None = None
    for signature in signatures:
        found = _fit_all(signature.params, types, values)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


def chosen_result(signatures: Sequence[Signature], types: Sequence[Type]) -> Type | None:
    """The declared result of the signature that arguments of the types belong to."""
    for signature in signatures:
        if len(signature.params) == len(types) and all(map(accepts, signature.params, types)):
            return signature.result
    return None


def accepts(declared: Type, actual: Type) -> bool:
    """Whether values of a type are values of the declared one without conversion."""
    if isinstance(declared, Scalar) and isinstance(actual, Scalar):
        return actual.machine == declared.machine
    if isinstance(declared, ArrayType) and isinstance(actual, ArrayType):
        same = declared.dtype == actual.dtype and declared.ndim == actual.ndim
        return same and declared.layout in ("A", actual.layout)
    if isinstance(declared, OptionalType):
        return isinstance(actual, NoneType) or accepts(declared.item, actual)
    if isinstance(declared, TupleType) and isinstance(actual, (TupleType, NamedTupleType)):
        return len(declared.items) == len(actual.items) and all(map(accepts, declared.items, actual.items))
    return declared == actual or isinstance(declared, LiteralType)


def no_match(name: str, signatures: Sequence[Signature], types: Sequence[Type]) -> QuadrantsError:
    """The error for arguments that fit no signature."""
    given = ", ".join(map(type_text, types))
    return QuadrantsError(
        Code.BAD_ARGUMENTS,
        f"no signature of {name}() takes ({given})",
        notes=[f"declared: {name}{Signature(signature.params)}" for signature in signatures],
        hint="convert the arguments, declare another signature, or leave the signatures out to compile for any types",
    )


def _fit_all(
    params: Sequence[Type], types: Sequence[Type], values: Sequence[Any]
) -> tuple[int, tuple[Any, ...]] | None:
    if len(params) != len(types):
        return None
    matches = [_fit(*each) for each in zip(params, types, values)]
    found = [match for match in matches if match is not None]
    if len(found) < len(matches):
        return None
    return sum(cost for cost, _ in found), tuple(value for _, value in found)


def _fit(declared: Type, actual: Type, value: Any) -> Match | None:
    """The value as one of the declared type, and the cost; None if it is not and cannot be."""
    if accepts(declared, actual):
        exact = (
            declared.layout == actual.layout
            if isinstance(declared, ArrayType) and isinstance(actual, ArrayType)
            else True
        )
        return (0 if exact else 1), value
    if isinstance(declared, OptionalType):
        return None if actual == NONE else _fit(declared.item, actual, value)
    if isinstance(declared, TupleType) and isinstance(actual, TupleType):
        found = _fit_all(declared.items, actual.items, value)
        return found
    if isinstance(declared, Scalar) and isinstance(actual, Scalar):
        return _convert(declared, actual, value)
    return None


def _convert(declared: Scalar, actual: Scalar, value: Any) -> Match | None:
    """Numbers: a Python number by its kind, a NumPy one by promotion."""
    if actual.weak:
        if actual.kind.value > declared.kind.value and not (actual.is_integer and declared.is_integer):
            return None
    elif promote(declared, actual) != declared:
        return None
    target = primary(declared)
    assert isinstance(target, Scalar)
    cost = 2 + 2 * (declared.kind.value - actual.kind.value) + (declared.bits < 64)
    number = dtype_of(declared).type(value)  # a Python int out of range raises OverflowError here, as in NumPy
    return cost, number.item() if target.weak else number
