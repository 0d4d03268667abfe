"""What the suite is compared with: other compilers, NumPy and C, as far as this machine has them.

`rivals()` gives one for each, with a function a kernel; or with the reason why it is not compared, so that it can be named.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite import WORKLOADS, build

_C_SOURCE = Path(__file__).resolve().parent / "rivals.c"
_C_FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
#: Kernels in C, and those of them that give a number back.
C_KERNELS = (
    *(f"{name}_{tag}" for name in ("saxpy", "sum", "matmul") for tag in ("f32", "f64")),
    *("dot_f64", "prefix_sum", "transpose", "jacobi2d", "mandelbrot"),
)
_C_RESULTS = ("sum_f32", "sum_f64", "dot_f64")
#: Compilers of Python that have a language of their own, for which the suite has no text yet.
_OTHER_LANGUAGES = ("taichi", "warp")


@dataclass(frozen=True)
class Rival:
    """One column of the comparison.

    Args:
        name: of the column.
        absent: why it is not compared; empty if it is.
        functions: by kernel, what takes the arguments of the workload.
        compiles: whether the first call compiles.
    """

    name: str
    absent: str = ""
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    compiles: bool = False


def rivals(parallel: bool = False, threads: int = 1) -> list[Rival]:
    """All columns; where loops run in parallel, those that are serial say so."""
    serial = [Rival(name, "is serial") for name in ("numpy", "C")] if parallel else [_numpy(), _c()]
    return [_numba(parallel, threads), *serial, *map(_other, _OTHER_LANGUAGES)]


def _numba(parallel: bool, threads: int) -> Rival:
    if importlib.util.find_spec("numba") is None:
        return Rival("numba", "is not installed")
    import numba

    options = {"parallel": True} if parallel else {}
    if parallel:
        numba.set_num_threads(threads)
    compiled = build(numba, **options)
    return Rival("numba", "", {name: compiled[w.func] for name, w in WORKLOADS.items()}, compiles=True)


def _numpy() -> Rival:
    """The references, of those kernels that one writes in NumPy without loops; they return new arrays."""
    return Rival("numpy", "", {name: w.ref for name, w in WORKLOADS.items() if w.numpy_natural})


def _other(name: str) -> Rival:
    installed = importlib.util.find_spec(name) is not None
    return Rival(name, "has no kernels of the suite yet" if installed else "is not installed")


def _c() -> Rival:
    compiler = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
    if compiler is None:
        return Rival("C", "has no compiler here (gcc or clang)")
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "rivals.so"))
        command = [compiler, *_C_FLAGS, str(_C_SOURCE), "-o", library]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return Rival("C", f"is not compiled by {compiler}: {done.stderr.strip().splitlines()[-1]}")
        loaded = ctypes.CDLL(library)
    return Rival(compiler, "", {name: _c_function(loaded, name) for name in C_KERNELS})


def _c_function(library: ctypes.CDLL, name: str) -> Callable[..., Any]:
    function = library[name]
    function.restype = ctypes.c_double if name in _C_RESULTS else None
    return lambda *args: function(*(word for arg in args for word in _c_words(arg)))


def _c_words(value: Any) -> list[Any]:
    """An argument as C gets it: arrays as a pointer and their extents."""
    if isinstance(value, np.ndarray):
        return [ctypes.c_void_p(value.ctypes.data), *map(ctypes.c_int64, value.shape)]
    kinds = {np.float32: ctypes.c_float, float: ctypes.c_double, np.float64: ctypes.c_double, int: ctypes.c_int64}
    return [kinds[type(value)](value)]
