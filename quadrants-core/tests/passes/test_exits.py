"""Exits of several levels become exits of one, and nothing else changes."""

from __future__ import annotations

import hypothesis
import pytest
from ir.generators import Config, modules, random_sample
from ir.observation import Sample, agree, observe

from quadrants.ir.core import Module, Op, Region
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.passes import exits
from quadrants.passes.structure import LABELLED

CONFIG = Config(size=8, depth=5, functions=1, arrays=False, maps=False, exceptions=False)

SEARCH = """qir 1
entry @search

func @search(%n: i64, %want: i64) -> (i64, i64) from "s.py" "search" 1 {
  %zero = const 0 : i64
  %one = const 1 : i64
  %none = const -1 : i64
  %i, %j = block {label=0} : i64, i64 {
    for %zero, %n, %one {label=1} (%a: i64) {
      for %zero, %n, %one {label=2} (%b: i64) {
        %p = mul %a, %b
        %skip = cmp %p, %n {pred="gt"}
        if %skip {
          continue {label=1}
        } else {
          yield
        }
        %found = cmp %p, %want {pred="eq"}
        if %found {
          break %a, %b {label=0}
        } else {
          yield
        }
        continue {label=2}
      }
      continue {label=1}
    }
    yield %none, %none
  }
  return %i, %j
}
"""


def single_level(module: Module) -> None:
    """Every exit names the innermost labelled op around it."""

    def check(region: Region, inside: Op | None) -> None:
        for op in region.ops:
            if op.name in ("break", "continue"):
                assert inside is not None and op.attrs["label"] == inside.attrs["label"]
            assert op.name != "block" or not exits.is_transparent(op)
            for inner in op.regions:
                check(inner, op if op.name in LABELLED else inside)

    for function in module.functions.values():
        check(function.body, None)


def same(sample: Sample) -> None:
    """The module means the same when its exits are rewritten."""
    module = clone_module(sample.module)
    for function in module.functions.values():
        exits.run(function)
    verify(module)
    single_level(module)
    assert agree(observe(sample), observe(sample, module))


@pytest.mark.parametrize(("n", "want"), [(7, 6), (7, 100), (0, 0), (5, 0), (9, 4)])
def test_a_search_through_two_loops(n: int, want: int) -> None:
    same(Sample(parse_module(SEARCH), (n, want)))


WHILE = """qir 1
entry @halves

func @halves(%n: i64) -> (i64) from "s.py" "halves" 1 {
  %zero = const 0 : i64
  %one = const 1 : i64
  %two = const 2 : i64
  %c = block {label=0} : i64 {
    loop %n, %zero {label=1, result_types=[]} (%x: i64, %count: i64) {
      %more = cmp %x, %one {pred="gt"}
      if %more {
        yield
      } else {
        break %count {label=0}
      }
      %y = floordiv %x, %two
      %d = add %count, %one
      continue %y, %d {label=1}
    }
    unreachable
  }
  return %c
}
"""


@pytest.mark.parametrize("n", [0, 1, 2, 37])
def test_a_while_leaves_by_itself(n: int) -> None:
    module = parse_module(WHILE)
    same(Sample(module, (n,)))
    exits.run(module.functions["halves"])
    names = [op.name for op in module.functions["halves"].body.walk()]
    assert "block" not in names and "var" not in names


@hypothesis.given(modules(CONFIG))
@hypothesis.settings(max_examples=40)
def test_random_control_flow(sample: Sample) -> None:
    same(sample)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 600, 100))
def test_more_random_control_flow(start: int) -> None:
    for seed in range(start, start + 100):
        same(random_sample(seed, CONFIG))
