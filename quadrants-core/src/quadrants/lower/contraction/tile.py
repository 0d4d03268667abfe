"""The innermost loop: a tile of the result in registers, one term of the sum a turn.

Takes a panel of the left factor (`rows` elements a term), a strip of the right one (a row of vectors a term), where the tile is,
and the number of terms, at least one. Each element is taken up where it is, and gets its terms one after the other.
"""

from __future__ import annotations

from quadrants.lower.contraction import Number
from quadrants.lower.contraction.blocks import Blocks
from quadrants.lower.contraction.code import Code, Text

TILE = "tile"


def tile(number: Number, blocks: Blocks) -> str:
    """The function `tile(a, b, c, bytes from row to row of c, terms)`."""
    code = Code()
    vector = f"<{blocks.lanes} x {number.text}>"
    step = blocks.lanes * number.size
    places = []
    for row in range(blocks.rows):
        line = code.at("%c", code.mul("%step", row) if row else 0)
        places += [code.at(line, step * column) for column in range(blocks.vectors)]
    begun = [code.let(f"load {vector}, ptr {place}, align {number.size}") for place in places]
    code.goto("each")
    code.begin("each")
    sums = [f"%sum{n}" for n in range(len(places))]
    place = len(code.lines)
    following = _term(code, number, blocks, vector, sums)
    code.line("%k.next = add nuw nsw i64 %k, 1")
    code.line(f"br i1 {code.test('slt', '%k.next', '%terms')}, label %each, label %end")
    phis = [f"  {name} = phi {vector} [ {a}, %entry ], [ {b}, %each ]" for name, a, b in zip(sums, begun, following)]
    code.lines[place:place] = ["  %k = phi i64 [ 0, %entry ], [ %k.next, %each ]", *phis]
    code.begin("end")
    for value, at in zip(following, places):
        code.line(f"store {vector} {value}, ptr {at}, align {number.size}")
    code.line("ret void")
    params = "ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %step, i64 %terms"
    return "\n".join((f"define internal void @{TILE}({params}) nounwind noinline {{", *code.lines, "}", ""))


def _term(code: Code, number: Number, blocks: Blocks, vector: str, sums: list[Text]) -> list[Text]:
    """Add one term everywhere."""
    size = number.size
    left = code.at("%a", code.mul("%k", blocks.rows * size))
    right = code.at("%b", code.mul("%k", blocks.columns * size))
    row = []
    for column in range(blocks.vectors):
        at = code.at(right, column * blocks.lanes * size)
        row.append(code.let(f"load {vector}, ptr {at}, align {size}"))
    found = []
    for n in range(blocks.rows):
        element = code.let(f"load {number.text}, ptr {code.at(left, n * size)}, align {size}")
        first = code.let(f"insertelement {vector} poison, {number.text} {element}, i64 0")
        zeros = f"<{blocks.lanes} x i32> zeroinitializer"
        every = code.let(f"shufflevector {vector} {first}, {vector} poison, {zeros}")
        for column in range(blocks.vectors):
            found.append(add(code, number, vector, sums[n * blocks.vectors + column], every, row[column]))
    return found


def add(code: Code, number: Number, vector: str, sum: Text, a: Text, b: Text) -> Text:
    """The sum with one more product."""
    prefix = "f" if number.is_float else ""
    flags = " contract" if number.fused else ""
    product = code.let(f"{prefix}mul{flags} {vector} {a}, {b}")
    return code.let(f"{prefix}add{flags} {vector} {sum}, {product}")
