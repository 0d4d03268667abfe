"""Calls through ctypes: where the native path is off, or the layout of objects is not known.

Takes a dispatcher and the arguments of a call, in Python; tests the types in Python, passes components as machine words to
the plain entry, and boxes in Python. Slow (microseconds), but it relies on nothing but ctypes and NumPy, and behaves the same.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from quadrants.host.hostcall import release_kept
from quadrants.host.os import system
from quadrants.host.spec import MISSING, Source
from quadrants.host.support import Raise, Retry
from quadrants.host.symbols import count_blocks, resolve
from quadrants.host.traceback import without_own_frames
from quadrants.host.values import box_array, decode, encode, words_of
from quadrants.lower import abi
from quadrants.types import (
    ArrayType,
    CellsType,
    Kind,
    LiteralType,
    NamedTupleType,
    NoneType,
    OptionalType,
    Scalar,
    SliceType,
    StrType,
    TupleType,
    Type,
    UnionType,
)
from quadrants.types.dtypes import scalar_of

if TYPE_CHECKING:
    from quadrants.host.native_type import DispatcherBase
    from quadrants.host.specialisation import Loaded

_WEAK_CLASSES = {Kind.BOOL: bool, Kind.INT: int, Kind.FLOAT: float, Kind.COMPLEX: complex}
_STACK_MARGIN = 256 << 10


def call(self: DispatcherBase, *args: Any, **kwargs: Any) -> Any:
    """`__call__` of dispatchers on this path."""
    retried = False
    bound = self._bind(tuple(kwargs), (*args, *kwargs.values()))
    answer: object = Retry(args if bound is None else bound)
    while type(answer) is Retry:
        arguments = tuple(answer)
        for loaded in self._entries:
            if accepts_call(loaded, arguments):
                try:
                    return run(self, loaded, arguments)
                except BaseException as error:
                    error.__traceback__ = without_own_frames(error.__traceback__)
                    raise
        answer = self._slow(True, retried, None, *arguments)
        retried = True
    if type(answer) is Raise:
        raise answer[0]
    return answer


def accepts_call(loaded: Loaded, arguments: tuple[object, ...]) -> bool:
    """Whether a specialisation takes the arguments, and is valid."""
    spec = loaded.spec
    if len(arguments) != len(spec.params) or not loaded.valid:
        return False
    hidden = hidden_values(loaded)
    types = (*spec.params, *(h.type for h in spec.hidden))
    return all(accepts(type, value, spec.exact) for type, value in zip(types, (*arguments, *hidden), strict=True))


def hidden_values(loaded: Loaded) -> list[object]:
    """The objects of the hidden arguments now; `MISSING` where there is none."""
    found: list[object] = []
    for hidden, where in zip(loaded.spec.hidden, loaded.hidden, strict=True):
        value: Any = where
        if hidden.source is Source.GLOBAL:
            value = value[0].get(value[1], MISSING)
        elif hidden.source is Source.CELL:
            try:
                value = value.cell_contents
            except ValueError:
                value = MISSING
        found.append(value)
    return found


def run(dispatcher: DispatcherBase, loaded: Loaded, arguments: tuple[object, ...]) -> object:
    """Call the plain entry of a specialisation."""
    spec = loaded.spec
    types = (*spec.params, *(h.type for h in spec.hidden))
    values = (*arguments, *hidden_values(loaded))
    words = [word for type, value in zip(types, values, strict=True) for word in encode(type, value)]
    given = (ctypes.c_uint64 * max(len(words), 1))(*words)
    results = (ctypes.c_uint64 * max(sum(map(words_of, spec.result.leaves())), 1))()
    context = ctypes.create_string_buffer(abi.CTX_BYTES)
    _fill_context(context, dispatcher, loaded)
    prototype = ctypes.CFUNCTYPE if spec.nogil else ctypes.PYFUNCTYPE
    entry = prototype(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(loaded.entry)
    where = ctypes.addressof(context)
    try:
        status, error = _enter(entry, where, ctypes.addressof(given), ctypes.addressof(results))
        count_blocks(ctypes.c_int64.from_buffer(context, abi.CTX_LIVE).value)
        if status:
            raise loaded.handler.exception(status, where, error)
        return _result(spec.result, list(results))
    finally:
        release_kept(where)


def _enter(
    entry: Callable[[int, int, int], int], context: int, given: int, results: int
) -> tuple[int, BaseException | None]:
    """The status of a call of the entry, and the error that it left set in the interpreter, which ctypes raises here."""
    try:
        return entry(context, given, results), None
    except BaseException as error:  # noqa: BLE001  (whatever it is, it goes on to the caller of the kernel)
        last = ctypes.c_int32.from_address(context + abi.CTX_NEXT_RECORD).value - 1
        return abi.PYTHON_ERROR | (last % abi.RECORDS) << abi.RECORD_SHIFT, error


def _fill_context(context: ctypes.Array[ctypes.c_char], dispatcher: DispatcherBase, loaded: Loaded) -> None:
    spec = loaded.spec
    low, high = system().stack_bounds() if spec.recursive else (0, 0)
    limit = low + min(_STACK_MARGIN, (high - low) // 4) if low else 0
    for offset, value in (
        (abi.CTX_SELF, id(dispatcher)),
        (abi.CTX_HOSTCALL, resolve("qd_hostcall") if spec.calls_python else 0),
        (abi.CTX_HANDLER, id(loaded.handler)),
        (abi.CTX_STACK_LIMIT, limit),
        (abi.CTX_STACK_LOWEST, limit),
        (abi.CTX_THREAD, abi.NO_POLLS if spec.nogil else 0),  # ctypes releases the GIL and takes it again
    ):
        ctypes.c_uint64.from_buffer(context, offset).value = value


def _result(type: Type, words: list[int]) -> object:
    try:
        return _boxed(type, words)
    finally:
        at = 0
        for leaf in type.leaves():
            if isinstance(leaf, CellsType):
                _releaser()(words[at])
            at += words_of(leaf)


@functools.cache
def _releaser() -> Callable[[int], None]:
    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(resolve("qd_list_release"))


def _boxed(type: Type, words: list[int]) -> object:
    """The object of a result. The arrays get objects first: these free their memory if making the rest fails."""
    arrays = []
    at = 0
    for leaf in type.leaves():
        if isinstance(leaf, ArrayType):
            numbers = [n - (1 << 64) if n >> 63 else n for n in words[at + 2 : at + words_of(leaf)]]
            arrays.append(box_array(leaf, words[at], words[at + 1], numbers))
        at += words_of(leaf)
    return _assemble(type, iter(words), iter(arrays))


def _assemble(type: Type, words: Iterator[int], arrays: Iterator[object]) -> object:
    """The next value, with the arrays that are made already."""
    if isinstance(type, ArrayType):
        _skip(type, words)
        return next(arrays)
    if isinstance(type, TupleType):
        return tuple(_assemble(item, words, arrays) for item in type.items)
    if isinstance(type, NamedTupleType):
        return type.cls(*[_assemble(item, words, arrays) for item in type.items])
    if isinstance(type, UnionType) and type.heap:
        chosen = next(words)
        found = None
        for position, item in enumerate(type.items):
            if position == chosen:
                found = _assemble(item, words, arrays)
            else:
                _skip_value(item, words, arrays)
        return found
    if isinstance(type, OptionalType) and type.heap:
        present = next(words) & 1
        if present:
            return _assemble(type.item, words, arrays)
        _skip_value(type.item, words, arrays)
        return None
    return decode(type, words)


def _skip_value(type: Type, words: Iterator[int], arrays: Iterator[object]) -> None:
    for leaf in type.leaves():
        _skip(leaf, words)
        if isinstance(leaf, ArrayType):
            next(arrays)


def _skip(leaf: Type, words: Iterator[int]) -> None:
    for _ in range(words_of(leaf)):
        next(words)


# Whether a value has a type


def accepts(type: Type, value: object, exact: bool = True) -> bool:
    """Whether a parameter of the type takes the value, as the native guards decide it."""
    rule = _GUARDS.get(type.__class__)
    return rule is not None and rule(type, value, exact)


def _scalar(type: Scalar, value: Any, exact: bool) -> bool:
    if type.weak:
        fits = value.__class__ is _WEAK_CLASSES[type.kind]
        return fits and (type.kind is not Kind.INT or -(1 << 63) <= value < 1 << 63)
    return isinstance(value, np.generic) and value.__class__ is value.dtype.type and scalar_of(value.dtype) == type


def _array(type: ArrayType, value: Any, exact: bool) -> bool:
    if value.__class__ is not np.ndarray or value.ndim != type.ndim or scalar_of(value.dtype) != type.dtype:
        return False
    flags = value.flags
    if not flags.aligned or (flags.writeable == type.readonly and (exact or not type.readonly)):
        return False
    if type.layout == "C":
        return bool(flags.c_contiguous)
    if type.layout == "F":
        return bool(flags.f_contiguous and not (exact and flags.c_contiguous))
    return not (exact and (flags.c_contiguous or flags.f_contiguous))


def _items(type: TupleType | NamedTupleType, value: Any, exact: bool) -> bool:
    cls: Any = type.cls if isinstance(type, NamedTupleType) else tuple
    if value.__class__ is not cls or len(value) != len(type.items):
        return False
    return all(accepts(item, part, exact) for item, part in zip(type.items, value, strict=True))


def _literal(type: LiteralType, value: Any, exact: bool) -> bool:
    if value is type.value:
        return True
    return value.__class__ in (int, str) and value.__class__ is type.value.__class__ and value == type.value


def _slice(type: SliceType, value: Any, exact: bool) -> bool:
    if value.__class__ is not slice:
        return False
    parts = ((type.start, value.start), (type.stop, value.stop), (type.step, value.step))
    return all(accepts(item, part, exact) for item, part in parts)


_Guard = Callable[[Any, Any, bool], bool]

_GUARDS: dict[type, _Guard] = {
    Scalar: _scalar,
    ArrayType: _array,
    TupleType: _items,
    NamedTupleType: _items,
    NoneType: lambda type, value, exact: value is None,
    OptionalType: lambda type, value, exact: value is None or accepts(type.item, value, exact),
    LiteralType: _literal,
    StrType: lambda type, value, exact: value.__class__ is str,
    SliceType: _slice,
}
