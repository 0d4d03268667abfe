"""Random programs do the same compiled as in the interpreter: results, mutated arguments, exceptions, their texts and lines.

`tools/fuzz.py` runs more of them, for as long as wanted.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from differential.generate import Writer
from differential.generate_loops import LoopWriter
from differential.running import check_program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


class Drawn:
    """Choices of hypothesis, which shrinks what fails."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def below(self, n: int) -> int:
        return self.data.draw(st.integers(0, n - 1))


class Seeded:
    """Choices of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def below(self, n: int) -> int:
        return self.random.randrange(n)


QUICK = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONG = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def write(choices: Drawn | Seeded):
    exact = choices.below(2) == 0
    return Writer(choices, exact, 8 + choices.below(25)).program()


def write_loops(choices: Drawn | Seeded):
    return LoopWriter(choices, choices.below(2) == 0).program()


WRITERS = (write, write_loops)


@QUICK
@given(st.data())
def test_programs(data):
    check_program(write(Drawn(data)))


@QUICK
@given(st.data())
def test_loops(data):
    check_program(write_loops(Drawn(data)))


@pytest.mark.parametrize("seed", range(12))
def test_long_programs(seed):
    check_program(write(Seeded(seed)))
    check_program(write_loops(Seeded(seed)))


@pytest.mark.slow
@LONG
@given(st.data())
def test_programs_that_shrink(data):
    check_program(write(Drawn(data)))


@pytest.mark.slow
@LONG
@given(st.data())
def test_loops_that_shrink(data):
    check_program(write_loops(Drawn(data)))


def test_the_tool_that_runs_more_of_them():
    tool = Path(__file__).resolve().parents[3] / "tools" / "fuzz.py"
    command = [sys.executable, tool, "--start", "7", "--seconds", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert " programs from seed 7 on, 0 batches with differences" in done.stdout and not done.stdout.startswith("0 ")
