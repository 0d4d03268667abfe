"""Checks and exceptions.

A failing check leaves the hot path by a branch that is marked unlikely. The cold block fills a record of the context (through
a helper out of line), then goes through the cleanup to the handler.
"""

from __future__ import annotations

from collections.abc import Sequence

from quadrants.ir.core import Op, Value
from quadrants.lower.abi import (
    CLASS_MASK,
    CTX_STACK_LIMIT,
    CTX_STACK_LOWEST,
    PAYLOAD_WORDS,
    PYTHON_ERROR,
    STOPPED,
    SiteKind,
    components,
)
from quadrants.lower.analysis import BUILTIN, RECURSION_ERROR, foreign_classes
from quadrants.lower.emit import Emitter, FunctionEmitter, Text
from quadrants.lower.half import to_float
from quadrants.lower.hostcalls import buffer, call_host
from quadrants.lower.nodes import CONTEXT, LIKELY
from quadrants.lower.runtime import RAISE_WIDTHS, WORDS_SHIFT
from quadrants.types import LiteralType, Scalar, TupleType, Type

#: A component with its LLVM type; that of an unsigned integer or a boolean has a "u" before.
Word = tuple[str, Text]

#: By how many bytes each call of a recursive function raises the limit of the stack, until it polls: of 8 MiB, after 2^17 calls.
_RAISE = 64

_RECURSION = "maximum recursion depth exceeded in a compiled function"

#: Names of the exceptions that the interpreter exports as `PyExc_<name>`.


def words_of(e: FunctionEmitter, values: Sequence[Value]) -> list[Word]:
    """The components of values, as words."""
    words = []
    for value in values:
        unsigned = isinstance(value.type, Scalar) and not value.type.is_signed
        for type, part in zip(components(value.type), e.get(value)):
            words.append(("u" + type if unsigned and type[0] == "i" else type, part))
    return words


def as_word(e: FunctionEmitter, word: Word) -> Text:
    """The component as an i64: integers extended by their sign, floats as the bits of a double, pointers as addresses."""
    type, part = word
    if type in ("i64", "ui64"):
        return part
    if type == "ptr":
        return e.let(f"ptrtoint ptr {part} to i64")
    if type == "half":
        type, part = "float", to_float(e, part)
    if type == "float":
        type, part = "double", e.let(f"fpext float {part} to double")
    if type == "double":
        return e.let(f"bitcast double {part} to i64")
    return e.let(f"zext {type[1:]} {part} to i64") if type[0] == "u" else e.let(f"sext {type} {part} to i64")


def throw(e: FunctionEmitter, op: Op | None, exc: str, args: Type, payload: Sequence[Word]) -> None:
    """Fill a record and leave the current block for the handler. In a handler, the first word is the exception that it handles."""
    if e.handling and e.module.exceptions.python_errors:
        e.swallow(e.handling[-1][0])
    number = e.module.exceptions.number(exc)
    chain = "" if not e.handling else str(op.attrs.get("cause") or "context") if op is not None else "context"
    note = str(op.attrs.get("note", "")) if op is not None else ""
    site = e.module.site(SiteKind.RAISE, e.function, op, exc=number, args=args, chain=chain, note=note)
    handled: list[Word] = [("ui32", e.handling[-1][0])] if chain else []
    words = [as_word(e, word) for word in (*handled, *payload)[:PAYLOAD_WORDS]]
    e.leave(_record(e, site, number, words), op.cleanup if op else ())


def _record(e: FunctionEmitter, site: int, number: int | Text, words: list[Text]) -> Text:
    """Fill a record of the context; the exception value."""
    width = next(width for width in RAISE_WIDTHS if width >= len(words))
    padded = (*words, *("poison",) * (width - len(words)))
    given = "".join(f", i64 {word}" for word in padded)
    helper = e.module.runtime(f"qd_raise{width}")
    what = number if isinstance(number, str) else number | len(words) << WORDS_SHIFT
    return e.let(f"call i32 {helper}(ptr %ctx, i32 {site}, i32 {what}{given})")


def raise_in(e: FunctionEmitter, label: str, op: Op | None, exc: str, args: Type, payload: Sequence[Word] = ()) -> None:
    """Write the cold block `label`, which raises."""
    with e.cold_block(label):
        throw(e, op, exc, args, payload)


def raise_python_error_in(e: FunctionEmitter, label: str, op: Op | None, site: int, status: Text = "") -> None:
    """Write the cold block `label`: an error is set in the interpreter (status 2 of a poll: a worker has to stop)."""
    with e.cold_block(label):
        number: int | Text = PYTHON_ERROR
        if status and e.module.is_parallel():
            told = e.let(f"icmp eq i32 {status}, 2")
            number = e.let(f"select i1 {told}, i32 {STOPPED}, i32 {PYTHON_ERROR}")
        e.leave(_record(e, site, number, []), op.cleanup if op else ())


def _check(e: FunctionEmitter, op: Op) -> None:
    condition = e.one(op.operands[0])
    if condition == "true":
        return
    failed = e.branch(condition, "fail")
    raise_in(e, failed, op, str(op.attrs["exc"]), _args(op), words_of(e, op.operands[1:]))


def _raise(e: FunctionEmitter, op: Op) -> None:
    throw(e, op, str(op.attrs["exc"]), _args(op), words_of(e, op.operands))


