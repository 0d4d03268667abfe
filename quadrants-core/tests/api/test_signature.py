from __future__ import annotations

import pickle

import numpy as np
import pytest

import quadrants as qd
from quadrants.api.signature import as_signature, as_signatures, parse_signature
from quadrants.diagnostics import Code, QuadrantsError
from quadrants.types import NONE, ArrayType, OptionalType, TupleType
from quadrants.types.names import PUBLIC, TypeName, as_type, type_text
from quadrants.types.scalar import SCALARS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("float64(float64[:], int32)", "float64(float64[:], int32)"),
        ("void(f8[:, ::1])", "none(float64[:, ::1])"),
        ("f4(f2, f4, f8)", "float32(float16, float32, float64)"),
        ("i8(i1, i2, i4, i8)", "int64(int8, int16, int32, int64)"),
        ("u8(u1, u2, u4, u8)", "uint64(uint8, uint16, uint32, uint64)"),
        ("c16(c8, c16)", "complex128(complex64, complex128)"),
        ("b1(bool, bool_, boolean)", "bool(bool, bool, bool)"),
        ("intp(int_, uintp, double, single)", "int64(int64, uint64, float64, float32)"),
        (
            "f64(f32, i16, i32, i64, u16, u32, u64, c128)",
            "float64(float32, int16, int32, int64, uint16, uint32, uint64, complex128)",
        ),
        ("none()", "none()"),
        ("(f8, i8)", "(float64, int64)"),
        ("(f8,)", "(float64)"),
        ("()", "()"),
        ("Tuple((f8, i8))(UniTuple(f8, 3))", "Tuple(float64, int64)(Tuple(float64, float64, float64))"),
        ("Tuple(f8, i8)((f8, i8), f8)", "Tuple(float64, int64)(Tuple(float64, int64), float64)"),
        ("f8(Optional(f8), optional(i8[:]))", "float64(Optional(float64), Optional(int64[:]))"),
        ("void(f4[::1, :], f4[:, :, :], f4[::1])", "none(float32[::1, :], float32[:, :, :], float32[::1])"),
        ("void(Array(f8, 2, 'F'), Array(f8, 0, 'C'))", "none(float64[::1, :], float64[()])"),
        ("  float64 ( float64 [ : ] ) ", "float64(float64[:])"),
    ],
)
def test_text(text: str, shown: str) -> None:
    assert str(parse_signature(text)) == shown


@pytest.mark.parametrize(
    ("text", "message", "marked", "hint"),
    [
        ("flaot64(f8)", "unknown type 'flaot64'", "flaot64", "did you mean float64?"),
        ("f8(f8[::1, :, ::1])", "marks the contiguous axis", "[::1, :, ::1]", ""),
        ("f8(f8[:, ::1, :])", "marks the contiguous axis", "[:, ::1, :]", ""),
        ("f8(f8[3])", "expected `:` or `::1`, found '3'", "3", ""),
        ("f8(f8[::2])", "step of a contiguous axis is 1", "2", ""),
        ("f8(f8[])", "one `:` for each axis", "[]", ""),
        ("f8(f8", "found the end", "", ""),
        ("f8", "expected `(`", "", ""),
        ("f8(f8)x", "expected the end, found 'x'", "x", ""),
        ("f8($)", "unexpected '$'", "$", ""),
        ("void(void[:])", "elements of an array are scalars", "void", ""),
        ("f8(Array(f8, 2, 'X'))", "the layout is", "'X'", ""),
        ("", "expected a type", "", ""),
    ],
)
def test_mistakes_are_marked(text: str, message: str, marked: str, hint: str) -> None:
    with pytest.raises(QuadrantsError) as caught:
        parse_signature(text)
    error = caught.value
    assert error.code is Code.BAD_SIGNATURE and message in error.message and hint in (error.hint or "")
    _, shown, carets = error.message.split("\n")
    if marked:
        start = carets.index("^")
        assert shown[start : start + len(marked)] == marked
        assert carets.count("^") == len(marked)


def test_names_make_types_and_signatures() -> None:
    f8 = SCALARS["f64"]
    assert qd.float64[:].type == ArrayType(f8, 1, "A")
    assert qd.float64[::1].type == ArrayType(f8, 1, "C")
    assert qd.float64[:, ::1].type == ArrayType(f8, 2, "C")
    assert qd.float64[::1, :].type == ArrayType(f8, 2, "F")
    assert qd.float64[()].type == ArrayType(f8, 0, "C")
    assert str(qd.float64(qd.int64, qd.f32[:])) == "float64(int64, float32[:])"
    assert str(qd.float64()) == "float64()"
    assert str(qd.void(float, np.int8)) == "none(float64, int8)"
    for bad in (
        lambda: qd.float64[1],
        lambda: qd.float64[1:],
        lambda: qd.float64[::1, ::1],
        lambda: qd.float64[:, ::1, :],
    ):
        with pytest.raises(ValueError, match="axis"):
            bad()
    with pytest.raises(TypeError, match="elements are scalars"):
        qd.float64[:][:]


def test_short_names_count_bits() -> None:
    assert (
        qd.i8 == qd.int8 and qd.u8 == qd.uint8 and qd.i64 == qd.int64 and qd.f64 == qd.float64 and qd.f16 == qd.float16
    )
    assert qd.c128 == qd.complex128 and qd.u1 == qd.bool_ == qd.boolean


def test_names_convert_values() -> None:
    assert type(qd.float32(3)) is np.float32
    assert type(qd.int8(3.9)) is np.int8 and qd.int8(3.9) == 3
    assert qd.int32(np.array([1.5, 2.5])).dtype == np.int32
    assert np.zeros(2, dtype=qd.float32).dtype == np.float32
    with pytest.raises(TypeError, match="one value"):
        qd.float32(1, 2)


def test_names_are_values() -> None:
    assert pickle.loads(pickle.dumps(qd.float64[:, ::1])) == qd.float64[:, ::1]
    assert len({qd.float64, qd.f64, qd.int64}) == 2
    assert qd.float64 != qd.float32
    with pytest.raises(AttributeError, match="immutable"):
        qd.float64.type = qd.int64.type
    assert all(isinstance(name, TypeName) for name in PUBLIC.values())


def test_signature_objects() -> None:
    assert str(as_signature((qd.float64, "f8[:]", int, np.float32, (qd.int8, bool)))) == (
        "(float64, float64[:], int64, float32, Tuple(int8, bool))"
    )
    assert as_signatures(None) == ()
    assert len(as_signatures(["f8(f8)", qd.int64(qd.int64), (qd.int8,)])) == 3
    assert as_signatures("f8(f8)") == (parse_signature("f8(f8)"),)
    for bad in (3, ("nonsense",), (object(),), {"a": 1}):
        with pytest.raises(QuadrantsError) as caught:
            as_signature(bad)
        assert caught.value.code is Code.BAD_SIGNATURE


def test_as_type() -> None:
    assert as_type(None) == NONE
    assert as_type((int, float)) == TupleType((SCALARS["i64"], SCALARS["f64"]))
    assert as_type(np.dtype("f4")) == SCALARS["f32"]
    assert type_text(OptionalType(SCALARS["pyfloat"])) == "Optional(float)"
    assert type_text(ArrayType(SCALARS["f32"], 2, "C", readonly=True)) == "float32[:, ::1] (read-only)"
