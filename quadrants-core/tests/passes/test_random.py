"""Random programs do the same before and after the passes: values, exceptions with their lines, arrays; no memory is left."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from ir.generators import Config, modules, random_sample
from ir.observation import Sample, agree, observe
from passes import affine_programs

from quadrants.ir.interp import StepLimit
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.ir.text import print_module
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
    version_loops,
)
from quadrants.passes.context import FunctionPass, PassContext, PassOptions

#: Each pass with what must run before it, and a full run.
STAGES: dict[str, Sequence[FunctionPass]] = {
    "simplify": (simplify.run, simplify.run),
    "expand_maps": (expand_maps.run,),
    "if_convert": (if_convert.run,),
    "bounds": (simplify.run, bounds.run),
    "version_loops": (simplify.run, bounds.run, version_loops.run),
    "hoist_checks": (simplify.run, bounds.run, hoist_checks.run),
    "reductions": (reductions.run,),
    "polls": (expand_maps.run, polls.run),
    "ownership": (expand_maps.run, ownership.run),
    "pipeline": pipeline.PASSES,
}


def check(sample: Sample, passes: Sequence[FunctionPass]) -> None:
    """Fail if the passes change what the sample does. Unchecked accesses outside of an array are errors of the interpreter."""
    try:
        before = observe(sample, max_steps=20_000)
    except StepLimit:
        return
    module = clone_module(sample.module)
    context = PassContext(module, PassOptions())
    for apply in passes:
        for function in module.functions.values():
            apply(function, context)
        verify(module)
    after = observe(sample, module, max_steps=1_000_000)
    assert agree(before, after), f"{before}\n{after}\n{print_module(sample.module)}\n{print_module(module)}"


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_random_modules(seed: int, stage: str) -> None:
    for number in range(seed, seed + 6):
        check(random_sample(number), STAGES[stage])


@pytest.mark.parametrize("stage", ["bounds", "hoist_checks", "version_loops", "pipeline"])
@pytest.mark.parametrize("seed", range(1000, 1030, 3))
def test_random_indices(seed: int, stage: str) -> None:
    for number in range(seed, seed + 3):
        check(affine_programs.program(number), STAGES[stage])


@pytest.mark.parametrize("seed", range(2000, 2020, 4))
def test_polls_in_short_strips(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polls, "STRIP", 2)
    monkeypatch.setattr(polls, "_SHORT", 0)
    for number in range(seed, seed + 4):
        check(affine_programs.program(number), STAGES["pipeline"])
        check(random_sample(number), STAGES["pipeline"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(modules(Config(size=5)))
def test_modules_that_hypothesis_makes(sample: Sample) -> None:
    check(sample, STAGES["pipeline"])


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_many_random_modules(stage: str) -> None:
    for number in range(10_000, 10_400):
        check(random_sample(number, Config(size=10)), STAGES[stage])


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["bounds", "hoist_checks", "version_loops", "pipeline"])
def test_many_random_indices(stage: str) -> None:
    for number in range(10_000, 10_300):
        check(affine_programs.program(number), STAGES[stage])
