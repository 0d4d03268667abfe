"""Copies a block of a matrix so that the innermost loop reads it in a row.

Takes a block of `lines` by `terms` elements; gives panels of `width` lines, term by term: `width` elements for the first
term, as many for the second. Lines that are missing from the last panel are 0. Lines that are neighbours in memory are copied as
vectors; where terms are neighbours, squares of four by four elements are transposed in registers.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.lower.contraction import Number
from quadrants.lower.contraction.code import Code, Text

_SQUARE = 4
_PARAMS = "ptr noalias %to, ptr noalias %from, i64 %line, i64 %term, i64 %lines, i64 %terms"


def pack(name: str, number: Number, width: int) -> str:
    """The function `name(to, from, bytes from line to line, bytes from term to term, lines, terms)`. `width` is a multiple
    of 4."""
    code = Code()
    size = number.size
    with code.loop(0, "%lines", width) as first:
        to = code.at("%to", code.mul(first, code.mul("%terms", size)))
        base = code.at("%from", code.mul(first, "%line"))
        count = code.min(code.sub("%lines", first), width)
        whole = code.test("eq", count, width)
        along = code.let(f"and i1 {whole}, {code.test('eq', '%line', size)}")
        rest, across, ask = code.name("rest"), code.name("across"), code.name("ask")
        copy = code.name("copy")
        code.line(f"br i1 {along}, label %{copy}, label %{ask}")
        code.begin(copy)
        with code.loop(0, "%terms") as k:
            _copy(code, number, width, code.at(to, code.mul(k, width * size)), code.at(base, code.mul(k, "%term")))
        copied = code.block
        code.goto(rest)
        code.begin(ask)
        turned = code.let(f"and i1 {whole}, {code.test('eq', '%term', size)}")
        code.line(f"br i1 {turned}, label %{across}, label %{rest}")
        code.begin(across)
        most = code.let(f"and i64 %terms, {-_SQUARE}")
        with code.loop(0, most, _SQUARE) as k:
            _transpose(code, number, width, code.at(to, code.mul(k, width * size)), code.at(base, code.mul(k, size)))
        crossed = code.block
        code.goto(rest)
        code.begin(rest)
        begin = code.let(f"phi i64 [ %terms, %{copied} ], [ 0, %{ask} ], [ {most}, %{crossed} ]")
        with code.loop(begin, "%terms") as k:
            _one_by_one(
                code, number, width, code.at(to, code.mul(k, width * size)), code.at(base, code.mul(k, "%term")), count
            )
    code.line("ret void")
    return "\n".join((f"define internal void @{name}({_PARAMS}) nounwind noinline {{", *code.lines, "}", ""))


def _copy(code: Code, number: Number, width: int, to: Text, source: Text) -> None:
    """The elements of one term, which are in a row."""
    vector = f"<{_SQUARE} x {number.text}>"
    for place in range(0, width, _SQUARE):
        value = code.let(f"load {vector}, ptr {code.at(source, place * number.size)}, align {number.size}")
        code.line(f"store {vector} {value}, ptr {code.at(to, place * number.size)}, align {number.size}")


def _transpose(code: Code, number: Number, width: int, to: Text, source: Text) -> None:
    """Four terms of every line. It is a loop: there is more code to compile than time to gain."""
    vector = f"<{_SQUARE} x {number.text}>"
    with code.loop(0, width, _SQUARE) as place:
        rows = []
        for row in range(_SQUARE):
            at = code.at(source, code.mul("%line", code.add(place, row)))
            rows.append(code.let(f"load {vector}, ptr {at}, align {number.size}"))
        target = code.at(to, code.mul(place, number.size))
        for term, value in enumerate(_square(code, number, rows)):
            at = code.at(target, term * width * number.size)
            code.line(f"store {vector} {value}, ptr {at}, align {number.size}")


def _square(code: Code, number: Number, rows: Sequence[Text]) -> list[Text]:
    """Four vectors of four elements, transposed."""
    a, b, c, d = rows
    pairs = [_mixed(code, number, x, y, places) for places in ((0, 4, 1, 5), (2, 6, 3, 7)) for x, y in ((a, c), (b, d))]
    low, other_low, high, other_high = pairs
    return [
        _mixed(code, number, low, other_low, (0, 4, 1, 5)),
        _mixed(code, number, low, other_low, (2, 6, 3, 7)),
        _mixed(code, number, high, other_high, (0, 4, 1, 5)),
        _mixed(code, number, high, other_high, (2, 6, 3, 7)),
    ]


def _mixed(code: Code, number: Number, a: Text, b: Text, places: Sequence[int]) -> Text:
    vector = f"<{_SQUARE} x {number.text}>"
    picked = ", ".join(f"i32 {place}" for place in places)
    return code.let(f"shufflevector {vector} {a}, {vector} {b}, <{_SQUARE} x i32> <{picked}>")


def _one_by_one(code: Code, number: Number, width: int, to: Text, source: Text, count: Text) -> None:
    """One term of each line, 0 for those that are missing."""
    zero = "0.0" if number.is_float else "0"
    size = number.size
    with code.loop(0, count) as line:
        value = code.let(f"load {number.text}, ptr {code.at(source, code.mul(line, '%line'))}, align {size}")
        code.line(f"store {number.text} {value}, ptr {code.at(to, code.mul(line, size))}, align {size}")
    with code.loop(count, width) as line:
        code.line(f"store {number.text} {zero}, ptr {code.at(to, code.mul(line, size))}, align {size}")
