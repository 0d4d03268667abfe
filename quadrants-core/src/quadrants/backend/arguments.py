"""The argument block of a launch: one layout for every backend.

Takes the machine types of a kernel's parameters and their values; gives words of 8 bytes, little endian. A scalar is one word; an
array of rank n is its address, n sizes and n strides, as `docs/contributing/device-level.md` says.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence

from quadrants._frozen import frozen
from quadrants.types import ArrayType, Scalar, Type

WORD = 8


@frozen
class DeviceArray:
    """An array as a launch takes it: the address of the element with all indices 0, sizes, and strides in the backend's unit."""

    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]


def words_of(type: Type) -> int:
    """How many words a parameter of the type takes."""
    return 1 + 2 * type.ndim if isinstance(type, ArrayType) else 1


def pack(types: Sequence[Type], values: Iterable[object]) -> bytes:
    """The block. The values are numbers, and `DeviceArray` for arrays."""
    words = [word for type, value in zip(types, values, strict=True) for word in _words(type, value)]
    return b"".join(words)


def _words(type: Type, value: object) -> Iterator[bytes]:
    if isinstance(type, ArrayType):
        assert isinstance(value, DeviceArray) and len(value.dims) == len(value.strides) == type.ndim
        yield struct.pack("<Q", value.address)
        yield from (struct.pack("<q", word) for word in (*value.dims, *value.strides))
        return
    if not isinstance(type, Scalar) or type.is_complex:
        raise TypeError(f"a kernel cannot take a {type}")
    yield _SCALAR[_family(type)](type, value)


def _family(type: Scalar) -> str:
    return f"f{type.bits}" if type.is_float else "i" if type.is_signed else "u"


def _integer(code: str) -> Callable[[Scalar, object], bytes]:
    return lambda type, value: struct.pack(code, int(value))  # type: ignore[call-overload]


def _float(code: str) -> Callable[[Scalar, object], bytes]:
    return lambda type, value: struct.pack(code, value).ljust(WORD, b"\0")


_SCALAR: dict[str, Callable[[Scalar, object], bytes]] = {
    "i": _integer("<q"),
    "u": _integer("<Q"),
    "f16": _float("<e"),
    "f32": _float("<f"),
    "f64": _float("<d"),
}
