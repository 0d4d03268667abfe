"""Errors: classes, texts, excerpts, pickling."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from quadrants.diagnostics import (
    BackendUnavailable,
    CacheError,
    Code,
    CompileAttributeError,
    CompileError,
    CompileNameError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
    DeviceError,
    QuadrantsError,
    SettingError,
    SourceLocation,
)
from quadrants.diagnostics.errors import class_of

PROGRAM = """\
def energy(x, y):
    é = "日本"; z = x + (é * 2)
\tw = x +\t(y * 2)
    return first(x,
                 second(y) +
                 3)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


def locate(filename: str, text: str, function: str = "energy") -> SourceLocation:
    """The location of the first occurrence of `text` in the program, with columns in bytes as CPython gives them."""
    start = PROGRAM.index(text)
    before, through = PROGRAM[:start], PROGRAM[: start + len(text)]

    def place(prefix: str) -> tuple[int, int]:
        return prefix.count("\n") + 1, len(prefix[prefix.rfind("\n") + 1 :].encode())

    (line, col), (end_line, end_col) = place(before), place(through)
    return SourceLocation(filename, line, col, end_line, end_col, function)


def body(error: QuadrantsError) -> str:
    """The text of an error without the folder of its program."""
    assert error.location is not None
    return str(error).replace(error.location.filename, "program.py")


@pytest.mark.parametrize(
    ("code", "cls", "python"),
    [
        (Code.UNSUPPORTED_WITH, CompileSyntaxError, SyntaxError),
        (Code.UNDEFINED_NAME, CompileNameError, NameError),
        (Code.BAD_OPERAND, CompileTypeError, TypeError),
        (Code.NO_ATTRIBUTE, CompileAttributeError, AttributeError),
        (Code.NO_ATTRIBUTE, CompileAttributeError, TypeError),
        (Code.NO_BYTECODE, CompileTypeError, TypeError),
        (Code.NOT_CONSTANT, CompileValueError, ValueError),
        (Code.BACKEND_MISSING, BackendUnavailable, QuadrantsError),
        (Code.DATA_RACE, DeviceError, RuntimeError),
        (Code.CACHE_DAMAGED, CacheError, QuadrantsError),
        (Code.BAD_SETTING, SettingError, ValueError),
    ],
)
def test_the_class_follows_from_the_code(code: Code, cls: type[QuadrantsError], python: type[Exception]) -> None:
    error = QuadrantsError(code, "text")
    assert type(error) is cls
    assert isinstance(error, python)


def test_a_class_that_does_not_fit_the_code_is_kept() -> None:
    assert type(BackendUnavailable(Code.BAD_OPERAND, "text")) is BackendUnavailable


def test_compile_error_makes_every_compile_class() -> None:
    made = {type(CompileError(code, "text")) for code in Code if code.value < 500 and class_of(code) is not DeviceError}
    assert made == {
        CompileSyntaxError,
        CompileNameError,
        CompileTypeError,
        CompileAttributeError,
        CompileValueError,
        type(CompileError(Code.BAD_LAUNCH, "")),
        BackendUnavailable,
    }
    assert all(issubclass(cls, CompileError) for cls in made)


def test_full_text(program: str) -> None:
    error = CompileError(
        Code.BAD_OPERAND,
        "operator + is not defined for float64 and str",
        locate(program, "x + (é * 2)"),
        types=[("x", "float64"), ("é * 2", "str")],
        hint="convert one operand\nwith float()",
        notes=["str is a constant"],
    )
    error.add_caller(SourceLocation(program, 4, 11, 4, 16, "middle"))
    error.add_caller(SourceLocation(program, 5, 17, 5, 26, "outer"))
    assert body(error) == textwrap.dedent("""\
        QD208: operator + is not defined for float64 and str
          --> program.py:2:19 in energy
            |
          2 |     é = "日本"; z = x + (é * 2)
            |                     ^^^^^^^^^^^
          where x     : float64
                é * 2 : str
          called from program.py:4:12 in middle: first
          called from program.py:5:18 in outer: second(y)
          note: str is a constant
          hint: convert one operand
                with float()""")


def test_tabs_are_repeated_under_the_line(program: str) -> None:
    text = body(CompileError(Code.BAD_OPERAND, "m", locate(program, "(y * 2)")))
    assert "  3 | \tw = x +\t(y * 2)\n    | \t       \t^^^^^^^" in text


