from __future__ import annotations

import copy
import gc
import inspect
import os
import threading
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import quadrants as qd
from quadrants.api import compile as driver
from quadrants.api import jobs as jobs_module
from quadrants.api.jobs import Jobs
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
    assert len(caught) == 1


# Declared signatures


def test_declared_signatures_compile_ahead() -> None:
    @qd.njit("float64(float64[:], int64)")
    def at(a, i):  # type: ignore[no-untyped-def]
        return a[i]

    assert len(at.signatures) == 1
    a = np.arange(6.0)
    assert at(a, 2) == 2 and at(a, np.int64(2)) == 2 and at(a[::2], 1) == 2
    assert at(a, np.int32(3)) == 3 and at(a, True) == 1
    with pytest.raises(TypeError, match=r"no signature of at\(\) takes \(float32\[::1\], int\)") as caught:
        at(np.zeros(3, np.float32), 0)
    assert "declared: at(float64[:], int64)" in str(caught.value)
    for bad in ((a, 1.5), (a.reshape(2, 3), 0), (1.0, 0)):
        with pytest.raises(TypeError, match="no signature"):
            at(*bad)


def test_declared_scalars_take_python_numbers() -> None:
    @qd.njit("float64(float64, float64)")
    def mean(a, b):  # type: ignore[no-untyped-def]
        return (a + b) / 2

    assert type(mean(1.0, 2.0)) is float and mean(1, 2) == 1.5 and type(mean(1, 2)) is float
    assert mean(np.float32(1), np.float64(2)) == 1.5
    with pytest.raises(TypeError):
        mean(1j, 2)
    assert len(mean.signatures) == 2  # Python's floats, and the NumPy ones together


def test_the_best_of_several_signatures() -> None:
    @qd.njit(["int64(int64)", qd.float64(qd.float64), (qd.complex128,)])
    def same(x):  # type: ignore[no-untyped-def]
        return x

    assert len(same.signatures) == 3
    assert [type(same(x)) for x in (1, 1.0, 1j, True)] == [int, float, complex, int]
    assert same(np.uint8(7)) == 7


def test_small_declared_integers_are_checked() -> None:
    @qd.njit("uint8(uint8)")
    def same(x):  # type: ignore[no-untyped-def]
        return x

    assert same(255) == 255 and type(same(255)) is np.uint8
    for value in (256, -1):
        with pytest.raises(OverflowError):
            same(value)


def test_declared_results_convert() -> None:
    @qd.njit("float64(int64)")
    def to_float(n):  # type: ignore[no-untyped-def]
        return n * 2

    @qd.njit("complex128(float32)")
    def to_complex(x):  # type: ignore[no-untyped-def]
        return x

    assert to_float(3) == 6 and type(to_float(3)) is float
    assert to_complex(1.5) == 1.5 + 0j and type(to_complex(1.5)) is np.complex128
    with pytest.raises(QuadrantsError) as caught:
        qd.njit("int64(float64)")(lambda x: x)
    assert caught.value.code is Code.BAD_RETURN
    assert qd.njit("void(float64[:])")(lambda a: None)(np.zeros(3)) is None


def test_declared_layouts() -> None:
    @qd.njit("float64(float64[:, ::1])")
    def corner(a):  # type: ignore[no-untyped-def]
        return a[0, 0]

    assert corner(np.ones((2, 2))) == 1
    with pytest.raises(TypeError, match="no signature"):
        corner(np.ones((2, 2)).T[:, ::-1])


def test_signatures_of_the_wrong_length() -> None:
    for text in ("float64(float64)", "float64(float64, float64, float64)"):
        with pytest.raises(QuadrantsError, match="parameters") as caught:
            qd.njit(text)(lambda a, b: a)
        assert caught.value.code is Code.BAD_SIGNATURE


def test_compile_by_hand() -> None:
    f = qd.njit(lambda a, b: a + b)
    f.compile("float64(float64, float64)")
    f.compile((qd.int64, int))
    assert shown(f) == ["float, float", "int, int"]
    assert f(1.0, 2.0) == 3 and f(1, 2) == 3
    assert len(f.signatures) == 2


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


