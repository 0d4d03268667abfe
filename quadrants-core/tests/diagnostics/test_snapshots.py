"""What the compiler says to wrong programs: the example of each code against its snapshot.

`python tools/error_snapshots.py` writes the snapshots; a change in a text shows up in review as a change of its file.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from quadrants.diagnostics import Code

ROOT = Path(__file__).resolve().parents[3]
SNAPSHOTS = sorted((Path(__file__).parent / "snapshots").glob("QD*.txt"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_error_snapshots", ROOT / "tools" / "error_snapshots.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_the_compiler_says_what_the_snapshot_says(tool: ModuleType, path: Path) -> None:
    code = next(code for code in Code if str(code) == path.stem)
    program = tool.program_of(code)
    assert program is not None
    assert tool.run(program) == path.read_text(encoding="utf-8")
