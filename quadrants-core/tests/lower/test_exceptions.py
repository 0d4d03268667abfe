"""Exceptions: what is raised with which arguments, where it is caught, what is cleaned up, which calls the traceback names."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from lower.execution import Program, Trace, run
from lower.programs import module

from quadrants.host import codegen, loader, symbols
from quadrants.ir import Module
from quadrants.ir.interp import run as interpret
from quadrants.ir.values import Raised


class Mistake(ValueError):
    """An exception of a user's."""


_MISTAKE = f"{Mistake.__module__}:{Mistake.__qualname__}"


def outcome(call: Any) -> Any:
    try:
        return call()
    except Raised as error:
        return (error.cls, error.values, error.loc and error.loc.line)


def agree(program: Module, inputs: list[tuple[Any, ...]]) -> None:
    compiled = Program.load(program)
    for args in inputs:
        expected = outcome(lambda args=args: interpret(program, args))
        assert outcome(lambda args=args: compiled(args)) == expected, args


def test_check_with_arguments_of_every_type() -> None:
    names = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128".split()
    for name in names:
        program = module(
            f"""
            func @f(%ok: bool, %x: {name}) -> ({name}) from "f.py" "f" 1 {{
              check %ok, %x {{exc="builtins:ValueError", args=tuple<literal<'bad'>, {name}>}} @7:3
              return %x
            }}
            """
        )
        values = (
            [1j - 2, 0j]
            if name[0] == "c"
            else [True, False]
            if name == "bool"
            else [0, 1, 100, -1 if name[0] != "u" else 255]
        )
        agree(program, list(itertools.product((True, False), values)))


def test_formatted_message() -> None:
    agree(
        module(
            """
            func @f(%i: i64, %x: f64) -> () from "f.py" "f" 1 {
              raise %i, %x {exc="builtins:KeyError", args=tuple<format<'at ', {pyint, '', '05'}, ': ', {pyfloat, 'r', ''}>>} @3:1
            }
            """
        ),
        [(42, 0.1), (-1, float("inf"))],
    )


def test_more_arguments_than_a_record_holds() -> None:
    types = ", ".join(["i64"] * 20)
    values = ", ".join(["%x"] * 20)
    program = module(
        f"""
        func @f(%x: i64) -> () from "f.py" "f" 1 {{
          raise {values} {{exc="builtins:ValueError", args=tuple<{types}>}}
        }}
        """
    )
    assert f"call i32 @qd_raise16(ptr %ctx, i32 0, i32 {16 << 16 | 1}, i64 %a0.0" in Program.load(program).lowered.text


_TRY = """
func @f(%n: i64) -> (i64) from "f.py" "f" 1 {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %two = const {type=i64, value=2} : i64
  %three = const {type=i64, value=3} : i64
  %ten = const {type=i64, value=10} : i64
  %seen = var %zero : ref<i64>
  %r = try : i64 {
    %c1 = cmp %n, %one {pred="ne"} : bool
    check %c1 {exc="builtins:ValueError", args=tuple<literal<'one'>>} @2:1
    var.set %seen, %one
    %c2 = cmp %n, %two {pred="ne"} : bool
    check %c2 {exc="builtins:ZeroDivisionError", args=tuple<>} @3:1
    var.set %seen, %two
    %x = call %n {callee="g", result_types=[i64]} : i64 @4:1
    yield %x
  } handler (%e: exc) {
    %m = exc.match %e {classes=CLASSES} : bool
    %s = var.get %seen : i64
    if %m {
      yield
    } else {
      reraise %e
    }
    %back = add %ten, %s : i64
    yield %back
  }
  return %r
}
func @g(%n: i64) -> (i64) from "f.py" "g" 20 {
  %three = const {type=i64, value=3} : i64
  %four = const {type=i64, value=4} : i64
  %c3 = cmp %n, %three {pred="ne"} : bool
  check %c3 {exc="MISTAKE", args=tuple<literal<'three'>>} @21:1
  %c4 = cmp %n, %four {pred="ne"} : bool
  check %c4, %n {exc="builtins:KeyError", args=tuple<i64>} @22:1
  return %n
}
"""


@pytest.mark.parametrize(
    "classes",
    (
        '["builtins:Exception"]',
        '["builtins:ValueError"]',
        '["builtins:ArithmeticError", "builtins:LookupError"]',
        f'["{_MISTAKE}"]',
        '["builtins:OSError"]',
        "[]",
    ),
)
def test_try(classes: str) -> None:
    text = _TRY.replace("CLASSES", classes).replace("MISTAKE", _MISTAKE)
    agree(module(text), [(n,) for n in range(7)])


