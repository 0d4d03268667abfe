"""Exceptions: class, arguments, traceback with the user's lines and columns, and no frame of ours."""

from __future__ import annotations

import collections
import io
import linecache
import os
import sys
import traceback
import types
from typing import Any

import numpy as np
import pytest
from host.native import Dispatcher, function_of, make

from quadrants import host
from quadrants.diagnostics import Code, CompileError
from quadrants.host.layout import native_call_supported
from quadrants.host.native_type import Retry, install
from quadrants.host.spec import GlobalDependency
from quadrants.ir.origin import Loc, Scope
from quadrants.lower import abi
from quadrants.lower.abi import Site, SiteKind
from quadrants.types import (
    F64,
    NONE,
    PYBOOL,
    PYFLOAT,
    PYINT,
    ArrayType,
    FormatHole,
    FormatType,
    LiteralType,
    NamedTupleType,
    OptionalType,
    TupleType,
    Type,
)

FILE = "<user program>"
OURS = os.path.dirname(host.__file__)
SOURCE = "def outer(x):\n    return inner(x, 1)\n\ndef inner(x, y):\n    return x / (y - 1)\n"
linecache.cache[FILE] = (len(SOURCE), None, SOURCE.splitlines(True), FILE)
OUTER, INNER, LIBRARY = Scope(FILE, "outer", 1), Scope(FILE, "inner", 4), Scope(FILE, "helper", 9, internal=True)
AT_CALL, AT_DIVISION = Loc(2, 11, 2, 22), Loc(5, 11, 5, 22)


class CustomError(Exception):
    def __init__(self, code: int, *rest: object) -> None:
        super().__init__(code, *rest)
        self.code = code


def throw(exc: int, site: int, words: list[str], callers: list[int]) -> str:
    """The instructions that fill record 0 and return its exception value."""
    lines = [f"  %count.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_RECORDS}", f"  store i32 {site}, ptr %count.at"]
    lines += [
        f"  %n.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_RECORDS + 4}",
        f"  store i32 {len(words)}, ptr %n.at",
    ]
    for i, word in enumerate(words):
        lines += [
            f"  %w{i} = getelementptr i8, ptr %ctx, i64 {abi.CTX_RECORDS + 8 + 8 * i}",
            f"  store {word}, ptr %w{i}",
        ]
    lines += [
        f"  %len.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_TB_LEN}",
        f"  store i32 {len(callers)}, ptr %len.at",
    ]
    for i, caller in enumerate(callers):
        lines += [
            f"  %c{i} = getelementptr i8, ptr %ctx, i64 {abi.CTX_TB_SITES + 4 * i}",
            f"  store i32 {caller}, ptr %c{i}",
        ]
    return "\n".join((*lines, f"  ret i32 {exc}"))


def raising(
    args: Type | None = None,
    words: list[str] | None = None,
    exc: Any = "builtins:ValueError",
    callers: list[int] | None = None,
    sites: list[Site] | None = None,
    params: list[Type] | None = None,
    **fields: Any,
) -> Any:
    """A kernel that raises."""
    args = TupleType((LiteralType("bad"), PYFLOAT)) if args is None else args
    words = ["double %p0"] if words is None else words
    chosen = sites or [Site(SiteKind.RAISE, AT_DIVISION, INNER, 1, args), Site(SiteKind.CALL, AT_CALL, OUTER)]
    return make(params or [PYFLOAT], NONE, throw(1, 0, words, callers or []), sites=chosen, classes=[exc], **fields)


