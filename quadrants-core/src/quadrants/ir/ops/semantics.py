"""Building blocks of the reference semantics. A reference takes (op, operand values) and gives the result values.

Floats are NumPy scalars of the exact width, whose warnings the caller silences (`np.errstate(all="ignore")`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quadrants.ir.opdef import Reference
from quadrants.ir.values import Undefined, wrap
from quadrants.types import Scalar

if TYPE_CHECKING:
    from quadrants.ir.core import Op


def operand_scalar(op: Op, index: int = 0) -> Scalar:
    """The type of an operand that is a scalar."""
    type = op.operands[index].type
    assert isinstance(type, Scalar)
    return type


def arithmetic(function: Callable[..., Any]) -> Reference:
    """On ints of any size, wrapped to the type (where `nowrap` promises that there is nothing to wrap); on floats as it is."""

    def reference(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
        type = operand_scalar(op)
        exact = function(*values)
        if not type.is_integer:
            return (exact,)
        result = wrap(exact, type)
        if result != exact and op.attrs.get("nowrap"):
            raise Undefined(f"{op.name} wraps on {', '.join(map(str, values))} as {type}")
        return (result,)

    return reference


def plain(function: Callable[..., Any]) -> Reference:
    """The function of the values."""

    def reference(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return (function(*values),)

    return reference


def on_bits(function: Callable[[int, int], int]) -> Reference:
    """A function of (the bits as an unsigned int, the width), wrapped to the type."""

    def reference(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
        type = operand_scalar(op)
        return (wrap(function(values[0] & ((1 << type.bits) - 1), type.bits), type),)

    return reference
