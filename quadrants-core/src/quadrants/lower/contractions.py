"""Products of matrices: calls of the kernels of `lower.contraction`, through the host, which makes them when they are needed."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants.lower.abi import CTX_THREAD, SiteKind
from quadrants.lower.address import array_type, strides
from quadrants.lower.contraction import NUMBERS, REFUSED, Number, Word
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.errors import raise_python_error_in
from quadrants.lower.nodes import CONTEXT
from quadrants.types import Scalar


def _number(op: Op, dtype: Scalar) -> int:
    return NUMBERS.index(Number(dtype.bits, dtype.is_float, dtype.is_float and bool(op.attr("fused"))))


def _entry(e: FunctionEmitter) -> str:
    return e.module.external("qd_contract", "declare i32 @qd_contract(ptr, i32, ptr) nounwind")


def _contract(e: FunctionEmitter, op: Op) -> None:
    words = e.temp()
    e.entry.append(f"  {words} = alloca [{len(Word)} x i64], align 8")
    total, left, right = op.operands
    values: list[tuple[str, Text]] = []
    for array in (total, left, right):
        parts = e.get(array)
        values += (("ptr", parts[0]), *(("i64", step) for step in strides(parts, array_type(array))))
    rows, columns = e.get(total)[2:4]
    values += (("i64", rows), ("i64", columns), ("i64", e.get(left)[3]))
    values += [("i64", str(int(op.attr(name)))) for name in ("negate", "clear")]
    for word, (type, value) in enumerate(values):
        at = e.let(f"getelementptr i64, ptr {words}, i64 {word}") if word else words
        e.line(f"store {type} {value}, ptr {at}, align 8")
    e.set(op, e.let(f"icmp eq i32 {_call(e, op, array_type(total).dtype, words)}, 0"))


def _call(e: FunctionEmitter, op: Op, dtype: Scalar, words: Text) -> Text:
    """The status of the host's entry. What it raises, or the poll of a kernel, is raised here."""
    if e.module.options.holds_gil and not e.module.is_parallel():  # nobody else asks how to poll, or says it
        thread = e.let(f"getelementptr i8, ptr %ctx, i64 {CTX_THREAD}")
        e.line(f"store i64 0, ptr {thread}, align 8, {CONTEXT}")
    status = e.let(f"call i32 {_entry(e)}(ptr %ctx, i32 {_number(op, dtype)}, ptr {words})")
    quiet = e.let(f"icmp ule i32 {status}, {REFUSED}")
    site = e.module.site(SiteKind.HOST, e.function, op)
    raise_python_error_in(e, e.branch(quiet, "interrupt"), op, site, status)
    return status


def _prepare(e: FunctionEmitter, op: Op) -> None:
    dtype = op.attrs["type"]
    assert isinstance(dtype, Scalar)
    _call(e, op, dtype, "null")


EMITTERS: dict[str, Emitter] = {"contract": _contract, "contract.prepare": _prepare}
