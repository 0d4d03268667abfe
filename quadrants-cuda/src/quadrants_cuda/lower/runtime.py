"""The functions that a module gets when it uses them, as LLVM text.

They have the names and signatures of the CPU's runtime (`quadrants.lower.runtime`), so that the shared lowering calls
them; what a device has no use for is empty.
"""

from __future__ import annotations

from collections.abc import Mapping

from quadrants.lower import abi
from quadrants.lower.runtime import RAISE_WIDTHS, WORDS_SHIFT
from quadrants_cuda.lower import context

#: Names of the intrinsics that code on a device uses beside LLVM's own; also the ones that a simulated device replaces.
SREG = "llvm.nvvm.read.ptx.sreg"


def raising(words: int, records: int) -> str:
    """Fill the next record of the context; gives the exception value."""
    params = "".join(f", i64 %w{i}" for i in range(words))
    stores = "".join(
        f"  %at{i} = getelementptr i8, ptr %record, i64 {context.RECORD_PAYLOAD + 8 * i}\n  store i64 %w{i}, ptr %at{i}\n"
        for i in range(words)
    )
    return f"""
define internal i32 @qd_raise{words}(ptr %ctx, i32 %site, i32 %what{params}) noinline cold nounwind {{
  %count = load i32, ptr %ctx
  %next = add i32 %count, 1
  store i32 %next, ptr %ctx
  %slot = and i32 %count, {records - 1}
  %slot64 = zext i32 %slot to i64
  %scaled = mul i64 %slot64, {context.RECORD_BYTES}
  %offset = add i64 %scaled, {context.RECORDS}
  %record = getelementptr i8, ptr %ctx, i64 %offset
  store i32 %site, ptr %record
  %words = lshr i32 %what, {WORDS_SHIFT}
  %n.at = getelementptr i8, ptr %record, i64 {context.RECORD_WORDS}
  store i32 %words, ptr %n.at
{stores}  %class = and i32 %what, {abi.CLASS_MASK}
  %high = shl i32 %slot, {abi.RECORD_SHIFT}
  %value = or i32 %high, %class
  ret i32 %value
}}
"""


def _reporting() -> str:
    """Copy the record of an exception value to the report, if no thread has written it yet."""
    lines = []
    for axis, name in enumerate("xyz"):
        for what, at in (("ctaid", context.BLOCK), ("tid", context.THREAD)):
            value = f"%{what}.{name}"
            lines.append(f"{value}.raw = call i32 @{SREG}.{what}.{name}()")
            if what == "ctaid" and axis:
                first = context.FIRST + 4 * (axis - 1)
                lines.append(f"{value}.first.at = getelementptr i8, ptr %ctx, i64 {first}")
                lines.append(f"{value}.first = load i32, ptr {value}.first.at")
            else:
                lines.append(f"{value}.first = add i32 0, 0")
            lines.append(f"{value} = add i32 {value}.raw, {value}.first")
            lines.append(f"{value}.at = getelementptr i8, ptr %report, i64 {at + 4 * axis}")
            lines.append(f"store i32 {value}, ptr {value}.at")
    body = "\n".join(f"  {line}" for line in lines)
    return f"""
define internal void @qd_report(ptr %ctx, i32 %status) noinline cold nounwind {{
  %at = getelementptr i8, ptr %ctx, i64 {context.REPORT}
  %address = load i64, ptr %at
  %global = inttoptr i64 %address to ptr addrspace(1)
  %report = addrspacecast ptr addrspace(1) %global to ptr
  %pair = cmpxchg ptr %report, i32 0, i32 1 syncscope("device") monotonic monotonic, align 4
  %first = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %first, label %write, label %done
write:
{body}
  %slot = lshr i32 %status, {abi.RECORD_SHIFT}
  %slot64 = zext i32 %slot to i64
  %scaled = mul i64 %slot64, {context.RECORD_BYTES}
  %offset = add i64 %scaled, {context.RECORDS}
  %from = getelementptr i8, ptr %ctx, i64 %offset
  %to = getelementptr i8, ptr %report, i64 {context.RECORD}
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 {context.RECORD_BYTES}, i1 false)
  br label %done
done:
  ret void
}}
"""


def definitions(declared: Mapping[str, str], records: int) -> tuple[list[str], list[str]]:
    """The definitions of what a module declares, and the names of what there is none of."""
    known = {f"qd_raise{words}": raising(words, records) for words in RAISE_WIDTHS}
    known["qd_traceback"] = "\ndefine internal void @qd_traceback(ptr %ctx, i32 %site) alwaysinline {\n  ret void\n}\n"
    for name in ("qd_retain", "qd_release"):
        known[name] = f"\ndefine internal void @{name}(ptr %owner) alwaysinline {{\n  ret void\n}}\n"
    return [known[name] for name in declared if name in known], [name for name in declared if name not in known]


REPORTING = _reporting()
