"""Arrays: access in every layout, allocation, views, reference counts; against the reference interpreter and NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from lower.execution import Leak, Program, run
from lower.programs import module

from quadrants.ir import Function, Module, Region, Scope, Value
from quadrants.ir.builder import Builder
from quadrants.ir.interp import run as interpret
from quadrants.ir.values import InterpArray, Raised
from quadrants.types import BOOL, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, ArrayType, Scalar
from quadrants.types.dtypes import dtype_of

SCALARS = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128)
_HUGE = 2**62


def content(value: Any) -> Any:
    """Something that compares by value. (An empty array may have any number of rows.)"""
    array = value.numpy() if isinstance(value, InterpArray) else value
    return (array.shape, array.tolist() if array.size else []) if isinstance(array, np.ndarray) else array


def outcome(call: Any) -> Any:
    """The results, or the class and the arguments of the exception. The text of a MemoryError is our own."""
    try:
        return [content(value) for value in call()]
    except Raised as error:
        return (error.cls, () if error.cls == "builtins:MemoryError" else error.values)


def compiled_outcome(program: Program, args: tuple[Any, ...]) -> Any:
    return outcome(lambda: program(args))


def interpreted_outcome(program: Module, args: tuple[Any, ...]) -> Any:
    return outcome(lambda: interpret(program, args))


def element(type: ArrayType, **attrs: bool) -> Module:
    """Swaps two elements, and returns them."""
    params = [Value(type), *(Value(I64) for _ in range(2 * type.ndim))]
    body = Region()
    b = Builder(body)
    first, second = params[1 : 1 + type.ndim], params[1 + type.ndim :]
    x = b.value("load", params[0], *first, **attrs)
    y = b.value("load", params[0], *second, **attrs)
    b.op("store", x, params[0], *second, **attrs)
    b.op("store", y, params[0], *first, **attrs)
    b.op("return", x, y)
    results = (type.dtype, type.dtype)
    return Module({"f": Function("f", params, results, body, Scope("f.py", "f", 1))}, "f")


def example(dtype: Scalar, shape: tuple[int, ...], layout: str) -> np.ndarray:
    """Values that differ, laid out so."""
    count = int(np.prod(shape))
    flat = (np.arange(count) * 3 % 7 - 2).astype(dtype_of(dtype))
    if dtype.is_complex:
        flat = flat + 1j * np.arange(count).astype(dtype_of(dtype.part))
    plain = flat.astype(dtype_of(dtype)).reshape(shape)
    if layout != "A":
        return np.array(plain, order=layout)
    wide = np.zeros(tuple(2 * n + 1 for n in shape), dtype_of(dtype))
    view = wide[tuple(slice(-2, None, -2) for _ in shape)]
    view[...] = plain
    return view


@pytest.mark.parametrize("dtype", SCALARS, ids=str)
@pytest.mark.parametrize("layout", ("C", "F", "A"))
@pytest.mark.parametrize("shape", ((), (5,), (2, 3), (2, 1, 3)), ids=str)
def test_load_and_store(dtype: Scalar, layout: str, shape: tuple[int, ...]) -> None:
    if (len(shape) < 2 and layout == "F") or (not shape and layout == "A"):
        return
    program = element(ArrayType(dtype, len(shape), layout if shape else "C"))
    compiled = Program.load(program)
    places = list(itertools.product(*(range(-n, n) for n in shape)))
    for first, second in zip(places, reversed(places)):
        ours, theirs = example(dtype, shape, layout), example(dtype, shape, layout)
        assert compiled((ours, *first, *second)) == interpret(program, (theirs, *first, *second))
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("wrap", (True, False))
def test_index_errors(wrap: bool) -> None:
    program = element(ArrayType(F64, 2), checked=True, wrap=wrap)
    compiled = Program.load(program)
    for i, j in itertools.product((-4, -3, -1, 0, 2, 3, -(2**63), 2**63 - 1), (-3, -2, 0, 1, 2)):
        ours, theirs = example(F64, (3, 2), "C"), example(F64, (3, 2), "C")
        expected = interpreted_outcome(program, (theirs, 0, 0, i, j))
        assert compiled_outcome(compiled, (ours, 0, 0, i, j)) == expected
        empty = np.empty((0, 3))
        assert compiled_outcome(compiled, (empty, 0, 0, i, j))[0] == "builtins:IndexError"


@pytest.mark.parametrize("wrap", (True, False))
def test_unchecked(wrap: bool) -> None:
    program = element(ArrayType(I32, 1), checked=False, wrap=wrap)
    assert run(program, (np.arange(4, dtype=np.int32), 1, -1 if wrap else 3)) == (1, 3)
    assert not Program.load(program).lowered.entry_raises


def test_index_of_tuple_and_size() -> None:
    for extra in ("", ", tuple=true", ", wrap=false"):
        program = module(
            f"""
            func @f(%i: i64, %n: i64) -> (i64) from "f.py" "f" 1 {{
              %r = index %i, %n {{axis=3{extra}}} : i64
              return %r
            }}
            """
        )
        compiled = Program.load(program)
        for args in itertools.product((-6, -5, -1, 0, 4, 5, 2**63 - 1, -(2**63)), (0, 5)):
            assert compiled_outcome(compiled, args) == interpreted_outcome(program, args)


def allocation(type: ArrayType, zero: bool) -> Module:
    """Allocates, and returns the array and its strides."""
    params = [Value(I64) for _ in range(type.ndim)]
    body = Region()
    b = Builder(body)
    array = b.value("alloc", *params, type=type, zero=zero)
    strides = [b.value("stride", array, axis=axis) for axis in range(type.ndim)]
    dims = [b.value("dim", array, axis=axis) for axis in range(type.ndim)]
    b.op("return", array, *strides, *dims)
    results = (type, *(I64,) * (2 * type.ndim))
    return Module({"f": Function("f", params, results, body, Scope("f.py", "f", 1))}, "f")


@pytest.mark.parametrize("layout", ("C", "F"))
def test_alloc(layout: str) -> None:
    program = allocation(ArrayType(C64, 3, layout), zero=True)
    compiled = Program.load(program)
    sizes = (0, 1, 3, -1, -(2**63), _HUGE, 2**63 - 1, 2**32)
    for dims in itertools.product(sizes, (0, 2, _HUGE), (1, 0, -5, 2**40)):
        if 0 not in dims and np.prod(dims, dtype=object) > 1000 and np.prod(dims, dtype=object) * 8 < 2**63:
            continue  # large, but perhaps not too large for the machine
        assert compiled_outcome(compiled, dims) == interpreted_outcome(program, dims), dims


def test_alloc_of_rank_0_and_1() -> None:
    (array,) = run(allocation(ArrayType(F64, 0), zero=True), ())
    assert array.shape == () and array == 0.0
    compiled = Program.load(allocation(ArrayType(I16, 1), zero=True))
    for n in (0, 1, 1000):
        assert compiled((n,))[0].tolist() == [0] * n
    for n in (2**62, 2**63 - 1):
        with pytest.raises(Raised, match="ValueError.*array is too big"):
            compiled((n,))
    for n in (2**61, 2**60):
        with pytest.raises(Raised, match="MemoryError.*unable to allocate an array with shape .*int16"):
            compiled((n,))
    with pytest.raises(Raised, match="negative dimensions are not allowed"):
        compiled((-1,))


def test_alloc_is_aligned_and_counted() -> None:
    compiled = Program.load(allocation(ArrayType(I8, 1), zero=False))
    for n in range(1, 200, 7):
        assert len(compiled((n,))[0]) == n  # Program checks that no block is left


def test_views() -> None:
    program = module(
        """
        func @f(%x: array<f64, 2, C>) -> (array<f64, 2, A>, array<f64, 1, A>, bool, bool, bool) from "f.py" "f" 1 {
          %n = dim %x {axis=0} : i64
          %m = dim %x {axis=1} : i64
          %sn = stride %x {axis=0} : i64
          %sm = stride %x {axis=1} : i64
          %zero = const {type=i64, value=0} : i64
          %one = const {type=i64, value=1} : i64
          %t = view %x, %zero, %m, %n, %sm, %sn {type=array<f64, 2, A>} : array<f64, 2, A>
          %last = sub %m, %one : i64
          %end = mul %last, %sm : i64
          %back = neg %sm : i64
          %r = view %x, %end, %m, %back {type=array<f64, 1, A>} : array<f64, 1, A>
          %a = same %t, %t : bool
          %b = same %x, %t : bool
          %c = overlap %t, %r : bool
          return %t, %r, %a, %b, %c
        }
        """
    )
    x = np.arange(6.0).reshape(2, 3)
    t, r, a, b, c = run(program, (x,))
    np.testing.assert_array_equal(t, x.T)
    np.testing.assert_array_equal(r, x[0, ::-1])
    assert (a, b, c) == (True, False, True)


@pytest.mark.parametrize("layouts", (("C", "C"), ("A", "A"), ("C", "A")), ids=str)
def test_overlap(layouts: tuple[str, str]) -> None:
    types = [ArrayType(F64, 1, layout) for layout in layouts]
    params = [Value(type) for type in types]
    body = Region()
    b = Builder(body)
    b.op("return", b.value("overlap", *params), b.value("same", *params))
    program = Program.load(Module({"f": Function("f", params, (BOOL, BOOL), body, Scope("f.py", "f", 1))}, "f"))
    memory = np.zeros(20)
    cuts = [memory[a:b] for a, b in itertools.combinations(range(0, 20, 4), 2)] + [memory[:0], memory[8:8]]
    if layouts == ("A", "A"):
        cuts += [memory[::2], memory[10:5:-1], memory[3:16:3]]
    for x, y in itertools.product(cuts, cuts):
        overlap, same = program((x, y))
        assert overlap == np.may_share_memory(x, y)
        assert same == (x.ctypes.data == y.ctypes.data and x.shape == y.shape and x.strides == y.strides)


def test_reference_counts() -> None:
    program = module(
        """
        func @f(%n: i64, %given: array<f64, 1, C>) -> (array<f64, 1, C>, array<f64, 1, C>) from "f.py" "f" 1 {
          %a = alloc %n {type=array<f64, 1, C>, zero=true} : array<f64, 1, C>
          %b = alloc %n {type=array<f64, 1, C>, zero=true} : array<f64, 1, C>
          release %b
          retain %a
          retain %given
          release %given
          %v = var %a : ref<array<f64, 1, C>>
          retain %given
          var.set %v, %given
          release %v
          retain %a
          return %a, %a
        }
        """
    )
    given = np.arange(3.0)
    assert [value.tolist() for value in run(program, (2, given))] == [[0.0, 0.0], [0.0, 0.0]]


def test_leaks_are_seen() -> None:
    program = module(
        """
        func @f(%n: i64) -> () from "f.py" "f" 1 {
          %a = alloc %n {type=array<f64, 1, C>} : array<f64, 1, C>
          retain %a
          return
        }
        """
    )
    with pytest.raises(Leak):
        run(program, (2,))


def test_arrays_through_calls_and_loops() -> None:
    program = module(
        """
        func @f(%n: i64) -> (array<f64, 2, F>, f64) from "f.py" "f" 1 {
          %zero = const {type=i64, value=0} : i64
          %one = const {type=i64, value=1} : i64
          %start = const {type=f64, value=0.0} : f64
          %a = call %n {callee="make", result_types=[array<f64, 2, F>]} : array<f64, 2, F>
          %s, %same = for %zero, %n, %one, %start, %a {label=1} : f64, array<f64, 2, F> (%i: i64, %t: f64, %b: array<f64, 2, F>) {
            %x = load %b, %i, %one : f64
            %s1 = add %t, %x : f64
            continue %s1, %b {label=1}
          }
          return %same, %s
        }
        func @make(%n: i64) -> (array<f64, 2, F>) from "f.py" "make" 9 {
          %zero = const {type=i64, value=0} : i64
          %one = const {type=i64, value=1} : i64
          %two = const {type=i64, value=2} : i64
          %a = alloc %n, %two {type=array<f64, 2, F>, zero=true} : array<f64, 2, F>
          for %zero, %n, %one {label=1} (%i: i64) {
            %x = cast %i {type=f64} : f64
            store %x, %a, %i, %one {checked=false, wrap=false}
            continue {label=1}
          }
          return %a
        }
        """
    )
    array, total = run(program, (5,))
    assert array.tolist() == [[0.0, float(i)] for i in range(5)] and total == 10.0
