"""The reference interpreter: memory, ownership, calls back into Python, and its own errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from ir.generators import modules
from ir.observation import Sample, agree, observe

from quadrants.ir import Function, Module, Region, Scope, Value
from quadrants.ir.boxing import box, resolve, unbox
from quadrants.ir.builder import Builder
from quadrants.ir.interp import InterpArray, Leak, Raised, StepLimit, Undefined, run
from quadrants.ir.parser import parse_module
from quadrants.ir.spec import verify
from quadrants.ir.values import Importer, contiguous_strides, new_array
from quadrants.types import (
    BOOL,
    F64,
    I32,
    I64,
    NONE,
    PYFLOAT,
    PYINT,
    STR,
    ArrayType,
    FormatHole,
    FormatType,
    LiteralType,
    OptionalType,
    SliceType,
    TupleType,
)

VECTOR = "array<f64, 1, C>"
STRIDED = "array<f64, 1, A>"
QUICK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def program(signature: str, body: str, more: str = "") -> Module:
    module = parse_module(f"qir 1\nentry @main\nfunc @main{signature} {{\n{body}\n}}\n{more}")
    verify(module)
    return module


@given(sample=modules())
@QUICK
def test_runs_are_repeatable_and_leave_arguments_alone(sample: Sample) -> None:
    before = [arg.copy() for arg in sample.args if isinstance(arg, np.ndarray)]
    assert agree(observe(sample), observe(sample))
    after = [arg for arg in sample.args if isinstance(arg, np.ndarray)]
    assert all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(before, after))


REVERSE = program(
    f"(%v: {STRIDED}) -> ({STRIDED})",
    """%n = dim %v {axis=0}
    %s = stride %v {axis=0}
    %one = const 1 : i64
    %last = sub %n, %one
    %start = mul %last, %s
    %back = neg %s
    %r = view %v, %start, %n, %back {type=array<f64, 1, A>}
    return %r""",
)


def test_views_share_the_memory_of_arguments() -> None:
    base = np.arange(10.0)
    (result,) = run(REVERSE, [base[::2]])
    assert np.array_equal(result.numpy(), base[::2][::-1])
    base[8] = 80.0
    assert result.numpy()[0] == 80.0
    (twice,) = run(REVERSE, [base[::-3]])
    assert np.array_equal(twice.numpy(), base[::-3][::-1])


def test_stores_reach_the_arrays_of_the_caller() -> None:
    module = program(
        f"(%a: {STRIDED}, %b: {STRIDED}) -> (f64)",
        "%i = const -1 : i64\n %x = const 7.5 : f64\n store %x, %a, %i\n %y = load %b, %i\n return %y",
    )
    base = np.arange(6.0)
    assert run(module, [base[:3], base[2::-1][::-1]]) == (7.5,)
    assert base[2] == 7.5
    with pytest.raises(Raised, match="index -1 is out of bounds for axis 0 with size 0"):
        run(module, [base[:0], base])


@pytest.mark.parametrize(
    ("a", "b", "same", "overlap"),
    [
        (slice(0, 4), slice(0, 4), True, True),
        (slice(0, 4), slice(4, 8), False, False),
        (slice(0, 4), slice(3, 8), False, True),
        (slice(0, 8, 2), slice(1, 8, 2), False, True),
        (slice(3, None, -1), slice(0, 4), False, True),
        (slice(0, 0), slice(0, 4), False, False),
    ],
)
def test_same_and_overlap(a: slice, b: slice, same: bool, overlap: bool) -> None:
    module = program(
        f"(%a: {STRIDED}, %b: {STRIDED}) -> (bool, bool)", "%s = same %a, %b\n %o = overlap %a, %b\n return %s, %o"
    )
    base = np.arange(8.0)
    assert run(module, [base[a], base[b]]) == (same, overlap)
    assert run(module, [base[a], base.copy()[b]]) == (False, False)


def test_map_broadcasts_as_numpy_does() -> None:
    module = program(
        f"(%a: array<f64, 2, A>, %b: {STRIDED}, %k: i32) -> (array<f64, 2, C>)",
        """%m = map %a, %b, %k {dtype=f64, ndim=2} (%x: f64, %y: f64, %z: i32) {
          %w = cast %z {type=f64}
          %p = mul %x, %y
          %q = add %p, %w
          yield %q
        }
        return %m""",
    )
    column, row = np.arange(6.0).reshape(2, 3)[:, :1], np.arange(4.0)[::-1]
    assert np.array_equal(run(module, [column, row, 5])[0].numpy(), column * row + 5)
    assert run(module, [column[:0], row, 5])[0].numpy().shape == (0, 4)
    with pytest.raises(Raised) as caught:
        run(module, [np.ones((2, 3)), row, 5])
    with pytest.raises(ValueError) as expected:
        np.clip(np.ones((2, 3)), row, 5)
    assert caught.value.values == expected.value.args


def test_map_into_reads_before_it_writes() -> None:
    module = program(
        f"(%t: {STRIDED}, %a: {STRIDED}) -> ()",
        "map_into %t, %a, %a (%x: f64, %y: f64) {\n %s = add %x, %y\n yield %s\n }\n return",
    )
    base = np.arange(6.0)
    expected = base.copy()
    expected[1:] = base[:-1] + base[:-1]
    assert run(module, [base[1:], base[:-1]]) == ()
    assert np.array_equal(base, expected)
    with pytest.raises(Raised) as caught:
        run(module, [base, base[:2]])
    with pytest.raises(ValueError) as error:
        np.add(base[:2], base[:2], out=base)
    assert caught.value.values == error.value.args


def test_new_arrays_have_the_strides_of_numpy() -> None:
    assert contiguous_strides((2, 0, 3), 8) == (24, 24, 8)
    for dims in ((), (3,), (2, 3, 4), (1, 5), (5, 1)):
        for layout in "CF":
            assert contiguous_strides(dims, 8, layout) == np.empty(dims, order=layout).strides  # type: ignore[call-overload]
    fresh = new_array(ArrayType(F64, 2, "F"), (2, 3)).numpy()
    assert fresh.flags.f_contiguous and np.isnan(fresh).sum() == 0 and (fresh != 0).all()
    assert (new_array(ArrayType(F64, 1), (4,), zero=True).numpy() == 0).all()


def test_undefined_behaviour_is_found() -> None:
    cases = [
        (f"(%v: {VECTOR}) -> (f64)", "%i = const 3 : i64\n %x = load %v, %i {checked=false}\n return %x"),
        (f"(%v: {VECTOR}) -> (f64)", "%i = const -1 : i64\n %x = load %v, %i {checked=false, wrap=false}\n return %x"),
        (f"(%v: {VECTOR}) -> (f64)", "unreachable"),
        (
            f"(%v: {VECTOR}) -> ({STRIDED})",
            f"%i = const 8 : i64\n %w = view %v, %i, %i, %i {{type={STRIDED}}}\n return %w",
        ),
        (
            f"(%v: {VECTOR}) -> ({VECTOR})",
            "%o = const 0 : i64\n %n = const 2 : i64\n %s = const 16 : i64\n"
            f"%w = view %v, %o, %n, %s {{type={VECTOR}}}\n return %w",
        ),
        (
            f"(%v: {VECTOR}) -> ()",
            "%i = const 0 : i64\n for %i, %i, %i {label=0} (%k: i64) {\n continue {label=0}\n }\n return",
        ),
        (
            f"(%v: {VECTOR}) -> (f64)",
            f"%i = const 0 : i64\n%z = zero {{type={VECTOR}}}\n %x = load %z, %i {{checked=false}}\n return %x",
        ),
    ]
    for signature, body in cases:
        with pytest.raises(Undefined):
            run(program(signature, body), [np.arange(3.0)])


def test_a_call_that_was_said_not_to_raise() -> None:
    module = program(
        "() -> ()",
        'call {callee="g", result_types=[], nothrow=true}\n return',
        'func @g() -> () {\n raise {exc="builtins:ValueError", args=tuple<>}\n}',
    )
    with pytest.raises(Undefined, match="said not to"):
        run(module, [])


def test_trace_of_calls() -> None:
    module = program(
        "() -> ()",
        'call {callee="g", result_types=[]} @5:2\n return',
        'func @g() -> () from "b.py" "g" 7 {\n raise {exc="builtins:ValueError", args=tuple<>} @8:4\n}',
    )
    with pytest.raises(Raised) as caught:
        run(module, [])
    assert caught.value.loc is not None and caught.value.loc.line == 8
    assert [(scope.qualname, loc.line if loc else None) for scope, loc in caught.value.trace] == [("g", 5)]


# Ownership


def test_leaks_and_double_frees() -> None:
    make = f"%n = const 4 : i64\n %a = alloc %n {{type={VECTOR}}}\n"
    assert len(run(program(f"() -> ({VECTOR})", make + "return %a"), [])) == 1
    run(program("() -> ()", make + "release %a\n return"), [])
    with pytest.raises(Leak, match="32 bytes have 2 references, and 1 results"):
        run(program(f"() -> ({VECTOR})", make + "retain %a\n return %a"), [])
    with pytest.raises(Leak, match="1 references, and 0 results"):
        run(program("() -> ()", make + f"%b = alloc %n {{type={VECTOR}}}\n release %b\n return"), [])
    with pytest.raises(Undefined, match="freed"):
        run(program("() -> ()", make + "release %a\n release %a\n return"), [])
    with pytest.raises(Undefined, match="freed"):
        run(program("(%i: i64) -> (f64)", make + "release %a\n %x = load %a, %i {checked=false}\n return %x"), [0])
    with pytest.raises(Leak):
        run(
            program(
                f"() -> ({VECTOR}, {VECTOR})", make + f"%b = alloc %n {{type={VECTOR}}}\n release %b\n return %a, %b"
            ),
            [],
        )


def test_arguments_are_borrowed() -> None:
    module = program(f"(%v: {VECTOR}) -> ({VECTOR})", "retain %v\n return %v")
    assert isinstance(run(module, [np.arange(3.0)])[0], InterpArray)


def test_cleanup_happens_when_the_op_raises() -> None:
    body = f"""%a = alloc %n {{type={VECTOR}}}
    %b = alloc %n {{type={VECTOR}}} cleanup(%a)
    %r = var %b
    %x = load %a, %i cleanup(%a, %r)
    release %r
    release %a
    return %x"""
    module = program("(%n: i64, %i: i64) -> (f64)", body)
    run(module, [3, 1])
    with pytest.raises(Raised, match="out of bounds"):
        run(module, [3, 3])
    leaky = program("(%n: i64, %i: i64) -> (f64)", body.replace("cleanup(%a, %r)", "cleanup(%a)"))
    with pytest.raises(Leak):
        run(leaky, [3, 3])


def test_variables_own_what_they_hold() -> None:
    module = program(
        f"(%n: i64) -> ({VECTOR})",
        f"""%z = zero {{type={VECTOR}}}
        %r = var %z
        %a = alloc %n {{type={VECTOR}}}
        var.set %r, %a
        %b = alloc %n {{type={VECTOR}}}
        var.set %r, %b
        %c = var.get %r
        retain %c
        release %r
        return %c""",
    )
    (result,) = run(module, [2])
    assert result.block.refcount == 1


# Python


PRINT = program(
    "(%x: f64, %k: i64) -> (i64)",
    """%r = pycall %x, %k {target="m:f", args=tuple<f64, pyint, literal<(('sep', '-'),)>>, result=optional<pyint>} : bool, i64
    return %r""".replace("%r = ", "%p, %r = "),
)


def test_pycall() -> None:
    seen: list[Any] = []

    def host(target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        seen.append((target, args, kwargs))
        return 42

    assert run(PRINT, [1.5, 3], host=host) == (42,)
    ((target, args, kwargs),) = seen
    assert target == "m:f" and args == (1.5, 3) and kwargs == {"sep": "-"}
    assert type(args[0]) is np.float64 and type(args[1]) is int

    def failing(target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise KeyError("missing")

    with pytest.raises(Raised) as caught:
        run(PRINT, [1.5, 3], host=failing)
    assert (caught.value.cls, caught.value.values) == ("builtins:KeyError", ("missing",))


def test_print_reaches_python(capsys: pytest.CaptureFixture[str]) -> None:
    module = program(
        "(%k: i64) -> ()",
        """pycall %k {target="builtins:print", args=tuple<literal<'k ='>, pyint, literal<(('end', '!'),)>>, result=none}
        return""",
    )
    run(module, [3])
    assert capsys.readouterr().out == "k = 3!"


def test_boxing() -> None:
    cases: list[tuple[Any, tuple[Any, ...], Any]] = [
        (TupleType((PYINT, LiteralType("a"), F64)), (3, np.float64(1.5)), (3, "a", np.float64(1.5))),
        (OptionalType(PYFLOAT), (True, np.float64(2.0)), 2.0),
        (SliceType(NONE, PYINT, NONE), (4,), slice(None, 4, None)),
        (BOOL, (True,), np.bool_(True)),
        (STR, ("text",), "text"),
    ]
    for type, leaves, value in cases:
        assert box(type, iter(leaves)) == value
        assert unbox(type, value) == leaves
    assert box(OptionalType(PYINT), iter((False, 0))) is None
    assert unbox(OptionalType(TupleType((I32, F64))), None) == (False, 0, 0.0)
    text = FormatType(("<", FormatHole(PYFLOAT, "", ".2f"), "|", FormatHole(TupleType((PYINT, PYINT)), "r", ">8"), ">"))
    assert box(text, iter((np.float64(3.14159), 1, 2))) == "<3.14|  (1, 2)>"
    with pytest.raises(TypeError):
        unbox(PYINT, "3")
    with pytest.raises(TypeError):
        unbox(TupleType((PYINT,)), (1, 2))
    with pytest.raises(LookupError):
        resolve("builtins:NoSuchThing")


# The interpreter's own errors


def test_arguments_must_fit() -> None:
    module = program(f"(%i: i32, %v: {VECTOR}, %s: str) -> ()", "return")
    run(module, [5, np.arange(2.0), "text"])
    for args in ([2**31, np.arange(2.0), ""], [1, np.arange(2), ""], [1, np.ones((1, 1)), ""], [1, np.ones(1), 3], [1]):
        with pytest.raises(TypeError):
            run(module, args)


def test_steps_are_limited() -> None:
    module = program("() -> ()", "loop {label=0, result_types=[]} {\n continue {label=0}\n }\n return")
    with pytest.raises(StepLimit):
        run(module, [], max_steps=1000)


def test_depth_is_limited_and_recursion_works() -> None:
    module = program(
        "(%n: i64) -> (i64)",
        """%one = const 1 : i64
        %small = cmp %n, %one {pred="le"}
        %r = if %small {
          yield %one
        } else {
          %less = sub %n, %one
          %f = call %less {callee="main", result_types=[i64]}
          %p = mul %n, %f
          yield %p
        }
        return %r""",
    )
    assert run(module, [20]) == (2432902008176640000,)
    run(module, [900], max_depth=1000)
    with pytest.raises(Raised, match="RecursionError"):
        run(module, [10**9])


def test_views_of_one_array_share_a_block() -> None:
    base = np.arange(12.0).reshape(3, 4)
    windows = np.lib.stride_tricks.sliding_window_view(base.reshape(-1), 4)
    other = np.arange(3.0)
    importer = Importer([base.T, base[1], windows, other])
    c = importer.array(ArrayType(F64, 2, "A"), windows)
    d = importer.array(ArrayType(F64, 1), other)
    assert d.block is not c.block and np.array_equal(c.numpy(), windows)
    a = importer.array(ArrayType(F64, 2, "A"), base.T)
    b = importer.array(ArrayType(F64, 1, "A"), base[1])
    assert a.block is b.block is c.block and a.bounds() == (0, 96) and b.bounds() == (32, 64)
    assert np.array_equal(a.numpy(), base.T)


def test_builder_makes_what_runs() -> None:
    n = Value(I64, "n")
    body = Region()
    builder = Builder(body)
    builder.op("return", builder.value("mul", n, n))
    module = Module({"sq": Function("sq", [n], (I64,), body, Scope("", "", 0))}, "sq")
    verify(module)
    assert run(module, [9]) == (81,)
