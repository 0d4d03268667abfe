"""The LLVM text of the watcher of globals, of its counterpart for 3.11, of the stack limit, and of
polls without the GIL.

Part of the support module (see `support_ir`).
"""

from __future__ import annotations

from quadrants.host import layout
from quadrants.host.flags import WATCH_SLOT
from quadrants.lower.abi import CTX_STOP, CTX_THREAD, NO_POLLS

WATCH = f"""
@qd_watch_table = global ptr null

; Clears the valid words that depend on a part of a dict or a function.
define internal void @qd_clear(ptr %table, ptr %owner, i64 %hash) {{
entry:
  %mask = load i64, ptr %table
  %slots = getelementptr i8, ptr %table, i64 8
  %address = ptrtoint ptr %owner to i64
  %mixed = lshr i64 %address, 4
  %seed = xor i64 %hash, %mixed
  br label %probe
probe:
  %p = phi i64 [%seed, %entry], [%p1, %probe.next]
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
  %same.dict = icmp eq ptr %slot.dict, %owner
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
done:
  ret void
}}

; PyFunction_AddWatcher's callback: clears the valid words that depend on a function whose code or defaults change.
define i32 @qd_watch_function(i32 %event, ptr %function, ptr %value) {{
entry:
  %changed = icmp ugt i32 %event, 1
  br i1 %changed, label %look, label %done
look:
  %table = load ptr, ptr @qd_watch_table
  %nothing = icmp eq ptr %table, null
  br i1 %nothing, label %done, label %clear
clear:
  call void @qd_clear(ptr %table, ptr %function, i64 0)
  br label %done
done:
  ret i32 0
}}

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
  call void @qd_clear(ptr %table, ptr %dict, i64 %hash)
  ret i32 0
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

STACK = """
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

POLL = f"""
@qd_main_thread = global i64 0
@qd_last_poll = global i64 0
declare i64 @PyThread_get_thread_ident()
declare i64 @time(ptr)
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyEval_SaveThread()
declare i32 @PyErr_CheckSignals()

; A poll of a kernel that released the GIL: the main thread takes it once a second to look for signals; other threads never do.
; It keeps the GIL when an error is set. Gives 2 where a worker of the pool was told to stop.
define i32 @qd_poll(ptr %context) {{
entry:
  %at = getelementptr i8, ptr %context, i64 {CTX_THREAD}
  %thread = load ptr, ptr %at
  %word = ptrtoint ptr %thread to i64
  switch i64 %word, label %released [ i64 0, label %held i64 {NO_POLLS}, label %quiet ]
released:
  %this = call i64 @PyThread_get_thread_ident()
  %main = load i64, ptr @qd_main_thread
  %is.main = icmp eq i64 %this, %main
  br i1 %is.main, label %ask, label %quiet
ask:
  %now = call i64 @time(ptr null)
  %last = load i64, ptr @qd_last_poll
  %same = icmp eq i64 %now, %last
  br i1 %same, label %quiet, label %look
look:
  store i64 %now, ptr @qd_last_poll
  call void @PyEval_RestoreThread(ptr %thread)
  %status = call i32 @PyErr_CheckSignals()
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %leave, label %keep
leave:
  %again = call ptr @PyEval_SaveThread()
  ret i32 0
keep:
  store ptr null, ptr %at
  ret i32 %status
held:
  %found = call i32 @PyErr_CheckSignals()
  ret i32 %found
quiet:
  %stop.at = getelementptr i8, ptr %context, i64 {CTX_STOP}
  %stop = load ptr, ptr %stop.at
  %none = icmp eq ptr %stop, null
  br i1 %none, label %go.on, label %told
told:
  %word.now = load atomic i32, ptr %stop monotonic, align 4
  %stopped = icmp ne i32 %word.now, 0
  %answer = select i1 %stopped, i32 2, i32 0
  ret i32 %answer
go.on:
  ret i32 0
}}

; The end of such a kernel: takes the GIL, unless a poll kept it.
define void @qd_attach(ptr %context) {{
entry:
  %at = getelementptr i8, ptr %context, i64 {CTX_THREAD}
  %thread = load ptr, ptr %at
  %held = icmp eq ptr %thread, null
  br i1 %held, label %done, label %take
take:
  call void @PyEval_RestoreThread(ptr %thread)
  ret void
done:
  ret void
}}
"""
