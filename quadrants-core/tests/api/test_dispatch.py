from __future__ import annotations

import copy
import gc
import inspect
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import quadrants as qd
from quadrants.diagnostics import Code, InternalError, QuadrantsError, QuadrantsWarning
from quadrants.host.layout import native_call_supported


def shown(function: Any) -> list[str]:
    return [", ".join(map(repr, types)) for types in function.signatures]


def test_one_specialisation_for_each_exact_type_tuple() -> None:
    @qd.njit
    def add(a, b):  # type: ignore[no-untyped-def]
        return a + b

    assert add(1, 2) == 3 and add(3, 4) == 7 and add(1.5, 2) == 3.5
    assert add(np.float32(1), np.float32(2)) == 3
    assert shown(add) == ["int, int", "float, int", "float32, float32"]
    assert [str(s) for s in add.nopython_signatures] == [
        "int(int, int)",
        "float(float, int)",
        "float32(float32, float32)",
    ]
    assert list(add.overloads) == add.signatures


def test_array_layouts_are_types() -> None:
    @qd.njit
    def first(a):  # type: ignore[no-untyped-def]
        return a[0]

    a = np.arange(6.0)
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    assert (first(a), first(a[::2]), first(read_only), first(a[::-1])) == (0, 0, 0, 5)
    assert shown(first) == ["float64[::1]", "float64[:]", "float64[::1] (read-only)"]


def every_kind(a, /, b, c=3, *rest, d=4, e):  # type: ignore[no-untyped-def]
    s = a + 10 * b + 100 * c + 1000 * d + 10000 * e
    for item in rest:
        s += item * 100000
    return s


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1, 2), {"e": 5}),
    ((1, 2, 7), {"e": 5, "d": 6}),
    ((1,), {"b": 2, "e": 5}),
    ((1,), {"e": 5, "c": 9, "b": 2}),
    ((1, 2, 3, 8, 9), {"e": 5}),
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((), {"e": 1}),
    ((1, 2), {"e": 5, "zz": 1}),
    ((1, 2), {"e": 5, "b": 1}),
    ((), {"a": 1, "b": 2, "e": 5}),
]


@pytest.mark.parametrize(("args", "keywords"), CALLS)
def test_calls_are_bound_as_the_interpreter_does(args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    compiled = qd.njit(every_kind)
    try:
        expected: Any = every_kind(*args, **keywords)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            compiled(*args, **keywords)
        assert str(caught.value) == str(error) and type(caught.value) is TypeError
    else:
        assert compiled(*args, **keywords) == expected == compiled(*args, **keywords)


@pytest.mark.parametrize("args", [(), (1,), (1, 2, 3), (1, 2, 3, 4)])
def test_wrong_counts(args: tuple[int, ...]) -> None:
    def two(a, b):  # type: ignore[no-untyped-def]
        return a

    with pytest.raises(TypeError) as expected:
        two(*args)  # type: ignore[call-arg]
    with pytest.raises(TypeError) as caught:
        qd.njit(two)(*args)
    assert str(caught.value) == str(expected.value)


def test_varargs_of_several_types() -> None:
    @qd.njit
    def count(*items):  # type: ignore[no-untyped-def]
        return len(items)

    assert [count(), count(1), count(1, 2.0), count(np.zeros(3), (1, 2), None)] == [0, 1, 2, 3]
    assert len(count.signatures) == 4


def test_keyword_variadics_are_refused() -> None:
    with pytest.raises(QuadrantsError) as caught:
        qd.njit(lambda **options: 1)(a=1)
    assert caught.value.code is Code.UNSUPPORTED_KWARGS


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, "text".upper, object()])
def test_arguments_that_have_no_type(value: object) -> None:
    @qd.njit
    def identity(value):  # type: ignore[no-untyped-def]
        return value

    with pytest.raises(QuadrantsError) as caught:
        identity(value)
    assert caught.value.code is Code.UNSUPPORTED_TYPE and "argument 'value' of " in caught.value.message
    assert identity(1) == 1


def test_wide_integers() -> None:
    @qd.njit
    def identity(value):  # type: ignore[no-untyped-def]
        return value

    assert identity(2**63 - 1) == 2**63 - 1 and identity(-(2**63)) == -(2**63)
    for value in (2**63, 10**30):
        with pytest.raises(OverflowError, match="64 bits"):
            identity(value)


class Vector(NamedTuple):
    x: float
    y: float


