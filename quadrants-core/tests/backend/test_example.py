"""A backend from outside: built as a package, installed elsewhere, found by its entry point, run against the conformance suite.

It interprets, so that this is also the golden programs by the reference semantics, with every check for races.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "example"
pytestmark = pytest.mark.slow

#: Interpreted, these take minutes.
LONG = "many_blocks or beyond_one_axis"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package is installed in."""
    source = tmp_path_factory.mktemp("source") / "example"
    shutil.copytree(EXAMPLE, source)
    target = tmp_path_factory.mktemp("site")
    command = ["pip", "install", "-q", "--no-deps", "--target", str(target)]
    done = subprocess.run([sys.executable, "-m", *command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=installed, check=False)


def test_is_found_and_listed(installed: Path) -> None:
    program = "import quadrants as qd; print(*qd.backends(), sep='\\n'); print(qd.example.kernel)"
    done = run(installed, "-c", program)
    assert done.returncode == 0, done.stderr
    assert "example: available (quadrants-example 1.0)" in done.stdout


def test_passes_the_conformance_suite(installed: Path) -> None:
    tests = installed / "conformance"
    shutil.copytree(EXAMPLE / "tests", tests)
    options = ("-q", "-x", "-p", "no:cacheprovider", "--import-mode=importlib", "-m", "not slow", "-k", f"not ({LONG})")
    done = run(installed, "-m", "pytest", *options, f"--rootdir={tests}", "--override-ini=markers=slow", str(tests))
    assert done.returncode == 0, done.stdout[-3000:]
    assert "failed" not in done.stdout


def test_what_it_lacks_is_a_compile_error_with_the_alternative(installed: Path) -> None:
    program = """
import numpy as np
import quadrants as qd

@qd.example.kernel
def k(x):
    qd.example.cg.this_grid().sync()

try:
    k[1, 1](np.zeros(1))
except qd.BackendError as error:
    print(error)
"""
    file = installed / "program.py"
    file.write_text(program)
    done = run(installed, str(file))
    assert "QD405: the device example has no 'cg.this_grid'" in done.stdout, done.stderr
    assert "hint: launch two kernels, one after the other" in done.stdout
