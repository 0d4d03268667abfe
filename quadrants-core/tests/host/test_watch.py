"""Globals and closure cells that code depends on: a change sends calls on, and nothing else does."""

from __future__ import annotations

import builtins
import gc
import os
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest
from host.native import Dispatcher, identity, install, load_kernel, took

from quadrants.host.spec import MISSING, CellDependency, Dependency, GlobalDependency, Hidden, Source
from quadrants.host.specialisation import Loaded, same_value
from quadrants.types import F64, PYFLOAT, PYINT, ArrayType

A1 = ArrayType(F64, 1)


def depending(*dependencies: Dependency) -> tuple[Any, Loaded]:
    dicts = len({id(d.namespace) for d in dependencies if isinstance(d, GlobalDependency)})
    cells = sum(isinstance(d, CellDependency) for d in dependencies)
    loaded = load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT), dicts=dicts, cells=cells, dependencies=dependencies)
    dispatcher = Dispatcher(lambda x: 0)
    install(dispatcher, loaded)
    return dispatcher, loaded


def cell_of(value: Any) -> Any:
    cell = types.CellType()
    if value is not MISSING:
        cell.cell_contents = value
    return cell


def test_a_changed_global() -> None:
    names: dict[str, object] = {"k": 1000001, "other": 1}
    f, loaded = depending(GlobalDependency(names, "k", names["k"]))
    assert took(f, 1.0) and loaded.valid
    names["other"] = 2
    names["new"] = 3
    del names["new"]
    assert took(f, 1.0) and loaded.valid
    names["k"] = 5
    assert not took(f, 1.0) and not loaded.valid and not loaded.revalidate()
    assert not took(f, 1.0)
    names["k"] = int("1000001")  # equal, another object
    assert not took(f, 1.0) and loaded.revalidate() and loaded.valid
    assert took(f, 1.0)
    names["k"] = 7
    assert not took(f, 1.0)


@pytest.mark.parametrize("change", ["del", "pop", "popitem", "clear", "update", "setdefault"])
def test_every_way_to_change(change: str) -> None:
    names: dict[str, object] = {"k": 10**6}
    f, loaded = depending(GlobalDependency(names, "k", names["k"]), GlobalDependency(names, "absent", MISSING))
    assert took(f, 1.0)
    if change == "del":
        del names["k"]
    elif change == "setdefault":
        names.setdefault("absent", 1)
    elif change in ("popitem", "clear"):
        getattr(names, change)()
    elif change == "pop":
        names.pop("k")
    else:
        names.update(k=3)
    assert not took(f, 1.0) and not loaded.valid and not loaded.revalidate()


def test_a_name_that_must_stay_absent() -> None:
    names: dict[str, object] = {}
    f, loaded = depending(GlobalDependency(names, "len", MISSING), GlobalDependency(builtins.__dict__, "len", len))
    assert took(f, 1.0)
    names["len"] = max
    assert not took(f, 1.0)
    del names["len"]
    assert not loaded.valid or took(f, 1.0)
    assert loaded.revalidate() and took(f, 1.0)


def test_names_that_are_not_interned() -> None:
    names: dict[str, object] = {"some_name": 10**6}
    f, loaded = depending(GlobalDependency(names, "some_name", names["some_name"]))
    names["".join(["some_", "name"])] = 3
    assert not took(f, 1.0)
    names["some_name"] = int("1000000")
    assert loaded.revalidate() and took(f, 1.0)
    names[b"some_name"] = 1  # type: ignore[index]
    names[1] = 1  # type: ignore[index]
    assert loaded.revalidate() and took(f, 1.0)


def test_module_globals() -> None:
    module = types.ModuleType("some_module")
    module.k = 10**6  # type: ignore[attr-defined]
    f, _ = depending(GlobalDependency(module.__dict__, "k", module.k))
    assert took(f, 1.0)
    exec("other = 1\nfor i in range(3): other += i", module.__dict__)
    assert took(f, 1.0)
    exec("k = 2", module.__dict__)
    assert not took(f, 1.0)


def test_several_entries_on_one_name() -> None:
    names: dict[str, object] = {"k": 10**6, "m": 10**6 + 1}
    both = [depending(GlobalDependency(names, "k", names["k"])) for _ in range(3)]
    other, _ = depending(GlobalDependency(names, "m", names["m"]))
    names["k"] = 1
    assert [took(f, 1.0) for f, _ in both] == [False] * 3 and took(other, 1.0)


