"""Where the arguments of a launch are: in host memory, for a device that reads it, or copied to the device and back.

Takes leaf values (numbers and NumPy arrays); gives, for the length of a `with`, the values that `backend.arguments.pack` takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from quadrants.api import devicearrays
from quadrants.backend.arguments import DeviceArray
from quadrants.backend.contract import DeviceMemory
from quadrants.types import ArrayType, Type


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
    """Arrays copied to the device, contiguous in the order of their type, and back into those that may be written. The same array
    is copied once."""
    copies: dict[int, tuple[int, np.ndarray]] = {}
    placed: list[Any] = []
    try:
        for type, leaf in zip(types, leaves):
            if not isinstance(leaf, np.ndarray):
                here = isinstance(leaf, devicearrays.DeviceArray)
                placed.append(leaf.placed(in_bytes=False) if here else leaf)
                continue
            columns = isinstance(type, ArrayType) and type.layout == "F"
            rows = leaf.T if columns else leaf  # contiguous by rows on the device
            if id(leaf) not in copies:
                host = np.ascontiguousarray(rows).reshape(rows.shape)
                address = memory.allocate(max(host.nbytes, 1))
                copies[id(leaf)] = (address, rows)
                if host.nbytes:
                    memory.copy_in(address, _bytes(host))
            strides = _element_strides(rows.shape)
            placed.append(DeviceArray(copies[id(leaf)][0], leaf.shape, strides[::-1] if columns else strides))
        yield placed
        written = {id(leaf) for type, leaf in zip(types, leaves) if isinstance(type, ArrayType) and not type.readonly}
        for key, (address, rows) in copies.items():
            if key in written and rows.size:
                _copy_back(memory, address, rows)
    finally:
        for address, _ in copies.values():
            memory.free(address)


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
