"""What a specialisation asks of Python while it runs: exceptions, calls back into Python, rare results.

Takes the tables that lowering made (`Site`, exception classes) and what the kernel left in its context; gives the exception as the
interpreter would have raised it, with a traceback of the user's lines. Construction of exceptions happens in Python, so that
classes, messages and f-strings behave as they do there.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from quadrants.ir.origin import Loc, Scope
from quadrants.lower import abi
from quadrants.lower.abi import Site
from quadrants.types import TupleType, Type

#: A class of an exception: "module:qualname", or the class where it has no such name.
ExceptionClass = str | type[BaseException]


class Handler:
    """The callable behind the cold paths of one specialisation.

    Args:
        sites: from lowering.
        classes: from lowering.
        result: the type of the result.
    """

    __slots__ = ("_classes", "_result", "_results", "_sites")

    def __init__(self, sites: Sequence[Site], classes: Sequence[ExceptionClass], result: Type) -> None:
        self._sites = tuple(sites)
        self._classes = tuple(classes)
        self._result = result
        self._results: tuple[Type, ...] | None = None  # the parts of it that are made here, once one is

    def __call__(self, number: int, address: int, *more: Any) -> object:
        """`(FIRST_BOX + i, buffer)`: a result. `(status, context, error)`: an exception. `(site, buffer, context, error)`: a call
        into Python; the error is the one that is being handled, if that came from Python.
        """
        if not more:
            from quadrants.host.box import FIRST_BOX, slow_types  # loaded here, not with the call path
            from quadrants.host.values import decode, read_words, words_of

            if self._results is None:
                self._results = tuple(slow_types(self._result))
            wanted = self._results[number - FIRST_BOX]
            return decode(wanted, read_words(address, sum(map(words_of, wanted.leaves()))))
        if len(more) == 1:
            return self.exception(number, address, more[0])
        from quadrants.host import hostcall

        context, error = more
        if self._sites[number].kind is abi.SiteKind.MATCH:
            ctypes.c_uint64.from_address(address).value = self._is_one_of(error, self._sites[number].classes)
            return None
        hostcall.call(self._sites[number], address, context, functools.partial(self._caught, context, error))
        return None

    def _is_one_of(self, error: BaseException | None, classes: tuple[int, ...]) -> bool:
        """Whether an `except` clause with classes of these numbers catches an error."""
        return issubclass(type(error), tuple(resolve_class(self._classes[number - 1]) for number in classes))

    def _caught(self, context: int, error: BaseException | None, status: int, depth: int = 0) -> BaseException:
        """The object of an exception that compiled code has caught."""
        from quadrants.host import traceback

        number = abi.class_number(status)
        if number == abi.PYTHON_ERROR and error is not None:
            return error
        record = context + abi.record_offset(abi.record_number(status) % abi.RECORDS)
        site = self._site(_int32(record + abi.RECORD_SITE))
        made = self._make(number, site, record, context, depth)
        if site is not None:
            made.__traceback__ = traceback.build(((site.scope, site.loc),))
        return made

    def exception(self, status: int, context: int, error: BaseException | None) -> BaseException:
        """The exception of a failed call."""
        from quadrants.host import traceback

        record = context + abi.record_offset(abi.record_number(status) % abi.RECORDS)
        site = self._site(_int32(record + abi.RECORD_SITE))
        if error is None:
            error = self._make(abi.class_number(status), site, record, context)
            inner = None
        else:
            inner = traceback.without_own_frames(error.__traceback__)
        places = [] if site is None else [(site.scope, site.loc)]
        error.__traceback__ = traceback.build((*places, *self._callers(context)), inner)
        return error

    def _make(self, number: int, site: Site | None, record: int, context: int, depth: int = 0) -> BaseException:
        if number == abi.PYTHON_ERROR or not 0 < number <= len(self._classes):
            return SystemError("compiled code reported an error without setting one")
        words = _payload(record)
        chain = site.chain if site is not None else ""
        status = next(words) if chain else 0
        made: BaseException = resolve_class(self._classes[number - 1])(*_arguments(site, words))
        if site is not None and site.note:
            made.add_note(site.note)
        handled = sys.exception()
        if chain and abi.class_number(status) != abi.PYTHON_ERROR and depth < abi.RECORDS:
            handled = self._caught(context, None, status & 0xFFFFFFFF, depth + 1)
        if handled is not None and handled is not made:
            made.__context__ = handled
        if chain == "cause":
            made.__cause__ = handled
        elif chain == "none":
            made.__suppress_context__ = True
        return made

    def _callers(self, context: int) -> Iterator[tuple[Scope, Loc | None]]:
        """The places of the calls on the way out, the innermost first."""
        count = min(_int32(context + abi.CTX_TB_LEN), abi.TB_SITES)
        for index in range(count):
            site = self._site(_int32(context + abi.CTX_TB_SITES + 4 * index))
            if site is not None:
                yield site.scope, site.loc

    def _site(self, number: int) -> Site | None:
        return self._sites[number] if 0 <= number < len(self._sites) else None


def _payload(record: int) -> Iterator[int]:
    """The words of a record."""
    from quadrants.host.values import read_words

    return read_words(record + abi.RECORD_PAYLOAD, min(_int32(record + abi.RECORD_LEAVES), abi.PAYLOAD_WORDS))


def _arguments(site: Site | None, words: Iterator[int]) -> tuple[object, ...]:
    """The arguments of the exception, from the words of its record."""
    if site is None or site.args is None:
        return ()
    items = site.args.items if isinstance(site.args, TupleType) else (site.args,)
    return tuple(_lenient(item, words) for item in items)


def _lenient(type: Type, words: Iterator[int]) -> object:
    """A value of an exception; where the record had no room for it, a text says so."""
    from quadrants.host.values import decode

    try:
        return decode(type, words)
    except (StopIteration, RuntimeError):
        return f"<{type}>"


def resolve_class(name: ExceptionClass) -> type[BaseException]:
    """The exception class of a name "module:qualname"."""
    if isinstance(name, type):
        return name
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module) or importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        raise TypeError(f"{name} is not an exception class")
    return found


def _int32(address: int) -> int:
    (value,) = struct.unpack("<i", ctypes.string_at(address, 4))
    return int(value)


__all__ = ["ExceptionClass", "Handler", "resolve_class"]
