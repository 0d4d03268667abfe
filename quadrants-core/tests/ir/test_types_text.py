"""Types print and read back."""

from __future__ import annotations

import collections
import sys

import hypothesis.strategies as st
import pytest
from hypothesis import given

from quadrants.types import (
    BOOL,
    C128,
    EXC,
    F16,
    F64,
    I64,
    NONE,
    PYINT,
    STR,
    ArrayType,
    FormatHole,
    FormatType,
    LiteralType,
    NamedTupleType,
    OptionalType,
    RefType,
    Scalar,
    SliceType,
    TupleType,
    Type,
)
from quadrants.types.scalar import SCALARS
from quadrants.types.text import Scanner, TextError, parse_type, quote

Point = collections.namedtuple("Point", "x y")

_scalars = st.sampled_from(list(SCALARS.values()))
_literals = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.complex_numbers(),
        st.text(),
        st.binary(),
        st.sampled_from([-0.0, 1e22, 5e-324, complex(-0.0, float("nan")), complex(float("-inf"), -0.0)]),
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)
_arrays = st.builds(
    ArrayType, st.sampled_from([BOOL, I64, F16, C128]), st.integers(0, 5), st.sampled_from("CFA"), st.booleans()
)


def _compounds(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    holes = st.builds(FormatHole, inner, st.sampled_from(["", "s", "r", "a"]), st.text(max_size=4))
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: TupleType(tuple(items))),
        st.builds(OptionalType, inner),
        st.builds(RefType, inner),
        st.builds(SliceType, inner, inner, inner),
        st.lists(st.one_of(st.text(), holes), max_size=3).map(lambda parts: FormatType(tuple(parts))),
        st.tuples(inner, inner).map(lambda items: NamedTupleType(items, ("x", "y"), Point)),
    )


types: st.SearchStrategy[Type] = st.recursive(
    st.one_of(_scalars, _arrays, st.builds(LiteralType, _literals), st.sampled_from([NONE, STR, EXC])),
    _compounds,
    max_leaves=6,
)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, Point.__module__, sys.modules.get(Point.__module__) or sys.modules[__name__])


@given(types)
def test_round_trip(type: Type) -> None:
    text = str(type)
    again = parse_type(text)
    assert again == type
    assert str(again) == text


@given(st.text())
def test_quoted_strings(text: str) -> None:
    scanner = Scanner(f"  {quote(text)} ; a comment")
    assert scanner.string() == text
    scanner.end()


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("array < f64 , 2 , A , ro >", ArrayType(F64, 2, "A", True)),
        ("tuple<>", TupleType(())),
        ("literal<'a > b'>", LiteralType("a > b")),
        ('literal<"it\'s">', LiteralType("it's")),
        ("literal<(1,)>", LiteralType((1,))),
        ("literal<((1+2j), 2j, -nan)>", LiteralType(((1 + 2j), 2j, float("nan")))),
        ("literal<(0j,)>", LiteralType((0j,))),
        ("slice<pyint, none, none>", SliceType(PYINT, NONE, NONE)),
    ],
)
def test_spellings(text: str, type: Type) -> None:
    assert parse_type(text) == type


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: expected a type, found the end"),
        ("f63", "column 1: unknown type 'f63'"),
        ("array<f64>", "column 10: expected ',', found '>'"),
        ("array<tuple<>, 1, C>", "expected a scalar type, found tuple<>"),
        ("array<f64, 1, D>", "column 15: expected the layout C, F or A, found 'D'"),
        ("array<f64, 1, C, rw>", "column 18: expected ro, shared or local, found 'rw'"),
        ("array<f64, x, C>", "expected an integer, found 'x'"),
        ("tuple<f64", "expected ',', found the end"),
        ("f64 f64", "column 5: expected the end, found 'f64'"),
        ("slice<none>", "a slice has 3 parts, not 1"),
        ("literal<<class 'int'>>", "expected a literal of a number"),
        ("literal<'\\x1'>", "not a string"),
        ('namedtuple<"nowhere.at.all:P">', "'nowhere.at.all' of a named tuple is not imported"),
        ('namedtuple<"sys:Missing">', "there is no 'Missing' in the module 'sys'"),
        ('namedtuple<"sys:float_info", x=f64>', "is not a named tuple with the fields x"),
        ("tuple<f64,\n  f65>", "line 2, column 3: unknown type 'f65'"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_type(text)
    assert message in str(caught.value)


def test_tuples_in_literals_are_compared_by_value() -> None:
    assert LiteralType((1, "a")) == LiteralType((1, "a"))
    assert LiteralType((1,)) != LiteralType((1.0,))
    assert LiteralType((0.0,)) != LiteralType((-0.0,))
    assert len({LiteralType(("sep", ", ")), LiteralType(("sep", ", "))}) == 1
    assert isinstance(parse_type("pyint"), Scalar)
