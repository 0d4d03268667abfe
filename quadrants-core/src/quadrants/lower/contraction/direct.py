"""Small products, and those of few rows: without packing, a few rows of the result at a time in registers.

Takes matrices of which the right factor and the result have neighbours in their rows. Each element is taken up where it is, or is
0 in the beginning, and gets its terms one after the other. What is left of a row at its end is read and written under a
mask, or one by one on targets without masked accesses.
"""

from __future__ import annotations

from quadrants._frozen import frozen
from quadrants.lower.contraction import Number
from quadrants.lower.contraction.blocks import Blocks
from quadrants.lower.contraction.code import Code, Text
from quadrants.lower.contraction.tile import add

DIRECT = "direct"
#: Rows at a time -> vectors of a row.
_SHAPES = {4: 2, 1: 4}
#: Registers of so many bits are as fast under a mask: what is inside of a row needs no code of its own.
_LARGE = 512
#: Products of more terms in all are packed, unless they have few rows.
MOST_WORK = 1 << 20
FEW_ROWS = 8
_STEPS = "i64 %a.row, i64 %a.term, i64 %b.term, i64 %c.row"
_GIVEN = f"ptr %a, ptr %b, ptr %c, {_STEPS}, i64 %columns, i64 %terms, i1 %clear"


def direct(number: Number, blocks: Blocks, masked: bool) -> str:
    """The function `direct(a, b, c, steps of a, b, c in bytes, rows, columns, terms, clear)`. `masked`: whether the target has
    masked accesses."""
    code = Code()
    row: Text = "0"
    for rows in _SHAPES:
        most = code.sub("%rows", code.let(f"urem i64 {code.sub('%rows', row)}, {rows}"))
        with code.loop(row, most, rows) as i:
            a = code.at("%a", code.mul(i, "%a.row"))
            c = code.at("%c", code.mul(i, "%c.row"))
            given = _GIVEN.replace("ptr %a,", f"ptr {a},").replace("ptr %c,", f"ptr {c},")
            code.line(f"call void @{DIRECT}{rows}({given})")
        row = most
    code.line("ret void")
    params = _GIVEN.replace("i64 %columns", "i64 %rows, i64 %columns")
    head = f"define internal void @{DIRECT}({params}) nounwind noinline {{"
    return "\n".join(
        (
            f"declare <{blocks.lanes} x {number.text}> {_load(number, blocks.lanes)}(ptr, <{blocks.lanes} x i1>, "
            f"<{blocks.lanes} x {number.text}>)",
            f"declare void {_store(number, blocks.lanes)}(<{blocks.lanes} x {number.text}>, ptr, <{blocks.lanes} x i1>)",
            *(_Rows(number, rows, blocks.lanes, vectors, masked).text() for rows, vectors in _SHAPES.items()),
            head,
            *code.lines,
            "}",
            "",
        )
    )


def _suffix(number: Number, lanes: int) -> str:
    return f"v{lanes}{'f' if number.is_float else 'i'}{number.bits}.p0"


def _load(number: Number, lanes: int) -> str:
    return f"@llvm.masked.load.{_suffix(number, lanes)}"


def _store(number: Number, lanes: int) -> str:
    return f"@llvm.masked.store.{_suffix(number, lanes)}"


@frozen
class _Part:
    """How one part of a row is reached: its vectors' type, and their masks ("" for none)."""

    lanes: int
    masks: tuple[Text, ...]


