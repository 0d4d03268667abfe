"""Random kernels, as source text: barriers where all threads come, shuffles and votes anywhere, loops, branches and jumps.

The programs are free of races: what a thread writes into shared memory is read by others between two barriers only.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

_HEAD = """\
def kernel(x, out, n, m):
    s = ns.shared.array(64, np.int32)
    t = ns.threadIdx.x
    i = ns.grid(1)
    lane = ns.laneid
    a = x[i]
    b = t
    c = 1
    u = 1
"""
_TAIL = """\
    out[i, 1] += a % 1000
    out[i, 2] += b % 1000 + c % 1000
"""
_LANES = (
    "ns.subgroup.shuffle_xor({e}, {k})",
    "ns.subgroup.shuffle({e}, {e} % 32)",
    "ns.subgroup.shuffle_down({e}, {k})",
    "ns.popc(ns.subgroup.ballot({c}))",
    "ns.subgroup.reduce_all_add({e})",
    "ns.subgroup.inclusive_max({e})",
    "ns.subgroup.exclusive_add({e})",
    "1 if ns.subgroup.elect() else 0",
    "ns.subgroup.broadcast_first({e})",
    "ns.popc(ns.match_any_sync(0, {e} % 3))",
)


class Writer:
    """Writes one program. `barriers`: whether it has them; else threads may return early."""

    def __init__(self, seed: int, barriers: bool) -> None:
        self.choose = random.Random(seed)
        self.barriers = barriers
        self.lines: list[str] = []
        self.count = 0

    def source(self) -> str:
        self.lines = []
        for _ in range(self.choose.randint(3, 7)):
            self.statement(1, True, (), 4)
        return _HEAD + "\n".join(self.lines) + "\n" + _TAIL

    def emit(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def uniform(self) -> str:
        return self.choose.choice(("n", "m", "ns.blockIdx.x", "3", "2", "n + m", "ns.blockDim.x % 3", "u"))

    def expression(self, depth: int = 0) -> str:
        choose = self.choose
        if depth > 2 or choose.random() < 0.3:
            return choose.choice(("a", "b", "c", "t", "lane", "n", "u", str(choose.randint(-3, 5)), "x[i]"))
        symbol = choose.choice(("+", "-", "*", "^", "&", "|"))
        text = f"({self.expression(depth + 1)} {symbol} {self.expression(depth + 1)})"
        return f"({text} % 97)" if symbol == "*" else text

    def condition(self, uniform: bool) -> str:
        choose = self.choose
        if uniform:
            return f"{self.uniform()} {choose.choice(('<', '>', '==', '!='))} {self.uniform()}"
        test = choose.choice(("==", "!=", "<"))
        return f"({self.expression()}) % {choose.randint(2, 4)} {test} {choose.randint(0, 2)}"

    def block(self, indent: int, uniform: bool, loops: tuple[bool, ...], budget: int) -> None:
        for _ in range(self.choose.randint(1, 3)):
            self.statement(indent, uniform, loops, budget - 1)

    def statement(self, indent: int, uniform: bool, loops: tuple[bool, ...], budget: int) -> None:
        kinds: list[tuple[int, Callable[[], None]]] = [
            (25, lambda: self.emit(indent, f"{self.choose.choice('abc')} = {self.expression()} % 1000")),
            (14, lambda: self.lanes(indent)),
            (5, lambda: self.emit(indent, f"out[i, {self.choose.randint(0, 2)}] += {self.expression()} % 100")),
        ]
        if uniform and self.barriers:
            kinds += [(8, lambda: self.exchange(indent)), (4, lambda: self.counting(indent))]
        if budget > 0:
            kinds += [
                (18, lambda: self.branch(indent, uniform, loops, budget)),
                (12, lambda: self.counted(indent, uniform, loops, budget)),
                (8, lambda: self.repeated(indent, uniform, loops, budget)),
            ]
        if loops:
            kinds.append((7, lambda: self.jump(indent, uniform, loops)))
        if not self.barriers:
            kinds.append((3, lambda: self.leave(indent)))
        weights = [weight for weight, _ in kinds]
        self.choose.choices([write for _, write in kinds], weights)[0]()

    def lanes(self, indent: int) -> None:
        text = self.choose.choice(_LANES)
        filled = text.format(e=self.expression(), c=self.condition(False), k=self.choose.randint(1, 31))
        self.emit(indent, f"{self.choose.choice('abc')} = {filled}")

    def exchange(self, indent: int) -> None:
        self.emit(indent, f"s[t] = {self.expression()}")
        self.emit(indent, "ns.syncthreads()")
        self.emit(indent, f"{self.choose.choice('abc')} = s[(t + {self.choose.randint(1, 7)}) % ns.blockDim.x]")
        self.emit(indent, "ns.syncthreads()")

    def counting(self, indent: int) -> None:
        name, test = self.choose.choice("abcu"), self.condition(False)
        self.emit(indent, f"{name} = ns.syncthreads_count({test})")
        self.emit(indent, f"a += 1 if ns.syncthreads_or({self.condition(False)}) else 2")

    def branch(self, indent: int, uniform: bool, loops: tuple[bool, ...], budget: int) -> None:
        same = uniform and self.choose.random() < 0.5
        self.emit(indent, f"if {self.condition(same)}:")
        self.block(indent + 1, same, loops, budget)
        if self.choose.random() < 0.5:
            self.emit(indent, "else:")
            self.block(indent + 1, same, loops, budget)

    def counted(self, indent: int, uniform: bool, loops: tuple[bool, ...], budget: int) -> None:
        same = uniform and self.choose.random() < 0.6
        self.count += 1
        bound = self.uniform() if same else f"({self.expression()}) % 4"
        self.emit(indent, f"for k{self.count} in range({bound}):")
        self.block(indent + 1, same, (*loops, same), budget)

    def repeated(self, indent: int, uniform: bool, loops: tuple[bool, ...], budget: int) -> None:
        self.count += 1
        name = f"w{self.count}"
        bound = self.uniform() if uniform and self.choose.random() < 0.5 else f"({self.expression()}) % 4"
        self.emit(indent, f"{name} = 0")
        self.emit(indent, f"while {name} < {bound}:")
        self.emit(indent + 1, f"{name} += 1")
        self.block(indent + 1, False, (*loops, False), budget)

    def jump(self, indent: int, uniform: bool, loops: tuple[bool, ...]) -> None:
        self.emit(indent, f"if {self.condition(loops[-1] and uniform)}:")
        self.emit(indent + 1, self.choose.choice(("break", "continue")))

    def leave(self, indent: int) -> None:
        self.emit(indent, f"if {self.condition(False)}:")
        self.emit(indent + 1, f"out[i, 0] = {self.expression()} % 1000")
        self.emit(indent + 1, "return")


def kernel(seed: int, ns: Any) -> Any:
    """A random kernel `(x, out, n, m)` of threads along one axis."""
    source, name = Writer(seed, seed % 3 != 0).source(), f"<kernel {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"ns": ns, "np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["kernel"]


def arguments(seed: int) -> tuple[int, tuple[Any, ...]]:
    """How many threads a block has, and arguments for two blocks."""
    rng = np.random.default_rng(seed)
    threads = int(rng.choice([5, 32, 40, 64]))
    x = rng.integers(-9, 9, 2 * threads).astype(np.int32)
    return threads, (x, np.zeros((2 * threads, 3), np.int32), 3, 2)