def test_an_expression_over_several_lines(program: str) -> None:
    location = locate(program, "first(x,\n                 second(y) +\n                 3)")
    assert body(CompileError(Code.UNSUPPORTED_CALL, "m", location)).splitlines()[2:] == [
        "    |",
        "  4 |     return first(x,",
        "    |            ^^^^^^^^",
        "  5 |                  second(y) +",
        "    |                  ^^^^^^^^^^^",
        "  6 |                  3)",
        "    |                  ^^",
    ]


def test_a_long_expression_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("x = (1,\n" + "     2,\n" * 20 + "     3)\n")
    text = str(CompileError(Code.BAD_OPERAND, "m", SourceLocation(str(path), 1, 4, 22, 7, "f")))
    assert "   1 | x = (1,\n" in text
    assert "  22 |      3)\n" in text
    assert "    ...\n" in text
    assert "   9 |" not in text


@pytest.mark.parametrize(
    "location",
    [
        SourceLocation("<stdin>", 3, 4, 3, 8, "f"),
        SourceLocation("/no/such/file.py", 3, 4, 3, 8, "f"),
        SourceLocation("<string>", None, None, None, None, None),
    ],
)
def test_no_source_no_excerpt(location: SourceLocation) -> None:
    text = str(CompileError(Code.BAD_OPERAND, "m", location))
    assert len(text.splitlines()) == 2
    assert location.filename in text


def test_no_columns_no_carets(program: str) -> None:
    text = body(CompileError(Code.BAD_OPERAND, "m", SourceLocation(program, 4, None, None, None, "f")))
    assert "  4 |     return first(x," in text
    assert "^" not in text
    assert "program.py:4 in f" in text


def test_columns_out_of_the_line_do_not_fail(program: str) -> None:
    text = body(CompileError(Code.BAD_OPERAND, "m", SourceLocation(program, 1, 500, 1, 510, "f")))
    assert "def energy" in text


def test_a_long_call_chain_shows_its_ends(program: str) -> None:
    error = CompileError(Code.BAD_OPERAND, "m", locate(program, "x + "))
    for depth in range(30):
        error.add_caller(SourceLocation("<string>", depth + 1, 0, depth + 1, 1, f"f{depth}"))
    lines = [line for line in str(error).splitlines() if "called from" in line or "more calls" in line]
    assert len(lines) == 9
    assert "in f0" in lines[0] and "22 more calls" in lines[4] and "in f29" in lines[-1]


@pytest.mark.parametrize("code", list(Code))
def test_pickle_and_copy(code: Code) -> None:
    error = QuadrantsError(
        code, "text", SourceLocation("a.py", 1, 2, 3, 4, "f"), types=[("x", "i64")], hint="h", notes=["n"]
    )
    error.add_caller(SourceLocation("b.py", 5))
    error.add_note("from outside")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__notes__ == ["from outside"]
        assert (again.code, again.location, again.types) == (code, error.location, error.types)
        assert again.args == error.args


def test_a_copy_shares_no_lists() -> None:
    error = QuadrantsError(Code.BAD_OPERAND, "text")
    again = copy.deepcopy(error)
    again.add_caller(SourceLocation("b.py", 5))
    assert error.call_chain == []


def test_the_interpreter_prints_the_full_text() -> None:
    program = (
        "from quadrants.diagnostics import CompileError, Code, SourceLocation\n"
        "raise CompileError(Code.UNSUPPORTED_WITH, 'no with here', SourceLocation('<string>', 7, 0, 7, 3, 'f'), hint='move it')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(
        "quadrants.CompileSyntaxError: QD108: no with here\n  --> <string>:7:1 in f\n  hint: move it"
    )


def test_location_of_an_instruction() -> None:
    def f(a: int, b: int) -> int:
        return a + b * 2

    code = f.__code__
    spans = set()
    for offset in range(0, len(code.co_code), 2):
        location = SourceLocation.of_instruction(code, offset)
        assert location.filename == __file__
        assert location.function == f.__qualname__
        spans.add((location.col, location.end_col))
    assert (19, 24) in spans and (15, 24) in spans
    assert SourceLocation.of_code(code).line == code.co_firstlineno
    assert SourceLocation.of_instruction(code, 10**6) == SourceLocation.of_code(code)
