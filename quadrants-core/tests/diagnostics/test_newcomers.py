"""What is said to people who come from Python, NumPy or Numba: one wrong program a habit, with the whole text of its error.

`snapshots/newcomers.txt` has the programs and the texts. UPDATE_SNAPSHOTS=1 writes the texts anew; they are to be read as somebody
would who has seen nothing else of Quadrants.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILE = Path(__file__).parent / "snapshots" / "newcomers.txt"
BETWEEN, BEHIND = "\n\n===\n\n", "\n---\n"
RECORDED_ON = (3, 11)
CASES = [tuple(part.split(BEHIND, 1)) for part in FILE.read_text(encoding="utf-8").rstrip("\n").split(BETWEEN)]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_error_snapshots", ROOT / "tools" / "error_snapshots.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(tool: ModuleType, program: str) -> str:
    return str(tool.run(tool.PRELUDE + program + "\n")).rstrip("\n")


def outline(text: str) -> list[str]:
    """A text without places and excerpts, which depend on the version of Python, and without the texts of NumPy and Python."""
    lines = [line for line in text.splitlines() if not re.match(r"  --> |  called from | *\d* \||  File |    ", line)]
    return [line if re.match(r"\w*: QD\d|  \w", line) else line.partition(":")[0] for line in lines]


def test_there_are_many() -> None:
    assert len(CASES) >= 100


@pytest.mark.skipif("UPDATE_SNAPSHOTS" not in os.environ, reason="writes the snapshots")
def test_write(tool: ModuleType) -> None:
    FILE.write_text(
        BETWEEN.join(f"{program}{BEHIND}{said(tool, program)}" for program, _ in CASES) + "\n", encoding="utf-8"
    )


@pytest.mark.parametrize(("program", "wanted"), CASES)
def test_the_text_is_as_recorded(tool: ModuleType, program: str, wanted: str) -> None:
    text = said(tool, program)
    if sys.version_info[:2] == RECORDED_ON:
        assert text == wanted
    assert outline(text) == outline(wanted)


@pytest.mark.parametrize(("program", "wanted"), CASES)
def test_the_text_helps(program: str, wanted: str) -> None:
    """Every error of the compiler shows the line and a way out, and no text names what only the compiler knows."""
    if ": QD" in wanted.partition("\n")[0]:
        assert re.search(r"^  hint: ", wanted, re.MULTILINE), wanted
    assert not re.search(r"quadrants[./](infer|library|ir|host)|LiteralType|QD599|\b(f64|i64)\b", wanted), wanted
