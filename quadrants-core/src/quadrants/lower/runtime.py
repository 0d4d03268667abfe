"""The runtime helpers: internal functions that a module gets when it needs them, as LLVM text.

Blocks of array memory (allocate, retain, release), records of exceptions, the traceback, and the conversions to and from
half floats that a target lacks. They are out of line, so that the code around them stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from quadrants.lower import abi

if TYPE_CHECKING:
    from quadrants.lower.context import ModuleContext

_DECLARATIONS = {
    "malloc": "declare noalias ptr @malloc(i64) nounwind",
    "calloc": "declare noalias ptr @calloc(i64, i64) nounwind",
    "free": "declare void @free(ptr captures(none)) nounwind",
    "PyErr_Clear": "declare void @PyErr_Clear() nounwind",
    abi.LIVE_BLOCKS: f"@{abi.LIVE_BLOCKS} = external global i64, align 8",
}

#: The largest size that is asked of the system.
_MOST_BYTES = 2**63 - 1 - abi.BLOCK_EXTRA


def _use(context: ModuleContext, name: str) -> str:
    return context.external(name, _DECLARATIONS[name])


def _count(context: ModuleContext, delta: int) -> str:
    """Code that adds to the number of live blocks."""
    live = _use(context, abi.LIVE_BLOCKS)
    if context.options.atomic_refcounts:
        return f"  %live = atomicrmw add ptr {live}, i64 {delta} monotonic"
    return f"""\
  %live = load i64, ptr {live}, align 8
  %live1 = add i64 %live, {delta}
  store i64 %live1, ptr {live}, align 8"""


def _alloc(context: ModuleContext, symbol: str, zero: int) -> str:
    size = "i64 1, i64 %size" if zero else "i64 %size"
    allocate = f"{_use(context, 'calloc' if zero else 'malloc')}({size})"
    return f"""\
define internal noalias align {abi.BLOCK_ALIGN} ptr {symbol}(i64 %nbytes) noinline nounwind \
memory(inaccessiblemem: readwrite) {{
  %big = icmp ugt i64 %nbytes, {_MOST_BYTES}
  br i1 %big, label %none, label %ask
ask:
  %size = add nuw nsw i64 %nbytes, {abi.BLOCK_EXTRA}
  %raw = call noalias ptr {allocate}
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %none, label %fill
fill:
  %end = getelementptr i8, ptr %raw, i64 {abi.BLOCK_ALIGN - 1}
  %block = call ptr @llvm.ptrmask.p0.i64(ptr %end, i64 -{abi.BLOCK_ALIGN})
  store i64 1, ptr %block, align 8
  %nbytes.at = getelementptr i8, ptr %block, i64 {abi.BLOCK_NBYTES}
  store i64 %nbytes, ptr %nbytes.at, align 8
  %raw.at = getelementptr i8, ptr %block, i64 {abi.BLOCK_RAW}
  store ptr %raw, ptr %raw.at, align 8
{_count(context, 1)}
  ret ptr %block
none:
  ret ptr null
}}
"""


def _owned(symbol: str, body: str) -> str:
    """A helper that does something to the block of an owner, if it is one of ours."""
    return f"""\
define internal void {symbol}(ptr captures(none) %owner) noinline nounwind \
memory(argmem: readwrite, inaccessiblemem: readwrite) {{
  %address = ptrtoint ptr %owner to i64
  %null = icmp eq i64 %address, 0
  %tag = and i64 %address, {abi.OWNER_PYTHON_TAG}
  %tagged = icmp ne i64 %tag, 0
  %foreign = or i1 %null, %tagged
  br i1 %foreign, label %done, label %ours
ours:
{body}
done:
  ret void
}}
"""


def _retain(context: ModuleContext, symbol: str) -> str:
    if context.options.atomic_refcounts:
        body = "  %old = atomicrmw add ptr %owner, i64 1 monotonic\n  br label %done"
    else:
        body = """\
  %old = load i64, ptr %owner, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %owner, align 8
  br label %done"""
    return _owned(symbol, body)


def _release(context: ModuleContext, symbol: str) -> str:
    atomic = context.options.atomic_refcounts
    old = "atomicrmw sub ptr %owner, i64 1 acq_rel" if atomic else "load i64, ptr %owner, align 8"
    store = "" if atomic else "  %new = sub i64 %old, 1\n  store i64 %new, ptr %owner, align 8\n"
    body = f"""\
  %old = {old}
{store}  %last = icmp eq i64 %old, 1
  br i1 %last, label %free, label %done
