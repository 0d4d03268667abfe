"""The LLVM text of the native functions that all entries share.

Takes the version of the interpreter (through `layout`); gives one small module: the tail of every chain (keyword permuter, then the
Python side), boxing of arrays, raising, calls back into Python, the watcher of globals, the stack limit. It is compiled once
and kept in the cache as an object like any other; what it knows of this process is in variables that `support` sets after loading.
"""

from __future__ import annotations

from quadrants.host import layout
from quadrants.host.flags import CANONICAL, COUNT_MASK, RETRIED
from quadrants.lower import runtime
from quadrants.lower.abi import BLOCK_HEADER, BLOCK_NBYTES, BLOCK_RAW, BLOCK_REFCOUNT, CTX_RESERVED

#: Offset of tp_vectorcall_offset in a type; checked when the first dispatcher type is made.
TYPE_VECTORCALL_OFFSET = 56
#: Where the dispatcher's word with its permutations is, from its vectorcall word.
PERMUTATIONS = 8
#: A permutation: next, kwnames, positional count, total count, then the argument numbers or addresses of defaults.
PERM_NEXT, PERM_NAMES, PERM_COUNT, PERM_TOTAL, PERM_VALUES = 0, 8, 16, 24, 32
#: Values of a permutation below this are argument numbers, the others addresses.
MAX_ARGUMENTS = 256
#: The domain under which tracemalloc sees array memory ("QD").
TRACE_DOMAIN = 0x5144
#: The watch table: a mask (slots - 1), then slots: dict (0: free), hash of the key, address of the valid word.
WATCH_SLOT = 24

_SET_RAISED_NEW = """
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

_SET_RAISED_OLD = f"""
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

assert RETRIED == CANONICAL << 1  # a canonical call that Python has dispatch again is a retried one

