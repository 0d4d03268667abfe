"""Where the arguments of a launch are: in host memory, for a device that reads it, or copied to the device and back.

Takes leaf values (numbers and NumPy arrays); gives, for the length of a `with`, the values that `backend.arguments.pack` takes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from quadrants.api import devicearrays
from quadrants.backend.arguments import DeviceArray
from quadrants.backend.contract import DeviceMemory
from quadrants.types import ArrayType, Type

_ALIGNED = 64


@contextmanager
def in_host_memory(leaves: Sequence[Any]) -> Iterator[list[Any]]:
    """Arrays as they lie in memory, with strides in bytes."""
    yield [_in_place(leaf) for leaf in leaves]


def _in_place(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return DeviceArray(leaf.__array_interface__["data"][0], leaf.shape, leaf.strides)
    return leaf.placed(in_bytes=True) if isinstance(leaf, devicearrays.DeviceArray) else leaf


@contextmanager
def staged(types: Sequence[Type], leaves: Sequence[Any], memory: DeviceMemory) -> Iterator[list[Any]]:
    """Arrays copied to the device and back, those that may be written. An array is copied once, contiguous in the order of its
    type; arrays whose memory overlaps have one copy of all of it, so that they overlap on the device too."""
    copies: dict[int, _Copy | _Range] = {}
    made: list[_Copy | _Range] = []
    try:
        for members in _overlapping(types, leaves):
            copy = _Range(memory, members) if len(members) > 1 else _Copy(memory, *members[0])
            made.append(copy)
            copies.update((id(array), copy) for _, array in members)
        yield [_placed(leaf, copies) for leaf in leaves]
        written = [leaf for type, leaf in zip(types, leaves) if isinstance(type, ArrayType) and not type.readonly]
        changed = {id(copies[id(leaf)]) for leaf in written if id(leaf) in copies}
        for copy in made:
            if id(copy) in changed:
                copy.back()
    finally:
        for copy in made:
            memory.free(copy.address)


def _placed(leaf: Any, copies: Mapping[int, _Copy | _Range]) -> Any:
    if isinstance(leaf, np.ndarray):
        return copies[id(leaf)].array(leaf)
    return leaf.placed(in_bytes=False) if isinstance(leaf, devicearrays.DeviceArray) else leaf


def _overlapping(types: Sequence[Type], leaves: Sequence[Any]) -> list[list[tuple[Type, np.ndarray]]]:
    """The distinct arrays, in groups that share memory."""
    arrays = {id(leaf): (type, leaf) for type, leaf in zip(types, leaves) if isinstance(leaf, np.ndarray)}
    groups: list[list[tuple[Type, np.ndarray]]] = []
    end = -1
    for low, high, key in sorted((*np.lib.array_utils.byte_bounds(array), key) for key, (_, array) in arrays.items()):
        array = arrays[key][1]
        shares = array.size and low < end and all(step % array.itemsize == 0 for step in array.strides)
        if shares:
            groups[-1].append(arrays[key])
        else:
            groups.append([arrays[key]])
        end = max(end, high) if array.size else end
    return groups


class _Copy:
    """A copy of one array."""

    def __init__(self, memory: DeviceMemory, type: Type, array: np.ndarray) -> None:
        self.columns = isinstance(type, ArrayType) and type.layout == "F"
        self.rows = array.T if self.columns else array  # contiguous by rows on the device
        self.memory = memory
        host = np.ascontiguousarray(self.rows).reshape(self.rows.shape)
        self.address = memory.allocate(max(host.nbytes, 1))
        if host.nbytes:
            memory.copy_in(self.address, _bytes(host))

    def array(self, leaf: np.ndarray) -> DeviceArray:
        strides = _element_strides(self.rows.shape)
        return DeviceArray(self.address, leaf.shape, strides[::-1] if self.columns else strides)

    def back(self) -> None:
        if self.rows.size:
            _copy_back(self.memory, self.address, self.rows)


class _Range:
    """A copy of the memory that several arrays share."""

    def __init__(self, memory: DeviceMemory, members: Sequence[tuple[Type, np.ndarray]]) -> None:
        bounds = [np.lib.array_utils.byte_bounds(array) for _, array in members]
        self.low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        self.memory = memory
        self.bytes = (ctypes.c_char * (high - self.low)).from_address(self.low)
        self.kept = members
        skew = self.low % _ALIGNED  # elements are aligned on the device as they are here
        self.address = memory.allocate(high - self.low + skew)
        self.start = self.address + skew
        memory.copy_in(self.start, memoryview(self.bytes))

    def array(self, leaf: np.ndarray) -> DeviceArray:
        offset = leaf.__array_interface__["data"][0] - self.low
        return DeviceArray(self.start + offset, leaf.shape, tuple(step // leaf.itemsize for step in leaf.strides))

    def back(self) -> None:
        self.memory.copy_out(memoryview(self.bytes), self.start)


def _element_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a contiguous array, in elements."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(size, 1))
    return tuple(strides) if shape else ()


def _copy_back(memory: DeviceMemory, address: int, leaf: np.ndarray) -> None:
    if leaf.flags.c_contiguous:
        memory.copy_out(_bytes(leaf), address)
        return
    host = np.empty(leaf.shape, leaf.dtype)
    memory.copy_out(_bytes(host), address)
    leaf[...] = host


def _bytes(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data
