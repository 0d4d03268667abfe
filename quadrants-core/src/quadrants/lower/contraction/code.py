"""Writes the blocks of an LLVM function: values, counted loops, branches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

Text = str


class Code:
    """The lines of one function, from its entry block on."""

    def __init__(self) -> None:
        self.lines: list[str] = ["entry:"]
        self.block = "entry"
        self._names = 0

    def name(self, hint: str) -> str:
        self._names += 1
        return f"{hint}{self._names}"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def let(self, text: str) -> Text:
        """Append an instruction; the name of its result."""
        result = f"%{self.name('v')}"
        self.line(f"{result} = {text}")
        return result

    def begin(self, label: str) -> None:
        """Go on in a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def goto(self, label: str) -> None:
        self.line(f"br label %{label}")

    # Integers and addresses

    def add(self, a: Text | int, b: Text | int) -> Text:
        return str(b) if str(a) == "0" else str(a) if str(b) == "0" else self.let(f"add i64 {a}, {b}")

    def sub(self, a: Text | int, b: Text | int) -> Text:
        return self.let(f"sub i64 {a}, {b}")

    def mul(self, a: Text | int, b: Text | int) -> Text:
        return self.let(f"mul i64 {a}, {b}")

    def min(self, a: Text | int, b: Text | int) -> Text:
        return self.let(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def up(self, a: Text, step: int) -> Text:
        """The next multiple."""
        return self.mul(self.let(f"udiv i64 {self.add(a, step - 1)}, {step}"), step)

    def at(self, base: Text, offset: Text | int) -> Text:
        """The address so many bytes further on."""
        return base if str(offset) == "0" else self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def test(self, pred: str, a: Text | int, b: Text | int) -> Text:
        return self.let(f"icmp {pred} i64 {a}, {b}")

    def select(self, condition: Text, a: Text, b: Text, type: str = "i64") -> Text:
        return self.let(f"select i1 {condition}, {type} {a}, {type} {b}")

    # Control flow

    @contextmanager
    def loop(self, start: Text | int, stop: Text | int, step: Text | int = 1) -> Iterator[Text]:
        """For the index from start below stop."""
        head, body, done = self.name("head"), self.name("body"), self.name("done")
        index, following = f"%{self.name('i')}", f"%{self.name('n')}"
        before = self.block
        self.goto(head)
        self.begin(head)
        place = len(self.lines)
        self.line(f"br i1 {self.test('slt', index, stop)}, label %{body}, label %{done}")
        self.begin(body)
        yield index
        self.line(f"{following} = add nuw nsw i64 {index}, {step}")
        self.lines.insert(place, f"  {index} = phi i64 [ {start}, %{before} ], [ {following}, %{self.block} ]")
        self.goto(head)
        self.begin(done)

    @contextmanager
    def when(self, condition: Text) -> Iterator[str]:
        """If the condition holds. Gives the label of what comes behind."""
        then, done = self.name("then"), self.name("on")
        self.line(f"br i1 {condition}, label %{then}, label %{done}")
        self.begin(then)
        yield done
        self.goto(done)
        self.begin(done)
