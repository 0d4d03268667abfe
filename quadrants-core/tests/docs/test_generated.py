"""The generated parts of the documentation are current: the lists from the compiler's tables, the stages of one function."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / "tools"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", TOOLS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lists = tool("doc_lists")
stages = tool("stage_pages")


@pytest.mark.parametrize("name", lists.PAGES)
def test_lists(name: str) -> None:
    path = ROOT / "docs" / name
    text = path.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(lists.filled(text), encoding="utf-8")
        return
    assert lists.filled(text) == text, "run make docs"


def test_every_listed_function_of_numpy_exists() -> None:
    """The lists name functions that NumPy has, and no list is empty."""
    for name, make in lists.LISTS.items():
        assert re.search(r"`\w+`", make()), name
    for name in re.findall(r"`([a-z]\w*)`", lists.numpy_list().replace("`out=`", "").replace("`dtype=`", "")):
        assert any(hasattr(home, name) for home in (np, np.linalg, np.lib.stride_tricks)), name


def test_stages() -> None:
    if not stages.possible():
        pytest.skip("the page shows the bytecode of CPython 3.11 and the assembly of x86-64")
    arguments = [] if os.environ.get("UPDATE_GOLDEN") else ["--check"]
    done = subprocess.run(
        [sys.executable, str(TOOLS / "stage_pages.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
