"""Reference counts are exact: over many calls, on every path, nothing grows and nothing is lost."""

from __future__ import annotations

import collections
import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from host.native import Dispatcher, identity, load_kernel, make
from host.test_boxing import allocating
from host.test_raising import raising

from quadrants.host.native_type import install
from quadrants.host.spec import Hidden, Source
from quadrants.host.symbols import live_blocks
from quadrants.types import (
    BOOL,
    F64,
    NONE,
    PYBOOL,
    PYCOMPLEX,
    PYFLOAT,
    PYINT,
    STR,
    ArrayType,
    LiteralType,
    NamedTupleType,
    OptionalType,
    TupleType,
)

ROUNDS = 200
Pair = collections.namedtuple("Pair", "first second")
A1 = ArrayType(F64, 1)
MIXED = TupleType((A1, OptionalType(PYFLOAT), STR, NamedTupleType((PYINT, PYBOOL), ("first", "second"), Pair)))


#: Objects that everything uses: their counts move a little by themselves.
SHARED = [None, True, False, np.True_, np.ndarray, tuple, float, int, Pair, np.dtype("f8")]


def counts_of(objects: list[object]) -> list[int]:
    return [sys.getrefcount(o) for o in objects]


def check(call: Callable[[], object], *objects: object) -> None:
    """Over many calls, the reference counts of the objects, the blocks of array memory and those of the interpreter stay.

    The interpreter's own caches still grow in the first rounds: its blocks must stay in one round of six.
    """
    watched = [o for o in objects if not any(o is shared for shared in SHARED)]
    call()
    growth = []
    for _ in range(6):
        gc.collect()
        counts, shared, blocks, live = counts_of(watched), counts_of(SHARED), sys.getallocatedblocks(), live_blocks()
        for _ in range(ROUNDS):
            call()
        gc.collect()
        assert [b - a for a, b in zip(counts, counts_of(watched))] == [0] * len(watched)
        assert all(abs(b - a) < ROUNDS // 4 for a, b in zip(shared, counts_of(SHARED)))
        assert live_blocks() == live
        growth.append(sys.getallocatedblocks() - blocks)
        if growth[-1] < ROUNDS // 4:
            return
    raise AssertionError(f"the interpreter's blocks grow: {growth}")


VALUES: list[tuple[Any, Any]] = [
    (PYFLOAT, 1.25),
    (PYINT, 10**9),
    (PYINT, 10**18),
    (PYBOOL, True),
    (PYCOMPLEX, 1 + 2j),
    (NONE, None),
    (STR, "some text"),
    (F64, np.float64(2.5)),
    (BOOL, np.True_),
    (A1, np.arange(4.0)),
    (ArrayType(F64, 2, "A"), np.zeros((4, 4))[::2, ::2]),
    (LiteralType(len), len),
    (OptionalType(A1), None),
    (OptionalType(A1), np.arange(4.0)),
    (TupleType((A1, TupleType((PYINT, STR)))), (np.arange(3.0), (5, "x"))),
    (MIXED, (np.arange(3.0), None, "abc", Pair(1, False))),
]


@pytest.mark.parametrize(("type", "value"), VALUES, ids=[f"{i}" for i in range(len(VALUES))])
def test_hits(type: Any, value: Any) -> None:
    dispatcher = make([type], type, identity(type))
    parts = list(value) if isinstance(value, tuple) else []

    def call() -> None:
        dispatcher(value)

    check(call, value, dispatcher, *parts)
    assert dispatcher.misses == []


def test_misses() -> None:
    dispatcher = make([PYFLOAT, A1], PYFLOAT, "  store double %p0, ptr %r0\n  ret i32 0")
    array = np.arange(3.0)
    values = [(1, array), ("x", array), (1.0, array[::2]), (2**70, None)]

    def call() -> None:
        for arguments in values:
            dispatcher(*arguments)
        dispatcher.misses.clear()

    check(call, array, dispatcher, *values)


def test_new_arrays_and_views() -> None:
    kernel = allocating(A1)
    check(lambda: kernel().sum(), kernel)


def test_views_of_arguments() -> None:
    body = (
        "\n".join(f"  store {k} %p{i}, ptr %r{i}" for i, k in enumerate(["ptr", "ptr"]))
        + "\n  store i64 2, ptr %r2\n  store i64 8, ptr %r3\n  ret i32 0"
    )
    kernel = make([A1], A1, body)
    array = np.arange(4.0)
    check(lambda: kernel(array), array, kernel)


def test_errors() -> None:
    kernel = raising()
    value = 1.5

    def call() -> None:
        with pytest.raises(ValueError, match="bad"):
            kernel(value)

    check(call, kernel, value)


def test_errors_of_hidden_arguments() -> None:
    array = np.arange(3.0)
    kernel = raising(hidden=(Hidden(A1),), hidden_objects=[array])

    def call() -> None:
        with pytest.raises(ValueError, match="bad"):
            kernel(1.5)

    check(call, kernel, array)


def test_keywords_defaults_and_binding_errors() -> None:
    default = 2.5
    kernel = make([PYFLOAT, PYFLOAT], PYFLOAT, identity(PYFLOAT), function=lambda x, y=default: 0)
    x = 1.5

    def call() -> None:
        kernel(x, y=x)
        kernel(y=x, x=x)
        kernel(x)
        kernel(**{"x": x, "y": x})  # noqa: PIE804
        with pytest.raises(TypeError):
            kernel(x, z=x)

    check(call, kernel, x, default)
    assert kernel.misses == []


def test_hidden_arguments() -> None:
    array = np.arange(3.0)
    namespace: dict[str, object] = {"array": array}
    cell = (lambda: array).__closure__[0]  # type: ignore[index]
    for source, where in ((Source.OBJECT, array), (Source.GLOBAL, (namespace, "array")), (Source.CELL, cell)):
        kernel = make([], A1, identity(A1), hidden=(Hidden(A1, source),), hidden_objects=[where])
        assert kernel() is array
        check(kernel, array, kernel, namespace, cell)


def test_dispatchers_are_collected() -> None:
    class Sub(Dispatcher):  # type: ignore[misc,valid-type]
        pass

    loaded = load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT))

    def churn(cls: Any, cycle: bool) -> weakref.ref[Any]:
        made = cls(lambda x: 0)
        made(3)
        if cycle:
            made.me = made
            made(x=2)
        else:
            install(made, loaded)
            assert made(1.5) == 1.5 == made(x=1.5)
        return weakref.ref(made)

    def all_kinds() -> list[weakref.ref[Any]]:
        return [churn(cls, cycle) for cls in (Dispatcher, Sub) for cycle in (True, False)]

    references = all_kinds()
    check(all_kinds, Sub, Dispatcher)
    assert [r for r in references if r() is not None] == []