free:
  %raw.at = getelementptr i8, ptr %owner, i64 {abi.BLOCK_RAW}
  %raw = load ptr, ptr %raw.at, align 8
{_count(context, -1)}
  call void {_use(context, "free")}(ptr %raw)
  br label %done"""
    return _owned(symbol, body)


def _raise(context: ModuleContext, symbol: str, words: int) -> str:
    """Fill the next record; gives the exception value."""
    params = "".join(f", i64 %w{i}" for i in range(words))
    stores = "".join(
        f"""
  %at{i} = getelementptr i8, ptr %record, i64 {abi.RECORD_PAYLOAD + 8 * i}
  store i64 %w{i}, ptr %at{i}, align 8"""
        for i in range(words)
    )
    return f"""\
define internal i32 {symbol}(ptr captures(none) %ctx, i32 %site, i32 %class{params}) noinline cold nounwind \
memory(argmem: readwrite) {{
  %count = load i32, ptr %ctx, align 8
  %next = add i32 %count, 1
  store i32 %next, ptr %ctx, align 8
  %tb.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_TB_LEN}
  store i32 0, ptr %tb.at, align 4
  %slot = and i32 %count, {abi.RECORDS - 1}
  %slot64 = zext i32 %slot to i64
  %scaled = mul nuw nsw i64 %slot64, {abi.RECORD_BYTES}
  %offset = add nuw nsw i64 %scaled, {abi.CTX_RECORDS}
  %record = getelementptr i8, ptr %ctx, i64 %offset
  store i32 %site, ptr %record, align 8
  %n.at = getelementptr i8, ptr %record, i64 {abi.RECORD_LEAVES}
  store i32 {words}, ptr %n.at, align 4{stores}
  %high = shl i32 %slot, {abi.RECORD_SHIFT}
  %value = or i32 %high, %class
  ret i32 %value
}}
"""


def _traceback(context: ModuleContext, symbol: str) -> str:
    """Append a call site, if there is room."""
    return f"""\
define internal void {symbol}(ptr captures(none) %ctx, i32 %site) noinline cold nounwind memory(argmem: readwrite) {{
  %len.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_TB_LEN}
  %len = load i32, ptr %len.at, align 4
  %room = icmp ult i32 %len, {abi.TB_SITES}
  br i1 %room, label %append, label %done
append:
  %len64 = zext i32 %len to i64
  %bytes = shl nuw nsw i64 %len64, 2
  %offset = add nuw nsw i64 %bytes, {abi.CTX_TB_SITES}
  %at = getelementptr i8, ptr %ctx, i64 %offset
  store i32 %site, ptr %at, align 4
  %new = add i32 %len, 1
  store i32 %new, ptr %len.at, align 4
  br label %done
done:
  ret void
}}
"""


def _swallow(context: ModuleContext, symbol: str) -> str:
    """A handler is done with an exception: one that is set in the interpreter is cleared there."""
    return f"""\
define internal void {symbol}(i32 %exception) noinline cold nounwind {{
  %class = and i32 %exception, {abi.CLASS_MASK}
  %python = icmp eq i32 %class, {abi.PYTHON_ERROR}
  br i1 %python, label %clear, label %done
clear:
  call void {_use(context, "PyErr_Clear")}()
  br label %done
done:
  ret void
}}
"""


def _round_odd(context: ModuleContext, symbol: str) -> str:
    """f64 to f32, rounded to odd, so that rounding the result again to half gives what one rounding gives."""
    return f"""\
