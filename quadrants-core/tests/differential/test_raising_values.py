"""Operations whose types are fine and that raise for their values: as in the interpreter, where the program gets to them.

Each statement is certain to raise, so that the compiler knows when compiling. It is compared with the interpreter's exception in the
open, inside `try`, and where it is never reached.
"""

from __future__ import annotations

import linecache
import math
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quadrants as qd

STATEMENTS = """
ro[0] = 1.0
ro[:] = 1.0
ro[ro > 0] = 1.0
ro[np.array([0, 1])] = 2.0
ro += 1.0
ro[0] += 1.0
ro[1:] *= 2.0
ro.fill(0.0)
ro.sort()
ro.partition(1)
ro.flat[0] = 1.0
ro.flat = 1.0
ro.put(0, 1.0)
ro.real[0] = 1.0
ro.T[0] = 1.0
ro.view()[0] = 1.0
ro.reshape(3, 1)[0, 0] = 1.0
np.copyto(ro, 1.0)
np.putmask(ro, ro > 0, 1.0)
np.fill_diagonal(rom, 1.0)
np.random.shuffle(ro)
np.add(a, 1.0, out=ro)
np.sqrt(a, out=ro)
np.clip(a, 0, 1, out=ro)
np.sum(m, axis=0, out=ro)
np.broadcast_to(a, (2, 3))[0, 0] = 1.0
a += m
a += np.ones((2, 4))
a *= np.ones((1, 3))
a -= np.ones((3, 3))
a @= a
a[...] = m
m[0] = m
a[0] = m
a[0] = (1.0, 2.0)
a[:, 0]
a[0, 0]
a[..., ...]
a.item(0, 0)
a[np.ones((2, 2)) > 0]
np.transpose(m, (0, 0))
np.transpose(m, (0, 5))
np.transpose(m, (0, 1, 2))
m.transpose(1)
np.rot90(a)
a.reshape(-1, -1)
np.broadcast_to(m, (3,))
np.broadcast_to(m, ())
t[5]
t[::0]
[1, 2, 3][::0]
x, y = t
x, y, z, w = t
p, q, r, *w = (1, 2)
x, y = "abc"
del a[0]
round(float("nan"))
complex("abc")
np.float32("abc")
np.int64(2**70)
float(10**400)
a.copy(order="Z")
np.zeros(3, order="Z")
np.array_split(a, 0)
np.sort(a, kind="foo")
np.take(a, 7, mode="foo")
np.partition(a, 7)
np.argpartition(a, -7)
np.lexsort((a, b))
np.repeat(a, b)
np.ravel_multi_index((5, 5), (2, 3))
np.take_along_axis(m, np.array([7]), 0)
np.einsum("ij->k", m)
np.einsum("ij,jk->ik", m)
np.linalg.lstsq(m, a)
np.linalg.norm(a, ord="foo")
np.linalg.cond(m, 7)
f"{x:q}"
f"{n:.3d}"
format(x, "zz")
1 / 0
0.0 ** -1
math.sqrt(-1.0)
np.concatenate((m, np.ones((2, 4))))
np.zeros(-1)
""".strip().splitlines()

NAMES = ("a", "b", "m", "ro", "rom", "t", "x", "n", "go")


def arguments(go: bool) -> tuple[Any, ...]:
    ro, rom = np.array([3.0, 2.0, 1.0]), np.ones((3, 3))
    ro.flags.writeable = rom.flags.writeable = False
    return np.array([1.0, 2.0, 3.0]), np.ones(4), np.arange(6.0).reshape(2, 3), ro, rom, (1, 2, 3), 2.5, 7, go


def function(body: str, filename: str) -> Callable[..., Any]:
    source = f"def f({', '.join(NAMES)}):\n{body}"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["f"]  # type: ignore[no-any-return]


def outcome(call: Callable[..., Any], go: bool) -> tuple[Any, ...]:
    try:
        return ("gave", call(*arguments(go)))
    except Exception as error:  # noqa: BLE001 - whatever the interpreter raises
        lines = [
            entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename.startswith("<raising")
        ]
        return type(error), str(error), lines


@pytest.mark.parametrize("statement", STATEMENTS)
def test_as_in_the_interpreter(statement: str) -> None:
    name = f"<raising {statement}>"
    plain = function(f"    if go:\n        pass\n    {statement}\n    return 0\n", name)
    wanted = outcome(plain, True)
    assert wanted[0] != "gave"
    assert outcome(qd.njit(plain), True) == wanted
    guarded = function(
        "    s = 0\n    for k in range(3):\n        try:\n            s += 1\n            if go:\n"
        f"                {statement}\n                s += 100\n        except {wanted[0].__name__} as error:\n"
        "            s += 10\n        finally:\n            s += 1000\n    return s\n".replace(
            wanted[0].__name__, "(ValueError, LookupError, ArithmeticError, TypeError, np.linalg.LinAlgError)"
        ),
        name,
    )
    compiled = qd.njit(guarded)
    for go in (True, False):
        assert outcome(compiled, go) == outcome(guarded, go)


def test_notes_have_the_types_and_a_hint() -> None:
    def store(a: Any) -> None:
        a[0] = 1.0

    with pytest.raises(ValueError, match="assignment destination is read-only") as info:
        qd.njit(store)(arguments(True)[3])
    (note,) = info.value.__notes__
    assert "array(float64, 1d, C, read-only)" in note and "QD212" in note


def test_explain_says_what_always_raises() -> None:
    def store(a: Any, b: Any) -> Any:
        if b > 0:
            a[0] = b
        return a[0]

    compiled = qd.njit(store)
    assert compiled(arguments(True)[3], 0.0) == 3.0
    (record,) = [record for record in compiled.explain().records if record.code == "always-raises"]
    assert record.text == "always raises ValueError: assignment destination is read-only"


def test_a_function_is_compiled_for_read_only_arrays_and_for_others() -> None:
    def store(a: Any) -> Any:
        try:
            a[0] = 7.0
        except ValueError:
            return a[1:], a.flags.writeable
        return a[1:], a.flags.writeable

    compiled = qd.njit(store)
    for _ in range(2):
        for array in (arguments(True)[3], arguments(True)[0]):
            view, writeable = compiled(array)
            assert view.flags.writeable == writeable == array.flags.writeable
            assert array[0] == (7.0 if writeable else 3.0)


def test_a_variable_that_is_read_only_on_some_paths() -> None:
    @qd.njit
    def total(a: Any, b: Any, flag: Any) -> Any:
        x = a if flag else b
        return x.sum()

    @qd.njit
    def store(a: Any, b: Any, flag: Any) -> Any:
        x = a if flag else b
        x[0] = 1.0
        return x

    a, _, _, ro, *_ = arguments(True)
    assert total(a, ro, True) == 6.0 and total(a, ro, False) == 6.0
    with pytest.raises(qd.CompileTypeError, match="QD212: the array is read-only on some of the paths"):
        store(a, ro, True)
