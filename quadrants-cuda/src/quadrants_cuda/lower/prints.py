"""`print` on a device: a thread that prints takes the next record behind the report, if there is one left."""

from __future__ import annotations

from quadrants import diagnostics
from quadrants.diagnostics import CompileError, SourceLocation
from quadrants.ir.core import Function, Op
from quadrants.lower.abi import SiteKind
from quadrants.lower.emit import Emitter, FunctionEmitter
from quadrants.lower.errors import as_word, words_of
from quadrants.types import Type
from quadrants_cuda.lower import context

PRINT = "builtins:print"


def location_of(function: Function, op: Op | None) -> SourceLocation:
    """Where an op is in the source."""
    scope = function.scope
    loc = op.loc if op is not None else None
    if loc is None:
        return SourceLocation(scope.filename, scope.firstlineno, function=scope.qualname)
    return SourceLocation(scope.filename, loc.line, loc.col, loc.end_line or None, loc.end_col or None, scope.qualname)


def refuse(function: Function, op: Op | None, what: str, hint: str) -> CompileError:
    """The error for what a CUDA device does not run."""
    return CompileError(
        diagnostics.Code.UNSUPPORTED_CAPABILITY,
        f"{what} cannot run on a CUDA device",
        location_of(function, op),
        hint=hint,
    )


def _pycall(e: FunctionEmitter, op: Op) -> None:
    args = op.attrs["args"]
    if op.attrs["target"] != PRINT:
        raise refuse(e.function, op, f"a call of {op.attrs['target']}", "call it before or after the launch")
    assert isinstance(args, Type)
    words = words_of(e, op.operands)
    if len(words) > context.PAYLOAD_WORDS:
        hint = f"print at most {context.PAYLOAD_WORDS}"
        raise refuse(e.function, op, f"a print of {len(words)} values at once", hint)
    site = e.module.site(SiteKind.HOST, e.function, op, args=args, target=PRINT)
    values = [as_word(e, word) for word in words]
    address_at = e.let(f"getelementptr i8, ptr %ctx, i64 {context.REPORT}")
    address = e.let(f"load i64, ptr {address_at}, align 8")
    report = e.let(f"inttoptr i64 {address} to ptr addrspace(1)")
    count = e.let(f"getelementptr i8, ptr addrspace(1) {report}, i64 {context.PRINTED}")
    place = e.let(f'atomicrmw add ptr addrspace(1) {count}, i32 1 syncscope("device") monotonic, align 4')
    room = e.let(f"icmp ult i32 {place}, {context.MOST_PRINTS}")
    write, done = e.label("print"), e.label("printed")
    e.line(f"br i1 {room}, label %{write}, label %{done}")
    e.begin(write)
    offset = e.let(f"mul i64 {e.let(f'zext i32 {place} to i64')}, {context.RECORD_BYTES}")
    records = e.let(f"getelementptr i8, ptr addrspace(1) {report}, i64 {context.PRINTS}")
    record = e.let(f"getelementptr i8, ptr addrspace(1) {records}, i64 {offset}")
    e.line(f"store i32 {site}, ptr addrspace(1) {record}, align 8")
    for position, value in enumerate(values):
        at = e.let(f"getelementptr i8, ptr addrspace(1) {record}, i64 {context.RECORD_PAYLOAD + 8 * position}")
        e.line(f"store i64 {value}, ptr addrspace(1) {at}, align 8")
    e.line(f"br label %{done}")
    e.begin(done)


EMITTERS: dict[str, Emitter] = {"pycall": _pycall}