class Owner:
    scale = 3

    @staticmethod
    @qd.njit
    def static(x):  # type: ignore[no-untyped-def]
        return x + 1

    @qd.njit
    @staticmethod
    def static_outside(x):  # type: ignore[no-untyped-def]
        return x + 2

    @qd.njit
    @classmethod
    def of_class(cls, x):  # type: ignore[no-untyped-def]
        return x + 3


class Mine(NamedTuple("Mine", [("x", float)])):
    @qd.njit
    def doubled(self):  # type: ignore[no-untyped-def]
        return self.x * 2


def test_as_methods() -> None:
    assert Owner.static(1) == 2 and Owner().static(1) == 2
    assert Owner.static_outside(1) == 3 and Owner().static_outside(1) == 3
    assert Owner.of_class(1) == 4 and Owner().of_class(1) == 4
    assert Mine(2.5).doubled() == 5 and Mine.doubled(Mine(2.5)) == 5


def test_functions_as_arguments_are_specialised_by_identity() -> None:
    @qd.njit
    def double(x):  # type: ignore[no-untyped-def]
        return 2 * x

    def triple(x):  # type: ignore[no-untyped-def]
        return 3 * x

    @qd.njit
    def apply(f, x):  # type: ignore[no-untyped-def]
        return f(x)

    assert apply(double, 2) == 4 and apply(triple, 2) == 6 and apply(triple, 3) == 9
    assert len(apply.signatures) == 2


def test_looks_like_the_function() -> None:
    def original(a: int, *, b: float = 2.0) -> float:
        """What it does."""
        return a * b

    compiled = qd.njit(original)
    for name in (
        "__name__",
        "__qualname__",
        "__module__",
        "__doc__",
        "__annotations__",
        "__defaults__",
        "__kwdefaults__",
        "__code__",
    ):
        assert getattr(compiled, name) == getattr(original, name), name
    assert compiled.__wrapped__ is original is compiled.py_func
    assert inspect.signature(compiled) == inspect.signature(original)
    assert inspect.unwrap(compiled) is original
    assert inspect.getdoc(compiled) == "What it does."
    assert "original" in repr(compiled) and callable(compiled)


def test_copies_and_weak_references() -> None:
    def make() -> Any:
        return qd.njit(lambda x: x)

    f = make()
    assert copy.copy(f) is f and copy.deepcopy([f])[0] is f
    assert {f: 1}[f] == 1
    f(1)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_decorating_again() -> None:
    f = qd.njit(lambda x: x + 1)
    assert qd.njit(f) is f
    strict = qd.njit(fp="strict")(f)
    assert strict is not f and strict.py_func is f.py_func and strict.options.fp == "strict"


@pytest.mark.parametrize(
    ("value", "code"),
    [(Owner, Code.UNSUPPORTED_CLASS), (len, Code.NO_BYTECODE), (np.sin, Code.NO_BYTECODE), (3, Code.BAD_SIGNATURE)],
)
def test_only_functions_can_be_decorated(value: object, code: Code) -> None:
    with pytest.raises(QuadrantsError) as caught:
        qd.njit(value)
    assert caught.value.code is code


def test_bad_option() -> None:
    with pytest.raises(QuadrantsError, match="did you mean fastmath"):
        qd.njit(fast_math=True)


def test_compile_errors_show_the_user_frames_only() -> None:
    @qd.njit
    def wrong(x):  # type: ignore[no-untyped-def]
        return x.nothing

    with pytest.raises(QuadrantsError) as caught:
        wrong(1.0)
    assert "x.nothing" in str(caught.value)
    ours = {Path(entry.path).name for entry in caught.traceback if "quadrants-core/src" in str(entry.path)}
    assert ours <= (set() if native_call_supported() else {"fallback.py"})
    assert caught.value.__cause__ is None
    with pytest.raises(QuadrantsError):
        wrong(1.0)


def test_many_signatures_warn_once_and_name_the_argument() -> None:
    @qd.njit
    def rank(steady, shape):  # type: ignore[no-untyped-def]
        return len(shape)

    with pytest.warns(QuadrantsWarning, match="QD228.*'shape'") as caught:
        for count in range(19):
            assert rank(1.0, (0,) * count) == count
    assert [warning.filename for warning in caught] == [__file__]  # the user's line, not one of the compiler's


def test_many_numbers_of_arguments_are_named() -> None:
    count = qd.njit(lambda *given: len(given))
    with pytest.warns(QuadrantsWarning, match="QD228.*17 numbers of arguments"):
        for n in range(17):
            assert count(*range(n)) == n


