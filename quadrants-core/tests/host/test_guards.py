"""Which arguments an entry takes, and that all others go on to the end of the chain unharmed."""

from __future__ import annotations

import collections
import enum
from typing import Any

import numpy as np
import pytest
from host.native import identity, make, took

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
    LiteralType,
    NamedTupleType,
    OptionalType,
    SliceType,
    TupleType,
    Type,
)


class Float(float):
    pass


class Int(int):
    pass


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    pass


class Tuple(tuple):
    pass


class Array(np.ndarray):
    pass


Point = collections.namedtuple("Point", "x y")
Other = collections.namedtuple("Other", "x y")

_a = np.arange(12.0)
_big = np.arange(24.0).reshape(2, 3, 4)
_readonly = np.arange(3.0)
_readonly.flags.writeable = False
_unaligned = np.zeros(33, "u1")[1:].view("f8")

A1, A2, A3 = (ArrayType(F64, n) for n in (1, 2, 3))

CASES: list[tuple[Type, list[Any], list[Any]]] = [
    (
        PYFLOAT,
        [0.0, -1.5, float("nan"), float("inf")],
        [1, True, Float(2.0), np.float64(1.0), np.float32(1), "1.0", None, 1j, [1.0]],
    ),
    (
        PYINT,
        [
            0,
            1,
            -1,
            255,
            -256,
            2**29,
            2**30 - 1,
            2**30,
            -(2**30),
            2**31,
            2**60 - 1,
            2**60,
            -(2**60),
            2**62,
            2**63 - 1,
            -(2**63),
        ],
        [2**63, -(2**63) - 1, 2**64, 2**200, -(2**200), True, Int(3), Colour.RED, np.int64(1), 1.0, "1", None],
    ),
    (PYBOOL, [True, False], [0, 1, np.True_, None, 1.0, "x"]),
    (PYCOMPLEX, [1j, 1 + 2j], [1.0, 1, np.complex128(1j), None]),
    (F64, [np.float64(1.5)], [1.5, np.float32(1.5), np.int64(1), Float(1.0), np.array(1.5)]),
    (F32, [np.float32(1.5)], [1.5, np.float64(1.5), np.float16(1.5)]),
    (F16, [np.float16(1.5)], [1.5, np.float32(1.5)]),
    (C64, [np.complex64(1 + 2j)], [1 + 2j, np.complex128(1j)]),
    (C128, [np.complex128(1 + 2j)], [1 + 2j, np.complex64(1j), np.clongdouble(1j)]),
    (BOOL, [np.True_, np.False_], [True, False, np.int8(1)]),
    (I8, [np.int8(-128), np.int8(127)], [1, np.uint8(1), np.int16(1), np.True_]),
    (I16, [np.int16(-5)], [np.uint16(1), 1]),
    (I32, [np.int32(-5), np.intc(7)], [np.uint32(1), np.int64(1), 1]),
    (
        I64,
        [np.int64(-(2**63)), np.longlong(5), np.dtype("l").type(6)],
        [1, np.int32(1), np.uint64(1), np.timedelta64(1, "s")],
    ),
    (U8, [np.uint8(255)], [np.int8(1), 255]),
    (U16, [np.uint16(65535)], [np.int16(1), 1]),
    (U32, [np.uint32(2**32 - 1)], [np.int32(1), 1]),
    (U64, [np.uint64(2**64 - 1), np.ulonglong(3)], [np.int64(1), 1, 2**63]),
    (STR, ["", "abc", "\N{GREEK SMALL LETTER PI}"], [b"abc", Text("a"), None, np.str_("a")]),
    (NONE, [None], [0, False, ()]),
    (
        A1,
        [_a, np.zeros(0), np.zeros(1), _a[2:5], _a[:1:2]],
        [
            _a[::2],
            _a[::-1],
            _a.reshape(3, 4),
            np.array(1.0),
            _a.astype("f4"),
            _a.astype(">f8"),
            _a.astype("i8"),
            _readonly,
            _unaligned,
            _a.view(Array),
            np.ma.array(_a),
            [1.0, 2.0],
            (1.0,),
            None,
            np.float64(1.0),
            _a.astype("c16"),
            np.array(["a"]),
            np.array([None]),
            np.zeros(3, "M8[s]"),
            np.zeros(3, [("x", "f8")]),
            np.zeros(3, np.longdouble),
        ],
    ),
    (
        A2,
        [_a.reshape(3, 4), np.zeros((0, 5)), np.zeros((1, 1)), np.zeros((3, 1))],
        [_a, _a.reshape(3, 4).T, _big, _big[:, 0]],
    ),
    (
        ArrayType(F64, 2, "F"),
        [_a.reshape(3, 4).T, np.zeros((3, 4), order="F")],
        [_a.reshape(3, 4), np.zeros((1, 1)), _big[:, 0]],
    ),
    (ArrayType(F64, 2, "A"), [_big[:, 0, ::2], _big[0, ::-1], _big[0].T[::2]], [_a.reshape(3, 4), _a.reshape(3, 4).T]),
    (ArrayType(F64, 1, "A"), [_a[::2], _a[::-1]], [_a, _a[:1]]),
    (A3, [_big], [_big[0], _big.transpose(2, 1, 0)]),
    (ArrayType(F64, 0), [np.array(1.0), np.zeros(())], [1.0, np.float64(1), np.zeros(1), _readonly[0]]),
    (ArrayType(F64, 1, "C", readonly=True), [_readonly], [_a, _a[::2], _unaligned]),
    (
        ArrayType(I64, 1),
        [np.zeros(2, "i8"), np.zeros(2, "q"), np.zeros(2, "l")],
        [np.zeros(2, "u8"), np.zeros(2, "m8[s]"), np.zeros(2)],
    ),
    (ArrayType(U64, 1), [np.zeros(2, "Q"), np.zeros(2, "L")], [np.zeros(2, "i8")]),
    (ArrayType(I32, 1), [np.zeros(2, "i4"), np.zeros(2, np.intc)], [np.zeros(2, "u4"), np.zeros(2, ">i4")]),
    (ArrayType(I8, 1), [np.zeros(2, "i1")], [np.zeros(2, "u1"), np.zeros(2, "?")]),
    (ArrayType(BOOL, 1), [np.zeros(2, "?")], [np.zeros(2, "u1"), np.zeros(2, "i1")]),
    (ArrayType(F16, 1), [np.zeros(2, "f2")], [np.zeros(2, "f4"), np.zeros(2, "u2")]),
    (ArrayType(C64, 1), [np.zeros(2, "c8")], [np.zeros(2, "c16"), np.zeros(2, "f8")]),
    (TupleType(()), [()], [(1,), [], None, Tuple()]),
    (
        TupleType((PYINT, PYFLOAT)),
        [(1, 2.0)],
        [(1, 2), (1,), (1, 2.0, 3), [1, 2.0], Point(1, 2.0), Tuple((1, 2.0)), (2**63, 1.0)],
    ),
    (TupleType((A1, TupleType((PYINT, NONE)))), [(_a, (1, None))], [(_a, (1, 2)), (_a[::2], (1, None)), (_a, 1)]),
    (
        NamedTupleType((PYINT, PYFLOAT), ("x", "y"), Point),
        [Point(1, 2.0)],
        [(1, 2.0), Other(1, 2.0), Point(1, 2), Point(1.0, 2.0)],
    ),
    (OptionalType(PYFLOAT), [None, 1.0], [1, False, ()]),
    (OptionalType(A1), [None, _a], [_a[::2], 1.0]),
    (OptionalType(PYINT), [None, 5, 2**62], [2**63, 1.0]),
    (OptionalType(TupleType((PYINT, OptionalType(PYFLOAT)))), [None, (1, None), (1, 2.0)], [(None, 1.0), (1, 2)]),
    (LiteralType(len), [len], [max, None, 1]),
    (LiteralType(np.float32), [np.float32], [np.float64, np.float32(1)]),
    (LiteralType(None), [None], [0]),
    (LiteralType("axis"), ["axis", "".join(["ax", "is"])], ["Axis", b"axis", Text("axis"), 1]),
    (LiteralType(10**6), [10**6, int("1000000")], [10**6 + 1, 1e6, np.int64(10**6), 2**80]),
    (LiteralType(2**80), [2**80], [10**6]),
    (LiteralType(True), [True], [1, False, np.True_]),
    (SliceType(PYINT, NONE, PYINT), [slice(1, None, 2)], [slice(1, 2, 3), slice(None), 1, slice(1.0, None, 2)]),
]


