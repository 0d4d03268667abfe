"""Python objects from the components of values, in Python: for exceptions, calls back into Python, and the ctypes path.

Takes 64-bit words as `lower.abi` describes (integers extended, floats as the bits of a double, pointers as addresses) and the type;
gives the object that the interpreter would have there. `encode` is the other direction.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Iterator

import numpy as np

from quadrants.host.numpy_types import numpy_scalar
from quadrants.host.symbols import resolve
from quadrants.lower.abi import BLOCK_HEADER, BLOCK_REFCOUNT, LIST_CELLS, LIST_SIZE, OWNER_PYTHON_TAG
from quadrants.types import (
    ArrayType,
    CellsType,
    ChoiceType,
    ExcType,
    FormatType,
    Kind,
    ListType,
    LiteralType,
    NamedTupleType,
    NoneType,
    ObjectType,
    OptionalType,
    Scalar,
    SliceType,
    StrType,
    TupleType,
    Type,
    UnionType,
)
from quadrants.types.dtypes import dtype_of

_WRITEABLE = 0x400
_CONVERSIONS: dict[str, Callable[[object], object]] = {"": lambda value: value, "s": str, "r": repr, "a": ascii}

Words = Iterator[int]


class CallWords:
    """The words of the arguments of a call into Python, and what finds the object of a caught exception."""

    __slots__ = ("_words", "caught")

    def __init__(self, words: Words, caught: Callable[[int], BaseException]) -> None:
        self._words = words
        self.caught = caught

    def __iter__(self) -> CallWords:
        return self

    def __next__(self) -> int:
        return next(self._words)


def read_words(address: int, count: int) -> Words:
    """The words at an address."""
    return iter((ctypes.c_uint64 * count).from_address(address)) if count else iter(())


def decode(type: Type, words: Words) -> object:
    """The next value. Arrays share their memory: a block gets a reference more."""
    rule = _DECODERS.get(type.__class__)
    if rule is None:
        raise TypeError(f"a value of type {type} has no Python object")
    return rule(type, words)


def _scalar(type: Scalar, words: Words) -> object:
    if type.is_complex:
        value: object = complex(_float(next(words)), _float(next(words)))
    elif type.is_float:
        value = _float(next(words))
    elif type.is_bool:
        value = bool(next(words) & 1)
    else:
        value = _integer(next(words), type)
    return value if type.weak else dtype_of(type).type(value)


def _integer(word: int, type: Scalar) -> int:
    low = word & ((1 << type.bits) - 1)
    return low - (1 << type.bits) if type.is_signed and low >> (type.bits - 1) else low


def _float(word: int) -> float:
    (value,) = struct.unpack("<d", word.to_bytes(8, "little"))
    return float(value)


def _array(type: ArrayType, words: Words) -> object:
    data, owner = next(words), next(words)
    numbers = [_integer(next(words), _INDEX) for _ in range(2 * type.ndim)]
    if owner and not owner & OWNER_PYTHON_TAG:
        ctypes.c_int64.from_address(owner + BLOCK_REFCOUNT).value += 1
    return box_array(type, data, owner, numbers)


def box_array(type: ArrayType, data: int, owner: int, numbers: list[int]) -> object:
    """An ndarray; takes over the reference to the owner. `numbers`: dims, then strides."""
    parts = (ctypes.c_int64 * max(len(numbers), 1))(*numbers)
    address = ctypes.addressof(parts)
    known = numpy_scalar(type.dtype).numbers
    flags = 0 if type.readonly else _WRITEABLE
    return _boxer()(data, owner, address, address + 8 * type.ndim, type.ndim, known[0], known[-1], flags)


@functools.cache
def _boxer() -> Callable[..., object]:
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, pointer, pointer, pointer, pointer, number, number, number, number)
    return prototype(resolve("qd_box_array"))


def _tuple(type: TupleType, words: Words) -> object:
    return tuple(decode(item, words) for item in type.items)


def _named_tuple(type: NamedTupleType, words: Words) -> object:
    return type.cls(*(decode(item, words) for item in type.items))


def _optional(type: OptionalType, words: Words) -> object:
    if next(words) & 1:
        return decode(type.item, words)
    for leaf in type.item.leaves():
        for _ in range(words_of(leaf)):
            next(words)
    return None


def _union(type: UnionType, words: Words) -> object:
    chosen, found = next(words), None
    for position, item in enumerate(type.items):
        if position == chosen:
            found = decode(item, words)
        else:
            for leaf in item.leaves():
                for _ in range(words_of(leaf)):
                    next(words)
    return found


def _string(type: StrType | ObjectType, words: Words) -> object:
    return ctypes.cast(next(words), ctypes.py_object).value


def _list(type: ListType, words: Words) -> object:
    pointers = [next(words) for _ in type.cells()]
    size = ctypes.c_int64.from_address(pointers[0] + LIST_SIZE).value
    columns = [_cells(cell, pointer, size) for cell, pointer in zip(type.cells(), pointers)]
    rows = [[word for column in columns for word in column[k]] for k in range(size)]
    if not isinstance(type.item, ListType):
        return [decode(type.item, iter(row)) for row in rows]
    known: dict[int, object] = {}  # a list that is in several places stays one
    for row in rows:
        if row[0] not in known:
            known[row[0]] = decode(type.item, iter(row))
    return [known[row[0]] for row in rows]


def _cells(scalar: Scalar | CellsType, pointer: int, size: int) -> list[list[int]]:
    """The words of every cell."""
    block = ctypes.c_uint64.from_address(pointer + LIST_CELLS).value
    if isinstance(scalar, CellsType):
        return [[int(word)] for word in (ctypes.c_uint64 * size).from_address(block + BLOCK_HEADER)] if size else []
    data = ctypes.string_at(block + BLOCK_HEADER, size * scalar.itemsize) if size else b""
    values = np.frombuffer(data, dtype_of(scalar)).tolist()
    return [_encode_scalar(scalar, value) for value in values]


def _exception(type: ExcType, words: Words) -> object:
    status = next(words)
    if not isinstance(words, CallWords):
        raise TypeError("a caught exception has an object only in calls into Python")
    return words.caught(status & 0xFFFFFFFF)


def _format(type: FormatType, words: Words) -> object:
    parts = []
    for part in type.parts:
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append(format(_CONVERSIONS[part.conversion](decode(part.type, words)), part.spec))
    return "".join(parts)


def _slice(type: SliceType, words: Words) -> object:
    start, stop, step = (decode(item, words) for item in (type.start, type.stop, type.step))
    return slice(start, stop, step)


_INDEX = Scalar(Kind.INT, 64)

_Decoder = Callable[[Type, Words], object]

_DECODERS: dict[type, _Decoder] = {
    Scalar: _scalar,  # type: ignore[dict-item]
    ArrayType: _array,  # type: ignore[dict-item]
    TupleType: _tuple,  # type: ignore[dict-item]
    NamedTupleType: _named_tuple,  # type: ignore[dict-item]
    NoneType: lambda type, words: None,
    OptionalType: _optional,  # type: ignore[dict-item]
    ListType: _list,  # type: ignore[dict-item]
    UnionType: _union,  # type: ignore[dict-item]
    LiteralType: lambda type, words: type.value,  # type: ignore[attr-defined]
    StrType: _string,  # type: ignore[dict-item]
    ObjectType: _string,  # type: ignore[dict-item]
    ChoiceType: lambda type, words: type.texts[next(words)],  # type: ignore[attr-defined]
    ExcType: _exception,  # type: ignore[dict-item]
    FormatType: _format,  # type: ignore[dict-item]
    SliceType: _slice,  # type: ignore[dict-item]
}


# The other direction


def words_of(leaf: Type) -> int:
    """How many words a leaf takes."""
    if isinstance(leaf, ArrayType):
        return 2 + 2 * leaf.ndim
    return 2 if isinstance(leaf, Scalar) and leaf.is_complex else 1


def encode(type: Type, value: object) -> list[int]:
    """The words of a value that is of the type (see `fallback.accepts`)."""
    rule = _ENCODERS.get(type.__class__)
    if rule is None:
        raise TypeError(f"a value of type {type} cannot be passed to compiled code")
    return rule(type, value)


def _encode_scalar(type: Scalar, value: object) -> list[int]:
    if type.is_complex:
        number = complex(value)  # type: ignore[call-overload]
        return [_bits(number.real), _bits(number.imag)]
    if type.is_float:
        return [_bits(float(value))]  # type: ignore[arg-type]
    number = int(value)  # type: ignore[call-overload]
    if not (-(2**63) <= number < 2**63 if type.is_signed or type.is_bool else 0 <= number < 2**64):
        raise OverflowError("Python int too large to convert to C long")
    return [number & (2**64 - 1)]


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


def _encode_array(type: ArrayType, value: object) -> list[int]:
    assert isinstance(value, np.ndarray)
    numbers = [n & (2**64 - 1) for n in (*value.shape, *value.strides)]
    return [value.ctypes.data, id(value) | OWNER_PYTHON_TAG, *numbers]


def _encode_items(type: TupleType | NamedTupleType, value: object) -> list[int]:
    assert isinstance(value, tuple)
    return [word for item, part in zip(type.items, value, strict=True) for word in encode(item, part)]


def _encode_optional(type: OptionalType, value: object) -> list[int]:
    if value is None:
        return [0] * (1 + sum(words_of(leaf) for leaf in type.item.leaves()))
    return [1, *encode(type.item, value)]


def _encode_slice(type: SliceType, value: object) -> list[int]:
    assert isinstance(value, slice)
    parts = ((type.start, value.start), (type.stop, value.stop), (type.step, value.step))
    return [word for item, part in parts for word in encode(item, part)]


_Encoder = Callable[[Type, object], list[int]]

_ENCODERS: dict[type, _Encoder] = {
    Scalar: _encode_scalar,  # type: ignore[dict-item]
    ArrayType: _encode_array,  # type: ignore[dict-item]
    TupleType: _encode_items,  # type: ignore[dict-item]
    NamedTupleType: _encode_items,  # type: ignore[dict-item]
    NoneType: lambda type, value: [],
    OptionalType: _encode_optional,  # type: ignore[dict-item]
    LiteralType: lambda type, value: [],
    StrType: lambda type, value: [id(value)],
    ObjectType: lambda type, value: [id(value)],
    SliceType: _encode_slice,  # type: ignore[dict-item]
}
