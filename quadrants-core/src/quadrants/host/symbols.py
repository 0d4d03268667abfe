"""The external symbols that compiled code may use, and nothing else.

Takes a name; gives its address in this process. Each group says where its names come from; a name in none of them raises
`UndefinedSymbol`, before anything is loaded. Addresses are looked up on first use and never baked into objects, so that
these can be cached.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np


class UndefinedSymbol(LookupError):
    """Compiled code refers to a symbol that it may not use, or that this system does not have."""

    def __init__(self, name: str, reason: str = "is not one that compiled code may use") -> None:
        super().__init__(f"the symbol {name!r} {reason}")
        self.name = name


_LIBC = frozenset("malloc calloc realloc free memcpy memmove memset memcmp bcmp strlen time".split())

#: Names that differ from the standard's on this system.
_ALIASES: Mapping[str, str] = MappingProxyType({"time": "_time64"} if sys.platform == "win32" else {})

_LIBM_STEMS = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p cbrt erf erfc tgamma "
    "lgamma floor ceil trunc rint nearbyint round roundeven sqrt fabs pow atan2 hypot copysign nextafter fmin fmax fmod "
    "remainder fma ldexp frexp modf sincos scalbn logb ilogb fdim lround llround lrint llrint"
).split()
_LIBM = frozenset(stem + suffix for stem in _LIBM_STEMS for suffix in ("", "f"))

#: What the thread pool asks of the system: each system has some of these.
_THREADS = frozenset(
    (
        "syscall pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize pthread_attr_setdetachstate pthread_create "
        "pthread_sigmask clock_gettime __ulock_wait __ulock_wake WaitOnAddress WakeByAddressSingle WakeByAddressAll "
        "CreateThread CloseHandle QueryPerformanceCounter QueryPerformanceFrequency"
    ).split()
)

_COMPILER_RT = frozenset(
    (
        "__udivti3 __umodti3 __divti3 __modti3 __multi3 __ashlti3 __ashrti3 __lshrti3 __floattidf __floattisf __floatuntidf "
        "__floatuntisf __fixdfti __fixsfti __fixunsdfti __fixunssfti __extendhfsf2 __extendhfdf2 __truncdfhf2 __truncsfhf2 "
        "__powidf2 __powisf2 __muldc3 __mulsc3 __divdc3 __divsc3 __popcountdi2 __clzdi2 __ctzdi2 __clzti2 __ctzti2 "
        "__divdi3 __moddi3 __udivdi3 __umoddi3 __udivmodti4 __divmodti4"
    ).split()
)

_PYTHON = frozenset(
    (
        "PyFloat_Type PyLong_Type PyBool_Type PyComplex_Type PyTuple_Type PyUnicode_Type PySlice_Type PyDict_Type "
        "_Py_NoneStruct _Py_TrueStruct _Py_FalseStruct "
        "PyFloat_FromDouble PyLong_FromLongLong PyLong_FromUnsignedLongLong PyLong_FromVoidPtr PyBool_FromLong "
        "PyComplex_FromDoubles PyLong_AsLongLongAndOverflow "
        "PyTuple_New PyObject_RichCompareBool PyObject_Vectorcall PyObject_VectorcallMethod "
        "PyUnicode_CompareWithASCIIString PyObject_CallObject PyObject_Malloc PyObject_Free "
        "PyDict_GetItemWithError _PyObject_New PyWeakref_NewRef "
        "PyErr_Occurred PyErr_Clear PyErr_CheckSignals PyErr_ExceptionMatches PyErr_Fetch PyErr_Restore PyErr_NormalizeException "
        "PyErr_GetRaisedException PyErr_SetRaisedException PyErr_NoMemory PyErr_SetString PyException_GetTraceback "
        "PyException_SetTraceback Py_IncRef Py_DecRef _Py_Dealloc "
        "PyEval_SaveThread PyEval_RestoreThread PyGILState_Ensure PyGILState_Release PyGILState_Check PyThread_get_thread_ident "
        "PyTraceMalloc_Track PyTraceMalloc_Untrack"
    ).split()
)

#: The interpreter exports its exception classes as variables of this name.
_EXCEPTION_PREFIX = "PyExc_"

#: NumPy's C API: the index in the table behind `_ARRAY_API` (fixed by its ABI).
_NUMPY: Mapping[str, int] = MappingProxyType(
    {
        "PyArray_DescrFromType": 45,
        "PyArray_NewFromDescr": 94,
        "PyArray_SetBaseObject": 282,
    }
)

#: NumPy scalar types by the name that entries use for them, `qd_np_<name>`.
_SCALAR_CODES = MappingProxyType(
    {
        **{f"{'iu'[c.isupper()]}_{c}": c for c in "bBhHiIlLqQ"},
        "f16": "e",
        "f32": "f",
        "f64": "d",
        "c64": "F",
        "c128": "D",
        "bool": "?",
    }
)

_OBJECTS: Mapping[str, Callable[[], object]] = MappingProxyType(
    {
        "qd_ndarray": lambda: np.ndarray,
        "qd_np_true": lambda: np.True_,
        "qd_np_false": lambda: np.False_,
        **{
            f"qd_np_{name}": functools.partial(lambda code: np.dtype(code).type, code)
            for name, code in _SCALAR_CODES.items()
        },
    }
)

#: How many blocks of array memory are alive (every module counts here).
_live_blocks = ctypes.c_int64(0)

_RUNTIME: Mapping[str, int] = MappingProxyType({"qd_live_blocks": ctypes.addressof(_live_blocks)})


def count_blocks(more: int) -> None:
    """Add to the number of blocks that are alive what a context has counted."""
    _live_blocks.value += more


def live_blocks() -> int:
    """How many blocks of array memory are alive in this process."""
    return _live_blocks.value


@functools.cache
def resolve(name: str) -> int:
    """The address of a symbol. Raises `UndefinedSymbol`."""
    if name in _RUNTIME:
        return _RUNTIME[name]
    if name in _OBJECTS:
        return id(_OBJECTS[name]())
    if name in _PYTHON or name.startswith(_EXCEPTION_PREFIX):
        return _in_library(name, (ctypes.pythonapi,))
    if name in _NUMPY:
        return int(ctypes.c_size_t.from_address(_numpy_table() + 8 * _NUMPY[name]).value)
    if name in _LIBM:
        return _in_library(name, _math_libraries())
    if name in _LIBC:
        return _in_library(_ALIASES.get(name, name), _c_libraries())
    if name in _COMPILER_RT:
        return _in_library(name, _compiler_libraries())
    if name in _THREADS:
        return _in_library(name, _thread_libraries())
    if name.startswith("qd_pool"):
        from quadrants.host import threads  # loaded with the first parallel code

        return threads.address_of(name)
    if name.startswith("qd_contract"):
        from quadrants.host import contractions  # loaded with the first code that has one

        return contractions.address_of(name)
    if name.startswith("qd_"):
        from quadrants.host import support  # made of compiled code itself, which is resolved through this function

        return support.address_of(name)
    raise UndefinedSymbol(name)


def _in_library(name: str, libraries: tuple[ctypes.CDLL, ...]) -> int:
    for library in libraries:
        try:
            return ctypes.addressof(
                ctypes.c_char.in_dll(library, name)
            )  # of a function too, and quicker than to make one
        except ValueError:
            continue
    raise UndefinedSymbol(name, "is not provided by this system")


@functools.cache
def _c_libraries() -> tuple[ctypes.CDLL, ...]:
    return (ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None),)


@functools.cache
def _math_libraries() -> tuple[ctypes.CDLL, ...]:
    """The libm that the interpreter uses first, as `math` does."""
    if sys.platform.startswith("linux"):
        try:
            return (*_c_libraries(), ctypes.CDLL("libm.so.6"))
        except OSError:  # another libc: the functions are in it, or found by name
            from ctypes.util import find_library  # slow to import, and hardly ever needed

            name = find_library("m")
            return (*_c_libraries(), *((ctypes.CDLL(name),) if name else ()))
    return _c_libraries()


@functools.cache
def _thread_libraries() -> tuple[ctypes.CDLL, ...]:
    if sys.platform == "win32":
        return (ctypes.CDLL("kernel32"), ctypes.CDLL("kernelbase"))
    return (*_c_libraries(), *((ctypes.CDLL("libpthread.so.0"),) if _has_libpthread() else ()))


def _has_libpthread() -> bool:
    """Whether threads are in a library of their own: in the GNU libc until 2.33."""
    return sys.platform.startswith("linux") and not hasattr(_c_libraries()[0], "pthread_attr_setstacksize")


@functools.cache
def _compiler_libraries() -> tuple[ctypes.CDLL, ...]:
    """Where compiler-rt's builtins are found: libgcc's shared part, or the system library (macOS)."""
    libraries = []
    for name in ("libgcc_s.so.1", "libSystem.dylib", "libgcc_s_seh-1.dll"):
        try:
            libraries.append(ctypes.CDLL(name))
        except OSError:
            continue
    return tuple(libraries)


@functools.cache
def _numpy_table() -> int:
    """Where NumPy's C API is: a table of addresses."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.pythonapi["PyCapsule_GetPointer"]
    get.restype, get.argtypes = ctypes.c_size_t, (ctypes.py_object, ctypes.c_char_p)
    return int(get(_multiarray_umath._ARRAY_API, None))