@pytest.mark.parametrize(("type", "good", "bad"), CASES, ids=[str(case[0])[:60] for case in CASES])
def test_guard(type: Type, good: list[Any], bad: list[Any]) -> None:
    dispatcher = make([type], type, identity(type))
    for value in good:
        result = dispatcher(value)
        assert dispatcher.misses == [], value
        assert result.__class__ is value.__class__ or isinstance(value, np.generic)
        assert result is value or str(result) == str(value)
    for value in bad:
        assert not took(dispatcher, value), value
        assert dispatcher.misses[-1] == (value,) or dispatcher.misses[-1][0] is value
    assert took(dispatcher, good[0])


def test_number_of_arguments() -> None:
    dispatcher = make([PYFLOAT], PYFLOAT, identity(PYFLOAT))
    assert dispatcher(1.0) == 1.0
    for arguments in ((), (1.0, 2.0), tuple(range(300))):
        with pytest.raises(TypeError, match="positional argument"):
            dispatcher(*arguments)


def test_without_exact_layouts_any_strides_fit() -> None:
    for layout, values in {
        "A": [_a[::2], _a, _a[::-1]],
        "C": [_a],
    }.items():
        type = ArrayType(F64, 1, layout)
        dispatcher = make([type], type, identity(type), exact=False)
        assert all(took(dispatcher, value) for value in values)
    type = ArrayType(F64, 2, "F")
    dispatcher = make([type], type, identity(type), exact=False)
    assert took(dispatcher, np.zeros((1, 1))) and not took(dispatcher, np.zeros((2, 2)))
    type = ArrayType(F64, 1, "C", readonly=True)
    dispatcher = make([type], type, identity(type), exact=False)
    assert took(dispatcher, _readonly) and took(dispatcher, _a)


