"""Whole programs of the portable language: each asserts its own results."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

import quadrants as qd

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    qd.reset()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path) -> None:
    runpy.run_path(str(path))
