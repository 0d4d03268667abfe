"""What results become: the exact classes, identity, ownership of array memory."""

from __future__ import annotations

import collections
import gc
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest
from host.native import identity, make

from quadrants.host.flags import TRACE_DOMAIN
from quadrants.host.symbols import live_blocks
from quadrants.types import (
    F64,
    I32,
    NONE,
    PYBOOL,
    PYFLOAT,
    PYINT,
    STR,
    U8,
    ArrayType,
    FormatHole,
    FormatType,
    LiteralType,
    NamedTupleType,
    OptionalType,
    TupleType,
)

Pair = collections.namedtuple("Pair", "first second")
A1 = ArrayType(F64, 1)

#: A kernel's block: header, then two doubles. Stores the array through %r0...
ALLOCATE = """
  %raw = call ptr @malloc(i64 144)
  %bits = ptrtoint ptr %raw to i64
  %up = add i64 %bits, 63
  %at = and i64 %up, -64
  %block = inttoptr i64 %at to ptr
  store i64 COUNT, ptr %block
  %nbytes = getelementptr i8, ptr %block, i64 8
  store i64 16, ptr %nbytes
  %raw.at = getelementptr i8, ptr %block, i64 16
  store ptr %raw, ptr %raw.at
  %data = getelementptr i8, ptr %block, i64 64
  store double 1.5, ptr %data
  %second = getelementptr i8, ptr %data, i64 8
  store double 2.5, ptr %second
  %live = load i64, ptr @qd_live_blocks
  %live1 = add i64 %live, 1
  store i64 %live1, ptr @qd_live_blocks
"""
STORE = """
  store ptr %data, ptr %r0
  store ptr %block, ptr %r1
  store i64 2, ptr %r2
  store i64 8, ptr %r3
"""
DECLARATIONS = {
    "malloc": "declare ptr @malloc(i64)",
    "qd_live_blocks": "@qd_live_blocks = external global i64",
}


def allocating(result: Any, more: str = "", count: int = 1, **fields: Any) -> Any:
    body = ALLOCATE.replace("COUNT", str(count)) + STORE + more + "\n  ret i32 0"
    return make([], result, body, declarations=DECLARATIONS, **fields)


def test_new_array_is_owned_by_a_buffer() -> None:
    kernel = allocating(A1)
    before = live_blocks()
    array = kernel()
    assert array.tolist() == [1.5, 2.5] and array.dtype == np.float64 and array.flags.writeable
    assert array.ctypes.data % 64 == 0
    assert type(array.base).__name__ == "Buffer" and type(array.base).__module__ == "quadrants"
    assert live_blocks() == before + 1
    view = array[1:]
    del array
    assert live_blocks() == before + 1 and view[0] == 2.5
    del view
    assert live_blocks() == before


def test_buffers_cannot_be_made_by_hand() -> None:
    cls = type(allocating(A1)().base)
    with pytest.raises(TypeError):
        cls()


def test_one_block_in_two_arrays() -> None:
    more = "\n".join(
        f"  store {kind} {value}, ptr %r{4 + i}"
        for i, (kind, value) in enumerate([("ptr", "%second"), ("ptr", "%block"), ("i64", 1), ("i64", 8)])
    )
    kernel = allocating(TupleType((A1, A1)), more, count=2)
    before = live_blocks()
    whole, part = kernel()
    assert live_blocks() == before + 1
    part[0] = 7.0
    assert whole.tolist() == [1.5, 7.0]
    del whole
    assert part[0] == 7.0 and live_blocks() == before + 1
    del part
    assert live_blocks() == before


def test_readonly_result() -> None:
    assert not allocating(ArrayType(F64, 1, "C", readonly=True))().flags.writeable


def test_tracemalloc_sees_array_memory() -> None:
    kernel = allocating(A1)
    tracemalloc.start()
    try:
        array = kernel()
        domains = [trace.domain for trace in tracemalloc.take_snapshot().traces]
        assert TRACE_DOMAIN in domains
        del array
        assert TRACE_DOMAIN not in [trace.domain for trace in tracemalloc.take_snapshot().traces]
    finally:
        tracemalloc.stop()


def test_returning_an_argument_returns_it() -> None:
    for type, value in {
        A1: np.arange(3.0),
        ArrayType(F64, 2, "A"): np.arange(24.0).reshape(4, 6)[::2, ::3],
        ArrayType(F64, 0): np.array(3.0),
        ArrayType(I32, 3): np.zeros((2, 0, 3), "i4"),
    }.items():
        assert make([type], type, identity(type))(value) is value


