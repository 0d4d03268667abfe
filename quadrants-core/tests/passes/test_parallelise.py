"""Loops as parallel regions, in the reference interpreter: what the pass makes does what was there before."""

from __future__ import annotations

import numpy as np
import pytest
from ir.observation import Sample, agree, observe
from passes import affine_programs

from quadrants.diagnostics import CompileError
from quadrants.ir import Module
from quadrants.ir.interp import StepLimit, Undefined, run
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import InvalidIR, verify
from quadrants.ir.text import print_module
from quadrants.passes import parallelise, pipeline
from quadrants.passes.context import PassContext, PassOptions

OPTIONS = PassOptions(parallel=True, parallel_work=0, verify=True)


def parallel(text: str, options: PassOptions = OPTIONS) -> tuple[Module, PassContext]:
    """The module after the pass alone."""
    module = parse_module(text)
    verify(module)
    context = PassContext(module, options)
    for function in list(module.functions.values()):
        parallelise.run(function, context)
    verify(module)
    return module, context


def forks(module: Module) -> int:
    return sum(op.name == "fork" for function in module.functions.values() for op in function.body.walk())


FOLDS = """
qir 1
entry @f

func @f(%x: array<f64, 1, C>, %n: i64) -> (f64, f64, i64, f64) from "a.py" "f" 1 {
  %zero = const 0 : i64
  %one = const 1 : i64
  %s0 = const 0.5 : f64
  %m0 = const 100.0 : f64
  %s, %m, %k, %last = for %zero, %n, %one, %s0, %m0, %zero, %s0 {label=1} (%i: i64, %a: f64, %b: f64, %c: i64, %d: f64) {
    %v = load %x, %i {checked=false, wrap=false}
    %a1 = add %a, %v
    %b1 = min %v, %b
    %c1 = add %c, %i {nowrap=true}
    continue %a1, %b1, %c1, %v {label=1}
  }
  return %s, %m, %k, %last
}
"""


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 1000])
def test_folds(n: int) -> None:
    module, _ = parallel(FOLDS)
    assert forks(module) == 1
    x = np.random.default_rng(n).integers(-50, 50, n).astype(np.float64)
    expected = (0.5 + x.sum(), min([100.0, *x]), n * (n - 1) // 2, x[-1] if n else 0.5)
    assert run(module, [x, n]) == expected


def test_parts_of_sums_make_no_promises() -> None:
    module, _ = parallel(FOLDS)
    assert "nowrap" not in print_module(module).split("loop1")[-1].split("continue")[0]


def test_nothing_without_the_option() -> None:
    module, context = parallel(FOLDS, PassOptions())
    assert forks(module) == 0 and not context.decisions


RECURRENCE = """
qir 1
entry @f

func @f(%x: array<f64, 1, C>, %n: i64) -> () from "a.py" "f" 1 {
  %one = const 1 : i64
  for %one, %n, %one {label=1%PARALLEL%} @3:4 (%i: i64) {
    %j = sub %i, %one
    %v = load %x, %j {checked=false, wrap=false} @4:16
    store %v, %x, %i {checked=false, wrap=false} @4:9
    continue {label=1}
  }
  return
}
"""


def test_what_depends_stays() -> None:
    module, context = parallel(RECURRENCE.replace("%PARALLEL%", ""))
    assert forks(module) == 0
    (decision,) = context.decisions
    assert decision.code == "carried-dependence" and "1 turn later" in decision.text
    assert decision.location is not None and decision.location.line == 4


def test_a_wrong_declaration_is_an_error() -> None:
    with pytest.raises(CompileError, match="line 4, column 17, 1 turn later"):
        parallel(RECURRENCE.replace("%PARALLEL%", ", parallel=true"))


FORK = """
qir 1
entry @f

func @f(%x: array<i64, 1, C>, %n: i64, %g: i64) -> () from "a.py" "f" 1 {
  %zero = const 0 : i64
  fork %n, %g, %zero, %x {callee="c"}
  return
}

func @c(%lo: i64, %hi: i64, %x: array<i64, 1, C>) -> () from "a.py" "f" 1 {
  %one = const 1 : i64
  for %lo, %hi, %one {label=1} (%i: i64) {
    %size = sub %hi, %lo
    store %size, %x, %i
    continue {label=1}
  }
  return
}
"""


def test_what_a_fork_means() -> None:
    module = parse_module(FORK)
    verify(module)
    assert print_module(parse_module(print_module(module))) == print_module(module)
    x = np.zeros(7, np.int64)
    run(module, [x, 7, 3])
    assert x.tolist() == [3, 3, 3, 3, 3, 3, 1]
    run(module, [x, 0, 3])
    run(module, [x, -5, 3])
    with pytest.raises(Undefined, match="the grain 0"):
        run(module, [x, 7, 0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('callee="c"', 'callee="d"', "has no function 'd'"),
        ("%zero, %x {", "%zero {", "c takes"),
        ("fork %n, %g, %zero, %x", "fork %n, %g", "fork"),
        (
            ') -> () from "a.py" "f" 1 {\n  %one',
            ') -> (i64) from "a.py" "f" 1 {\n  %one',
            "give nothing|returns",
        ),
    ],
)
def test_wrong_forks(old: str, new: str, message: str) -> None:
    with pytest.raises((InvalidIR, TypeError, ValueError), match=message):
        verify(parse_module(FORK.replace(old, new)))


@pytest.mark.parametrize("seed", range(150))
def test_programs_about_indices(seed: int) -> None:
    """Nests with affine and other indices do the same before and after the whole pipeline."""
    sample: Sample = affine_programs.program(seed)
    try:
        before = observe(sample, max_steps=20_000)
    except StepLimit:
        return
    module = clone_module(sample.module)
    pipeline.run(module, OPTIONS)
    after = observe(sample, module, max_steps=2_000_000)
    assert agree(before, after), f"{before}\n{after}\n{print_module(sample.module)}\n{print_module(module)}"
