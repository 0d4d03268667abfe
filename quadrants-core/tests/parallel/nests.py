"""Random loop nests, as Python source: affine and less affine indices, folds, branches, views, arrays that overlap.

`program(seed)` gives a source with a function `f(a, b, m, n, k)`: two arrays of integers of rank 1, one of rank 2, two integers.
"""

from __future__ import annotations

import random

#: The sizes of the arrays; indices stay inside mostly.
SIZE, ROWS, COLUMNS = 90, 24, 20
_STEPS = ("", "", "", ", 2", ", 3")


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.indices: list[str] = []
        self.folds: dict[str, str] = {}

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def bound(self) -> str:
        """The upper end of a range: small."""
        choices = ["n", "n", "n - 1", "n + 2", "9", "k + 4"]
        if self.indices and self.chance(0.35):
            choices = [self.indices[-1], f"{self.indices[-1]} + 3", f"min(n, {self.indices[-1]} + 2)"]
        return self.random.choice(choices)

    def range(self) -> str:
        """A range; now and then downwards."""
        stop = self.bound()
        start = self.random.choice(("0", "0", "0", "1", "2", "k"))
        if self.indices and self.chance(0.2):
            start = self.random.choice((self.indices[-1], f"{self.indices[-1]} + 1"))
            stop = "n"
        if self.chance(0.2):
            return f"range({stop} - 1, {start} - 1, {self.random.choice((-1, -1, -2))})"
        return f"range({start}, {stop}{self.random.choice(_STEPS)})"

    def affine(self, most: int) -> str:
        """An index: of one or two loops, with small coefficients, or something else now and then."""
        if not self.indices or self.chance(0.06):
            return self.random.choice(("0", "k", "n", "3"))
        if self.chance(0.08):
            return f"b[{self.random.choice(self.indices)} % {SIZE}] % {most}"
        terms = []
        for index in self.random.sample(self.indices, self.random.choice((1, 1, 1, 2)) if len(self.indices) > 1 else 1):
            factor = (
                self.random.choice((1, 1, 1, 1, 2, 3, -1)) if most > 30 else self.random.choice((1, 1, 1, 1, 1, 2, -1))
            )
            terms.append(index if factor == 1 else f"{factor} * {index}")
        text = " + ".join(terms)
        if self.chance(0.1) and most > 30:
            text = f"{self.indices[0]} * n + {self.indices[-1]}" if len(self.indices) > 1 else f"{text} * k"
        shift = self.random.choice(("", "", "", " + 1", " - 1", " + 2", " + k", " + 10"))
        if self.chance(0.05):
            return f"({text}{shift}) % {most}"
        return text + shift

    def place(self) -> str:
        """An element of an array."""
        which = self.random.choice("aaabbm")
        if which == "m":
            first, second = self.affine(ROWS), self.affine(COLUMNS)
            return f"m[{first}][{second}]" if self.chance(0.15) else f"m[{first}, {second}]"
        return f"{which}[{self.affine(SIZE)}]"

    def value(self, depth: int = 2) -> str:
        roll = self.random.random()
        if roll < 0.4 or depth == 0:
            return self.place()
        if roll < 0.55 and self.indices:
            return self.random.choice(self.indices)
        if roll < 0.65:
            return self.random.choice(("1", "7", "k", "n"))
        return f"({self.value(depth - 1)} {self.random.choice('+-*')} {self.value(depth - 1)})"

    def statement(self, pad: str, depth: int) -> list[str]:
        roll = self.random.random()
        if roll < 0.5:
            return [f"{pad}{self.place()} = {self.value()}"]
        if roll < 0.62:
            return [f"{pad}{self.place()} {self.random.choice(('+=', '-=', '+='))} {self.value(1)}"]
        if roll < 0.8:
            return [pad + self.fold()]
        if roll < 0.88:
            condition = f"{self.value(1)} {self.random.choice(('<', '>', '==', '!='))} {self.value(1)}"
            inner = self.statement(pad + "    ", depth + 1)
            other = [f"{pad}else:", *self.statement(pad + "    ", depth + 1)] if self.chance(0.3) else []
            return [f"{pad}if {condition}:", *inner, *other]
        if roll < 0.94:
            return [f"{pad}t = {self.value()}", f"{pad}{self.place()} = t * 2"]
        return [f"{pad}m[{self.affine(ROWS)}, :] = m[{self.affine(ROWS)}, :] + {self.random.choice('12k')}"]

    def fold(self) -> str:
        """A fold, or what looks like one."""
        name = self.random.choice("stuv")
        kind = self.folds.setdefault(name, self.random.choice(("+=", "+=", "*=", "^=", "|=", "min", "max")))
        if self.chance(0.1):
            kind = self.random.choice(("+=", "*=", "-="))
        if kind in ("min", "max"):
            return f"{name} = {kind}({name}, {self.value(1)})"
        return f"{name} {kind} {self.value(1)}"

    def loop(self, pad: str, depth: int) -> list[str]:
        name = "ijk"[depth] if depth < 2 else "l"
        lines = [f"{pad}for {name} in {self.range()}:"]
        self.indices.append(name)
        count = len(lines)
        for _ in range(self.random.choice((1, 1, 2, 3))):
            if depth < 2 and self.chance(0.4 if depth else 0.55):
                lines += self.loop(pad + "    ", depth + 1)
            else:
                lines += self.statement(pad + "    ", depth)
        assert len(lines) > count
        self.indices.pop()
        return lines

    def program(self) -> str:
        lines = ["def f(a, b, m, n, k):", "    s, t, u, v = 1, 2, 3, 4"]
        for _ in range(self.random.choice((1, 1, 2))):
            lines += self.loop("    ", 0)
        return "\n".join((*lines, "    return s, t, u, v", ""))


def program(seed: int) -> str:
    """The source of one function."""
    return _Maker(seed).program()
