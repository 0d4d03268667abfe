"""Control flow: every construct, with exits over several levels, against the reference interpreter."""

from __future__ import annotations

import itertools

import pytest
from lower.execution import Program
from lower.programs import module

from quadrants.ir import Module
from quadrants.ir.interp import run as interpret

LOW, HIGH = -(2**63), 2**63 - 1


def agree(program: Module, inputs: list[tuple[object, ...]]) -> None:
    compiled = Program.load(program)
    for args in inputs:
        assert compiled(args) == interpret(program, args), args


def test_if_with_results() -> None:
    agree(
        module(
            """
            func @f(%x: i64, %y: i64) -> (i64, i64) from "f.py" "f" 1 {
              %c = cmp %x, %y {pred="lt"} : bool
              %a, %b = if %c : i64, i64 {
                yield %x, %y
              } else {
                %d = sub %x, %y : i64
                yield %d, %x
              }
              return %a, %b
            }
            """
        ),
        [(1, 2), (2, 1), (0, 0)],
    )


def test_if_that_leaves_in_both_arms() -> None:
    agree(
        module(
            """
            func @f(%x: i64) -> (i64) from "f.py" "f" 1 {
              %zero = const {type=i64, value=0} : i64
              %c = cmp %x, %zero {pred="lt"} : bool
              if %c {
                return %zero
              } else {
                return %x
              }
              unreachable
            }
            """
        ),
        [(-5,), (5,)],
    )


_FOR = """
func @f(%start: i64, %stop: i64, %step: i64, %most: i64) -> (i64, i64, i64) from "f.py" "f" 1 {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %n, %last, %sum = for %start, %stop, STEP, %zero, %zero, %zero {label=1} : i64, i64, i64 (%i: i64, %k: i64, %l: i64, %s: i64) {
    %k1 = add %k, %one : i64
    %s1 = add %s, %i : i64
    %enough = cmp %k1, %most {pred="ge"} : bool
    if %enough {
      break %k1, %i, %s1 {label=1}
    } else {
      yield
    }
    continue %k1, %i, %s1 {label=1}
  }
  return %n, %last, %sum
}
"""


def test_for_with_any_step() -> None:
    bounds = [
        (0, 5),
        (5, 0),
        (3, 3),
        (-4, 4),
        (LOW, LOW + 3),
        (HIGH - 3, HIGH),
        (HIGH, HIGH - 3),
        (LOW + 3, LOW),
        (LOW, HIGH),
        (HIGH, LOW),
    ]
    steps = [1, -1, 2, -2, 3, -5, HIGH, LOW, HIGH - 1, LOW + 1]
    inputs = [(a, b, step, 7) for (a, b), step in itertools.product(bounds, steps)]
    agree(module(_FOR.replace("STEP", "%step")), inputs)


@pytest.mark.parametrize("step", [1, -1, 2, -3, HIGH, LOW])
def test_for_with_a_constant_step(step: int) -> None:
    text = _FOR.replace("STEP", "%by").replace(
        "  %one = const", f"  %by = const {{type=i64, value={step}}} : i64\n  %one = const"
    )
    bounds = [(0, 5), (5, 0), (3, 3), (-4, 4), (HIGH - 3, HIGH), (LOW + 3, LOW), (LOW, HIGH), (HIGH, LOW)]
    agree(module(text), [(a, b, 0, 7) for a, b in bounds])


def test_for_whose_body_never_continues() -> None:
    agree(
        module(
            """
            func @f(%n: i64, %step: i64) -> (i64) from "f.py" "f" 1 {
              %zero = const {type=i64, value=0} : i64
              %r = for %zero, %n, %step, %zero {label=1} : i64 (%i: i64, %a: i64) {
                break %n {label=1}
              }
              return %r
            }
            """
        ),
        [(0, 1), (3, 1), (3, 2), (-3, -2)],
    )


def test_loops_with_exits_over_levels() -> None:
    agree(
        module(
            """
            func @f(%n: i64, %m: i64) -> (i64, i64) from "f.py" "f" 1 {
              %zero = const {type=i64, value=0} : i64
              %one = const {type=i64, value=1} : i64
              %r, %s = block {label=9} : i64, i64 {
                %t = loop %zero, %zero {label=1, result_types=[i64]} : i64 (%i: i64, %acc: i64) {
                  %done = cmp %i, %n {pred="ge"} : bool
                  if %done {
                    break %acc {label=1}
                  } else {
                    yield
                  }
                  %i1 = add %i, %one : i64
                  %acc2 = for %zero, %i, %one, %acc {label=2} : i64 (%j: i64, %a: i64) {
                    %a1 = add %a, %j : i64
                    %big = cmp %a1, %m {pred="gt"} : bool
                    if %big {
                      break %a1, %i {label=9}
                    } else {
                      yield
                    }
                    %bits = and %a1, %one : i64
                    %odd = cmp %bits, %one {pred="eq"} : bool
                    if %odd {
                      continue %i1, %a1 {label=1}
                    } else {
                      yield
                    }
                    continue %a1 {label=2}
                  }
                  continue %i1, %acc2 {label=1}
                }
                yield %t, %zero
              }
              return %r, %s
            }
            """
        ),
        [(n, m) for n in (-1, 0, 1, 5, 12) for m in (0, 3, 20, 1000)],
    )


def test_calls_and_recursion() -> None:
    agree(
        module(
            """
            func @f(%n: i64) -> (i64) from "f.py" "f" 1 with {recursive=true} {
              %two = const {type=i64, value=2} : i64
              %one = const {type=i64, value=1} : i64
              %small = cmp %n, %two {pred="lt"} : bool
              if %small {
                return %n
              } else {
                yield
              }
              %a = sub %n, %one : i64
              %b = sub %n, %two : i64
              %fa = call %a {callee="f", result_types=[i64]} : i64
              %fb = call %b {callee="f", result_types=[i64]} : i64
              %r, %s = call %fa, %fb {callee="g h", result_types=[i64, i64]} : i64, i64
              call {callee="nothing", result_types=[]}
              return %r
            }
            func @"g h"(%x: i64, %y: i64) -> (i64, i64) from "f.py" "g" 9 {
              %s = add %x, %y : i64
              return %s, %x
            }
            func @nothing() -> () from "f.py" "nothing" 12 {
              return
            }
            """
        ),
        [(0,), (1,), (10,), (15,)],
    )


def test_variables() -> None:
    agree(
        module(
            """
            func @f(%n: i64, %z: c128) -> (i64, c128) from "f.py" "f" 1 {
              %zero = const {type=i64, value=0} : i64
              %one = const {type=i64, value=1} : i64
              %v = var %zero : ref<i64>
              %w = var %z : ref<c128>
              for %zero, %n, %one {label=1} (%i: i64) {
                %old = var.get %v : i64
                %new = add %old, %i : i64
                var.set %v, %new
                %c = zero {type=c128} : c128
                %third = cmp %i, %one {pred="eq"} : bool
                if %third {
                  var.set %w, %c
                  yield
                } else {
                  yield
                }
                continue {label=1}
              }
              %r = var.get %v : i64
              %s = var.get %w : c128
              return %r, %s
            }
            """
        ),
        [(0, 1 + 2j), (1, 1 + 2j), (6, 1 + 2j)],
    )