def test_strides_and_dims_reach_the_kernel() -> None:
    type = ArrayType(F64, 2, "A")
    result = TupleType((PYINT,) * 4)
    body = "\n".join(f"  store i64 %p{2 + i}, ptr %r{i}" for i in range(4)) + "\n  ret i32 0"
    dispatcher = make([type], result, body)
    view = _big[1, ::-1, ::2]
    assert dispatcher(view) == (*view.shape, *view.strides)


def test_an_array_changed_in_place_is_looked_at_again() -> None:
    dispatcher = make([A1], A1, identity(A1))
    array = np.arange(6.0)
    assert took(dispatcher, array)
    array.resize((2, 3), refcheck=False)
    assert not took(dispatcher, array)
    array.resize((6,), refcheck=False)
    assert took(dispatcher, array)
    array.flags.writeable = False
    assert not took(dispatcher, array)


def test_chain_finds_every_specialisation() -> None:
    from host.native import Dispatcher, function_of, install, load_kernel

    dispatcher: Any = Dispatcher(function_of(1))
    types = [PYFLOAT, PYINT, A1, A2, TupleType((PYINT,)), F32, NONE, PYBOOL]
    for type in types:
        install(dispatcher, load_kernel([type], type, identity(type)))
    values = [1.5, 7, _a, _a.reshape(3, 4), (3,), np.float32(2), None, True]
    for value in values * 2:
        assert took(dispatcher, value), value
    assert not took(dispatcher, 1j)
