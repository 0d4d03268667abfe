"""The ctypes path: the same tests with QUADRANTS_NATIVE_CALL=0, and its guards against the native ones."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from host.test_guards import CASES

from quadrants.host.fallback import accepts
from quadrants.types import LiteralType, Type

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = [
    "test_guards.py",
    "test_boxing.py",
    "test_raising.py",
    "test_keywords.py",
    "test_watch.py",
    "test_dispatcher_type.py",
    "test_concurrency.py",
]


@pytest.mark.parametrize(("type", "good", "bad"), CASES, ids=[str(case[0])[:60] for case in CASES])
def test_guards_in_python(type: Type, good: list[Any], bad: list[Any]) -> None:
    assert all(accepts(type, value) for value in good)
    if not isinstance(type, LiteralType):
        assert not any(accepts(type, value) for value in bad)


def test_the_suite_without_the_native_path() -> None:
    if os.environ.get("QUADRANTS_NATIVE_CALL") == "0":
        return
    environment = {**os.environ, "QUADRANTS_NATIVE_CALL": "0"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(os.path.join(HERE, name) for name in FILES),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=os.path.dirname(HERE))
    assert done.returncode == 0, done.stdout[-4000:]
