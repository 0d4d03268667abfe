"""The LLVM text that boxes arrays, frees their memory, and keeps them from being resized.

Part of the support module (see `support_ir`).
"""

from __future__ import annotations

from quadrants.host import layout
from quadrants.host.flags import TRACE_DOMAIN
from quadrants.lower.abi import BLOCK_EXTRA, BLOCK_HEADER, BLOCK_NBYTES, BLOCK_RAW, BLOCK_REFCOUNT

ARRAYS = f"""
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
  %nbytes.at = getelementptr i8, ptr %owner, i64 {BLOCK_NBYTES}
  %nbytes = load i64, ptr %nbytes.at
  %size = add i64 %nbytes, {BLOCK_EXTRA}
  call void @qd_block_put(ptr %raw, i64 %size)
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
