"""Frozen values as plain data, and back.

Takes values made of numbers, texts, tuples, lists, dicts, enum members and instances of a given set of dataclasses; gives
nested tuples that `marshal` writes. Classes and functions are kept by name if the name leads back to the same object; objects
that the reader has anyway (the literal arguments of the call) by their number. Anything else raises `Uncacheable`.
"""

from __future__ import annotations

import dataclasses
import enum
import marshal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quadrants.cache.fingerprint import Uncacheable

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class Codec:
    """Between values and plain data.

    Args:
        classes: the dataclasses and enums that may occur.
        objects: what is kept by its number.
    """

    def __init__(self, classes: Sequence[type], objects: Sequence[object] = ()) -> None:
        self._classes = {cls.__name__: cls for cls in classes}
        self._objects = tuple(objects)

    def dumps(self, value: object) -> bytes:
        """The bytes of a value."""
        return marshal.dumps(self.encode(value), 4)

    def loads(self, data: bytes) -> Any:
        """The value of bytes that `dumps` made, and whose checksum was found right."""
        return self.decode(marshal.loads(data))

    def encode(self, value: Any) -> Any:
        cls = type(value)
        if cls in _PLAIN:
            return value
        if cls is tuple or cls is list:
            return (cls.__name__, *map(self.encode, value))
        if cls is dict:
            return ("dict", *((self.encode(k), self.encode(v)) for k, v in value.items()))
        for index, known in enumerate(self._objects):
            if known is value:
                return ("object", index)
        if self._classes.get(cls.__name__) is cls:
            if isinstance(value, enum.Enum):
                return ("enum", cls.__name__, value.name)
            names = [field.name for field in dataclasses.fields(value)]
            return ("data", cls.__name__, *(self.encode(getattr(value, name)) for name in names))
        if isinstance(value, np.dtype):
            return ("dtype", value.str)
        return ("named", *_path_of(value))

    def decode(self, data: Any) -> Any:
        if type(data) is not tuple:
            return data
        return _DECODERS[data[0]](self, data)

    def _data(self, data: tuple[Any, ...]) -> Any:
        return self._classes[data[1]](*map(self.decode, data[2:]))


def _path_of(value: Any) -> tuple[str, str]:
    """(module, qualified name) of an object that can be found by it."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or find(module, name) is not value:
        raise Uncacheable(f"{value!r}, which has no name to find it by")
    return module, name


def find(module: str, name: str) -> Any:
    """The object at a qualified name in a loaded module, or None."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


_DECODERS: dict[str, Callable[[Codec, tuple[Any, ...]], Any]] = {
    "tuple": lambda codec, data: tuple(map(codec.decode, data[1:])),
    "list": lambda codec, data: list(map(codec.decode, data[1:])),
    "dict": lambda codec, data: {codec.decode(k): codec.decode(v) for k, v in data[1:]},
    "object": lambda codec, data: codec._objects[data[1]],
    "enum": lambda codec, data: codec._classes[data[1]][data[2]],  # type: ignore[index]
    "data": Codec._data,
    "dtype": lambda codec, data: np.dtype(data[1]),
    "named": lambda codec, data: _found(data[1], data[2]),
}


def _found(module: str, name: str) -> Any:
    found = find(module, name)
    if found is None:
        raise Uncacheable(f"{module}:{name}, which is not there")
    return found
