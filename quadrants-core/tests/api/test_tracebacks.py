"""Tracebacks show the lines of the program and none of ours, on both call paths."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import traceback
import quadrants

def inner(x):
    return 1 // x

@quadrants.njit(cache=False)
def divides(x):
    return inner(x)

@quadrants.njit(cache=False)
def parses(text):
    return int(text)

for call, argument in ((divides, 0), (parses, "no")):
    try:
        call(argument)
    except (ZeroDivisionError, ValueError) as error:
        print([(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)])
"""


@pytest.mark.parametrize("native", ["0", "1"])
def test_frames_are_the_programs(native: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "QUADRANTS_NATIVE_CALL": native}
    done = subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True)
    lines = PROGRAM.splitlines()
    at = {text: lines.index(text) + 1 for text in lines}
    first, second = done.stdout.splitlines()
    call = at["        call(argument)"]
    assert eval(first) == [
        ("<module>", call),
        ("divides", at["    return inner(x)"]),
        ("inner", at["    return 1 // x"]),
    ]
    assert eval(second) == [("<module>", call), ("parses", at["    return int(text)"])]
