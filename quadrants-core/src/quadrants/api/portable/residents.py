"""Memory of tensors on a device: a copy there, one on the host, and which of them is newer.

Takes a NumPy array, the host's side of a tensor; gives a `Resident`, whose memory on the device is made when a kernel first takes
it. Copies are made when the side that is used is the older one. Made where `qd.init` has chosen a device.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from quadrants.api.devicearrays import first_device
from quadrants.api.portable import runtime
from quadrants.api.portable.tensors import Field, Ndarray, Tensor
from quadrants.api.typeof import array_type
from quadrants.backend.arguments import DeviceArray
from quadrants.backend.registry import get_backend
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError


class Resident:
    """The memory of one tensor on the host and on a device.

    Args:
        backend: the name of the device's backend.
        host: the array on the host: contiguous, its axes in any order. `type` is its type, always the same object.
    """

    def __init__(self, backend: str, host: np.ndarray) -> None:
        self.host = host
        self.backend = backend
        self.type = array_type(host)
        self._placed: DeviceArray | None = None
        self._host_newer, self._device_newer = True, False
        found = get_backend(backend)
        self._in_bytes = found.capabilities(found.target_of(first_device(found))).host_memory

    @property
    def _bytes(self) -> memoryview:
        order = sorted(range(self.host.ndim), key=lambda axis: -self.host.strides[axis])
        return self.host.transpose(order).reshape(-1).view(np.uint8).data

    def read(self) -> np.ndarray:
        """The array on the host, up to date: waits for kernels that write it."""
        if self._device_newer:
            found = get_backend(self.backend)
            assert self._placed is not None
            found.memory(first_device(found)).copy_out(self._bytes, self._placed.address)
            self._device_newer = False
        return self.host

    def write(self) -> np.ndarray:
        """The array on the host, to be written."""
        self.read()
        self._host_newer = True
        return self.host

    def placed(self) -> DeviceArray:
        """The array on the device, up to date."""
        if self._host_newer or self._placed is None:
            return self._copied()
        return self._placed

    def _copied(self) -> DeviceArray:
        found = get_backend(self.backend)
        memory = found.memory(first_device(found))
        if self._placed is None:
            address = memory.allocate(max(self.host.nbytes, 1))
            weakref.finalize(self, memory.free, address).atexit = False
            unit = 1 if self._in_bytes else self.host.itemsize
            self._placed = DeviceArray(address, self.host.shape, tuple(step // unit for step in self.host.strides))
        if self.host.nbytes:
            memory.copy_in(self._placed.address, self._bytes)
        self._host_newer = False
        return self._placed

    def written(self) -> None:
        """A kernel writes it on the device."""
        self._device_newer = bool(self.host.nbytes)


class _OnDevice:
    """What a tensor in a device's memory has beside what every tensor has."""

    _resident: Resident

    def _hold(self, array: np.ndarray) -> None:
        super()._hold(array)  # type: ignore[misc]
        name = runtime.settings().device
        self._resident = RESIDENTS[id(array)] = Resident(name, array)
        TENSORS.add(self)  # type: ignore[arg-type]

    @property
    def _np(self) -> np.ndarray:
        return self._resident.read()

    @_np.setter
    def _np(self, array: np.ndarray) -> None:
        """The resident has it."""

    def _writable(self) -> np.ndarray:
        return self._resident.write()

    def _shared(self) -> np.ndarray:
        raise QuadrantsError(
            Code.BAD_VALUE,
            f"the memory of {self!r} is on {self._resident.backend}: it cannot be shared without a copy",
            hint="leave copy=False out",
        )


class DeviceField(_OnDevice, Field):
    """A field in a device's memory."""

    _plain = Field


class DeviceNdarray(_OnDevice, Ndarray):
    """An array in a device's memory."""

    _plain = Ndarray


#: The memory of tensors, by the identity of the host's side.
RESIDENTS: weakref.WeakValueDictionary[int, Resident] = weakref.WeakValueDictionary()
#: The tensors that are in a device's memory.
TENSORS: weakref.WeakSet[Tensor] = weakref.WeakSet()


def on_device(cls: type[Tensor]) -> type[Tensor]:
    """The class of such tensors in the memory of the device."""
    return DeviceField if issubclass(cls, Field) else DeviceNdarray


def bring_home() -> None:
    """All tensors to the host's memory: what comes next may run elsewhere."""
    for tensor in list(TENSORS):
        array = tensor._np
        plain: Any = tensor._plain  # type: ignore[attr-defined]
        del tensor.__dict__["_resident"]
        tensor.__class__ = plain
        tensor._np = array
    TENSORS.clear()
