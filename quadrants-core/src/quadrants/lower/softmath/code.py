"""Writes the code of elementary functions as QIR, one number at a time.

A `QirCode` has the methods of `vectormath.code.Code`, so that the functions of `vectormath.functions` serve targets
without a library of mathematics too. Values are QIR values, masks are truth values, and bits are unsigned integers of
the floats' width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quadrants.ir.builder import Builder
from quadrants.ir.core import Region, Value
from quadrants.lower.vectormath.code import Code
from quadrants.types import F16, F32, F64, I32, U16, U32, U64, Scalar

_FLOATS = {16: F16, 32: F32, 64: F64}
_BITS = {16: U16, 32: U32, 64: U64}
#: Bits of a float -> (bits of the fraction, bias of the exponent).
_FORMATS = {16: (10, 15), 32: (23, 127), 64: (52, 1023)}
_BINARY = {"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div"}
_INTEGER = {"add": "add", "sub": "sub", "shl": "shl", "lshr": "shr", "and": "and", "or": "or", "xor": "xor"}
#: LLVM's predicates -> (QIR's, whether the answer is inverted): `ugt` holds unless `le` does.
_PREDICATES = {
    "oeq": ("eq", False),
    "olt": ("lt", False),
    "ole": ("le", False),
    "ogt": ("gt", False),
    "oge": ("ge", False),
    "une": ("ne", False),
    "ugt": ("le", True),
}


class QirCode(Code):
    """The code of a function on floats of `bits` bits, appended by a builder.

    Args:
        doubles: whether the target has float64, for functions that compute float32 in it.
        fused: whether products and sums are fused where the code allows it.
    """

    def __init__(self, builder: Builder, bits: int, doubles: bool, fused: bool) -> None:
        self.bits = bits
        self.fraction, self.bias = _FORMATS[bits]
        self.shifter = 1.5 * 2.0**self.fraction
        self.one = self.bias << self.fraction
        self.b = builder
        self.doubles = doubles
        self.fused = fused
        self.scalar: Scalar = _FLOATS[bits]
        self.unsigned: Scalar = _BITS[bits]

    # Operands

    def const(self, value: float) -> Value:
        return self.b.const(float(value), self.scalar)

    def whole(self, value: int) -> Value:
        return self.b.const(value & ((1 << self.bits) - 1), self.unsigned)

    def word(self, value: int) -> Value:
        """A constant of 32 bits."""
        return self.b.const(value & 0xFFFFFFFF, U32)

    def _operand(self, value: Any) -> Value:
        return value if isinstance(value, Value) else self.const(value)

    # Floats

    def op(self, name: str, *operands: Any, **attrs: Any) -> Value:
        """An op of QIR on floats."""
        return self.b.value(name, *map(self._operand, operands), **attrs)

    def _binary(self, instruction: str, a: Any, b: Any) -> Value:
        return self.op(_BINARY[instruction], a, b)

    def fma(self, a: Any, b: Any, c: Any) -> Value:
        return self.op("math.fma", a, b, c) if self.fused else self.add(self.mul(a, b), c)

    def neg(self, a: Any) -> Value:
        return self.op("neg", a)

    def abs(self, a: Any) -> Value:
        return self.op("abs", a)

    def sqrt(self, a: Any) -> Value:
        return self.op("math.sqrt", a)

    def trunc(self, a: Any) -> Value:
        return self.op("math.trunc", a)

    def copysign(self, size: Any, sign: Any) -> Value:
        return self.op("math.copysign", size, sign)

    # Choices

    def compare(self, predicate: str, a: Any, b: Any) -> Value:
        if predicate == "uno":
            return self.mask_or(self.is_nan(a), self.is_nan(self._operand(b)))
        name, inverted = _PREDICATES[predicate]
        answer = self.op("cmp", a, b, pred=name)
        return self.mask_not(answer) if inverted else answer

    def is_nan(self, a: Value) -> Value:
        return self.b.value("cmp", a, a, pred="ne")

    def select(self, mask: Value, a: Any, b: Any) -> Value:
        return self.b.value("select", mask, self._operand(a), self._operand(b))

    def mask_and(self, a: Value, b: Value) -> Value:
        return self.b.value("and", a, b)

    def mask_or(self, a: Value, b: Value) -> Value:
        return self.b.value("or", a, b)

    def mask_not(self, a: Value) -> Value:
        return self.b.value("not", a)

    def branch(self, mask: Value, then: Callable[[], Any], other: Callable[[], Any]) -> Value:
        """The value of one of two pieces of code, only one of which runs."""
        regions = []
        for part in (then, other):
            with self.b.into(Region()) as region:
                self.b.op("yield", self._operand(part()))
            regions.append(region)
        return self.b.op("if", mask, regions=regions).result

    # Bits

    def int_binary(self, instruction: str, a: Any, b: Any) -> Value:
        x, y = (value if isinstance(value, Value) else self.whole(value) for value in (a, b))
        return self.b.value(_INTEGER[instruction], x, y)

    def int_compare(self, pred: str, a: Any, b: Any) -> Value:
        x, y = (value if isinstance(value, Value) else self.whole(value) for value in (a, b))
        return self.b.value("cmp", x, y, pred=pred)

    def to_bits(self, a: Value) -> Value:
        return self.b.value("bitcast", a, type=self.unsigned)

    def from_bits(self, a: Value) -> Value:
        return self.b.value("bitcast", a, type=self.scalar)

    def int_select(self, mask: Value, a: Any, b: Any) -> Value:
        x, y = (value if isinstance(value, Value) else self.whole(value) for value in (a, b))
        return self.b.value("select", mask, x, y)

    def cast(self, a: Value, type: Scalar) -> Value:
        return self.b.value("cast", a, type=type)

    def as_int(self, a: Value) -> Value:
        """A float with a whole value of less than 32 bits as an i32."""
        return self.cast(a, I32)

    def is_odd(self, n: Value) -> Value:
        return self.int_compare("ne", self.int_binary("and", n, 1), 0)

    def is_negative(self, a: Value) -> Value:
        return self.int_compare("ne", self.int_binary("lshr", self.to_bits(a), self.bits - 1), 0)

    # Widths

    def wide(self) -> QirCode:
        return QirCode(self.b, 64, self.doubles, self.fused)

    def widened(self, x: Value) -> Value:
        return self.cast(x, F64)

    def narrowed(self, x: Value) -> Value:
        return self.cast(x, F32)
