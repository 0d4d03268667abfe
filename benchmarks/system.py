"""What a user waits for besides the kernels: calls, imports, first calls. Each figure is ours against Numba's, in turn."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

_CHILD = """
import sys, time
import numpy as np
clock = time.process_time
start = clock()
import {module} as compiler
@compiler.njit{options}
def saxpy(a, x, y):
    for i in range(len(x)):
        y[i] += a * x[i]
@compiler.njit{options}
def matmul(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            acc = 0.0
            for k in range(A.shape[1]):
                acc += A[i, k] * B[k, j]
            C[i, j] = acc
@compiler.njit
def again(a, x, y):
    for i in range(len(x)):
        y[i] += a * x[i] + 1.0
@compiler.njit
def summary(a):
    return a.mean() + a.std() + np.median(a) + a.max()
loaded = clock()
x = np.ones(16)
A = np.ones((4, 4))
saxpy(2.0, x, x.copy())
first = clock()
matmul(A, A, A.copy())
second = clock()
llvm = "llvmlite" in sys.modules
if {full}:
    again(2.0, x, x.copy())
third = clock()
if {full}:
    summary(x)
fourth = clock()
print(*(1e3 * t for t in (loaded - start, first - loaded, second - first, third - second, fourth - third)), int(llvm))
"""
_FIGURES = ("import", "first", "second", "next", "summary", "llvm")


def child(module: str, full: bool, cache: str | None) -> dict[str, float]:
    """CPU milliseconds of the steps of a fresh process."""
    code = _CHILD.format(module=module, full=full, options="(cache=True)" if cache and module == "numba" else "")
    folder = tempfile.mkdtemp() if cache is None else cache
    env = dict(os.environ, QUADRANTS_CACHE_DIR=folder, NUMBA_CACHE_DIR=folder)
    env["QUADRANTS_CACHE"] = "0" if cache is None else "1"
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # byte code is there after an installation, on both sides
    script = os.path.join(folder, "bench_child.py")
    if not os.path.exists(script):
        with open(script, "w") as file:
            file.write(code)
    try:
        run = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=True)
    finally:
        if cache is None:
            shutil.rmtree(folder)
    return dict(zip(_FIGURES, map(float, run.stdout.split()), strict=True))


def processes(rounds: int = 5) -> dict[str, tuple[float, float]]:
    """Medians of the figures of fresh processes: name -> (ours, Numba's), CPU milliseconds."""
    cold: dict[str, list[dict[str, float]]] = {"quadrants": [], "numba": []}
    for module in cold:
        child(module, False, None)  # writes what byte code is out of date
    for _ in range(rounds):
        for module, runs in cold.items():
            runs.append(child(module, True, None))
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        folders = {"quadrants": ours, "numba": theirs}
        for module, folder in folders.items():
            child(module, False, folder)
        warm = {module: [child(module, False, folder) for _ in range(rounds)] for module, folder in folders.items()}

    def median(runs: dict[str, list[dict[str, float]]], *names: str) -> tuple[float, float]:
        both = [statistics.median(sum(run[name] for name in names) for run in runs[m]) for m in ("quadrants", "numba")]
        return both[0], both[1]

    return {
        "import": median(cold, "import"),
        "import + first calls of saxpy and matmul": median(cold, "import", "first", "second"),
        "next first call, saxpy": median(cold, "next"),
        "first call of mean + std + median + max": median(cold, "summary"),
        "first call of a cached kernel": median(warm, "first"),
        "LLVM loaded by a cached kernel (1: yes)": median(warm, "llvm"),
    }


def _one(x: float) -> float:
    return x + 1.0


def _three(a: Any, b: Any, c: Any) -> Any:
    return a[0] + b[0] + c[0]


def _keywords(x: float, y: float = 2.0, z: float = 3.0) -> float:
    return x + y + z


_CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "call with one float": (_one, "f(1.5)"),
    "call with three arrays": (_three, "f(a, a, a)"),
    "call with keywords": (_keywords, "f(1.0, z=2.0, y=1.0)"),
}


def calls(rounds: int = 41, number: int = 5000) -> dict[str, tuple[float, float]]:
    """Median nanoseconds a call, net of the same loop calling nothing: name -> (ours, Numba's)."""
    import numba

    import quadrants

    timers: dict[tuple[str, str], timeit.Timer] = {("", ""): timeit.Timer("pass", timer=time.thread_time)}
    for name, (function, statement) in _CALLS.items():
        for who, compiled in (("quadrants", quadrants.njit(function)), ("numba", numba.njit(function))):
            scope = {"f": compiled, "a": np.arange(4.0)}
            timers[name, who] = timeit.Timer(statement, globals=scope, timer=time.thread_time)
            timers[name, who].timeit(100)
    samples: dict[tuple[str, str], list[float]] = {key: [] for key in timers}
    for _ in range(rounds):
        for key, timer in timers.items():
            samples[key].append(timer.timeit(number) / number * 1e9)
    medians = {key: statistics.median(values) for key, values in samples.items()}
    empty = medians["", ""]
    return {name: (medians[name, "quadrants"] - empty, medians[name, "numba"] - empty) for name in _CALLS}
