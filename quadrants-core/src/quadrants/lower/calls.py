"""Functions: their signatures and returns, calls between them, and calls back into Python.

Functions of a module call each other by value: the status first (if the callee raises), then the components of the results, as
one aggregate. The entry function stores its results through pointers, as `lower.abi` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir.core import Function, Op
from quadrants.lower import hostcalls
from quadrants.lower.abi import SiteKind, all_components, components, symbol
from quadrants.lower.analysis import raises
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.errors import as_word, raise_python_error_in, words_of
from quadrants.lower.half import from_float
from quadrants.types import ArrayType, Type


def result_text(results: Sequence[Type], raising: bool) -> str:
    """The LLVM return type of a function that returns by value."""
    parts = all_components(results)
    if raising:
        parts = ("i32", *parts)
    if not parts:
        return "void"
    return parts[0] if len(parts) == 1 else f"{{ {', '.join(parts)} }}"


def param_list(function: Function, names: Sequence[Sequence[Text]]) -> str:
    """The parameters of a function: the context, then the components. Sizes are never negative."""
    texts = ["ptr noalias noundef %ctx"]
    for param, parts in zip(function.params, names):
        for position, (type, part) in enumerate(zip(components(param.type), parts)):
            texts.append(f"{type}{_param_attributes(param.type, position)} {part}")
    return ", ".join(texts)


def _param_attributes(type: Type, position: int) -> str:
    if not isinstance(type, ArrayType):
        return " noundef"
    if position == 0:
        return f" noundef align {type.dtype.part.itemsize}"
    if 2 <= position < 2 + type.ndim:
        return " noundef range(i64 0, -9223372036854775808)"
    return " noundef"


def return_by_value(e: FunctionEmitter, parts: Sequence[Text], results: Sequence[str], raising: bool) -> None:
    """Return the components, after a status of 0 if the function raises."""
    types = ["i32", *results] if raising else list(results)
    values = ["0", *parts] if raising else list(parts)
    if not types:
        e.line("ret void")
    elif len(types) == 1:
        e.line(f"ret {types[0]} {values[0]}")
    else:
        whole = f"{{ {', '.join(types)} }}"
        aggregate = "poison"
        for position, (type, value) in enumerate(zip(types, values)):
            aggregate = e.let(f"insertvalue {whole} {aggregate}, {type} {value}, {position}")
        e.line(f"ret {whole} {aggregate}")


def return_exception(e: FunctionEmitter, exception: Text, text: str) -> None:
    """Return an exception value."""
    if text == "i32":
        e.line(f"ret i32 {exception}")
    else:
        aggregate = e.let(f"insertvalue {text} poison, i32 {exception}, 0")
        e.line(f"ret {text} {aggregate}")


def finish(e: FunctionEmitter, header: str, error: str) -> str:
    """The text of a function whose ops are emitted: hot blocks, the error return, cold blocks. `error` is its return type, "" for a
    bare status."""
    e.finish_chains(e.handlers[0])
    e.aliasing.finish()
    raised = e.handlers[0].join
    if raised.incoming:
        (exception,) = e.begin_join(raised)
        return_exception(e, exception, error)
    return "\n".join((f"{header} {{", "entry:", *e.entry, *e.lines, *e.cold, "}", ""))


def unpack(e: FunctionEmitter, aggregate: Text, text: str, count: int) -> list[Text]:
    """The members of a returned value."""
    if count <= 1:
        return [aggregate] * count
    return [e.let(f"extractvalue {text} {aggregate}, {position}") for position in range(count)]


def arguments(e: FunctionEmitter, op: Op) -> str:
    """The arguments of a call."""
    texts = ["ptr %ctx"]
    for operand in op.operands:
        texts += (f"{type} {part}" for type, part in zip(components(operand.type), e.get(operand)))
    return ", ".join(texts)


def _call(e: FunctionEmitter, op: Op) -> None:
    callee = str(op.attrs["callee"])
    function = e.module.module.functions[callee]
    raising = callee in e.module.exceptions.raising
    text = result_text(function.result_types, raising)
    count = len(all_components(function.result_types)) + raising
    call = f"call {text} {symbol(body_name(e.module.module.entry, callee))}({arguments(e, op)})"
    if not count:
        e.line(call)
        return
    parts = unpack(e, e.let(call), text, count)
    if raising:
        if raises(e.module.exceptions, op):
            _propagate(e, op, parts[0])
        parts = parts[1:]
    e.define(op.results, parts)


def body_name(entry: str, callee: str) -> str:
    """The symbol of the form that is called by value; the entry function has its own form beside it."""
    return f"{callee}.body" if callee == entry else callee


def _propagate(e: FunctionEmitter, op: Op, status: Text) -> None:
    """Leave with the callee's exception, the call appended to the traceback."""
    fine = e.let(f"icmp eq i32 {status}, 0")
    failed = e.branch(fine, "raised")
    site = e.module.site(SiteKind.CALL, e.function, op)
    with e.cold_block(failed):
        e.line(f"call void {e.module.runtime('qd_traceback')}(ptr %ctx, i32 {site})")
        e.leave(status, op.cleanup)


# Calls back into Python


def _from_word(e: FunctionEmitter, word: Text, type: str) -> Text:
    """The component that an i64 stands for."""
    if type == "i64":
        return word
    if type == "ptr":
        return e.let(f"inttoptr i64 {word} to ptr")
    if type[0] == "i":
        return e.let(f"trunc i64 {word} to {type}")
    double = e.let(f"bitcast i64 {word} to double")
    if type == "double":
        return double
    single = e.let(f"fptrunc double {double} to float")
    return single if type == "float" else from_float(e, single)


def _pycall(e: FunctionEmitter, op: Op) -> None:
    args, result = op.attrs["args"], op.attrs["result"]
    assert isinstance(args, Type) and isinstance(result, Type)
    site = e.module.site(SiteKind.HOST, e.function, op, args=args, target=str(op.attrs["target"]), result=result)
    words = words_of(e, op.operands)
    results = all_components([value.type for value in op.results])
    buffer = hostcalls.buffer(e, max(len(words), len(results)))
    for position, word in enumerate(words):
        at = e.let(f"getelementptr i64, ptr {buffer}, i64 {position}")
        e.line(f"store i64 {as_word(e, word)}, ptr {at}, align 8")
    fine = e.let(f"icmp eq i32 {hostcalls.call_host(e, site, buffer)}, 0")
    raise_python_error_in(e, e.branch(fine, "error"), op, site)
    parts = []
    for position, type in enumerate(results):
        at = e.let(f"getelementptr i64, ptr {buffer}, i64 {position}")
        parts.append(_from_word(e, e.let(f"load i64, ptr {at}, align 8"), type))
    e.define(op.results, parts)


EMITTERS: dict[str, Emitter] = {"call": _call, "pycall": _pycall}
