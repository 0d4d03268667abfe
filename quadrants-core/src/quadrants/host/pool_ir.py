"""The LLVM text of the thread pool: workers that sleep and spin, regions that they share, chunks that are handed out.

The interface for compiled code, whatever it is made from:

    i32 @qd_pool_run(ptr fn, ptr frame, i64 n, i64 grain, i64 work, ptr context)

calls `i32 fn(ptr frame, i64 lo, i64 hi, i32 worker)` for lo = 0, grain, 2 * grain, ... below n (hi is at most n), each once,
on several threads at once; it returns when all have returned. Chunks begin in the order of lo, and the calling thread does
the first one. `worker` is different for each thread of a region: 0 for the thread that began it, unless that is a worker
itself. `fn` gives 0; or a positive number, after which no further chunk begins; or a negative one, which in addition sets the
i32 that the frame must begin with, for chunks that run to look at. The first number that is not 0, a negative one before a
positive one, is the result. `work` is an estimate of all in nanoseconds, 0 or less if there is none: sleeping workers are
woken at once for much work, and for little only when the first chunk has shown that it is worth it. `context` is that of
the kernel (see `lower.abi`), so that the GIL is released while waiting and Ctrl-C ends the region; null outside of kernels.

A region is a slot of 128 bytes. Its state word says whether it is open (bit 0), whether its owner sleeps on it (bit 1), and
how many workers are inside (times 4). A worker joins by one compare-and-swap of an open word, so that it never sees the slot
of a region that is over; the owner closes the word when the chunks are all given out, and waits only for workers that are
inside. So a worker that the system does not run delays nobody, and regions inside chunks, and regions of several threads
of the program, are regions like any other: who waits, waits for chunks that are running.
"""

from __future__ import annotations

from quadrants.host.pool_layout import EPOCH, LIMITS, LOCK, OPEN, POOL_BYTES, SLEEPERS, SLOTS, STARTED, USED, WANTED, at
from quadrants.host.region_ir import REGION
from quadrants.lower import abi

_STACK_BYTES = 8 << 20
#: What is left free of a worker's stack for libm and the like.
_STACK_MARGIN = 256 << 10
#: Turns of waiting loops before a thread sleeps: some tens of microseconds.
_SPINS = 1000
#: After spinning in vain so often (as a power of two) in a row, a worker goes to sleep at once.
_MOST_SKIPS = 6
#: From so many nanoseconds of work on workers are woken at once; below, only for so many that are seen to be left.
_EAGER = 200_000
_WORTH_WAKING = 10_000
#: How long the owner sleeps before it looks for signals.
_NAP = 50_000_000

# A slot.
_FUNCTION, _FRAME, _COUNT, _GRAIN, _CHUNKS, _ROOM, _STATUS, _NEXT = 8, 16, 24, 32, 40, 48, 52, 64

_HEADER = f"""
@qd_pool = global [{POOL_BYTES} x i8] zeroinitializer, align 128
declare ptr @llvm.frameaddress.p0(i32)
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @qd_poll(ptr)
declare i32 @qd_raise0(ptr, i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


_WORKER = f"""
define internal ptr @qd_pool_worker(ptr %argument) {{
entry:
{at("epoch", EPOCH)}
{at("sleepers", SLEEPERS)}
  %id64 = ptrtoint ptr %argument to i64
  %id = trunc i64 %id64 to i32
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  %here = ptrtoint ptr %frame to i64
  %limit = sub i64 %here, {_STACK_BYTES - _STACK_MARGIN}
{at("limits", LIMITS)}
  %limit.at = getelementptr i64, ptr %limits, i64 %id64
  store i64 %limit, ptr %limit.at
  br label %top
top:
  %skip = phi i32 [0, %entry], [0, %top], [0, %spin], [%next.skip, %woken]
  %failures = phi i32 [0, %entry], [0, %top], [0, %spin], [%next.failures, %woken]
  %seen = load atomic i32, ptr %epoch acquire, align 4
  %helped = call i1 @qd_pool_help(i32 %id)
  br i1 %helped, label %top, label %idle
idle:
  %no.spin = icmp ne i32 %skip, 0
  br i1 %no.spin, label %rest, label %turn
turn:
  %s = phi i32 [0, %idle], [%s1, %spin]
  %patient = icmp slt i32 %s, {_SPINS}
  br i1 %patient, label %spin, label %vain
spin:
  call void @qd_os_pause()
  %s1 = add i32 %s, 1
  %now = load atomic i32, ptr %epoch acquire, align 4
  %quiet = icmp eq i32 %now, %seen
  br i1 %quiet, label %turn, label %top
vain:
  %more = add i32 %failures, 1
  %capped = call i32 @llvm.smin.i32(i32 %more, i32 {_MOST_SKIPS})
  %pause = shl i32 1, %capped
  br label %sleep
rest:
  %fewer = sub i32 %skip, 1
  br label %sleep
sleep:
  %next.skip = phi i32 [%pause, %vain], [%fewer, %rest]
  %next.failures = phi i32 [%capped, %vain], [%failures, %rest]
  %others = atomicrmw add ptr %sleepers, i32 1 seq_cst
  %again = load atomic i32, ptr %epoch seq_cst, align 4
  %still = icmp eq i32 %again, %seen
  br i1 %still, label %wait, label %woken
wait:
  call void @qd_os_wait(ptr %epoch, i32 %seen, i64 -1)
  br label %woken
woken:
  %before = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %top
}}

