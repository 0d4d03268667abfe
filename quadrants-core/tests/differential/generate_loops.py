"""Random loop nests over arrays: affine and indirect indices, some out of range; conditions, reductions, early exits, aliases.

What the passes transform (bounds checks, guards, versions of loops, vectors) is aimed at; results have to be those of the
interpreter up to the stores that precede an exception. `Choices` decides, as in `generate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from differential.expressions import Choices, Program

T = TypeVar("T")
DTYPES = ("float64", "float64", "float32", "int64", "int64", "int32", "uint8", "bool")


class LoopWriter:
    """Writes one function with loop nests.

    Args:
        choices: decides.
        exact: whether to leave out operations on floats that round.
    """

    def __init__(self, choices: Choices, exact: bool) -> None:
        self.choices = choices
        self.exact = exact
        self.arrays: dict[str, tuple[str, int]] = {}
        self.variables: list[str] = []
        self.sums: list[str] = []
        self.count = 0
        self.left = 14

    def pick(self, options: Sequence[T]) -> T:
        return options[self.choices.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.choices.below(100) >= 100 - percent

    # indices and bounds

    def index(self) -> str:
        """An integer expression of the loop variables, mostly affine."""
        if not self.variables:
            return self.pick(("0", "-1", "n", "n - 1", "m"))
        i, j = self.pick(self.variables), self.pick(self.variables)
        forms = (i, i, i, i, f"{i} + 1", f"{i} - 1", f"{i} + {j}", f"2 * {i}", f"n - 1 - {i}", f"-{i}", f"{i} // 2")
        more = (f"{i} % 3", f"{i} - {j}", f"{i} * m + {j}", "n", "-1", "0", f"({i} * {i}) % 7", f"{i} - n", "k")
        return self.pick((*forms, *more))

    def bound(self) -> str:
        names = list(self.arrays)
        forms = ["n", "n - 1", "n + 1", "m", "n + m", "3", "0"]
        if names:
            a, b = self.pick(names), self.pick(names)
            forms += [f"len({a})", f"len({a}) - 1", f"{a}.shape[-1]", f"min(len({a}), len({b}))", f"{a}.shape[0]"] * 2
        forms += self.variables
        return self.pick(forms)

    def load(self, name: str) -> str:
        return f"{name}[{', '.join(self.index() for _ in range(self.arrays[name][1]))}]"

    # values

    def value(self, dtype: str, depth: int = 2) -> str:
        """An expression that an element of the dtype can take."""
        same = [n for n, (d, _) in self.arrays.items() if d == dtype]
        if depth <= 0 or self.chance(35):
            leaf = self.pick(("load", "load", "literal"))
            return self.load(self.pick(same)) if same and leaf == "load" else self.literal(dtype)
        x, y = self.value(dtype, depth - 1), self.value(dtype, depth - 1)
        if dtype == "bool":
            return self.pick((f"({x} {self.pick('&|^')} {y})", f"({self.condition(depth - 1)})"))
        if dtype.startswith("float"):
            symbols = "+-" if self.exact else "+-*/"
            forms = [f"({x} {self.pick(symbols)} {y})", f"min({x}, {y})", f"abs({x})", f"(-{x})"]
            if not self.exact:
                forms += [f"np.sqrt(abs({x}))", f"({x} % {y})"]
        else:
            symbols_ = ("+", "-", "*", "&", "|", "^", "//", "%")
            forms = [f"({x} {self.pick(symbols_)} {y})", f"max({x}, {y})", f"({x} >> {self.choices.below(4)})"]
        forms.append(f"({x} if {self.condition(depth - 1)} else {y})")
        return self.pick(forms)

    def literal(self, dtype: str) -> str:
        if dtype == "bool":
            return self.pick(("np.True_", "np.False_"))
        text = str((self.choices.below(17) - 4) / 4) if dtype.startswith("float") else str(self.choices.below(9))
        return f"np.{dtype}({text})"

    def condition(self, depth: int = 1) -> str:
        forms: list[Callable[[], str]] = [lambda: f"n > {self.choices.below(9)}"]
        if self.variables:
            forms.append(lambda: f"{self.index()} {self.pick(('<', '==', '>=', '!='))} {self.index()}")
            forms.append(lambda: f"{self.pick(self.variables)} % {self.pick((2, 3))} == 0")
        if self.arrays:
            name = self.pick(list(self.arrays))
            dtype = self.arrays[name][0]
            if dtype == "bool":
                forms.append(lambda: self.load(name))
            else:
                forms.append(
                    lambda: f"{self.value(dtype, depth - 1)} {self.pick(('<', '>', '<=', '=='))} {self.literal(dtype)}"
                )
        return self.pick(forms)()

    # statements

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(1 + self.choices.below(3)):
            if self.left > 0:
                self.left -= 1
                lines += self.statement(depth)
        return ["    " + line for line in lines or ["k += 1"]]

    def statement(self, depth: int) -> list[str]:
        forms: list[Callable[[int], list[str]]] = [self.store] * 4 + [self.reduce] * 2
        if depth > 0:
            forms += [self.loop, self.loop, self.if_]
        if self.variables:
            forms += [self.leave, self.count_up, self.try_]
        return self.pick(forms)(depth)

    def store(self, depth: int) -> list[str]:
        name = self.pick(list(self.arrays))
        dtype = self.arrays[name][0]
        symbols = {"b": ("=", "&=", "|="), "f": ("=", "=", "+=", "-=")}.get(
            dtype[0], ("=", "=", "+=", "-=", "*=", "^=")
        )
        return [f"{self.load(name)} {self.pick(symbols)} {self.value(dtype)}"]

    def reduce(self, depth: int) -> list[str]:
        dtype, total = self.pick((("float64", "s"), ("int64", "t"), ("float64", "low")))
        value = self.value(dtype)
        if total == "low":
            return [f"low = min(low, {value})"]
        return [f"{total} += {value}"]

    def count_up(self, depth: int) -> list[str]:
        return [self.pick(("k += 1", "k += 2", "k -= 1"))]

    def leave(self, depth: int) -> list[str]:
        return [f"if {self.condition()}:", f"    {self.pick(('break', 'continue', 'return k'))}"]

    def try_(self, depth: int) -> list[str]:
        handler = self.pick(("pass", "k += 100", "break", "continue"))
        return ["try:", *self.block(depth - 1), "except IndexError:", f"    {handler}"]

    def if_(self, depth: int) -> list[str]:
        lines = [f"if {self.condition()}:", *self.block(depth - 1)]
        return [*lines, "else:", *self.block(depth - 1)] if self.chance(40) else lines

    def loop(self, depth: int) -> list[str]:
        self.count += 1
        name = f"i{self.count}"
        start = self.pick(("0", "0", "0", "1", "-1", "m"))
        headers = (
            f"range({self.bound()})", f"range({self.bound()})", f"range({start}, {self.bound()})",
            f"range({start}, {self.bound()}, {self.pick((2, 3))})", f"range({self.bound()}, {start}, -1)",
            f"range({self.bound()} - 1, -1, -1)",
        )  # fmt: skip
        header = f"for {name} in {self.pick(headers)}:"
        self.variables.append(name)
        body = self.block(depth - 1)
        self.variables.pop()
        return [header, *body]

    def program(self) -> Program:
        """The program."""
        count = 1 + self.choices.below(4)
        for position in range(count):
            self.arrays[f"a{position}"] = self.pick(DTYPES), self.pick((1, 1, 2))
        body: list[str] = []
        for _ in range(1 + self.choices.below(2)):
            body += ["    " + line for line in self.loop(3)]
        head = ["    s = np.float64(0.0)", "    t = np.int64(0)", "    low = np.float64(9.0)", "    k = 0"]
        lines = [f"def f({', '.join(self.arrays)}, n, m):", *head, *body, "    return s, t, low, k"]
        source = "\n".join(lines) + "\n"
        if "return k" in source:
            source = source.replace("return k", "return s, t, low, k")
        return Program(source, (*self.make_arrays(), self.choices.below(9), self.choices.below(5)), self.exact)

    def make_arrays(self) -> list[np.ndarray]:
        """Arrays of like lengths; now and then two of them look at the same memory."""
        length = self.pick((0, 1, 3, 5, 8, 17, 40))
        made: list[np.ndarray] = []
        random = np.random.default_rng(self.choices.below(1000))
        for dtype, ndim in self.arrays.values():
            shape = tuple(
                max(0, length + self.choices.below(3) - 1) if axis == 0 else self.choices.below(7)
                for axis in range(ndim)
            )
            wide = tuple(2 * n + 1 for n in shape)
            numbers = random.integers(0, 24, wide)
            values = (numbers / 4 if dtype.startswith("float") else numbers % 2 if dtype == "bool" else numbers).astype(
                dtype
            )
            cuts = (
                lambda v, s: v[tuple(slice(0, n) for n in s)].copy(),
                lambda v, s: v[tuple(slice(0, n) for n in s)],
                lambda v, s: v[tuple(slice(1, 2 * n + 1, 2) for n in s)],
                lambda v, s: v[tuple(slice(0, n) for n in s)][::-1],
                lambda v, s: np.asfortranarray(v[tuple(slice(0, n) for n in s)]),
            )
            twins = [other for other in made if other.dtype == values.dtype and other.ndim == ndim]
            if twins and self.chance(30):
                twin = self.pick(twins)
                made.append(self.pick((twin, twin[1:], twin[::-1], twin[:-1])))
            else:
                made.append(self.pick(cuts)(values, shape))
        return made
