"""Calls from a kernel into Python, such as `print`.

Takes the site of the call and the buffer with its components; looks the function up where the program would find it (so that a
replaced `sys.stdout` is honoured), calls it, and stores the result's components in the buffer. Errors propagate to the kernel.
"""

from __future__ import annotations

import ast
import ctypes
import importlib
import sys
from collections.abc import Callable
from typing import Any

from quadrants.host.values import CallWords, decode, encode, read_words, words_of
from quadrants.lower.abi import CTX_KEPT, Site
from quadrants.types import LiteralType, NoneType, ObjectType, StrType, TupleType, Type


def call(site: Site, buffer: int, context: int, caught: Callable[[int], BaseException]) -> None:
    """Make the call of a site.

    Args:
        site: which call.
        buffer: the address of the components of the arguments; there go those of the result.
        context: the address of the kernel's context, which keeps the objects that the kernel gets.
        caught: the exception object of the code of a caught exception.
    """
    arguments, keywords = split(site.args)
    words = CallWords(read_words(buffer, sum(words_of(leaf) for item in arguments for leaf in item.leaves())), caught)
    values = [decode(item, words) for item in arguments]
    result = _target(site.target)(*values, **keywords)
    if site.result is not None and not isinstance(site.result, NoneType):
        if any(isinstance(leaf, (StrType, ObjectType)) for leaf in site.result.leaves()):
            _keep(context, result)
        parts = encode(site.result, result)
        ctypes.memmove(buffer, (ctypes.c_uint64 * len(parts))(*parts), 8 * len(parts))


def _keep(context: int, value: object) -> None:
    """Have an object live until the call of the kernel ends, when the list that the context owns goes."""
    place = ctypes.c_uint64.from_address(context + CTX_KEPT)
    if place.value:
        ctypes.cast(place.value, ctypes.py_object).value.append(value)
        return
    kept = [value]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    place.value = id(kept)


def release_kept(context: int) -> None:
    """Drop what a context keeps; native entries do it themselves."""
    place = ctypes.c_uint64.from_address(context + CTX_KEPT)
    if place.value:
        ctypes.pythonapi.Py_DecRef(ctypes.cast(place.value, ctypes.py_object))
        place.value = 0


def split(args: Type | None) -> tuple[tuple[Type, ...], dict[str, object]]:
    """The types of the positional arguments, and the keyword arguments: the last item, as the text of a tuple of pairs."""
    items = args.items if isinstance(args, TupleType) else ()
    if items and isinstance(items[-1], LiteralType):
        return items[:-1], dict(ast.literal_eval(str(items[-1].value)))
    return items, {}


def _target(name: str) -> Callable[..., object]:
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module) or importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found  # type: ignore[return-value]


def same(value: object) -> object:
    """The object itself: how a caught exception gets to live longer than its handler."""
    return value


def is_instance(value: object, classes: str) -> bool:
    """`isinstance()` with the classes given as "module:qualname", spaces between."""
    return any(isinstance(value, _target(name)) for name in classes.split())  # type: ignore[arg-type]


def print_spread(*parts: object, spread: tuple[bool, ...], **options: Any) -> None:
    """`print()` of parts of which some stand for their items: `print("row", *row)`."""
    items: list[object] = []
    for part, several in zip(parts, spread):
        items.extend(part if several else (part,))  # type: ignore[arg-type]
    print(*items, **options)


def throw(error: BaseException) -> None:
    """Raise an exception that the kernel holds as an object."""
    raise error
