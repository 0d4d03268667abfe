"""Random nests that are products of matrices, or nearly: loops in any order, factors that are read or computed, elements that are
prepared and finished, ranges that begin anywhere; and indices in the wrong place, bounds that depend on each other, jumps,
stores elsewhere, reads of the result.

`source(seed)` is the text of a function of matrices `a`, `b`, `c`, vectors `e`, `flat` (a matrix in a row) and `other`, and numbers
`n`, `m`, `p`, `s`; `arguments(seed)` are arguments for it, some of which share memory.
"""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np

PARAMS = ("a", "b", "c", "e", "flat", "other", "n", "m", "p", "s")
_ORDERS = ["".join(order) for order in permutations("ijk")]
_LENGTHS = {"i": "n", "j": "m", "k": "p"}
_SIZES = (0, 1, 2, 3, 4, 5, 7)
#: What is wrong with a nest, of one in three.
_FAULTS = ("column", "term", "shape", "triangle", "early", "branch", "reads", "store", "factor", "sign", "after")


class _Maker:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.order = self.random.choice(_ORDERS)
        self.fault = self.random.choice(_FAULTS) if self.random.random() < 0.35 else ""
        self.lines: list[str] = []
        self.offsets = {index: self.random.choice((0, 0, 0, 1)) for index in "ijk"}

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def text(self) -> str:
        inner = self.order[-1]
        for depth, index in enumerate(self.order):
            if depth == 2 and inner == "k":
                self.before()
            self.line(depth, f"for {index} in {self.range(index, depth)}:")
            if depth == 0 and index != "k" and self.random.random() < 0.3:
                self.lines_first(index)
        if self.fault == "early":
            self.line(3, f"if {self.pick('a[0, 0] > 0.5', 'i == 2', 'k > 1')}:")
            self.line(4, "break")
        term = self.term()
        if self.fault == "branch":
            self.line(3, f"if {self.pick('i != k', 'a[0, 0] > 0.0', 'k != 1')}:")
        depth = 4 if self.fault == "branch" else 3
        self.line(depth, f"{self.sum} {self.step} {term}")
        if self.fault == "store":
            self.line(3, self.pick("other[k] = s", "c[0, 0] = s", "b[k, j] = s"))
        if inner == "k":
            self.behind()
        return "\n".join((f"def f({', '.join(PARAMS)}):", *self.lines, ""))

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def range(self, index: str, depth: int) -> str:
        stop = _LENGTHS[index]
        if self.fault == "triangle" and depth > 0:
            around = self.order[depth - 1]
            return self.pick(f"range({around}, {stop})", f"range({around})", f"range(min({around} + 2, {stop}))")
        if self.fault == "sign" and depth == 0:
            return self.pick(f"range({stop} - 1, -1, -1)", f"range(0, {stop}, 2)", f"range(-1, {stop})")
        return f"range({self.offsets[index]}, {stop})" if self.offsets[index] else f"range({stop})"

    def lines_first(self, index: str) -> None:
        """A loop over a line of the result, in front of the others."""
        other = "j" if index == "i" else "i"
        stop = self.pick(_LENGTHS[other], _LENGTHS[other], _LENGTHS[other], "c.shape[0]")
        start = f"{self.offsets[other]}, " if self.offsets[other] else ""
        self.line(1, f"for {other} in range({start}{stop}):")
        place = self.pick(self.place, self.place, self.place, "c[i, 0]", "c[0, j]", "b[i, j]")
        self.line(2, f"{place} = " + self.pick("0.0", "0.0", "e[j]", "s + e[i]", f"s * {self.place}", "b[i, j]"))

    # Elements

    @property
    def element(self) -> str:
        if self.fault == "column":
            return "c[i, 0]"
        if self.fault == "term":
            return self.random.choice(("c[i, k]", "c[k, j]"))
        return self.place

    def before(self) -> None:
        """What an element begins with, where the loop over the terms is the innermost one."""
        self.form = self.pick("scalar", "scalar", "scalar", "array", "cleared")
        begin = self.pick("0.0", "0.0", "0.0", "s", "e[j]", self.element, f"2.0 * {self.element}", "e[i] + s")
        self.sum = "t" if self.form == "scalar" else self.element
        if self.form == "scalar":
            self.line(2, f"t = {begin}")
        elif self.form == "cleared":
            self.line(2, f"{self.element} = {begin}")

    def behind(self) -> None:
        element = self.element
        if self.form == "scalar":
            self.line(
                2,
                f"{element} = "
                + self.pick("t", "t", "t", "s * t", f"s * t + 0.5 * {element}", "t - e[j]", f"{element} - t"),
            )
        elif self.random.random() < 0.3:
            self.line(2, self.pick(f"{element} *= s", f"{element} = {element} + e[j]", f"{element} += {element}"))
        if self.fault == "after":
            self.line(
                2, self.pick("e[j] = t" if self.form == "scalar" else "e[j] = s", "other[i] = s", "c[j, i] = 1.0")
            )

    @property
    def place(self) -> str:
        return self._place

    def term(self) -> str:
        left = self.pick("a[i, k]", "a[i, k]", "a[k, i]", "flat[i * p + k]", "a[i, k + 1]", "a[n - 1 - i, k]")
        right = self.pick("b[k, j]", "b[k, j]", "b[j, k]", "b[k, m - 1 - j]", "a[k, j]")
        if self.fault == "reads":
            left, right = self.random.choice(
                ((left, "c[k, j]"), ("c[i, k]", right), (left, f"({right} + {self.element})"))
            )
        if self.fault == "shape":
            left, right = self.random.choice(
                (("a[i, j]", right), (left, "e[j]"), (left, "b[k, i]"), ("a[i, k + j]", right))
            )
        left, right = self.computed(left, "ik"), self.computed(right, "kj")
        if self.fault == "factor":
            return f"{left} * {right} * " + self.pick("s", "e[k]", "e[j]")
        return self.pick(f"{left} * {right}", f"{right} * {left}")

    def computed(self, factor: str, indices: str) -> str:
        index = self.pick(*indices)
        return self.pick(factor, factor, factor, f"(s * {factor})", f"({factor} + e[{index}])", f"({factor} * 0.5)")


def source(seed: int) -> str:
    """The text of the function."""
    maker = _Maker(seed)
    maker._place = maker.pick("c[i, j]", "c[i, j]", "c[j, i]", "c[i, j + 1]")
    maker.sum, maker.form = maker.element, ""
    maker.step = maker.pick("+=", "+=", "-=")
    return maker.text()


def arguments(seed: int) -> tuple[object, ...]:
    """Arguments that fit, mostly."""
    choose = np.random.default_rng(seed)
    n, m, p = (int(choose.choice(_SIZES)) for _ in range(3))
    size = max(n, m, p) + int(choose.random() < 0.8)
    memory = choose.integers(-9, 10, 4 * size * size + 8) / 8.0
    if choose.random() < 0.1:
        memory[choose.integers(0, len(memory), 3)] = (np.nan, np.inf, -np.inf)
    arrays = []
    for index in range(3):
        start = index * size * size
        if choose.random() < 0.15:
            start = int(choose.integers(0, 3 * size * size + 1))
        arrays.append(memory[start : start + size * size].reshape(size, size))
    vectors = [choose.integers(-9, 10, size + 1) / 4.0 for _ in range(2)]
    flat = choose.integers(-9, 10, max(size * size, 1)) / 8.0
    return (*arrays, vectors[0], flat, vectors[1], n, m, p, 1.5)
