"""Interchanged sums give the same bits, whatever the arrays share and however small they are."""

from __future__ import annotations

import random

import numpy as np
import pytest
from ir.observation import Sample, agree, observe

from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.passes import bounds, interchange, pipeline, simplify, version_loops
from quadrants.passes.context import PassContext, PassOptions

_LAYOUT = "array<f64, 2, C>"
_INITS = ("%z", "%old", "%x")
_TERMS = ("mul %a, %b", "add %a, %b", "mul %b, %x", "sub %b, %a")
_RESULTS = ("%s", "%scaled", "%mixed")


def _module(choose: random.Random) -> Module:
    start, down = choose.choice(("%0", "%1", "%i")), choose.choice(("%one", "%two", "%minus"))
    low, high = ("%0", "%inner") if down != "%minus" else ("%last", "%minus")
    column = choose.choice(("%j", "%jn"))
    text = f"""qir 1
entry @f

func @f(%A: {_LAYOUT}, %B: {_LAYOUT}, %C: {_LAYOUT}, %X: array<f64, 1, C>) -> () from "a.py" "f" 1 with {{fp="strict"}} {{
  %0 = const 0 : i64
  %1 = const 1 : i64
  %one = const 1 : i64
  %two = const 2 : i64
  %minus = const -1 : i64
  %z = const 0.0 : f64
  %n = dim %A {{axis=0}}
  for {choose.choice(("%0", "%1"))}, %n, %1 {{label=1}} (%i: i64) {{
    %m = dim %B {{axis=1}}
    for {start}, %m, %1 {{label=2}} (%j: i64) {{
      %inner = dim %A {{axis=1}}
      %last = sub %inner, %1
      %jn = sub %m, %j
      %old = load %C, %i, %j
      %x = load %X, %j
      %s = for {low}, {high}, {down}, {choose.choice(_INITS)} {{label=3}} : f64 (%k: i64, %acc: f64) {{
        %a = load %A, %i, %k
        %b = load %B, %k, {column}
        %p = {choose.choice(_TERMS)}
        %next = add %acc, %p
        continue %next {{label=3}}
      }}
      %scaled = mul %s, %x
      %mixed = add %s, %old
      store {choose.choice(_RESULTS)}, %C, %i, %j
      {choose.choice(("", "store %s, %X, %j"))}
      continue {{label=2}}
    }}
    continue {{label=1}}
  }}
  return
}}
"""
    return parse_module(text)


def _arguments(choose: random.Random) -> tuple[np.ndarray, ...]:
    """Arrays that fit, or nearly, and may share memory."""
    n, inner, m = (choose.choice((0, 1, 2, 3, 5, 7, 9)) for _ in range(3))
    memory = np.array([choose.randint(-9, 9) / 8 for _ in range(400)])
    shapes = [(n, inner), (inner, m), (n, m), (m,)]
    arrays = []
    for shape in shapes:
        size = int(np.prod(shape))
        if choose.random() < 0.4:
            start = choose.randrange(0, 200)
            arrays.append(memory[start : start + size].reshape(shape))
        else:
            arrays.append(np.array([choose.randint(-9, 9) / 8 for _ in range(size)]).reshape(shape))
    return tuple(arrays)


@pytest.mark.parametrize("seed", range(120))
def test_interchanged_sums(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interchange, "STRIP", 3)
    monkeypatch.setattr(interchange, "_FEWEST", 1)
    choose = random.Random(seed)
    module = _module(choose)
    verify(module)
    sample = Sample(module, _arguments(choose))
    before = observe(sample)
    changed = clone_module(module)
    pipeline.run(changed, PassOptions(verify=True))
    after = observe(sample, changed, max_steps=1_000_000)
    assert agree(before, after), f"{before}\n{after}"


def test_matmul_is_interchanged() -> None:
    """Not only what is refused is right."""
    found = 0
    for seed in range(60):
        module = _module(random.Random(seed))
        context = PassContext(module, PassOptions())
        for apply in (simplify.run, bounds.run, simplify.run, version_loops.run, interchange.run):
            apply(module.functions["f"], context)
        found += any(decision.code == "interchanged" for decision in context.decisions)
    assert found > 15


def test_what_is_hoisted_stays_where_the_loop_does() -> None:
    """The bounds of the inner loop depend on the column: nothing is interchanged, and nothing gets lost."""
    module = parse_module("""
qir 1
entry @f

func @f(%A: array<f64, 1, C>, %n: i64, %k: i64) -> () from "a.py" "f" 1 {
  %0 = const 0 : i64
  %1 = const 1 : i64
  for %0, %n, %1 {label=1} (%j: i64) {
    %base = mul %k, %n : i64
    %at = add %base, %j : i64
    %z = const 0.0 : f64
    %s = for %0, %at, %1, %z {label=2} : f64 (%i: i64, %t: f64) {
      %v = load %A, %i {checked=false, wrap=false} : f64
      %u = add %t, %v : f64
      continue %u {label=2}
    }
    store %s, %A, %j {checked=false, wrap=false}
    continue {label=1}
  }
  return
}
""")
    verify(module)
    context = PassContext(module, PassOptions())
    for function in module.functions.values():
        interchange.run(function, context)
    verify(module)