def test_try_inside_loops_and_handlers() -> None:
    agree(
        module(
            """
            func @f(%n: i64, %m: i64) -> (i64) from "f.py" "f" 1 {
              %zero = const {type=i64, value=0} : i64
              %one = const {type=i64, value=1} : i64
              %two = const {type=i64, value=2} : i64
              %r = for %zero, %n, %one, %zero {label=1} : i64 (%i: i64, %acc: i64) {
                %s = try : i64 {
                  %t = try : i64 {
                    %k = mod %i, %two : i64
                    %even = cmp %k, %zero {pred="eq"} : bool
                    check %even, %i {exc="builtins:ValueError", args=tuple<i64>} @5:1
                    %low = cmp %i, %m {pred="lt"} : bool
                    check %low, %i {exc="builtins:IndexError", args=tuple<i64>} @6:1
                    yield %i
                  } handler (%e: exc) {
                    %v = exc.match %e {classes=["builtins:ValueError"]} : bool
                    if %v {
                      %big = cmp %acc, %m {pred="gt"} : bool
                      if %big {
                        break %acc {label=1}
                      } else {
                        yield
                      }
                      %a1 = add %acc, %one : i64
                      continue %a1 {label=1}
                    } else {
                      yield
                    }
                    raise %acc {exc="builtins:KeyError", args=tuple<i64>} @9:1
                  }
                  yield %t
                } handler (%e2: exc) {
                  %far = cmp %i, %acc {pred="lt"} : bool
                  if %far {
                    reraise %e2
                  } else {
                    yield
                  }
                  return %acc
                }
                %sum = add %acc, %s : i64
                continue %sum {label=1}
              }
              return %r
            }
            """
        ),
        [(n, m) for n in range(0, 14, 2) for m in (-5, 0, 3, 8, 100)],
    )


def test_a_function_that_catches_everything_does_not_raise() -> None:
    program = module(
        """
        func @f(%c: bool) -> (i64) from "f.py" "f" 1 {
          %zero = const {type=i64, value=0} : i64
          %one = const {type=i64, value=1} : i64
          %r = try : i64 {
            check %c {exc="builtins:ValueError", args=tuple<>}
            yield %one
          } handler (%e: exc) {
            yield %zero
          }
          return %r
        }
        """
    )
    assert not Program.load(program).lowered.entry_raises
    agree(program, [(True,), (False,)])


_CLEANUP = """
func @f(%n: i64, %bad: i64) -> (i64) from "f.py" "f" 1 {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %two = const {type=i64, value=2} : i64
  %three = const {type=i64, value=3} : i64
  %a = alloc %n {type=array<f64, 1, C>} : array<f64, 1, C> @2:1
  %c1 = cmp %bad, %one {pred="ne"} : bool
  check %c1 {exc="builtins:ValueError", args=tuple<>} cleanup(%a) @3:1
  %b = alloc %n {type=array<i8, 1, C>} : array<i8, 1, C> cleanup(%a) @4:1
  %v = var %b : ref<array<i8, 1, C>>
  %c2 = cmp %bad, %two {pred="ne"} : bool
  check %c2 {exc="builtins:KeyError", args=tuple<>} cleanup(%a, %v) @5:1
  %big = load %a, %bad : f64 cleanup(%a, %v) @6:1
  %r = call %bad {callee="g", result_types=[i64]} : i64 cleanup(%a, %v) @7:1
  release %v
  %c3 = cmp %r, %one {pred="ne"} : bool
  check %c3 {exc="builtins:KeyError", args=tuple<>} cleanup(%a) @8:1
  release %a
  return %r
}
func @g(%x: i64) -> (i64) from "f.py" "g" 20 {
  %three = const {type=i64, value=3} : i64
  %c = cmp %x, %three {pred="ne"} : bool
  check %c, %x {exc="builtins:OverflowError", args=tuple<i64>} @21:1
  return %x
}
"""


def test_cleanup_on_every_way_out() -> None:
    agree(module(_CLEANUP), [(n, bad) for n in (-1, 0, 2, 10) for bad in (-3, 0, 1, 2, 3, 4)])


def test_traceback_names_the_calls() -> None:
    program = Program.load(module(_CLEANUP))
    trace = Trace()
    with pytest.raises(Raised, match="OverflowError"):
        program((10, 3), trace=trace)
    assert (trace.site, trace.calls) == (21, [7])


_RECURSIVE = """
func @f(%n: i64) -> (i64) from "f.py" "f" 1 with {recursive=true} {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %end = cmp %n, %zero {pred="eq"} : bool
  if %end {
    return %zero
  } else {
    yield
  }
  %less = sub %n, %one : i64
  %r = call %less {callee="f", result_types=[i64]} : i64 @5:1
  %r1 = xor %r, %n : i64
  return %r1
}
"""