; Join the first open region that has chunks left. Gives whether there was one.
define internal i1 @qd_pool_help(i32 %id) {{
entry:
{at("open", OPEN)}
{at("slots", SLOTS)}
  %all = load atomic i64, ptr %open acquire, align 8
  br label %next
next:
  %bits = phi i64 [%all, %entry], [%rest, %try]
  %none = icmp eq i64 %bits, 0
  br i1 %none, label %nothing, label %try
try:
  %number = call i64 @llvm.cttz.i64(i64 %bits, i1 true)
  %less = sub i64 %bits, 1
  %rest = and i64 %bits, %less
  %offset = shl i64 %number, 7
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %did = call i1 @qd_pool_join(ptr %slot, i32 %id)
  br i1 %did, label %found, label %next
found:
  ret i1 true
nothing:
  ret i1 false
}}

define internal i1 @qd_pool_join(ptr %slot, i32 %id) {{
entry:
  %next.at = getelementptr i8, ptr %slot, i64 {_NEXT}
  %chunks.at = getelementptr i8, ptr %slot, i64 {_CHUNKS}
  %room.at = getelementptr i8, ptr %slot, i64 {_ROOM}
  %next = load atomic i64, ptr %next.at monotonic, align 8
  %chunks = load atomic i64, ptr %chunks.at monotonic, align 8
  %left = icmp slt i64 %next, %chunks
  br i1 %left, label %look, label %no
look:
  %first = load atomic i32, ptr %slot acquire, align 4
  br label %try
try:
  %state = phi i32 [%first, %look], [%found, %enter]
  %bit = and i32 %state, 1
  %closed = icmp eq i32 %bit, 0
  br i1 %closed, label %no, label %enter
enter:
  %inside = add i32 %state, 4
  %swap = cmpxchg ptr %slot, i32 %state, i32 %inside acq_rel acquire
  %found = extractvalue {{ i32, i1 }} %swap, 0
  %joined = extractvalue {{ i32, i1 }} %swap, 1
  br i1 %joined, label %room, label %try
room:
  %free = atomicrmw sub ptr %room.at, i32 1 monotonic
  %fits = icmp sgt i32 %free, 0
  br i1 %fits, label %work, label %leave
work:
  call void @qd_pool_chunks(ptr %slot, i32 %id, ptr null)
  br label %leave
leave:
  %state.before = atomicrmw sub ptr %slot, i32 4 acq_rel
  %last = icmp eq i32 %state.before, 6
  br i1 %last, label %wake, label %done
wake:
  call void @qd_os_wake(ptr %slot, i32 1)
  br label %done
done:
  ret i1 %fits
no:
  ret i1 false
}}
"""

_CHUNKS_TEXT = f"""
; Do chunks until there are none. A worker that is the owner stops when its own region is told to.
define internal void @qd_pool_chunks(ptr %slot, i32 %id, ptr %context) {{
entry:
  %next.at = getelementptr i8, ptr %slot, i64 {_NEXT}
  %fn.at = getelementptr i8, ptr %slot, i64 {_FUNCTION}
  %fn = load ptr, ptr %fn.at
  %frame.at = getelementptr i8, ptr %slot, i64 {_FRAME}
  %frame = load ptr, ptr %frame.at
  %n.at = getelementptr i8, ptr %slot, i64 {_COUNT}
  %n = load i64, ptr %n.at
  %grain.at = getelementptr i8, ptr %slot, i64 {_GRAIN}
  %grain = load i64, ptr %grain.at
  %chunks.at = getelementptr i8, ptr %slot, i64 {_CHUNKS}
  %chunks = load atomic i64, ptr %chunks.at monotonic, align 8
  br label %take
take:
  %told = call i1 @qd_pool_told(ptr %context)
  br i1 %told, label %stop, label %ticket
stop:
  call void @qd_pool_fail(ptr %slot, i32 -1)
  ret void
ticket:
  %number = atomicrmw add ptr %next.at, i64 1 monotonic
  %some = icmp slt i64 %number, %chunks
  br i1 %some, label %run, label %done
run:
  %lo = mul i64 %number, %grain
  %left = sub i64 %n, %lo
  %size = call i64 @llvm.smin.i64(i64 %left, i64 %grain)
  %hi = add i64 %lo, %size
  %status = call i32 %fn(ptr %frame, i64 %lo, i64 %hi, i32 %id)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %take, label %failed
failed:
  call void @qd_pool_fail(ptr %slot, i32 %status)
  ret void
done:
  ret void
}}

