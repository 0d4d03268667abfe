"""Minima and maxima that are kept side by side come to the same, also with NaNs and for few turns."""

from __future__ import annotations

import random

import numpy as np
import pytest
from ir.observation import Sample, agree, observe

from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.passes import lanes, pipeline
from quadrants.passes.context import PassOptions


def _module(choose: random.Random, fp: str = "default") -> Module:
    first, second = (choose.choice(("min", "max")) for _ in range(2))
    turned = choose.random() < 0.2  # the form that takes a NaN from the array: not split
    text = f"""qir 1
entry @f

func @f(%x: array<f64, 1, C>, %init: f64) -> (f64, f64) from "a.py" "f" 1 with {{fp="{fp}"}} {{
  %start = const {choose.choice((0, 0, 1, 3))} : i64
  %1 = const 1 : i64
  %n = dim %x {{axis=0}}
  %lo, %hi = for %start, %n, %1, %init, %init {{label=1}} : f64, f64 (%i: i64, %a: f64, %b: f64) {{
    %v = load %x, %i
    %w = mul %v, %v
    %na = {first} {"%a, %v" if turned else "%v, %a"}
    %nb = {second} %w, %b
    continue %na, %nb {{label=1}}
  }}
  return %lo, %hi
}}
"""
    return parse_module(text)


@pytest.mark.parametrize("seed", range(60))
def test_lanes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LANES", 4)
    monkeypatch.setattr(lanes, "_FEWEST", 5)
    choose = random.Random(seed)
    module = _module(choose)
    verify(module)
    values = np.array([choose.choice((1.5, -2.0, 3.25, 7.0, -8.5, 0.5)) for _ in range(choose.randrange(24))])
    for place in range(len(values)):
        if choose.random() < 0.2:
            values[place] = np.nan
    sample = Sample(module, (values, np.float64(choose.choice((0.25, 100.0, -100.0, np.nan, np.inf)))))
    changed = clone_module(module)
    pipeline.run(changed, PassOptions(verify=True))
    assert agree(observe(sample), observe(sample, changed))


def test_lanes_are_used() -> None:
    module = _module(random.Random(1))
    decisions = pipeline.run(module)
    assert any(decision.code == "lanes" for decision in decisions)


def test_strict_functions_keep_the_order() -> None:
    decisions = pipeline.run(_module(random.Random(1), "strict"))
    assert not any(decision.code == "lanes" for decision in decisions)
