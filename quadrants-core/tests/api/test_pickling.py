from __future__ import annotations

import concurrent.futures
import copy
import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pytest

import quadrants as qd

SCALE = 3


@qd.njit
def scaled(x):  # type: ignore[no-untyped-def]
    return x * SCALE


def plain(x):  # type: ignore[no-untyped-def]
    return x + 0.5


compiled_plain = qd.njit(plain)


def make_adder(amount: float) -> Any:
    @qd.njit
    def add(x, times=2):  # type: ignore[no-untyped-def]
        """Adds."""
        return x + amount * times

    return add


def make_recursive() -> Any:
    @qd.njit
    def fact(n):  # type: ignore[no-untyped-def]
        return 1 if n < 2 else n * fact(n - 1)

    return fact


def round_trip(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_by_reference_where_an_import_finds_it(protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or __import__(__name__))
    if sys.modules[__name__].__dict__ is not globals():
        pytest.skip("the test module is not importable under its name")
    assert round_trip(scaled, protocol) is scaled


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_closures_by_value(dumps: Any) -> None:
    add = make_adder(10.0)
    again = pickle.loads(dumps(add))
    assert again is not add and again(1) == 21 and again(1, 3) == 31
    assert again.__doc__ == "Adds." and again.__qualname__ == add.__qualname__ and again.__name__ == "add"
    lambda_ = pickle.loads(dumps(qd.njit(fp="strict")(lambda x: x * SCALE)))
    assert lambda_(2) == 6 and lambda_.options.fp == "strict"


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_recursive_closures(dumps: Any) -> None:
    again = pickle.loads(dumps(make_recursive()))
    assert again(5) == 120


def test_declared_signatures_stay() -> None:
    @qd.njit("float64(float64)")
    def half(x):  # type: ignore[no-untyped-def]
        return x / 2

    again = round_trip(half)
    assert len(again.signatures) == 1 and again(3) == 1.5
    with pytest.raises(TypeError, match="no signature"):
        again(1j)


def test_deep_copy_in_a_structure() -> None:
    add = make_adder(1.0)
    assert copy.deepcopy({"f": add})["f"] is add


MAIN = """
    import sys
    import numpy as np
    import quadrants as qd

    OFFSET = 100
    TABLE = np.arange(5.0)

    def helper(x):
        return x + OFFSET

    @qd.njit
    def kernel(x):
        return helper(x) + TABLE[1]

    def outer(k):
        @qd.njit
        def inner(x):
            return x * k
        return inner

    if __name__ == "__main__":
        {body}
"""


def run_main(tmp_path: Path, body: str) -> str:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(MAIN).replace("{body}", textwrap.indent(textwrap.dedent(body), "    ").strip()))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(tmp_path: Path, method: str) -> None:
    body = f"""
    import multiprocessing
    kernel(1)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print([float(x) for x in pool.map(kernel, [1, 2, 3.5])], pool.map(outer(7), [1, 2]))
    """
    assert run_main(tmp_path, body) == "[102.0, 103.0, 104.5] [7, 14]"


def test_executor_and_joblib(tmp_path: Path) -> None:
    body = """
    import joblib
    print([float(x) for x in joblib.Parallel(n_jobs=2)(joblib.delayed(kernel)(x) for x in (1, 2))])
    print(joblib.Parallel(n_jobs=2)(joblib.delayed(outer(3))(x) for x in (1, 2)))
    """
    assert run_main(tmp_path, body) == "[102.0, 103.0]\n[3, 6]"


def test_cloudpickle_of_main(tmp_path: Path) -> None:
    body = """
    import cloudpickle, subprocess
    data = cloudpickle.dumps((kernel, outer(5)))
    program = "import sys, pickle; k, o = pickle.loads(sys.stdin.buffer.read()); print(k(1), o(2))"
    print(subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True).stdout.decode().strip())
    """
    assert run_main(tmp_path, body) == "102.0 10"


def test_a_cell_that_is_run_again(tmp_path: Path) -> None:
    """As in a notebook: the same name, new code, and a pickle of the old function."""
    body = """
    import pickle
    old = pickle.dumps(kernel)
    space = {"qd": qd, "__name__": "__main__"}
    exec(compile("@qd.njit\\ndef f(x): return x + 1", "cell", "exec"), space)
    first = space["f"]
    exec(compile("@qd.njit\\ndef f(x): return x + 2", "cell", "exec"), space)
    print(first(1), space["f"](1), pickle.loads(old) is kernel)
    data = pickle.dumps(first)
    globals()["f"] = space["f"]
    print(pickle.loads(data)(1), pickle.loads(pickle.dumps(space["f"])) is space["f"])
    """
    assert run_main(tmp_path, body) == "2 3 True\n2 True"


def test_processes_from_here() -> None:
    """A closure goes through a plain `ProcessPoolExecutor` too."""
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(make_adder(2.0), np.arange(3.0))) == [4, 5, 6]


def test_joblib_hashing_is_stable() -> None:
    assert joblib.hash(make_adder(1.0)) == joblib.hash(make_adder(1.0))
