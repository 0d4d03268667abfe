"""Random loops whose turns part: branches, inner loops with trip counts of their own, jumps, gathers, exceptions.

`source(seed)` is the text of a function of arrays `a`, `b` (floats), `k` (ints), `out`, `top` (floats), `ints`, `grid` and a
number `n`; turns are mostly independent of each other, so that most of the loops may run in lanes.
"""

from __future__ import annotations

import random

import numpy as np

PARAMS = ("a", "b", "k", "out", "top", "ints", "grid", "n")
_FLOATS = ("x", "y", "z")
_INTS = ("c", "d")
#: What a turn may allocate, of three elements or more.
_ARRAYS = (
    "np.zeros(3)",
    "np.zeros(3)",
    "np.zeros(size)",
    "np.full(size, x)",
    "np.zeros((3, size))[1]",
    "grid[i] * 2.0",
    "grid[i].copy()",
    "grid[i] - grid[0]",
)


class _Maker:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.depth = 0
        self.loops: list[str] = []
        self.indices: list[str] = []
        self.names = 0
        self.sums = self.random.random() < 0.4
        self.local = self.random.random() < 0.3
        self.array = random.Random(seed + 1).choice(_ARRAYS)

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    # Expressions

    def float(self, depth: int = 0) -> str:
        kind = self.random.randrange(12 if depth < 2 else 5)
        if kind < 3:
            return self.pick(*_FLOATS)
        if kind == 3:
            return self.pick("0.5", "1.5", "-2.0", "3.0", "0.25")
        if kind == 4:
            return self.load()
        left, right = self.float(depth + 1), self.float(depth + 1)
        if kind < 9:
            return f"({left} {self.pick('+', '-', '*')} {right})"
        if kind == 9:
            return self.pick(f"abs({left})", f"math.sqrt(abs({left}))", f"-{left}", f"float({self.int(1)})")
        if kind == 10:
            return f"({left} if {self.condition(depth + 1)} else {right})"
        return f"({left} / ({right} * {right} + 1.0))" if self.chance(0.8) else f"({left} / {right})"

    def load(self) -> str:
        if self.local and self.chance(0.3):
            return self.pick("t[0]", "t[1]", "t[2]", f"t[{self.int(2)} % 3]")
        index = self.pick("i", "i", "i", *self.indices)
        if index == "i":
            return self.pick("a[i]", "b[i]", "grid[i, 0]", "grid[i, 1]", "grid[i, 2]", "b[len(b) - 1 - i]")
        return self.pick(f"a[{index}]", f"b[{index} % n]", f"a[({index} + i) % n]", f"grid[{index} % n, 1]")

    def int(self, depth: int = 0) -> str:
        kind = self.random.randrange(10 if depth < 2 else 4)
        if kind < 2:
            return self.pick(*_INTS)
        if kind == 2:
            return self.pick("1", "2", "3", "7", "-1")
        if kind == 3:
            return self.pick("i", "k[i]", *self.indices)
        left, right = self.int(depth + 1), self.int(depth + 1)
        if kind < 7:
            return f"({left} {self.pick('+', '-', '*')} {right}) % 64"
        if kind == 7:
            return f"({left} {self.pick('//', '%')} {self.pick('2', '3', '4', '5')})"
        if kind == 8:
            return f"({left} if {self.condition(depth + 1)} else {right})"
        return self.pick(f"min({left}, {right})", f"max({left}, {right})", f"({left} & 15)", f"({left} ^ {right}) % 32")

    def condition(self, depth: int = 0) -> str:
        kind = self.random.randrange(6 if depth < 2 else 3)
        if kind == 0:
            return f"{self.float(2)} {self.pick('<', '>', '<=')} {self.float(2)}"
        if kind < 3:
            return f"{self.int(2)} {self.pick('<', '>', '==', '!=')} {self.int(2)}"
        if kind == 3:
            return f"n {self.pick('<', '>')} {self.pick('4', '9')}"  # the same for all turns
        return f"({self.condition(depth + 1)}) {self.pick('and', 'or')} ({self.condition(depth + 1)})"

    # Statements

    def block(self, count: int) -> None:
        self.indent += 1
        self.depth += 1
        for _ in range(self.random.randint(1, count)):
            self.statement()
        self.depth -= 1
        self.indent -= 1

    def statement(self) -> None:
        choices = [self.assign] * 5 + [self.store]
        if self.depth < 3:
            choices += [self.branch] * 3 + [self.counted, self.turning]
        if self.depth > 1 or self.chance(0.15):
            choices += [self.jump]
        self.random.choice(choices)()

    def assign(self) -> None:
        if self.local and self.chance(0.25):
            self.emit(f"t[{self.pick('0', '1', '2', f'{self.int(2)} % 3')}] = {self.float()}")
        elif self.chance(0.6):
            self.emit(f"{self.pick(*_FLOATS)} = {self.float()}")
        elif self.sums and self.chance(0.4):
            self.emit(f"total += {self.int()}")
        else:
            self.emit(f"{self.pick(*_INTS)} = {self.int()}")

    def store(self) -> None:
        self.emit(
            self.pick(
                f"out[i] = {self.float()}",
                f"ints[i] = {self.int()}",
                f"grid[i, {self.pick('0', '1', '2')}] = {self.float()}",
            )
        )

    def branch(self) -> None:
        self.emit(f"if {self.condition()}:")
        self.block(3)
        if self.chance(0.5):
            self.emit("else:")
            self.block(3)

    def counted(self) -> None:
        self.names += 1
        name = f"j{self.names}"
        bounds = self.pick(
            "3", "n", "k[i]", "k[i] % 5", "c % 6", "i", "i, n", "i + 1, n", "n, i, -1", "2, k[i]", "0, n, 2"
        )
        self.emit(f"for {name} in range({bounds}):")
        self.inside(name)

    def inside(self, name: str) -> None:
        self.loops.append(name)
        self.indices.append(name)
        self.block(3)
        self.indices.pop()
        self.loops.pop()

    def turning(self) -> None:
        self.names += 1
        name = f"w{self.names}"
        self.emit(f"{name} = 0")
        self.emit(f"while {name} < {self.pick('3', '5', 'k[i]')} and {self.condition()}:")
        self.indent += 1
        self.emit(f"{name} += 1")
        self.indent -= 1
        self.loops.append(name)
        self.block(3)
        self.loops.pop()

    def jump(self) -> None:
        if self.loops:
            self.emit(f"if {self.condition()}:")
            self.indent += 1
            self.emit(self.pick("break", "continue"))
            self.indent -= 1
        elif self.chance(0.5):
            self.emit(f"if {self.condition()}:")
            self.indent += 1
            self.emit("continue")
            self.indent -= 1
        else:
            self.assign()

    def function(self) -> str:
        self.emit("total, best, where, most, low = 0, 2, -1, -1.0, 0.5")
        self.emit("z = 0.0")
        if self.local:
            self.emit("size = n // 2 + 3")
        self.emit(f"for i in range({self.pick('n', 'n', 'n', '1, n', '0, n, 2', 'n - 1, -1, -1', 'n - 1, 0, -3')}):")
        self.indent += 1
        self.emit("x, y, c, d = a[i], 0.5, 0, k[i]")
        if self.chance(0.8):
            self.emit("z = b[i]")
        if self.local:
            self.emit(f"t = {self.array}")
        for _ in range(self.random.randint(3, 7)):
            self.statement()
        if self.chance(0.3):
            self.emit(f"if c {self.pick('>', '>=', '<')} best:")
            self.emit("    best, where = c, i")
        if self.chance(0.2):
            self.emit(f"if {self.pick('most < x', 'x > most', 'x <= most')}:")
            self.emit("    most, low = x, y")
        self.emit("top[i] = x + y * 2.0")
        self.emit("ints[i] = c - d")
        self.indent -= 1
        self.emit("return total, best, where, most, low")
        return "\n".join((f"def f({', '.join(PARAMS)}):", *self.lines, ""))


def source(seed: int) -> str:
    """The text of the function."""
    return _Maker(seed).function()


def arguments(seed: int) -> tuple[object, ...]:
    """Arguments for it."""
    choose = np.random.default_rng(seed)
    n = int(choose.integers(0, 23))
    floats = [choose.choice([0.0, -0.0, 1.5, -2.25, 0.125, 7.0, 1e3], n) for _ in range(2)]
    return (
        *floats,
        choose.integers(0, 7, n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int64),
        choose.standard_normal((n, 3)),
        n,
    )
