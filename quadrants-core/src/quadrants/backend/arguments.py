"""The argument block of a launch: one layout for every backend.

Takes the machine types of a kernel's parameters and their values; gives words of 8 bytes, little endian. A scalar is one word; an
array of rank n is its address, n sizes and n strides, as `docs/contributing/device-level.md` says.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from quadrants._frozen import frozen
from quadrants.types import ArrayType, Scalar, Type
from quadrants.types.dtypes import dtype_of

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
    return packer(tuple(types))(values)


@functools.lru_cache(maxsize=1024)
def packer(types: tuple[Type, ...]) -> Callable[[Iterable[object]], bytes]:
    """What makes the block for parameters of the types."""
    layout = _layout(types)
    ranks = [type.ndim if isinstance(type, ArrayType) else -1 for type in types]

    def make(values: Iterable[object]) -> bytes:
        words: list[Any] = []
        for rank, value in zip(ranks, values, strict=True):
            if rank < 0:
                words.append(value)
            else:
                assert isinstance(value, DeviceArray) and len(value.dims) == len(value.strides) == rank
                words += (value.address, *value.dims, *value.strides)
        return layout.pack(*words)

    return make


def _layout(types: tuple[Type, ...]) -> struct.Struct:
    """The words of a block."""
    return struct.Struct("<" + "".join(map(_words, types)))


def _words(type: Type) -> str:
    if isinstance(type, ArrayType):
        return f"Q{2 * type.ndim}q"
    if not isinstance(type, Scalar) or type.is_complex:
        raise TypeError(f"a kernel cannot take a {type}")
    return _SCALAR[type.bits] if type.is_float else "q" if type.is_signed else "Q"


#: Floats by their size, filled up to a word.
_SCALAR = {16: "e6x", 32: "f4x", 64: "d"}


def host_arrays(types: Sequence[Type], block: bytes) -> list[Any]:
    """The values in an argument block of a device that works in host memory: numbers, and NumPy arrays on the memory itself."""
    words = iter(struct.unpack(f"<{len(block) // WORD}q", block))
    return [_host_array(type, words) if isinstance(type, ArrayType) else _number(type, next(words)) for type in types]


def _number(type: Type, word: int) -> Any:
    assert isinstance(type, Scalar)
    data = struct.pack("<q", word)[: type.itemsize]
    return np.frombuffer(data, dtype_of(type))[0]


def _host_array(type: ArrayType, words: Iterator[int]) -> np.ndarray:
    address = next(words) % (1 << 64)
    dims = tuple(next(words) for _ in range(type.ndim))
    strides = tuple(next(words) for _ in range(type.ndim))
    dtype = dtype_of(type.dtype)
    if 0 in dims:
        return np.empty(dims, dtype)
    reach = [stride * (size - 1) for stride, size in zip(strides, dims)]
    low = sum(min(step, 0) for step in reach)
    high = sum(max(step, 0) for step in reach) + dtype.itemsize
    memory = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(address + low))
    array = np.ndarray(dims, dtype, memory, -low, strides)
    array.flags.writeable = not type.readonly
    return array
