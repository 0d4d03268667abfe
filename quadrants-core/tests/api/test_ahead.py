"""`f.compile(...)`: code that is made before the first call, from signatures, types, texts and examples."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import quadrants as qd
from quadrants.diagnostics import CompileError, QuadrantsError


def made(function: Any) -> int:
    """How often code was made."""
    stats = function.stats
    return sum(stats.cache_misses.values()) + sum(stats.cache_hits.values())


def shown(function: Any) -> list[str]:
    return [", ".join(map(repr, signature)) for signature in function.signatures]


def scaled(a: Any, factor: Any, shift: float = 0.5) -> Any:
    return a * factor + shift


A = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((qd.float64[:, ::1], float), "float64[:, ::1], float, float"),
        (("float64[:, :]", "i8", float), "float64[:, ::1], int, float"),
        ((A, 2, 0.25), "float64[:, ::1], int, float"),
        ((A, "float64"), "float64[:, ::1], float, float"),
        ((A.T, np.float32(2)), "float64[::1, :], float32, float"),
        (("(float64[:, ::1], int64, float64)",), "float64[:, ::1], int, float"),
        (((qd.float64[:, ::1], int, float),), "float64[:, ::1], int, float"),
    ],
)
def test_types_texts_and_examples(given: tuple[Any, ...], wanted: str) -> None:
    f = qd.njit(scaled)
    before = A.copy()
    f.compile(*given)
    assert shown(f) == [wanted] and made(f) == 1
    assert (before == A).all()


def test_a_call_like_the_example_compiles_nothing_more() -> None:
    points = np.arange(12.0).reshape(4, 3)  # three columns: the code may be for just so many

    def norms(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            for j in range(x.shape[1]):
                out[i] += x[i, j] ** 2
        return out

    f = qd.njit(norms)
    f.compile(points)
    assert (f(points) == norms(points)).all() and made(f) == 1
    assert (f(points[:2] + 1) == norms(points[:2] + 1)).all() and made(f) == 1

    g = qd.njit(scaled)
    g.compile(A, 2)
    assert (g(A, 3) == scaled(A, 3)).all() and (g(A, 3, shift=1.0) == scaled(A, 3, 1.0)).all() and made(g) == 1


def test_an_only_parameter_and_none() -> None:
    f = qd.njit(lambda x: x[0])
    f.compile("float64[:]")
    f.compile((1.0, 2))
    f.compile("Tuple(int64, int64)")
    assert shown(f) == ["float64[::1]", "Tuple(float, int)", "Tuple(int, int)"]
    assert f(np.ones(2)) == 1 and f((1.5, 2)) == 1.5 and made(f) == 3
    g = qd.njit(lambda: 7)
    g.compile()
    assert g() == 7 and made(g) == 1


def test_parameters_by_name_only_and_any_number() -> None:
    def f(x: float, *more: float, k: int = 3) -> float:
        return x * k + sum(more)

    compiled = qd.njit(f)
    compiled.compile(1.0)
    assert compiled(2.0) == f(2.0) and made(compiled) == 1
    compiled.compile(1.0, 3, 2.0, 2.0)  # in the order of the parameters: the named one before the others
    assert compiled(1.0, 2.0, 4.0, k=2) == f(1.0, 2.0, 4.0, k=2) and made(compiled) == 2


def test_examples_are_converted_to_declared_signatures() -> None:
    f = qd.njit("float64(float64)")(lambda x: x / 2)
    f.compile(3)
    assert shown(f) == ["float"] and f(3) == 1.5
    with pytest.raises(TypeError, match="no signature"):
        f.compile((1, 2))


def test_in_the_background() -> None:
    f = qd.njit(scaled)
    future = f.compile(A, 2, wait=False)
    assert (f(A, 3) == scaled(A, 3)).all() and made(f) == 1  # waits for the code, and makes none of its own
    assert future.result(60).signature.params == f.nopython_signatures[0].params
    assert future.done()

    wrong = qd.njit(lambda x: x.no_such_attribute)
    failed = wrong.compile(1.0, wait=False)
    with pytest.raises(CompileError, match="no_such_attribute"):
        failed.result(60)
    with pytest.raises(CompileError, match="no_such_attribute"):
        wrong(1.0)


def test_the_process_ends_while_code_is_made() -> None:
    program = (
        "import numpy as np, quadrants as qd\n"
        "@qd.njit(cache=False)\n"
        "def f(x):\n    return np.sort(x) + np.median(x)\n"
        "f.compile(np.ones(9), wait=False)\nprint('end')\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout) == (0, "end\n"), run.stderr


def test_mistakes() -> None:
    f = qd.njit(scaled)
    with pytest.raises(QuadrantsError, match=r"has 1 parameters, scaled\(\) has 3"):
        f.compile(qd.float64)
    with pytest.raises(QuadrantsError, match=r"unknown type 'flot64'\n +flot64\n +\^{6}\n +hint: did you mean float64"):
        f.compile("flot64", 1.0)
    with pytest.raises(QuadrantsError, match="unknown type 'flot64'"):
        f.compile("flot64")
    with pytest.raises(QuadrantsError, match="argument 1 of scaled"):
        f.compile(object(), 1.0)
    with pytest.raises(CompileError, match="no_such_attribute"):
        qd.njit(lambda x: x.no_such_attribute).compile(1.0)
    assert made(f) == 0
