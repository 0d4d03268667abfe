"""Arguments that become arrays without a copy.

Takes any argument; gives the object whose type `typeof` knows: an exact ndarray for subclasses of ndarray, CPU tensors,
DLPack objects on the CPU and objects with `__array_interface__`; a plain int for members of IntEnum. Memory is shared, so
that results are written through. Objects that would have to be copied, or whose meaning would be lost, are errors.
"""

from __future__ import annotations

import enum
import sys
from typing import Any

import numpy as np

from quadrants.api.typeof import _EXACT, is_literal, is_namedtuple, unsupported
from quadrants.types.names import TypeName

#: DLPack device types whose memory the CPU reads: the CPU itself, and pinned host memory of CUDA and ROCm.
_HOST_DEVICES = frozenset({1, 3, 11})
_DEVICE_NAMES = {
    2: "a CUDA GPU",
    7: "a Vulkan GPU",
    8: "a Metal GPU",
    10: "a ROCm GPU",
    13: "CUDA's managed space",
    14: "a oneAPI device",
}


class _Shared:
    """Keeps an object alive and shows its memory to NumPy as writable."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, array: np.ndarray, owner: object) -> None:
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self._owner = (owner, array)


def coerce(value: Any, where: str = "the value") -> Any:
    """`value`, or the array that shares its memory."""
    cls = type(value)
    if cls in _EXACT:
        return value if cls is not tuple else _coerce_items(value, where)
    if isinstance(value, np.ndarray):
        return _coerce_subclass(value, where)
    if isinstance(value, np.generic) or is_literal(value):
        return value
    if isinstance(value, enum.IntEnum):
        return int(value)
    if isinstance(value, TypeName):
        return value.__quadrants_alias__
    if isinstance(value, tuple):
        return _coerce_namedtuple(value, where)
    if _is_torch_tensor(value):
        return _from_torch(value, where)
    if hasattr(cls, "__dlpack__") and hasattr(cls, "__dlpack_device__"):
        return _from_dlpack(value, where)
    if hasattr(cls, "__array_interface__") or "__array_interface__" in getattr(value, "__dict__", ()):
        return _from_interface(value, where)
    return value


def _coerce_items(value: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    items = tuple(coerce(item, f"{where}[{index}]") for index, item in enumerate(value))
    return value if all(new is old for new, old in zip(items, value)) else items


def _coerce_namedtuple(value: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not is_namedtuple(type(value)):
        return value
    items = _coerce_items(tuple(value), where)
    return value if all(new is old for new, old in zip(items, value)) else type(value)._make(items)  # type: ignore[attr-defined]


def _coerce_subclass(value: np.ndarray, where: str) -> np.ndarray:
    """A subclass that only adds attributes is an array; one that changes arithmetic is not."""
    if isinstance(value, np.matrix):
        raise unsupported(value, where, "gives `*` another meaning than arrays do")
    if isinstance(value, np.ma.MaskedArray):
        raise unsupported(value, where, "carries a mask that compiled code would ignore")
    return np.ndarray.view(value, np.ndarray)


def _is_torch_tensor(value: object) -> bool:
    """Whether this is a tensor of PyTorch, without importing it."""
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return isinstance(tensor, type) and isinstance(value, tensor)


def _from_torch(value: Any, where: str) -> np.ndarray:
    """`Tensor.numpy()` shares the memory, or says why it cannot."""
    try:
        return value.numpy()
    except (RuntimeError, TypeError, ValueError) as problem:
        hint = next((hint for word, hint in _TENSOR_HINTS.items() if word in str(problem)), "")
        raise unsupported(value, where, f"cannot be shared: {problem}", hint) from None


#: What to pass instead of a tensor, by a word of PyTorch's message.
_TENSOR_HINTS = {
    "grad": "pass value.detach()",
    "conjugate": "pass value.resolve_conj()",
    "negative": "pass value.resolve_neg()",
    "ScalarType": "NumPy has no such elements: pass value.float(), which makes a copy",
    "layout": "pass value.to_dense()",
    "device": "pass value.cpu(), which makes a copy",
}


def _from_dlpack(value: Any, where: str) -> np.ndarray:
    device = int(value.__dlpack_device__()[0])
    if device not in _HOST_DEVICES:
        place = _DEVICE_NAMES.get(device, f"a device (DLPack type {device})")
        raise unsupported(value, where, f"lives in the memory of {place}", "copy it to the CPU first")
    try:
        array = np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as problem:
        raise unsupported(value, where, f"cannot be shared through DLPack: {problem}") from None
    # Before version 1 DLPack had no flag for read-only memory: NumPy then assumes it, its other users do not.
    return array if array.flags.writeable or not _is_legacy(value) else np.asarray(_Shared(array, value))


def _is_legacy(value: Any) -> bool:
    """Whether an object exports the DLPack of before version 1, which cannot say that memory is read-only."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        return True
    return '"dltensor_versioned"' not in repr(capsule)


def _from_interface(value: Any, where: str) -> np.ndarray:
    try:
        array = np.asarray(value, copy=False)
    except (TypeError, ValueError) as problem:
        raise unsupported(value, where, f"cannot be shared through __array_interface__: {problem}") from None
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)
