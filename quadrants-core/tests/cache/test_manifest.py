from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from quadrants.cache.codec import Codec
from quadrants.cache.dependencies import ABSENT, CellRef, GlobalRef, Roots, follow_all, places_of
from quadrants.cache.fingerprint import Uncacheable
from quadrants.cache.manifest import lookup, save
from quadrants.cache.store import Store
from quadrants.types import PYFLOAT, ArrayType, Kind, LiteralType, NamedTupleType, OptionalType, Scalar, TupleType
from quadrants.types.scalar import F64


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path), 1 << 20)


def function(text: str = "def f(): return K + helper()", **namespace: Any) -> types.FunctionType:
    exec(text, namespace)
    return namespace["f"]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    made = types.ModuleType("a_module")
    exec("DEPTH = 3\ndef helper(): return DEPTH", made.__dict__)
    monkeypatch.setitem(sys.modules, "a_module", made)
    return made


def test_found_as_long_as_the_dependencies_hold(store: Store, module: types.ModuleType) -> None:
    f = function(K=1, helper=module.helper)
    refs = [GlobalRef(f.__globals__, "K"), GlobalRef(f.__globals__, "helper"), GlobalRef(module.__dict__, "DEPTH")]
    assert lookup(store, "key", [f]) is None
    assert save(store, "key", refs, [f], b"for 1")
    found = lookup(store, "key", [f])
    assert found is not None and found.payload == b"for 1" and [r.value for r in found.refs] == [1, module.helper, 3]
    module.DEPTH = 4  # type: ignore[attr-defined]
    assert lookup(store, "key", [f]) is None
    save(store, "key", refs, [f], b"for 4")
    module.DEPTH = 3  # type: ignore[attr-defined]
    assert (again := lookup(store, "key", [f])) is not None and again.payload == b"for 1"
    f.__globals__["K"] = 1.0
    assert lookup(store, "key", [f]) is None
    assert lookup(store, "other key", [f]) is None


def test_a_changed_callee_in_another_module(store: Store, module: types.ModuleType) -> None:
    f = function(K=1, helper=module.helper)
    save(store, "key", [GlobalRef(f.__globals__, "helper")], [f], b"x")
    exec("def helper(): return DEPTH + 1", module.__dict__)
    g = function(K=1, helper=module.helper)
    assert lookup(store, "key", [g]) is None


def test_several_lists_under_one_key(store: Store) -> None:
    f = function(A=True, B=1, C=2)
    a, b, c = (GlobalRef(f.__globals__, name) for name in "ABC")
    save(store, "key", [a, b], [f], b"A, B")
    f.__globals__["A"] = False
    save(store, "key", [a, c], [f], b"not A, C")
    assert lookup(store, "key", [f]).payload == b"not A, C"  # type: ignore[union-attr]
    f.__globals__["A"] = True
    assert lookup(store, "key", [f]).payload == b"A, B"  # type: ignore[union-attr]


def test_an_absent_global(store: Store) -> None:
    f = function(K=1)
    save(store, "key", [GlobalRef(f.__globals__, "len")], [f], b"x")
    found = lookup(store, "key", [f])
    assert found is not None and found.refs[0].value is ABSENT
    f.__globals__["len"] = max
    assert lookup(store, "key", [f]) is None


def closure(value: Any) -> types.FunctionType:
    def inner() -> Any:
        return value

    return inner  # type: ignore[return-value]


def test_cells(store: Store) -> None:
    f = closure(closure(7))
    cells = [CellRef(f.__closure__[0]), CellRef(f.__closure__[0].cell_contents.__closure__[0])]  # type: ignore[index]
    places = places_of(cells, Roots([f]))
    assert places == (("cell", 0, 0, False), ("cell", 1, 0, False))
    assert [ref.value for ref in follow_all(places, Roots([closure(closure(8))]))][1] == 8
    save(store, "key", cells, [f], b"x")
    assert lookup(store, "key", [closure(closure(7))]) is not None
    assert lookup(store, "key", [closure(closure(8))]) is None
    empty = closure(1)
    del empty.__closure__[0].cell_contents  # type: ignore[index]
    assert CellRef(empty.__closure__[0]).value is ABSENT  # type: ignore[index]


def test_what_cannot_be_found_again(store: Store) -> None:
    f = function(K=1)
    for refs in (
        [GlobalRef({"K": 1}, "K")],
        [CellRef(closure(1).__closure__[0])],
        [GlobalRef({**f.__globals__, "K": []}, "K")],
    ):  # type: ignore[index]
        with pytest.raises(Uncacheable):
            save(store, "key", refs, [f], b"x")
    f.__globals__["K"] = object()
    with pytest.raises(Uncacheable, match="object"):
        save(store, "key", [GlobalRef(f.__globals__, "K")], [f], b"x")


def test_damage_means_absent(store: Store) -> None:
    f = function(K=1)
    save(store, "key", [GlobalRef(f.__globals__, "K")], [f], b"x" * 100)
    for _, _, path in list(store._files()):
        whole = Path(path).read_bytes()
        Path(path).write_bytes(whole[:-1])
        assert lookup(store, "key", [f]) is None
        Path(path).write_bytes(whole)
        assert lookup(store, "key", [f]) is not None


class Local:
    """A class with a name that leads back to it."""


def test_codec() -> None:
    fun = closure(1)
    classes = (Scalar, Kind, ArrayType, TupleType, NamedTupleType, OptionalType, LiteralType)
    codec = Codec(classes, [fun])
    values: list[Any] = [
        (1, -0.0, 1j, None, "ä", b"\0", [1, [2]], {"a": (1,), 2: None}, True),
        TupleType((F64, ArrayType(PYFLOAT, 2, "F", True), OptionalType(F64))),
        (LiteralType(fun), fun, Local, len, ValueError),
        LiteralType("x"),
    ]
    for value in values:
        assert codec.loads(codec.dumps(value)) == value
    assert codec.loads(codec.dumps(fun)) is fun
    assert str(codec.loads(codec.dumps(-0.0))) == "-0.0"
    for bad in (object(), closure(2), type("Nowhere", (), {})):
        with pytest.raises(Uncacheable):
            codec.dumps((1, bad))
