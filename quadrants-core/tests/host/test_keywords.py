"""Arguments by keyword and by default, bound natively as Python binds them."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import pytest
from host.native import Dispatcher, install, load_kernel, make

from quadrants.host import layout
from quadrants.host.parameters import Parameters, apply
from quadrants.types import PYFLOAT, PYINT, TupleType


def weighted(count: int) -> str:
    """Returns the arguments as the digits of a number, so that their order shows."""
    lines = ["  %s0 = fadd double 0.0, 0.0"]
    for i in range(count):
        lines += [f"  %t{i} = fmul double %s{i}, 10.0", f"  %s{i + 1} = fadd double %t{i}, %p{i}"]
    return "\n".join((*lines, f"  store double %s{count}, ptr %r0", "  ret i32 0"))


def digits(function: Any, count: int, **fields: Any) -> Any:
    return make([PYFLOAT] * count, PYFLOAT, weighted(count), function=function, **fields)


def test_orders() -> None:
    f = digits(lambda a, b, c=3.0, d=4.0: 0, 4)
    for _ in range(3):
        assert f(1.0, 2.0) == 1234
        assert f(1.0, b=5.0) == 1534
        assert f(b=5.0, a=6.0) == 6534
        assert f(d=1.0, c=2.0, b=3.0, a=4.0) == 4321
        assert f(1.0, 2.0, d=9.0) == 1239
        assert f(1.0, 2.0, 7.0) == 1274
        assert f(*[1.0], **{"b": 2.0, "d": 8.0}) == 1238  # noqa: PIE804
    assert f.misses == []


def test_only_the_first_call_of_a_form_binds_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    f = digits(lambda a, b=2.0: 0, 2)
    assert f(1.0) == 12 and f(b=5.0, a=1.0) == 15
    forms = len(f._permutations)
    bound = []
    original = type(f)._bind
    monkeypatch.setattr(type(f).__mro__[1], "_bind", lambda self, *args: bound.append(args) or original(self, *args))
    names = "".join(["a"]), "".join(["b"])
    assert f(3.0) == 32 and f(b=6.0, a=1.0) == 16 and f(**dict(zip(names[::-1], (7.0, 1.0)))) == 17
    if layout.native_call_supported():
        assert bound == [] and len(f._permutations) == forms == 2
        assert (lambda: f(b=8.0, a=1.0))() == 18 and bound == []  # another tuple of the same names


@pytest.mark.skipif(not layout.native_call_supported(), reason="permutations are native")
def test_a_permutation_owns_the_names_of_the_last_call_site() -> None:
    f = digits(lambda a, b=2.0: 0, 2)
    f(1.0, b=3.0)
    tuples = [tuple(map(sys.intern, "b")) for _ in range(3)]
    assert len(set(map(id, tuples))) == 3
    vectorcall = ctypes.pythonapi["PyObject_Vectorcall"]
    vectorcall.restype = ctypes.py_object
    vectorcall.argtypes = (ctypes.py_object, ctypes.c_void_p, ctypes.c_size_t, ctypes.py_object)
    values = (1.0, 4.0)
    arguments = (ctypes.c_void_p * 2)(*map(id, values))
    before = list(map(sys.getrefcount, tuples))
    for index in [0, 1, 2] * 50:
        assert vectorcall(f, arguments, 1, tuples[index]) == 14
    assert [now - then for now, then in zip(map(sys.getrefcount, tuples), before)] == [0, 0, 1]
    del f
    gc.collect()
    assert list(map(sys.getrefcount, tuples)) == before


def test_keyword_only() -> None:
    def function(a, *, k=5.0, m):  # type: ignore[no-untyped-def]
        return None

    f = digits(function, 3, direct=False)
    assert f(1.0, m=2.0) == 152 and f(m=2.0, k=3.0, a=1.0) == 132
    with pytest.raises(TypeError, match="takes 1 positional argument but 3 were given"):
        f(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'm'"):
        f(1.0)


def test_variable_positional() -> None:
    def function(a, *rest, k=7.0):  # type: ignore[no-untyped-def]
        return None

    f: Any = Dispatcher(function)
    for count in (2, 3, 4):
        install(f, load_kernel([PYFLOAT] * count, PYFLOAT, weighted(count), direct=False))
    for _ in range(2):
        assert f(1.0) == 17 and f(1.0, 2.0) == 172 and f(1.0, 2.0, 3.0) == 1723 and f(1.0, 2.0, k=5.0) == 152
    assert f.misses == []
    assert f(*map(float, range(9)))[0] == "missed"
    assert f(*range(1000))[:3] == ("missed", 0, 7.0)
    assert f(*([1.0] * 100_000))[0] == "missed"


def test_direct_variable_positional() -> None:
    def function(a, b=2.0, *rest):  # type: ignore[no-untyped-def]
        return None

    f: Any = Dispatcher(function)
    for count in (2, 4):
        install(f, load_kernel([PYFLOAT] * count, PYFLOAT, weighted(count)))
    assert f(1.0) == 12 and f(1.0, 3.0) == 13 and f(1.0, 3.0, 4.0, 5.0) == 1345 and f.misses == []


def test_errors_are_those_of_python() -> None:
    def function(a, /, b, c=1.0):  # type: ignore[no-untyped-def]
        return None

    f = digits(function, 3)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((1.0,), {}),
        ((1.0, 2.0, 3.0, 4.0), {}),
        ((1.0,), {"a": 2.0, "b": 1.0}),
        ((1.0, 2.0), {"b": 3.0}),
        ((1.0, 2.0), {"x": 3.0}),
        ((), {"a": 1.0, "b": 2.0}),
    ]
    for arguments, keywords in calls:
        with pytest.raises(TypeError) as expected:
            function(*arguments, **keywords)
        with pytest.raises(TypeError) as found:
            f(*arguments, **keywords)
        assert str(found.value) == str(expected.value)
        assert found.value.__traceback__ is not None
        if layout.native_call_supported():
            assert found.value.__traceback__.tb_next is None


def test_many_forms_stay_right() -> None:
    names = [f"p{i}" for i in range(12)]
    namespace: dict[str, Any] = {}
    exec(f"def function({', '.join(f'{n}={float(i)}' for i, n in enumerate(names))}): pass", namespace)
    f = make([PYFLOAT] * 12, PYFLOAT, "  store double %p11, ptr %r0\n  ret i32 0", function=namespace["function"])
    for _ in range(2):
        for i, name in enumerate(names):
            for other in names[i + 1 :]:
                assert f(**{name: 1.0, other: 2.0}) == (2.0 if other == "p11" else 11.0)
    assert len(f._permutations) <= 64


def test_a_call_by_keyword_that_misses_binds_once() -> None:
    f = digits(lambda a, b=2.0: 0, 2)
    f(1, b=5), f(2, b=6), f(3)
    assert f.misses == [(1, 5), (2, 6), (3, 2.0)]


def test_canonical_order() -> None:
    def function(a, b=2, *rest, k, m=4):  # type: ignore[no-untyped-def]
        return None

    parameters = Parameters.of(function)  # type: ignore[arg-type]
    assert parameters.names == ("a", "b", "k", "m") and parameters.variable == "rest" and not parameters.direct
    assert apply(parameters.permutation(1, ("k",)), ("A", "K")) == ("A", 2, "K", 4)
    assert apply(parameters.permutation(4, ("m", "k")), ("A", "B", "C", "D", "M", "K")) == (
        "A",
        "B",
        "K",
        "M",
        "C",
        "D",
    )


def test_defaults_that_look_like_numbers_of_arguments() -> None:
    f = make(
        [PYINT] * 3,
        TupleType((PYINT,) * 3),
        "\n".join(f"  store i64 %p{i}, ptr %r{i}" for i in range(3)) + "\n  ret i32 0",
        function=lambda a, b=0, c=1: 0,
    )
    assert f(7) == (7, 0, 1) and f(7) == (7, 0, 1) and f(7, c=5) == (7, 0, 5)
