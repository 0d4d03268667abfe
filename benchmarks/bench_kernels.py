"""The suite under asv: time, peak memory and compile time of every kernel; the cost of calls."""

from __future__ import annotations

import os
import pathlib
import sys
import time

os.environ["QUADRANTS_CACHE"] = "0"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import numpy as np

import quadrants as qd
from benchmarks.peers import copied
from benchmarks.suite import WORKLOADS, build

NAMES = [name for name in WORKLOADS if name != "particles_rec"]


class Kernels:
    """Every kernel on its full input."""

    params = NAMES
    param_names = ["kernel"]

    def setup(self, name: str) -> None:
        self.workload = WORKLOADS[name]
        self.base = self.workload.make("full")
        self.kernel = build(qd)[self.workload.func]
        self.kernel(*copied(self.workload.make("small")))
        self.args = copied(self.base)

    def time_kernel(self, name: str) -> None:
        self.kernel(*(copied(self.base) if self.workload.inplace else self.args))

    def peakmem_kernel(self, name: str) -> None:
        self.kernel(*copied(self.base))


class Compile:
    """The first call of every kernel in a process that has compiled something."""

    params = NAMES
    param_names = ["kernel"]
    unit = "ms"

    def track_first_call(self, name: str) -> float:
        workload = WORKLOADS[name]
        qd.njit(lambda x: x + 1.0)(1.0)
        kernel = build(qd)[workload.func]
        args = workload.make("small")
        start = time.process_time()
        kernel(*args)
        return (time.process_time() - start) * 1e3


class Calls:
    """The cost of a call."""

    def setup(self) -> None:
        self.array = np.arange(4.0)
        self.one = qd.njit(lambda x: x + 1.0)
        self.three = qd.njit(lambda a, b, c: a[0] + b[0] + c[0])
        self.one(1.0)
        self.three(self.array, self.array, self.array)

    def time_one_float(self) -> None:
        self.one(1.5)

    def time_three_arrays(self) -> None:
        self.three(self.array, self.array, self.array)


def track_import() -> float:
    """CPU milliseconds of `import quadrants` beyond NumPy's own import."""
    import subprocess

    code = (
        "import time, numpy; s = time.process_time(); import quadrants; quadrants.njit; print(time.process_time() - s)"
    )
    runs = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    return sorted(runs)[2] * 1e3


track_import.unit = "ms"