class _Rows:
    """Writes the function for a number of rows: `direct4(a, b, c, steps, columns, terms, clear)`."""

    def __init__(self, number: Number, rows: int, lanes: int, vectors: int, masked: bool) -> None:
        self.number = number
        self.rows = rows
        self.lanes = lanes
        self.vectors = vectors
        self.masked = masked
        self.code = Code()

    def text(self) -> str:
        code, size = self.code, self.number.size
        width = self.lanes * self.vectors
        whole: Text = "0"
        if not self.masked or self.lanes * self.number.bits < _LARGE:
            whole = code.sub("%columns", code.let(f"urem i64 %columns, {width}"))
            with code.loop(0, whole, width) as j:
                self.part(code.mul(j, size), _Part(self.lanes, ("",) * self.vectors))
        if self.masked:
            with code.loop(whole, "%columns", width) as j:
                left = code.sub("%columns", j)
                self.part(code.mul(j, size), _Part(self.lanes, tuple(self.mask(left, n) for n in range(self.vectors))))
        else:
            with code.loop(whole, "%columns") as j:
                self.part(code.mul(j, size), _Part(1, ("",)))
        code.line("ret void")
        head = f"define internal void @{DIRECT}{self.rows}({_GIVEN}) nounwind noinline {{"
        return "\n".join((head, *code.lines, "}", ""))

    def mask(self, left: Text, n: int) -> Text:
        """The lanes of the n-th vector that are inside."""
        code, lanes = self.code, self.lanes
        vector = f"<{lanes} x i64>"
        first = code.let(f"insertelement {vector} poison, i64 {left}, i64 0")
        every = code.let(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")
        places = ", ".join(f"i64 {n * lanes + lane}" for lane in range(lanes))
        return code.let(f"icmp slt {vector} <{places}>, {every}")

    def part(self, offset: Text, part: _Part) -> None:
        """Some columns of the rows."""
        code, size = self.code, self.number.size
        vector = f"<{part.lanes} x {self.number.text}>"
        step = part.lanes * size
        places = []
        for row in range(self.rows):
            line = code.at(code.at("%c", code.mul("%c.row", row) if row else 0), offset)
            places += [code.at(line, step * n) for n in range(len(part.masks))]
        masks = part.masks * self.rows
        begun = [self.begin(vector, at, mask, part.lanes) for at, mask in zip(places, masks)]
        right = code.at("%b", offset)
        terms, done = code.name("terms"), code.name("done")
        before = code.block
        code.goto(terms)
        code.begin(terms)
        sums = [f"%{code.name('sum')}" for _ in places]
        k = f"%{code.name('k')}"
        place = len(code.lines)
        row_at = code.at(right, code.mul(k, "%b.term"))
        factors = [self.load(vector, code.at(row_at, step * n), mask, part.lanes) for n, mask in enumerate(part.masks)]
        left = code.at("%a", code.mul(k, "%a.term"))
        following = []
        for n in range(self.rows):
            every = self.splat(vector, code.at(left, code.mul("%a.row", n) if n else 0), part.lanes)
            mine = sums[n * len(factors) : (n + 1) * len(factors)]
            following += [add(code, self.number, vector, sum, every, value) for sum, value in zip(mine, factors)]
        more = code.let(f"add nuw nsw i64 {k}, 1")
        code.line(f"br i1 {code.test('slt', more, '%terms')}, label %{terms}, label %{done}")
        code.lines.insert(place, f"  {k} = phi i64 [ 0, %{before} ], [ {more}, %{terms} ]")
        for name, first, value in zip(sums, begun, following):
            code.lines.insert(place, f"  {name} = phi {vector} [ {first}, %{before} ], [ {value}, %{terms} ]")
        code.begin(done)
        for value, at, mask in zip(following, places, masks):
            self.store(vector, value, at, mask, part.lanes)

    def splat(self, vector: str, at: Text, lanes: int) -> Text:
        code, number = self.code, self.number
        element = code.let(f"load {number.text}, ptr {at}, align {number.size}")
        first = code.let(f"insertelement {vector} poison, {number.text} {element}, i64 0")
        return code.let(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def begin(self, vector: str, at: Text, mask: Text, lanes: int) -> Text:
        """What is there, or zeros."""
        code = self.code
        value = self.load(vector, at, mask, lanes)
        return code.let(f"select i1 %clear, {vector} zeroinitializer, {vector} {value}")

    def load(self, vector: str, at: Text, mask: Text, lanes: int) -> Text:
        align = self.number.size
        if not mask:
            return self.code.let(f"load {vector}, ptr {at}, align {align}")
        name = _load(self.number, lanes)
        given = f"ptr align {align} {at}, <{lanes} x i1> {mask}, {vector} zeroinitializer"
        return self.code.let(f"call {vector} {name}({given})")

    def store(self, vector: str, value: Text, at: Text, mask: Text, lanes: int) -> None:
        align = self.number.size
        if not mask:
            self.code.line(f"store {vector} {value}, ptr {at}, align {align}")
            return
        name = _store(self.number, lanes)
        self.code.line(f"call void {name}({vector} {value}, ptr align {align} {at}, <{lanes} x i1> {mask})")
