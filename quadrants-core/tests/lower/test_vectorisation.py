"""LLVM makes SIMD code of the loops that it should, on x86-64-v3: the shape of loops and addresses suits it."""

from __future__ import annotations

import re

import pytest
from lower.execution import driver
from lower.programs import module

from quadrants.host import codegen
from quadrants.host.target import Target
from quadrants.lower.module import lower_module

AVX2 = Target("x86_64", "x86_64-unknown-linux-gnu", "x86-64-v3", True, "x86_64:x86-64-v3")

_LOOP = """
func @f(%a: array<DTYPE, 1, LAYOUT>, %b: array<DTYPE, 1, C>, %c: DTYPE) -> (DTYPE) from "f.py" "f" 1 {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %minus = const {type=i64, value=-1} : i64
  %step = const {type=i64, value=STEP} : i64
  %n = dim %a {axis=0} : i64
  %last = sub %n, %one : i64
  %r = for FROM, TO, %step, %c {label=1} : DTYPE (%i: i64, %s: DTYPE) {
    BODY
  }
  return %r
}
"""
_REASSOC = ' {fast="reassoc"}'
_LOAD = "%x = load %a, %i {checked=false, wrap=false} : DTYPE"

BODIES = {
    "saxpy": f"""
    {_LOAD}
    %y = load %b, %i {{checked=false, wrap=false}} : DTYPE
    %p = mul %c, %x : DTYPE
    %q = add %y, %p : DTYPE
    store %q, %b, %i {{checked=false, wrap=false}}
    continue %s {{label=1}}""",
    "sum": f"""
    {_LOAD}
    %t = add %s, %x {{fast="reassoc"}} : DTYPE
    continue %t {{label=1}}""",
    "wrapping index": """
    %x = load %a, %i {checked=false, wrap=true} : DTYPE
    %t = add %s, %x {fast="reassoc"} : DTYPE
    continue %t {label=1}""",
    "check that holds": """
    %x = load %a, %i : DTYPE
    %t = add %s, %x {fast="reassoc"} : DTYPE
    continue %t {label=1}""",
    "condition": f"""
    {_LOAD}
    %g = cmp %x, %c {{pred="gt"}} : bool
    %v = if %g : DTYPE {{
      %w = mul %x, %x : DTYPE
      yield %w
    }} else {{
      yield %c
    }}
    store %v, %b, %i {{checked=false, wrap=false}}
    continue %s {{label=1}}""",
}


def optimised(body: str, dtype: str = "f64", layout: str = "C", step: int = 1) -> str:
    return optimised_text(BODIES[body] if dtype[0] == "f" else BODIES[body].replace(_REASSOC, ""), dtype, layout, step)


def optimised_text(body: str, dtype: str = "f64", layout: str = "C", step: int = 1, fp: str = "default") -> str:
    text = _LOOP.replace("FROM, TO", "%last, %minus" if step < 0 else "%zero, %n").replace("BODY", body)
    text = (
        text.replace('"f" 1 {', f'"f" 1 with {{fp="{fp}"}} {{')
        .replace("LAYOUT", layout)
        .replace("STEP", str(step))
        .replace("DTYPE", dtype)
    )
    program = module(text)
    lowered = lower_module(program)
    return codegen.optimise(lowered.full_text(driver(program, lowered.entry_symbol)), target=AVX2)


@pytest.mark.parametrize("dtype", ("f64", "f32", "i64", "i32"))
@pytest.mark.parametrize("body", BODIES)
def test_contiguous(body: str, dtype: str) -> None:
    llvm = {"f64": "double", "f32": "float"}.get(dtype, dtype)
    assert re.search(rf"load <\d+ x {llvm}>", optimised(body, dtype))


@pytest.mark.parametrize("step", (2, -1))
def test_steps(step: int) -> None:
    assert re.search(r"<\d+ x double>", optimised("sum", step=step))


def test_strided() -> None:
    assert re.search(r"<\d+ x double>", optimised("sum", layout="A"))


def test_a_maximum_is_vectorised_where_there_are_no_nans() -> None:
    body = f"""
    {_LOAD}
    %t = max %s, %x : DTYPE
    continue %t {{label=1}}"""
    assert "x double>" not in optimised_text(body)
    assert re.search(r"load <\d+ x double>", optimised_text(body, fp="fast"))


def test_a_strict_sum_stays_in_order() -> None:
    assert "x double>" not in optimised_text(BODIES["sum"].replace(_REASSOC, ""))


_STENCIL = """
func @f(%a: array<f64, 2, C>, %b: array<f64, 2, C>) -> () from "f.py" "f" 1 {
  %one = const {type=i64, value=1} : i64
  %n = dim %a {axis=0} : i64
  %m = dim %a {axis=1} : i64
  %n1 = sub %n, %one : i64
  %m1 = sub %m, %one : i64
  for %one, %n1, %one {label=1} (%i: i64) {
    for %one, %m1, %one {label=2} (%j: i64) {
      %im = sub %i, %one : i64
      %ip = add %i, %one : i64
      %jm = sub %j, %one : i64
      %jp = add %j, %one : i64
      %v1 = load %a, %im, %j UNCHECKED : f64
      %v2 = load %a, %ip, %j UNCHECKED : f64
      %v3 = load %a, %i, %jm UNCHECKED : f64
      %v4 = load %a, %i, %jp UNCHECKED : f64
      %s1 = add %v1, %v2 : f64
      %s2 = add %s1, %v3 : f64
      %s3 = add %s2, %v4 : f64
      store %s3, %b, %i, %j UNCHECKED
      continue {label=2}
    }
    continue {label=1}
  }
  return
}
"""


def test_stencil() -> None:
    program = module(_STENCIL.replace("UNCHECKED", "{checked=false, wrap=false}"))
    lowered = lower_module(program)
    found = codegen.optimise(lowered.full_text(driver(program, lowered.entry_symbol)), target=AVX2)
    assert re.search(r"store <\d+ x double>", found)


def test_a_new_array_needs_no_test_for_overlap() -> None:
    program = module(
        """
        func @f(%a: array<f64, 1, C>) -> (array<f64, 1, C>) from "f.py" "f" 1 {
          %zero = const {type=i64, value=0} : i64
          %one = const {type=i64, value=1} : i64
          %n = dim %a {axis=0} : i64
          %b = alloc %n {type=array<f64, 1, C>} : array<f64, 1, C>
          for %zero, %n, %one {label=1} (%i: i64) {
            %x = load %a, %i {checked=false, wrap=false} : f64
            %y = mul %x, %x : f64
            store %y, %b, %i {checked=false, wrap=false}
            continue {label=1}
          }
          return %b
        }
        """
    )
    lowered = lower_module(program)
    found = codegen.optimise(lowered.full_text(driver(program, lowered.entry_symbol)), target=AVX2)
    assert re.search(r"store <\d+ x double>", found) and "memcheck" not in found
