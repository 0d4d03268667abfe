"""Loops that take several turns at once mean the same."""

from __future__ import annotations

import pytest
from ir.generators import Config, random_sample
from ir.observation import Sample, agree, observe

from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.passes import exits
from quadrants_vulkan.lower import unroll

CONFIG = Config(size=8, depth=5, functions=1, arrays=False, maps=False, exceptions=False)


def unrolled(sample: Sample) -> int:
    """How many ops more there are; the module means what it meant."""
    module = clone_module(sample.module)
    more = 0
    for function in module.functions.values():
        exits.run(function)
        before = sum(1 for _ in function.body.walk())
        unroll.run(function)
        more += sum(1 for _ in function.body.walk()) - before
    verify(module)
    assert agree(observe(sample), observe(sample, module))
    return more


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_random_programs(start: int) -> None:
    assert sum(unrolled(random_sample(seed, CONFIG)) for seed in range(start, start + 20)) > 0


RANGES = """qir 1
entry @k

func @k(%start: i64, %stop: i64) -> (i64, i64) from "k.py" "k" 1 {{
  %zero = const 0 : i64
  %one = const 1 : i64
  %step = const {step} : i64
  %count, %sum = for %start, %stop, %step, %zero, %zero {{label=0}} (%i: i64, %c: i64, %s: i64) {{
    %d = add %c, %one
    %t = add %s, %i
    continue %d, %t {{label=0}}
  }}
  return %count, %sum
}}
"""
LOW, HIGH = -(1 << 63), (1 << 63) - 1


@pytest.mark.parametrize("step", [1, -1, 3, -7, HIGH, LOW])
@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 100), (100, 0), (HIGH - 20, HIGH), (LOW + 20, LOW), (5, 6)])
def test_ranges(step: int, start: int, stop: int) -> None:
    assert unrolled(Sample(parse_module(RANGES.format(step=step)), (start, stop))) > 0
