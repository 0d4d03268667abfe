"""An exception that leaves a thread: the first one of a launch is copied, with the context of its thread, to the report."""

from __future__ import annotations

from quadrants.ir.core import Function, Region, Scope
from quadrants.ir.core import Module as QirModule
from quadrants.lower import abi
from quadrants.lower.analysis import Exceptions
from quadrants.lower.context import LowerOptions, ModuleContext
from quadrants.lower.emit import FunctionEmitter
from quadrants.lower.gpu import context
from quadrants.lower.gpu.primitives import Primitives
from quadrants.lower.gpu.threads import block_index


def reporting(p: Primitives) -> str:
    """The function `qd_report(ctx, status)`."""
    scope = Scope("quadrants", "qd_report", 1, internal=True)
    function = Function("qd_report", [], (), Region(), scope)
    e = FunctionEmitter(ModuleContext(QirModule({}, ""), LowerOptions(), Exceptions()), function, {})
    at = e.let(f"getelementptr i8, ptr %ctx, i64 {context.REPORT}")
    report = e.let(f"inttoptr i64 {e.let(f'load i64, ptr {at}, align 8')} to ptr addrspace(1)")
    order = f"{p.scopes['device']} monotonic monotonic, align 4"
    pair = e.let(f"cmpxchg ptr addrspace(1) {report}, i32 0, i32 %status{order}")
    e.line(f"br i1 {e.let(f'extractvalue {{ i32, i1 }} {pair}, 1')}, label %write, label %done")
    e.begin("write")
    for axis in range(3):
        for value, offset in (
            (block_index(p, e, axis), context.AT_BLOCK),
            (p.thread_index(e, axis), context.AT_THREAD),
        ):
            place = e.let(f"getelementptr i8, ptr addrspace(1) {report}, i64 {offset + 4 * axis}")
            e.line(f"store i32 {value}, ptr addrspace(1) {place}, align 4")
    to = e.let(f"getelementptr i8, ptr addrspace(1) {report}, i64 {context.FAILED}")
    e.line(
        f"call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 8 {to}, ptr align 8 %ctx, i64 {abi.CTX_BYTES}, i1 false)"
    )
    e.line("br label %done")
    e.begin("done")
    e.line("ret void")
    body = "\n".join(e.lines)
    return f"\ndefine internal void @qd_report(ptr %ctx, i32 %status) noinline cold nounwind {{\nentry:\n{body}\n}}\n"
