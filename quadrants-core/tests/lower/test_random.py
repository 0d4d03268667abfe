"""Random modules: machine code agrees with the reference interpreter in results, exceptions, lines, and written arrays."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from ir.generators import Config, modules, random_sample
from ir.observation import Observation, Sample, agree, copy_args, observe
from lower.execution import Program

from quadrants.ir.interp import StepLimit
from quadrants.ir.text import print_module
from quadrants.ir.values import Raised
from quadrants.passes import expand_maps, ownership, pipeline
from quadrants.passes.context import PassContext, PassOptions


def prepare(sample: Sample) -> None:
    """What has to be done before lowering: maps become loops, references are counted."""
    context = PassContext(sample.module, PassOptions())
    for apply in (expand_maps.run, ownership.run):
        for function in sample.module.functions.values():
            apply(function, context)


def observe_compiled(program: Program, sample: Sample) -> Observation:
    args = copy_args(sample.args)
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    try:
        return Observation(program(args), None, None, arrays)
    except Raised as error:
        return Observation(None, (error.cls, error.values), error.loc.line if error.loc else None, arrays)


def check(sample: Sample) -> None:
    """Compile, run, compare."""
    prepare(sample)
    try:
        expected = observe(sample)
    except StepLimit:
        return
    found = observe_compiled(Program.load(sample.module), sample)
    if not agree(expected, found):
        pytest.fail(f"{print_module(sample.module)}\n{sample.args}\nexpected {expected}\nfound {found}")


def check_optimised(sample: Sample) -> None:
    """The same after all passes, against the module as it was."""
    try:
        expected = observe(sample)
    except StepLimit:
        return
    before = print_module(sample.module)
    pipeline.run(sample.module, PassOptions())
    found = observe_compiled(Program.load(sample.module), sample)
    if not agree(expected, found):
        pytest.fail(f"{before}\n{sample.args}\nexpected {expected}\nfound {found}\n{print_module(sample.module)}")


@hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
@hypothesis.given(modules())
def test_modules(sample: Sample) -> None:
    check(sample)


@pytest.mark.parametrize("block", range(4))
def test_seeded_modules(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        check(random_sample(seed))


@pytest.mark.parametrize("block", range(4))
def test_optimised_modules(block: int) -> None:
    for seed in range(500 + block * 25, 525 + block * 25):
        check_optimised(random_sample(seed))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_many_optimised_modules(block: int) -> None:
    for seed in range(5000 + block * 100, 5100 + block * 100):
        check_optimised(random_sample(seed, Config(size=10, depth=4, functions=3)))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_many_modules(block: int) -> None:
    for seed in range(1000 + block * 100, 1100 + block * 100):
        check(random_sample(seed, Config(size=10, depth=4, functions=3)))
