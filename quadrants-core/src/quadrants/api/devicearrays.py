"""Arrays in the memory of a device: what `ns.to_device` and `ns.device_array` give.

Takes shapes, dtypes and NumPy arrays; gives `DeviceArray`, which kernels of the same backend take without a copy. The memory is
freed with the object.
"""

from __future__ import annotations

import math
import operator
import weakref
from typing import Any

import numpy as np

from quadrants.backend import arguments
from quadrants.backend.contract import Backend, Device, Event, Stream
from quadrants.backend.registry import get_backend
from quadrants.diagnostics import BackendError, Code, QuadrantsError
from quadrants.types import ArrayType
from quadrants.types.dtypes import scalar_of


class DeviceArray:
    """A C-contiguous array in the memory of a device.

    Args:
        backend: the name of the backend.
        shape: an int or a tuple.
        dtype: what NumPy takes for one.
    """

    def __init__(self, backend: str, shape: Any, dtype: Any) -> None:
        self.backend = backend
        self.dtype = np.dtype(dtype)
        self.shape = _shape(shape)
        self.size = math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        scalar = scalar_of(self.dtype)
        if scalar is None:
            raise QuadrantsError(Code.UNSUPPORTED_TYPE, f"a device has no arrays of {self.dtype}")
        self.type = ArrayType(scalar, len(self.shape), "C")
        found = get_backend(backend)
        self._memory = found.memory(first_device(found))
        self.address = self._memory.allocate(max(self.nbytes, 1))
        weakref.finalize(self, self._memory.free, self.address)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array of rank 0")
        return self.shape[0]

    def copy_to_device(self, source: Any, stream: Any = None) -> None:
        """Copy an array of the same shape into this one."""
        if isinstance(source, DeviceArray):
            source = source.copy_to_host()
        host = np.asarray(source, dtype=self.dtype)
        if host.shape != self.shape:
            raise ValueError(f"an array of shape {host.shape} cannot be copied into one of shape {self.shape}")
        if self.nbytes:
            self._memory.copy_in(self.address, _bytes(np.ascontiguousarray(host)), stream or None)

    def copy_to_host(self, out: np.ndarray | None = None, stream: Any = None) -> np.ndarray:
        """The elements as a NumPy array: a new one, or `out`."""
        target = np.empty(self.shape, self.dtype) if out is None else out
        if target.shape != self.shape or target.dtype != self.dtype:
            raise ValueError(f"out has to be of shape {self.shape} and dtype {self.dtype}")
        host = target if target.flags.c_contiguous else np.empty(self.shape, self.dtype)
        if self.nbytes:
            self._memory.copy_out(_bytes(host), self.address, stream or None)
        if host is not target:
            target[...] = host
        return target

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        return self.copy_to_host()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        host = self.copy_to_host()
        host[index] = value
        self.copy_to_device(host)

    def placed(self, in_bytes: bool) -> arguments.DeviceArray:
        """The array as the argument block takes it."""
        unit = self.dtype.itemsize if in_bytes else 1
        strides = [unit]
        for size in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * max(size, 1))
        return arguments.DeviceArray(self.address, self.shape, tuple(strides[: len(self.shape)]))

    def __repr__(self) -> str:
        return f"<array on {self.backend}, shape {self.shape}, dtype {self.dtype}>"


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if any(size < 0 for size in sizes):
        raise ValueError(f"the shape {sizes} has a negative size")
    return sizes


def _bytes(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def first_device(backend: Backend) -> Device:
    """The device that is used where none is chosen."""
    devices = backend.devices()
    if not devices:
        state = backend.availability()
        raise BackendError(
            Code.BACKEND_UNAVAILABLE, f"{backend.name} has no device here: {state.reason}", hint=state.fix or None
        )
    return devices[0]


class HostSide:
    """What the namespace of a backend has for the host, beside kernels.

    Args:
        backend: the name of the backend.
    """

    def __init__(self, backend: str) -> None:
        self._name = backend

    def device_array(self, shape: Any, dtype: Any = np.float64) -> DeviceArray:
        """A new array on the device. Its elements are undefined until written."""
        return DeviceArray(self._name, shape, dtype)

    def device_array_like(self, array: Any) -> DeviceArray:
        """A new array on the device with the shape and dtype of another one."""
        return DeviceArray(self._name, array.shape, array.dtype)

    def to_device(self, array: Any, stream: Any = None, to: DeviceArray | None = None) -> DeviceArray:
        """A copy of an array on the device, or into `to`."""
        source = array if isinstance(array, DeviceArray) else np.asarray(array)
        made = self.device_array_like(source) if to is None else to
        made.copy_to_device(source, stream)
        return made

    def stream(self) -> Stream:
        """A stream: what is launched in it happens in order."""
        backend = get_backend(self._name)
        return backend.stream(first_device(backend))

    def event(self) -> Event:
        """An event, to be recorded in a stream."""
        backend = get_backend(self._name)
        return backend.event(first_device(backend))

    def synchronize(self) -> None:
        """Wait for everything that was launched in the default stream; errors of kernels are raised here."""
        self.stream().synchronize()
