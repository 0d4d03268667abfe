"""Golden files: QIR with the LLVM IR that it becomes."""

from __future__ import annotations

from pathlib import Path

import golden
import pytest

from quadrants.host import codegen
from quadrants.ir import Module
from quadrants.lower.module import lower_module


def lower(module: Module, options: dict[str, str]) -> str:
    """The text of the module, which LLVM accepts."""
    lowered = lower_module(module)
    codegen.optimise(lowered.full_text(), opt_level=0)
    return lowered.text


@pytest.mark.parametrize("case", golden.cases(Path(__file__).parent / "golden"), ids=str)
def test_golden(case: golden.Case) -> None:
    case.check({"lower": lower})
