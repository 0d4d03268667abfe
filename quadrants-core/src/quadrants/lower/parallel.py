"""Parallel regions: a `fork` to a frame on the stack, a function that runs one chunk of it, and a call of the pool.

A region of one chunk is a plain call. Otherwise what the chunks share is stored in the frame behind the header that `lower.abi`
lays out; the function of the chunk reads it, takes its context (the kernel's own for the thread that began the region), and
calls the body. An exception of a chunk is recorded in the frame, from where it goes on as if the body had been called here.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir.core import Function, Op
from quadrants.lower.abi import (
    CTX_BYTES,
    CTX_WORKER,
    REGION_BYTES,
    REGION_CONTEXT,
    REGION_FIRST,
    REGION_STATUS,
    REGION_STOP,
    REGION_WORKER,
    SiteKind,
    all_components,
    components,
    symbol,
)
from quadrants.lower.emit import Emitter, FunctionEmitter, Parts, Text, owner_of
from quadrants.types import CellsType

_DECLARATIONS = {
    "qd_pool_run": "declare i32 @qd_pool_run(ptr, ptr, i64, i64, i64, ptr) nounwind",
    "qd_pool_context": "declare ptr @qd_pool_context(ptr, i32, ptr) nounwind",
    "qd_pool_done": "declare void @qd_pool_done(ptr, ptr) nounwind",
    "qd_pool_failed": "declare i32 @qd_pool_failed(ptr, ptr, i32, i64) cold nounwind",
    "qd_pool_error": "declare i32 @qd_pool_error(ptr, ptr, i32, i32) cold nounwind",
}


def _external(e: FunctionEmitter, name: str) -> str:
    return e.module.external(name, _DECLARATIONS[name])


def _fork(e: FunctionEmitter, op: Op) -> None:
    callee = e.module.module.functions[str(op.attrs["callee"])]
    turns, grain, work = (e.one(operand) for operand in op.operands[:3])
    types = all_components([operand.type for operand in op.operands[3:]])
    shared = e.all(op.operands[3:])
    alone, several, done = e.label("alone"), e.label("fork"), e.label("joined")
    fits = e.let(f"icmp sle i64 {turns}, {grain}")
    e.line(f"br i1 {fits}, label %{alone}, label %{several}")
    e.begin(alone)
    _call(e, op, callee, ("0", turns, *shared), ("i64", "i64", *types))
    e.line(f"br label %{done}")
    e.begin(several)
    _share(e, op, callee, (turns, grain, work), shared, types)
    e.line(f"br label %{done}")
    e.begin(done)


def _call(e: FunctionEmitter, op: Op, callee: Function, values: Sequence[Text], types: Sequence[str]) -> None:
    """All turns at once, in this thread. The body is a part of this function: it is no entry of the traceback."""
    given = ", ".join(("ptr %ctx", *(f"{type} {value}" for type, value in zip(types, values))))
    if callee.name not in e.module.exceptions.raising:
        e.line(f"call void {symbol(callee.name)}({given})")
        return
    status = e.let(f"call i32 {symbol(callee.name)}({given})")
    failed = e.branch(e.let(f"icmp eq i32 {status}, 0"), "raised")
    with e.cold_block(failed):
        e.leave(status, op.cleanup)


def _share(
    e: FunctionEmitter, op: Op, callee: Function, sizes: Sequence[Text], shared: Parts, types: Sequence[str]
) -> None:
    for operand in op.operands[3:]:
        if operand.type.heap:
            nested = isinstance(operand.type, CellsType) and operand.type.nested
            share = e.module.runtime("qd_list_share" if nested else "qd_share")
            e.line(f"call void {share}(ptr {owner_of(e, operand)})")
    frame = e.temp()
    e.entry.append(f"  {frame} = alloca [{REGION_BYTES + 8 * len(types)} x i8], align 16")
    e.line(f"store i64 0, ptr {_at(e, frame, REGION_STOP)}")
    e.line(f"store ptr %ctx, ptr {_at(e, frame, REGION_CONTEXT)}")
    worker = e.let(f"load i32, ptr {_at(e, '%ctx', CTX_WORKER)}")
    e.line(f"store i32 {worker}, ptr {_at(e, frame, REGION_WORKER)}")
    e.line(f"store i32 0, ptr {_at(e, frame, REGION_STATUS)}")
    e.line(f"store i64 {(1 << 63) - 1}, ptr {_at(e, frame, REGION_FIRST)}")
    for position, (type, part) in enumerate(zip(types, shared)):
        if type == "i1":
            type, part = "i8", e.let(f"zext i1 {part} to i8")
        e.line(f"store {type} {part}, ptr {_at(e, frame, REGION_BYTES + 8 * position)}")
    chunk = _chunk(e, callee)
    turns, grain, work = sizes
    given = f"ptr {chunk}, ptr {frame}, i64 {turns}, i64 {grain}, i64 {work}, ptr %ctx"
    status = e.let(f"call i32 {_external(e, 'qd_pool_run')}({given})")
    failed = e.branch(e.let(f"icmp eq i32 {status}, 0"), "raised")
    site = e.module.site(SiteKind.HOST, e.function, op)
    with e.cold_block(failed):
        value = e.let(f"call i32 {_external(e, 'qd_pool_error')}(ptr {frame}, ptr %ctx, i32 {status}, i32 {site})")
        e.leave(value, op.cleanup)


def _at(e: FunctionEmitter, base: Text, offset: int) -> Text:
    return e.let(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base


def _chunk(e: FunctionEmitter, callee: Function) -> str:
    """The function of a chunk, in the form that the pool calls; written once for each body."""
    name = f"{callee.name}.chunk"
    if name not in e.module.helpers:
        e.module.helpers[name] = _chunk_text(e, callee, name)
    return symbol(name)


def _chunk_text(e: FunctionEmitter, callee: Function, name: str) -> str:
    lines = []
    given = ["ptr %ctx", "i64 %lo", "i64 %hi"]
    types = [text for param in callee.params[2:] for text in components(param.type)]
    for position, type in enumerate(types):
        lines.append(f"  %p{position} = getelementptr i8, ptr %frame, i64 {REGION_BYTES + 8 * position}")
        if type == "i1":
            lines.append(f"  %b{position} = load i8, ptr %p{position}")
            lines.append(f"  %v{position} = icmp ne i8 %b{position}, 0")
        else:
            lines.append(f"  %v{position} = load {type}, ptr %p{position}")
        given.append(f"{type} %v{position}")
    done = _external(e, "qd_pool_done")
    call = f"{symbol(callee.name)}({', '.join(given)})"
    if callee.name in e.module.exceptions.raising:
        failed = _external(e, "qd_pool_failed")
        end = f"""\
  %status = call i32 {call}
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %raised
raised:
  call void {done}(ptr %local, ptr %ctx)
  %answer = call i32 {failed}(ptr %frame, ptr %ctx, i32 %status, i64 %lo)
  ret i32 %answer
done:
  call void {done}(ptr %local, ptr %ctx)
  ret i32 0"""
    else:
        end = f"  call void {call}\n  call void {done}(ptr %local, ptr %ctx)\n  ret i32 0"
    context = _external(e, "qd_pool_context")
    return f"""
define internal i32 {symbol(name)}(ptr %frame, i64 %lo, i64 %hi, i32 %worker) nounwind {{
entry:
  %local = alloca [{CTX_BYTES} x i8], align 16
  %ctx = call ptr {context}(ptr %frame, i32 %worker, ptr %local)
{chr(10).join(lines)}
{end}
}}
"""


EMITTERS: dict[str, Emitter] = {"fork": _fork}