def caught(call: Any, *arguments: Any) -> BaseException:
    try:
        call(*arguments)
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not raise")


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The entries of a traceback. The ctypes path runs in Python: there, frames of ours are left out."""
    found = list(traceback.extract_tb(error.__traceback__))
    return found if native_call_supported() else [f for f in found if not f.filename.startswith(OURS)]


def innermost(error: BaseException) -> types.FrameType:
    """The frame of the innermost entry."""
    entry = error.__traceback__
    assert entry is not None
    while entry.tb_next is not None:
        entry = entry.tb_next
    return entry.tb_frame


def test_class_and_arguments() -> None:
    error = caught(raising(), 1.5)
    assert type(error) is ValueError and error.args == ("bad", 1.5)


def test_arguments_of_every_kind() -> None:
    pair = collections.namedtuple("pair", "a b")
    text = FormatType(("index ", FormatHole(PYINT), " is ", FormatHole(PYFLOAT, "", "+.1f"), FormatHole(F64, "r")))
    args = TupleType(
        (
            text,
            PYBOOL,
            OptionalType(PYINT),
            OptionalType(PYINT),
            TupleType((PYINT,)),
            NamedTupleType((PYINT, NONE), ("a", "b"), pair),
            NONE,
        )
    )
    words = ["i64 7", "double 1.5", "double 2.5", "i64 1", "i64 0", "i64 9", "i64 1", "i64 8", "i64 3", "i64 4"]
    error = caught(raising(args, words), 1.0)
    assert error.args == ("index 7 is +1.5np.float64(2.5)", True, None, 8, (3,), pair(4, None), None)


def test_user_classes() -> None:
    for exc in (f"{CustomError.__module__}:CustomError", CustomError):
        error = caught(raising(TupleType((PYINT,)), ["i64 -3"], exc), 1.0)
        assert type(error) is CustomError and error.code == -3


def test_a_class_inside_a_function_is_found_among_the_dependencies() -> None:
    class LocalError(Exception):
        pass

    name = f"{LocalError.__module__}:{LocalError.__qualname__}"
    names: dict[str, object] = {"errors": (ValueError, LocalError)}
    dependency = GlobalDependency(names, "errors", names["errors"])
    error = caught(raising(exc=name, dicts=1, dependencies=[dependency]), 1.5)
    assert type(error) is LocalError


def test_a_class_that_cannot_be_found_or_made() -> None:
    assert isinstance(caught(raising(exc="builtins:NoSuchError"), 1.0), AttributeError)
    assert isinstance(caught(raising(exc="builtins:len"), 1.0), TypeError)
    assert isinstance(caught(raising(TupleType(()), [], CustomError), 1.0), TypeError)


def test_more_arguments_than_a_record_holds() -> None:
    args = TupleType((PYINT,) * 20)
    error = caught(raising(args, [f"i64 {i}" for i in range(16)]), 1.0)
    assert error.args[:16] == tuple(range(16)) and error.args[16:] == ("<pyint>",) * 4


def test_traceback_shows_the_users_lines() -> None:
    error = caught(raising(callers=[1]), 1.5)
    assert [f.name for f in frames(error)] == ["caught", "outer", "inner"]
    assert [(f.filename, f.name, f.lineno, f.colno, f.end_colno) for f in frames(error)[1:]] == [
        (FILE, "outer", 2, 11, 22),
        (FILE, "inner", 5, 11, 22),
    ]
    text = "".join(traceback.format_exception(error))
    assert "return x / (y - 1)" in text and "return inner(x, 1)" in text and "^^^" in text


def test_frames_of_the_library_are_hidden() -> None:
    args = TupleType((LiteralType("bad"), PYFLOAT))
    sites = [Site(SiteKind.RAISE, AT_DIVISION, LIBRARY, 1, args), Site(SiteKind.CALL, AT_CALL, OUTER)]
    error = caught(raising(callers=[1], sites=sites), 1.5)
    assert [f.name for f in frames(error)][1:] == ["outer"]


def test_a_place_without_columns() -> None:
    args = TupleType((LiteralType("bad"), PYFLOAT))
    for loc, line in (
        (Loc(5), 5),
        (None, 4),
        (Loc(5, 3, 5, 3), 5),
        (Loc(70000, 200, 70012, 4000), 70000),
        (Loc(1, 0, 1, 3), 1),
    ):
        error = caught(raising(sites=[Site(SiteKind.RAISE, loc, INNER, 1, args)]), 1.5)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        assert (frame.name, frame.lineno) == ("inner", line)
        if loc and loc.end_line > loc.line:
            assert (frame.colno, frame.end_lineno, frame.end_colno) == (200, 70012, 4000)
        code = innermost(error).f_code
        assert code.co_qualname == "inner" and len(list(code.co_positions())) == len(code.co_code) // 2


def test_frames_can_be_used_as_any_other() -> None:
    error = caught(raising(), 1.5)
    frame = innermost(error)
    assert frame.f_locals == {} and frame.f_lineno and frame.f_back is None
    traceback.clear_frames(error.__traceback__)
    assert "inner" in repr(frame)


def test_context_of_an_exception_that_is_handled() -> None:
    kernel = raising()
    try:
        raise KeyError("first")
    except KeyError as first:
        second = caught(kernel, 1.0)
        assert second.__context__ is first
    assert caught(kernel, 1.0).__context__ is None


def test_status_without_an_error() -> None:
    kernel = make([], NONE, f"  ret i32 {abi.PYTHON_ERROR}")
    assert isinstance(caught(kernel), SystemError)


def test_damaged_records_are_harmless() -> None:
    for status in (0x00FF, 0x7FFF0001, -1, 0x00050001):
        body = throw(status, 1234567, [], [])
        error = caught(make([PYFLOAT], NONE, body, classes=["builtins:ValueError"]), 1.0)
        assert isinstance(error, (ValueError, SystemError))


# Calls back into Python


def printing(args: TupleType, words: list[str], result: Type = NONE, target: str = "builtins:print") -> Any:
    """A kernel that calls Python and passes on its failure."""
    site = Site(SiteKind.HOST, AT_DIVISION, INNER, args=args, target=target, result=result)
    lines = ["  %buffer = alloca [32 x i64]"]
    for i, word in enumerate(words):
        lines += [f"  %b{i} = getelementptr i64, ptr %buffer, i64 {i}", f"  store {word}, ptr %b{i}"]
    lines += [
        f"  %call.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_HOSTCALL}",
        "  %call = load ptr, ptr %call.at",
        "  %status = call i32 %call(ptr %ctx, i32 0, ptr %buffer)",
        f"  %site.at = getelementptr i8, ptr %ctx, i64 {abi.CTX_RECORDS}",
        "  store i32 0, ptr %site.at",
    ]
    if result != NONE:
        lines += ["  %value = load i64, ptr %buffer", "  store i64 %value, ptr %r0"]
    return make([PYFLOAT, ArrayType(F64, 1)], result, "\n".join((*lines, "  ret i32 %status")), sites=[site])


def test_print_goes_through_sys_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    args = TupleType((LiteralType("x"), PYFLOAT, ArrayType(F64, 1), LiteralType(repr((("sep", "|"), ("end", "!\n"))))))
    kernel = printing(args, ["double %p0", "ptr %p1", "ptr %p2", "i64 %p3", "i64 %p4"])
    out.write("before ")
    kernel(1.5, np.arange(2.0))
    assert out.getvalue() == "before x|1.5|[0. 1.]!\n"


def test_results_of_python() -> None:
    args = TupleType((TupleType((PYINT, PYINT)), LiteralType("()")))
    assert printing(args, ["i64 3", "i64 4"], PYINT, "builtins:sum")(1.0, np.zeros(1)) == 7


def test_errors_of_python_pass_through() -> None:
    class Out(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("full")

    kernel = printing(TupleType((PYFLOAT, LiteralType("()"))), ["double %p0"])
    before, sys.stdout = sys.stdout, Out()
    try:
        error = caught(kernel, 1.5, np.zeros(1))
    finally:
        sys.stdout = before
    assert isinstance(error, OSError)
    names = [f.name for f in frames(error)]
    assert names == ["caught", "inner", "write"]


# The first call, and what the Python side says


def test_no_frame_of_ours_at_the_first_call() -> None:
    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        assert not retried
        from host.native import load_kernel

        site = Site(SiteKind.RAISE, AT_DIVISION, INNER, 1, TupleType((LiteralType("bad"), PYFLOAT)))
        install(
            self,
            load_kernel(
                [PYFLOAT], NONE, throw(1, 0, ["double %p0"], []), sites=[site], classes=["builtins:ValueError"]
            ),
        )
        return Retry(arguments)

    error = caught(Dispatcher(function_of(1), on_miss), 2.5)
    assert error.args == ("bad", 2.5)
    assert [f.name for f in frames(error)] == ["caught", "inner"]


def test_compile_errors_come_without_our_frames() -> None:
    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        raise CompileError(Code.TYPE_MISMATCH, "these do not fit")

    for call in ((1,), (2,)):
        error = caught(Dispatcher(function_of(1), on_miss), *call)
        assert isinstance(error, CompileError)
        assert [f.name for f in frames(error)] == ["caught"]


def test_other_errors_keep_their_traceback() -> None:
    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        return {}["missing"]

    error = caught(Dispatcher(function_of(1), on_miss), 1)
    assert isinstance(error, KeyError)
    assert [f.name for f in frames(error)][-1] == "on_miss"


def test_a_retry_that_misses_again_is_an_error() -> None:
    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        seen.append(retried)
        return Retry(arguments)

    seen: list[bool] = []
    error = caught(Dispatcher(function_of(1), on_miss), 1)
    assert "no compiled code takes" in str(error) and seen[-1] and len(seen) <= 3


def test_retry_with_other_arguments() -> None:
    def on_miss(self: Any, arguments: tuple[Any, ...], retried: bool) -> Any:
        return Retry(tuple(map(float, arguments)))

    kernel = make([PYFLOAT], PYFLOAT, "  store double %p0, ptr %r0\n  ret i32 0")
    kernel.on_miss = on_miss
    assert kernel(3) == 3.0 and type(kernel(3)) is float and kernel("4") == 4.0