; Whether the region that a kernel runs in was told to stop.
define internal i1 @qd_pool_told(ptr %context) {{
entry:
  %no.context = icmp eq ptr %context, null
  br i1 %no.context, label %no, label %look
look:
  %stop.at = getelementptr i8, ptr %context, i64 {abi.CTX_STOP}
  %stop = load ptr, ptr %stop.at
  %no.word = icmp eq ptr %stop, null
  br i1 %no.word, label %no, label %read
read:
  %word = load atomic i32, ptr %stop monotonic, align 4
  %told = icmp ne i32 %word, 0
  ret i1 %told
no:
  ret i1 false
}}

; A chunk failed: no more begin. After a negative status, those that run look at the stop word.
define internal void @qd_pool_fail(ptr %slot, i32 %status) noinline cold {{
entry:
  %next.at = getelementptr i8, ptr %slot, i64 {_NEXT}
  store atomic i64 {1 << 62}, ptr %next.at monotonic, align 8
  %status.at = getelementptr i8, ptr %slot, i64 {_STATUS}
  %ends = icmp slt i32 %status, 0
  br i1 %ends, label %stop, label %note
stop:
  %before = atomicrmw xchg ptr %status.at, i32 %status monotonic
  %frame.at = getelementptr i8, ptr %slot, i64 {_FRAME}
  %frame = load ptr, ptr %frame.at
  store atomic i32 1, ptr %frame monotonic, align 4
  ret void
note:
  %swap = cmpxchg ptr %status.at, i32 0, i32 %status monotonic monotonic
  ret void
}}
"""

_RUN = f"""
define i32 @qd_pool_run(ptr %fn, ptr %frame, i64 %n, i64 %grain.given, i64 %work, ptr %context) {{
entry:
{at("epoch", EPOCH)}
{at("open", OPEN)}
{at("used", USED)}
{at("wanted.at", WANTED)}
  %no.context = icmp eq ptr %context, null
  br i1 %no.context, label %begin, label %numbered
numbered:
  %worker.at = getelementptr i8, ptr %context, i64 {abi.CTX_WORKER}
  %worker = load i32, ptr %worker.at
  br label %begin
begin:
  %id = phi i32 [0, %entry], [%worker, %numbered]
  %empty = icmp slt i64 %n, 1
  br i1 %empty, label %nothing, label %some
nothing:
  ret i32 0
some:
  %positive = icmp sgt i64 %grain.given, 0
  %grain = select i1 %positive, i64 %grain.given, i64 1
  %less = sub i64 %n, 1
  %whole = sdiv i64 %less, %grain
  %chunks = add i64 %whole, 1
  %wanted = load atomic i32, ptr %wanted.at monotonic, align 4
  %one.chunk = icmp eq i64 %chunks, 1
  %one.thread = icmp slt i32 %wanted, 2
  %alone = or i1 %one.chunk, %one.thread
  br i1 %alone, label %serial, label %claim
claim:
  %taken = load atomic i64, ptr %used monotonic, align 8
  %free = xor i64 %taken, -1
  %negative = sub i64 0, %free
  %bit = and i64 %free, %negative
  %full = icmp eq i64 %bit, 0
  br i1 %full, label %serial, label %try
try:
  %marked = or i64 %taken, %bit
  %swap = cmpxchg ptr %used, i64 %taken, i64 %marked acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %mine, label %publish, label %claim
publish:
  call void @qd_pool_grow(i32 %wanted)
  %number = call i64 @llvm.cttz.i64(i64 %bit, i1 true)
  %offset = shl i64 %number, 7
{at("slots", SLOTS)}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %fn.at = getelementptr i8, ptr %slot, i64 {_FUNCTION}
  store ptr %fn, ptr %fn.at
  %frame.at = getelementptr i8, ptr %slot, i64 {_FRAME}
  store ptr %frame, ptr %frame.at
  %n.at = getelementptr i8, ptr %slot, i64 {_COUNT}
  store i64 %n, ptr %n.at
  %grain.at = getelementptr i8, ptr %slot, i64 {_GRAIN}
  store i64 %grain, ptr %grain.at
  %chunks.at = getelementptr i8, ptr %slot, i64 {_CHUNKS}
  store atomic i64 %chunks, ptr %chunks.at monotonic, align 8
  %helpers = sub i32 %wanted, 1
  %helpers64 = zext i32 %helpers to i64
  %useful = call i64 @llvm.smin.i64(i64 %helpers64, i64 %whole)
  %room = trunc i64 %useful to i32
  %room.at = getelementptr i8, ptr %slot, i64 {_ROOM}
  store i32 %room, ptr %room.at
  %status.at = getelementptr i8, ptr %slot, i64 {_STATUS}
  store i32 0, ptr %status.at
  %next.at = getelementptr i8, ptr %slot, i64 {_NEXT}
  store atomic i64 1, ptr %next.at monotonic, align 8
  store atomic i32 1, ptr %slot release, align 4
  %bits = atomicrmw or ptr %open, i64 %bit seq_cst
  %count = atomicrmw add ptr %epoch, i32 1 seq_cst
  %unknown = icmp slt i64 %work, 1
  %large = icmp sgt i64 %work, {_EAGER}
  %eager = or i1 %unknown, %large
  br i1 %eager, label %wake.now, label %measured
wake.now:
  call void @qd_pool_wake(i32 %room)
  %eager.status = call i32 %fn(ptr %frame, i64 0, i64 %grain, i32 %id)
  br label %ran
measured:
  %start = call i64 @qd_os_now()
  %first.status = call i32 %fn(ptr %frame, i64 0, i64 %grain, i32 %id)
  %end = call i64 @qd_os_now()
  %elapsed = sub i64 %end, %start
  %given = load atomic i64, ptr %next.at monotonic, align 8
  %left = sub i64 %chunks, %given
  %countable = call i64 @llvm.smin.i64(i64 %left, i64 1048576)
  %rest = mul i64 %elapsed, %countable
  %pays = icmp sgt i64 %rest, {_WORTH_WAKING}
  br i1 %pays, label %wake.late, label %ran
wake.late:
  call void @qd_pool_wake(i32 %room)
  br label %ran
ran:
  %status = phi i32 [%eager.status, %wake.now], [%first.status, %measured], [%first.status, %wake.late]
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %go.on, label %failed
failed:
  call void @qd_pool_fail(ptr %slot, i32 %status)
  br label %close
go.on:
  call void @qd_pool_chunks(ptr %slot, i32 %id, ptr %context)
  br label %close
close:
  %others = xor i64 %bit, -1
  %open.before = atomicrmw and ptr %open, i64 %others monotonic
  %state = atomicrmw and ptr %slot, i32 -2 acq_rel
  %inside = icmp ugt i32 %state, 3
  br i1 %inside, label %wait, label %over
wait:
  call void @qd_pool_wait(ptr %slot, ptr %context)
  br label %over
over:
  %result = load i32, ptr %status.at
  %freed = atomicrmw and ptr %used, i64 %others release
  ret i32 %result
serial:
  %lo = phi i64 [0, %some], [0, %claim], [%hi, %serial.next]
  %serial.left = sub i64 %n, %lo
  %size = call i64 @llvm.smin.i64(i64 %serial.left, i64 %grain)
  %hi = add i64 %lo, %size
  %serial.status = call i32 %fn(ptr %frame, i64 %lo, i64 %hi, i32 %id)
  %good = icmp eq i32 %serial.status, 0
  br i1 %good, label %serial.next, label %serial.end
serial.next:
  %more = icmp slt i64 %hi, %n
  %told = call i1 @qd_pool_told(ptr %context)
  %stay = xor i1 %told, true
  %again = and i1 %more, %stay
  br i1 %again, label %serial, label %serial.over
serial.over:
  %cut = and i1 %more, %told
  %serial.result = select i1 %cut, i32 -1, i32 0
  ret i32 %serial.result
serial.end:
  ret i32 %serial.status
}}