_TAIL = f"""
@qd_slow_name = global ptr null
@qd_retry_type = global ptr null
@qd_raise_type = global ptr null

define internal ptr @head_of(ptr %self) {{
  %type.at = getelementptr i8, ptr %self, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  %offset.at = getelementptr i8, ptr %type, i64 {TYPE_VECTORCALL_OFFSET}
  %offset = load i64, ptr %offset.at
  %word = getelementptr i8, ptr %self, i64 %offset
  ret ptr %word
}}

define internal i1 @same_names(ptr %a, ptr %b) {{
entry:
  %same = icmp eq ptr %a, %b
  br i1 %same, label %yes, label %differ
differ:
  %a.null = icmp eq ptr %a, null
  %b.null = icmp eq ptr %b, null
  %some = or i1 %a.null, %b.null
  br i1 %some, label %no, label %sizes
sizes:
  %a.size.at = getelementptr i8, ptr %a, i64 {layout.TUPLE_SIZE}
  %b.size.at = getelementptr i8, ptr %b, i64 {layout.TUPLE_SIZE}
  %a.size = load i64, ptr %a.size.at
  %b.size = load i64, ptr %b.size.at
  %equal = icmp eq i64 %a.size, %b.size
  br i1 %equal, label %loop, label %no
loop:
  %i = phi i64 [0, %sizes], [%i1, %step]
  %more = icmp slt i64 %i, %a.size
  br i1 %more, label %step, label %yes
step:
  %i1 = add i64 %i, 1
  %a.items = getelementptr i8, ptr %a, i64 {layout.TUPLE_ITEMS}
  %b.items = getelementptr i8, ptr %b, i64 {layout.TUPLE_ITEMS}
  %a.at = getelementptr ptr, ptr %a.items, i64 %i
  %b.at = getelementptr ptr, ptr %b.items, i64 %i
  %a.item = load ptr, ptr %a.at
  %b.item = load ptr, ptr %b.at
  %match = icmp eq ptr %a.item, %b.item
  br i1 %match, label %loop, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

; The arguments in the order of a permutation.
define internal void @permute(ptr %perm, ptr %args, ptr %buffer) {{
entry:
  %total.at = getelementptr i8, ptr %perm, i64 {PERM_TOTAL}
  %total = load i64, ptr %total.at
  %values = getelementptr i8, ptr %perm, i64 {PERM_VALUES}
  %end = getelementptr ptr, ptr %values, i64 %total
  br label %loop
loop:
  %from = phi ptr [%values, %entry], [%from1, %put]
  %to = phi ptr [%buffer, %entry], [%to1, %put]
  %done = icmp eq ptr %from, %end
  br i1 %done, label %return, label %put
put:
  %value = load i64, ptr %from
  %is.number = icmp ult i64 %value, {MAX_ARGUMENTS}
  %argument = getelementptr ptr, ptr %args, i64 %value
  %source = select i1 %is.number, ptr %argument, ptr %from
  %object = load ptr, ptr %source
  store ptr %object, ptr %to
  %from1 = getelementptr ptr, ptr %from, i64 1
  %to1 = getelementptr ptr, ptr %to, i64 1
  br label %loop
return:
  ret void
}}

; A permutation for names that are equal, but in another tuple: call sites have tuples of their own.
define internal ptr @find_equal(ptr %list, i64 %n, ptr %names) noinline {{
entry:
  br label %scan
scan:
  %node = phi ptr [%list, %entry], [%next, %advance]
  %end = icmp eq ptr %node, null
  br i1 %end, label %done, label %compare
compare:
  %count.at = getelementptr i8, ptr %node, i64 {PERM_COUNT}
  %count = load i64, ptr %count.at
  %fits = icmp eq i64 %count, %n
  br i1 %fits, label %compare.names, label %advance
compare.names:
  %names.at = getelementptr i8, ptr %node, i64 {PERM_NAMES}
  %node.names = load ptr, ptr %names.at
  %hit = call i1 @same_names(ptr %node.names, ptr %names)
  br i1 %hit, label %done, label %advance
advance:
  %next = load ptr, ptr %node
  br label %scan
done:
  ret ptr %node
}}

define ptr @qd_tail(ptr %self, ptr %args, i64 %nargsf, ptr %names) {{
entry:
  %n = and i64 %nargsf, {COUNT_MASK}
  %canonical.bit = and i64 %nargsf, {CANONICAL}
  %canonical = icmp ne i64 %canonical.bit, 0
  br i1 %canonical, label %slow, label %first
first:
  %type.at = getelementptr i8, ptr %self, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  %offset.at = getelementptr i8, ptr %type, i64 {TYPE_VECTORCALL_OFFSET}
  %offset = load i64, ptr %offset.at
  %head = getelementptr i8, ptr %self, i64 %offset
  %list.at = getelementptr i8, ptr %head, i64 {PERMUTATIONS}
  %list = load ptr, ptr %list.at
  br label %scan
scan:
  %node = phi ptr [%list, %first], [%next, %advance]
  %end = icmp eq ptr %node, null
  br i1 %end, label %unknown, label %compare
compare:
  %names.at = getelementptr i8, ptr %node, i64 {PERM_NAMES}
  %node.names = load ptr, ptr %names.at
  %very.names = icmp eq ptr %node.names, %names
  br i1 %very.names, label %compare.count, label %advance
compare.count:
  %count.at = getelementptr i8, ptr %node, i64 {PERM_COUNT}
  %count = load i64, ptr %count.at
  %fits = icmp eq i64 %count, %n
  br i1 %fits, label %permute, label %advance
advance:
  %next = load ptr, ptr %node
  br label %scan
unknown:
  %equal.node = call ptr @find_equal(ptr %list, i64 %n, ptr %names)
  %found = icmp ne ptr %equal.node, null
  br i1 %found, label %permute, label %slow
permute:
  %perm = phi ptr [%node, %compare.count], [%equal.node, %unknown]
  %total.at = getelementptr i8, ptr %perm, i64 {PERM_TOTAL}
  %total = load i64, ptr %total.at
  %buffer = alloca ptr, i64 %total
  call void @permute(ptr %perm, ptr %args, ptr %buffer)
  br label %go
go:
  %ordered = or i64 %total, {CANONICAL}
  %entry.code = load ptr, ptr %head
  %result = call ptr %entry.code(ptr %self, ptr %buffer, i64 %ordered, ptr null)
  ret ptr %result
slow:
  %answer = call ptr @ask_python(ptr %self, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %answer
}}

define internal ptr @ask_python(ptr %self, ptr %args, i64 %nargsf, ptr %names) noinline {{
entry:
  %n = and i64 %nargsf, {COUNT_MASK}
  %no.names = icmp eq ptr %names, null
  br i1 %no.names, label %counted, label %count.names
count.names:
  %size.at = getelementptr i8, ptr %names, i64 {layout.TUPLE_SIZE}
  %size = load i64, ptr %size.at
  br label %counted
counted:
  %keywords = phi i64 [0, %entry], [%size, %count.names]
  %given = add i64 %n, %keywords
  %all = add i64 %given, 4
  %bytes = shl i64 %all, 3
  %stack = call ptr @malloc(i64 %bytes)
  %failed = icmp eq ptr %stack, null
  br i1 %failed, label %no.memory, label %store
no.memory:
  %none = call ptr @PyErr_NoMemory()
  ret ptr null
store:
  store ptr %self, ptr %stack
  %canonical.bit = and i64 %nargsf, {CANONICAL}
  %canonical = icmp ne i64 %canonical.bit, 0
  %canonical.object = select i1 %canonical, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  %at1 = getelementptr ptr, ptr %stack, i64 1
  store ptr %canonical.object, ptr %at1
  %retried.bit = and i64 %nargsf, {RETRIED}
  %retried = icmp ne i64 %retried.bit, 0
  %retried.object = select i1 %retried, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  %at2 = getelementptr ptr, ptr %stack, i64 2
  store ptr %retried.object, ptr %at2
  %names.object = select i1 %no.names, ptr @_Py_NoneStruct, ptr %names
  %at3 = getelementptr ptr, ptr %stack, i64 3
  store ptr %names.object, ptr %at3
  %at4 = getelementptr ptr, ptr %stack, i64 4
  %given.bytes = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %at4, ptr %args, i64 %given.bytes, i1 false)
  %method = load ptr, ptr @qd_slow_name
  %answer = call ptr @PyObject_VectorcallMethod(ptr %method, ptr %stack, i64 %all, ptr null)
  call void @free(ptr %stack)
  %error = icmp eq ptr %answer, null
  br i1 %error, label %return, label %inspect
inspect:
  %type.at = getelementptr i8, ptr %answer, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  %items = getelementptr i8, ptr %answer, i64 {layout.TUPLE_ITEMS}
  %retry.type = load ptr, ptr @qd_retry_type
  %is.retry = icmp eq ptr %type, %retry.type
  br i1 %is.retry, label %again, label %inspect2
inspect2:
  %raise.type = load ptr, ptr @qd_raise_type
  %is.raise = icmp eq ptr %type, %raise.type
  br i1 %is.raise, label %raise, label %return
again:
  %count.at = getelementptr i8, ptr %answer, i64 {layout.TUPLE_SIZE}
  %count = load i64, ptr %count.at
  %again.bit = shl i64 %canonical.bit, 1
  %flags0 = or i64 %count, {CANONICAL}
  %flags = or i64 %flags0, %again.bit
  %head = call ptr @head_of(ptr %self)
  %code = load ptr, ptr %head
  %result = call ptr %code(ptr %self, ptr %items, i64 %flags, ptr null)
  call void @Py_DecRef(ptr %answer)
  ret ptr %result
raise:
  %exception = load ptr, ptr %items
  call void @Py_IncRef(ptr %exception)
  call void @Py_DecRef(ptr %answer)
  call void @qd_set_raised(ptr %exception)
  ret ptr null
return:
  ret ptr %answer
}}
"""