def test_view_of_an_argument_has_it_as_base() -> None:
    body = """
  %data = getelementptr i8, ptr %p0, i64 8
  store ptr %data, ptr %r0
  store ptr %p1, ptr %r1
  %n = sub i64 %p2, 1
  store i64 %n, ptr %r2
  store i64 %p3, ptr %r3
  ret i32 0"""
    kernel = make([A1], A1, body)
    array = np.arange(4.0)
    view = kernel(array)
    assert view.tolist() == [1.0, 2.0, 3.0] and view.base is array and view.flags.writeable
    view[0] = 9.0
    assert array[1] == 9.0
    alive = weakref.ref(array)
    del array
    assert alive() is not None and view[0] == 9.0
    del view
    assert alive() is None
    readonly_type = ArrayType(F64, 1, "C", readonly=True)
    readonly = np.arange(4.0)
    readonly.flags.writeable = False
    assert not make([readonly_type], A1, body)(readonly).flags.writeable
    assert not make([A1], readonly_type, body)(np.arange(4.0)).flags.writeable


def test_memory_that_nobody_owns() -> None:
    body = """
  store ptr @table, ptr %r0
  store ptr null, ptr %r1
  store i64 2, ptr %r2
  store i64 8, ptr %r3
  ret i32 0"""
    kernel = make([], A1, body, extra="@table = internal global [2 x double] [double 4.0, double 5.0]\n")
    assert kernel().tolist() == [4.0, 5.0] and kernel().base is None


def test_named_tuple() -> None:
    type = NamedTupleType((PYINT, TupleType((PYFLOAT,))), ("first", "second"), Pair)
    result = make([type], type, identity(type))(Pair(1, (2.0,)))
    assert result == Pair(1, (2.0,)) and result.__class__ is Pair


def test_a_named_tuple_class_that_refuses() -> None:
    class Picky(collections.namedtuple("Picky", "array")):
        __slots__ = ()

        def __new__(cls, array: Any) -> Any:
            raise ValueError("no")

    kernel = allocating(TupleType((NamedTupleType((A1,), ("array",), Picky),)))
    gc.collect()  # what tests before this one left behind
    before = live_blocks()
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            kernel()
    gc.collect()
    assert live_blocks() == before


def test_failure_releases_arrays_that_have_no_object_yet() -> None:
    class Picky(collections.namedtuple("Picky", "number")):
        __slots__ = ()

        def __new__(cls, number: Any) -> Any:
            raise ValueError("no")

    # The named tuple comes first and fails; the array behind it was never boxed.
    body = (
        ALLOCATE.replace("COUNT", "1")
        + """
  store i64 5, ptr %r0
  store ptr %data, ptr %r1
  store ptr %block, ptr %r2
  store i64 2, ptr %r3
  store i64 8, ptr %r4
  ret i32 0"""
    )
    result = TupleType((NamedTupleType((PYINT,), ("number",), Picky), A1))
    kernel = make([], result, body, declarations=DECLARATIONS)
    before = live_blocks()
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            kernel()
    gc.collect()
    assert live_blocks() == before


def test_optional_results() -> None:
    type = OptionalType(TupleType((PYINT, OptionalType(STR))))
    kernel = make([type], type, identity(type))
    assert kernel(None) is None and kernel((1, None)) == (1, None) and kernel((1, "x")) == (1, "x")


def test_numpy_scalars_have_their_own_class() -> None:
    for type in (F64, I32, U8):
        kernel = make([], type, f"  store {'double 2.0' if type is F64 else f'i{type.bits} 2'}, ptr %r0\n  ret i32 0")
        assert type_name(kernel()) == {F64: "float64", I32: "int32", U8: "uint8"}[type] and kernel() == 2


def type_name(value: object) -> str:
    return type(value).__name__


def test_constant_and_text_results() -> None:
    assert make([], LiteralType(len), "  ret i32 0")() is len
    text = FormatType(("x=", FormatHole(PYFLOAT, "", ".2f"), " ", FormatHole(PYINT, "r")))
    body = "  store double 1.5, ptr %r0\n  store i64 -3, ptr %r1\n  ret i32 0"
    assert make([], text, body)() == "x=1.50 -3"
    assert make([], TupleType((text, PYINT)), body.replace("  ret", "  store i64 9, ptr %r2\n  ret"))() == (
        "x=1.50 -3",
        9,
    )


def test_bool_results_are_the_singletons() -> None:
    kernel = make(
        [PYINT], PYBOOL, "  %c = icmp sgt i64 %p0, 0\n  %b = zext i1 %c to i8\n  store i8 %b, ptr %r0\n  ret i32 0"
    )
    assert kernel(1) is True and kernel(-1) is False
    assert make([], NONE, "  ret i32 0")() is None
