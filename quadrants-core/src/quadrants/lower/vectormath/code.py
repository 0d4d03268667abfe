"""Writes the straight-line vector code of elementary functions.

A `Code` gives the lines of one function over vectors of one width. Nothing it writes needs an instruction that a target
may lack: `fma` is a product and a sum where there is no fused one (the functions are right either way), whole numbers
come out of the low bits of a float that is too large for a fraction, and shifts of signed numbers are avoided, which
vectors of 64 bits lack before AVX-512.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

#: A value: here LLVM's name of it; other writers of code have their own (see `softmath`).
Text = Any

#: Bits of a float -> (LLVM's name, name in intrinsics, bits of the fraction, bias of the exponent).
_FORMATS = {64: ("double", "f64", 52, 1023), 32: ("float", "f32", 23, 127)}


class Code:
    """The lines of a function of `lanes` floats of `bits` bits."""

    def __init__(self, lanes: int, bits: int, lines: list[str] | None = None) -> None:
        self.lanes = lanes
        self.bits = bits
        self.element, self.suffix, self.fraction, self.bias = _FORMATS[bits]
        self.type = f"<{lanes} x {self.element}>"
        self.int_type = f"<{lanes} x i{bits}>"
        self.mask_type = f"<{lanes} x i1>"
        self.lines: list[str] = [] if lines is None else lines
        #: Adding it leaves a whole number in the low bits.
        self.shifter = 1.5 * 2.0**self.fraction
        #: The bits of 1.0.
        self.one = self.bias << self.fraction

    def let(self, text: str) -> Text:
        """Append an instruction; the name of its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    # Operands

    def const(self, value: float) -> Text:
        """A float in every lane, rounded to the format."""
        near = value if self.bits == 64 else struct.unpack("f", struct.pack("f", value))[0]
        return f"splat ({self.element} 0x{struct.unpack('<Q', struct.pack('<d', near))[0]:016X})"

    def whole(self, value: int) -> Text:
        """An integer in every lane, of as many bits as the floats."""
        return f"splat (i{self.bits} {value})"

    def _operand(self, value: Text | float) -> Text:
        return value if isinstance(value, str) else self.const(value)

    # Floats

    def _binary(self, instruction: str, a: Text | float, b: Text | float) -> Text:
        return self.let(f"{instruction} {self.type} {self._operand(a)}, {self._operand(b)}")

    def add(self, a: Text | float, b: Text | float) -> Text:
        return self._binary("fadd", a, b)

    def sub(self, a: Text | float, b: Text | float) -> Text:
        return self._binary("fsub", a, b)

    def mul(self, a: Text | float, b: Text | float) -> Text:
        return self._binary("fmul", a, b)

    def div(self, a: Text | float, b: Text | float) -> Text:
        return self._binary("fdiv", a, b)

    def fma(self, a: Text | float, b: Text | float, c: Text | float) -> Text:
        """a * b + c, rounded once or twice."""
        operands = ", ".join(f"{self.type} {self._operand(x)}" for x in (a, b, c))
        return self.let(f"call {self.type} @llvm.fmuladd.v{self.lanes}{self.suffix}({operands})")

    def neg(self, a: Text) -> Text:
        return self.let(f"fneg {self.type} {a}")

    def abs(self, a: Text) -> Text:
        return self.let(f"call {self.type} @llvm.fabs.v{self.lanes}{self.suffix}({self.type} {a})")

    def copysign(self, size: Text, sign: Text) -> Text:
        name = f"@llvm.copysign.v{self.lanes}{self.suffix}"
        return self.let(f"call {self.type} {name}({self.type} {size}, {self.type} {sign})")

    def sqrt(self, a: Text) -> Text:
        return self.let(f"call {self.type} @llvm.sqrt.v{self.lanes}{self.suffix}({self.type} {a})")

    def trunc(self, a: Text) -> Text:
        return self.let(f"call {self.type} @llvm.trunc.v{self.lanes}{self.suffix}({self.type} {a})")

    def poly(self, coefficients: Sequence[float], x: Text) -> Text:
        """A polynomial, highest power first, by Horner's rule."""
        value = self.fma(coefficients[0], x, coefficients[1])
        for coefficient in coefficients[2:]:
            value = self.fma(value, x, coefficient)
        return value

    # Choices

    def compare(self, predicate: str, a: Text, b: Text | float) -> Text:
        return self.let(f"fcmp {predicate} {self.type} {a}, {self._operand(b)}")

    def select(self, mask: Text, a: Text | float, b: Text | float) -> Text:
        operands = f"{self.type} {self._operand(a)}, {self.type} {self._operand(b)}"
        return self.let(f"select {self.mask_type} {mask}, {operands}")

    def mask_and(self, a: Text, b: Text) -> Text:
        return self.let(f"and {self.mask_type} {a}, {b}")

    def mask_or(self, a: Text, b: Text) -> Text:
        return self.let(f"or {self.mask_type} {a}, {b}")

    def mask_not(self, a: Text) -> Text:
        return self.let(f"xor {self.mask_type} {a}, splat (i1 true)")

    def clamp(self, x: Text, low: float, high: float) -> Text:
        """x within bounds; nan stays nan."""
        x = self.select(self.compare("ogt", x, high), high, x)
        return self.select(self.compare("olt", x, low), low, x)

    # Bits

    def int_binary(self, instruction: str, a: Text | int, b: Text | int) -> Text:
        x, y = (self.whole(value) if isinstance(value, int) else value for value in (a, b))
        return self.let(f"{instruction} {self.int_type} {x}, {y}")

    def to_bits(self, a: Text) -> Text:
        return self.let(f"bitcast {self.type} {a} to {self.int_type}")

    def from_bits(self, a: Text) -> Text:
        return self.let(f"bitcast {self.int_type} {a} to {self.type}")

    def is_odd(self, n: Text) -> Text:
        """Of the whole number in the low bits of n."""
        return self.let(f"icmp ne {self.int_type} {self.int_binary('and', n, 1)}, zeroinitializer")

    def is_negative(self, a: Text) -> Text:
        """Whether the sign is set, also of a zero."""
        return self.let(f"icmp slt {self.int_type} {self.to_bits(a)}, zeroinitializer")

    def int_select(self, mask: Text, a: Text | int, b: Text | int) -> Text:
        x, y = (self.whole(value) if isinstance(value, int) else value for value in (a, b))
        return self.let(f"select {self.mask_type} {mask}, {self.int_type} {x}, {self.int_type} {y}")

    def power_of_2(self, n: Text) -> Text:
        """2^n of the signed number in the low bits of n, which must be the exponent of a normal number."""
        biased = self.int_binary("add", n, self.bias)
        return self.from_bits(self.int_binary("shl", biased, self.fraction))

    def scale(self, x: Text, n: Text) -> Text:
        """x 2^n of the signed number in the low bits of n, in two steps, so that the result may be subnormal."""
        half = self.int_binary("lshr", n, 1)
        rest = self.int_binary("sub", n, half)
        return self.mul(self.mul(x, self.power_of_2(half)), self.power_of_2(rest))

    # Widths

    def wide(self) -> Code:
        """A writer of float64 code that goes on where this one is."""
        return Code(self.lanes, 64, self.lines)

    def widened(self, x: Text) -> Text:
        return self.let(f"fpext {self.type} {x} to <{self.lanes} x double>")

    def narrowed(self, x: Text) -> Text:
        return self.let(f"fptrunc <{self.lanes} x double> {x} to {self.type}")
