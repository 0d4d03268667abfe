from __future__ import annotations

import collections
import math
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.cache.fingerprint import (
    Uncacheable,
    _installation,
    _source_stats,
    code_key,
    compiler_key,
    digest,
    function_key,
    type_key,
    value_key,
)
from quadrants.types import PYFLOAT, LiteralType, NamedTupleType, TupleType

Pair = collections.namedtuple("Pair", "a b")


def made(text: str, **namespace: Any) -> Callable[..., Any]:
    exec(compile(text, "made.py", "exec"), namespace)
    return namespace["f"]


def key(function: Any) -> str:
    return digest(function_key(function))


def test_the_same_text_has_the_same_key() -> None:
    text = "def f(x):\n    return [y for y in (1, 2.0, 'a', b'b', None, ..., -0.0) if y in {1, 2}] + [lambda: x]"
    assert key(made(text)) == key(made(text))


BASE = "def f(x, y=2):\n    return x + 1.0"


@pytest.mark.parametrize(
    "other",
    [
        "def f(x, y=2):\n    return x + 2.0",
        "def f(x, y=2):\n    return x + 1",
        "def f(x, y=3):\n    return x + 1.0",
        "def f(x, y=2.0):\n    return x + 1.0",
        "def f(x, *, y=2):\n    return x + 1.0",
        "def f(x, /, y=2):\n    return x + 1.0",
        "def f(z, y=2):\n    return z + 1.0",
        "def f(x, y=2):\n    return x - 1.0",
        "def f(x, y=2):\n\n    return x + 1.0",
        "def f(x, y=2):\n    return  x + 1.0",
        "def f(x, y=2):\n    return x + 1.0 if True else len",
        "def f(x, *y):\n    return x + 1.0",
    ],
)
def test_another_text_has_another_key(other: str) -> None:
    assert key(made(BASE)) != key(made(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (1, True),
        (1, 1.0),
        (1.0, 1 + 0j),
        ("a", b"a"),
        ((1,), 1),
        ((), None),
        (0, None),
        (np.int32(1), np.int64(1)),
    ],
)
def test_values_that_compare_equal_may_differ(one: object, other: object) -> None:
    assert digest(value_key(one)) != digest(value_key(other))


def test_nan_equals_itself() -> None:
    assert digest(value_key(math.nan)) == digest(value_key(float("nan")))


def test_constants_inside_code() -> None:
    keys = {
        key(made(f"def f(x): return x == {c}"))
        for c in ("0.0", "-0.0", "0", "(0,)", "(0.0,)", "((0,),)", "0j", "None", "''", "b''")
    }
    assert len(keys) == 10
    assert key(made("def f(x): return x in {1, 2, 3}")) == key(made("def f(x): return x in {1, 2, 3}"))


def test_nested_functions_count() -> None:
    assert key(made("def f(x):\n    def g(): return 1\n    return g")) != key(
        made("def f(x):\n    def g(): return 2\n    return g")
    )


def test_the_name_of_the_file_does_not() -> None:
    code = compile("def f(x): return x", "one.py", "exec").co_consts[0]
    assert code_key(code) == code_key(code.replace(co_filename="two.py"))


def test_code_that_has_run_keeps_its_key() -> None:
    """The interpreter rewrites bytecode as it runs it; the key is that of the original."""
    f = made("def f(n):\n    t = 0.0\n    for i in range(n): t += i * 0.5\n    return t")
    before = key(f)
    for _ in range(100):
        f(50)
    assert key(f) == before


def outer(value: object) -> types.FunctionType:
    def inner() -> object:
        return value

    return inner  # type: ignore[return-value]


def test_closures() -> None:
    assert key(outer(1)) == key(outer(1))
    assert key(outer(1)) != key(outer(2))
    assert key(outer(outer(1))) != key(outer(outer(2)))


def test_a_function_that_refers_to_itself() -> None:
    def recursive(n: int) -> int:
        return 1 if n < 2 else n * recursive(n - 1)

    assert key(recursive) == key(recursive)