_CALLBACKS = f"""
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

; A call from a kernel into Python: handler(site, buffer); see hostcall.py.
define i32 @qd_hostcall(ptr %context, i32 %site, ptr %buffer) noinline {{
  %handler.at = getelementptr i8, ptr %context, i64 {CTX_RESERVED}
  %handler = load ptr, ptr %handler.at
  %wide = zext i32 %site to i64
  %answer = call ptr @call_with_numbers(ptr %handler, i64 %wide, ptr %buffer)
  %failed = icmp eq ptr %answer, null
  call void @Py_DecRef(ptr %answer)
  %status = select i1 %failed, i32 65535, i32 0
  ret i32 %status
}}

; A result that Python makes: handler(number, buffer of components) -> object; the number says which part of the result.
define ptr @qd_box_slow(ptr %handler, i64 %number, ptr %buffer) noinline {{
  %answer = call ptr @call_with_numbers(ptr %handler, i64 %number, ptr %buffer)
  ret ptr %answer
}}
"""

_ARRAYS = f"""
@qd_buffer_type = global ptr null

; NumPy refuses to resize an array that has a weak reference. Without memory for one, the call goes on.
define ptr @qd_pin(ptr %array) {{
entry:
  %nothing = icmp eq ptr %array, null
  br i1 %nothing, label %done, label %hold
hold:
  %made = call ptr @PyWeakref_NewRef(ptr %array, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %clear, label %done
clear:
  call void @PyErr_Clear()
  br label %done
done:
  %pin = phi ptr [null, %entry], [%made, %hold], [null, %clear]
  ret ptr %pin
}}

; Give up a reference to a block; other owners are not ours.
define void @qd_release_owner(ptr %owner) {{
entry:
  %bits = ptrtoint ptr %owner to i64
  %tag = and i64 %bits, 1
  %is.none = icmp eq ptr %owner, null
  %is.tagged = icmp ne i64 %tag, 0
  %foreign = or i1 %is.none, %is.tagged
  br i1 %foreign, label %done, label %drop
drop:
  %count.at = getelementptr i8, ptr %owner, i64 {BLOCK_REFCOUNT}
  %count = load i64, ptr %count.at
  %left = sub i64 %count, 1
  store i64 %left, ptr %count.at
  %last = icmp eq i64 %left, 0
  br i1 %last, label %release, label %done
release:
  %data = getelementptr i8, ptr %owner, i64 {BLOCK_HEADER}
  %data.bits = ptrtoint ptr %data to i64
  %untracked = call i32 @PyTraceMalloc_Untrack(i32 {TRACE_DOMAIN}, i64 %data.bits)
  %raw.at = getelementptr i8, ptr %owner, i64 {BLOCK_RAW}
  %raw = load ptr, ptr %raw.at
  call void @free(ptr %raw)
  %live = load i64, ptr @qd_live_blocks
  %live1 = sub i64 %live, 1
  store i64 %live1, ptr @qd_live_blocks
  br label %done
done:
  ret void
}}

define void @qd_buffer_dealloc(ptr %self) {{
  %block.at = getelementptr i8, ptr %self, i64 {layout.OBJECT_SIZE}
  %block = load ptr, ptr %block.at
  call void @qd_release_owner(ptr %block)
  %type.at = getelementptr i8, ptr %self, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  call void @PyObject_Free(ptr %self)
  call void @Py_DecRef(ptr %type)
  ret void
}}

define internal i1 @same_words(ptr %a, ptr %b, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %step]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %step, label %yes
step:
  %i1 = add i64 %i, 1
  %a.at = getelementptr i64, ptr %a, i64 %i
  %b.at = getelementptr i64, ptr %b, i64 %i
  %a.word = load i64, ptr %a.at
  %b.word = load i64, ptr %b.at
  %match = icmp eq i64 %a.word, %b.word
  br i1 %match, label %loop, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

; Whether an ndarray is this very view: then returning it returns the object.
define internal i1 @is_this_array(ptr %object, ptr %data, ptr %dims, ptr %strides, i32 %ndim, i32 %number, i32 %alias) {{
entry:
  %data.at = getelementptr i8, ptr %object, i64 {layout.ARRAY_DATA}
  %object.data = load ptr, ptr %data.at
  %same.data = icmp eq ptr %object.data, %data
  br i1 %same.data, label %rank, label %no
rank:
  %ndim.at = getelementptr i8, ptr %object, i64 {layout.ARRAY_NDIM}
  %object.ndim = load i32, ptr %ndim.at
  %same.ndim = icmp eq i32 %object.ndim, %ndim
  br i1 %same.ndim, label %dtype, label %no
dtype:
  %descr.at = getelementptr i8, ptr %object, i64 {layout.ARRAY_DESCR}
  %descr = load ptr, ptr %descr.at
  %number.at = getelementptr i8, ptr %descr, i64 {layout.DESCR_TYPE_NUM}
  %object.number = load i32, ptr %number.at
  %is.number = icmp eq i32 %object.number, %number
  %is.alias = icmp eq i32 %object.number, %alias
  %same.dtype = or i1 %is.number, %is.alias
  br i1 %same.dtype, label %shape, label %no
shape:
  %n = zext i32 %ndim to i64
  %dims.at = getelementptr i8, ptr %object, i64 {layout.ARRAY_DIMS}
  %object.dims = load ptr, ptr %dims.at
  %same.dims = call i1 @same_words(ptr %object.dims, ptr %dims, i64 %n)
  br i1 %same.dims, label %steps, label %no
steps:
  %strides.at = getelementptr i8, ptr %object, i64 {layout.ARRAY_STRIDES}
  %object.strides = load ptr, ptr %strides.at
  %same.strides = call i1 @same_words(ptr %object.strides, ptr %strides, i64 %n)
  ret i1 %same.strides
no:
  ret i1 false
}}

; An array result as an object. Takes over the owner's reference, also on failure (null, with an error set).
; `number` is NumPy's type number, `alias` another one of the same layout, `flags` 0 or WRITEABLE.
define ptr @qd_box_array(ptr %data, ptr %owner, ptr %dims, ptr %strides, i32 %ndim, i32 %number, i32 %alias, i32 %flags) {{
entry:
  %bits = ptrtoint ptr %owner to i64
  %tag = and i64 %bits, 1
  %is.tagged = icmp ne i64 %tag, 0
  br i1 %is.tagged, label %borrowed, label %fresh
borrowed:
  %object = getelementptr i8, ptr %owner, i64 -1
  %same = call i1 @is_this_array(ptr %object, ptr %data, ptr %dims, ptr %strides, i32 %ndim, i32 %number, i32 %alias)
  br i1 %same, label %itself, label %view
itself:
  call void @Py_IncRef(ptr %object)
  ret ptr %object
view:
  %flags.at = getelementptr i8, ptr %object, i64 {layout.ARRAY_FLAGS}
  %object.flags = load i32, ptr %flags.at
  %view.flags = and i32 %flags, %object.flags
  call void @Py_IncRef(ptr %object)
  br label %make
fresh:
  %is.none = icmp eq ptr %owner, null
  br i1 %is.none, label %make, label %wrap
wrap:
  %type = load ptr, ptr @qd_buffer_type
  %buffer = call ptr @_PyObject_New(ptr %type)
  %no.buffer = icmp eq ptr %buffer, null
  br i1 %no.buffer, label %release, label %fill
release:
  call void @qd_release_owner(ptr %owner)
  ret ptr null
fill:
  %block.at = getelementptr i8, ptr %buffer, i64 {layout.OBJECT_SIZE}
  store ptr %owner, ptr %block.at
  %block.data = getelementptr i8, ptr %owner, i64 {BLOCK_HEADER}
  %block.bits = ptrtoint ptr %block.data to i64
  %nbytes.at = getelementptr i8, ptr %owner, i64 {BLOCK_NBYTES}
  %nbytes = load i64, ptr %nbytes.at
  %tracked = call i32 @PyTraceMalloc_Track(i32 {TRACE_DOMAIN}, i64 %block.bits, i64 %nbytes)
  br label %make
make:
  %base = phi ptr [%object, %view], [null, %fresh], [%buffer, %fill]
  %array.flags = phi i32 [%view.flags, %view], [%flags, %fresh], [%flags, %fill]
  %descr = call ptr @PyArray_DescrFromType(i32 %number)
  %array = call ptr @PyArray_NewFromDescr(
    ptr @qd_ndarray, ptr %descr, i32 %ndim, ptr %dims, ptr %strides, ptr %data, i32 %array.flags, ptr null)
  %no.array = icmp eq ptr %array, null
  br i1 %no.array, label %failed, label %attach
failed:
  call void @Py_DecRef(ptr %base)
  ret ptr null
attach:
  %no.base = icmp eq ptr %base, null
  br i1 %no.base, label %done, label %attach.base
attach.base:
  %set = call i32 @PyArray_SetBaseObject(ptr %array, ptr %base)
  %bad = icmp slt i32 %set, 0
  br i1 %bad, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %array)
  ret ptr null
done:
  ret ptr %array
}}
"""

