"""`print` on a device: a thread that prints takes the next record behind the report, if there is one left."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.lower.abi import SiteKind
from quadrants.lower.emit import Emitter, FunctionEmitter
from quadrants.lower.errors import as_word, words_of
from quadrants.lower.gpu import context
from quadrants.lower.gpu.primitives import Primitives
from quadrants.lower.gpu.refusals import refuse
from quadrants.types import Type

PRINT = "builtins:print"


def emitters(p: Primitives) -> dict[str, Emitter]:
    """By op name."""

    def pycall(e: FunctionEmitter, op: Op) -> None:
        args = op.attrs["args"]
        if op.attrs["target"] != PRINT:
            what = f"a call of {op.attrs['target']}"
            raise refuse(p.title, e.function, op, what, "call it before or after the launch")
        assert isinstance(args, Type)
        words = [as_word(e, word) for word in words_of(e, op.operands)]
        if len(words) > context.MOST_WORDS:
            what, hint = f"a print of {len(words)} values at once", f"print at most {context.MOST_WORDS}"
            raise refuse(p.title, e.function, op, what, hint)
        site = e.module.site(SiteKind.HOST, e.function, op, args=args, target=PRINT)
        _record(p, e, site, words)

    return {"pycall": pycall}


def _record(p: Primitives, e: FunctionEmitter, site: int, words: list[str]) -> None:
    """Fill the next record."""
    address_at = e.let(f"getelementptr i8, ptr %ctx, i64 {context.REPORT}")
    report = e.let(f"inttoptr i64 {e.let(f'load i64, ptr {address_at}, align 8')} to ptr addrspace(1)")
    count = e.let(f"getelementptr i8, ptr addrspace(1) {report}, i64 {context.PRINTED}")
    scope = p.scopes["device"]
    place = e.let(f"atomicrmw add ptr addrspace(1) {count}, i32 1{scope} monotonic, align 4")
    room = e.let(f"icmp ult i32 {place}, {context.MOST_RECORDS}")
    write, done = e.label("print"), e.label("printed")
    e.line(f"br i1 {room}, label %{write}, label %{done}")
    e.begin(write)
    offset = e.let(f"mul i64 {e.let(f'zext i32 {place} to i64')}, {context.RECORD_BYTES}")
    records = e.let(f"getelementptr i8, ptr addrspace(1) {report}, i64 {context.RECORDS}")
    record = e.let(f"getelementptr i8, ptr addrspace(1) {records}, i64 {offset}")
    e.line(f"store i32 {site}, ptr addrspace(1) {record}, align 8")
    for position, word in enumerate(words):
        at = e.let(f"getelementptr i8, ptr addrspace(1) {record}, i64 {context.RECORD_WORDS + 8 * position}")
        e.line(f"store i64 {word}, ptr addrspace(1) {at}, align 8")
    e.line(f"br label %{done}")
    e.begin(done)
