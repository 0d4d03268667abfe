"""Where CPython and NumPy keep the parts of their objects.

Takes the running interpreter; gives the byte offsets that emitted entries rely on, each verified against live objects. On a
build where one of them differs (a free-threaded one, a 32-bit one, an unknown version) `native_call_supported()` is False and
calls take the ctypes path, which relies on none.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import struct
import sys
from collections.abc import Callable, Iterator

import numpy as np

from quadrants import config
from quadrants.diagnostics.codes import Code

#: struct _object: reference count, then the type.
OBJECT_TYPE = 8
OBJECT_SIZE = 16
#: The value of float, complex and NumPy's scalars directly follows the header.
SCALAR_VALUE = 16
FLOAT_VALUE = 16
COMPLEX_VALUE = 16
#: A tuple: its length, then (3.14: after the hash) its items.
TUPLE_SIZE = 16
TUPLE_ITEMS = tuple.__basicsize__
#: An int: 3.12+ a tag (digits << 3 | 1 - sign), before a signed number of digits; then digits of 30 bits.
LONG_TAG = 16
LONG_DIGIT = 24
LONG_HAS_TAG = sys.version_info >= (3, 12)
#: slice: start, stop, step.
SLICE_FIELDS = (16, 24, 32)
#: A closure cell's content.
CELL_CONTENT = 16
#: A function's code, defaults and keyword defaults (null for None).
FUNCTION_PARTS = (48, 56, 64)
#: 3.11: the version tag of a dict, which changes with every change of the dict.
DICT_VERSION = 24
#: str: the hash.
STR_HASH = 24
#: A type: its flags, its allocator.
TYPE_FLAGS = 168
TYPE_ALLOC = 304
_SLOT_ALLOC = 47  # Py_tp_alloc, for PyType_GetSlot
#: ndarray.
ARRAY_DATA, ARRAY_NDIM, ARRAY_DIMS, ARRAY_STRIDES, ARRAY_BASE, ARRAY_DESCR, ARRAY_FLAGS = 16, 24, 32, 40, 48, 56, 64
#: dtype.
DESCR_BYTEORDER, DESCR_TYPE_NUM = 26, 28
#: Bits of the flags of an ndarray.
FLAG_C, FLAG_F, FLAG_ALIGNED, FLAG_WRITEABLE = 0x1, 0x2, 0x100, 0x400
#: The byte order character of arrays that are not native.
SWAPPED = ord(">") if sys.byteorder == "little" else ord("<")
#: The byte order character of native arrays of more than one byte an element.
NATIVE = ord("=")
#: None, True and False need no counting.
HAS_IMMORTALS = sys.version_info >= (3, 12)
#: A raised exception is one object, with its traceback in it.
ONE_RAISED_OBJECT = sys.version_info >= (3, 12)
#: Dicts have version tags (later versions have watchers instead).
VERSION_TAGS = sys.version_info < (3, 12)


def read(address: int, code: str) -> int | float:
    """The machine value at an address; `code` as in `struct`."""
    size = struct.calcsize(code)
    (value,) = struct.unpack(code, ctypes.string_at(address, size))
    return value


def _field(obj: object, offset: int, code: str = "Q") -> int | float:
    return read(id(obj) + offset, code)


def _check_numbers() -> Iterator[bool]:
    yield object.__basicsize__ == OBJECT_SIZE and struct.calcsize("P") == 8
    for value in (1234.5, 0.1 + 2j):
        yield _field(value, OBJECT_TYPE) == id(type(value))
    yield _field(1234.5, FLOAT_VALUE, "d") == 1234.5
    z = complex(1.25, -3.5)
    yield _field(z, COMPLEX_VALUE, "d") == 1.25 and _field(z, COMPLEX_VALUE + 8, "d") == -3.5
    for number in (0, 7, -7, 2**29, -(2**29), 2**30 - 1):
        tag, digit = int(_field(number, LONG_TAG, "q")), int(_field(number, LONG_DIGIT, "I"))
        if LONG_HAS_TAG:
            yield tag < 16 and (1 - (tag & 3)) * digit == number
        else:
            yield abs(tag) <= 1 and tag * digit == number
    for number in (2**30, -(2**30), 2**62, 2**90):
        tag = int(_field(number, LONG_TAG, "q"))
        yield tag >= 16 if LONG_HAS_TAG else abs(tag) > 1


def _check_containers() -> Iterator[bool]:
    items = (1.5, None, "x")
    yield _field(items, TUPLE_SIZE) == 3
    yield all(_field(items, TUPLE_ITEMS + 8 * i) == id(item) for i, item in enumerate(items))
    parts = slice(1000001, 1000002, 1000003)
    yield [_field(parts, offset) for offset in SLICE_FIELDS] == [id(parts.start), id(parts.stop), id(parts.step)]
    content = object()
    cell = _cell_of(content)
    yield _field(cell, CELL_CONTENT) == id(content)
    text = "quadrants" + str(len(items))
    expected = hash(text)  # computed on first use, then kept in the object
    yield _field(text, STR_HASH, "q") == expected
    yield _field(object, TYPE_FLAGS) == object.__flags__


def _cell_of(content: object) -> object:
    def inner() -> object:
        return content

    closure = inner.__closure__
    return closure[0] if closure else None


def _check_dicts() -> Iterator[bool]:
    if VERSION_TAGS:
        made: Callable[..., object] = lambda x=1, *, y=2: x  # noqa: E731
        parts = (made.__code__, made.__defaults__, made.__kwdefaults__)  # type: ignore[attr-defined]
        yield [_field(made, offset) for offset in FUNCTION_PARTS] == [*map(id, parts)]
        probe: dict[str, object] = {"a": 1}
        before = _field(probe, DICT_VERSION)
        yield _field(probe, DICT_VERSION) == before != 0
        probe["a"] = object()
        yield _field(probe, DICT_VERSION) != before


def _check_arrays() -> Iterator[bool]:
    a = np.arange(6, dtype="f8").reshape(2, 3)[:, ::2]
    yield _field(a, ARRAY_DATA) == a.ctypes.data and _field(a, ARRAY_NDIM, "i") == 2
    dims, strides = int(_field(a, ARRAY_DIMS)), int(_field(a, ARRAY_STRIDES))
    yield tuple(read(dims + 8 * i, "q") for i in range(2)) == a.shape
    yield tuple(read(strides + 8 * i, "q") for i in range(2)) == a.strides
    yield _field(a, ARRAY_DESCR) == id(a.dtype) and _field(a, ARRAY_BASE) == id(a.base)
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    unaligned = np.zeros(17, "u1")[1:].view("f8")
    for b in (a, readonly, unaligned, np.zeros((3, 3)).T, np.zeros(3), np.zeros(())):
        flags = int(_field(b, ARRAY_FLAGS, "i"))
        yield bool(flags & FLAG_C) == b.flags.c_contiguous and bool(flags & FLAG_F) == b.flags.f_contiguous
        yield bool(flags & FLAG_WRITEABLE) == b.flags.writeable and bool(flags & FLAG_ALIGNED) == b.flags.aligned
    for name in ("f8", "f4", "i8", "u2", ">f8", "?", "c16"):
        dtype = np.dtype(name)
        yield _field(dtype, DESCR_TYPE_NUM, "i") == dtype.num
        order = _field(dtype, DESCR_BYTEORDER, "B")
        yield (order == SWAPPED) == (not dtype.isnative) and (
            dtype.itemsize == 1 or (order == NATIVE) == dtype.isnative
        )


def _check_scalars() -> Iterator[bool]:
    get_slot = ctypes.pythonapi["PyType_GetSlot"]  # an own function object: its types are set for this use only
    get_slot.restype, get_slot.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_int)
    for code in "bBhHiIlLqQefdFD":
        scalar = np.dtype(code).type(3)
        raw = ctypes.string_at(id(scalar) + SCALAR_VALUE, scalar.dtype.itemsize)
        yield raw == scalar.tobytes() and _field(scalar, OBJECT_TYPE) == id(type(scalar))
        yield _field(type(scalar), TYPE_ALLOC) == get_slot(type(scalar), _SLOT_ALLOC)
        yield type(scalar).__basicsize__ >= SCALAR_VALUE + scalar.dtype.itemsize
    yield type(np.bool_(1)) is np.bool_ and np.bool_(1) is np.True_ and np.bool_(0) is np.False_


_CHECKS: tuple[Callable[[], Iterator[bool]], ...] = (
    _check_numbers,
    _check_containers,
    _check_dicts,
    _check_arrays,
    _check_scalars,
)


def refuse_subinterpreter() -> None:
    """Compiled code holds addresses of one interpreter's objects: ImportError in any but the main one."""
    this = ctypes.pythonapi["PyInterpreterState_Get"]
    number = ctypes.pythonapi["PyInterpreterState_GetID"]
    this.restype, number.restype, number.argtypes = ctypes.c_void_p, ctypes.c_int64, (ctypes.c_void_p,)
    if number(this()) != 0:
        from quadrants.diagnostics import UnsupportedPlatform  # only for the error: its module is slow to import

        text = "Quadrants cannot be imported into a subinterpreter"
        raise UnsupportedPlatform(Code.SUBINTERPRETER, text, hint="use threads or processes")