_WATCH = f"""
@qd_watch_table = global ptr null

; PyDict_Watch's callback: clears the valid words that depend on the changed name; all of the dict's if no name is known.
define i32 @qd_watch(i32 %event, ptr %dict, ptr %key, ptr %value) {{
entry:
  %table = load ptr, ptr @qd_watch_table
  %nothing = icmp eq ptr %table, null
  br i1 %nothing, label %done, label %start
start:
  %mask = load i64, ptr %table
  %slots = getelementptr i8, ptr %table, i64 8
  %named = icmp ult i32 %event, 3
  %has.key = icmp ne ptr %key, null
  %one = and i1 %named, %has.key
  br i1 %one, label %typed, label %all
typed:
  %type.at = getelementptr i8, ptr %key, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  %is.str = icmp eq ptr %type, @PyUnicode_Type
  br i1 %is.str, label %hashed, label %all
hashed:
  %hash.at = getelementptr i8, ptr %key, i64 {layout.STR_HASH}
  %hash = load i64, ptr %hash.at
  %address = ptrtoint ptr %dict to i64
  %mixed = lshr i64 %address, 4
  %seed = xor i64 %hash, %mixed
  br label %probe
probe:
  %p = phi i64 [%seed, %hashed], [%p1, %probe.next]
  %index = and i64 %p, %mask
  %offset = mul i64 %index, {WATCH_SLOT}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %slot.dict = load ptr, ptr %slot
  %empty = icmp eq ptr %slot.dict, null
  br i1 %empty, label %done, label %probe.compare
probe.compare:
  %slot.hash.at = getelementptr i8, ptr %slot, i64 8
  %slot.hash = load i64, ptr %slot.hash.at
  %same.hash = icmp eq i64 %slot.hash, %hash
  %same.dict = icmp eq ptr %slot.dict, %dict
  %match = and i1 %same.hash, %same.dict
  br i1 %match, label %probe.clear, label %probe.next
probe.clear:
  %word.at = getelementptr i8, ptr %slot, i64 16
  %word = load ptr, ptr %word.at
  store i64 0, ptr %word
  br label %probe.next
probe.next:
  %p1 = add i64 %p, 1
  br label %probe
all:
  %a = phi i64 [0, %start], [0, %typed], [%a1, %all.next]
  %a.offset = mul i64 %a, {WATCH_SLOT}
  %a.slot = getelementptr i8, ptr %slots, i64 %a.offset
  %a.dict = load ptr, ptr %a.slot
  %a.match = icmp eq ptr %a.dict, %dict
  br i1 %a.match, label %all.clear, label %all.next
all.clear:
  %a.word.at = getelementptr i8, ptr %a.slot, i64 16
  %a.word = load ptr, ptr %a.word.at
  store i64 0, ptr %a.word
  br label %all.next
all.next:
  %a1 = add i64 %a, 1
  %a.end = icmp ugt i64 %a1, %mask
  br i1 %a.end, label %done, label %all
done:
  ret i32 0
}}

; 3.11: the version of a dict changed; whether what the entry depends on did. The table: (dict, version) * ndicts, n,
; (dict, key, value) * n. An absent name is a null value.
define i32 @qd_revalidate(ptr %table, i64 %ndicts) {{
entry:
  %pairs = shl i64 %ndicts, 4
  %count.at = getelementptr i8, ptr %table, i64 %pairs
  %count = load i64, ptr %count.at
  %names = getelementptr i8, ptr %count.at, i64 8
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %check]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %check, label %update
check:
  %i1 = add i64 %i, 1
  %offset = mul i64 %i, 24
  %row = getelementptr i8, ptr %names, i64 %offset
  %dict = load ptr, ptr %row
  %key.at = getelementptr i8, ptr %row, i64 8
  %key = load ptr, ptr %key.at
  %value.at = getelementptr i8, ptr %row, i64 16
  %value = load ptr, ptr %value.at
  %found = call ptr @PyDict_GetItemWithError(ptr %dict, ptr %key)
  %same = icmp eq ptr %found, %value
  br i1 %same, label %loop, label %changed
update:
  %j = phi i64 [0, %loop], [%j1, %refresh]
  %updating = icmp slt i64 %j, %ndicts
  br i1 %updating, label %refresh, label %fine
refresh:
  %j1 = add i64 %j, 1
  %pair.offset = shl i64 %j, 4
  %pair = getelementptr i8, ptr %table, i64 %pair.offset
  %watched = load ptr, ptr %pair
  %version.at = getelementptr i8, ptr %watched, i64 {layout.DICT_VERSION}
  %version = load i64, ptr %version.at
  %stored.at = getelementptr i8, ptr %pair, i64 8
  store i64 %version, ptr %stored.at
  br label %update
fine:
  ret i32 1
changed:
  ret i32 0
}}
"""

_STACK = """
@qd_main_low = global i64 0
@qd_main_high = global i64 0
@qd_main_limit = global i64 0
@qd_other_limit = global ptr null

; The lowest frame address for a recursive kernel on this thread's stack.
define i64 @qd_stack_limit(ptr %frame) {
entry:
  %at = ptrtoint ptr %frame to i64
  %low = load i64, ptr @qd_main_low
  %high = load i64, ptr @qd_main_high
  %above = icmp uge i64 %at, %low
  %below = icmp ult i64 %at, %high
  %main = and i1 %above, %below
  br i1 %main, label %known, label %ask
known:
  %limit = load i64, ptr @qd_main_limit
  ret i64 %limit
ask:
  %function = load ptr, ptr @qd_other_limit
  %other = call i64 %function()
  ret i64 %other
}
"""

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
    raising = _SET_RAISED_NEW if layout.ONE_RAISED_OBJECT else _SET_RAISED_OLD
    return "".join((_DECLARATIONS, raising, _TAIL, _CALLBACKS, _ARRAYS, _WATCH, _STACK, runtime.definitions()))