# Globals and closures

FACTOR = 2
TABLE = np.arange(5.0)


@qd.njit
def scaled(x):  # type: ignore[no-untyped-def]
    return x * FACTOR


def helper(x):  # type: ignore[no-untyped-def]
    return scaled(x) + FACTOR


@qd.njit
def through_helper(x):  # type: ignore[no-untyped-def]
    return helper(x)


@qd.njit
def table_sum():  # type: ignore[no-untyped-def]
    s = 0.0
    for value in TABLE:
        s += value
    return s


def test_a_changed_global_recompiles(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scaled(5) == 10 and through_helper(5) == 12
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert scaled(5) == 15 and through_helper(5) == 18
    monkeypatch.setitem(globals(), "FACTOR", 0.5)
    assert scaled(5) == 2.5 and through_helper(5) == 3.0
    monkeypatch.undo()
    assert scaled(5) == 10 and type(scaled(5)) is int and through_helper(5) == 12
    assert len(scaled.signatures) == 1


def test_a_changed_callee_recompiles(monkeypatch: pytest.MonkeyPatch) -> None:
    assert through_helper(5) == 12
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1)
    assert through_helper(5) == 4
    monkeypatch.undo()
    assert through_helper(5) == 12


def test_global_arrays_are_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert table_sum() == 10
    TABLE[0] = 100
    assert table_sum() == 110
    TABLE[0] = 0
    for table in (np.ones(7), np.ones(7)[::2], np.ones(3, np.float32), np.ones(4, np.int8)):
        monkeypatch.setitem(globals(), "TABLE", table)
        assert table_sum() == len(table)
    monkeypatch.undo()
    assert table_sum() == 10


def test_a_global_that_hides_a_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    @qd.njit
    def magnitude(x):  # type: ignore[no-untyped-def]
        return abs(x)

    assert magnitude(-2) == 2
    monkeypatch.setitem(globals(), "abs", scaled)
    assert magnitude(-2) == -4
    monkeypatch.undo()
    assert magnitude(-2) == 2


def test_closure_cells() -> None:
    def outer(start: Any) -> Any:
        value = start

        def change(new: Any) -> None:
            nonlocal value
            value = new

        @qd.njit
        def inner(x):  # type: ignore[no-untyped-def]
            return x + value

        return inner, change

    inner, change = outer(10)
    assert inner(1) == 11
    change(20)
    assert inner(1) == 21
    change(0.5)
    assert inner(1) == 1.5
    other, _ = outer(7)
    assert other(1) == 8 and inner(1) == 1.5


def test_a_number_that_keeps_changing_becomes_an_argument() -> None:
    space: dict[str, Any] = {"qd": qd, "K": 1.0}
    exec("@qd.njit\ndef helper(x): return x + K\n@qd.njit\ndef f(x): return helper(x) * K", space)
    f = space["f"]
    for value in (1.0, 2.0, -0.0, 0.0, float("inf"), 7.5, 3, 4, True, 5.5, 2 + 1j, 1.0):
        space["K"] = value
        assert f(2.0) == (2.0 + value) * value, value
    for value in np.linspace(0, 1, 20).tolist():
        space["K"] = value
        assert f(2.0) == (2.0 + value) * value
    assert sum(f.stats.cache_misses.values()) + sum(f.stats.cache_hits.values()) < 10
    space["K"] = np.float32(0.5)
    assert f(2.0) == 1.25


def test_a_closure_number_that_keeps_changing() -> None:
    count = 0

    @qd.njit
    def shifted(x):  # type: ignore[no-untyped-def]
        return x + count

    for _ in range(20):
        assert shifted(1) == 1 + count
        count += 1
    assert sum(shifted.stats.cache_misses.values()) + sum(shifted.stats.cache_hits.values()) <= 3