refuse_subinterpreter()


@functools.cache
def verified() -> bool:
    """Whether every offset holds in this process. The first check decides whether objects may be looked into at all."""
    if sys.implementation.name != "cpython" or sys.maxsize < 2**32 or sys.byteorder != "little":
        return False
    if object.__basicsize__ != OBJECT_SIZE or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    return all(holds for check in _CHECKS for holds in check())


@functools.cache
def scalars_are_plain() -> bool:
    """Whether a NumPy scalar is a block of PyObject_Malloc and nothing else, so that entries may make one in place.

    Seen from outside: as many blocks come with new scalars, and go with them, as there are scalars.
    """
    if hasattr(sys, "gettotalrefcount"):  # a debug build counts references that are made in place wrongly
        return False
    return any(_are_blocks((np.float64, np.float32, np.int64)) for _ in range(2))


def _are_blocks(classes: tuple[type, ...]) -> bool:
    """Whether a scalar of each class is one block. (To count the blocks takes longer than to make the scalars.)"""
    count, slack = 64, 8
    made: list[list[object]] = [[None] * count for _ in classes]
    counts = [sys.getallocatedblocks()]
    for cls, scalars in zip(classes, made):
        for index in range(count):
            scalars[index] = cls(1)
        counts.append(sys.getallocatedblocks())
    for scalars in made:
        for index in range(count):
            scalars[index] = None
    added = all(abs(after - before - count) < slack for before, after in itertools.pairwise(counts))
    return added and abs(sys.getallocatedblocks() - counts[0]) < slack


@functools.cache
def native_call_supported() -> bool:
    """Whether calls take the native path in this process."""
    return bool(config.get(config.Config.NATIVE_CALL)) and verified()


@functools.cache
def fingerprint() -> str:
    """What a cached object depends on besides the compiler and the processor."""
    version = ".".join(map(str, sys.version_info[:2]))
    numpy = ".".join(np.__version__.split(".")[:2])
    path = ("native" if scalars_are_plain() else "native-tp_alloc") if native_call_supported() else "ctypes"
    return f"{sys.implementation.cache_tag}-{version}-numpy{numpy}-{sys.platform}-{path}-{sys.abiflags}"
