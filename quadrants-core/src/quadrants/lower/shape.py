"""How operands of one type are written in LLVM IR: a scalar, or lanes of it."""

from __future__ import annotations

import re
from functools import cache

from quadrants._frozen import frozen
from quadrants.lower.abi import scalar_text
from quadrants.lower.literal import float_text, int_text
from quadrants.types import LanesType, Scalar, Type

_SPLAT = re.compile(r"splat \([a-z0-9]+ (.*)\)")


@frozen
class Shape:
    """A scalar type, and how many lanes of it (0: a scalar).

    Args:
        item: the type of one lane.
        lanes: how many.
    """

    item: Scalar
    lanes: int = 0

    @property
    def text(self) -> str:
        """The LLVM type."""
        return self._in_lanes(scalar_text(self.item))

    @property
    def suffix(self) -> str:
        """The type as the names of intrinsics have it."""
        item = f"f{self.item.bits}" if self.item.is_float else scalar_text(self.item)
        return f"v{self.lanes}{item}" if self.lanes else item

    @property
    def truth(self) -> str:
        """The LLVM type of a comparison."""
        return self._in_lanes("i1")

    def _in_lanes(self, text: str) -> str:
        return f"<{self.lanes} x {text}>" if self.lanes else text

    def of(self, item: Scalar) -> Shape:
        """Another type in as many lanes."""
        return Shape(item, self.lanes)

    def int(self, value: int) -> str:
        """An integer constant."""
        return self.const(scalar_text(self.item), int_text(value, self.item.bits))

    def float(self, value: float) -> str:
        """A float constant."""
        return self.const(scalar_text(self.item), float_text(value, self.item.bits))

    def true(self) -> str:
        """The constant true."""
        return self.const("i1", "true")

    def const(self, type: str, text: str) -> str:
        """A constant of an LLVM type in every lane."""
        return f"splat ({type} {text})" if self.lanes else text


@cache
def shape_of(type: Type) -> Shape:
    """The shape of a scalar or of lanes."""
    if isinstance(type, LanesType):
        return Shape(type.item, type.count)
    assert isinstance(type, Scalar)
    return Shape(type)


def literal_of(text: str) -> int | None:
    """The integer that an operand is, in every lane if there are several; None if it is no constant."""
    splat = _SPLAT.fullmatch(text)
    number = splat[1] if splat is not None else text
    return int(number) if number[0] in "-0123456789" and number.lstrip("-").isdigit() else None
