"""The memory of arrays that are gone, kept for the next ones of the same size, as LLVM text.

Pages that come fresh from the system cost more than what most loops over them do: each is cleared, and is mapped when
it is first touched. So the last few blocks of at least `LEAST_BYTES` are not handed back but kept, `MOST_KEPT` bytes in
all. Blocks are taken out of and put into slots by atomic exchanges, so that any thread may do either. What is in a slot
belongs to nobody; its size is in its first word, and beside the slot, where it may be out of date.
"""

from __future__ import annotations

SLOTS = 16
LEAST_BYTES = 1 << 15
MOST_KEPT = 1 << 26
#: Sizes are rounded up to this, so that nearly equal ones are equal.
_STEP = 1 << 12

DEFINITIONS = f"""
@qd_kept_blocks = internal global [{SLOTS} x ptr] zeroinitializer
@qd_kept_sizes = internal global [{SLOTS} x i64] zeroinitializer
@qd_kept_bytes = internal global i64 0
@qd_kept_next = internal global i64 0

; A size as it is asked of the system.
define internal i64 @qd_rounded(i64 %size) nounwind {{
  %small = icmp ult i64 %size, {LEAST_BYTES}
  %more = add i64 %size, {_STEP - 1}
  %even = and i64 %more, -{_STEP}
  %rounded = select i1 %small, i64 %size, i64 %even
  ret i64 %rounded
}}

; What a slot holds, and nothing in it any more.
define internal ptr @qd_kept_empty(i64 %slot) nounwind {{
  %at = getelementptr ptr, ptr @qd_kept_blocks, i64 %slot
  %block = atomicrmw xchg ptr %at, ptr null acq_rel
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %count
count:
  %size = load i64, ptr %block
  %old = atomicrmw sub ptr @qd_kept_bytes, i64 %size monotonic
  br label %done
done:
  ret ptr %block
}}

; Hand all of them back.
define internal void @qd_kept_drain() nounwind {{
  br label %next
next:
  %slot = phi i64 [ 0, %0 ], [ %following, %next ]
  %block = call ptr @qd_kept_empty(i64 %slot)
  call void @free(ptr %block)
  %following = add i64 %slot, 1
  %more = icmp ult i64 %following, {SLOTS}
  br i1 %more, label %next, label %done
done:
  ret void
}}

; As malloc.
define ptr @qd_block_get(i64 %asked) nounwind {{
entry:
  %size = call i64 @qd_rounded(i64 %asked)
  %small = icmp ult i64 %size, {LEAST_BYTES}
  br i1 %small, label %plain, label %look
look:
  %slot = phi i64 [ 0, %entry ], [ %following, %other ]
  %size.at = getelementptr i64, ptr @qd_kept_sizes, i64 %slot
  %kept = load atomic i64, ptr %size.at monotonic, align 8
  %fits = icmp eq i64 %kept, %size
  br i1 %fits, label %take, label %other
take:
  %block = call ptr @qd_kept_empty(i64 %slot)
  %none = icmp eq ptr %block, null
  br i1 %none, label %other, label %sure
sure:
  %true = load i64, ptr %block
  %same = icmp eq i64 %true, %size
  br i1 %same, label %found, label %wrong
wrong:
  call void @free(ptr %block)
  br label %other
other:
  %following = add i64 %slot, 1
  %more = icmp ult i64 %following, {SLOTS}
  br i1 %more, label %look, label %ask
found:
  ret ptr %block
plain:
  %new = call ptr @malloc(i64 %size)
  ret ptr %new
ask:
  %fresh = call ptr @malloc(i64 %size)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %again, label %made
again:
  call void @qd_kept_drain()
  %last = call ptr @malloc(i64 %size)
  ret ptr %last
made:
  ret ptr %fresh
}}

; As calloc: pages of zeros come from the system.
define ptr @qd_block_zeroed(i64 %asked) nounwind {{
  %size = call i64 @qd_rounded(i64 %asked)
  %block = call ptr @calloc(i64 1, i64 %size)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %again, label %done
again:
  call void @qd_kept_drain()
  %last = call ptr @calloc(i64 1, i64 %size)
  ret ptr %last
done:
  ret ptr %block
}}

; As free, of a block that was asked for with the size.
define void @qd_block_put(ptr %block, i64 %asked) nounwind {{
entry:
  %size = call i64 @qd_rounded(i64 %asked)
  %small = icmp ult i64 %size, {LEAST_BYTES}
  %large = icmp ugt i64 %size, {MOST_KEPT}
  %goes = or i1 %small, %large
  br i1 %goes, label %free, label %count
count:
  %before = load atomic i64, ptr @qd_kept_bytes monotonic, align 8
  %after = add i64 %before, %size
  %full = icmp ugt i64 %after, {MOST_KEPT}
  br i1 %full, label %drain, label %look
drain:
  call void @qd_kept_drain()
  br label %look
look:
  %slot = phi i64 [ 0, %count ], [ 0, %drain ], [ %following, %other ]
  %slot.at = getelementptr ptr, ptr @qd_kept_blocks, i64 %slot
  %there = load atomic ptr, ptr %slot.at monotonic, align 8
  %empty = icmp eq ptr %there, null
  br i1 %empty, label %put, label %other
other:
  %following = add i64 %slot, 1
  %more = icmp ult i64 %following, {SLOTS}
  br i1 %more, label %look, label %oldest
oldest:
  %turn = atomicrmw add ptr @qd_kept_next, i64 1 monotonic
  %chosen = urem i64 %turn, {SLOTS}
  br label %put
put:
  %to = phi i64 [ %slot, %look ], [ %chosen, %oldest ]
  %old = call ptr @qd_kept_empty(i64 %to)
  call void @free(ptr %old)
  store i64 %size, ptr %block
  %size.at = getelementptr i64, ptr @qd_kept_sizes, i64 %to
  store atomic i64 %size, ptr %size.at monotonic, align 8
  %sum = atomicrmw add ptr @qd_kept_bytes, i64 %size monotonic
  %to.at = getelementptr ptr, ptr @qd_kept_blocks, i64 %to
  %raced = atomicrmw xchg ptr %to.at, ptr %block acq_rel
  %alone = icmp eq ptr %raced, null
  br i1 %alone, label %done, label %late
late:
  %late.size = load i64, ptr %raced
  %less = atomicrmw sub ptr @qd_kept_bytes, i64 %late.size monotonic
  call void @free(ptr %raced)
  br label %done
free:
  call void @free(ptr %block)
  br label %done
done:
  ret void
}}
"""
