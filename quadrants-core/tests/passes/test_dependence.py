"""Dependence tests, against what the loops do: every pair of turns that touches one element is found by running them."""

from __future__ import annotations

import random
from itertools import product

import pytest

from quadrants.ir import Function, Op, Value
from quadrants.ir.parser import parse_module
from quadrants.passes import dependence
from quadrants.passes.forms import Form, constant, symbol
from quadrants.passes.integers import Answer, System
from quadrants.passes.structure import definitions
from quadrants.types import I64


def _variables(count: int) -> list[Value]:
    return [Value(I64, f"v{index}") for index in range(count)]


def _form(variables: list[Value], numbers: tuple[int, ...], const: int) -> Form:
    total = constant(const)
    for variable, number in zip(variables, numbers):
        total = total.plus(symbol(variable), number) if number else total
    return total


@pytest.mark.parametrize("seed", range(300))
def test_systems_agree_with_enumeration(seed: int) -> None:
    """Over a small box, every answer that is a proof is right."""
    rng = random.Random(seed)
    count, size = rng.randint(1, 3), 5
    variables = _variables(count)
    rows = [tuple(rng.randint(-4, 4) for _ in variables) for _ in range(rng.randint(1, 3))]
    consts = [rng.randint(-9, 9) for _ in rows]
    equations = rng.randint(0, len(rows))
    box = [f for v in variables for f in (symbol(v).shift(size), symbol(v).scale(-1).shift(size))]
    forms = [_form(variables, row, const) for row, const in zip(rows, consts)]
    answer = System(forms[:equations], [*forms[equations:], *box]).solvable()

    def holds(point: tuple[int, ...]) -> bool:
        values = [sum(a * x for a, x in zip(row, point)) + c for row, c in zip(rows, consts)]
        return all(v == 0 for v in values[:equations]) and all(v >= 0 for v in values[equations:])

    found = any(map(holds, product(range(-size, size + 1), repeat=count)))
    assert answer is Answer.MAYBE or (answer is Answer.YES) == found


def _loop(text: str) -> tuple[Op, Function]:
    module = parse_module(text)
    function = module.functions[module.entry]
    return next(op for op in function.body.walk() if op.name == "for"), function


def _nest(
    index1: str, index2: str, params: str = "", bounds: str = "%zero, %n, %one", inner: str = "%zero, %n, %one"
) -> str:
    """for i { for j { a[index1] = a[index2] } }; an index is a list of ops, the last one its value."""
    return f"""
qir 1
entry @f

func @f(%a: array<f64, 1, C>, %n: i64, %k: i64{params}) -> () from "f.py" "f" 1 {{
  %zero = const 0 : i64
  %one = const 1 : i64
  %two = const 2 : i64
  %three = const 3 : i64
  for {bounds} {{label=1}} (%i: i64) {{
    for {inner} {{label=2}} (%j: i64) {{
      {index2.replace("$", "%r")}
      %x = load %a, %r {{checked=false, wrap=false}} : f64
      {index1.replace("$", "%w")}
      store %x, %a, %w {{checked=false, wrap=false}}
      continue {{label=2}}
    }}
    continue {{label=1}}
  }}
  return
}}
"""


def _verdict(text: str) -> dependence.Verdict:
    loop, function = _loop(text)
    return dependence.analyse(loop, definitions(function))


INDEPENDENT = [
    ("$ = add %i, %zero", "$ = add %i, %zero"),
    ("%w1 = mul %i, %n\n$ = add %w1, %j", "%r1 = mul %i, %n\n$ = add %r1, %j"),  # a[i * n + j], j < n
    ("%w1 = mul %i, %two\n$ = add %w1, %zero", "%r1 = mul %i, %two\n$ = add %r1, %one"),  # even, odd
    ("$ = add %i, %k", "$ = add %i, %k"),
    ("$ = sub %k, %i", "$ = sub %k, %i"),
]
DEPENDENT = [
    ("$ = add %i, %zero", "$ = sub %i, %one", 1),
    ("$ = add %i, %three", "$ = add %i, %one", 2),
    ("$ = add %j, %zero", "$ = add %j, %zero", 0),
    ("$ = add %i, %j", "$ = add %i, %j", 0),
    ("%w1 = mul %i, %n\n$ = add %w1, %j", "%r1 = mul %i, %n\n%r2 = add %r1, %one\n$ = add %r2, %j", 0),
]


@pytest.mark.parametrize(("store", "load"), INDEPENDENT)
def test_independent(store: str, load: str) -> None:
    verdict = _verdict(_nest(store, load))
    assert verdict.independent


@pytest.mark.parametrize(("store", "load", "distance"), DEPENDENT)
def test_dependent(store: str, load: str, distance: int) -> None:
    verdict = _verdict(_nest(store, load))
    assert verdict.conflicts
    if distance:
        assert {conflict.distance for conflict in verdict.conflicts} == {distance}
        assert all(conflict.proven for conflict in verdict.conflicts)


def _sum(name: str, numbers: tuple[int, int, int, int]) -> str:
    """`i * a + j * b + k * c + d` as ops, the last of which defines `$`."""
    parts = []
    for position, (variable, number) in enumerate(zip("ijk", numbers)):
        parts += [
            f"%{name}c{position} = const {number} : i64",
            f"%{name}{position} = mul %{variable}, %{name}c{position}",
        ]
    parts += [
        f"%{name}5 = add %{name}0, %{name}1",
        f"%{name}6 = add %{name}5, %{name}2",
        f"%{name}7 = const {numbers[3]} : i64",
        f"$ = add %{name}6, %{name}7",
    ]
    return "\n".join(parts)


_BOUNDS = [("%zero, %n, %one", lambda n, i: range(n)), ("%one, %n, %two", lambda n, i: range(1, n, 2))]
_INNER = [*_BOUNDS, ("%zero, %i, %one", lambda n, i: range(i)), ("%i, %n, %one", lambda n, i: range(i, n))]


@pytest.mark.parametrize("seed", range(400))
def test_nests_agree_with_enumeration(seed: int) -> None:
    """What is said to be independent is, for every size and symbol tried; what is proven to conflict does."""
    rng = random.Random(seed)
    bounds, outer = rng.choice(_BOUNDS)
    inside, inner = rng.choice(_INNER)
    store = (rng.randint(-2, 3), rng.randint(-2, 2), rng.choice((0, 0, 1)), rng.randint(-3, 3))
    load = store[:3] + (rng.randint(-3, 3),) if rng.random() < 0.5 else tuple(rng.randint(-2, 3) for _ in range(4))
    assert len(load) == 4
    verdict = _verdict(_nest(_sum("w", store), _sum("r", load), bounds=bounds, inner=inside))

    def meets(n: int, k: int) -> bool:
        seen: dict[int, set[int]] = {}
        touched: list[tuple[int, int]] = []
        for i in outer(n, 0):
            for j in inner(n, i):
                place = store[0] * i + store[1] * j + store[2] * k + store[3]
                seen.setdefault(place, set()).add(i)
                touched.append((i, load[0] * i + load[1] * j + load[2] * k + load[3]))
        return any(len(turns) > 1 for turns in seen.values()) or any(seen.get(place, {i}) - {i} for i, place in touched)

    met = [meets(n, k) for n in (0, 1, 2, 5, 9) for k in (-3, 0, 4)]
    if verdict.independent:
        assert not any(met)
    if any(conflict.proven for conflict in verdict.conflicts):
        assert any(met)
    if not any(met):  # the tests are exact for such nests, but for few sizes
        assert verdict.independent or len(set(map(abs, (*store[:2], *load[:2])))) > 1
