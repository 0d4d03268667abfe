"""Random kernels of threads that part, meet at barriers and work in subgroups, against the interpreter of device code."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from metal_harness import Bench, needed
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
OPTIONS = Options(kernel=True, division="ieee", device="metal")
QUICK = range(24)


@cache
def module_of(seed: int, passes: bool) -> Module:
    _, args = arguments(seed)
    module = infer_module(kernel(seed, ns), [typeof(a) for a in args], OPTIONS).module
    if passes:
        pipeline.run_device(module)
    return module


@cache
def prepared(seeds: range) -> Bench:
    """The device, with the kernels built."""
    device = needed()
    device.prepare(module_of(seed, True) for seed in seeds)
    return device


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


@pytest.mark.parametrize("seed", QUICK)
def test_random_kernels(seed: int) -> None:
    assert check(prepared(QUICK), seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 300, 50))
def test_more_random_kernels(start: int) -> None:
    seeds = range(start, start + 50)
    device = prepared(seeds)
    assert sum(check(device, seed) for seed in seeds) > 40