define internal float {symbol}(double %x) nounwind memory(none) alwaysinline {{
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %exact = fcmp oeq double %back, %x
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %got = call double @llvm.fabs.f64(double %back)
  %above = fcmp ogt double %got, %size
  %step = sext i1 %above to i32
  %toward0 = add i32 %bits, %step
  %odd = or i32 %toward0, 1
  %chosen = select i1 %exact, i32 %bits, i32 %odd
  %y = bitcast i32 %chosen to float
  ret float %y
}}
"""


def _half_from_float(context: ModuleContext, symbol: str) -> str:
    """f32 to f16 to nearest even, in integer code. Above 2^16 the addition below would not saturate: those are infinite."""
    return f"""\
define internal half {symbol}(float %x) nounwind memory(none) {{
  %bits = bitcast float %x to i32
  %abs = and i32 %bits, 2147483647
  %sign32 = lshr i32 %bits, 16
  %sign = and i32 %sign32, 32768
  %is.nan = icmp ugt i32 %abs, 2139095040
  %payload32 = lshr i32 %abs, 13
  %payload = and i32 %payload32, 1023
  %quiet = or i32 %payload, 32256
  %is.inf = icmp uge i32 %abs, 1199570944
  %low = icmp ult i32 %abs, 947912704
  %lsb32 = lshr i32 %abs, 13
  %lsb = and i32 %lsb32, 1
  %rebased = sub i32 %abs, 939524096
  %biased = add i32 %rebased, 4095
  %rounded = add i32 %biased, %lsb
  %normal = lshr i32 %rounded, 13
  %size = bitcast i32 %abs to float
  %shifted = fadd float %size, 5.000000e-01
  %shifted.bits = bitcast float %shifted to i32
  %subnormal = sub i32 %shifted.bits, 1056964608
  %finite = select i1 %low, i32 %subnormal, i32 %normal
  %large = select i1 %is.inf, i32 31744, i32 %finite
  %magnitude = select i1 %is.nan, i32 %quiet, i32 %large
  %all = or i32 %magnitude, %sign
  %word = trunc i32 %all to i16
  %y = bitcast i16 %word to half
  ret half %y
}}
"""


def _float_from_half(context: ModuleContext, symbol: str) -> str:
    """f16 to f32, in integer code: subnormals through a multiplication by 2^-24."""
    return f"""\
define internal float {symbol}(half %x) nounwind memory(none) {{
  %word = bitcast half %x to i16
  %bits = zext i16 %word to i32
  %sign16 = and i32 %bits, 32768
  %sign = shl i32 %sign16, 16
  %abs = and i32 %bits, 32767
  %mantissa = shl i32 %abs, 13
  %normal = add i32 %mantissa, 939524096
  %special = or i32 %mantissa, 2139095040
  %whole = uitofp i32 %abs to float
  %small = fmul float %whole, 0x3E70000000000000
  %small.bits = bitcast float %small to i32
  %is.small = icmp ult i32 %abs, 1024
  %is.special = icmp uge i32 %abs, 31744
  %finite = select i1 %is.small, i32 %small.bits, i32 %normal
  %magnitude = select i1 %is.special, i32 %special, i32 %finite
  %all = or i32 %magnitude, %sign
  %y = bitcast i32 %all to float
  ret float %y
}}
"""


#: name -> (context, symbol, *arguments) -> text
HELPERS: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "alloc": _alloc,
        "retain": _retain,
        "release": _release,
        "raise": _raise,
        "traceback": _traceback,
        "swallow": _swallow,
        "round_odd": _round_odd,
        "half_from_float": _half_from_float,
        "float_from_half": _float_from_half,
    }
)