define internal void @qd_pool_wake(i32 %count) {{
entry:
{at("epoch", EPOCH)}
{at("sleepers", SLEEPERS)}
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 4
  %none = icmp slt i32 %asleep, 1
  br i1 %none, label %done, label %wake
wake:
  %useful = call i32 @llvm.smin.i32(i32 %asleep, i32 %count)
  call void @qd_os_wake(ptr %epoch, i32 %useful)
  br label %done
done:
  ret void
}}

; Start the workers that are missing. One that cannot be started is done without.
define internal void @qd_pool_grow(i32 %wanted) {{
entry:
{at("started", STARTED)}
{at("lock", LOCK)}
  %have = load atomic i32, ptr %started monotonic, align 4
  %next = add i32 %have, 1
  %enough = icmp sge i32 %next, %wanted
  br i1 %enough, label %done, label %try
try:
  %swap = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %swap, 1
  br i1 %mine, label %more, label %done
more:
  %count = load atomic i32, ptr %started monotonic, align 4
  %id = add i32 %count, 1
  %all = icmp sge i32 %id, %wanted
  br i1 %all, label %unlock, label %start
start:
  %argument = zext i32 %id to i64
  %status = call i32 @qd_os_start(ptr @qd_pool_worker, i64 %argument, i64 {_STACK_BYTES})
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %unlock, label %counted
counted:
  store atomic i32 %id, ptr %started monotonic, align 4
  br label %more
unlock:
  store atomic i32 0, ptr %lock release, align 4
  br label %done
done:
  ret void
}}

