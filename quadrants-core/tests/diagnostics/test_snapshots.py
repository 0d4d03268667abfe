"""What the compiler says to wrong programs: the example of each code against its snapshot.

`python tools/error_snapshots.py` writes the snapshots; a change in a text shows up in review as a change of its file.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from quadrants.diagnostics import Code

ROOT = Path(__file__).resolve().parents[3]
RECORDED_ON = (3, 11)
SNAPSHOTS = sorted((Path(__file__).parent / "snapshots").glob("QD*.txt"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_error_snapshots", ROOT / "tools" / "error_snapshots.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outline(text: str) -> list[str]:
    """A text without places, excerpts and calls: which range a bytecode instruction has, and whether a comprehension is a function,
    depends on the version of Python."""
    return [line for line in text.splitlines() if not re.match(r"  --> |  called from | *\d* \||  File |    ", line)]


def test_there_are_many() -> None:
    assert len(SNAPSHOTS) >= 50


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_the_compiler_says_what_the_snapshot_says(tool: ModuleType, path: Path) -> None:
    code = next(code for code in Code if str(code) == path.stem)
    program, wanted = tool.program_of(code), path.read_text(encoding="utf-8")
    assert program is not None
    text = tool.run(program)
    if sys.version_info[:2] == RECORDED_ON:
        assert text == wanted
    assert outline(text) == outline(wanted)
    assert ("^" in text) == ("^" in wanted), "the excerpt has lost its carets"