def test_many_names_and_dicts() -> None:
    spaces: list[dict[str, object]] = [{f"n{i}": float(i) for i in range(8)} for _ in range(20)]
    made = [(depending(GlobalDependency(s, n, s[n])), s, n) for s in spaces for n in list(s)[:4]]
    assert all(took(f, 1.0) for (f, _), _, _ in made)
    for index, ((f, _), space, name) in enumerate(made):
        if index % 3 == 0:
            space[name] = -1.0
        assert took(f, 1.0) == (index % 3 != 0)
    assert [took(f, 1.0) for (f, _), _, _ in made] == [i % 3 != 0 for i in range(len(made))]


def test_code_that_is_gone_is_forgotten() -> None:
    names: dict[str, object] = {"k": 10**6}
    kept, _ = depending(GlobalDependency(names, "k", names["k"]))
    for _ in range(5):
        depending(GlobalDependency(names, "k", names["k"]))
    gc.collect()
    assert took(kept, 1.0)
    names["k"] = 2
    assert not took(kept, 1.0)


def test_cells() -> None:
    cell = cell_of(10**6)
    f, loaded = depending(CellDependency(cell, cell.cell_contents))
    assert took(f, 1.0)
    cell.cell_contents = 3
    assert not took(f, 1.0) and not loaded.valid and not loaded.revalidate()
    cell.cell_contents = int("1000000")
    assert loaded.revalidate() and took(f, 1.0)
    del cell.cell_contents
    assert not took(f, 1.0) and not loaded.valid
    empty = cell_of(MISSING)
    g, other = depending(CellDependency(empty, MISSING))
    assert took(g, 1.0)
    empty.cell_contents = 1
    assert not took(g, 1.0) and not other.revalidate()


def test_a_change_before_arming_is_seen() -> None:
    names: dict[str, object] = {"k": 1}
    f, loaded = depending(GlobalDependency(names, "k", 10**6))
    assert not loaded.valid and not took(f, 1.0)


def test_invalidate() -> None:
    f, loaded = depending()
    loaded.invalidate()
    assert not took(f, 1.0)
    assert loaded.revalidate() and took(f, 1.0)


def test_hidden_globals_follow_the_name() -> None:
    names: dict[str, object] = {"a": np.arange(3.0)}
    f = Dispatcher(lambda: 0)
    install(f, load_kernel([], A1, identity(A1), hidden=(Hidden(A1, Source.GLOBAL),), hidden_objects=[(names, "a")]))
    assert f() is names["a"]
    names["a"] = np.arange(5.0)
    assert f() is names["a"]
    names["a"] = np.arange(6).reshape(2, 3)
    assert not took(f)
    del names["a"]
    assert not took(f)
    names["a"] = np.arange(2.0)
    assert took(f)


def test_hidden_cells_follow_the_cell() -> None:
    cell = cell_of(5)
    f = Dispatcher(lambda: 0)
    install(f, load_kernel([], PYINT, identity(PYINT), hidden=(Hidden(PYINT, Source.CELL),), hidden_objects=[cell]))
    assert f() == 5
    cell.cell_contents = 10**15
    assert f() == 10**15
    cell.cell_contents = 1.5
    assert not took(f)
    del cell.cell_contents
    assert not took(f)


def test_hidden_objects_can_be_replaced() -> None:
    first, second = np.arange(3.0), np.arange(4.0)
    f = Dispatcher(lambda: 0)
    loaded = load_kernel([], A1, identity(A1), hidden=(Hidden(A1),), hidden_objects=[first])
    install(f, loaded)
    assert f() is first
    loaded.set_hidden(0, second)
    assert f() is second


def test_equal_constants() -> None:
    nan = float("nan")
    equal = [
        (1, 1),
        (1.5, 1.5),
        ("ab", "".join("ab")),
        ((1, (2.0, "x")), (1, (2.0, "x"))),
        (nan, float("nan")),
        (None, None),
    ]
    unequal = [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ((1,), (1.0,)),
        ((1,), (1, 2)),
        ([], []),
        (np.float32(1), np.float64(1)),
        (len, max),
    ]
    assert all(same_value(a, b) for a, b in equal)
    assert not any(same_value(a, b) for a, b in unequal)


def test_counts_must_agree() -> None:
    with pytest.raises(ValueError, match="depends on 0 dicts"):
        load_kernel([PYFLOAT], PYFLOAT, identity(PYFLOAT), dependencies=[GlobalDependency({}, "k", MISSING)])


def test_the_interpreter_ends_well() -> None:
    """Dicts change while the interpreter takes its modules apart."""
    program = (
        "from host.test_watch import *\n"
        "k = 10 ** 6\n"
        "keep = [depending(GlobalDependency(globals(), 'k', k)) for _ in range(200)]\n"
        "import atexit; atexit.register(lambda: globals().update(k=3))\n"
        "assert took(keep[0][0], 1.0); print('done')\n"
    )
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "done\n" and done.returncode == 0, done.stderr