; Wait until no worker is inside: spinning first, then asleep, without the GIL, with a look for signals now and then.
define internal void @qd_pool_wait(ptr %slot, ptr %context) noinline {{
entry:
  %thread.at = getelementptr i8, ptr %context, i64 {abi.CTX_THREAD}
  br label %spin
spin:
  %s = phi i32 [0, %entry], [%s1, %pause]
  %state = load atomic i32, ptr %slot acquire, align 4
  %empty = icmp ult i32 %state, 4
  br i1 %empty, label %done, label %pause
pause:
  call void @qd_os_pause()
  %s1 = add i32 %s, 1
  %patient = icmp slt i32 %s1, {_SPINS}
  br i1 %patient, label %spin, label %slow
slow:
  %no.context = icmp eq ptr %context, null
  br i1 %no.context, label %sleep, label %kernel
kernel:
  %thread = load ptr, ptr %thread.at
  %holds = icmp eq ptr %thread, null
  br i1 %holds, label %release, label %sleep
release:
  %saved = call ptr @PyEval_SaveThread()
  store ptr %saved, ptr %thread.at
  br label %sleep
sleep:
  %released = phi i1 [false, %slow], [false, %kernel], [true, %release], [%released, %poll], [%released, %awake],
    [%released, %polled], [%released, %tell]
  %before = atomicrmw or ptr %slot, i32 2 acq_rel
  %now = or i32 %before, 2
  %left = icmp ult i32 %now, 4
  br i1 %left, label %out, label %nap
nap:
  %time = select i1 %no.context, i64 -1, i64 {_NAP}
  call void @qd_os_wait(ptr %slot, i32 %now, i64 %time)
  br i1 %no.context, label %awake, label %poll
awake:
  br label %sleep
poll:
  %held = load ptr, ptr %thread.at
  %cannot = icmp eq ptr %held, null
  br i1 %cannot, label %sleep, label %polled
polled:
  %signal = call i32 @qd_poll(ptr %context)
  %quiet = icmp eq i32 %signal, 0
  br i1 %quiet, label %sleep, label %tell
tell:
  call void @qd_pool_fail(ptr %slot, i32 -1)
  br label %sleep
out:
  br i1 %released, label %take, label %done
take:
  %kept = load ptr, ptr %thread.at
  %has = icmp eq ptr %kept, null
  br i1 %has, label %done, label %restore
restore:
  call void @PyEval_RestoreThread(ptr %kept)
  store ptr null, ptr %thread.at
  br label %done
done:
  ret void
}}
"""


def text(system_text: str) -> str:
    """The module, with the system's part (see `host.os.System.threads_text`)."""
    return "".join((_HEADER, system_text, _WORKER, _CHUNKS_TEXT, _RUN, REGION))
