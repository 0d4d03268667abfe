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

from quadrants.host.values import decode, encode, read_words, words_of
from quadrants.lower.abi import Site
from quadrants.types import LiteralType, NoneType, TupleType, Type


def call(site: Site, buffer: int) -> None:
    """Make the call of a site."""
    arguments, keywords = split(site.args)
    words = read_words(buffer, sum(words_of(leaf) for item in arguments for leaf in item.leaves()))
    values = [decode(item, words) for item in arguments]
    result = _target(site.target)(*values, **keywords)
    if site.result is not None and not isinstance(site.result, NoneType):
        parts = encode(site.result, result)
        ctypes.memmove(buffer, (ctypes.c_uint64 * len(parts))(*parts), 8 * len(parts))


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
