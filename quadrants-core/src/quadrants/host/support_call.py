"""The LLVM text of the tail of every chain of entries: keywords and defaults in canonical order, then the Python side.

Part of the support module (see `support_ir`).
"""

from __future__ import annotations

from quadrants.host import layout
from quadrants.host.flags import (
    CANONICAL,
    COUNT_MASK,
    MAX_ARGUMENTS,
    PERM_COUNT,
    PERM_NAMES,
    PERM_TOTAL,
    PERM_VALUES,
    PERMUTATIONS,
    RETRIED,
    TYPE_VECTORCALL_OFFSET,
)

assert RETRIED == CANONICAL << 1  # a canonical call that Python has dispatch again is a retried one

TAIL = f"""
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

; A permutation for names that are equal, but in another tuple: call sites have tuples of their own. It takes the tuple over.
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
  br i1 %hit, label %exchange, label %advance
exchange:
  call void @Py_IncRef(ptr %names)
  store ptr %names, ptr %names.at
  call void @Py_DecRef(ptr %node.names)
  br label %done
advance:
  %next = load ptr, ptr %node
  br label %scan
done:
  %found = phi ptr [null, %scan], [%node, %exchange]
  ret ptr %found
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