def test_unbounded_recursion() -> None:
    program = Program.load(module(_RECURSIVE))
    assert program((10,), stack_bytes=1 << 16) == (10 ^ 9 ^ 8 ^ 7 ^ 6 ^ 5 ^ 4 ^ 3 ^ 2 ^ 1,)
    trace = Trace()
    with pytest.raises(Raised, match="RecursionError.*maximum recursion depth exceeded in a compiled function"):
        program((-1,), stack_bytes=1 << 16, trace=trace)
    assert 0 < len(trace.calls) <= 64 and set(trace.calls) == {5}


def test_records_are_reused() -> None:
    agree(
        module(
            """
            func @f(%n: i64) -> (i64) from "f.py" "f" 1 {
              %zero = const {type=i64, value=0} : i64
              %one = const {type=i64, value=1} : i64
              for %zero, %n, %one {label=1} (%i: i64) {
                try {
                  raise %i {exc="builtins:ValueError", args=tuple<i64>}
                } handler (%e: exc) {
                  yield
                }
                continue {label=1}
              }
              raise %n {exc="builtins:KeyError", args=tuple<i64>} @9:1
            }
            """
        ),
        [(0,), (7,), (8,), (1000,)],
    )


_PRINT = """
func @f(%i: i32, %u: u8, %x: f32, %z: c128, %b: bool) -> (i64, f64) from "f.py" "f" 1 {
  %r, %s = pycall %i, %u, %x, %z, %b {target="some:where", args=tuple<i32, u8, f32, c128, bool>, result=tuple<i64, f64>} : i64, f64
  return %r, %s
}
"""


def test_pycall() -> None:
    got: list[Any] = []

    def host(target: str, args: tuple[Any, ...]) -> Any:
        got.append((target, args))
        return 7, 0.25

    assert Program.load(module(_PRINT))((-3, 200, 0.5, 1 - 2j, True), host=host) == (7, 0.25)
    assert got == [("some:where", (-3, 200, 0.5, 1 - 2j, True))]


def test_error_in_pycall() -> None:
    def host(target: str, args: tuple[Any, ...]) -> Any:
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        Program.load(module(_PRINT))((1, 2, 0.5, 1j, True), host=host)


_RAISING_HOST = """
@PyExc_KeyError = external global ptr
@text = private constant [4 x i8] c"key\\00"
declare void @PyErr_SetString(ptr, ptr)
define i32 @host(ptr %ctx, i32 %site, ptr %buffer) {
  %cls = load ptr, ptr @PyExc_KeyError
  call void @PyErr_SetString(ptr %cls, ptr @text)
  ret i32 65535
}
"""

_CATCH = """
func @f(%n: i64) -> (i64) from "f.py" "f" 1 {
  %zero = const {type=i64, value=0} : i64
  %one = const {type=i64, value=1} : i64
  %r = for %zero, %n, %one, %zero {label=1} : i64 (%i: i64, %s: i64) {
    %k = try : i64 {
      pycall {target="some:where", args=tuple<>, result=none}
      yield %zero
    } handler (%e: exc) {
      %m = exc.match %e {classes=[CLASSES]} : bool
      if %m {
        EXIT
      } else {
        reraise %e
      }
      yield %one
    }
    %s1 = add %s, %k : i64
    continue %s1 {label=1}
  }
  return %r
}
"""


@pytest.fixture(scope="module")
def raising_host() -> int:
    """The address of machine code that sets KeyError("key")."""
    return loader.load(codegen.compile_ir(_RAISING_HOST).object_bytes, symbols.resolve)["host"]


@pytest.mark.parametrize("leave", ("yield", "continue %i {label=1}", "break %i {label=1}", "return %i"))
def test_an_error_of_the_interpreter_is_caught_and_cleared(raising_host: int, leave: str) -> None:
    """The call would report an error that is still set when it ends."""
    text = _CATCH.replace("EXIT", leave)
    for classes in ('"builtins:LookupError"', '"builtins:OSError", "builtins:KeyError"'):
        program = Program.load(module(text.replace("CLASSES", classes)))
        assert program((3,), host=raising_host) in ((3,), (2,), (0,))


@pytest.mark.parametrize("classes", ('"builtins:OSError"', "", f'"{_MISTAKE}"'))
def test_an_error_of_the_interpreter_goes_on(raising_host: int, classes: str) -> None:
    program = Program.load(module(_CATCH.replace("EXIT", "yield").replace("CLASSES", classes)))
    with pytest.raises(KeyError, match="key"):
        program((3,), host=raising_host)


def test_another_exception_replaces_an_error_of_the_interpreter(raising_host: int) -> None:
    text = _CATCH.replace("EXIT", 'raise %i {exc="builtins:ValueError", args=tuple<i64>}').replace(
        "CLASSES", '"builtins:KeyError"'
    )
    with pytest.raises(Raised, match="ValueError"):
        Program.load(module(text))((3,), host=raising_host)


def test_poll_finds_nothing() -> None:
    program = module(
        """
        func @f() -> () from "f.py" "f" 1 {
          poll
          return
        }
        """
    )
    assert run(program, ()) == ()
