"""Where the decisions of the generator of modules come from: hypothesis, or a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import hypothesis.strategies as st


class Choices(Protocol):
    """Where the decisions come from."""

    def integer(self, low: int, high: int) -> int: ...


@dataclass(slots=True)
class Drawn:
    """Decisions by hypothesis, which can shrink them."""

    draw: Callable[[st.SearchStrategy[int]], int]

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@dataclass(slots=True)
class Seeded:
    """Decisions by a seed."""

    source: random.Random

    def integer(self, low: int, high: int) -> int:
        return self.source.randint(low, high)
