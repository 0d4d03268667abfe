"""The verifier accepts what is right and says what is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from ir.generators import Config, modules, random_sample
from ir.observation import Sample

from quadrants.ir import Module, Op, OpDef, Region, Value
from quadrants.ir.ops import OPS
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module, walk_with_parents
from quadrants.ir.spec import InvalidIR, verify, verify_function
from quadrants.types import BOOL, C64, F64, PYINT

QUICK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@given(sample=modules(Config(exact=False)))
@QUICK
def test_accepts_generated_modules(sample: Sample) -> None:
    verify(sample.module)


def _header(body: str, signature: str = "%a: f64, %n: i64, %c: bool, %v: array<f64, 1, C>) -> (f64") -> str:
    return f"qir 1\nentry @f\nfunc @f({signature}) {{\n{body}\n}}"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return", "the function returns (f64), not ()"),
        ("%b = neg %a", "a region does not end in a terminator"),
        ("", "a region does not end in a terminator"),
        ("return %a\n return %a", "a terminator that is not at the end of its region"),
        ("yield %a", "nothing to yield to at the end of the function"),
        ("break %a {label=1}", "no op around it has the label 1"),
        ("continue %a {label=1}", "no op around it has the label 1"),
        ("%b = add %a, %n : f64\n return %b", "one type, not f64 and i64"),
        ("%b = neg %a : i64\n return %a", "the results should be (f64), not (i64)"),
        ("neg %a :\n return %a", "PARSE"),
        ("%b = neg %a {quick=true}\n return %b", "has no attribute 'quick'"),
        ("%b = neg %a {nowrap=1}\n return %b", "attribute 'nowrap' must be a bool, not 1"),
        ('%b = cmp %a, %a {pred="almost"} : bool\n return %a', "must be a string among eq, ne"),
        ("%b = cmp %a, %a : bool\n return %a", "lacks the attribute 'pred'"),
        ("if %c {\n %b = neg %a\n yield } else { yield }\n return %b", "value of type f64 that does not reach this op"),
        ("%r = if %c { yield %a } else { yield %n } : f64\n return %a", "PARSE"),
        ("%r = if %c : f64 { yield %a } else { yield %n }\n return %a", "the values of yield must be (f64), not (i64)"),
        ("if %n { yield } else { yield }\n return %a", "the condition must be (bool), not (i64)"),
        ("%r = if %c : f64 { yield %a } else { yield }\n return %a", "the values of yield must be"),
        ("if %c { yield }\n return %a", "takes 2 regions, not 1"),
        ("block {label=1} { block {label=1} { yield }\n yield }\n return %a", "the label 1 is that of an op around it"),
        ("block {label=1} { continue {label=1} }\n return %a", "label 1 is that of a block, which does not repeat"),
        ("%r = block {label=1} : f64 { break %n {label=1} }\n return %a", "the results should be (i64), not (f64)"),
        ("loop {label=1, result_types=[]} { yield }\n return %a", "nothing to yield to at the end of loop"),
        (
            "loop %a {label=1, result_types=[]} (%x: i64) { break {label=1} }\n return %a",
            "arguments of the body must be",
        ),
        (
            "loop %a {label=1, result_types=[]} (%x: f64) { continue {label=1} }\n return %a",
            "values of continue must be",
        ),
        (
            "%r = for %n, %n, %n, %a {label=1} : f64 (%i: i64, %x: f64) { break {label=1} }\n return %a",
            "values of break must be",
        ),
        ("for %n, %n, %a {label=1} (%i: i64) { continue {label=1} }\n return %a", "start, stop and step must be i64"),
        ("try { yield } handler { yield }\n return %a", "the arguments of the handler must be (exc), not ()"),
        ("%x = load %v, %n, %n : f64\n return %a", "takes 1 indices, not 2"),
        ("%x = load %v, %n : f32\n return %a", "the results should be (f64), not (f32)"),
        ('call {callee="g", result_types=[]}\n return %a', "the module has no function 'g'"),
        ('call {callee="f", result_types=[]}\n return %a', "f takes (f64, i64, bool, array<f64, 1, C>), not ()"),
        ('call %a, %n, %c, %v {callee="f", result_types=[]}\n return %a', "f returns (f64)"),
        ('%r = var %a\n %q = call %r {callee="f", result_types=[f64]}\n return %a', "f takes (f64"),
        ("%r = var %a\n %q = if %c { yield %r } else { yield %r }\n return %a", "a variable cannot be passed on"),
        ("%r = var %n\n var.set %r, %a\n return %a", "sets a variable of i64 to f64"),
        ("release %a\n return %a", "counts references to arrays, not to f64"),
        ("%b = neg %a cleanup(%v)\n return %a", "cleans up, but cannot raise"),
        ("%b = load %v, %n cleanup(%a)\n return %a", "cleans up a f64, which owns no memory"),
    ],
)
def test_refuses(body: str, reason: str) -> None:
    if reason == "PARSE":
        with pytest.raises(ValueError, match="line"):
            parse_module(_header(body))
        return
    with pytest.raises(InvalidIR) as caught:
        verify(parse_module(_header(body)))
    assert reason in str(caught.value)
    assert "in f: " in str(caught.value)


CALL = '%q = call %x {callee="g", result_types=[f64], nothrow=true}'


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        ("%y = load %v, %n", "has an effect in the region of a map"),
        ("%y = load %v, %n {checked=false}", "has an effect in the region of a map"),
        ("if %c { break {label=1} } else { yield }", "no op around it has the label 1"),
        ("if %c { return %a } else { yield }", "leaves the region of a map"),
        ('check %c {exc="m:E", args=tuple<>}', "has an effect in the region of a map"),
        ("store %x, %v, %n {checked=false}", "has an effect in the region of a map"),
        (CALL.replace(", nothrow=true", ""), "has an effect in the region of a map"),
        (CALL, None),
        ("%y = index %n, %n {checked=false}", None),
        ("%r = loop %n {label=2, result_types=[i64]} (%i: i64) { break %i {label=2} }", None),
    ],
)
def test_regions_of_maps(inside: str, reason: str | None) -> None:
    body = f"block {{label=1}} {{ map_into %v, %a (%x: f64) {{ {inside}\n yield %x }}\n yield }}\n return %a"
    module = parse_module(_header(body) + "\nfunc @g(%x: f64) -> (f64) { return %x }")
    if reason is None:
        verify(module)
        return
    with pytest.raises(InvalidIR) as caught:
        verify(module)
    assert reason in str(caught.value)


def test_message_has_the_op() -> None:
    with pytest.raises(InvalidIR) as caught:
        verify(parse_module(_header("%b = neg %a : i64 @7:3\n return %a")))
    assert str(caught.value).splitlines()[1].strip() == "%b = neg %a : i64 @7:3"
    assert caught.value.function == "f" and caught.value.op is not None


GOOD = _header("%b = neg %a\n %r = if %c { yield %b } else { yield %a }\n return %r")


def _forge(module: Module) -> None:
    op = module.functions["f"].body.ops[0]
    module.functions["f"].body.ops[0] = Op(OpDef("neg", op.defn.type_rule), op.operands, op.results)


def _twice(module: Module) -> None:
    ops = module.functions["f"].body.ops
    ops.insert(1, ops[0])


def _shared_region(module: Module) -> None:
    branch = module.functions["f"].body.ops[1]
    branch.regions[1] = branch.regions[0]


def _same_result(module: Module) -> None:
    ops = module.functions["f"].body.ops
    ops.insert(1, Op(OPS["neg"], [*ops[0].operands], ops[0].results))


def _use_before(module: Module) -> None:
    ops = module.functions["f"].body.ops
    ops[0], ops[1] = ops[1], ops[0]


def _foreign_value(module: Module) -> None:
    module.functions["f"].body.ops[0].operands[0] = Value(F64)


def _weak_parameter(module: Module) -> None:
    module.functions["f"].params[1].type = PYINT


def _bad_loc(module: Module) -> None:
    module.functions["f"].body.ops[0].loc = (1, 2)  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_forge, "neg is not an operation of QIR"),
        (_twice, "an op stands in two places"),
        (_shared_region, "a region stands in two places"),
        (_same_result, "is defined twice"),
        (_use_before, "is not defined before"),
        (_foreign_value, "is not defined before"),
        (_weak_parameter, "pyint is not the type of a parameter"),
        (_bad_loc, "its location is (1, 2)"),
        (lambda module: module.functions.update(g=module.functions["f"]), "it is called 'f' itself"),
        (lambda module: setattr(module, "entry", "g"), "the entry 'g' is not a function"),
        (lambda module: module.functions["f"].attrs.update(colour="red"), "a function has no attribute 'colour'"),
        (lambda module: module.functions["f"].attrs.update(fp="slow"), "its attribute 'fp' is 'slow'"),
        (lambda module: module.functions["f"].body.args.append(Value(F64)), "the body of a function has arguments"),
        (lambda module: module.functions["f"].params.append(module.functions["f"].params[0]), "is defined twice"),
    ],
)
def test_refuses_changed_structures(change: Callable[[Module], None], reason: str) -> None:
    module = parse_module(GOOD)
    verify(module)
    change(module)
    with pytest.raises(InvalidIR) as caught:
        verify(module)
    assert reason in str(caught.value)


def test_one_function_alone() -> None:
    module = parse_module(_header('%q = call %a {callee="elsewhere", result_types=[f64]}\n return %q'))
    verify_function(module.functions["f"])
    with pytest.raises(InvalidIR, match="no function 'elsewhere'"):
        verify_function(module.functions["f"], module)


def _ops(module: Module) -> list[tuple[Op, Region]]:
    return [(op, region) for fn in module.functions.values() for op, region, _ in walk_with_parents(fn.body)]


def _drop_terminator(module: Module, rng: random.Random) -> bool:
    op, region = rng.choice(_ops(module))
    region.ops.pop()
    return True


def _change_result(module: Module, rng: random.Random) -> bool:
    op = rng.choice([op for op, _ in _ops(module) if op.results])
    value = rng.choice(op.results)
    value.type = C64 if value.type == BOOL else BOOL
    return True


def _drop_operand(module: Module, rng: random.Random) -> bool:
    fixed = [
        op for op, _ in _ops(module) if op.operands and op.name not in ("map", "map_into", "yield", "break", "continue")
    ]
    if not fixed:
        return False
    op = rng.choice(fixed)
    if op.name in ("for", "loop"):
        return False
    op.operands.pop()
    return True


def _stray_value(module: Module, rng: random.Random) -> bool:
    used = [op for op, _ in _ops(module) if op.operands]
    if not used:
        return False
    op = rng.choice(used)
    place = rng.randrange(len(op.operands))
    op.operands[place] = Value(op.operands[place].type)
    return True


def _duplicate(module: Module, rng: random.Random) -> bool:
    op, region = rng.choice(_ops(module))
    region.ops.insert(region.ops.index(op), op)
    return True


def _drop_definition(module: Module, rng: random.Random) -> bool:
    used = {value for op, _ in _ops(module) for value in op.operands}
    candidates = [(op, region) for op, region in _ops(module) if any(value in used for value in op.results)]
    if not candidates:
        return False
    op, region = rng.choice(candidates)
    region.ops.remove(op)
    return True


def _drop_attribute(module: Module, rng: random.Random) -> bool:
    candidates = [(op, spec.name) for op, _ in _ops(module) for spec in op.defn.attrs if spec.required]
    if not candidates:
        return False
    op, name = rng.choice(candidates)
    del op.attrs[name]
    return True


MUTATIONS = (
    _drop_terminator,
    _change_result,
    _drop_operand,
    _stray_value,
    _duplicate,
    _drop_definition,
    _drop_attribute,
)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_refuses_mutations(mutation: Callable[[Module, random.Random], bool]) -> None:
    mutated = 0
    for seed in range(25):
        module = clone_module(random_sample(seed).module)
        rng = random.Random(seed)
        if not mutation(module, rng):
            continue
        mutated += 1
        with pytest.raises(InvalidIR):
            verify(module)
    assert mutated > 10