def _args(op: Op) -> Type:
    args = op.attrs["args"]
    assert isinstance(args, Type)
    return args


def _reraise(e: FunctionEmitter, op: Op) -> None:
    e.leave(e.one(op.operands[0]), op.cleanup)


def _poll(e: FunctionEmitter, op: Op | None) -> None:
    """Ask the interpreter whether a signal came."""
    site = e.module.site(SiteKind.HOST, e.function, op)
    if e.module.options.holds_gil and not e.module.is_parallel():
        check = e.module.external("PyErr_CheckSignals", "declare i32 @PyErr_CheckSignals() cold nounwind")
        status = e.let(f"call i32 {check}()")
    else:
        check = e.module.external("qd_poll", "declare i32 @qd_poll(ptr) cold nounwind")
        status = e.let(f"call i32 {check}(ptr %ctx)")
    quiet = e.let(f"icmp eq i32 {status}, 0")
    raise_python_error_in(e, e.branch(quiet, "interrupt"), op, site, status)


def _match(e: FunctionEmitter, op: Op) -> None:
    names = op.attrs["classes"]
    assert isinstance(names, tuple)
    number = e.let(f"and i32 {e.one(op.operands[0])}, {CLASS_MASK}")
    exceptions = e.module.exceptions
    answer = "false"
    for candidate in exceptions.matching(names):
        equal = e.let(f"icmp eq i32 {number}, {candidate}")
        answer = equal if answer == "false" else e.let(f"or i1 {answer}, {equal}")
    if exceptions.python_errors:
        answer = _match_python(e, op, number, answer, names)
    e.set(op, answer)


def _match_python(e: FunctionEmitter, op: Op, number: Text, answer: Text, names: tuple[str, ...]) -> Text:
    """An error that is set in the interpreter is matched there: against the classes that it exports, then against others."""
    ask, done = e.label("ask"), e.label("matched")
    before = e.block
    python = e.let(f"icmp eq i32 {number}, {PYTHON_ERROR}")
    e.line(f"br i1 {python}, label %{ask}, label %{done}")
    e.begin(ask)
    found = "false"
    ask_python = e.module.external("PyErr_ExceptionMatches", "declare i32 @PyErr_ExceptionMatches(ptr) nounwind")
    for name in names:
        if not name.startswith(BUILTIN):
            continue
        symbol = "PyExc_" + name.removeprefix(BUILTIN)
        variable = e.module.external(symbol, f"@{symbol} = external global ptr, align 8")
        cls = e.let(f"load ptr, ptr {variable}, align 8")
        status = e.let(f"call i32 {ask_python}(ptr {cls})")
        matches = e.let(f"icmp ne i32 {status}, 0")
        found = matches if found == "false" else e.let(f"or i1 {found}, {matches}")
    if others := foreign_classes(op):
        numbers = tuple(e.module.exceptions.number(name) for name in others)
        site = e.module.site(SiteKind.MATCH, e.function, op, classes=numbers)
        word = buffer(e, 1)
        e.line(f"store i64 0, ptr {word}, align 8")
        call_host(e, site, word)  # an error of its own takes the place of the other, and has not matched
        matches = e.let(f"icmp ne i64 {e.let(f'load i64, ptr {word}, align 8')}, 0")
        found = matches if found == "false" else e.let(f"or i1 {found}, {matches}")
    e.line(f"br label %{done}")
    e.begin(done)
    return e.let(f"phi i1 [ {answer}, %{before} ], [ {found}, %{ask} ]")


def guard_stack(e: FunctionEmitter) -> None:
    """The prologue of a recursive function: RecursionError when its frame is below the limit, and a poll now and then.

    One comparison serves both: each call raises the limit that is compared by `_RAISE`. A frame below that limit, but not
    below the one that was set, means that there were many calls: time to poll and to start anew.
    """
    frame = e.let("call ptr @llvm.frameaddress.p0(i32 0)")
    here = e.let(f"ptrtoint ptr {frame} to i64")
    at = e.let(f"getelementptr i8, ptr %ctx, i64 {CTX_STACK_LIMIT}")
    limit = e.let(f"load i64, ptr {at}, align 8, {CONTEXT}")
    following = e.let(f"add i64 {limit}, {_RAISE}")
    e.line(f"store i64 {following}, ptr {at}, align 8, {CONTEXT}")
    fits = e.let(f"icmp uge i64 {here}, {limit}")
    due, go_on = e.label("due"), e.label("enter")
    e.line(f"br i1 {fits}, label %{go_on}, label %{due}, {LIKELY}")
    e.begin(due)
    set_at = e.let(f"getelementptr i8, ptr %ctx, i64 {CTX_STACK_LOWEST}")
    lowest = e.let(f"load i64, ptr {set_at}, align 8, {CONTEXT}")
    fits = e.let(f"icmp uge i64 {here}, {lowest}")
    raise_in(e, e.branch(fits, "overflow"), None, RECURSION_ERROR, TupleType((LiteralType(_RECURSION),)))
    e.line(f"store i64 {lowest}, ptr {at}, align 8, {CONTEXT}")
    _poll(e, None)
    e.line(f"br label %{go_on}")
    e.begin(go_on)


EMITTERS: dict[str, Emitter] = {
    "check": _check,
    "raise": _raise,
    "reraise": _reraise,
    "poll": _poll,
    "exc.match": _match,
}
