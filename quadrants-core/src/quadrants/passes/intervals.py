"""Intervals of integers: arithmetic on ranges of values.

Takes ops with the intervals of their operands, gives the interval of the result. Sound for every input: where an
operation may wrap, the result is the whole range of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from quadrants.ir import Op
from quadrants.types import ArrayType, Scalar, Type

I64_MAX = (1 << 63) - 1
I64_MIN = -(1 << 63)


class Interval(NamedTuple):
    """The integers from `lo` to `hi`, both included."""

    lo: int
    hi: int

    def within(self, other: Interval) -> bool:
        return other.lo <= self.lo and self.hi <= other.hi

    def hull(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))

    def meet(self, other: Interval) -> Interval:
        """What is in both; where nothing is, control cannot come here, and any answer is right."""
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Interval(lo, hi) if lo <= hi else Interval(lo, lo)

    def shift(self, amount: int) -> Interval:
        return Interval(self.lo + amount, self.hi + amount)

    def scale(self, factor: int) -> Interval:
        ends = (self.lo * factor, self.hi * factor)
        return Interval(min(ends), max(ends))


I64_RANGE = Interval(I64_MIN, I64_MAX)
_BIT = Interval(0, 1)


def range_of_type(type: Type) -> Interval | None:
    """Every value of an integer or boolean type; None for others."""
    if not isinstance(type, Scalar):
        return None
    if type.is_bool:
        return _BIT
    if not type.is_integer:
        return None
    if type.is_signed:
        return Interval(-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1)
    return Interval(0, (1 << type.bits) - 1)


#: Bytes that a process may address: 2^56 on x86-64, less on Arm64.
_ADDRESSES = 1 << 57


def range_of_dim(array: ArrayType) -> Interval:
    """The size of an array along an axis: its bytes are counted in 63 bits. If it has no other axis, and no gaps, they are all
    there, and no process has addresses for more than 2^57."""
    most = _ADDRESSES if array.ndim == 1 and array.contiguous else I64_MAX
    return Interval(0, most // array.dtype.itemsize)


def _add(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, right = args
    return Interval(left.lo + right.lo, left.hi + right.hi)


def _sub(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, right = args
    return Interval(left.lo - right.hi, left.hi - right.lo)


def _mul(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, right = args
    ends = [x * y for x in (left.lo, left.hi) for y in (right.lo, right.hi)]
    return Interval(min(ends), max(ends))


def _neg(op: Op, args: Sequence[Interval]) -> Interval | None:
    return Interval(-args[0].hi, -args[0].lo)


def _abs(op: Op, args: Sequence[Interval]) -> Interval | None:
    lo, hi = args[0].lo, args[0].hi
    return Interval(0 if lo <= 0 <= hi else min(abs(lo), abs(hi)), max(abs(lo), abs(hi)))


def _floordiv(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, right = args
    if right.lo <= 0 <= right.hi:
        return None
    ends = [x // y for x in (left.lo, left.hi) for y in (right.lo, right.hi)]
    return Interval(min(ends), max(ends))


def _mod(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, right = args
    if right.lo >= 0:  # x % 0 is 0
        top = max(right.hi - 1, 0)
        return Interval(0, min(top, left.hi) if left.lo >= 0 else top)
    return Interval(min(right.lo + 1, 0), max(right.hi - 1, 0))


def _min(op: Op, args: Sequence[Interval]) -> Interval | None:
    return Interval(min(args[0].lo, args[1].lo), min(args[0].hi, args[1].hi))


def _max(op: Op, args: Sequence[Interval]) -> Interval | None:
    return Interval(max(args[0].lo, args[1].lo), max(args[0].hi, args[1].hi))


def _select(op: Op, args: Sequence[Interval]) -> Interval | None:
    return args[1].hull(args[2])


def _and(op: Op, args: Sequence[Interval]) -> Interval | None:
    tops = [arg.hi for arg in args if arg.lo >= 0]
    return Interval(0, min(tops)) if tops else None


def _or_xor(op: Op, args: Sequence[Interval]) -> Interval | None:
    if any(arg.lo < 0 for arg in args):
        return None
    return Interval(0, (1 << max(arg.hi for arg in args).bit_length()) - 1)


def _shr(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, count = args
    if count.lo < 0 or count.hi > 64:
        return Interval(min(left.lo, 0), max(left.hi, 0)) if left.lo >= 0 else None
    ends = [x >> n for x in (left.lo, left.hi) for n in (count.lo, count.hi)]
    return Interval(min(ends), max(ends))


def _shl(op: Op, args: Sequence[Interval]) -> Interval | None:
    left, count = args
    if count.lo < 0 or count.hi > 62:
        return None
    ends = [x << n for x in (left.lo, left.hi) for n in (count.lo, count.hi)]
    return Interval(min(ends), max(ends))


def _count(op: Op, args: Sequence[Interval]) -> Interval | None:
    type = op.operands[0].type
    assert isinstance(type, Scalar)
    return Interval(0, type.bits)


def _cast(op: Op, args: Sequence[Interval]) -> Interval | None:
    return args[0]


#: op name -> interval of the exact result, before it wraps to the type; None: nothing is known.
TRANSFER: dict[str, Callable[[Op, Sequence[Interval]], Interval | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "neg": _neg,
    "abs": _abs,
    "floordiv": _floordiv,
    "mod": _mod,
    "min": _min,
    "max": _max,
    "select": _select,
    "and": _and,
    "or": _or_xor,
    "xor": _or_xor,
    "shr": _shr,
    "shl": _shl,
    "popcount": _count,
    "clz": _count,
    "ctz": _count,
    "cast": _cast,
}


def transfer(op: Op, args: Sequence[Interval | None]) -> Interval | None:
    """The interval of the op's result; None where the result is no integer."""
    whole = range_of_type(op.result.type)
    rule = TRANSFER.get(op.name)
    if whole is None or rule is None:
        return whole
    if op.name == "select":
        args = (_BIT, *args[1:])
    if any(arg is None for arg in args):
        return whole
    exact = rule(op, [arg for arg in args if arg is not None])
    return exact if exact is not None and exact.within(whole) else whole
