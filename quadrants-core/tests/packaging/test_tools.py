"""The helper scripts of the repository."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", TOOLS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_api_reference_is_complete(tmp_path: Path) -> None:
    pages = load("api_pages")
    assert pages.main(["--out", str(tmp_path)]) == 0
    for name in pages.MODULES:
        text = (tmp_path / f"{name}.md").read_text()
        for public in pages.public_names(sys.modules[name]):
            assert f"`{public}" in text


def test_style_finds_breaches(tmp_path: Path) -> None:
    style = load("check_style")
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + "    x = 1\n" * 60 + "\n" * 600)
    assert [text.split(":")[0] for _, text in style.breaches(path)] == ["661 lines", "f has 61 lines"]


@pytest.mark.parametrize(("command", "status"), [("import sys; sys.exit(0)", 0), ("import sys; sys.exit(3)", 1)])
def test_each_python_runs_a_command_and_reports_failure(command: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, str(TOOLS / "each_python.py"), "--", sys.executable, "-c", command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"== Python {version}: " in done.stdout
    assert ("failed on" in done.stdout) == bool(status)


def test_each_python_leaves_out_the_one_that_runs_it() -> None:
    command = [sys.executable, str(TOOLS / "each_python.py"), "--others", "--", sys.executable, "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert f"== Python {sys.version_info.major}.{sys.version_info.minor}:" not in done.stdout
    assert done.stdout.endswith("== passed on every Python found\n")
