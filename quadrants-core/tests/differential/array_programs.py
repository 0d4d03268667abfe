"""Random programs of statements on whole arrays: slices that overlap, several statements, loops, branches, swaps, reductions,
errors of shape. `program(seed)` gives the text of a function `f(a, b, m, q, n)` and arguments for it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

#: Slices of a vector, by how many elements they leave out.
_CUTS = {
    0: ["[:]", ""],
    1: ["[1:]", "[:-1]"],
    2: ["[2:]", "[:-2]", "[1:-1]"],
    3: ["[3:]", "[1:-2]", "[2:-1]", "[:-3]"],
}
_CUTS2 = {
    0: ["[:, :]", ""],
    1: ["[1:, :-1]", "[:-1, 1:]", "[1:, 1:]"],
    2: ["[1:-1, 1:-1]", "[2:, 1:-1]", "[:-2, 1:-1]", "[1:-1, 2:]", "[1:-1, :-2]"],
}
_BINARY = ("+", "-", "*")
_UNARY = ("np.abs({})", "-{}", "np.tanh({})", "np.floor({} * 4.0)", "np.where({0} > 0.1, {0}, 0.25)", "({} * {} + 0.5)")
_TOTALS = ("{}.sum()", "np.max({})", "{}.min()", "np.mean({})", "np.std({})", "np.prod({} * 0.5)", "np.dot({0}, {0})")
_TOTALS2 = (
    "{}.sum()",
    "np.max({})",
    "{}.min()",
    "np.mean({})",
    "np.var({})",
    "np.any({} > 1.0) * 1.0",
    "np.all({} > -9.0) * 1.0",
)
_COUNTS = ("np.argmax({})", "{}.argmin()", "np.count_nonzero({} > 0.2)")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.names: dict[str, tuple[int, int]] = {"a": (1, 0), "b": (1, 0), "m": (2, 0), "q": (2, 0)}
        self.made = 0
        self.depth = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def leaf(self, rank: int, cut: int) -> str:
        """An array of a rank that lacks so many elements."""
        names = [name for name, (r, c) in self.names.items() if r == rank and c <= cut]
        name = self.r.choice(names)
        return name + self.r.choice((_CUTS if rank == 1 else _CUTS2)[cut - self.names[name][1]])

    def expression(self, rank: int, cut: int, depth: int) -> str:
        kind = self.r.random()
        if depth == 0 or kind < 0.15:
            return self.leaf(rank, cut)
        if rank == 2 and kind < 0.25:
            row = self.leaf(1, cut)
            return f"({self.expression(2, cut, depth - 1)} + {row}{self.r.choice(['', '[:, None]', '[None, :]'])})"
        if rank == 2 and kind < 0.32:
            return f"{self.expression(2, cut, depth - 1)}.T"
        if kind < 0.5:
            pattern = self.r.choice(_UNARY)
            inner = self.expression(rank, cut, depth - 1)
            return pattern.replace("{0}", "{}").format(*[inner] * pattern.count("{"))
        if kind < 0.58:
            return f"({self.expression(rank, cut, depth - 1)} * {self.total(depth - 1)})"
        left, right = self.expression(rank, cut, depth - 1), self.expression(rank, cut, depth - 1)
        return f"({left} {self.r.choice(_BINARY)} {right})"

    def total(self, depth: int) -> str:
        """A number made of an array."""
        rank, cut = self.r.choice([(1, 0), (1, 1), (1, 2), (2, 0), (2, 2)])
        inner = self.expression(rank, cut, max(depth, 1))
        if self.r.random() < 0.1:
            return f"(0.1 * {self.r.choice(_COUNTS).format(inner)})"
        return f"(0.05 * {self.r.choice(_TOTALS if rank == 1 else _TOTALS2).format(inner, inner)})"

    def statement(self) -> None:
        rank = self.r.choice([1, 1, 2])
        cut = self.r.choice([0, 0, 1, 2, 2])
        kind = self.r.random()
        if kind < 0.34:
            name = f"t{self.made}"
            self.made += 1
            self.line(f"{name} = {self.expression(rank, cut, 3)}")
            if not self.lines[-1].endswith(("]", f"= {self.lines[-1].strip()[-1]}")):
                self.names[name] = (rank, cut)
            else:
                self.lines[-1] += " + 0.0"
                self.names[name] = (rank, cut)
        elif kind < 0.55:
            self.line(f"{self.target(rank, cut)} = {self.expression(rank, cut, 3)}")
        elif kind < 0.75:
            self.line(f"{self.target(rank, cut)} {self.r.choice(_BINARY)}= 0.5 * {self.expression(rank, cut, 2)}")
        elif kind < 0.81:
            self.line(f"s += {self.total(3)}")
        elif kind < 0.85:
            self.line(f"m[{self.r.choice(['1:', ':-1'])}, 0] = {self.leaf(1, 1)} * 0.5 + m[1:, 1]")
        elif kind < 0.88:
            axis = self.r.choice([0, 1])
            reduced = self.r.choice(
                ["np.sum({}, axis={})", "{}.max(axis={})", "np.mean({}, axis={})", "np.std({}, axis={})"]
            )
            self.line(f"{self.target(1, 0)} = 0.1 * {reduced.format(self.expression(2, 0, 2), axis)}")
        elif kind < 0.91:
            self.line(
                f"m[:] = {self.expression(2, 0, 2)} - 0.1 * {self.expression(2, 0, 1)}.sum(axis=1, keepdims=True)"
            )
        elif kind < 0.93:
            self.line("a, b = b, a")
        elif kind < 0.95:
            self.line(f"a[a > {self.r.choice(['0.5', 's'])}] = 0.25")
        elif kind < 0.97 and self.depth == 1:
            self.block("for k in range(n):")
        elif self.depth == 1:
            self.block(self.r.choice(["if s > 0.3:", f"if {self.total(1)} > 0.1:"]))
        else:
            self.line("s += a[0] + m[1, 1]")

    def target(self, rank: int, cut: int) -> str:
        text = self.leaf(rank, cut)
        return text if text.endswith("]") else text + "[...]"

    def block(self, head: str) -> None:
        self.line(head)
        names = dict(self.names)
        self.depth += 1
        for _ in range(self.r.randrange(1, 4)):
            self.statement()
        if self.r.random() < 0.1:
            self.line("if s > 5.0: return s, a, b, m, q")
        self.depth -= 1
        self.names = names


def program(seed: int, statements: int = 6) -> tuple[str, list[Any]]:
    """The text of a function, and arguments for it."""
    writer = _Writer(seed)
    writer.lines.append("def f(a, b, m, q, n):")
    writer.line("s = 0.0")
    for _ in range(statements):
        writer.statement()
    kept = ", ".join(name for name in writer.names if name.startswith("t"))
    writer.line(f"return s, a, b, m, q{', ' + kept if kept and writer.r.random() < 0.5 else ''}")
    return "\n".join(writer.lines) + "\n", arguments(writer.r)


def arguments(r: random.Random) -> list[Any]:
    """Arrays, of which some share memory, and some do not fit the others."""
    size = r.choice([1, 2, 3, 4, 5, 8, 33, 70])
    g = np.random.default_rng(r.randrange(1 << 30))
    a, b = g.normal(size=size), g.normal(size=size)
    m, q = g.normal(size=(size, size)), g.normal(size=(size, size))
    kind = r.random()
    if kind < 0.12:
        whole = g.normal(size=size + 2)
        a, b = whole[:size], whole[2:]
    elif kind < 0.2:
        b = a
    elif kind < 0.28:
        a, m = m[:, size // 2], m
    elif kind < 0.36:
        m = np.asfortranarray(m)
    elif kind < 0.42:
        q = m.T
    elif kind < 0.48:
        a = g.normal(size=2 * size)[::2]
    elif kind < 0.53:
        b = g.normal(size=1)
    elif kind < 0.57:
        q = g.normal(size=(size, 1))
    elif kind < 0.6:
        b = g.normal(size=size + 1)
    return [a, b, m, q, r.choice([0, 1, 3])]
