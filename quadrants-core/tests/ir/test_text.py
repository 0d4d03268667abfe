"""Modules print and read back; what cannot be read says where and why."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from ir.generators import modules, random_sample
from ir.observation import Sample

from quadrants.ir import Function, Loc, Module, Region, Scope, Value
from quadrants.ir.builder import Builder
from quadrants.ir.equal import difference, equal
from quadrants.ir.parser import TextError, parse_function, parse_module
from quadrants.ir.spec import verify
from quadrants.ir.text import print_function, print_module
from quadrants.types import F64, I64, LiteralType, TupleType

QUICK = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@given(sample=modules())
@QUICK
def test_round_trip(sample: Sample) -> None:
    _round_trip(sample.module)


@pytest.mark.parametrize("seed", range(60))
def test_round_trip_of_large_modules(seed: int) -> None:
    _round_trip(random_sample(seed).module)


def _round_trip(module: Module) -> None:
    text = print_module(module)
    again = parse_module(text)
    assert difference(module, again) is None
    assert print_module(again) == text


def test_everything_about_an_op_is_kept() -> None:
    a, b = Value(I64, "x"), Value(I64, "x")
    body = Region()
    builder = Builder(body)
    builder.loc = Loc(3, 4, 5, 6, 7)
    c = builder.op("add", a, b, fast="nnan", nowrap=True).result
    c.hint = "x.1"
    builder.loc = Loc(3, 4)
    builder.op("check", builder.bool(True), exc='m:A"\\', args=TupleType((LiteralType("say \"'\n;"),)))
    builder.loc = None
    builder.op("return", c)
    scope = Scope('a "b"\\c.py', "f.<locals>.<lambda>", 12, internal=True)
    function = Function("f(i64; i64)", [a, b], (I64,), body, scope, {"recursive": True, "level": "host"})
    module = Module({function.name: function}, function.name)
    text = print_module(module)
    assert '%x.2 = add %x, %x.1 {fast="nnan", nowrap=true} : i64 @3:4-5:6+7' in text
    assert 'with {level="host", recursive=true}' in text
    _round_trip(module)


def test_cleanup_and_numbers() -> None:
    text = """func @f(%a: array<f64, 1, C>) -> () {
  %v = alloc %n {type=array<f64, 1, C>} : array<f64, 1, C> cleanup(%a) @1:0
}""".replace("-> () {\n", "-> () {\n  %n = const 3 : i64\n")
    function = parse_function(text)
    assert function.body.ops[1].cleanup == (function.params[0],)
    assert "cleanup(%a) @1:0" in print_function(function)
    for number in ("nan", "inf", "-inf", "-0.0", "1e+300", "(1+2j)", "(nan-infj)", "infj", "-5", "true"):
        op = parse_function(f"func @f() -> () {{ %a = const {number} : f64 }}").body.ops[0]
        assert f"const {number} : f64" in print_function(Function("f", [], (), Region([], [op]), Scope("", "", 0))), (
            number
        )


def test_numpy_numbers_print_as_numbers() -> None:
    np = pytest.importorskip("numpy")
    region = Region()
    Builder(region).op("const", value=np.float64(0.1), type=F64)
    assert "const 0.1 : f64" in print_function(Function("f", [], (), region, Scope("", "", 0)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected 'qir' and the version, found the end"),
        ("qir 999", "line 1, column 1: this is qir 999, only qir"),
        ("qir 1\nfun", "line 2, column 1: expected 'func', found 'fun'"),
        ("qir 1\nfunc f()", "line 2, column 6: expected '@' and the name of a function, found 'f'"),
        ("qir 1\nfunc @f() -> () { }\nfunc @f() -> () { }", "line 3, column 1: the function 'f' is defined twice"),
        ("qir 1\nfunc @f() -> () {\n  foo %a\n}", "line 3, column 3: unknown operation 'foo'"),
        ("qir 1\nfunc @f() -> () {\n  return %a\n}", "line 3, column 10: %a is not defined"),
        ("qir 1\nfunc @f(%a: f64, %a: f64) -> () {\n}", "line 2, column 18: %a is defined twice"),
        ("qir 1\nfunc @f(%a: f64) -> () {\n  %a = neg %a\n}", "line 3, column 3: %a is defined twice"),
        ("qir 1\nfunc @f(%a: f64) -> () {\n  %b = add %a\n}", "line 3, column 8: add: takes 2 operands, not 1"),
        ("qir 1\nfunc @f(%a: f64) -> () {\n  neg %a : f64\n}", "line 3, column 3: neg has 1 results, not 0"),
        ("qir 1\nfunc @f(%a: f64) -> () {\n  %b, %c = neg %a : f64\n}", "neg has 1 results, not 2"),
        ("qir 1\nfunc @f() -> () {\n  return", "line 3, column 9: expected an operation or '}', found the end"),
        ("qir 1\nfunc @f() -> () {\n  break {label=one}\n}", "column 16: expected a number, a string, a truth value"),
        ("qir 1\nfunc @f() -> () {\n  break {label=1, label=2}\n}", "the attribute 'label' is given twice"),
        ("qir 1\nfunc @f() -> () {\n  break {label=1", "expected ',', found the end"),
        ("qir 1\nfunc @f() -> () {\n  return @3\n}", "column 10: expected a location, found '@'"),
        ("qir 1\nfunc @f(%a: f63) -> () {}", "column 13: unknown type 'f63'"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_module(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("seed", range(5))
def test_no_text_crashes_the_parser(seed: int) -> None:
    text = print_module(random_sample(seed).module)
    step = max(1, len(text) // 40)
    for place in range(0, len(text), step):
        for broken in (text[:place], text[:place] + text[place + 1 :], text[:place] + "<" + text[place:]):
            try:
                parse_module(broken)
            except TextError as error:
                assert error.line >= 1 and error.column >= 1


def test_difference_names_the_place() -> None:
    text = "qir 1\nentry @f\nfunc @f(%a: f64) -> (f64) { %b = neg %a\n return %b @1:1 }"
    base = parse_module(text)
    for change, words in [
        ("entry @f|entry @g", "entry"),
        ("neg|abs", "neg and abs"),
        ("return %b|return %a", "the operands"),
        ("@1:1|@1:2", "the locations"),
        ("neg %a|neg %a {nowrap=true}", "the attributes"),
        ('-> (f64)|-> (f64) with {level="host"}', "attributes"),
    ]:
        old, new = change.split("|")
        other = parse_module(text.replace(old, new))
        assert words in (difference(base, other) or ""), change
        assert not equal(base, other)


def test_deep_nesting() -> None:
    depth = 150
    head, tail = "if %c {\n" * depth, "yield } else { yield }\n" * depth
    module = parse_module(f"qir 1\nentry @f\nfunc @f(%c: bool) -> () {{\n{head}{tail}return\n}}")
    verify(module)
    assert len(list(module.functions["f"].body.walk())) == 3 * depth + 1
    _round_trip(module)