def test_arrays_count_by_type() -> None:
    assert value_key(np.zeros(3)) == value_key(np.ones(5))
    assert value_key(np.zeros(3)) != value_key(np.zeros(3, "f4"))
    assert value_key(np.zeros((3, 3))) != value_key(np.zeros((3, 3)).T)


@pytest.mark.parametrize(
    "value", [math, np.sin, np.sum, len, math.sin, np.float64, np.dtype("f4"), ValueError, Pair, Pair(1, 2), qd.float64]
)
def test_names(value: object) -> None:
    assert digest(value_key(value)) == digest(value_key(value)) != digest(value_key(None))


def test_classes_of_named_tuples_by_their_fields() -> None:
    one, other = collections.namedtuple("P", "a b"), collections.namedtuple("P", "a c")
    assert value_key(one) != value_key(other)


def test_classes_by_their_constants_and_functions() -> None:
    def made(depth: object, method: object = None, base: type = object) -> type:
        return type("Config", (base,), {"depth": depth, "method": method, "me": None, "lock": object()})

    keys = [
        digest(value_key(cls))
        for cls in (
            made(1),
            made(2),
            made(1.0),
            made(1, lambda self: 1),
            made(1, staticmethod(lambda: 1)),
            made(1, base=made(2)),
        )
    ]
    assert len(set(keys)) == 6
    assert digest(value_key(made(1, outer(3)))) == digest(value_key(made(1, outer(3))))
    own = made(1)
    own.me = own  # type: ignore[attr-defined]
    own.loop = staticmethod(outer(own))  # type: ignore[attr-defined]
    assert value_key(own)


@pytest.mark.parametrize("value", [object(), [1], {}, outer(object())])
def test_objects_have_none(value: object) -> None:
    with pytest.raises(Uncacheable):
        value_key(value)


def test_types() -> None:
    f, g = outer(1), outer(2)
    assert type_key(LiteralType(f)) == type_key(LiteralType(outer(1)))
    assert type_key(LiteralType(f)) != type_key(LiteralType(g))
    assert type_key(TupleType((PYFLOAT,))) != type_key(PYFLOAT)
    assert type_key(NamedTupleType((PYFLOAT, PYFLOAT), ("a", "b"), Pair)) != type_key(TupleType((PYFLOAT, PYFLOAT)))


def test_another_process_agrees() -> None:
    program = (
        "from quadrants.cache.fingerprint import *\n"
        "import math, numpy as np\n"
        "exec('def f(x, y=(1, -0.0)):\\n    return [z for z in x if z in {1, \"a\", None}]')\n"
        "print(digest(function_key(f)), digest(value_key((1, 'a', np.sin, math, np.int8(3), math.pi))))"
    )
    seeds = [{"PYTHONHASHSEED": seed} for seed in ("0", "1", "2")]
    outputs = {
        subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True).stdout
        for env in seeds
    }
    assert len(outputs) == 1


def test_the_sources_of_the_compiler_count(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "a.py").write_text("x = 1")
    (tmp_path / "b.py").write_text("y = 2")
    before = _source_stats(str(tmp_path), "")
    assert [row.partition(" ")[0] for row in sorted(before)] == ["b.py", "room/a.py"]
    (tmp_path / "room" / "__pycache__").mkdir()
    (tmp_path / "room" / "__pycache__" / "a.cpython.py").write_text("x")
    (tmp_path / "notes.txt").write_text("x")
    assert sorted(_source_stats(str(tmp_path), "")) == sorted(before)
    (tmp_path / "room" / "a.py").write_text("x = 12")
    assert sorted(_source_stats(str(tmp_path), "")) != sorted(before)
    assert compiler_key() == compiler_key()


def test_an_installed_compiler_is_known_by_its_record(tmp_path: Path) -> None:
    package, record = tmp_path / "quadrants", tmp_path / "quadrants_core-1.2.dist-info" / "RECORD"
    package.mkdir()
    assert _installation(str(package), "1.2") is None
    record.parent.mkdir()
    record.write_text("quadrants/__init__.py,,\n")
    first = _installation(str(package), "1.2")
    assert first is not None and _installation(str(package), "1.3") is None
    record.write_text("quadrants/__init__.py,sha256=0,1\n")
    assert _installation(str(package), "1.2") != first
