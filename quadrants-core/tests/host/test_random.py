"""Random nested types: a value goes in and comes out the same, natively; values of other types miss, and nothing is leaked."""

from __future__ import annotations

import collections
import gc
from typing import Any

import numpy as np
from host.native import identity, make, took
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrants.host.fallback import accepts
from quadrants.host.symbols import live_blocks
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
    PYBOOL,
    PYCOMPLEX,
    PYFLOAT,
    PYINT,
    STR,
    U8,
    U16,
    U32,
    U64,
    ArrayType,
    NamedTupleType,
    OptionalType,
    Scalar,
    SliceType,
    TupleType,
    Type,
)
from quadrants.types.dtypes import dtype_of

MACHINE = [BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128]
WEAK = [PYBOOL, PYINT, PYFLOAT, PYCOMPLEX]
Pair = collections.namedtuple("Pair", "first second")

arrays = st.builds(ArrayType, st.sampled_from(MACHINE), st.integers(0, 3), st.sampled_from("CFA"), st.booleans())


def proper(type: ArrayType) -> ArrayType:
    """Rank 0 is always contiguous, rank 1 never of layout F."""
    layout = "C" if type.ndim == 0 or (type.ndim == 1 and type.layout == "F") else type.layout
    return ArrayType(type.dtype, type.ndim, layout, type.readonly)


leaves = st.sampled_from([*MACHINE, *WEAK, NONE, STR, SliceType(PYINT, NONE, PYINT)]) | arrays.map(proper)


def compound(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return (
        st.lists(inner, max_size=3).map(lambda items: TupleType(tuple(items)))
        | st.tuples(inner, inner).map(lambda items: NamedTupleType(items, ("first", "second"), Pair))
        | inner.filter(lambda type: not isinstance(type, OptionalType) and type != NONE).map(OptionalType)
    )


types = st.recursive(leaves, compound, max_leaves=5)


def value_of(draw: Any, type: Type) -> Any:
    """A value of the type."""
    if isinstance(type, Scalar):
        return scalar(draw, type)
    if isinstance(type, ArrayType):
        return array(draw, type)
    if isinstance(type, NamedTupleType):
        return Pair(*(value_of(draw, item) for item in type.items))
    if isinstance(type, TupleType):
        return tuple(value_of(draw, item) for item in type.items)
    if isinstance(type, OptionalType):
        return None if draw(st.booleans()) else value_of(draw, type.item)
    if isinstance(type, SliceType):
        return slice(draw(st.integers(-5, 5)), None, draw(st.integers(1, 3)))
    return draw(st.text(max_size=3)) if type == STR else None


def scalar(draw: Any, type: Scalar) -> Any:
    if type.is_bool:
        value: Any = draw(st.booleans())
    elif type.is_integer:
        low = -(1 << (type.bits - 1)) if type.is_signed else 0
        value = draw(st.integers(low, low + (1 << type.bits) - 1))
    else:
        part = type.part.bits
        value = draw(st.floats(width=part))
        value = complex(value, draw(st.floats(width=part))) if type.is_complex else value
    return value if type.weak else dtype_of(type).type(value)


def array(draw: Any, type: ArrayType) -> np.ndarray:
    shape = tuple(draw(st.lists(st.integers(2, 3), min_size=type.ndim, max_size=type.ndim)))
    if type.layout == "A":
        made = np.zeros(tuple(2 * n for n in shape), dtype_of(type.dtype))[(slice(None, None, -2),) * type.ndim]
    else:
        made = np.zeros(shape, dtype_of(type.dtype), order=type.layout)
    made[...] = np.arange(made.size).reshape(shape).astype(made.dtype)
    made.flags.writeable = not type.readonly
    return made


def same(a: Any, b: Any) -> bool:
    """Equal with the same classes; arrays are the very objects."""
    if isinstance(a, np.ndarray):
        return a is b
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(np.isnan(a)) == bool(np.isnan(b)) if a != a else repr(a) == repr(b)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), type=types, other=types)
def test_there_and_back(data: Any, type: Type, other: Type) -> None:
    before = live_blocks()
    dispatcher = make([type], type, identity(type))
    values = [value_of(data.draw, type) for _ in range(3)]
    for value in values:
        result = dispatcher(value)
        assert dispatcher.misses == [] and accepts(type, value)
        assert same(value, result), (value, result)
    stranger = value_of(data.draw, other)
    assert took(dispatcher, stranger) == accepts(type, stranger)
    del result, values, value, stranger
    gc.collect(0)
    assert live_blocks() == before
