"""The LLVM text of the native functions that all entries share.

Takes the version of the interpreter (through `layout`); gives one small module: the tail of every chain, boxing of arrays, raising,
calls back into Python, the watcher of globals, the stack limit, polls, the runtime functions of lowered code. It is compiled once
and kept in the cache as an object like any other; what it knows of this process is in variables that `support` sets after
loading.
"""

from __future__ import annotations

from quadrants.host import layout, support_call, support_memory, support_raise, support_watch
from quadrants.lower import runtime

_DECLARATIONS = """
@_Py_NoneStruct = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8
@PyUnicode_Type = external global i8
@qd_ndarray = external global i8
@qd_live_blocks = external global i64
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @calloc(i64, i64)
declare void @PyErr_Clear()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyErr_NoMemory()
declare ptr @PyWeakref_NewRef(ptr, ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyLong_FromUnsignedLongLong(i64)
declare ptr @PyLong_FromVoidPtr(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)
declare void @PyObject_Free(ptr)
declare ptr @_PyObject_New(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyArray_DescrFromType(i32)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare i32 @PyTraceMalloc_Track(i32, i64, i64)
declare i32 @PyTraceMalloc_Untrack(i32, i64)
"""


def text() -> str:
    """The module for the running interpreter."""
    raising = support_raise.ONE_OBJECT if layout.ONE_RAISED_OBJECT else support_raise.THREE_OBJECTS
    parts = (
        _DECLARATIONS,
        raising,
        support_call.TAIL,
        support_raise.CALLBACKS,
        support_memory.ARRAYS,
        support_watch.WATCH,
        support_watch.STACK,
        support_watch.POLL,
        runtime.definitions(),
    )
    return "".join(parts)
