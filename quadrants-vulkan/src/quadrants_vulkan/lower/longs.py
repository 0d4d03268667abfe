"""Integers of 64 bits: native, or as pairs of words where the device has none.

Both classes have the same methods, so that the emitters of the ops need not know. A pair is a vector of two words, the low one
first; what takes more than a few instructions is a helper, written in QIR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from quadrants_vulkan.lower.parts import Part
from quadrants_vulkan.spirv.assembler import Id, split64
from quadrants_vulkan.spirv.grammar import Op as Code

if TYPE_CHECKING:
    from quadrants_vulkan.lower.emit import FunctionEmitter

#: The comparisons by predicate and sign.
COMPARISONS: dict[tuple[str, bool], Code] = {
    ("lt", True): Code.S_LESS_THAN,
    ("le", True): Code.S_LESS_THAN_EQUAL,
    ("gt", True): Code.S_GREATER_THAN,
    ("ge", True): Code.S_GREATER_THAN_EQUAL,
    ("lt", False): Code.U_LESS_THAN,
    ("le", False): Code.U_LESS_THAN_EQUAL,
    ("gt", False): Code.U_GREATER_THAN,
    ("ge", False): Code.U_GREATER_THAN_EQUAL,
    ("eq", True): Code.I_EQUAL,
    ("eq", False): Code.I_EQUAL,
    ("ne", True): Code.I_NOT_EQUAL,
    ("ne", False): Code.I_NOT_EQUAL,
}


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class Longs(Protocol):
    """What the emitters do with 64-bit integers. Counts of shifts are words below 64, unless said otherwise."""

    native: bool

    def const(self, value: int) -> Id: ...
    def extend(self, word: Id, signed: bool) -> Id: ...
    def low(self, a: Id) -> Id: ...
    def high(self, a: Id) -> Id: ...
    def join(self, low: Id, high: Id) -> Id: ...
    def add(self, a: Id, b: Id) -> Id: ...
    def sub(self, a: Id, b: Id) -> Id: ...
    def mul(self, a: Id, b: Id) -> Id: ...
    def bitwise(self, code: Code, a: Id, b: Id) -> Id: ...
    def invert(self, a: Id) -> Id: ...
    def compare(self, pred: str, signed: bool, a: Id, b: Id) -> Id: ...
    def shift_left(self, a: Id, count: Id) -> Id: ...
    def shift_right(self, a: Id, count: Id, signed: bool) -> Id: ...
    def divide(self, a: Id, b: Id) -> tuple[Id, Id]:
        """Quotient and remainder without a sign, of a divisor that is not 0."""
        ...


class NativeLongs:
    """Of a device that has them."""

    native = True

    def __init__(self, e: FunctionEmitter) -> None:
        self.e = e
        self.type = e.module.types[Part.LONG]
        self.constants: dict[Id, int] = {}
        self.extended: dict[Id, tuple[Id, bool]] = {}  # made of a word, by its sign or without

    def const(self, value: int) -> Id:
        made = self.e.asm.constant(self.type, *split64(value))
        self.constants[made] = value - (1 << 64) if value >> 63 > 0 else value
        return made

    def extend(self, word: Id, signed: bool) -> Id:
        """As two words, which is what devices make of it: Mesa 22.3 gets comparisons of converted words with constants wrong."""
        e = self.e
        high = e.w(Code.SHIFT_RIGHT_ARITHMETIC, word, e.word(31)) if signed else e.word(0)
        both = e.let(Code.COMPOSITE_CONSTRUCT, e.asm.vector(e.word_type, 2), word, high)
        made = e.let(Code.BITCAST, self.type, both)
        self.extended[made] = (word, signed)
        return made

    def low(self, a: Id) -> Id:
        if a in self.extended:
            return self.extended[a][0]
        return self.e.let(Code.U_CONVERT, self.e.word_type, a)

    def high(self, a: Id) -> Id:
        return self.low(self.e.let(Code.SHIFT_RIGHT_LOGICAL, self.type, a, self.e.word(32)))

    def join(self, low: Id, high: Id) -> Id:
        e = self.e
        return e.let(Code.BITCAST, self.type, e.let(Code.COMPOSITE_CONSTRUCT, e.asm.vector(e.word_type, 2), low, high))

    def add(self, a: Id, b: Id) -> Id:
        return self.e.let(Code.I_ADD, self.type, a, b)

    def sub(self, a: Id, b: Id) -> Id:
        return self.e.let(Code.I_SUB, self.type, a, b)

    def mul(self, a: Id, b: Id) -> Id:
        return self.e.let(Code.I_MUL, self.type, a, b)

    def bitwise(self, code: Code, a: Id, b: Id) -> Id:
        return self.e.let(code, self.type, a, b)

    def invert(self, a: Id) -> Id:
        return self.e.let(Code.NOT, self.type, a)

    def compare(self, pred: str, signed: bool, a: Id, b: Id) -> Id:
        """By words where that says the same, which is cheaper."""
        if a in self.constants and b in self.extended:
            a, b, pred = b, a, _MIRRORED[pred]
        if a in self.extended:
            word, of_signed = self.extended[a]
            if b in self.extended and self.extended[b][1] == of_signed:
                return self.e.test(COMPARISONS[pred, signed and of_signed], word, self.extended[b][0])
            if b in self.constants:
                narrow = self._compare_with(pred, signed, word, of_signed, self.constants[b])
                if narrow is not None:
                    return narrow
        return self.e.test(COMPARISONS[pred, signed], a, b)

    def _compare_with(self, pred: str, signed: bool, word: Id, of_signed: bool, value: int) -> Id | None:
        """An extended word against a constant, as words."""
        low, high = (-(1 << 31), (1 << 31) - 1) if of_signed else (0, (1 << 32) - 1)
        if not signed and of_signed:
            low = 0  # negative numbers are above all others, as they are among words
        if low <= value <= high:
            return self.e.test(COMPARISONS[pred, signed and of_signed], word, self.e.word(value))
        if not signed and (of_signed or value < 0):
            return None
        return self.e.truth(pred == "ne" or pred in (("lt", "le") if value > high else ("gt", "ge")))

    def shift_left(self, a: Id, count: Id) -> Id:
        return self.e.let(Code.SHIFT_LEFT_LOGICAL, self.type, a, count)

    def shift_right(self, a: Id, count: Id, signed: bool) -> Id:
        code = Code.SHIFT_RIGHT_ARITHMETIC if signed else Code.SHIFT_RIGHT_LOGICAL
        return self.e.let(code, self.type, a, count)

    def divide(self, a: Id, b: Id) -> tuple[Id, Id]:
        return self.e.let(Code.U_DIV, self.type, a, b), self.e.let(Code.U_MOD, self.type, a, b)


class PairLongs:
    """As vectors of two words."""

    native = False

    def __init__(self, e: FunctionEmitter) -> None:
        self.e = e
        self.type = e.module.types[Part.LONG]

    def const(self, value: int) -> Id:
        low, high = split64(value)
        return self.e.asm.composite(self.type, self.e.word(low), self.e.word(high))

    def extend(self, word: Id, signed: bool) -> Id:
        e = self.e
        return self.join(word, e.w(Code.SHIFT_RIGHT_ARITHMETIC, word, e.word(31)) if signed else e.word(0))

    def low(self, a: Id) -> Id:
        return self.e.let(Code.COMPOSITE_EXTRACT, self.e.word_type, a, 0)

    def high(self, a: Id) -> Id:
        return self.e.let(Code.COMPOSITE_EXTRACT, self.e.word_type, a, 1)

    def join(self, low: Id, high: Id) -> Id:
        return self.e.let(Code.COMPOSITE_CONSTRUCT, self.type, low, high)

    def _both(self, a: Id) -> tuple[Id, Id]:
        return self.low(a), self.high(a)

    def _two(self, code: Code, a: Id, b: Id) -> tuple[Id, Id]:
        """An instruction that gives two words: the low part of the result, and the carry or high part."""
        e = self.e
        both = e.let(code, e.asm.struct(e.word_type, e.word_type), a, b)
        first, second = (e.let(Code.COMPOSITE_EXTRACT, e.word_type, both, index) for index in (0, 1))
        return first, second

    def add(self, a: Id, b: Id) -> Id:
        (a0, a1), (b0, b1) = self._both(a), self._both(b)
        low, carry = self._two(Code.I_ADD_CARRY, a0, b0)
        return self.join(low, self.e.w(Code.I_ADD, self.e.w(Code.I_ADD, a1, b1), carry))

    def sub(self, a: Id, b: Id) -> Id:
        (a0, a1), (b0, b1) = self._both(a), self._both(b)
        low, borrow = self._two(Code.I_SUB_BORROW, a0, b0)
        return self.join(low, self.e.w(Code.I_SUB, self.e.w(Code.I_SUB, a1, b1), borrow))

    def mul(self, a: Id, b: Id) -> Id:
        e = self.e
        (a0, a1), (b0, b1) = self._both(a), self._both(b)
        low, high = self._two(Code.U_MUL_EXTENDED, a0, b0)
        cross = e.w(Code.I_ADD, e.w(Code.I_MUL, a0, b1), e.w(Code.I_MUL, a1, b0))
        return self.join(low, e.w(Code.I_ADD, high, cross))

    def bitwise(self, code: Code, a: Id, b: Id) -> Id:
        return self.e.let(code, self.type, a, b)

    def invert(self, a: Id) -> Id:
        return self.e.let(Code.NOT, self.type, a)

    def compare(self, pred: str, signed: bool, a: Id, b: Id) -> Id:
        e = self.e
        (a0, a1), (b0, b1) = self._both(a), self._both(b)
        same = e.test(Code.I_EQUAL, a1, b1)
        if pred in ("eq", "ne"):
            equal = e.test(Code.LOGICAL_AND, same, e.test(Code.I_EQUAL, a0, b0))
            return equal if pred == "eq" else e.test(Code.LOGICAL_NOT, equal)
        strict = e.test(COMPARISONS[pred[0] + "t", signed], a1, b1)
        low = e.test(COMPARISONS[pred, False], a0, b0)
        return e.test(Code.LOGICAL_OR, strict, e.test(Code.LOGICAL_AND, same, low))

    def _helper(self, name: str, *operands: Id) -> Id:
        return self.join(*self.e.call_helper_pair(name, *operands))

    def shift_left(self, a: Id, count: Id) -> Id:
        return self._helper("shift_left", *self._both(a), count)

    def shift_right(self, a: Id, count: Id, signed: bool) -> Id:
        return self._helper("shift_right_signed" if signed else "shift_right", *self._both(a), count)

    def divide(self, a: Id, b: Id) -> tuple[Id, Id]:
        q0, q1, r0, r1 = self.e.call_helper_pair("divide", *self._both(a), *self._both(b))
        return self.join(q0, q1), self.join(r0, r1)
