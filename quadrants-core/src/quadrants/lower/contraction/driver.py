"""The blocks of a product around the innermost loop.

Gives the text of a whole module for a kind of numbers (see the package). The loops are, from the outside in: panels of
columns; blocks of terms, for which the right factor is packed; blocks of rows, for which the left one is; strips of columns and
panels of rows, a tile each. Tiles that are not whole, or whose columns are not neighbours in memory, go through a buffer.
"""

from __future__ import annotations

from quadrants.lower.contraction import DONE, REFUSED, SYMBOL, Number, Word
from quadrants.lower.contraction.blocks import Blocks
from quadrants.lower.contraction.code import Code, Text
from quadrants.lower.contraction.direct import DIRECT, FEW_ROWS, MOST_WORK, direct
from quadrants.lower.contraction.pack import pack
from quadrants.lower.contraction.tile import TILE, tile

_ALIGN = 64
_LEFT, _RIGHT, _EDGE, _CLEAR = "pack_rows", "pack_columns", "edge", "clear"
_DECLARATIONS = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @qd_poll(ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def module(number: Number, blocks: Blocks, masked: bool) -> str:
    """The module. `masked`: whether the target has masked accesses."""
    return "\n".join(
        (
            _DECLARATIONS,
            tile(number, blocks),
            pack(_LEFT, number, blocks.rows),
            pack(_RIGHT, number, blocks.columns),
            _edge(number, blocks),
            _clear(number),
            direct(number, blocks, masked),
            _Driver(number, blocks).text(),
        )
    )


def _edge(number: Number, blocks: Blocks) -> str:
    """A tile of `height` by `width` elements, anywhere in memory: `edge(a, b, c, row step, column step, terms, height, width)`."""
    code = Code()
    size = number.size
    row = blocks.columns * size
    code.line(f"%buffer = alloca [{blocks.rows * row} x i8], align {_ALIGN}")

    def move(out: bool) -> None:
        with code.loop(0, "%height") as i, code.loop(0, "%width") as j:
            inside = code.at("%buffer", code.add(code.mul(i, row), code.mul(j, size)))
            there = code.at("%c", code.add(code.mul(i, "%row"), code.mul(j, "%column")))
            source, target = (inside, there) if out else (there, inside)
            value = code.let(f"load {number.text}, ptr {source}, align {size}")
            code.line(f"store {number.text} {value}, ptr {target}, align {size}")

    code.line(f"call void @llvm.memset.p0.i64(ptr %buffer, i8 0, i64 {blocks.rows * row}, i1 false)")
    move(out=False)
    code.line(f"call void @{TILE}(ptr %a, ptr %b, ptr %buffer, i64 {row}, i64 %terms)")
    move(out=True)
    code.line("ret void")
    params = "ptr %a, ptr %b, ptr %c, i64 %row, i64 %column, i64 %terms, i64 %height, i64 %width"
    head = f"define internal void @{_EDGE}({params}) nounwind noinline {{"
    return "\n".join((head, *code.lines, "}", ""))


def _clear(number: Number) -> str:
    """Zeros: `clear(c, row step, column step, rows, columns)`."""
    code = Code()
    size = number.size
    near, apart = code.name("near"), code.name("apart")
    code.line(f"br i1 {code.test('eq', '%column', size)}, label %{near}, label %{apart}")
    code.begin(near)
    nbytes = code.mul("%columns", size)
    with code.loop(0, "%rows") as i:
        at = code.at("%c", code.mul(i, "%row"))
        code.line(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {nbytes}, i1 false)")
    code.line("ret void")
    code.begin(apart)
    with code.loop(0, "%rows") as i, code.loop(0, "%columns") as j:
        at = code.at("%c", code.add(code.mul(i, "%row"), code.mul(j, "%column")))
        code.line(f"store {number.text} zeroinitializer, ptr {at}, align {size}")
    code.line("ret void")
    params = "ptr %c, i64 %row, i64 %column, i64 %rows, i64 %columns"
    return "\n".join((f"define internal void @{_CLEAR}({params}) nounwind noinline {{", *code.lines, "}", ""))


class _Driver:
    """Writes the function that is called."""

    def __init__(self, number: Number, blocks: Blocks) -> None:
        self.number = number
        self.blocks = blocks
        self.code = Code()
        self.words = self._arguments()

    def text(self) -> str:
        code, blocks, words, size = self.code, self.blocks, self.words, self.number.size
        columns, terms = words[Word.COLUMNS], words[Word.TERMS]
        with code.when(code.test("slt", code.min(words[Word.ROWS], columns), 1)):
            self._leave(str(DONE))
        with code.when(code.test("slt", terms, 1)):
            self._clear(words[Word.C], words[Word.ROWS], columns, code.test("ne", words[Word.CLEAR], 0))
            self._leave(str(DONE))
        with code.when(self._is_small()):
            steps = (Word.A_ROW, Word.A_TERM, Word.B_TERM, Word.C_ROW, Word.ROWS, Word.COLUMNS, Word.TERMS)
            given = ", ".join(f"i64 {words[word]}" for word in steps)
            clear = code.test("ne", words[Word.CLEAR], 0)
            at = ", ".join(f"ptr {words[word]}" for word in (Word.A, Word.B, Word.C))
            code.line(f"call void @{DIRECT}({at}, {given}, i1 {clear})")
            self._leave(str(DONE))
        depth = self._even(terms, blocks.depth)
        height = code.min(code.up(words[Word.ROWS], blocks.rows), blocks.height)
        width = code.min(code.up(columns, blocks.columns), blocks.width)
        left = code.up(code.mul(code.mul(height, depth), size), _ALIGN)
        right = code.mul(code.mul(width, depth), size)
        memory = code.let(f"call ptr @malloc(i64 {code.add(code.add(left, right), _ALIGN)})")
        with code.when(code.let(f"icmp eq ptr {memory}, null")):
            self._leave(str(REFUSED))
        raw = code.let(f"ptrtoint ptr {memory} to i64")
        skipped = code.let(f"and i64 {code.sub(0, raw)}, {_ALIGN - 1}")
        packed = code.at(memory, skipped)
        self._blocks(memory, packed, code.at(packed, left), (height, width, depth))
        code.line(f"call void @free(ptr {memory})")
        code.line(f"ret i32 {DONE}")
        head = f"define i32 @{SYMBOL}(ptr %ctx, ptr %words) nounwind {{"
        return "\n".join((head, *code.lines, "}", ""))

    def _is_small(self) -> Text:
        """Whether it is better not to pack, and possible: the columns are neighbours in memory."""
        code, words, size = self.code, self.words, self.number.size
        near = code.test("eq", words[Word.C_COLUMN], size)
        near = code.let(f"and i1 {near}, {code.test('eq', words[Word.B_COLUMN], size)}")
        near = code.let(f"and i1 {near}, {code.test('eq', words[Word.NEGATE], 0)}")
        area = code.mul(code.min(words[Word.ROWS], MOST_WORK), code.min(words[Word.COLUMNS], MOST_WORK))
        work = code.mul(area, code.min(words[Word.TERMS], MOST_WORK))
        few = code.test("sle", words[Word.ROWS], FEW_ROWS)
        small = code.let(f"or i1 {few}, {code.test('sle', work, MOST_WORK)}")
        return code.let(f"and i1 {near}, {small}")

    def _leave(self, status: Text) -> None:
        self.code.line(f"ret i32 {status}")
        self.code.begin(self.code.name("never"))

    def _clear(self, c: Text, rows: Text, columns: Text, condition: Text) -> None:
        """Zeros in a part of the result, if the condition holds."""
        steps = f"i64 {self.words[Word.C_ROW]}, i64 {self.words[Word.C_COLUMN]}"
        with self.code.when(condition):
            self.code.line(f"call void @{_CLEAR}(ptr {c}, {steps}, i64 {rows}, i64 {columns})")

    def _arguments(self) -> dict[Word, Text]:
        """The arguments. A result whose rows are contiguous down its columns is that of the transposed product."""
        code = self.code
        words = {}
        for word in Word:
            at = code.at("%words", 8 * word)
            words[word] = code.let(f"load i64, ptr {at}, align 8")
        size = self.number.size
        down = code.let(
            f"and i1 {code.test('eq', words[Word.C_ROW], size)}, {code.test('ne', words[Word.C_COLUMN], size)}"
        )
        pairs = (
            (Word.C_ROW, Word.C_COLUMN),
            (Word.A, Word.B),
            (Word.A_ROW, Word.B_COLUMN),
            (Word.A_TERM, Word.B_TERM),
            (Word.ROWS, Word.COLUMNS),
        )
        for one, other in pairs:
            first, second = words[one], words[other]
            words[one] = code.select(down, second, first)
            words[other] = code.select(down, first, second)
        for word in (Word.A, Word.B, Word.C):
            words[word] = code.let(f"inttoptr i64 {words[word]} to ptr")
        return words

    def _even(self, count: Text, most: int) -> Text:
        """The size of the blocks of a range that are about alike."""
        code = self.code
        number = code.let(f"udiv i64 {code.add(count, most - 1)}, {most}")
        return code.let(f"udiv i64 {code.add(count, code.sub(number, 1))}, {number}")

    def _blocks(self, memory: Text, left: Text, right: Text, sizes: tuple[Text, Text, Text]) -> None:
        code, words, size = self.code, self.words, self.number.size
        height, width, depth = sizes
        rows, columns, terms = words[Word.ROWS], words[Word.COLUMNS], words[Word.TERMS]
        with code.loop(0, columns, width) as j, code.loop(0, terms, depth) as k:
            across, deep = code.min(code.sub(columns, j), width), code.min(code.sub(terms, k), depth)
            b = code.at(code.at(words[Word.B], code.mul(j, words[Word.B_COLUMN])), code.mul(k, words[Word.B_TERM]))
            self._pack(_RIGHT, right, b, words[Word.B_COLUMN], words[Word.B_TERM], across, deep)
            with code.loop(0, rows, height) as i:
                down = code.min(code.sub(rows, i), height)
                a = code.at(code.at(words[Word.A], code.mul(i, words[Word.A_ROW])), code.mul(k, words[Word.A_TERM]))
                self._pack(_LEFT, left, a, words[Word.A_ROW], words[Word.A_TERM], down, deep)
                self._negate(left, code.mul(code.mul(code.up(down, self.blocks.rows), deep), 1))
                c = code.at(code.at(words[Word.C], code.mul(i, words[Word.C_ROW])), code.mul(j, words[Word.C_COLUMN]))
                first = code.let(f"and i1 {code.test('eq', k, 0)}, {code.test('ne', words[Word.CLEAR], 0)}")
                self._clear(c, down, across, first)
                self._tiles(left, right, c, down, across, code.mul(deep, size), deep)
                status = code.let("call i32 @qd_poll(ptr %ctx)")
                with code.when(code.let(f"icmp ne i32 {status}, 0")):
                    code.line(f"call void @free(ptr {memory})")
                    self._leave(status)

    def _pack(self, name: str, to: Text, source: Text, line: Text, term: Text, lines: Text, terms: Text) -> None:
        given = f"ptr {to}, ptr {source}, i64 {line}, i64 {term}, i64 {lines}, i64 {terms}"
        self.code.line(f"call void @{name}({given})")

    def _negate(self, block: Text, count: Text) -> None:
        """Change the sign of a packed block, where the product is subtracted."""
        code, number = self.code, self.number
        vector = f"<4 x {number.text}>"
        with (
            code.when(code.test("ne", self.words[Word.NEGATE], 0)),
            code.loop(0, count, 4) as n,
        ):
            at = code.at(block, code.mul(n, number.size))
            value = code.let(f"load {vector}, ptr {at}, align {number.size}")
            changed = code.let(
                f"fneg {vector} {value}" if number.is_float else f"sub {vector} zeroinitializer, {value}"
            )
            code.line(f"store {vector} {changed}, ptr {at}, align {number.size}")

    def _tiles(self, left: Text, right: Text, c: Text, down: Text, across: Text, nbytes: Text, terms: Text) -> None:
        """All tiles of a block. `nbytes`: what the terms of one line take."""
        code, blocks, words = self.code, self.blocks, self.words
        row, column = words[Word.C_ROW], words[Word.C_COLUMN]
        near = code.test("eq", column, self.number.size)
        with code.loop(0, across, blocks.columns) as j:
            width = code.min(code.sub(across, j), blocks.columns)
            b = code.at(right, code.mul(j, nbytes))
            wide = code.let(f"and i1 {near}, {code.test('eq', width, blocks.columns)}")
            with code.loop(0, down, blocks.rows) as i:
                height = code.min(code.sub(down, i), blocks.rows)
                a = code.at(left, code.mul(i, nbytes))
                at = code.at(code.at(c, code.mul(i, row)), code.mul(j, column))
                whole = code.let(f"and i1 {wide}, {code.test('eq', height, blocks.rows)}")
                full, edge, done = code.name("full"), code.name("edge"), code.name("made")
                code.line(f"br i1 {whole}, label %{full}, label %{edge}")
                code.begin(full)
                code.line(f"call void @{TILE}(ptr {a}, ptr {b}, ptr {at}, i64 {row}, i64 {terms})")
                code.goto(done)
                code.begin(edge)
                sizes = f"i64 {row}, i64 {column}, i64 {terms}, i64 {height}, i64 {width}"
                code.line(f"call void @{_EDGE}(ptr {a}, ptr {b}, ptr {at}, {sizes})")
                code.goto(done)
                code.begin(done)
