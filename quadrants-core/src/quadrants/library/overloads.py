"""Implementations that users give for functions which compiled code does not know.

Takes a function and its implementation; gives the implementation back when compiled code calls the function. They are kept as names
of this module, so that code compiled against one depends on it as on any other global: giving another recompiles.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from quadrants.library import registry

_PREFIX = "overload of "
_TARGETS: dict[str, object] = {}


def add(target: Callable[..., object], implementation: types.FunctionType) -> None:
    """Use the implementation for calls of `target` from now on."""
    name = _name_of(target)
    _TARGETS[name] = target
    globals()[name] = implementation


def find(target: object) -> tuple[str, types.FunctionType] | None:
    """The name in this module, and the implementation; None if nobody gave one."""
    if not _TARGETS or not callable(target):
        return None
    name = _name_of(target)
    known = _TARGETS.get(name)
    return (name, globals()[name]) if known is target or (known is not None and known == target) else None


def _name_of(target: Callable[..., object]) -> str:
    key = registry.key_of(target)
    return f"{_PREFIX}{key or type(target).__qualname__}"
