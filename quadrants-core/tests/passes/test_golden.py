"""The golden files of the passes: QIR in, QIR out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import golden
import pytest

from quadrants.ir import Module
from quadrants.ir.spec import verify
from quadrants.passes import (
    bounds,
    expand_maps,
    hoist_checks,
    if_convert,
    ownership,
    pipeline,
    polls,
    reductions,
    simplify,
    spmd,
    version_loops,
)
from quadrants.passes.context import FunctionPass, PassContext, PassOptions

PASSES: dict[str, tuple[FunctionPass, ...]] = {
    "simplify": (simplify.run,),
    "expand_maps": (expand_maps.run, simplify.run),
    "if_convert": (if_convert.run, simplify.run),
    "bounds": (simplify.run, bounds.run, simplify.run),
    "version_loops": (simplify.run, bounds.run, simplify.run, version_loops.run, simplify.run),
    "hoist_checks": (hoist_checks.run,),
    "reductions": (reductions.run,),
    "polls": (polls.run,),
    "ownership": (ownership.run,),
    "spmd": (spmd.run, simplify.run),
    "pipeline": pipeline.PASSES,
}


def _runner(passes: tuple[FunctionPass, ...]) -> golden.Runner:
    def run(module: Module, options: dict[str, str]) -> Module:
        verify(module)
        settings: dict[str, Any] = {
            name: int(value) if value.isdigit() else value == "true" for name, value in options.items()
        }
        context = PassContext(module, PassOptions(**settings))
        for apply in passes:
            for function in module.functions.values():
                apply(function, context)
            verify(module)
        return module

    return run


RUNNERS: dict[str, Callable[[Module, dict[str, str]], Module]] = {
    name: _runner(passes) for name, passes in PASSES.items()
}


@pytest.mark.parametrize("case", golden.cases(Path(__file__).parent / "golden"), ids=str)
def test_golden(case: golden.Case) -> None:
    case.check(RUNNERS)
