"""What the rules of `fold` work with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from quadrants.ir import Op, Value
from quadrants.types import Scalar

Number = bool | int | float | complex


class Env(Protocol):
    """What the rules may ask for."""

    def maker(self, value: Value) -> Op | None: ...

    def is_parameter(self, value: Value) -> bool: ...

    def number(self, value: Value) -> Number | None: ...

    def const(self, value: Number, type: Scalar) -> Value: ...

    def emit(self, name: str, *operands: Value, **attrs: object) -> Value: ...


Rule = Callable[[Op, Env], Value | None]