def test_a_number_that_has_to_be_constant_stays_one() -> None:
    space: dict[str, Any] = {"qd": qd, "np": np, "AXES": 1}
    exec("@qd.njit\ndef f(a): return np.sum(a, axis=AXES)", space)
    a = np.arange(6.0).reshape(2, 3)
    for axis in (0, 1, 0, 1, 0):
        space["AXES"] = axis
        assert np.array_equal(space["f"](a), a.sum(axis=axis))


def test_recompile() -> None:
    f = qd.njit(lambda x: x + 1)
    assert f(1) == 2 and f(1.0) == 2
    f.recompile()
    assert f(1) == 2 and len(f.signatures) == 2


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


# Threads


def test_concurrent_first_calls_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    original = driver.specialise
    monkeypatch.setattr(driver, "specialise", lambda request: (compiled.append(1), original(request))[1])
    f = qd.njit(cache=False)(lambda a, b: a * b + 1.5)
    barrier = threading.Barrier(8)
    results: list[Any] = []

    def call() -> None:
        barrier.wait()
        results.append(f(3.0, 2))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [7.5] * 8 and len(compiled) == 1 and len(f.signatures) == 1


def test_globals_that_change_while_others_call() -> None:
    space: dict[str, Any] = {"qd": qd, "K": 1}
    exec("@qd.njit\ndef helper(x): return x + K\n@qd.njit\ndef f(x, n=2, *, m=1): return helper(x) * n * m", space)
    f = space["f"]
    values = [1, 1.5, np.float32(2), True, 2 + 1j, np.float64(2)]
    wrong: list[object] = []

    def call() -> None:
        for turn in range(150):
            value = values[turn % len(values)]
            result = f(value) if turn % 3 else f(value, n=2, m=1)
            if result not in ((value + 1) * 2, (value + 2) * 2):
                wrong.append((value, result))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        space["K"] = 3 - space["K"]
        threads[0].join(0.005)
    assert not wrong
    space["K"] = 10
    assert f(1) == 22


def test_errors_reach_every_waiting_thread() -> None:
    f = qd.njit(lambda x: x.nothing)
    errors: list[BaseException] = []

    def call() -> None:
        try:
            f(1.0)
        except QuadrantsError as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 6 and {error.code for error in errors} == {Code.NO_ATTRIBUTE}  # type: ignore[attr-defined]


def test_jobs_that_reach_themselves_do_not_wait() -> None:
    jobs = Jobs()
    assert jobs.once("key", lambda: jobs.once("key", lambda: 7)) == 7


def test_an_interrupted_job_is_done_by_who_waits() -> None:
    jobs = Jobs()
    started, go = threading.Event(), threading.Event()

    def interrupted() -> None:
        started.set()
        go.wait()
        raise KeyboardInterrupt

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            jobs.once("key", interrupted)

    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(jobs.once("key", lambda: 5)))
    waiting.start()
    go.set()
    thread.join()
    waiting.join()
    assert results == [5]


def test_progress_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(jobs_module, "PROGRESS_AFTER", 0.01)
    done = threading.Event()
    with jobs_module.progress("compiling f(int)"):
        done.wait(1.0)
    with jobs_module.progress("not shown"):
        pass
    done.wait(0.1)
    assert capsys.readouterr().err == "quadrants: compiling f(int) ...\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_compiles_while_its_parent_does() -> None:
    """Another thread holds the locks at the moment of the fork; the child has neither the thread nor the locks."""
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with jobs_module.JOBS.front_end():
            held.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if qd.njit(cache=False)(lambda x: x * 3)(2) == 6 else 1)
    try:
        assert os.waitpid(child, 0)[1] == 0
    finally:
        go.set()
        thread.join()


def test_a_bug_of_the_compiler_is_told_from_an_error_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from quadrants.api import frontend

    def broken(request: object) -> None:
        raise KeyError("something")

    monkeypatch.setattr(frontend, "run", broken)
    with pytest.raises(InternalError, match="compiler failed on .*KeyError: 'something'") as caught:
        qd.njit(cache=False)(lambda x: x)(1)
    assert isinstance(caught.value.__cause__, KeyError) and "report" in (caught.value.hint or "")
