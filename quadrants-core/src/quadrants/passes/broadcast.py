"""The shape of an element-wise expression, by NumPy's broadcasting rule, with NumPy's messages when it does not fit.

Emits ops through a Builder: sizes, comparisons, and `check`s that raise ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir import Op, Value
from quadrants.ir.builder import Builder
from quadrants.types import I64, ArrayType, FormatHole, FormatType, TupleType

Dims = list[Value]


class Shaper:
    """Emits shape computations for one function.

    Args:
        builder: where to.
        constants: the known integer constants by value.
    """

    def __init__(self, builder: Builder, constants: dict[Value, object]) -> None:
        self.builder = builder
        self.constants = constants
        self.shapes: dict[Value, Dims] = {}

    def dims(self, array: Value) -> Dims:
        """The sizes of an array."""
        known = self.shapes.get(array)
        if known is not None:
            return known
        assert isinstance(array.type, ArrayType)
        return [self.dim(array, axis) for axis in range(array.type.ndim)]

    def dim(self, array: Value, axis: int) -> Value:
        return self.builder.value("dim", array, axis=axis)

    def is_one(self, size: Value) -> bool:
        """Whether the size is 1 by its definition."""
        return self.constants.get(size) == 1

    def equal(self, left: Value, right: Value) -> bool:
        """Whether two sizes are equal by their definition."""
        known = self.constants.get(left)
        return left is right or (known is not None and known == self.constants.get(right))

    def broadcast(self, shapes: Sequence[Dims]) -> Dims:
        """The common shape of the inputs of a ufunc, checked input by input."""
        rank = max((len(shape) for shape in shapes), default=0)
        result: Dims = []
        for axis in range(rank):
            size: Value | None = None
            for shape in shapes:
                at = axis - (rank - len(shape))
                if at >= 0:
                    size = shape[at] if size is None else self._join(size, shape[at], shapes)
            assert size is not None
            result.append(size)
        return result

    def _join(self, size: Value, other: Value, shapes: Sequence[Dims]) -> Value:
        if self.equal(size, other) or self.is_one(other):
            return size
        if self.is_one(size):
            return other
        b = self.builder
        one = b.i64(1)
        takes_other = b.value("cmp", size, one, pred="eq")
        fits = b.value("or", b.value("cmp", size, other, pred="eq"), b.value("cmp", other, one, pred="eq"))
        self.check(
            b.value("or", fits, takes_other), ("operands could not be broadcast together with shapes ", *_texts(shapes))
        )
        return b.value("select", takes_other, other, size)

    def broadcast_to(
        self, target: Dims, shape: Dims, message: Sequence[str | Value], grown: Sequence[str | Value] | None = None
    ) -> None:
        """Check that a shape, of no higher rank than the target's, can be broadcast to the target's.

        `grown`: what is wrong where only the target would have to be broadcast.
        """
        b = self.builder
        for size, into in zip(shape, target[len(target) - len(shape) :]):
            if self.equal(size, into) or self.is_one(size):
                continue
            fits = b.value("or", b.value("cmp", size, into, pred="eq"), b.value("cmp", size, b.i64(1), pred="eq"))
            if grown is not None and not self.is_one(into):
                self.check(b.value("or", fits, b.value("cmp", into, b.i64(1), pred="eq")), message)
            self.check(fits, message if grown is None else grown)

    def check(self, condition: Value, message: Sequence[str | Value]) -> None:
        """ValueError with a message of texts and numbers, unless the condition holds."""
        parts: list[str | FormatHole] = []
        for part in message:
            if isinstance(part, Value):
                parts.append(FormatHole(I64))
            elif parts and isinstance(parts[-1], str):
                parts[-1] += part
            else:
                parts.append(part)
        numbers = [part for part in message if isinstance(part, Value)]
        self.builder.op(
            "check", condition, *numbers, exc="builtins:ValueError", args=TupleType((FormatType(tuple(parts)),))
        )


def into_message(op: Op, target: Dims, shapes: Sequence[Dims]) -> list[str | Value]:
    """What is wrong when the inputs of a `map_into` do not fit its target: an assignment, or a ufunc with `out`."""
    if len(op.operands) == 2:
        return [
            "could not broadcast input array from shape ",
            *shape_text(shapes[0] if shapes else []),
            " into shape ",
            *shape_text(target),
        ]
    return ["operands could not be broadcast together with shapes ", *_texts([*shapes, target])]


def grown_message(shaper: Shaper, op: Op, target: Dims, shapes: Sequence[Dims]) -> list[str | Value] | None:
    """What is wrong when a ufunc's operands fit each other but give more than its `out` holds; None for an assignment."""
    if len(op.operands) == 2:
        return None
    b, common = shaper.builder, list(target)
    for shape in shapes:
        for position, size in enumerate(shape, len(target) - len(shape)):
            if not shaper.equal(size, common[position]) and not shaper.is_one(size):
                one = b.value("cmp", common[position], b.i64(1), pred="eq")
                common[position] = b.value("select", one, size, common[position])
    return [
        "non-broadcastable output operand with shape ",
        *shape_text(target),
        " doesn't match the broadcast shape ",
        *shape_text(common),
    ]


def shape_text(shape: Dims) -> list[str | Value]:
    """A shape as NumPy prints it: `(3,4)`, `(3,)`, `()`."""
    if not shape:
        return ["()"]
    parts: list[str | Value] = ["("]
    for axis, size in enumerate(shape):
        parts += [",", size] if axis else [size]
    return [*parts, ",)" if len(shape) == 1 else ")"]


def _texts(shapes: Sequence[Dims]) -> list[str | Value]:
    """The shapes of the operands one after the other, each with a space behind it."""
    parts: list[str | Value] = []
    for shape in shapes:
        parts += [*shape_text(shape), " "]
    return parts


def by_columns(arrays: Sequence[Value]) -> bool:
    """Whether the first axis is the one to run through fastest."""
    layouts = [array.type.layout for array in arrays if isinstance(array.type, ArrayType) and array.type.ndim > 1]
    return layouts.count("F") > layouts.count("C")