def test_explain_says_in_words_why_a_loop_may_raise() -> None:
    @qd.njit
    def roots(x):  # type: ignore[no-untyped-def]
        for i in range(len(x)):
            if x[i] < 0:
                raise ValueError("negative")
            x[i] = np.sqrt(x[i])

    @qd.njit
    def shown(x):  # type: ignore[no-untyped-def]
        for i in range(len(x)):
            print(x[i])

    roots(np.ones(3))
    shown(np.ones(0))
    assert "not vectorised: it may raise an exception in any turn" in str(roots.explain())
    assert "not vectorised: it calls Python, which may raise" in str(shown.explain())


# Names with a meaning in compiled code, and options


def test_names_of_types_and_prange_in_compiled_code() -> None:
    @qd.njit
    def total(n):  # type: ignore[no-untyped-def]
        s = qd.float32(0)
        for i in qd.prange(n):
            s += qd.float32(i)
        return s, np.zeros(n, dtype=qd.int16)

    result, zeros = total(5)
    assert type(result) is np.float32 and result == 10 and zeros.dtype == np.int16
    assert qd.njit(lambda cls, x: cls(x))(qd.int8, 3.5) == 3


def test_error_model() -> None:
    def quotient(a, b):  # type: ignore[no-untyped-def]
        return a / b

    with pytest.raises(ZeroDivisionError):
        qd.njit(quotient)(1.0, 0.0)
    assert qd.njit(error_model="numpy")(quotient)(1.0, 0.0) == np.inf
    assert qd.njit(error_model="numpy")(lambda a, b: (a // b, a % b))(5, 0) == (0, 0)
    assert qd.njit(error_model="numpy")(lambda a: a**-1)(0.0) == np.inf


@pytest.mark.parametrize(
    "options",
    [{"nogil": True}, {"parallel": True}, {"debug": True}, {"fastmath": True}, {"fp": "strict"}, {"inline": "always"}],
)
def test_options_give_the_same_results(options: dict[str, Any]) -> None:
    @qd.njit(**options)
    def dot(a, b):  # type: ignore[no-untyped-def]
        s = 0.0
        for i in range(len(a)):
            s += a[i] * b[i]
        return s

    a = np.arange(50.0)
    assert dot(a, a) == a @ a
    with pytest.raises(IndexError):
        dot(a, a[:3])


def unknown(x):  # type: ignore[no-untyped-def]
    return eval("x")


def test_overload() -> None:
    with pytest.raises(QuadrantsError):
        qd.njit(lambda x: unknown(x))(1.0)

    @qd.overload(unknown)
    def known(x):  # type: ignore[no-untyped-def]
        if isinstance(x, np.ndarray):
            return x.sum()
        return x + 1

    f = qd.njit(lambda x: unknown(x))
    assert f(1.5) == 2.5 and f(np.ones(3)) == 3

    @qd.overload(unknown)
    def other(x):  # type: ignore[no-untyped-def]
        return x * 10

    assert f(1.5) == 15
    for bad in (lambda: qd.overload(3), lambda: qd.overload(unknown)(np.sin)):
        with pytest.raises(QuadrantsError) as caught:
            bad()
        assert caught.value.code is Code.BAD_OVERLOAD


# Inspection


def test_inspection() -> None:
    @qd.njit
    def total(a):  # type: ignore[no-untyped-def]
        s = 0.0
        for x in a:
            s += x
        return s

    assert total.inspect_llvm() == {}
    assert str(total.explain()).endswith("not compiled yet")
    total(np.ones(3))
    (key,) = total.signatures
    assert "func @" in total.inspect_ir()[key] and "func @" in total.inspect_ir(key)
    assert "define " in total.inspect_llvm(key)
    assert ".text" in total.inspect_asm(key)
    assert total.inspect_bytecode()[key] == total.inspect_bytecode(key) and "for" in total.inspect_bytecode(key)
    assert "total(float64[::1]) -> " in str(total.explain())
    assert total.explain() is not None and "total" in str(total.explain())
    assert "float32" in repr(total.inspect_ir("(float32[::1],)") and total.signatures)


def test_a_bug_of_the_compiler_is_told_from_an_error_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from quadrants.api import frontend

    def broken(request: object) -> None:
        raise KeyError("something")

    monkeypatch.setattr(frontend, "run", broken)
    with pytest.raises(InternalError, match="compiler failed on .*KeyError: 'something'") as caught:
        qd.njit(cache=False)(lambda x: x)(1)
    assert isinstance(caught.value.__cause__, KeyError) and "report" in (caught.value.hint or "")
