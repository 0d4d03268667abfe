"""Which arrays a function may write."""

from __future__ import annotations

import numpy as np
import pytest

import quadrants as qd
from quadrants.ir.parser import parse_module
from quadrants.passes.written import written_params

HEAD = 'qir 1\nentry @f\n\nfunc @f(%a: array<i64, 1, C>, %b: array<i64, 1, C>, %i: i64) -> () from "f.py" "f" 1 {\n'
CALLEE = """
func @put(%x: array<i64, 1, C>, %y: array<i64, 1, C>, %k: i64) -> () from "f.py" "put" 2 {
  %v = load %y, %k
  store %v, %x, %k
  return
}

func @same(%x: array<i64, 1, C>) -> (array<i64, 1, C>) from "f.py" "same" 3 {
  return %x
}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%v = load %a, %i\n %d = dim %b {axis=0} : i64", set()),
        ("%v = load %a, %i\n store %v, %b, %i", {1}),
        ('%v = load %a, %i\n %o = atomic %v, %a, %i {op="add"}', {0}),
        ("%v = load %a, %i\n %o = atomic.cas %v, %v, %b, %i", {1}),
        ("%w = view %a, %i, %i, %i {type=array<i64, 1, A>}\n store %i, %w, %i", {0}),
        ('call %b, %a, %i {callee="put", result_types=[]}', {1}),
        ('%c = call %a {callee="same", result_types=[array<i64, 1, C>]}', {0}),
        ("%r = var %b", {1}),
    ],
)
def test_what_is_written(body: str, expected: set[int]) -> None:
    module = parse_module(HEAD + body + "\n return\n}\n" + CALLEE)
    assert written_params(module, module.functions["f"]) == expected


def test_a_launch_knows_what_comes_back() -> None:
    @qd.cpu.kernel
    def add(a, b, out):
        i = qd.cpu.grid(1)
        if i < out.size:
            out[i] = a[i] + b[i]

    a, out = np.arange(4.0), np.zeros(4)
    add[1, 4](a, a[::-1], out)
    assert out.tolist() == [3.0] * 4
    (code,) = add._compiled.values()
    assert [type.readonly for type in code.machine] == [True, True, False]
