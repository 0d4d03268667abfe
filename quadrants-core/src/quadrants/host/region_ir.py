"""The LLVM text of what the chunks of a parallel loop do around its body: their contexts, and the exceptions that they raise.

Part of the pool's module (see `pool_ir`). A loop's region has the frame that `lower.abi` lays out.
"""

from __future__ import annotations

from quadrants.host.pool_layout import LIMITS, at
from quadrants.lower import abi

REGION = f"""
; The context of a chunk: that of the kernel for the thread that began the region, else a new one, in `local`.
define ptr @qd_pool_context(ptr %frame, i32 %worker, ptr %local) {{
entry:
  %owner.at = getelementptr i8, ptr %frame, i64 {abi.REGION_WORKER}
  %owner = load i32, ptr %owner.at
  %context.at = getelementptr i8, ptr %frame, i64 {abi.REGION_CONTEXT}
  %context = load ptr, ptr %context.at
  %own = icmp eq i32 %worker, %owner
  br i1 %own, label %same, label %new
same:
  ret ptr %context
new:
  store i64 0, ptr %local
  %self.from = getelementptr i8, ptr %context, i64 {abi.CTX_SELF}
  %self = load ptr, ptr %self.from
  %self.at = getelementptr i8, ptr %local, i64 {abi.CTX_SELF}
  store ptr %self, ptr %self.at
{at("limits", LIMITS)}
  %number = zext i32 %worker to i64
  %limit.from = getelementptr i64, ptr %limits, i64 %number
  %limit = load i64, ptr %limit.from
  %limit.at = getelementptr i8, ptr %local, i64 {abi.CTX_STACK_LIMIT}
  store i64 %limit, ptr %limit.at
  %lowest.at = getelementptr i8, ptr %local, i64 {abi.CTX_STACK_LOWEST}
  store i64 %limit, ptr %lowest.at
  %thread.at = getelementptr i8, ptr %local, i64 {abi.CTX_THREAD}
  store i64 {abi.NO_POLLS}, ptr %thread.at
  %stop.at = getelementptr i8, ptr %local, i64 {abi.CTX_STOP}
  store ptr %frame, ptr %stop.at
  %worker.at = getelementptr i8, ptr %local, i64 {abi.CTX_WORKER}
  store i32 %worker, ptr %worker.at
  %kept.at = getelementptr i8, ptr %local, i64 {abi.CTX_KEPT}
  store ptr null, ptr %kept.at
  %live.at = getelementptr i8, ptr %local, i64 {abi.CTX_LIVE}
  store i64 0, ptr %live.at
  ret ptr %local
}}

; A chunk is over: what a context of its own has counted is added up.
@qd_live_blocks = external global i64
define void @qd_pool_done(ptr %local, ptr %context) {{
entry:
  %own = icmp eq ptr %local, %context
  br i1 %own, label %add, label %done
add:
  %live.at = getelementptr i8, ptr %local, i64 {abi.CTX_LIVE}
  %live = load i64, ptr %live.at
  %none = icmp eq i64 %live, 0
  br i1 %none, label %done, label %count
count:
  %before = atomicrmw add ptr @qd_live_blocks, i64 %live monotonic
  br label %done
done:
  ret void
}}

; A chunk that begins at `lo` raised. The first one, in the order of the loop, is kept; an error that is set in the interpreter
; is kept above all.
define i32 @qd_pool_failed(ptr %frame, ptr %context, i32 %status, i64 %lo) noinline cold {{
entry:
  %class = and i32 %status, {abi.CLASS_MASK}
  %stopped = icmp eq i32 %class, {abi.STOPPED}
  br i1 %stopped, label %ends, label %lock
lock:
  %lock.at = getelementptr i8, ptr %frame, i64 {abi.REGION_LOCK}
  %swap = cmpxchg ptr %lock.at, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %swap, 1
  br i1 %mine, label %compare, label %spin
spin:
  call void @qd_os_pause()
  br label %lock
compare:
  %python = icmp eq i32 %class, {abi.PYTHON_ERROR}
  %status.at = getelementptr i8, ptr %frame, i64 {abi.REGION_STATUS}
  %kept = load i32, ptr %status.at
  %kept.class = and i32 %kept, {abi.CLASS_MASK}
  %kept.python = icmp eq i32 %kept.class, {abi.PYTHON_ERROR}
  %ordinary = xor i1 %kept.python, true
  %first.at = getelementptr i8, ptr %frame, i64 {abi.REGION_FIRST}
  %first = load i64, ptr %first.at
  %earlier = icmp slt i64 %lo, %first
  %better = and i1 %earlier, %ordinary
  %takes = or i1 %better, %python
  br i1 %takes, label %keep, label %unlock
keep:
  store i32 %status, ptr %status.at
  store i64 %lo, ptr %first.at
  %slot = lshr i32 %status, {abi.RECORD_SHIFT}
  %record = call ptr @qd_pool_record(ptr %context, i32 %slot)
  %copy = getelementptr i8, ptr %frame, i64 {abi.REGION_RECORD}
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %record, i64 {abi.RECORD_BYTES}, i1 false)
  %length.from = getelementptr i8, ptr %context, i64 {abi.CTX_TB_LEN}
  %length = load i32, ptr %length.from
  %length.at = getelementptr i8, ptr %frame, i64 {abi.REGION_TB}
  store i32 %length, ptr %length.at
  %sites.from = getelementptr i8, ptr %context, i64 {abi.CTX_TB_SITES}
  %sites.at = getelementptr i8, ptr %frame, i64 {abi.REGION_TB + 8}
  call void @llvm.memcpy.p0.p0.i64(ptr %sites.at, ptr %sites.from, i64 {4 * abi.TB_SITES}, i1 false)
  br label %unlock
unlock:
  store atomic i32 0, ptr %lock.at release, align 4
  br i1 %python, label %ends, label %more
more:
  ret i32 1
ends:
  ret i32 -1
}}

define internal ptr @qd_pool_record(ptr %context, i32 %slot) {{
  %wide = zext i32 %slot to i64
  %scaled = mul i64 %wide, {abi.RECORD_BYTES}
  %offset = add i64 %scaled, {abi.CTX_RECORDS}
  %record = getelementptr i8, ptr %context, i64 %offset
  ret ptr %record
}}

; The exception of a region that failed, in the kernel's context. An interruption raises at `site`.
define i32 @qd_pool_error(ptr %frame, ptr %context, i32 %result, i32 %site) noinline cold {{
entry:
  %status.at = getelementptr i8, ptr %frame, i64 {abi.REGION_STATUS}
  %status = load i32, ptr %status.at
  %class = and i32 %status, {abi.CLASS_MASK}
  %python = icmp eq i32 %class, {abi.PYTHON_ERROR}
  %ordinary = xor i1 %python, true
  %ends = icmp slt i32 %result, 0
  %told = and i1 %ends, %ordinary
  br i1 %told, label %interrupted, label %raised
interrupted:
  %worker.at = getelementptr i8, ptr %context, i64 {abi.CTX_WORKER}
  %worker = load i32, ptr %worker.at
  %outside = icmp eq i32 %worker, 0
  %number = select i1 %outside, i32 {abi.PYTHON_ERROR}, i32 {abi.STOPPED}
  %value = call i32 @qd_raise0(ptr %context, i32 %site, i32 %number)
  ret i32 %value
raised:
  %count = load i32, ptr %context
  %next = add i32 %count, 1
  store i32 %next, ptr %context
  %slot = and i32 %count, {abi.RECORDS - 1}
  %record = call ptr @qd_pool_record(ptr %context, i32 %slot)
  %copy = getelementptr i8, ptr %frame, i64 {abi.REGION_RECORD}
  call void @llvm.memcpy.p0.p0.i64(ptr %record, ptr %copy, i64 {abi.RECORD_BYTES}, i1 false)
  %length.from = getelementptr i8, ptr %frame, i64 {abi.REGION_TB}
  %length = load i32, ptr %length.from
  %length.at = getelementptr i8, ptr %context, i64 {abi.CTX_TB_LEN}
  store i32 %length, ptr %length.at
  %sites.from = getelementptr i8, ptr %frame, i64 {abi.REGION_TB + 8}
  %sites.at = getelementptr i8, ptr %context, i64 {abi.CTX_TB_SITES}
  call void @llvm.memcpy.p0.p0.i64(ptr %sites.at, ptr %sites.from, i64 {4 * abi.TB_SITES}, i1 false)
  %high = shl i32 %slot, {abi.RECORD_SHIFT}
  %exception = or i32 %high, %class
  ret i32 %exception
}}
"""
