"""Random kernels with barriers, subgroups and branches, on the stand-in device against the interpreter of device code."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cuda_harness import Bench
from passes.random_kernels import arguments, kernel

from quadrants.api.typeof import typeof
from quadrants.infer import infer_module
from quadrants.infer.emitter import Options
from quadrants.ir.core import Module
from quadrants.ir.simt import Divergence, run_grid
from quadrants.ir.threads import Geometry
from quadrants.passes import pipeline
from quadrants.simt.names import NAMES

ns = SimpleNamespace(**NAMES, kernel=lambda f: f, func=lambda f: f)
OPTIONS = Options(kernel=True, division="ieee", device="cuda")


def module_of(seed: int, passes: bool) -> Module:
    _, args = arguments(seed)
    module = infer_module(kernel(seed, ns), [typeof(a) for a in args], OPTIONS).module
    if passes:
        pipeline.run_device(module)
    return module


def copies(args: tuple[Any, ...]) -> list[Any]:
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def check(device: Bench, seed: int) -> bool:
    """A kernel leaves in its arrays what the interpreter leaves there; whether it is one whose barriers all threads reach."""
    threads, args = arguments(seed)
    expected, found = copies(args), copies(args)
    try:
        run_grid(module_of(seed, False), expected, Geometry((2, 1, 1), (threads, 1, 1)))
    except Divergence:
        return False
    device.run(module_of(seed, True), found, (2, 1, 1), (threads, 1, 1))
    for position, (a, b) in enumerate(zip(found, expected)):
        assert np.array_equal(a, b), (seed, position, a, b)
    return True


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels(device: Bench, seed: int) -> None:
    assert check(device, seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 300, 50))
def test_more_random_kernels(device: Bench, start: int) -> None:
    assert sum(check(device, seed) for seed in range(start, start + 50)) > 40
