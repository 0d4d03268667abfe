"""The tools of the passes keep modules valid and programs the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from ir.generators import modules, random_sample
from ir.observation import Sample, agree, observe

from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.equal import difference
from quadrants.ir.opdef import Effect
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import (
    clone_module,
    clone_region,
    definitions,
    effects_of,
    fold,
    fresh_labels,
    is_pure,
    is_removable,
    is_speculatable,
    max_label,
    remove_dead_ops,
    replace_uses,
    uses,
    walk_with_parents,
)
from quadrants.ir.spec import verify
from quadrants.ir.text import print_module
from quadrants.ir.values import canonical

QUICK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def module_of(body: str) -> Module:
    signature = "%n: i64, %c: bool, %v: array<f64, 1, C>) -> (i64"
    module = parse_module(f"qir 1\nentry @main\nfunc @main({signature}) {{\n{body}\n}}")
    verify(module)
    return module


def first_op(body: str) -> Op:
    return module_of(body + "\n return %n").functions["main"].body.ops[0]


@given(sample=modules())
@QUICK
def test_clones_are_equal_and_apart(sample: Sample) -> None:
    copy = clone_module(sample.module)
    verify(copy)
    assert difference(sample.module, copy) is None
    before = print_module(sample.module)
    for function in copy.functions.values():
        for op in function.body.walk():
            op.attrs.clear()
            op.operands.clear()
    assert print_module(sample.module) == before


def simplify(function: Function) -> int:
    """Fold constants and drop what is then dead."""
    folded = 0
    constants: dict[Value, Any] = {}
    for op, region, _ in walk_with_parents(function.body):
        if op.name == "const":
            constants[op.result] = canonical(op.attrs["type"], op.attrs["value"])  # type: ignore[arg-type]
            continue
        new = fold(op, constants)
        if new is None:
            continue
        folded += 1
        place = region.ops.index(op)
        region.ops[place:place] = new
        for old, fresh in zip(op.results, new):
            constants[fresh.result] = canonical(fresh.attrs["type"], fresh.attrs["value"])  # type: ignore[arg-type]
            replace_uses(function.body, {old: fresh.result})
    remove_dead_ops(function)
    return folded


@pytest.mark.parametrize("seed", range(40))
def test_folding_and_dead_code_keep_the_meaning(seed: int) -> None:
    sample = random_sample(seed)
    module = clone_module(sample.module)
    for function in module.functions.values():
        simplify(function)
    verify(module)
    assert agree(observe(sample), observe(sample, module))


def test_folding_folds() -> None:
    assert (
        sum(simplify(f) for seed in range(10) for f in clone_module(random_sample(seed).module).functions.values()) > 50
    )


@pytest.mark.parametrize(
    ("op", "pure", "removable", "speculatable"),
    [
        ("%x = add %n, %n", True, True, True),
        ("%x = add %n, %n {nowrap=true}", True, True, False),
        ("%x = floordiv %n, %n {nonzero=true}", True, True, False),
        ("%x = load %v, %n", False, False, False),
        ("%x = load %v, %n {checked=false}", False, True, False),
        ("%x = index %n, %n", False, False, False),
        ("%x = index %n, %n {checked=false}", True, True, False),
        ("%x = index %n, %n {checked=false, wrap=false}", True, True, True),
        ("%x = var %n", False, True, False),
        ("%x = alloc %n {type=array<f64, 1, C>}", False, False, False),
        ("%x = if %c { yield %n } else { %y = neg %n\n yield %y }", True, True, True),
        ("%x = if %c { yield %n } else { return %n }", False, False, False),
        ('%x = if %c { yield %n } else { raise {exc="m:E", args=tuple<>} }', False, False, False),
        ("%x = block {label=1} { if %c { break %n {label=1} } else { yield }\n yield %n }", True, True, True),
        ("%x = for %n, %n, %n, %n {label=1} (%i: i64, %a: i64) { continue %i {label=1} }", True, True, True),
        ("%x = loop %n {label=1, result_types=[i64]} (%i: i64) { break %i {label=1} }", False, False, False),
        ('try { check %c {exc="m:E", args=tuple<>}\n yield } handler (%e: exc) { yield }', False, False, False),
    ],
)
def test_purity(op: str, pure: bool, removable: bool, speculatable: bool) -> None:
    made = first_op(op)
    assert (is_pure(made), is_removable(made), is_speculatable(made)) == (pure, removable, speculatable)


def test_effects_of_regions() -> None:
    stores = first_op("if %c { %x = const 1.0 : f64\n store %x, %v, %n\n yield } else { return %n }")
    assert effects_of(stores) == Effect.WRITES | Effect.RAISES | Effect.CONTROL
    assert effects_of(first_op("%x = load %v, %n {checked=false}")) == Effect.READS


def test_dead_code_goes_in_chains_and_stays_where_it_acts() -> None:
    module = module_of(
        """%a = add %n, %n
        %b = mul %a, %a
        %r = if %c {
          %d = neg %b
          yield %d
        } else {
          yield %b
        }
        %x = load %v, %n
        %k = block {label=0} {
          %u = not %n
          %w = load %v, %n
          yield %n
        }
        return %k"""
    )
    main = module.functions["main"]
    assert remove_dead_ops(main) == 7
    verify(module)
    assert [op.name for op in main.body.walk()] == ["load", "block", "load", "yield", "return"]


def test_uses_definitions_and_parents() -> None:
    module = module_of("%a = add %n, %n\n if %c {\n %b = neg %a\n yield } else { yield }\n return %a")
    main = module.functions["main"]
    found = uses(main.body)
    a = main.body.ops[0].result
    assert [op.name for op in found[main.params[0]]] == ["add", "add"]
    assert [op.name for op in found[a]] == ["neg", "return"]
    assert definitions(main.body)[a].name == "add"
    parents = {op.name: [parent.name for parent in around] for op, _, around in walk_with_parents(main.body)}
    assert parents["neg"] == ["if"] and parents["return"] == []


def test_replacements_are_followed_to_their_end() -> None:
    main = module_of("%a = neg %n\n %b = neg %a\n return %b").functions["main"]
    a, b = (op.result for op in main.body.ops[:2])
    replace_uses(main.body, {b: a, a: main.params[0]})
    assert [op.operands for op in main.body.ops] == [[main.params[0]]] * 3


def test_clone_with_maps() -> None:
    module = module_of(
        """%zero = const 0 : i64
        %s = for %zero, %n, %n, %zero {label=3} (%i: i64, %a: i64) {
          block {label=5} {
            break {label=5}
          }
          %t = add %a, %i
          continue %t {label=3}
        }
        return %s"""
    )
    main = module.functions["main"]
    loop = main.body.ops[1]
    assert max_label(main.body) == 5
    labels = fresh_labels(main.body, [0, 7])
    assert labels == {3: 8, 5: 9}
    copy = clone_region(loop.regions[0], {loop.regions[0].args[0]: main.params[0]}, labels)
    assert [arg.hint for arg in copy.args] == ["a"]
    assert copy.ops[1].operands == [copy.args[0], main.params[0]]
    assert [op.attrs["label"] for op in copy.walk() if "label" in op.attrs] == [9, 9, 8]
    assert max_label(Region()) == -1


def test_folding_leaves_what_cannot_be_known() -> None:
    text = "%z = const 0 : i64\n %a = floordiv %z, %z {nonzero=true}\n %b = load %v, %z {checked=false}\n return %z"
    region = module_of(text).functions["main"].body
    zero, divide, load, _ = region.ops
    assert fold(divide, {zero.result: 0}) is None
    assert fold(load, {zero.result: 0}) is None
    assert fold(zero, {}) is None
    division = module_of("%x = const 1.0 : f64\n %y = const 3.0 : f64\n %q = div %x, %y\n return %n")
    kept = division.functions["main"].body.ops[2]
    (result,) = fold(kept, {kept.operands[0]: np.float64(1), kept.operands[1]: np.float64(3)}) or []
    assert result.attrs["value"] == 1.0 / 3.0 and type(result.attrs["value"]) is float


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_programs(block: int) -> None:
    for seed in range(1000 + block * 100, 1100 + block * 100):
        sample = random_sample(seed)
        module = parse_module(print_module(sample.module))
        for function in module.functions.values():
            simplify(function)
        verify(module)
        assert agree(observe(sample), observe(sample, module)), seed
