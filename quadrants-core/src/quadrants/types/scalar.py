"""Scalar types: NumPy's sized scalars, and the weak types of Python's own numbers (NEP 50)."""

from __future__ import annotations

import enum

from quadrants._frozen import frozen


class Type:
    """Base of all types. A type is an immutable, hashable value with a text form (`str`).

    `leaves()` lists the machine types (scalars, arrays, exceptions) that a value of the type is made of, in order:
    tuples and optionals are flattened, compile-time values have none.
    """

    __slots__ = ()

    def leaves(self) -> tuple[Type, ...]:
        return (self,)

    @property
    def heap(self) -> bool:
        """Whether a value of the type may own array memory."""
        return any(leaf is not self and leaf.heap for leaf in self.leaves())


class Kind(enum.Enum):
    """The families of scalars, in promotion order."""

    BOOL = 0
    UINT = 1
    INT = 2
    FLOAT = 3
    COMPLEX = 4


@frozen
class Scalar(Type):
    """A number.

    Args:
        kind: the family.
        bits: the width in bits (1 for booleans; both parts together for complex numbers).
        weak: whether it is a Python number, which takes the NumPy type that it meets (NEP 50).
    """

    kind: Kind
    bits: int
    weak: bool = False

    def leaves(self) -> tuple[Type, ...]:
        return (self.machine,)

    @property
    def heap(self) -> bool:
        return False

    @property
    def machine(self) -> Scalar:
        """The sized type that holds the value in a register."""
        return Scalar(self.kind, self.bits) if self.weak else self

    @property
    def itemsize(self) -> int:
        """Bytes in memory."""
        return max(1, self.bits // 8)

    @property
    def is_integer(self) -> bool:
        return self.kind in (Kind.INT, Kind.UINT)

    @property
    def is_signed(self) -> bool:
        return self.kind is Kind.INT

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_complex(self) -> bool:
        return self.kind is Kind.COMPLEX

    @property
    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    @property
    def part(self) -> Scalar:
        """The type of the real and the imaginary part of a complex type; a real type is its own."""
        return Scalar(Kind.FLOAT, self.bits // 2, self.weak) if self.is_complex else self

    def __str__(self) -> str:
        if self.weak:
            return _WEAK_NAMES[self.kind]
        return "bool" if self.is_bool else f"{_PREFIX[self.kind]}{self.bits}"


_PREFIX = {Kind.INT: "i", Kind.UINT: "u", Kind.FLOAT: "f", Kind.COMPLEX: "c"}
_WEAK_NAMES = {Kind.BOOL: "pybool", Kind.INT: "pyint", Kind.FLOAT: "pyfloat", Kind.COMPLEX: "pycomplex"}

BOOL = Scalar(Kind.BOOL, 1)
I8, I16, I32, I64 = (Scalar(Kind.INT, bits) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (Scalar(Kind.UINT, bits) for bits in (8, 16, 32, 64))
F16, F32, F64 = (Scalar(Kind.FLOAT, bits) for bits in (16, 32, 64))
C64, C128 = (Scalar(Kind.COMPLEX, bits) for bits in (64, 128))
PYBOOL = Scalar(Kind.BOOL, 1, weak=True)
PYINT = Scalar(Kind.INT, 64, weak=True)
PYFLOAT = Scalar(Kind.FLOAT, 64, weak=True)
PYCOMPLEX = Scalar(Kind.COMPLEX, 128, weak=True)

#: Every scalar by its text form.
SCALARS: dict[str, Scalar] = {
    str(scalar): scalar
    for scalar in (
        BOOL,
        I8,
        I16,
        I32,
        I64,
        U8,
        U16,
        U32,
        U64,
        F16,
        F32,
        F64,
        C64,
        C128,
        PYBOOL,
        PYINT,
        PYFLOAT,
        PYCOMPLEX,
    )
}
