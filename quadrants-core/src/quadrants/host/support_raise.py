"""The LLVM text that raises exceptions and calls from kernels into Python, through the handler of a specialisation.

Part of the support module (see `support_ir`).
"""

from __future__ import annotations

from quadrants.host import layout
from quadrants.lower.abi import CTX_HANDLER

#: Since 3.12 a raised exception is one object.
ONE_OBJECT = """
declare void @PyErr_SetRaisedException(ptr)
define void @qd_set_raised(ptr %exception) {
  call void @PyErr_SetRaisedException(ptr %exception)
  ret void
}
declare ptr @PyErr_GetRaisedException()
define internal ptr @take_raised() {
  %exception = call ptr @PyErr_GetRaisedException()
  ret ptr %exception
}
"""

#: Until 3.11 it is a type, a value and a traceback.
THREE_OBJECTS = f"""
declare ptr @PyException_GetTraceback(ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
define void @qd_set_raised(ptr %exception) {{
  %type.at = getelementptr i8, ptr %exception, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  call void @Py_IncRef(ptr %type)
  %traceback = call ptr @PyException_GetTraceback(ptr %exception)
  call void @PyErr_Restore(ptr %type, ptr %exception, ptr %traceback)
  ret void
}}
define internal ptr @take_raised() {{
entry:
  %type = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  call void @PyErr_Fetch(ptr %type, ptr %value, ptr %traceback)
  call void @PyErr_NormalizeException(ptr %type, ptr %value, ptr %traceback)
  %t = load ptr, ptr %type
  %v = load ptr, ptr %value
  %tb = load ptr, ptr %traceback
  %bare = icmp eq ptr %tb, null
  br i1 %bare, label %done, label %keep
keep:
  %set = call i32 @PyException_SetTraceback(ptr %v, ptr %tb)
  br label %done
done:
  call void @Py_DecRef(ptr %t)
  call void @Py_DecRef(ptr %tb)
  ret ptr %v
}}
"""

CALLBACKS = f"""
; The handler of a specialisation makes the exception: handler(status, context, error or None) -> exception.
define void @qd_raise(ptr %handler, i32 %status, ptr %context) noinline cold {{
entry:
  %pending = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %pending, null
  br i1 %clean, label %numbers, label %take
take:
  %raised = call ptr @take_raised()
  br label %numbers
numbers:
  %error = phi ptr [null, %entry], [%raised, %take]
  %status.wide = zext i32 %status to i64
  %status.object = call ptr @PyLong_FromUnsignedLongLong(i64 %status.wide)
  %context.object = call ptr @PyLong_FromVoidPtr(ptr %context)
  %no1 = icmp eq ptr %status.object, null
  %no2 = icmp eq ptr %context.object, null
  %no = or i1 %no1, %no2
  br i1 %no, label %cleanup, label %ask
ask:
  %args = alloca [3 x ptr]
  store ptr %status.object, ptr %args
  %args1 = getelementptr ptr, ptr %args, i64 1
  store ptr %context.object, ptr %args1
  %args2 = getelementptr ptr, ptr %args, i64 2
  %no.error = icmp eq ptr %error, null
  %error.object = select i1 %no.error, ptr @_Py_NoneStruct, ptr %error
  store ptr %error.object, ptr %args2
  %exception = call ptr @PyObject_Vectorcall(ptr %handler, ptr %args, i64 3, ptr null)
  %failed = icmp eq ptr %exception, null
  br i1 %failed, label %cleanup, label %set
set:
  call void @qd_set_raised(ptr %exception)
  br label %cleanup
cleanup:
  call void @Py_DecRef(ptr %status.object)
  call void @Py_DecRef(ptr %context.object)
  call void @Py_DecRef(ptr %error)
  ret void
}}

define internal ptr @call_with_numbers(ptr %handler, i64 %a, ptr %b) {{
entry:
  %a.object = call ptr @PyLong_FromUnsignedLongLong(i64 %a)
  %b.object = call ptr @PyLong_FromVoidPtr(ptr %b)
  %no1 = icmp eq ptr %a.object, null
  %no2 = icmp eq ptr %b.object, null
  %no = or i1 %no1, %no2
  br i1 %no, label %cleanup, label %ask
ask:
  %args = alloca [2 x ptr]
  store ptr %a.object, ptr %args
  %args1 = getelementptr ptr, ptr %args, i64 1
  store ptr %b.object, ptr %args1
  %answer = call ptr @PyObject_Vectorcall(ptr %handler, ptr %args, i64 2, ptr null)
  br label %cleanup
cleanup:
  %result = phi ptr [null, %entry], [%answer, %ask]
  call void @Py_DecRef(ptr %a.object)
  call void @Py_DecRef(ptr %b.object)
  ret ptr %result
}}

; A call from a kernel into Python: handler(site, buffer, context, error or None); see hostcall.py. An error that the kernel is
; handling is set aside for the call, and set again behind it unless the call fails.
define i32 @qd_hostcall(ptr %context, i32 %site, ptr %buffer) noinline {{
entry:
  %args = alloca [4 x ptr]
  %handler.at = getelementptr i8, ptr %context, i64 {CTX_HANDLER}
  %handler = load ptr, ptr %handler.at
  %wide = zext i32 %site to i64
  %pending = call ptr @PyErr_Occurred()
  %clean = icmp eq ptr %pending, null
  br i1 %clean, label %numbers, label %take
take:
  %raised = call ptr @take_raised()
  br label %numbers
numbers:
  %error = phi ptr [null, %entry], [%raised, %take]
  %site.object = call ptr @PyLong_FromUnsignedLongLong(i64 %wide)
  %buffer.object = call ptr @PyLong_FromVoidPtr(ptr %buffer)
  %context.object = call ptr @PyLong_FromVoidPtr(ptr %context)
  %no1 = icmp eq ptr %site.object, null
  %no2 = icmp eq ptr %buffer.object, null
  %no3 = icmp eq ptr %context.object, null
  %no12 = or i1 %no1, %no2
  %no = or i1 %no12, %no3
  br i1 %no, label %cleanup, label %ask
ask:
  store ptr %site.object, ptr %args
  %args1 = getelementptr ptr, ptr %args, i64 1
  store ptr %buffer.object, ptr %args1
  %args2 = getelementptr ptr, ptr %args, i64 2
  store ptr %context.object, ptr %args2
  %args3 = getelementptr ptr, ptr %args, i64 3
  %no.error = icmp eq ptr %error, null
  %error.object = select i1 %no.error, ptr @_Py_NoneStruct, ptr %error
  store ptr %error.object, ptr %args3
  %answer = call ptr @PyObject_Vectorcall(ptr %handler, ptr %args, i64 4, ptr null)
  br label %cleanup
cleanup:
  %result = phi ptr [null, %numbers], [%answer, %ask]
  call void @Py_DecRef(ptr %site.object)
  call void @Py_DecRef(ptr %buffer.object)
  call void @Py_DecRef(ptr %context.object)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %drop, label %fine
drop:
  call void @Py_DecRef(ptr %error)
  ret i32 65535
fine:
  call void @Py_DecRef(ptr %result)
  br i1 %clean, label %done, label %restore
restore:
  call void @qd_set_raised(ptr %error)
  br label %done
done:
  ret i32 0
}}

; A result that Python makes: handler(number, buffer of components) -> object; the number says which part of the result.
define ptr @qd_box_slow(ptr %handler, i64 %number, ptr %buffer) noinline {{
  %answer = call ptr @call_with_numbers(ptr %handler, i64 %number, ptr %buffer)
  ret ptr %answer
}}
"""
